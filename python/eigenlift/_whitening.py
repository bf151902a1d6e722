"""Whitening: rows whose covariance is the identity."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy import linalg
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from . import _native, _parameters
from ._base import Estimator
from ._linear import check_weights, completed, pass_on_warnings, rows_meant

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ._types import Array, Progress, Rows

_METHODS = {"zca", "pca", "cholesky", "zca-cor", "pca-cor"}


class Whitening(Estimator):
    """Whitening: z = W(x - mean), so that whitened rows are uncorrelated and of variance 1.

    Unlike scikit-learn's estimators everything here divides by n: the whitened rows of the fit have the identity as
    covariance (1/n) in the directions that were kept.

    Parameters
    ----------
    n_components : int or None, default=None
        Directions of largest variance that are kept; None for all that have variance. Not for "cholesky".
    method : {"zca", "pca", "cholesky", "zca-cor", "pca-cor"}, default="zca"
        Which whitening; they are rotations of each other. "zca" moves rows least, "pca" gives scores divided by their
        standard deviations, with "cholesky" output i depends on columns i and after alone. "zca-cor" and "pca-cor" do
        the same with standardised columns, so that units do not matter.
    ridge : float, default=0.0
        Added to every variance first (of standardised columns where they are), so that faint directions are not blown
        up.
    memory : int, str or None, default=None
        Bytes that a fit may use beside the rows, such as "2GiB"; None for most of what is free.
    n_jobs : int or None, default=None
        Threads; None for the environment's OMP_NUM_THREADS or all processors. Results do not depend on it.
    verbose : int, default=0
        Above 0, a fit tells how far it has come.
    progress : callable or None, default=None
        Called with (stage, done, total), or a class of bars such as `tqdm.tqdm`.

    Attributes
    ----------
    mean_ : ndarray of shape (n_features,)
        Means of the columns.
    scale_ : ndarray of shape (n_features,) or None
        Standard deviations (1/n) of the columns, for "zca-cor" and "pca-cor".
    components_ : ndarray of shape (n_directions, n_features)
        The principal directions that were kept, of standardised columns for "zca-cor" and "pca-cor".
    explained_variance_ : ndarray of shape (n_directions,)
        Variances along them, divided by n, without the ridge.
    rank_ : int
        How many directions are whitened.
    statement_ : str
        In one sentence, what was whitened and what became of the rest.
    distance_ : float
        Mean squared distance by which whitening moves the centred rows of the fit (standardised where they are).
    n_samples_ : int
        Rows, or the sum of their weights where that is a whole number.
    n_features_in_ : int
        Columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, when they are all strings.
    plan_ : Plan
        What was decided and why.
    certificate_ : Certificate
        What is proved about the eigenvalues.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenlift import Whitening
    >>> X = np.random.RandomState(0).randn(200, 2) @ [[2.0, 1.0], [0.0, 1.0]]
    >>> whitening = Whitening().fit(X)
    >>> Z = whitening.transform(X)
    >>> bool(np.allclose(np.cov(Z, rowvar=False, bias=True), np.eye(2)))
    True
    >>> bool(np.allclose(whitening.inverse_transform(Z), X))
    True
    >>> whitening.statement_
    'all 2 directions are whitened'
    """

    mean_: Array
    scale_: Array | None
    components_: Array
    explained_variance_: Array
    rank_: int
    distance_: float
    statement_: str
    n_samples_: int

    _method = "whiten"

    def __init__(
        self,
        n_components: int | None = None,
        *,
        method: str = "zca",
        ridge: float = 0.0,
        memory: int | str | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        progress: Progress = None,
    ) -> None:
        self.n_components = n_components
        self.method = method
        self.ridge = ridge
        self.memory = memory
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.progress = progress

    def fit(self, X: Rows, y: object = None, sample_weight: ArrayLike | None = None) -> Self:
        """Finds the whitening of rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : Ignored
            There for the sake of pipelines.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            How often each row counts: a weight of 2 is the same as the row twice, 0 the same as leaving it out.

        Returns
        -------
        self : Whitening
            The fitted estimator.
        """
        settings = self._settings()
        X = self._rows(X, reset=True, min_samples=2, finite=False)
        weights, _ = check_weights(sample_weight, X)
        settings["column_names"] = self._column_names()
        model = self._run_on(X, _native.fit_whitening, weights, self.method, float(self.ridge), settings)
        self._take(model)
        pass_on_warnings(model, stacklevel=3)
        return self

    def _settings(self):
        """Settings for the compiled part, from parameters that are checked."""
        _parameters.integer(self, "n_components", 1, none=True)
        _parameters.choice(self, "method", _METHODS)
        _parameters.real(self, "ridge", 0.0)
        return {
            "n_components": None if self.n_components is None else int(self.n_components),
            "standardize": False,
            "route": None,
            "tolerance": 1e-6,
            "seed": 0,
            "memory": _parameters.memory(self),
            "sketch_rows": None,
            "column_names": [],
        }

    def _take(self, model):
        """Makes the model this estimator's."""
        self._tell(model)
        precision = np.float32 if model.precision == "f32" else np.float64
        self.mean_ = model.mean.astype(precision)
        self.scale_ = None if model.scale is None else model.scale.astype(precision)
        self.components_ = np.array(model.components, dtype=precision, order="C")
        self.explained_variance_ = (model.eigenvalues / model.weight).astype(precision)
        _, _, self.rank_, self.statement_, self.distance_ = model.whitening
        self.n_samples_ = rows_meant(model.weight, model.n_samples)
        self._n_features_out = model.n_outputs

    @classmethod
    def _from_model(cls, model):
        """A fitted estimator from a model file."""
        method, ridge = model.whitening[:2]
        estimator = cls(method=method, ridge=ridge)
        estimator._take(model)
        asked = estimator.plan_.n_components
        if asked is not None and asked < model.n_features:
            estimator.n_components = asked
        estimator.n_features_in_ = model.n_features
        estimator._take_names(model)
        return estimator

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
        return linear_model(
            center=self._model.mean,
            axes=self.whitening_matrix_,
            dtype=dtype,
            n_features=self.n_features_in_,
            name=type(self).__name__,
        )

    def transform(self, X: Rows) -> Array:
        """Whitened rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        X_new : ndarray of shape (n_samples, n_outputs)
            One output for each column, or for each direction with "pca" and "pca-cor".
        """
        check_is_fitted(self)
        X = self._rows(X, reset=False, finite=False)
        return self._run_on(X, self._model.transform, precision=np.result_type(X.dtype, self.components_.dtype))

    def inverse_transform(self, X: Rows) -> Array:
        """Rows from whitened ones; exact for rows in the directions that were kept.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_outputs)
            Whitened rows.

        Returns
        -------
        X_original : ndarray of shape (n_samples, n_features)
            Rows.
        """
        check_is_fitted(self)
        X = check_array(X, input_name="X", dtype=[np.float64, np.float32])
        rows = self._model.inverse(np.array(X, dtype=np.float64, order="C"), self._threads())
        return rows.astype(np.result_type(X.dtype, self.components_.dtype), copy=False)

    @property
    def whitening_matrix_(self) -> Array:
        """W of z = (x - mean) Wᵀ, one row for each output. It is formed each time it is asked for."""
        check_is_fitted(self)
        method, ridge = self._model.whitening[:2]
        variances = self.explained_variance_.astype(np.float64) + ridge
        axes = self.components_.astype(np.float64)
        if method == "cholesky":
            # Directions without variance have the ridge.
            axes = completed(axes, self.n_features_in_)
            variances = np.append(variances, np.full(len(axes) - len(variances), ridge))
        matrix = axes / np.sqrt(variances)[:, None]
        if method == "cholesky":
            matrix = linalg.qr(matrix, mode="r")[0]
            matrix *= np.where(np.diag(matrix) < 0, -1.0, 1.0)[:, None]
        elif method.startswith("zca"):
            matrix = axes.T @ matrix
        if self.scale_ is not None:
            matrix /= self.scale_
        return matrix.astype(self.components_.dtype, copy=False)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.input_tags.sparse = True
        return tags
