"""What principal components and whitening share."""

from __future__ import annotations

import numbers
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import linalg, sparse, special
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from . import _native
from ._base import EigenliftWarning, Estimator
from ._errors import EigenliftError

if TYPE_CHECKING:
    from ._types import Array, Rows

ROUTES = {"covariance", "dual", "tsqr", "krylov", "directions"}

# Variances below this are no variances to the rule "mle".
_NO_VARIANCE = 1e-15
# Numbers of rows in hand at a time, where NumPy goes over them in pieces.
_PIECE = 1 << 20


def check_weights(sample_weight, X):
    """Weights as float64, one for each row, and the number of rows they stand for; None and all rows without them.

    A weight of 2 says that the row is there twice. Where the weights add up to a whole number, that is the number of
    rows.
    """
    if sample_weight is None:
        return None, X.shape[0]
    if isinstance(sample_weight, numbers.Number):
        sample_weight = np.full(X.shape[0], sample_weight)
    weights = check_array(
        sample_weight, ensure_2d=False, dtype=np.float64, order="C", input_name="sample_weight", accept_sparse=False
    )
    if weights.ndim != 1:
        raise EigenliftError(f"Sample weights must be 1D array or scalar, got {weights.ndim}D array.")
    if weights.shape != (X.shape[0],):
        raise EigenliftError(f"sample_weight.shape == {weights.shape}, expected {(X.shape[0],)}!")
    if weights.min() < 0:
        raise EigenliftError("Negative values in data passed to `sample_weight`")
    return weights, rows_weighed(weights.sum(), X.shape[0])


def rows_weighed(weight, n_samples):
    """The number of rows that weights of this sum stand for; refuses sums that stand for none."""
    if weight == 0.0:
        raise EigenliftError("Sample weights must contain at least one non-zero number.")
    if weight <= 1.0 + 1e-9:
        raise EigenliftError(
            f"sample_weight sums to {weight:g}; a weight says how often its row is there, so the sum must be "
            "above 1. Multiply the weights by the number of rows."
        )
    return rows_meant(weight, n_samples)


def rows_meant(weight, n_samples):
    """The number of rows that weights of this sum stand for."""
    return int(weight) if float(weight).is_integer() else n_samples


