"""Classical multidimensional scaling."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.metrics import pairwise_distances
from sklearn.utils.validation import check_is_fitted, check_symmetric

from . import _native
from . import _parameters as parameters
from ._account import Plan
from ._base import EigenliftWarning
from ._errors import EigenliftError
from ._manifold import Manifold, known_metric
from ._rows import from_native, native

if TYPE_CHECKING:
    from collections.abc import Callable

    from ._types import Array, Progress, RandomState, Rows


class ClassicalMDS(Manifold):
    """Classical multidimensional scaling: coordinates whose distances are nearest to those given.

    With Euclidean distances the coordinates are the scores of PCA. Parameters and attributes of scikit-learn's class of this name
    have its meaning; new rows can be placed here.

    Parameters
    ----------
    n_components : int, default=2
        Coordinates.
    metric : str or callable, default="euclidean"
        Any metric of scikit-learn's `pairwise_distances`; "precomputed" takes the distances themselves. Euclidean, Manhattan,
        cosine and correlation distances are computed here, others by scikit-learn.
    metric_params : dict or None, default=None
        Keyword arguments of the metric.
    landmarks : int or None, default=None
        Rows drawn at random that are scaled; the others are placed by their distances to them. None takes every row up to 10 000
        rows where n² distances fit, and 1000 landmarks otherwise, with a warning.
    tol : float, default=0
        Relative residual that iterations are asked for; 0 stands for 1e-10.
    random_state : int, RandomState instance or None, default=None
        Of landmarks and start vectors. None stands for a fixed seed.
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
    embedding_ : ndarray of shape (n_samples, n_components)
        The coordinates.
    eigenvalues_ : ndarray of shape (n_components,)
        Of the centred squared distances, largest first.
    dissimilarity_matrix_ : ndarray of shape (n_samples, n_samples)
        The distances, computed when they are asked for.
    residual_variance_ : float
        1 - r² between the distances given and those of coordinates: of all pairs of samples, or with landmarks an estimate from
        sampled rows that are no landmarks.
    residual_variance_error_ : float or None
        Standard error of `residual_variance_` where it is an estimate; None where all distances were compared.
    negative_share_ : float
        Share of negative eigenvalues in the sum of all magnitudes: 0 when points of some space have these distances.
    n_iter_ : int
        Iterations that the solver took.
    plan_ : Plan
        What was decided and why; print it.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from eigenlift import ClassicalMDS
    >>> X, _ = load_iris(return_X_y=True)
    >>> scaling = ClassicalMDS(n_components=2, metric="manhattan").fit(X)
    >>> scaling.embedding_.shape
    (150, 2)
    >>> bool(abs(scaling.transform(X[:5]) - scaling.embedding_[:5]).max() < 1e-9)
    True
    """

    eigenvalues_: Array
    residual_variance_: float | None
    residual_variance_error_: float | None
    negative_share_: float | None

    _method = "mds"

    def __init__(
        self,
        n_components: int = 2,
        *,
        metric: str | Callable[..., float] = "euclidean",
        metric_params: dict[str, Any] | None = None,
        landmarks: int | None = None,
        tol: float = 0,
        random_state: RandomState = None,
        memory: int | str | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        progress: Progress = None,
    ) -> None:
        self.n_components = n_components
        self.metric = metric
        self.metric_params = metric_params
        self.landmarks = landmarks
        self.tol = tol
        self.random_state = random_state
        self.memory = memory
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.progress = progress

    def _check_parameters(self):
        parameters.integer(self, "n_components", 1)
        if not callable(self.metric):
            parameters.instance(self, "metric", str)
        parameters.instance(self, "metric_params", dict, none=True)
        parameters.integer(self, "landmarks", 1, none=True)
        parameters.real(self, "tol", 0)
        parameters.memory(self)

    def _settings(self, given, n_samples):
        settings = self._told(
            given,
            n_samples,
            metric=known_metric(self.metric, 2, self.metric_params),
            tol=self._residual(self.tol),
            landmarks=None if self.landmarks is None else int(self.landmarks),
        )
        if given == "distances" and self.metric != "precomputed":
            settings["column_names"] = []
        return settings

    def _distances(self, X, Y):
        """Distances by a metric of scikit-learn."""
        further = self.metric_params or {}
        return np.ascontiguousarray(pairwise_distances(X, Y, metric=self.metric, **further), dtype=np.float64)

    def plan(self, X: Rows) -> Plan:
        """What `fit` would do with X, without doing it.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, or distances between all of them with `metric="precomputed"`.

        Returns
        -------
        Plan
        """
        self._check_parameters()
        X = self._plain_rows(X)
        settings = self._settings("distances" if self.metric == "precomputed" else "rows", X.shape[0])
        return self._planned(X, settings)

    def fit(self, X: Rows, y: object = None) -> Self:
        """Finds coordinates.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
            Rows, or distances between all of them with `metric="precomputed"`.
        y : ignored

        Returns
        -------
        self
        """
        self._check_parameters()
        for name in ("_X_fit", "_matrix", "_constant"):
            self.__dict__.pop(name, None)
        X = self._rows_of_fit(X)
        n_samples, rows = X.shape[0], X
        if self.metric == "precomputed":
            self._given = "distances"
            self._matrix = check_symmetric(X, raise_exception=True)
        elif known_metric(self.metric, 2, self.metric_params):
            self._given = "rows"
        else:
            self._given, self._X_fit = "distances", X
            rows = self._distances(X, None)
        settings = self._settings(self._given, n_samples)
        model = error = None
        try:
            model = self._turned(self._fitted(rows, settings))
        except _native.NoVarianceError as raised:
            error = raised
        self._settle(model, X.dtype, min(n_samples, self.n_components))
        if model is None:
            self._settle_nothing(error, X.shape, lambda: self._planned(rows, settings))
            self.embedding_ = np.zeros((n_samples, self._n_features_out), dtype=X.dtype)
            self._constant = X
        if self.landmarks is None and model is not None and "n_landmarks" in self.plan_:
            warnings.warn(
                f"{n_samples} rows: {self.plan_.n_landmarks} landmarks are scaled, and the others placed by them. Give landmarks to "
                "choose how many.",
                EigenliftWarning,
                stacklevel=2,
            )
        return self

    def _take(self, model, dtype, n_components):
        super()._take(model, dtype, n_components)
        self.eigenvalues_ = np.zeros(n_components)
        if model is not None:
            self.eigenvalues_[: len(model.eigenvalues)] = model.eigenvalues
        facts = self._facts
        self.residual_variance_ = (facts.get("paths") or {}).get("residual_variance")
        self.residual_variance_error_ = (facts.get("paths") or {}).get("standard_error")
        self.negative_share_ = (facts.get("negative") or {}).get("share")

    def _placed(self, X):
        if hasattr(self, "_X_fit"):
            X = self._distances(X, self._X_fit)
        return self._run(self._model.transform, native(X))

    @property
    def dissimilarity_matrix_(self) -> Array:
        """Distances between all rows; computed each time unless they were given."""
        check_is_fitted(self)
        if hasattr(self, "_matrix"):
            return self._matrix
        if hasattr(self, "_X_fit"):
            return self._distances(self._X_fit, None)
        rows = self._constant if self._model is None else from_native(self._model.samples)
        if rows is None:
            raise AttributeError("A model of landmarks, or of distances that was loaded, does not hold all rows.")
        return pairwise_distances(rows, metric=self.metric, **(self.metric_params or {}))

    def _saved_model(self):
        if hasattr(self, "_X_fit"):
            raise EigenliftError(
                f"The metric {self.metric!r} is computed by scikit-learn; a model file holds euclidean, manhattan, cosine and "
                "correlation. Pickle the estimator, or fit with precomputed distances."
            )
        return super()._saved_model()

    @classmethod
    def _from_model(cls, model):
        """A fitted estimator from a loaded model."""
        plan = Plan.from_json(model.plan)
        return cls._restored(
            model,
            "distances" if plan.metric == "precomputed" else "rows",
            n_components=plan.n_components,
            metric=plan.metric,
            landmarks=plan.get("n_landmarks"),
            tol=plan.tolerance,
        )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        given = isinstance(self.metric, str) and self.metric == "precomputed"
        tags.input_tags.pairwise = tags.input_tags.positive_only = given
        tags.input_tags.sparse = given or known_metric(self.metric, 2, self.metric_params) is not None
        return tags
