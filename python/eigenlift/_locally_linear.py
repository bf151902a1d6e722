"""Locally linear embedding and its variants."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from sklearn.neighbors import NearestNeighbors
from sklearn.utils.validation import check_is_fitted

from . import _parameters as parameters
from ._account import Plan
from ._errors import EigenliftError
from ._manifold import Manifold, dense
from ._rows import from_native

if TYPE_CHECKING:
    from ._types import Array, Progress, RandomState, Rows

_METHODS = {"standard", "hessian", "modified", "ltsa"}
# The least ridge that keeps products within a neighbourhood solvable.
_SMALLEST_RIDGE = 1e-15
_RESIDUAL = 1e-10


class LocallyLinearEmbedding(Manifold):
    """Locally linear embedding: coordinates follow from those of neighbours as rows follow from theirs.

    Parameters and attributes of scikit-learn's class of this name have its meaning.

    Parameters
    ----------
    n_neighbors : int, default=5
        Neighbours of each row.
    n_components : int, default=2
        Coordinates.
    reg : float, default=1e-3
        Added to the products within a neighbourhood, relative to their trace.
    eigen_solver : {"auto", "arpack", "dense"}, default="auto"
        Taken for compatibility; the plan chooses, and every way gives eigenpairs to the tolerance.
    tol : float, default=1e-6
        Residual relative to the norm of the matrix that is asked for. Above 1e-10 it stands for 1e-10, because the eigenvalues that
        are looked for are far smaller than the norm.
    max_iter : int, default=100
        Taken for compatibility; iterations run until the tolerance holds.
    method : {"standard", "hessian", "modified", "ltsa"}, default="standard"
        What is kept of each neighbourhood.
    hessian_tol, modified_tol : float, default=1e-4 and 1e-12
        Below which the variants of these names count a number as zero.
    neighbors_algorithm : {"auto", "brute", "kd_tree", "ball_tree"}, default="auto"
        How neighbours are found; the neighbours are the same.
    random_state : int, RandomState instance or None, default=None
        Of start vectors. None stands for a fixed seed.
    n_jobs : int or None, default=None
        Threads; None for the environment's OMP_NUM_THREADS or all processors. Results do not depend on it.
    metric : {"euclidean", "manhattan", "cosine", "correlation"}, default="euclidean"
        By which neighbours are near.
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
    reconstruction_error_ : float
        The sum of the eigenvalues: how far coordinates are from keeping every neighbourhood.
    eigenvalues_ : ndarray of shape (n_components,)
        Smallest first, without the first, which is 0.
    nbrs_ : NearestNeighbors
        scikit-learn's, fitted on the rows when it is first asked for.
    n_iter_ : int
        Iterations that the solver took.
    plan_ : Plan
        What was decided and why; print it.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import make_s_curve
    >>> from eigenlift import LocallyLinearEmbedding
    >>> X, along = make_s_curve(400, random_state=0)
    >>> lle = LocallyLinearEmbedding(n_neighbors=12, method="ltsa").fit(X)
    >>> lle.embedding_.shape
    (400, 2)
    >>> lle.reconstruction_error_ < 1e-2
    True
    """

    eigenvalues_: Array
    reconstruction_error_: float

    _method = "lle"

    def __init__(
        self,
        *,
        n_neighbors: int = 5,
        n_components: int = 2,
        reg: float = 1e-3,
        eigen_solver: str = "auto",
        tol: float = 1e-6,
        max_iter: int = 100,
        method: str = "standard",
        hessian_tol: float = 1e-4,
        modified_tol: float = 1e-12,
        neighbors_algorithm: str = "auto",
        random_state: RandomState = None,
        n_jobs: int | None = None,
        metric: str = "euclidean",
        search: str = "auto",
        memory: int | str | None = None,
        verbose: int = 0,
        progress: Progress = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.reg = reg
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.method = method
        self.hessian_tol = hessian_tol
        self.modified_tol = modified_tol
        self.neighbors_algorithm = neighbors_algorithm
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.metric = metric
        self.search = search
        self.memory = memory
        self.verbose = verbose
        self.progress = progress

    def _check_parameters(self):
        parameters.integer(self, "n_neighbors", 1)
        parameters.integer(self, "n_components", 1)
        parameters.real(self, "reg", 0)
        parameters.choice(self, "eigen_solver", {"auto", "arpack", "dense"})
        parameters.real(self, "tol", 0)
        parameters.integer(self, "max_iter", 1)
        parameters.choice(self, "method", _METHODS)
        parameters.real(self, "hessian_tol", 0)
        parameters.real(self, "modified_tol", 0)
        parameters.choice(self, "neighbors_algorithm", {"auto", "brute", "kd_tree", "ball_tree"})
        parameters.choice(self, "metric", {"euclidean", "manhattan", "cosine", "correlation"})
        parameters.choice(self, "search", {"auto", "brute", "tree"})
        parameters.memory(self)

    def _check_shape(self, X):
        n_samples, n_features = X.shape
        if self.n_components > n_features:
            raise EigenliftError("output dimension must be less than or equal to input dimension")
        if self.n_neighbors >= n_samples:
            raise EigenliftError(
                f"Expected n_neighbors < n_samples, but n_samples = {n_samples}, n_neighbors = {self.n_neighbors}"
            )
        if self.method == "hessian" and self.n_neighbors <= self.n_components * (self.n_components + 3) // 2:
            raise EigenliftError(
                "for method='hessian', n_neighbors must be greater than [n_components * (n_components + 3) / 2]"
            )
        if self.method == "modified" and self.n_neighbors < self.n_components:
            raise EigenliftError("modified LLE requires n_neighbors >= n_components")

    def _settings(self, n_samples):
        search = "brute" if self.search == "auto" and self.neighbors_algorithm == "brute" else self.search
        return self._told(
            "rows",
            n_samples,
            tol=self._residual(min(self.tol, _RESIDUAL)),
            neighbors=int(self.n_neighbors),
            search=search,
            metric=self.metric,
            variant=self.method,
            ridge=max(float(self.reg), _SMALLEST_RIDGE),
            **{"hessian-zero": float(self.hessian_tol), "modified-zero": float(self.modified_tol)},
        )

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
        self._check_shape(X)
        return self._planned(X, self._settings(X.shape[0]))

    def fit(self, X: Rows, y: object = None) -> Self:
        """Embeds X.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : ignored

        Returns
        -------
        self
        """
        self._check_parameters()
        self.__dict__.pop("_nbrs", None)
        X = self._rows_of_fit(X)
        self._check_shape(X)
        rows = dense(X)
        if self.eigen_solver == "arpack" and (rows == rows[0]).all():
            raise EigenliftError(
                "Error in determining null-space with ARPACK. All rows are the same, so the weight matrix is singular: every direction "
                "keeps all neighbourhoods. Check for constant columns."
            )
        self._given = "rows"
        model = self._fitted(X, self._settings(X.shape[0]))
        self._settle(model, X.dtype, int(self.n_components))
        return self

    def _take(self, model, dtype, n_components):
        super()._take(model, dtype, n_components)
        self.eigenvalues_ = model.eigenvalues
        self.reconstruction_error_ = float(self.eigenvalues_.sum())

    @property
    def nbrs_(self) -> Any:
        """scikit-learn's neighbours, fitted on the rows."""
        check_is_fitted(self)
        if "_nbrs" not in self.__dict__:
            neighbors = NearestNeighbors(
                n_neighbors=self.n_neighbors,
                algorithm=self.neighbors_algorithm,
                metric=self.metric,
                n_jobs=self.n_jobs,
            )
            self._nbrs = neighbors.fit(from_native(self._model.samples))
        return self._nbrs

    @classmethod
    def _from_model(cls, model):
        """A fitted estimator from a loaded model."""
        plan = Plan.from_json(model.plan)
        return cls._restored(
            model,
            "rows",
            n_neighbors=plan["reach"]["nearest"],
            n_components=plan.n_components,
            metric=plan.metric,
            method=plan.route.partition(" ")[0],
            tol=plan.tolerance,
        )

    def __getstate__(self):
        state = dict(super().__getstate__())
        # Made again from the rows when it is asked for.
        state.pop("_nbrs", None)
        return state