def row_pieces(X):
    """Slices of X, each small enough to be copied in passing."""
    height = max(1, _PIECE // max(1, X.shape[1]))
    for start in range(0, X.shape[0], height):
        yield slice(start, min(start + height, X.shape[0]))


def dense_rows(X, rows):
    """Some rows as a dense copy in double precision."""
    piece = X[rows].toarray() if sparse.issparse(X) else X[rows]
    return np.array(piece, dtype=np.float64)


def mean_of(X, share=None):
    """Mean of the rows in double precision, each counted by its share of the weight; that of a constant column is its value."""
    n_rows, n_cols = X.shape
    # Why from a row that counts: the mean of equal numbers is one of them only where their differences are added up.
    pivot = dense_rows(X, slice(0, 1) if share is None else slice(np.argmax(share), np.argmax(share) + 1))[0]
    apart = np.zeros(n_cols)
    for rows in row_pieces(X):
        piece = dense_rows(X, rows) - pivot
        apart += piece.sum(axis=0) if share is None else share[rows] @ piece
    return pivot + (apart / n_rows if share is None else apart)


def completed(components, n_components):
    """Orthonormal rows, followed by others that are orthogonal to them, `n_components` in all.

    The further rows are the same each time: fixed random vectors, made orthogonal twice, with the largest entry
    positive.
    """
    n_found, n_features = components.shape
    missing = n_components - n_found
    if missing <= 0:
        return components[:n_components]
    rest = np.random.RandomState(0).standard_normal((n_features, missing))
    for _ in range(2):
        rest -= components.T @ (components @ rest)
        rest = linalg.qr(rest, mode="economic")[0]
    rest = rest.T
    largest = np.abs(rest).argmax(axis=1)
    rest *= np.where(rest[np.arange(missing), largest] < 0, -1.0, 1.0)[:, None]
    return np.vstack([components, rest])


def _rows_that_vary(model):
    """The fewest rows that can vary as these do: weights of a small sum stand for fewer."""
    if model is None:
        return 0
    if not model.is_whole:
        return model.n_samples
    known = model.spectrum
    # Directions of rounding do not count.
    return 1 + np.count_nonzero(known > 1e-13 * known.max(initial=0.0))


def attributes(model, n_components, n_rows, shape, precision):
    """What scikit-learn's PCA calls its result, by name, in the precision of the rows.

    Directions without variance complete the components; `model` is None when there are no others. Variances are
    divided by the sum of the weights minus 1.
    """
    smallest = min(max(n_rows, _rows_that_vary(model)), shape[1])
    if model is None:
        values, known, whole, total, divisor = np.empty(0), np.empty(0), True, 0.0, max(n_rows - 1, 0)
        found = np.empty((0, shape[1]))
    else:
        values, known, whole, total = model.eigenvalues, model.spectrum, model.is_whole, model.total
        # Transposed without a copy where nothing was divided by.
        divisor, found = model.weight - 1.0, model.coefficients.T if model.scale is None else model.components
    values = np.concatenate([values[:n_components], np.zeros(max(0, n_components - len(values)))])
    if whole:
        known = np.concatenate([known[:smallest], np.zeros(max(0, smallest - len(known)))])
    left_out = known[n_components:].sum() if whole else max(total - values.sum(), 0.0)
    noise = left_out / divisor / (smallest - n_components) if n_components < smallest else 0.0
    with np.errstate(invalid="ignore"):
        arrays = {
            "components_": completed(found, n_components),
            "explained_variance_": values / divisor,
            "explained_variance_ratio_": values / total if total else np.full(n_components, np.nan),
            "singular_values_": np.sqrt(values),
            "spectrum_": known / divisor,
        }
    result = {name: np.array(array, dtype=precision, order="C") for name, array in arrays.items()}
    return result | {"noise_variance_": precision.type(noise)}


def minka(spectrum, n_samples):
    """Number of components that makes the rows most likely, (P23) of the theory.

    Parameters
    ----------
    spectrum : ndarray of shape (n_features,)
        All variances, largest first.
    n_samples : int
        Rows.

    Returns
    -------
    n_components : int
        From 1 to one less than there are variances; 0 if there is one alone.
    """
    values = np.asarray(spectrum, dtype=np.float64)
    d, n = len(values), n_samples
    ranks = np.arange(1, d)
    ranks = ranks[values[:-1] >= _NO_VARIANCE]
    if len(ranks) == 0:
        return min(1, d - 1)
    # Variances that are equal count as apart by rounding.
    gaps = np.maximum(values[:, None] - values, np.finfo(float).eps * values[:, None])
    with np.errstate(divide="ignore"):
        gaps = np.triu(np.log(gaps), 1)
        logs = np.log(values)
    dimensions = (d - np.arange(d)) / 2.0
    uniform = np.cumsum(special.gammaln(dimensions) - dimensions * np.log(np.pi) - np.log(2.0))
    evidence = np.empty(len(ranks))
    for at, k in enumerate(ranks):
        noise = max(_NO_VARIANCE, values[k:].mean())
        kept = logs[:k].sum()
        angles = d * k - k * (k + 1) / 2.0
        # Of pairs within the components, and of components with what is left out.
        within = 2.0 * gaps[:k, :k].sum() - (k - 1) * kept
        across = (
            gaps[:k, k:].sum()
            + (d - k) * np.log(np.maximum(1.0 / noise - 1.0 / values[:k], np.finfo(float).eps / noise)).sum()
        )
        hessian = within + across + angles * np.log(n)
        evidence[at] = (
            uniform[k - 1]
            - n / 2.0 * (kept + (d - k) * np.log(noise))
            + (angles + k) / 2.0 * np.log(2.0 * np.pi)
            - hessian / 2.0
            - k / 2.0 * np.log(n)
        )
    return int(ranks[np.argmax(evidence)])


def pass_on_warnings(model, stacklevel=4):
    """Tells what the library warns of, less what completed components make good and ties, which the certificate names."""
    for text in model.warnings:
        made_good = "components were asked for" in text and "sketch" not in text
        if not (made_good or "tied with" in text or "only as a subspace" in text):
            warnings.warn(text, EigenliftWarning, stacklevel=stacklevel)


class PrincipalAxes(Estimator):
    """Base of the estimators that have `mean_`, `components_` and `explained_variance_` as scikit-learn's PCA.

    Subclasses have the parameter `whiten`; `scale_` holds what columns are divided by, or is None.
    """

    n_components_: int
    components_: Array
    explained_variance_: Array
    explained_variance_ratio_: Array
    singular_values_: Array
    spectrum_: Array
    mean_: Array
    noise_variance_: float

    scale_ = None

    def transform(self, X: Rows) -> Array:
        """Scores of rows: their coordinates along the components.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        X_new : ndarray of shape (n_samples, n_components)
            Scores, in the precision of `X`; with `whiten=True` each divided by its standard deviation.
        """
        check_is_fitted(self)
        return self._scores(self._rows(X, reset=False, finite=False))

    def _scores(self, X):
        """As `transform`, of rows that were checked."""
        scores = self._plain_scores(X)
        if self.whiten:
            deviations = np.sqrt(self.explained_variance_)
            scores /= np.maximum(deviations, np.finfo(deviations.dtype).eps)
            # Without variance there is nothing but rounding.
            scores[:, deviations == 0] = 0.0
        return scores

    def _plain_scores(self, X):
        """Scores that are not whitened."""
        precision = np.result_type(X.dtype, self.components_.dtype)
        if self.components_.shape[0] == 0:
            return np.empty((X.shape[0], 0), dtype=precision)
        mean, axes = self._projection()
        return self._run_on(X, _native.project, mean, axes, precision=precision)

    def _projection(self):
        """Mean and axes of the plain scores, in double precision.

        They are the model's own, so that all who read its file find the same scores, unless attributes were changed
        since.
        """
        mean, axes = np.asarray(self.mean_, dtype=np.float64), np.asarray(self.components_, dtype=np.float64, order="C")
        if self.scale_ is None and self.components_.dtype == np.float64:
            # The attributes are the model's to the last bit.
            return mean, axes
        if self.scale_ is not None:
            axes = axes / self.scale_
        if self._model is not None and self._is_as_fitted():
            axes = np.array(axes)
            axes[: self._model.n_components] = self._model.coefficients.T[: len(axes)]
            mean = self._model.mean
        return mean, axes

    def _is_as_fitted(self):
        """Whether components, mean and scale are still those of the model."""
        model = self._model
        found = min(model.n_components, len(self.components_))
        pairs = [(self.components_[:found], model.components[:found]), (self.mean_, model.mean)]
        if self.scale_ is not None:
            pairs.append((self.scale_, model.scale))
        return all(np.array_equal(ours, theirs.astype(ours.dtype)) for ours, theirs in pairs)

    def to_onnx(self, *, dtype: str | None = None) -> Any:
        """The transform as an ONNX model.

        Parameters
        ----------
        dtype : {"float32", "float64"}, default=None
            Of rows and scores; None stands for float32.

        Returns
        -------
        model : onnx.ModelProto
            With input `X` and output `scores`.
        """
        from ._onnx import linear_model

        check_is_fitted(self)
        mean, axes = self._projection()
        axes, divisor = np.array(axes), None
        if self.whiten:
            deviations = np.sqrt(self.explained_variance_)
            axes[deviations == 0] = 0.0
            divisor = np.maximum(deviations, np.finfo(deviations.dtype).eps)
        return linear_model(
            center=mean,
            axes=axes,
            divisor=divisor,
            dtype=dtype,
            n_features=self.n_features_in_,
            name=type(self).__name__,
        )

    def inverse_transform(self, X: Rows) -> Array:
        """Rows from scores.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)
            Scores, as `transform` gives them.

        Returns
        -------
        X_original : ndarray of shape (n_samples, n_features)
            The rows that have these scores and lie in the subspace of the components, in the precision of `X`.
        """
        check_is_fitted(self)
        X = check_array(X, input_name="X", dtype=[np.float64, np.float32])
        axes = self.components_
        if self.whiten:
            axes = np.sqrt(self.explained_variance_)[:, None] * axes
        if self.scale_ is not None:
            axes = axes * self.scale_
        precision = np.result_type(X.dtype, self.components_.dtype)
        # The mean of single precision rows may be held in double precision.
        return (X @ axes + self.mean_).astype(precision, copy=False)

    @property
    def _n_features_out(self):
        return self.components_.shape[0]

    def _excess(self):
        """What the components have above the noise, and the noise, as the probabilistic model counts them."""
        noise = float(self.noise_variance_)
        variances = np.asarray(self.explained_variance_, dtype=np.float64)
        excess = np.maximum(variances - noise, 0.0)
        # scikit-learn takes axes times deviations for axes when it whitens; scores are compared with its own.
        return (excess * variances if self.whiten else excess), noise

    def _between_axes(self, along, elsewhere, scale):
        """The matrix that is `along` on the components and `elsewhere` on all else, in units of `scale`."""
        axes = np.asarray(self.components_, dtype=np.float64)
        matrix = (axes.T * (along - elsewhere)) @ axes
        matrix.flat[:: matrix.shape[0] + 1] += elsewhere
        if scale is not None:
            matrix *= scale[:, None] * scale
        return matrix.astype(self.components_.dtype, copy=False)

    def get_covariance(self) -> Array:
        """Covariance of the columns by the probabilistic model: components, and the same noise in all other directions.

        Returns
        -------
        cov : ndarray of shape (n_features, n_features)
            The covariance matrix.
        """
        check_is_fitted(self)
        excess, noise = self._excess()
        return self._between_axes(excess + noise, noise, self.scale_)

    def get_precision(self) -> Array:
        """Inverse of `get_covariance()`; without noise and with fewer components than columns, its pseudo-inverse.

        Returns
        -------
        precision : ndarray of shape (n_features, n_features)
            The precision matrix.
        """
        check_is_fitted(self)
        excess, noise = self._excess()
        scale = None if self.scale_ is None else 1.0 / self.scale_
        return self._between_axes(_inverse(excess + noise), float(_inverse(noise)), scale)

    def _taken_apart(self, X):
        """Plain scores of rows, and the squared length of what they leave out, in double precision."""
        scores = self._plain_scores(X).astype(np.float64, copy=False)
        mean, axes = self._projection()[0], np.asarray(self.components_, dtype=np.float64)
        left_out = np.empty(X.shape[0])
        for rows in row_pieces(X):
            rest = dense_rows(X, rows)
            rest -= mean
            if self.scale_ is not None:
                rest /= self.scale_
            rest -= scores[rows] @ axes
            left_out[rows] = np.einsum("ij,ij->i", rest, rest)
        return scores, left_out

    def _saved_model(self):
        if self.whiten:
            raise EigenliftError(
                "A model file of whitened scores divides by n where whiten=True divides by n - 1. "
                'Use Whitening(method="pca") to save a whitening, or whiten=False to save components.'
            )
        model = super()._saved_model()
        if model is None or self.components_.shape[0] == 0:
            raise EigenliftError("A model file needs at least one component with variance, and there is none here.")
        if not self._is_as_fitted():
            raise EigenliftError(
                "components_, mean_ or scale_ were changed after the fit, and a model file holds the fit. Fit again to save."
            )
        return model

    def _take_accounts(self, model):
        """Takes the accounts of a model, and its names of columns where there are none."""
        self._tell(model)
        self.n_features_in_ = model.n_features
        self._take_names(model)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.input_tags.sparse = True
        return tags


def _inverse(values):
    """1/x, and 0 for 0."""
    values = np.asarray(values, dtype=np.float64)
    return np.divide(1.0, values, out=np.zeros_like(values), where=values > 0)
