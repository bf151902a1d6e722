"""How an isomap is fitted: from parameters to settings, from metrics to neighbours."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import VALID_METRICS, NearestNeighbors
from sklearn.utils import check_array

from . import _parameters as parameters
from ._manifold import LARGEST_RADIUS, Manifold, known_metric
from ._rows import native

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

    def __init__(self, eigenvalues, embedding):
        self.eigenvalues_ = eigenvalues
        lengths = np.sqrt(eigenvalues)
        self.eigenvectors_ = embedding / np.where(lengths > 0, lengths, 1)


class IsomapFit(Manifold):
    """What `Isomap` does behind its public methods."""

    _method = "isomap"

    def _check_parameters(self):
        parameters.integer(self, "n_neighbors", 1, none=True)
        if self.radius != np.inf:
            parameters.real(self, "radius", 0, none=True)
        if self.n_neighbors is not None and self.radius is not None:
            raise ValueError(
                f"Both n_neighbors and radius are provided. Use Isomap(radius={self.radius}, n_neighbors=None) for neighbours "
                "within a radius."
            )
        if self.n_neighbors is None and self.radius is None:
            raise ValueError("Neither n_neighbors nor radius is given. Give one of them.")
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
        search = "brute" if self.search == "auto" and self.neighbors_algorithm == "brute" else self.search
        common = self._common(
            given,
            n_samples,
            metric=known_metric(self.metric, self.p, self.metric_params) or "euclidean",
            n_neighbors=None if self.n_neighbors is None else int(self.n_neighbors),
            radius=None if self.radius is None else min(float(self.radius), LARGEST_RADIUS),
            search=search,
            tolerance=self._residual(self.tol),
        )
        return {
            "common": common,
            "exact": self.landmarks == "exact",
            "landmarks": None if self.landmarks in (None, "exact") else int(self.landmarks),
            "disconnected": self.disconnected,
            "cut_suspects": cut == "suspects" if isinstance(cut, str) else False,
            "cut_edges": [] if cut is None or isinstance(cut, str) else [(int(i), int(j)) for i, j in cut],
        }

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
            raise RuntimeError(
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
            raise ValueError(
                f"A graph and the metric {self.metric!r} cannot both be given: new rows are placed by euclidean, manhattan, cosine or "
                "correlation distances."
            )
        graph = check_array(graph, accept_sparse="csr", dtype=np.float64)
        if graph.shape != (n_samples, n_samples):
            raise ValueError(
                f"A graph of shape {graph.shape} for {n_samples} rows; there must be one row and one column for each."
            )
        return native(sparse.csr_matrix(graph))

    def _turned_landmarks(self, model):
        # Signs of an exact fit are scikit-learn's already.
        return self._turned(model) if '"n_landmarks":' in model.plan else model