def locally_linear_embedding(
    X: Rows,
    *,
    n_neighbors: int,
    n_components: int,
    reg: float = 1e-3,
    eigen_solver: str = "auto",
    tol: float = 1e-6,
    max_iter: int = 100,
    method: str = "standard",
    hessian_tol: float = 1e-4,
    modified_tol: float = 1e-12,
    random_state: RandomState = None,
    n_jobs: int | None = None,
) -> tuple[Array, float]:
    """Locally linear embedding of rows, and its error.

    Parameters
    ----------
    X : {array-like, sparse matrix, NearestNeighbors} of shape (n_samples, n_features)
        Rows, or scikit-learn's neighbours that were fitted on them.
    n_neighbors, n_components, reg, eigen_solver, tol, max_iter, method, hessian_tol, modified_tol, random_state, n_jobs
        As in `LocallyLinearEmbedding`.

    Returns
    -------
    embedding : ndarray of shape (n_samples, n_components)
        The coordinates.
    squared_error : float
        The sum of the eigenvalues.

    Examples
    --------
    >>> from sklearn.datasets import make_s_curve
    >>> from eigenlift import locally_linear_embedding
    >>> embedding, error = locally_linear_embedding(make_s_curve(200, random_state=0)[0], n_neighbors=10, n_components=2)
    >>> embedding.shape
    (200, 2)
    """
    if isinstance(X, NearestNeighbors):
        X = X._fit_X
    estimator = LocallyLinearEmbedding(
        n_neighbors=n_neighbors,
        n_components=n_components,
        reg=reg,
        eigen_solver=eigen_solver,
        tol=tol,
        max_iter=max_iter,
        method=method,
        hessian_tol=hessian_tol,
        modified_tol=modified_tol,
        random_state=random_state,
        n_jobs=n_jobs,
    )
    return estimator.fit(X).embedding_, estimator.reconstruction_error_
