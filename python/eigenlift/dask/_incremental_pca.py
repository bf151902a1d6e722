"""Principal component analysis on a cluster, of rows that come in pieces."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any, Self

from .. import _incremental_pca
from .._cluster._blocks import is_source
from ._distributed import Distributed

if TYPE_CHECKING:
    from .._types import Progress, Rows


class IncrementalPCA(Distributed, _incremental_pca.IncrementalPCA):
    """Principal component analysis of rows that no single machine holds and that come in pieces.

    As `eigenlift.IncrementalPCA`: `partial_fit` adds the sums over further rows to those that are held, and components are solved
    for when they are first asked for.

    Parameters
    ----------
    n_components, whiten, copy, batch_size, route, sketch_rows, memory, verbose, progress
        As of `eigenlift.IncrementalPCA`.
    n_jobs : int or None, default=None
        Threads of each task; None for one.
    client : distributed.Client, backend or None, default=None
        Who does the work, as of `eigenlift.dask.PCA`.

    Attributes
    ----------
    components_, explained_variance_, mean_, var_, n_samples_seen_, ...
        As of `eigenlift.IncrementalPCA`.

    Examples
    --------
    >>> import dask.array as da
    >>> from eigenlift.dask import IncrementalPCA, Threads
    >>> days = [da.random.default_rng(day).normal(size=(10_000, 5), chunks=(1000, 5)) for day in range(3)]
    >>> ipca = IncrementalPCA(n_components=2, client=Threads())
    >>> for day in days:
    ...     ipca = ipca.partial_fit(day)
    >>> ipca.n_samples_seen_, ipca.components_.shape
    (30000, (2, 5))
    """

    _ordinary_class = _incremental_pca.IncrementalPCA

    def __init__(
        self,
        n_components: int | None = None,
        *,
        whiten: bool = False,
        copy: bool = True,
        batch_size: int | None = None,
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
            whiten=whiten,
            copy=copy,
            batch_size=batch_size,
            route=route,
            sketch_rows=sketch_rows,
            memory=memory,
            n_jobs=n_jobs,
            verbose=verbose,
            progress=progress,
        )
        self.client = client

    def fit(self, X: Rows, y: object = None) -> Self:
        """Finds the components of rows; what was seen before is forgotten.

        Parameters
        ----------
        X : dask.array.Array, dask.dataframe.DataFrame, path or list of paths
            Rows.
        y : ignored

        Returns
        -------
        self
        """
        self._check_parameters()
        with self._at_work(X) as pieces:
            self._take_columns(pieces)
            n_components, batch_size = self._begin(*pieces.shape)
            self._add_pieces(pieces, n_components)
        self.batch_size_ = batch_size
        self._solution()
        return self

    def partial_fit(self, X: Rows, y: object = None, check_input: bool = True) -> Self:
        """Adds rows to those seen before.

        Parameters
        ----------
        X : dask.array.Array, dask.dataframe.DataFrame, path or list of paths, or rows in memory
            Rows.
        y : ignored
        check_input : bool, default=True
            For rows in memory.

        Returns
        -------
        self
        """
        if not is_source(X):
            return super().partial_fit(X, check_input=check_input)
        self._check_parameters()
        with self._at_work(X) as pieces:
            self._take_columns(pieces, reset=not self.__sklearn_is_fitted__(), min_samples=1)
            self._add_pieces(pieces, self._number_of_components(*pieces.shape))
        return self

    def _add_pieces(self, pieces, n_components):
        """Adds rows to the sums; nothing is changed when that fails."""
        sums = pieces.pca_sums(self._new_stream(pieces.n_cols, n_components))
        if self.__sklearn_is_fitted__():
            earlier = pickle.loads(pickle.dumps(self._stream))
            earlier.merge(sums)
            sums = earlier
        self._take_sums(sums, n_components, pieces.dtype)

    def _ordinary(self):
        self._solution()
        plain = super()._ordinary()
        # What is solved is enough.
        plain._stream = None
        return plain

    def inverse_transform(self, X: Any) -> Any:
        """Rows from scores, as on one machine; put off for Dask collections and paths."""
        return self._lazily("inverse_transform", X, scores=True) if is_source(X) else super().inverse_transform(X)
