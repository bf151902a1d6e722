"""The Nyström method: features whose inner products approximate a kernel."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from . import _native, _parameters
from ._account import Account
from ._base import EigenliftWarning, Estimator
from ._errors import EigenliftError, InvalidParameterError
from ._kernel_choice import choose
from ._progress import watching
from ._rows import native

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ._types import Array, KernelLike, Progress, RandomState, Rows

_PIECE = 2**22  # numbers that a piece of rows or of results may hold
_SMALLEST = 1e-12  # eigenvalues below count as this, as in scikit-learn
_ENTRY = 32.0  # error of a kernel value in units of roundoff, beside 4·√d for the inner product of d numbers


class Nystroem(Estimator):
    """Features from the kernel between rows and a few landmark rows.

    z(x) = k(x, landmarks)·K^(-1/2) with the kernel matrix K of the landmarks, so that ⟨z(x), z(y)⟩ approximates
    k(x, y), and equals it where x or y is a landmark. Drops in for `sklearn.kernel_approximation.Nystroem`; the
    parameters from `landmarks` on are further ones.

    Parameters
    ----------
    kernel : str, kernel or callable, default='rbf'
        A name of scikit-learn (additive_chi2, chi2, cosine, laplacian, linear, poly, polynomial, precomputed, rbf,
        sigmoid) with its defaults, a description as on the command line such as `"matern(nu=2.5)"`, a kernel of
        `eigenlift.kernels`, or a function k(x, y, **kernel_params) of two rows.
    gamma : float, default=None
        For scikit-learn's names; None stands for 1/n_features, and for 1 with chi2.
    coef0 : float, default=None
        For scikit-learn's names poly and sigmoid; None stands for 1.
    degree : float, default=None
        For scikit-learn's name poly; None stands for 3.
    kernel_params : dict, default=None
        Further arguments of a function.
    n_components : int, default=100
        Landmarks, and features.
    random_state : int, RandomState instance or None, default=None
        Decides which rows become landmarks.
    n_jobs : int, default=None
        Threads; None asks the environment and takes all processors otherwise.
    landmarks : {'uniform', 'pivoted'}, default='uniform'
        Rows drawn evenly, the same ones as scikit-learn draws; or rows chosen one by one by randomly pivoted Cholesky,
        preferably where the kernel is explained least: usually a smaller error for the same number, at the cost of one
        kernel value for each row and landmark.
    verbose : int, default=0
        Above 0, progress is written to the standard error stream.
    progress : callable, default=None
        Called with (stage, done, total), or a class of bars such as `tqdm.tqdm`.

    Attributes
    ----------
    components_ : ndarray or sparse matrix of shape (n_components, n_features)
        The landmarks.
    component_indices_ : ndarray of shape (n_components,)
        Where they stand among the rows.
    normalization_ : ndarray of shape (n_components, n_components)
        The inverse square root of their kernel matrix.
    kernel_ : str or callable
        The kernel with every number known.
    n_features_in_ : int
        Columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if they have any.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenlift import Nystroem
    >>> from eigenlift.kernels import RBF
    >>> X = np.random.default_rng(0).normal(size=(500, 3))
    >>> features = Nystroem(RBF(gamma=0.1), n_components=60, landmarks="pivoted", random_state=0)
    >>> features.fit_transform(X).shape
    (500, 60)
    >>> features.certify(X).residual_share < 0.01
    True
    """

    components_: Any
    component_indices_: NDArray[np.integer]
    normalization_: Array
    kernel_: str

    def __init__(
        self,
        kernel: KernelLike = "rbf",
        *,
        gamma: float | None = None,
        coef0: float | None = None,
        degree: float | None = None,
        kernel_params: dict[str, Any] | None = None,
        n_components: int = 100,
        random_state: RandomState = None,
        n_jobs: int | None = None,
        landmarks: str = "uniform",
        verbose: int = 0,
        progress: Progress = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.coef0 = coef0
        self.degree = degree
        self.kernel_params = kernel_params
        self.n_components = n_components
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.landmarks = landmarks
        self.verbose = verbose
        self.progress = progress

    def fit(self, X: Rows, y: object = None) -> Self:
        """Chooses landmarks and computes their kernel matrix.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.
        y : None
            Ignored.

        Returns
        -------
        self
        """
        self._check_parameters()
        X = self._rows(X, reset=True)
        choice = self._choice(X.shape[1]).resolved(X, self._threads())
        indices = self._landmarks(
            choice, X.shape[0], lambda count: self._run(_native.pivots, choice.text, native(X), count, self._seed())
        )
        self._take_landmarks(choice, X[indices], indices)
        return self

    def _take_landmarks(self, choice, basis, indices):
        """Makes these rows the landmarks, for a kernel with every number known."""
        if choice.precomputed:
            K = self._given(basis, len(indices))
        else:
            # In double precision: the inverse square root enlarges what single precision leaves open.
            K = choice.matrix(basis.astype(np.float64, copy=False), None, self._threads())
        _refuse_not_finite(K, basis)
        if choice.text is not None:
            K = (K + K.T) / 2  # equal up to rounding; exactly equal is faster below
        self._normalization = _inverse_root(np.asarray(K, dtype=np.float64))
        self._landmark_trace = float(np.trace(K))
        self.normalization_ = self._normalization.astype(basis.dtype, copy=False)
        self.components_ = basis
        self.component_indices_ = indices
        self.kernel_ = choice.kernel
        self._fitted_choice = choice
        self._n_features_out = len(indices)

    def transform(self, X: Rows) -> Array:
        """Features of rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
        """
        check_is_fitted(self)
        X = self._rows(X, reset=False)
        single = X.dtype == np.float32 and self.components_.dtype == np.float32
        features = np.empty((X.shape[0], self._n_features_out), dtype=np.float32 if single else np.float64)
        for rows, piece in self._pieces(X, "transform"):
            features[rows] = piece[1]
        return features

    def certify(self, X: Rows) -> Any:
        """How much of the kernel the features leave out, by one pass over rows.

        For a positive semi-definite kernel the matrix of what is left out, k(x, y) − ⟨z(x), z(y)⟩, is positive
        semi-definite too. Its trace therefore bounds how far any eigenvalue of the kernel matrix of X, centred or not,
        is above that of the features. Of a kernel that is not known to be positive semi-definite (a function, a
        precomputed matrix, sigmoid, additive_chi2), nothing is stated about eigenvalues.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows; for a precomputed kernel the whole square matrix.

        Returns
        -------
        Account
            With `residual_trace` = Σ k(x, x) − ‖z(x)‖², `residual_share` of `trace` = Σ k(x, x), a bound on the
            `rounding` of the residual trace, `bound`, which no eigenvalue exceeds that of the features by (the residual
            trace and its rounding; None where nothing is stated), `n_samples` and `n_landmarks`.
        """
        check_is_fitted(self)
        X = self._rows(X, reset=False)
        if self._fitted_choice.precomputed and X.shape[0] != X.shape[1]:
            raise EigenliftError(f"A precomputed kernel needs the whole square matrix. Got the shape {X.shape}.")
        return self._account(self._left_out(X), X.shape)

    def _left_out(self, X):
        """Σ k(x, x), Σ k(x, x) − ‖z(x)‖², and Σ ‖α(x)‖² with z(x) = K^(1/2)·α(x), over rows."""
        sums = np.zeros(3)
        for rows, (piece, features) in self._pieces(X, "certify"):
            if self._fitted_choice.precomputed:
                diagonal = X.diagonal()[rows].astype(np.float64)
            else:
                diagonal = self._fitted_choice.diagonal(piece, self._threads())
            squares = np.einsum("ij,ij->i", features, features)
            weights = features @ self._normalization
            sums += diagonal.sum(), (diagonal - squares).sum(), np.einsum("ij,ij->", weights, weights)
        return sums

    def _rounding(self, sums, shape):
        """Bound on what rounding adds to eigenvalues, for a positive semi-definite kernel.

        Kernel values are off by ε√(k(x,x)·k(y,y)), so that the matrix of rows and landmarks may be indefinite by that much;
        K of the landmarks by δ, which its inverse carries to δ·‖α(x)‖²; products with K^(-1/2) by ε·‖k(x, Z)‖·‖K^(-1/2)‖.
        """
        trace, _, weights = np.abs(sums)
        own = float(np.abs(self._landmark_trace))
        unit = np.finfo(np.float64).eps / 2
        entry, product = (_ENTRY + 4 * np.sqrt(width) for width in (shape[1], self._n_features_out))
        of_landmarks = 2 * max((entry + product) * unit * own, _SMALLEST)
        of_features = product * unit * np.linalg.norm(self._normalization) * np.sqrt(own)
        if self.components_.dtype == np.float32:
            # What `transform` gives may be in single precision.
            of_features += np.finfo(np.float32).eps
        of_rows = entry * unit * (np.sqrt(shape[0]) + 4) + 2 * of_features
        return float(trace * of_rows + of_landmarks * weights)

    def _account(self, sums, shape):
        """What `certify` says of rows of this shape with these sums."""
        trace, residual = float(sums[0]), float(sums[1])
        share = residual / trace if trace else float("nan")
        rounding = self._rounding(sums, shape)
        reason = self._no_claim(residual, rounding)
        bound = None if reason else residual + rounding
        values = {
            "residual_trace": residual,
            "residual_share": share,
            "rounding": rounding,
            "bound": bound,
            "trace": trace,
            "n_samples": shape[0],
            "n_landmarks": self._n_features_out,
        }
        ratio = (
            f"{share:.3g} of the trace {trace:.6g}" if trace > 0 else f"{residual:.3g} beside a trace of {trace:.6g}"
        )
        stated = f"{reason}: nothing is stated about its eigenvalues."
        if bound is not None:
            stated = f"Each eigenvalue of the kernel matrix is at most {_rounded_up(bound)} above that of the features."
        return Account(values, f"{self._n_features_out} landmarks leave out {ratio} of {shape[0]} rows. {stated}")

    def _no_claim(self, residual, rounding):
        """Why nothing is known about eigenvalues; None where something is."""
        text = self._fitted_choice.text
        if text is None or not _native.kernel_is_mercer(text):
            return "The kernel is not known to be positive semi-definite"
        if not residual >= -rounding:
            return (
                f"The residual trace {residual:.3g} is below zero by more than rounding ({rounding:.1e}), which no positive "
                "semi-definite kernel has"
            )
        return None if np.isfinite(rounding) else "The rounding of the residual trace is beyond the range of numbers"

    def _check_parameters(self):
        _parameters.real(self, "gamma", 0.0, none=True)
        _parameters.real(self, "coef0", float("-inf"), none=True, open_low=True)
        _parameters.real(self, "degree", 1.0, none=True)
        if self.kernel_params is not None and not isinstance(self.kernel_params, dict):
            _parameters.refuse(self, "kernel_params", "an instance of 'dict' or None")
        _parameters.integer(self, "n_components", 1)
        if self.n_jobs is not None and not _parameters.is_integer(self.n_jobs):
            _parameters.refuse(self, "n_jobs", "an instance of 'int' or None")
        _parameters.choice(self, "landmarks", {"uniform", "pivoted"})

    def _choice(self, n_features):
        choice = choose(
            self.kernel,
            gamma=self.gamma,
            degree=self.degree,
            coef0=self.coef0,
            kernel_params=self.kernel_params,
            n_features=n_features,
            owner=type(self).__name__,
            defaults={},
        )
        given = [self.gamma, self.coef0, self.degree] != [None] * 3
        if given and (choice.precomputed or callable(choice.function)):
            raise EigenliftError(
                "Don't pass gamma, coef0 or degree to Nystroem if using a callable or precomputed kernel"
            )
        return choice

    def _landmarks(self, choice, n_samples, pivots):
        """Indices of the landmarks; `pivots(count)` chooses them one by one."""
        n_components = self.n_components
        random = check_random_state(self.random_state)
        if n_components > n_samples:
            warnings.warn(
                "n_components > n_samples. This is not possible.\n"
                "n_components was set to n_samples, which results in inefficient evaluation of the full kernel.",
                stacklevel=3,
            )
            n_components = n_samples
        if self.landmarks == "uniform":
            return self._drawn(random, n_samples, n_components)
        if choice.text is None:
            raise EigenliftError(
                "landmarks='pivoted' needs a kernel that is computed here; use 'uniform' with this one."
            )
        indices = pivots(n_components)
        if len(indices) < n_components:
            warnings.warn(
                f"n_components={n_components} was lowered to {len(indices)}, which explain the kernel up to rounding.",
                EigenliftWarning,
                stacklevel=3,
            )
        return indices

    def _drawn(self, random, n_samples, count):
        """Rows drawn evenly, as scikit-learn draws them."""
        return random.permutation(n_samples)[:count].astype(np.int64, copy=False)

    def _given(self, matrix, n_indexed):
        """Rows of a precomputed matrix: their values for the landmarks."""
        if matrix.shape[1] != n_indexed:
            raise EigenliftError(
                f"Precomputed metric requires shape (n_queries, n_indexed). Got {matrix.shape} for {n_indexed} indexed."
            )
        return matrix.toarray() if hasattr(matrix, "toarray") else matrix

    def _pieces(self, X, stage):
        """Slices of the rows of X, each with these rows in double precision and their features."""
        choice, n_samples = self._fitted_choice, X.shape[0]
        height = max(64, _PIECE // max(X.shape[1], self._n_features_out))
        components = self.components_.astype(np.float64, copy=False)
        with watching(self) as progress:
            for start in range(0, n_samples, height):
                rows = slice(start, min(start + height, n_samples))
                piece = X[rows].astype(np.float64, copy=False)
                if choice.precomputed:
                    features = self._given(piece, self._n_features_out) @ self._normalization.T
                else:
                    features = choice.times(piece, components, self._normalization.T, self._threads())
                if not np.isfinite(features).all():
                    raise EigenliftError(
                        f"kernel values of rows {rows.start + 1} to {rows.stop} with the landmarks that are not finite, with entries "
                        f"up to {abs(piece).max():.3g}; they must be finite. Scale the columns to a usual size."
                    )
                yield rows, (piece, features)
                if progress is not None:
                    progress(stage, rows.stop, n_samples)

    def _saved_model(self):
        raise InvalidParameterError(
            f"{type(self).__name__} has no model file: pickle it, or save a KernelPCA of low rank."
        )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _refuse_not_finite(K, basis):
    """Raises the error for kernel values of landmarks that are beyond the range of numbers."""
    bad = np.argwhere(~np.isfinite(K))
    if len(bad):
        row, column = bad[0]
        raise EigenliftError(
            f"the kernel value {K[row, column]} of landmarks {row + 1} and {column + 1}, with entries up to "
            f"{abs(basis).max():.3g}; kernel values must be finite. Scale the columns to a usual size."
        )


def _rounded_up(value):
    """A bound in three digits, rounded away from zero."""
    nearest = f"{value:.3g}"
    if float(nearest) >= value:
        return nearest
    return f"{value * 1.006:.3g}"


def _inverse_root(K):
    """U·S^(-1/2)·V of the singular value decomposition U·S·V of K, with small values raised.

    For a symmetric K by its eigenvectors, which is several times faster: U·S·V = Q·|Λ|·(sign Λ)·Qᵀ.
    """
    if np.array_equal(K, K.T):
        values, vectors = np.linalg.eigh(K)
        signs = np.where(values < 0, -1.0, 1.0)
        return (vectors * (signs / np.sqrt(np.maximum(np.abs(values), _SMALLEST)))) @ vectors.T
    left, values, right = np.linalg.svd(K)
    return (left / np.sqrt(np.maximum(values, _SMALLEST))) @ right
