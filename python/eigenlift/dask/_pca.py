"""Principal component analysis on a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from .. import _native, _pca
from .._account import Plan
from .._cluster._blocks import is_source
from .._linear import rows_weighed
from ._distributed import Weighted

if TYPE_CHECKING:
    from .._types import Progress, RandomState, Rows


class PCA(Weighted, _pca.PCA):
    """Principal component analysis of rows that no single machine holds.

    As `eigenlift.PCA`: the same parameters, attributes and, up to rounding, results. Each block of rows is a task that reads it;
    covariances or triangles are merged two by two in an order fixed by the blocks, so that results do not depend on the number
    of workers. For more columns than a covariance has room for, an iteration goes over the rows a few times.

    Parameters
    ----------
    n_components, copy, whiten, svd_solver, tol, iterated_power, n_oversamples, power_iteration_normalizer, random_state
        As of `eigenlift.PCA`, and of scikit-learn's.
    standardize, route, sketch_rows, verbose, progress
        As of `eigenlift.PCA`.
    memory : int, str or None, default=None
        Bytes that this process may use, such as "2GiB".
    n_jobs : int or None, default=None
        Threads of each task; None for one. This process uses as many as `eigenlift.PCA`.
    client : distributed.Client, backend or None, default=None
        Who does the work. None for the client of this process; where there is none, a cluster of processes on this machine
        for the time of the call, which a script must start under `if __name__ == "__main__":`. Threads() of `eigenlift.dask` works
        in threads of this process. A client is neither copied nor pickled.

    Attributes
    ----------
    components_, explained_variance_, explained_variance_ratio_, singular_values_, mean_, plan_, certificate_, ...
        As of `eigenlift.PCA`.

    Examples
    --------
    >>> import dask.array as da
    >>> from eigenlift.dask import PCA, Threads
    >>> X = da.random.default_rng(0).normal(size=(10_000, 5), chunks=(1000, 5)) * [5, 4, 3, 2, 1]
    >>> pca = PCA(n_components=2, client=Threads()).fit(X)
    >>> pca.components_.shape
    (2, 5)
    >>> pca.transform(X)
    dask.array<eigenlift-transform, shape=(10000, 2), dtype=float64, chunksize=(1000, 2), chunktype=numpy.ndarray>
    """

    _ordinary_class = _pca.PCA

    def __init__(
        self,
        n_components: int | float | str | None = None,
        *,
        copy: bool = True,
        whiten: bool = False,
        svd_solver: str = "auto",
        tol: float = 0.0,
        iterated_power: int | str = "auto",
        n_oversamples: int = 10,
        power_iteration_normalizer: str = "auto",
        random_state: RandomState = None,
        standardize: bool = False,
        route: str | None = None,
        sketch_rows: int | None = None,
        memory: int | str | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        progress: Progress = None,
        client: Any = None,
    ) -> None:
        super().__init__(
            n_components,
            copy=copy,
            whiten=whiten,
            svd_solver=svd_solver,
            tol=tol,
            iterated_power=iterated_power,
            n_oversamples=n_oversamples,
            power_iteration_normalizer=power_iteration_normalizer,
            random_state=random_state,
            standardize=standardize,
            route=route,
            sketch_rows=sketch_rows,
            memory=memory,
            n_jobs=n_jobs,
            verbose=verbose,
            progress=progress,
        )
        self.client = client

    def fit(self, X: Any, y: object = None, sample_weight: Any = None) -> Self:
        """Finds the components of rows.

        Parameters
        ----------
        X : dask.array.Array, dask.dataframe.DataFrame, path or list of paths
            Rows.
        y : ignored
        sample_weight : dask.array.Array of shape (n_samples,) or None, default=None
            How often each row counts.

        Returns
        -------
        self
        """
        self._fit(X, sample_weight)
        return self

    def _fit(self, X, sample_weight):
        self._check_parameters(X)
        with self._at_work(X, sample_weight) as pieces:
            self._take_columns(pieces)
            weight = pieces.weight()
            n_rows = rows_weighed(weight, pieces.n_rows)
            settings = self._solved(
                pieces, n_rows, lambda how: self._ask(_native.fit_pca_pieces, pieces, how, of=pieces)
            )
            if settings is None:
                return
            # Of rows that look the same the mean is one; those of weight 0 may be others.
            moments = settings | {"n_components": 1, "route": "directions", "sketch_rows": 2}
            sums = pieces.pca_sums(_native.PcaStream(pieces.n_cols, moments, self._threads()))
            self._take_constant_rows(sums.columns()[0].astype(pieces.dtype), n_rows, settings)
            self._weight = weight
            self.plan_ = self._planned(pieces, settings)

    def plan(self, X: Rows) -> Plan:
        """What `fit` would do with these rows, without doing it.

        Parameters
        ----------
        X : dask.array.Array, dask.dataframe.DataFrame, path or list of paths
            Rows.

        Returns
        -------
        Plan
        """
        self._check_parameters(X)
        with self._at_work(X) as pieces:
            return self._planned(pieces, self._settings(pieces, self._to_solve(pieces, pieces.n_rows)))

    def _planned(self, pieces, settings):
        return Plan.from_json(*_native.plan_pca_pieces(pieces, settings, self._threads()))

    def inverse_transform(self, X: Any) -> Any:
        """Rows from scores, as on one machine; put off for Dask collections and paths."""
        return self._lazily("inverse_transform", X, scores=True) if is_source(X) else super().inverse_transform(X)

    def t_squared(self, X: Any) -> Any:
        """Hotelling's T², as on one machine; put off for Dask collections and paths."""
        return self._lazily("t_squared", X) if is_source(X) else super().t_squared(X)

    def reconstruction_error(self, X: Any) -> Any:
        """The squared distance that components leave out, as on one machine; put off for Dask collections and paths."""
        return self._lazily("reconstruction_error", X) if is_source(X) else super().reconstruction_error(X)

    def score_samples(self, X: Any) -> Any:
        """Log-likelihood of each row, as on one machine; put off for Dask collections and paths."""
        return self._lazily("score_samples", X) if is_source(X) else super().score_samples(X)

    def score(self, X: Rows, y: object = None) -> float:
        """Mean of `score_samples` over rows, computed by the client for Dask collections and paths."""
        if not is_source(X):
            return super().score(X)
        with self._at_work(X) as pieces:
            self._take_columns(pieces, reset=False, min_samples=1)
            return pieces.summed(self._ordinary(), "score_samples") / pieces.n_rows
