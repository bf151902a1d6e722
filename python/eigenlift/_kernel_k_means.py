"""Kernel k-means."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from . import _native
from . import _parameters as parameters
from ._account import Plan
from ._errors import EigenliftError
from ._kernelised import Kernelised
from ._rows import native

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ._types import Array, KernelLike, Progress, RandomState, Rows


class KernelKMeans(ClusterMixin, Kernelised):
    """k-means in the feature space of a kernel: clusters whose rows are close to a mean there.

    The linear kernel is k-means. A kernel of the distance finds clusters that no straight line separates. Exact up to 1000 rows
    and for kernels with few explicit features, on landmarks beyond.

    Parameters
    ----------
    n_clusters : int, default=8
        Clusters.
    kernel : str, Kernel or callable, default="linear"
        As in `KernelPCA`, less `"auto"`.
    gamma, degree, coef0, kernel_params
        As in `KernelPCA`.
    n_init : int, default=10
        Starts, by k-means++ in feature space; the best is kept.
    max_iter : int, default=300
        Steps of a start at most.
    spectral : int, default=None
        Clusters the scores on so many kernel principal components in place of all features: the spectral view.
    rank, error, approximation, random_state, n_jobs, memory, verbose, progress
        As in `KernelCCA`.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each row of the fit, from 0.
    inertia_ : float
        Sum of the squared distances of rows to the mean of their cluster, in feature space.
    cluster_sizes_ : ndarray of shape (n_clusters,)
        Rows in each cluster.
    n_iter_ : int
        Steps that the best start took.
    converged_ : bool
        Whether it came to rest within `max_iter`.
    left_out_ : float or None
        What landmarks or features leave out of the kernel; None where they are exact.
    kernel_ : str
        The kernel with every number known.
    plan_ : Plan
        What was decided and why; print it.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import make_circles
    >>> from sklearn.metrics import adjusted_rand_score
    >>> from eigenlift import KernelKMeans
    >>> X, y = make_circles(300, factor=0.3, noise=0.05, random_state=0)
    >>> rings = KernelKMeans(n_clusters=2, kernel="rbf", gamma=3).fit(X)
    >>> adjusted_rand_score(y, rings.labels_)
    1.0
    """

    labels_: NDArray[np.int64]
    inertia_: float
    cluster_sizes_: NDArray[np.int64]
    n_iter_: int
    converged_: bool
    left_out_: float | None
    kernel_: str
    plan_: Plan

    _method = "kkmeans"

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        kernel: KernelLike = "linear",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        n_init: int = 10,
        max_iter: int = 300,
        spectral: int | None = None,
        rank: int | str | None = None,
        error: float | None = None,
        approximation: str | None = None,
        random_state: RandomState = None,
        n_jobs: int | None = None,
        memory: int | str | None = None,
        verbose: int = 0,
        progress: Progress = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.n_init = n_init
        self.max_iter = max_iter
        self.spectral = spectral
        self.rank = rank
        self.error = error
        self.approximation = approximation
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.memory = memory
        self.verbose = verbose
        self.progress = progress

    def plan(self, X: Rows, y: object = None) -> Plan:
        """What `fit` would do with X, without doing it.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            As in `fit`.
        y : ignored

        Returns
        -------
        Plan
        """
        twin = type(self)(**self.get_params(deep=False))
        rows, settings = twin._prepared(X)
        return Plan.from_json(*_native.plan_kernel_k_means(rows, settings, self._threads()))

    def fit(self, X: Rows, y: object = None) -> Self:
        """Finds the clusters of X.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows; the kernel matrix of all pairs of rows when the kernel is precomputed.
        y : ignored

        Returns
        -------
        self
        """
        rows, settings = self._prepared(X)
        self._settle(self._run(_native.fit_kernel_k_means, rows, settings))
        return self

    def _prepared(self, X):
        """Rows and settings for the compiled part."""
        parameters.integer(self, "n_clusters", 1)
        parameters.integer(self, "n_init", 1)
        parameters.integer(self, "max_iter", 1)
        parameters.integer(self, "spectral", 1, none=True)
        self._check_factor()
        given, X = X, self._rows(X, reset=True)
        if X.shape[0] < self.n_clusters:
            raise EigenliftError(f"n_samples={X.shape[0]} should be >= n_clusters={self.n_clusters}.")
        self._sides = [self._side(self.kernel, X.shape[1])]
        rows = self._sides[0].fitted(X, given, self._threads())
        settings = {
            "n_clusters": int(self.n_clusters),
            "n_init": int(self.n_init),
            "max_iter": int(self.max_iter),
            "spectral": None if self.spectral is None else int(self.spectral),
            "features": self._feature_settings(),
            "column_names": self._column_names() if rows.shape[1] == X.shape[1] else [],
        }
        return native(rows), settings

    def _take(self, model):
        """Makes the model this estimator's."""
        facts = self._keep(model)
        self.labels_ = model.labels
        self.inertia_ = facts.inertia
        self.cluster_sizes_ = np.array(facts.sizes, dtype=np.int64)
        self.n_iter_ = max(1, facts.steps)
        self.converged_ = facts.converged
        self.left_out_ = facts["left_out"]
        choice = self._sides[0].choice
        self.kernel_ = self.plan_.kernel if choice.text else str(choice.kernel)
        self._n_features_out = model.n_outputs

    def _category(self, text):
        # scikit-learn's, where it warns.
        return ConvergenceWarning if "distinct clusters" in text else super()._category(text)

    def transform(self, X: Rows) -> Array:
        """Distances of rows to the mean of each cluster, in feature space.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows; kernel values with the rows of the fit when the kernel is precomputed.

        Returns
        -------
        ndarray of shape (n_samples, n_clusters)
        """
        return self._distances(X)

    def _distances(self, X):
        # Beside `transform`, whose result may be a table.
        check_is_fitted(self)
        X = self._rows(X, reset=False)
        return self._run(self._model.transform, self._compared(X, 0, self.plan_))

    def predict(self, X: Rows) -> NDArray[np.int64]:
        """The cluster of each row: that whose mean is nearest.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            As in `transform`.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        X = self._rows(X, reset=False)
        return self._run(self._model.labels_of, self._compared(X, 0, self.plan_))

    def plane(self, X: Rows) -> Array:
        """Scores of rows on the first two kernel principal components of the same features, for pictures.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            As in `transform`.

        Returns
        -------
        ndarray of shape (n_samples, 2)
        """
        check_is_fitted(self)
        X = self._rows(X, reset=False)
        return self._run(_native.kernel_k_means_plane, self._model, self._compared(X, 0, self.plan_))

    def score(self, X: Rows, y: object = None) -> float:
        """Minus the sum of the squared distances of rows to the nearest mean.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            As in `transform`.
        y : ignored

        Returns
        -------
        float
        """
        nearest = np.min(np.asarray(self._distances(X), dtype=np.float64), axis=1)
        return -float(nearest @ nearest)

    @classmethod
    def _from_model(cls, model):
        """A fitted estimator from a loaded model."""
        plan = Plan.from_json(model.plan)
        estimator = cls(n_clusters=model.n_outputs, kernel=plan.kernel, rank=cls._rank_of(plan))
        estimator._sides = [estimator._side(plan.kernel, model.n_features)]
        estimator.n_features_in_ = model.n_features
        estimator._take_names(model)
        facts = estimator._keep(model)
        estimator.n_init, estimator.spectral = facts.starts, facts["spectral"]
        estimator._take(model)
        return estimator
