"""Methods on rows, put off until somebody asks: Dask arrays made of a fitted estimator and of rows."""

from __future__ import annotations

import uuid
import warnings

import dask.array as da
import numpy as np
from dask import delayed

from .._cluster import _tasks as tasks
from .._cluster._blocks import blocks_of
from .._cluster._collections import column_names, frame_dtype
from .._cluster._threads import Threads
from .._errors import EigenliftError, InvalidParameterError


def lazy_rows(X):
    """Rows as a Dask array that is not cut across columns, and the names of the columns or None.

    Nothing is read but what a file says of itself; lengths that a dataframe does not know stay unknown.
    """
    if isinstance(X, da.Array):
        if X.ndim != 2:
            raise EigenliftError(
                f"an array of {X.ndim} dimensions; rows must be a matrix. Give an array of 2 dimensions."
            )
        return (X.rechunk({1: -1}) if X.numblocks[1] > 1 else X), None
    if hasattr(X, "to_dask_array"):
        if not hasattr(X, "columns"):
            raise InvalidParameterError(
                f"a {type(X).__name__}; rows must be a matrix. Give a dataframe, such as series.to_frame()."
            )
        frame_dtype(X.dtypes)  # refuses columns that are not of numbers, by name
        names = column_names(X)
        return X.to_dask_array(), None if names is None else list(names)
    with Threads(1) as backend:
        blocks = blocks_of(X, backend=backend)
        parts = [
            da.from_delayed(
                delayed(tasks.rows_alone, name=f"eigenlift-rows-{uuid.uuid4().hex}")(block.delayed()),
                shape=(block.place.n_rows, blocks.n_cols),
                dtype=blocks.dtype,
            )
            for block in blocks
        ]
    return da.concatenate(parts), blocks.column_names


def rowwise(estimator, method, rows):
    """What a method of a fitted estimator says of rows, as a Dask array; the estimator is one task of its own.

    What comes out is learned from a single row, which also refuses rows of other columns at once.
    """
    single = rows.dtype == np.float32
    probe = np.ones((1, rows.shape[1]), dtype=np.float32 if single else np.float64)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = getattr(estimator, method)(probe)
    found = np.column_stack(found) if isinstance(found, tuple) else found
    name, token = method.replace("_", "-"), uuid.uuid4().hex
    whole = {} if found.ndim == 2 else {"drop_axis": 1}
    return da.map_blocks(
        tasks.rowwise,
        rows,
        delayed(estimator, name=f"eigenlift-model-{token}", traverse=False),
        method,
        (found.shape[1:], found.dtype),
        chunks=(rows.chunks[0], *((size,) for size in found.shape[1:])),
        meta=np.empty((0,) * found.ndim, dtype=found.dtype),
        name=f"eigenlift-{name}-{token}",
        **whole,
    )
