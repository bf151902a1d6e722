"""The rows of a Dask collection or of files, as blocks that tasks read."""

from __future__ import annotations

import numbers
import os
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .._errors import EigenliftError, InvalidParameterError
from ._paths import FILES, file_parts, weight_file
from ._protocol import Block, Place


@dataclass(frozen=True)
class _Constant:
    """The same weight for each row."""

    value: float
    n_rows: int

    def read(self):
        return np.full(self.n_rows, self.value)


class Blocks(Sequence):
    """Blocks in order, with what is known of all rows.

    Attributes
    ----------
    n_rows, n_cols : int
        Shape of all rows together.
    dtype : numpy.dtype
        float32 if all rows are, else float64.
    column_names : list of str or None
        Names of the columns, if the source has names.
    weighted : bool
        Whether rows have weights.
    offsets : ndarray of int64, one longer than there are blocks
        Where each block begins among all rows, and at the end the number of rows.
    """

    def __init__(self, blocks, form, weighted):
        self._blocks = list(blocks)
        self._form = form
        self.weighted = weighted
        self.n_cols, self.dtype = form.n_cols, form.dtype
        self.column_names = None if form.column_names is None else list(form.column_names)
        self.offsets = np.cumsum([0, *(block.place.n_rows for block in self._blocks)], dtype=np.int64)
        self.n_rows = int(self.offsets[-1])

    def __len__(self):
        return len(self._blocks)

    def __getitem__(self, index):
        return self._blocks[index]

    def __repr__(self):
        return f"Blocks({len(self)} of {self.n_rows} x {self.n_cols}, {self.dtype})"

    @property
    def places(self):
        return [block.place for block in self._blocks]


def is_source(X):
    """Whether X is something that `blocks_of` takes: a Dask collection, a path, or a list of paths."""
    return _is_dask(X) or _is_path(X) or (isinstance(X, (list, tuple)) and len(X) > 0 and all(map(_is_path, X)))


def blocks_of(X, weights=None, backend=None, report=None):
    """The blocks of X.

    Parameters
    ----------
    X : dask.array.Array, dask.dataframe.DataFrame, path, or list of paths
        A path may be a pattern such as "part-*.npy", or a directory of files. Files are .npy, .parquet or .zarr.
    weights : None, number, array-like of shape (n_rows,), dask array or series, or path of a .npy file
        A weight for each row.
    backend : Backend
        Where lengths that the source does not know are counted.
    report : callable or None
        Called with (done, total) while lengths are counted.
    """
    if not is_source(X):
        raise InvalidParameterError(_not_a_source(X))
    if _is_dask(X):
        from ._collections import collection_parts

        parts, form = collection_parts(X, backend, report)
    else:
        parts, form = file_parts(list(X) if isinstance(X, (list, tuple)) else [X])
    parts = [part for part in parts if part.n_rows]
    if not parts:
        raise EigenliftError("no rows in any partition; a fit needs at least one. Look at what made X.")
    if not form.n_cols:
        raise EigenliftError("rows without columns; a fit needs at least one. Look at what made X.")
    sources = _weight_sources(weights, [part.n_rows for part in parts], backend)
    return Blocks(_placed(parts, sources, form), form, weights is not None)


def _placed(parts, weights, form):
    first = 0
    for index, (part, own) in enumerate(zip(parts, weights)):
        words = part.words or f"rows {first + 1} to {first + part.n_rows}"
        place = Place(index, first, part.n_rows, f"partition {part.number} ({words})")
        yield Block(place, part.source, own, form)
        first += part.n_rows


def _weight_sources(weights, lengths, backend):
    """For each block what gives its weights."""
    if weights is None:
        return [None] * len(lengths)
    if isinstance(weights, numbers.Real):
        return [_Constant(float(weights), n_rows) for n_rows in lengths]
    if _is_path(weights):
        return weight_file(weights, lengths)
    if _is_dask(weights):
        from ._collections import weight_lazies

        return weight_lazies(weights, lengths, backend)
    values = np.asarray(weights, dtype=np.float64)
    if values.shape != (sum(lengths),):
        raise EigenliftError(f"sample_weight.shape == {values.shape}, expected {(sum(lengths),)}!")
    return [piece.copy() for piece in np.split(values, np.cumsum(lengths)[:-1])]


def _is_path(X):
    return isinstance(X, (str, os.PathLike))


def _is_dask(X):
    return getattr(X, "__dask_graph__", None) is not None and hasattr(X, "__dask_keys__")


def _not_a_source(X):
    kind = type(X).__name__
    if isinstance(X, (list, tuple)):
        kind = f"{kind} of {type(X[0]).__name__}" if len(X) else f"empty {kind}"
    return (
        f"X is a {kind}; partitions are taken from Dask arrays, Dask data frames and {FILES}. "
        "For rows in memory use the estimator of the same name in eigenlift, or dask.array.from_array(X, chunks=...)."
    )
