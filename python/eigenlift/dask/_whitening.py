"""Whitening on a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from .. import _native, _whitening
from .._cluster._blocks import is_source
from .._linear import pass_on_warnings, rows_weighed
from ._distributed import Weighted

if TYPE_CHECKING:
    from .._types import Progress


class Whitening(Weighted, _whitening.Whitening):
    """Whitening of rows that no single machine holds.

    As `eigenlift.Whitening`: the same parameters, attributes and, up to rounding, results.

    Parameters
    ----------
    n_components, method, ridge, verbose, progress
        As of `eigenlift.Whitening`.
    memory : int, str or None, default=None
        Bytes that this process may use, such as "2GiB".
    n_jobs : int or None, default=None
        Threads of each task; None for one.
    client : distributed.Client, backend or None, default=None
        Who does the work, as of `eigenlift.dask.PCA`.

    Attributes
    ----------
    mean_, scale_, components_, explained_variance_, rank_, statement_, distance_, plan_, certificate_, ...
        As of `eigenlift.Whitening`.

    Examples
    --------
    >>> import dask.array as da
    >>> from eigenlift.dask import Threads, Whitening
    >>> X = da.random.default_rng(0).normal(size=(10_000, 3), chunks=(1000, 3)) * [1, 10, 100]
    >>> whitening = Whitening(client=Threads()).fit(X)
    >>> whitening.transform(X).std(axis=0).compute().round(6)
    array([1., 1., 1.])
    """

    _ordinary_class = _whitening.Whitening

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
        client: Any = None,
    ) -> None:
        super().__init__(
            n_components,
            method=method,
            ridge=ridge,
            memory=memory,
            n_jobs=n_jobs,
            verbose=verbose,
            progress=progress,
        )
        self.client = client

    def fit(self, X: Any, y: object = None, sample_weight: Any = None) -> Self:
        """Finds the whitening of rows.

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
        settings = self._settings()
        with self._at_work(X, sample_weight) as pieces:
            self._take_columns(pieces)
            rows_weighed(pieces.weight(), pieces.n_rows)
            settings["column_names"] = self._column_names()
            how = (self.method, float(self.ridge), settings)
            model = self._ask(_native.fit_whitening_pieces, pieces, *how, of=pieces)
        self._take(model)
        pass_on_warnings(model, stacklevel=3)
        return self

    def inverse_transform(self, X: Any) -> Any:
        """Rows from whitened ones, as on one machine; put off for Dask collections and paths."""
        return self._lazily("inverse_transform", X, scores=True) if is_source(X) else super().inverse_transform(X)
