"""Spectral embedding: Laplacian eigenmaps."""

from __future__ import annotations

import importlib.util
import warnings
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from sklearn.manifold._spectral_embedding import spectral_embedding as _of_scikit_learn
from sklearn.neighbors import NearestNeighbors, kneighbors_graph, radius_neighbors_graph
from sklearn.utils.validation import check_is_fitted, check_symmetric

from . import _native
from . import _parameters as parameters
from ._account import Plan
from ._errors import EigenliftError
from ._kernel_base import Kernel
from ._kernel_choice import choose
from ._manifold import LARGEST_RADIUS, Manifold, known_metric
from ._rows import from_native, kernel_matrix, native

if TYPE_CHECKING:
    from ._types import Array, KernelLike, Progress, RandomState, Rows

_WORDS = {"nearest_neighbors", "rbf", "precomputed", "precomputed_nearest_neighbors"}


class SpectralEmbedding(Manifold):
    """Spectral embedding, also called Laplacian eigenmaps: rows that are alike lie close together.

    Parameters and attributes of scikit-learn's class of this name have its meaning. New rows can be placed here, by the mean of their
    neighbours or by the kernel.

    Parameters
    ----------
    n_components : int, default=2
        Coordinates.
    affinity : str, Kernel or callable, default="nearest_neighbors"
        How alike rows are: "nearest_neighbors"; "rbf" between all rows; "precomputed" for a matrix of affinities, dense or sparse;
        "precomputed_nearest_neighbors" for a sparse graph of distances; a kernel of `eigenlift.kernels` or its description, such as
        "exponential(gamma=2)"; or a function from rows to their matrix of affinities.
    gamma : float or None, default=None
        Of "rbf"; None stands for 1 / n_features.
    random_state : int, RandomState instance or None, default=None
        Of start vectors. None stands for a fixed seed.
    eigen_solver : {"arpack", "lobpcg", "amg"} or None, default=None
        Taken for compatibility; the plan chooses, and every way gives eigenpairs to the tolerance.
    eigen_tol : float or "auto", default="auto"
        Relative residual that iterations are asked for; 0 and "auto" stand for 1e-10.
    n_neighbors : int or None, default=None
        Neighbours, the row itself counted as one of them, as scikit-learn counts; None stands for a tenth of the rows.
    n_jobs : int or None, default=None
        Threads; None for the environment's OMP_NUM_THREADS or all processors. Results do not depend on it.
    metric : {"euclidean", "manhattan", "cosine", "correlation", "precomputed"}, default="euclidean"
        By which neighbours are near; "precomputed" takes distances between all rows in place of rows.
    radius : float or None, default=None
        Neighbours within this distance, in place of `n_neighbors`.
    heat : float or None, default=None
        Neighbours at distance d are alike by exp(-heat·d²), in place of 1.
    search : {"auto", "brute", "tree"}, default="auto"
        How neighbours are found.
    memory : int, str or None, default=None
        Bytes that a fit may use beside the rows, such as "2GiB"; None for most of what is free.
    verbose : int, default=0
        Above 0, a fit tells how far it has come.
    progress : callable or None, default=None
        Called with (stage, done, total), or a class of bars such as `tqdm.tqdm`.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The coordinates.
    affinity_matrix_ : ndarray or sparse matrix of shape (n_samples, n_samples)
        The affinities; computed when they are asked for, unless they were given.
    eigenvalues_ : ndarray of shape (n_components,)
        Of the walk D⁻¹W, largest first: 1 minus those of the Laplacian.
    n_neighbors_ : int
        Neighbours that were used, the row itself counted as one of them.
    n_iter_ : int
        Iterations that the solver took.
    plan_ : Plan
        What was decided and why; print it.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import make_s_curve
    >>> from eigenlift import SpectralEmbedding
    >>> X, along = make_s_curve(400, random_state=0)
    >>> embedding = SpectralEmbedding(n_components=2, n_neighbors=10).fit(X)
    >>> embedding.embedding_.shape
    (400, 2)
    >>> embedding.transform(X[:3]).shape
    (3, 2)
    """

    eigenvalues_: Array
    gamma_: float
    n_neighbors_: int

    _method = "laplacian"

    def __init__(
        self,
        n_components: int = 2,
        *,
        affinity: KernelLike = "nearest_neighbors",
        gamma: float | None = None,
        random_state: RandomState = None,
        eigen_solver: str | None = None,
        eigen_tol: float | str = "auto",
        n_neighbors: int | None = None,
        n_jobs: int | None = None,
        metric: str = "euclidean",
        radius: float | None = None,
        heat: float | None = None,
        search: str = "auto",
        memory: int | str | None = None,
        verbose: int = 0,
        progress: Progress = None,
    ) -> None:
        self.n_components = n_components
        self.affinity = affinity
        self.gamma = gamma
        self.random_state = random_state
        self.eigen_solver = eigen_solver
        self.eigen_tol = eigen_tol
        self.n_neighbors = n_neighbors
        self.n_jobs = n_jobs
        self.metric = metric
        self.radius = radius
        self.heat = heat
        self.search = search
        self.memory = memory
        self.verbose = verbose
        self.progress = progress

    def _check_parameters(self):
        parameters.integer(self, "n_components", 1)
        if not (callable(self.affinity) or isinstance(self.affinity, (str, Kernel))):
            parameters.choice(self, "affinity", _WORDS)
        parameters.real(self, "gamma", 0, none=True)
        parameters.choice(self, "eigen_solver", {"arpack", "lobpcg", "amg"}, none=True)
        if self.eigen_solver == "amg" and importlib.util.find_spec("pyamg") is None:
            raise EigenliftError("The eigen_solver was set to 'amg', but pyamg is not available.")
        if self.eigen_tol != "auto":
            parameters.real(self, "eigen_tol", 0)
        parameters.integer(self, "n_neighbors", 1, none=True)
        parameters.real(self, "radius", 0, none=True, open_low=True)
        parameters.real(self, "heat", 0, none=True, open_low=True)
        parameters.choice(self, "metric", {"euclidean", "manhattan", "cosine", "correlation", "precomputed"})
        parameters.choice(self, "search", {"auto", "brute", "tree"})
        parameters.memory(self)

    def _kernel(self, n_features):
        """The kernel between all rows as a text; None where affinities are others."""
        if isinstance(self.affinity, str) and self.affinity in _WORDS - {"rbf"}:
            return None
        if callable(self.affinity) and not isinstance(self.affinity, Kernel):
            return None
        kernel = self.affinity
        choice = choose(
            kernel,
            gamma=self.gamma if isinstance(kernel, str) and kernel == "rbf" else None,
            degree=None,
            coef0=None,
            kernel_params=None,
            n_features=n_features,
            owner=type(self).__name__,
        )
        if choice.text is None:
            parameters.refuse(self, "affinity", f"one of {sorted(_WORDS)}, a kernel with positive gamma, or a callable")
        return choice.text

    def _settings(self, given, X, kernel):
        tol = 0 if self.eigen_tol == "auto" else self.eigen_tol
        # The row itself is one of them, and one more is the least there can be.
        others = None if self.radius is not None else max(1, self._count(X.shape[0]) - 1)
        settings = self._told(
            given,
            X.shape[0],
            tol=self._residual(tol) if X.dtype == np.float64 else max(self._residual(tol), 1e-6),
            neighbors=others if given != "affinities" and kernel is None else None,
            radius=None if self.radius is None else min(float(self.radius), LARGEST_RADIUS),
            search=self.search,
            metric=known_metric(self.metric),
            heat=None if self.heat is None else float(self.heat),
            kernel=kernel,
        )
        if given == "affinities":
            settings["column_names"] = []
        return settings

    def _count(self, n_samples):
        return max(int(n_samples / 10), 1) if self.n_neighbors is None else int(self.n_neighbors)

    def plan(self, X: Rows) -> Plan:
        """What `fit` would do with X, without doing it.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        Plan
        """
        self._check_parameters()
        X = self._plain_rows(X)
        kernel = self._kernel(X.shape[1])
        settings = self._settings("distances" if kernel is None and self.metric == "precomputed" else "rows", X, kernel)
        return self._planned(X, settings)

    def fit(self, X: Rows, y: object = None) -> Self:
        """Embeds X.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows; affinities or a graph of distances between all rows when these are precomputed.
        y : ignored

        Returns
        -------
        self
        """
        self._check_parameters()
        self.__dict__.pop("_affinities", None)
        X = self._rows_of_fit(X)
        self.n_neighbors_ = self._count(X.shape[0])
        kernel = self._kernel(X.shape[1])
        word = self.affinity if isinstance(self.affinity, str) else None
        if word == "rbf":
            self.gamma_ = 1.0 / X.shape[1] if self.gamma is None else self.gamma
        if kernel is not None or word == "nearest_neighbors":
            by_distances = kernel is None and self.metric == "precomputed"
            self._given, rows = "distances" if by_distances else "rows", X
            if kernel is None:
                self._refuse_too_many(X.shape[0])
        else:
            self._given = "affinities"
            self._affinities = self._matrix(X, word)
            rows = self._connected(self._affinities)
        model = self._fitted(rows, self._settings(self._given, rows, kernel))
        self._settle(self._turned(model), X.dtype, int(self.n_components))
        return self

    def _refuse_too_many(self, n_samples):
        if self.radius is None and self.n_neighbors_ > n_samples:
            raise EigenliftError(
                f"Expected n_neighbors <= n_samples_fit, but n_neighbors = {self.n_neighbors_}, n_samples_fit = {n_samples}, "
                f"n_samples = {n_samples}"
            )

    def _matrix(self, X, word):
        """The affinities that were given, or that a function gives."""
        if word == "precomputed":
            return X
        if word == "precomputed_nearest_neighbors":
            neighbors = NearestNeighbors(n_neighbors=self.n_neighbors_, metric="precomputed", n_jobs=self.n_jobs).fit(X)
            connectivity = neighbors.kneighbors_graph(X=X, mode="connectivity")
            return 0.5 * (connectivity + connectivity.T)
        return self.affinity(X)

    @staticmethod
    def _connected(affinities):
        """Affinities in double precision, with scikit-learn's warning when they are in several parts."""
        matrix = check_symmetric(affinities)
        if not sparse.issparse(matrix):
            matrix = np.ascontiguousarray(matrix, dtype=np.float64)
            # The compiled part warns of sparse ones.
            if connected_components(matrix, directed=False, return_labels=False) > 1:
                warnings.warn(
                    "Graph is not fully connected, spectral embedding may not work as expected.", stacklevel=4
                )
                return sparse.csr_matrix(matrix)
            return matrix
        return matrix.tocsr().astype(np.float64, copy=False)

    def _take(self, model, dtype, n_components):
        super()._take(model, dtype, n_components)
        self.eigenvalues_ = model.eigenvalues

    def _placed(self, X):
        if self._given == "affinities":
            raise EigenliftError(
                "New rows cannot be placed by affinities that were given: nothing says how alike they are. Fit on rows with "
                "affinity='nearest_neighbors' or a kernel."
            )
        return super()._placed(X)

    @property
    def affinity_matrix_(self) -> Any:
        """Affinities of all rows."""
        check_is_fitted(self)
        if hasattr(self, "_affinities"):
            return self._affinities
        X = from_native(self._model.samples)
        if X is None:
            raise AttributeError("This model does not hold the rows of its fit, so there are no affinities of them.")
        kernel = self._kernel(X.shape[1])
        if kernel is not None:
            text = _native.resolve_kernel(kernel, native(X), self._seed(), self._threads())
            return kernel_matrix(text, X, X, self._threads())
        how = {"metric": self.metric, "n_jobs": self.n_jobs}
        mode = "connectivity" if self.heat is None else "distance"
        if self.radius is not None:
            graph = radius_neighbors_graph(X, self.radius, mode=mode, include_self=True, **how)
        else:
            graph = kneighbors_graph(X, max(2, self.n_neighbors_), mode=mode, include_self=True, **how)
        if self.heat is not None:
            graph.data = np.exp(-self.heat * graph.data**2)
        return 0.5 * (graph + graph.T)

    @classmethod
    def _from_model(cls, model):
        """A fitted estimator from a loaded model."""
        plan = Plan.from_json(model.plan)
        reach, metric = plan.get("reach") or {}, plan.metric
        kernel = metric.removeprefix("kernel ") if metric.startswith("kernel ") else None
        given = {"affinities given": "affinities", "given by neighbours": "affinities", "precomputed": "distances"}.get(
            metric, "rows"
        )
        further = {"metric": metric} if given != "affinities" and kernel is None else {}
        count = reach.get("nearest")
        estimator = cls._restored(
            model,
            given,
            n_components=plan.n_components,
            affinity=kernel or ("precomputed" if given == "affinities" else "nearest_neighbors"),
            n_neighbors=None if count is None else count + 1,
            radius=reach.get("within"),
            eigen_tol=plan.tolerance,
            **further,
        )
        estimator.n_neighbors_ = estimator._count(model.n_samples)
        return estimator

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        given = isinstance(self.affinity, str) and self.affinity.startswith("precomputed")
        tags.input_tags.pairwise = tags.input_tags.positive_only = given or self.metric == "precomputed"
        return tags


