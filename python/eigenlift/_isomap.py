"""Isomap."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import VALID_METRICS, BallTree, KDTree, NearestNeighbors
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from . import _native
from . import _parameters as parameters
from ._account import Plan
from ._base import EigenliftWarning
from ._errors import EigenliftError, UnsupportedError
from ._manifold import LARGEST_RADIUS, Manifold, edges, known_metric
from ._rows import from_native, native

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from ._types import Array, Progress, RandomState, Rows

_METRICS = {name for names in VALID_METRICS.values() for name in names} | {"precomputed"}
_WORDS = {"separate", "largest", "bridge", "error"}


class ScaledDistances:
    """Eigenpairs of -1/2 H D² H, by the names that scikit-learn's kernel PCA has for them.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (n_components,)
        Largest first.
    eigenvectors_ : ndarray of shape (n_samples, n_components)
        Of length 1; for landmarks the coordinates divided by the roots of the eigenvalues.
    """

    eigenvalues_: Array
    eigenvectors_: Array

    def __init__(self, eigenvalues, embedding):
        self.eigenvalues_ = eigenvalues
        lengths = np.sqrt(eigenvalues)
        self.eigenvectors_ = embedding / np.where(lengths > 0, lengths, 1)


class Isomap(Manifold):
    """Isomap: rows are joined to their neighbours, and coordinates keep the lengths of shortest paths.

    Parameters and attributes of scikit-learn's class of this name have its meaning. What comes on top: landmarks in place of n²
    distances, four ways to deal with a graph in several components, edges that can be cut, and measures of what was kept.

    Parameters
    ----------
    n_neighbors : int or None, default=5
        Neighbours that each row is joined to. None with a `radius`.
    radius : float or None, default=None
        Joins rows that are no farther apart than this, in place of `n_neighbors`.
    n_components : int, default=2
        Coordinates.
    eigen_solver : {"auto", "arpack", "dense"}, default="auto"
        Taken for compatibility; the plan chooses, and every way gives eigenpairs to the tolerance.
    tol : float, default=0
        Relative residual that iterations are asked for; 0 stands for 1e-10.
    max_iter : int or None, default=None
        Taken for compatibility; iterations run until the tolerance holds.
    path_method : {"auto", "FW", "D"}, default="auto"
        Taken for compatibility; paths are exact in every way.
    neighbors_algorithm : {"auto", "brute", "kd_tree", "ball_tree"}, default="auto"
        How neighbours are found; the neighbours are the same.
    n_jobs : int or None, default=None
        Threads; None for the environment's OMP_NUM_THREADS or all processors. Results do not depend on it.
    metric : str or callable, default="minkowski"
        Any metric of scikit-learn's neighbours. Euclidean, Manhattan, cosine and correlation distances are computed here, others
        by scikit-learn. "precomputed" takes distances between all rows, or a sparse graph of neighbours.
    p : float, default=2
        Power of the Minkowski metric.
    metric_params : dict or None, default=None
        Keyword arguments of the metric.
    landmarks : int, "exact" or None, default=None
        Rows from which shortest paths start. None leaves it to the plan: every row up to 10 000 rows, and 200 or more landmarks
        beyond that or where n² distances do not fit, with a warning. "exact" takes every row.
    disconnected : {"bridge", "separate", "largest", "error"}, default="bridge"
        What becomes of a graph with several components: joined by the shortest edges, embedded one by one, the largest embedded and
        other rows placed by it, or an error.
    cut : "suspects", list of pairs of rows or None, default=None
        Edges to take out of the graph first: those that look like short circuits, or these, by their ends from 0.
    search : {"auto", "brute", "tree"}, default="auto"
        How neighbors are found, exactly in any case.
    random_state : int, RandomState instance or None, default=None
        Of landmarks and start vectors. None stands for a fixed seed.
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
    kernel_pca_ : object
        Has `eigenvalues_` and `eigenvectors_` of the centred squared distances.
    nbrs_ : NearestNeighbors
        scikit-learn's, fitted on the rows when it is first asked for.
    dist_matrix_ : ndarray of shape (n_samples, n_samples)
        Lengths of shortest paths, copied each time it is asked for. A fit by landmarks has none.
    labels_ : ndarray of shape (n_samples,)
        The part that each row was embedded with; all 0 unless components were embedded one by one.
    component_sizes_ : list of int
        Rows in each connected component of the graph of neighbours, before bridges.
    bridges_, cut_ : ndarray with the fields from, to and length
        Edges that were added to join components, and edges that were taken out.
    residual_variance_ : float
        1 - r² between geodesic distances and distances of coordinates: of all pairs of samples, or with landmarks an estimate
        from sampled rows that are no landmarks.
    residual_variance_error_ : float or None
        Standard error of `residual_variance_` where it is an estimate; None where all distances were compared.
    negative_share_ : float
        Share of negative eigenvalues in the sum of all magnitudes: 0 when points of some space have these distances.
    trustworthiness_, continuity_ : float or None
        Whether neighbours of coordinates are neighbours of rows, and the other way round; None where distances are not known.
    n_iter_ : int
        Iterations that the solver took.
    plan_ : Plan
        What was decided and why; print it.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import make_swiss_roll
    >>> from eigenlift import Isomap
    >>> X, along = make_swiss_roll(500, random_state=0)
    >>> isomap = Isomap(n_neighbors=8).fit(X)
    >>> isomap.embedding_.shape
    (500, 2)
    >>> bool(abs(isomap.transform(X[:5]) - isomap.embedding_[:5]).max() < 1e-6)
    True
    """

    labels_: NDArray[np.int64]
    component_sizes_: list[int]
    bridges_: NDArray[np.void]
    cut_: NDArray[np.void]
    residual_variance_: float | None
    residual_variance_error_: float | None
    negative_share_: float | None
    trustworthiness_: float | None
    continuity_: float | None

    _method = "isomap"

    def __init__(
        self,
        *,
        n_neighbors: int | None = 5,
        radius: float | None = None,
        n_components: int = 2,
        eigen_solver: str = "auto",
        tol: float = 0,
        max_iter: int | None = None,
        path_method: str = "auto",
        neighbors_algorithm: str = "auto",
        n_jobs: int | None = None,
        metric: str | Callable[..., float] = "minkowski",
        p: float = 2,
        metric_params: dict[str, Any] | None = None,
        landmarks: int | str | None = None,
        disconnected: str = "bridge",
        cut: str | Iterable[tuple[int, int]] | None = None,
        search: str = "auto",
        random_state: RandomState = None,
        memory: int | str | None = None,
        verbose: int = 0,
        progress: Progress = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.n_components = n_components
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.path_method = path_method
        self.neighbors_algorithm = neighbors_algorithm
        self.n_jobs = n_jobs
        self.metric = metric
        self.p = p
        self.metric_params = metric_params
        self.landmarks = landmarks
        self.disconnected = disconnected
        self.cut = cut
        self.search = search
        self.random_state = random_state
        self.memory = memory
        self.verbose = verbose
        self.progress = progress

    def plan(self, X: Rows) -> Plan:
        """What `fit` would do with X, without doing it.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows, or distances between all of them with `metric="precomputed"`.

        Returns
        -------
        Plan
        """
        self._check_parameters()
        X = self._plain_rows(X)
        given = "distances" if self.metric == "precomputed" else "rows"
        settings = self._settings(given, X.shape[0])
        return self._planned(X, settings)

    def fit(self, X: Rows, y: object = None, graph: Any = None) -> Self:
        """Embeds X.

        Parameters
        ----------
        X : {array-like, sparse matrix, BallTree, KDTree, NearestNeighbors}
            Rows, of shape (n_samples, n_features), also as scikit-learn's trees hold them; with `metric="precomputed"` distances
            between all rows, or a sparse graph of neighbours.
        y : ignored
        graph : sparse matrix of shape (n_samples, n_samples) or None, default=None
            Uses these edges instead of neighbours: an entry is the length of the edge between two rows, from one end or from both.
            New rows are placed by their neighbours all the same.

        Returns
        -------
        self
        """
        self._check_parameters()
        for name in ("_nbrs", "_X_metric"):
            self.__dict__.pop(name, None)
        if isinstance(X, NearestNeighbors):
            X = X._fit_X
        elif isinstance(X, (BallTree, KDTree)):
            X = np.asarray(X.data)
        X = self._rows_of_fit(X)
        n_samples = X.shape[0]
        if self.n_neighbors is not None and self.n_neighbors >= n_samples:
            raise EigenliftError(
                f"Expected n_neighbors < n_samples_fit, but n_neighbors = {self.n_neighbors}, n_samples_fit = {n_samples}, "
                f"n_samples = {n_samples}"
            )
        self._given, rows = self._route(X) if graph is None else ("rows", X)
        if graph is not None:
            graph = self._checked_graph(graph, n_samples)
        foreign = self._given == "distances" and self.metric != "precomputed"
        if foreign:
            self._X_metric = X
        settings = self._settings(self._given, n_samples)
        if foreign:
            settings["column_names"] = []
        model = error = None
        try:
            model = self._turned_landmarks(self._fitted(rows, settings, graph))
        except _native.NoVarianceError as raised:
            error = raised
        self._n_samples = n_samples
        self._settle(model, X.dtype, min(n_samples, self.n_components))
        if model is None:
            self._settle_nothing(error, X.shape, lambda: self._planned(rows, settings))
        if self.landmarks is None and model is not None and "n_landmarks" in self.plan_:
            warnings.warn(
                f"{n_samples} rows: shortest paths start from {self.plan_.n_landmarks} landmarks, not from every row. Give landmarks "
                "to choose how many, or landmarks='exact'.",
                EigenliftWarning,
                stacklevel=2,
            )
        return self

    def fit_transform(self, X: Rows, y: object = None, graph: Any = None) -> Array:
        """Embeds X and returns the coordinates of its rows.

        Parameters
        ----------
        X : {array-like, sparse matrix, BallTree, KDTree, NearestNeighbors}
            As in `fit`.
        y : ignored
        graph : sparse matrix of shape (n_samples, n_samples) or None, default=None
            As in `fit`.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
        """
        return self.fit(X, graph=graph).embedding_

    def _take(self, model, dtype, n_components):
        super()._take(model, dtype, n_components)
        if model is None:
            self.embedding_ = np.zeros((self._n_samples, n_components), dtype=dtype)
        facts = self._facts
        graph = facts.get("graph") or {}
        self.labels_ = np.zeros(len(self.embedding_), dtype=np.int64) if model is None else model.labels
        self.component_sizes_ = graph.get("component_sizes", [])
        self.bridges_ = edges(graph.get("bridges", []))
        self.cut_ = edges(graph.get("cut", []))
        self.residual_variance_ = (facts.get("paths") or {}).get("residual_variance")
        self.residual_variance_error_ = (facts.get("paths") or {}).get("standard_error")
        self.negative_share_ = (facts.get("negative") or {}).get("share")
        kept = facts.get("neighborhoods") or {}
        self.trustworthiness_, self.continuity_ = kept.get("trustworthiness"), kept.get("continuity")

    def _placed(self, X):
        if self._given == "neighbors":
            return self._run(self._model.transform_neighbors, native(self._lists(X)))
        if hasattr(self, "_X_metric"):
            X = self._distances(X, self._X_metric)
        return self._run(self._model.transform, native(X))

    def component_of(self, X: Rows) -> NDArray[np.int64]:
        """The part of the embedding in which each new row is placed: that of its nearest row of the fit.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features)
            As in `transform`.

        Returns
        -------
        ndarray of shape (n_queries,)
            Numbers as in `labels_`; all 0 unless components were embedded separately.
        """
        check_is_fitted(self)
        X = self._rows(X, reset=False)
        if self._model is None or self._given == "neighbors":
            return np.zeros(X.shape[0], dtype=np.int64)
        return self._run(self._model.labels_of, native(X))

    def _lists(self, X):
        """Neighbours of new rows among those of the fit."""
        if "_nbrs" not in self.__dict__:
            # Loaded: the graph says who is whose neighbour.
            return X if sparse.issparse(X) else sparse.csr_matrix(X)
        return self._graph(X)

    @property
    def nbrs_(self) -> Any:
        """scikit-learn's neighbours, fitted on the rows."""
        check_is_fitted(self)
        if "_nbrs" not in self.__dict__:
            rows = getattr(self, "_X_metric", None)
            if rows is None and self._model is not None:
                rows = from_native(self._model.samples)
            if rows is None:
                raise AttributeError(
                    "This model does not hold the rows of its fit, so there are no neighbours of scikit-learn."
                )
            self._nbrs = self._neighbors().fit(rows)
        return self._nbrs

    @property
    def dist_matrix_(self) -> Array:
        """Lengths of shortest paths between all rows; copied from the model."""
        check_is_fitted(self)
        if self._model is None:
            return np.zeros((self._n_samples,) * 2, dtype=self._precision)
        if "n_landmarks" in self.plan_:
            raise AttributeError(
                f"There are no distances between all rows: paths start from {self.plan_.n_landmarks} landmarks. Fit with "
                "landmarks='exact' to have them."
            )
        distances = self._model.geodesics()
        if distances is None:
            raise AttributeError("Components were embedded one by one: there are no distances between all rows.")
        return distances.astype(self._precision, copy=False)

    @property
    def kernel_pca_(self) -> ScaledDistances:
        """Eigenpairs of the centred squared distances."""
        check_is_fitted(self)
        values = np.zeros(self._n_features_out)
        if self._model is not None:
            found = self._model.eigenvalues
            values[: len(found)] = found
        return ScaledDistances(values.astype(self._precision), self.embedding_)

    def reconstruction_error(self) -> float:
        """‖K(D) - K(D_embedded)‖ / n_samples, with K(D) = -1/2 H D² H and the Frobenius norm.

        Returns
        -------
        float
        """
        squares = self.dist_matrix_.astype(np.float64)
        n = len(squares)
        squares **= 2
        means = squares.mean(axis=0)
        squares -= means
        squares -= (means - means.mean())[:, None]
        rest = 0.25 * np.vdot(squares, squares) - np.sum(self.kernel_pca_.eigenvalues_.astype(np.float64) ** 2)
        return float(np.sqrt(max(rest, 0.0)) / n)

    def _saved_model(self):
        if self.metric != "precomputed" and not known_metric(self.metric, self.p, self.metric_params):
            raise EigenliftError(
                f"The metric {self.metric!r} is computed by scikit-learn; a model file holds euclidean, manhattan, cosine and "
                "correlation. Pickle the estimator, or fit with precomputed distances."
            )
        return super()._saved_model()

    @classmethod
    def _from_model(cls, model):
        """A fitted estimator from a loaded model."""
        plan = Plan.from_json(model.plan)
        reach = plan["reach"]
        given = {"precomputed": "distances", "given by neighbours": "neighbors"}.get(plan.metric, "rows")
        return cls._restored(
            model,
            given,
            n_neighbors=reach.get("nearest"),
            radius=reach.get("within"),
            n_components=plan.n_components,
            metric=plan.metric if given == "rows" else "precomputed",
            landmarks=plan.get("n_landmarks"),
            tol=plan.tolerance,
        )

    def __getstate__(self):
        state = dict(super().__getstate__())
        if getattr(self, "_given", None) == "rows":
            # Made again from the rows when it is asked for.
            state.pop("_nbrs", None)
        return state

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        given = isinstance(self.metric, str) and self.metric == "precomputed"
        tags.input_tags.pairwise = tags.input_tags.positive_only = given
        tags.input_tags.sparse = given or known_metric(self.metric, self.p, self.metric_params) is not None
        return tags

    def _check_parameters(self):
        parameters.integer(self, "n_neighbors", 1, none=True)
        if self.radius != np.inf:
            parameters.real(self, "radius", 0, none=True)
        if self.n_neighbors is not None and self.radius is not None:
            raise EigenliftError(
                f"Both n_neighbors and radius are provided. Use Isomap(radius={self.radius}, n_neighbors=None) for neighbours "
                "within a radius."
            )
        if self.n_neighbors is None and self.radius is None:
            raise EigenliftError("Neither n_neighbors nor radius is given. Give one of them.")
        parameters.integer(self, "n_components", 1)
        parameters.choice(self, "eigen_solver", {"auto", "arpack", "dense"})
        parameters.real(self, "tol", 0)
        parameters.integer(self, "max_iter", 1, none=True)
        parameters.choice(self, "path_method", {"auto", "FW", "D"})
        parameters.choice(self, "neighbors_algorithm", {"auto", "brute", "kd_tree", "ball_tree"})
        if not callable(self.metric):
            parameters.choice(self, "metric", _METRICS)
        parameters.real(self, "p", 0, open_low=True)
        parameters.instance(self, "metric_params", dict, none=True)
        if self.landmarks != "exact":
            parameters.integer(self, "landmarks", 1, none=True)
        parameters.choice(self, "disconnected", _WORDS)
        parameters.choice(self, "search", {"auto", "brute", "tree"})
        parameters.memory(self)

    def _settings(self, given, n_samples):
        cut = self.cut
        if isinstance(cut, str) and cut != "suspects":
            parameters.refuse(self, "cut", "'suspects', pairs of rows or None")
        pairs = None if cut is None or isinstance(cut, str) else [(int(i), int(j)) for i, j in cut]
        if any(min(pair) < 0 for pair in pairs or []):
            parameters.refuse(self, "cut", "'suspects', pairs of rows counted from 0, or None")
        search = "brute" if self.search == "auto" and self.neighbors_algorithm == "brute" else self.search
        return self._told(
            given,
            n_samples,
            tol=self._residual(self.tol),
            neighbors=None if self.n_neighbors is None else int(self.n_neighbors),
            radius=None if self.radius is None else min(float(self.radius), LARGEST_RADIUS),
            search=search,
            metric=known_metric(self.metric, self.p, self.metric_params),
            exact=self.landmarks == "exact",
            landmarks=None if self.landmarks in (None, "exact") else int(self.landmarks),
            disconnected=self.disconnected,
            cut=cut if isinstance(cut, str) else pairs or None,
        )

    def _neighbors(self):
        """scikit-learn's neighbours with these parameters, not fitted."""
        return NearestNeighbors(
            n_neighbors=self.n_neighbors,
            radius=self.radius,
            algorithm=self.neighbors_algorithm,
            metric=self.metric,
            p=self.p,
            metric_params=self.metric_params,
            n_jobs=self.n_jobs,
        )

    def _graph(self, X=None):
        """Neighbours of rows as a CSR matrix of distances, by scikit-learn."""
        if self.n_neighbors is not None:
            return self._nbrs.kneighbors_graph(X, mode="distance").tocsr()
        return self._nbrs.radius_neighbors_graph(X, mode="distance").tocsr()

    def _route(self, X):
        """How X goes to the compiled part: what it is, and in which form."""
        if self.metric == "precomputed":
            if not sparse.issparse(X):
                return "distances", X
        elif known_metric(self.metric, self.p, self.metric_params):
            return "rows", X
        self._nbrs = self._neighbors().fit(X)
        graph = self._graph()
        count = connected_components(graph, directed=False, return_labels=False)
        if count == 1 or self.disconnected in ("separate", "error"):
            return "neighbors", graph
        if self.metric == "precomputed":
            raise UnsupportedError(
                f"The number of connected components of the neighbors graph is {count} > 1, and a sparse graph does not say how far "
                "apart they are. Raise n_neighbors, give distances between all rows, or choose disconnected='separate'."
            )
        # Bridges need distances that lists of neighbours do not have.
        return "distances", self._distances(X, X)

    def _distances(self, X, Y):
        """Distances between all rows by a metric of scikit-learn."""
        further = dict(self.metric_params or {})
        if self.metric == "minkowski":
            further.setdefault("p", self.p)
        same = X is Y
        D = pairwise_distances(X, None if same else Y, metric=self.metric, n_jobs=self.n_jobs, **further)
        if same:
            # How far a row is from itself counts for nothing.
            np.fill_diagonal(D, 0)
        return np.ascontiguousarray(D, dtype=np.float64)

    def _checked_graph(self, graph, n_samples):
        if not known_metric(self.metric, self.p, self.metric_params):
            raise EigenliftError(
                f"A graph and the metric {self.metric!r} cannot both be given: new rows are placed by euclidean, manhattan, cosine or "
                "correlation distances."
            )
        graph = check_array(graph, accept_sparse="csr", dtype=np.float64)
        if graph.shape != (n_samples, n_samples):
            raise EigenliftError(
                f"A graph of shape {graph.shape} for {n_samples} rows; there must be one row and one column for each."
            )
        return native(sparse.csr_matrix(graph))

    def _turned_landmarks(self, model):
        # Signs of an exact fit are scikit-learn's already.
        return self._turned(model) if '"n_landmarks":' in model.plan else model