def spectral_embedding(
    adjacency: Rows,
    *,
    n_components: int = 8,
    eigen_solver: str | None = None,
    random_state: RandomState = None,
    eigen_tol: float | str = "auto",
    norm_laplacian: bool = True,
    drop_first: bool = True,
) -> Array:
    """Coordinates from the first eigenvectors of the Laplacian of a graph.

    Parameters
    ----------
    adjacency : {array-like, sparse matrix} of shape (n_samples, n_samples)
        How alike rows are; symmetric and not negative.
    n_components : int, default=8
        Coordinates.
    eigen_solver, random_state, eigen_tol
        As in `SpectralEmbedding`.
    norm_laplacian : bool, default=True
        Whether to divide by degrees. Without, the work is scikit-learn's.
    drop_first : bool, default=True
        Whether to leave out the first eigenvector, which is constant when the graph is connected.

    Returns
    -------
    ndarray of shape (n_samples, n_components)

    Examples
    --------
    >>> import numpy as np
    >>> from eigenlift import spectral_embedding
    >>> from eigenlift.kernels import RBF
    >>> X = np.random.default_rng(0).normal(size=(40, 3))
    >>> spectral_embedding(RBF(gamma=0.5)(X), n_components=2).shape
    (40, 2)
    """
    kept = {"eigen_solver": eigen_solver, "random_state": random_state, "eigen_tol": eigen_tol}
    if not norm_laplacian:
        return _of_scikit_learn(
            adjacency, n_components=n_components, norm_laplacian=False, drop_first=drop_first, **kept
        )
    if drop_first:
        return SpectralEmbedding(n_components, affinity="precomputed", **kept).fit_transform(adjacency)
    embedding = SpectralEmbedding(max(n_components - 1, 1), affinity="precomputed", **kept).fit(adjacency)
    matrix = embedding.affinity_matrix_
    # The first eigenvector is √d / ‖√d‖, and what is asked for is divided by √d.
    total = float(matrix.sum() - matrix.diagonal().sum())
    first = np.full((len(embedding.embedding_), 1), 1 / np.sqrt(total), dtype=embedding.embedding_.dtype)
    return np.hstack([first, embedding.embedding_])[:, :n_components]
