"""Blocks of Dask arrays and data frames."""

from __future__ import annotations

import warnings
from collections import Counter

import dask
import numpy as np
from dask.array import Array
from dask.core import flatten
from dask.delayed import Delayed
from dask.optimization import cull

from .._base import EigenliftWarning
from .._errors import EigenliftError, InvalidParameterError
from ._checks import rows_dtype
from ._protocol import Block, Form, Lazy, Part, Place

# Bytes of a graph that are worth a warning.
_MUCH = 10_000_000


def collection_parts(X, backend, report):
    """The parts of a collection and what their rows must look like."""
    if isinstance(X, Array):
        return _array_parts(X, backend, report)
    if not isinstance(X, Delayed) and hasattr(X, "columns") and getattr(X, "ndim", None) == 2:
        return _frame_parts(X, backend, report)
    raise InvalidParameterError(
        f"X is a {type(X).__name__} of Dask; rows must be a Dask array of 2 dimensions or a data frame. "
        "Make one, for example with dask.array.from_delayed."
    )


def weight_lazies(weights, lengths, backend):
    """The weights of each block, divided as the rows are."""
    if not isinstance(weights, (Array, Delayed)) and hasattr(weights, "to_dask_array"):
        weights = weights.to_dask_array()
    if not isinstance(weights, Array) or weights.ndim != 1:
        raise EigenliftError(
            f"weights that are a {type(weights).__name__} of Dask, or of more than one dimension; there must be one number for each row. "
            "Give a series or an array (n,)."
        )
    if np.isnan(weights.shape[0]):
        shapes = _shapes(_lazies(weights, backend), backend, None)
        weights = weights.copy()
        weights._chunks = (tuple(shape[0] for shape in shapes),)
    if weights.shape[0] != sum(lengths):
        raise EigenliftError(f"sample_weight.shape == {weights.shape}, expected {(sum(lengths),)}!")
    if weights.chunks != (tuple(lengths),):
        weights = weights.rechunk((tuple(lengths),))
    return _lazies(weights, backend)


def _array_parts(X, backend, report):
    if X.ndim != 2:
        raise EigenliftError(
            f"a Dask array of {X.ndim} dimension{'s' * (X.ndim != 1)}; rows must be a matrix. "
            "Use reshape, such as X[:, None] for one column."
        )
    dtype = rows_dtype(X.dtype)
    if dtype is None:
        raise EigenliftError(
            f"a Dask array of type {X.dtype}; rows must be real numbers. Use astype(float) if that is what they are."
        )
    if len(X.chunks[1]) > 1:
        X = X.rechunk({1: -1})
    lazies = _lazies(X, backend)
    lengths, n_cols = X.chunks[0], X.shape[1]
    if np.isnan([*lengths, n_cols]).any():
        shapes = _shapes(lazies, backend, report)
        lengths, n_cols = [shape[0] for shape in shapes], shapes[0][1] if len(shapes[0]) == 2 else n_cols
    parts = [Part(lazy, int(n_rows), i) for i, (lazy, n_rows) in enumerate(zip(lazies, lengths))]
    return parts, Form(int(n_cols), dtype)


def _frame_parts(X, backend, report):
    dtype = frame_dtype(X.dtypes)
    lazies = _lazies(X, backend)
    shapes = _shapes(lazies, backend, report)
    parts = [Part(lazy, shape[0], i) for i, (lazy, shape) in enumerate(zip(lazies, shapes))]
    return parts, Form(len(X.columns), dtype, column_names(X))


def column_names(X):
    """Names of columns if they are all strings, as scikit-learn takes them, else None; raises ValueError if one is there twice."""
    names = tuple(X.columns)
    if not all(isinstance(name, str) for name in names):
        return None
    for name, times in Counter(names).items():
        if times > 1:
            raise EigenliftError(f"the column {name!r} is there {times} times; names must differ. Rename or drop one.")
    return names


def frame_dtype(dtypes):
    """float32 or float64, which holds all columns; raises ValueError with the name of a column that is not of numbers."""
    from pandas.api import types

    single = True
    for name, dtype in dtypes.items():
        if not (types.is_numeric_dtype(dtype) or types.is_bool_dtype(dtype)) or types.is_complex_dtype(dtype):
            raise EigenliftError(
                f"column {str(name)!r} is of type {dtype}; all columns must be real numbers. "
                "Drop it or encode it as numbers, for example with get_dummies."
            )
        plain = getattr(dtype, "numpy_dtype", dtype)
        single = single and plain == np.float32
    return np.dtype(np.float32 if single and len(dtypes) else np.float64)


def _lazies(collection, backend):
    """One for each partition, with no more of the graph than it needs."""
    _refuse_foreign(collection, backend)
    if isinstance(collection, Array):
        (optimised,) = dask.optimize(collection)
        keys, graph = list(flatten(optimised.__dask_keys__())), dict(optimised.__dask_graph__())
    else:
        delayed = collection.to_delayed()
        keys, graph = [one.key for one in delayed], dict(delayed[0].dask)
    # Why: of what lies on a cluster already the optimised graph has no entry.
    missing = [key for key in keys if key not in graph]
    if missing:
        given = dict(collection.__dask_graph__())
        graph.update((key, given[key]) for key in missing)
    _warn_of_data(graph)
    return [Lazy(cull(graph, [key])[0], key) for key in keys]


def _warn_of_data(graph):
    """Says so when rows lie in the graph itself, as of `dask.array.from_array`."""
    held = sum(_bytes(value) for node in graph.values() for value in (getattr(node, "value", node), *_arguments(node)))
    if held > _MUCH:
        warnings.warn(
            f"X carries {held / 1e6:.0f} MB from the memory of this process, which travel with the tasks in every pass over the rows. "
            "Give the path of a file, a collection that reads one, or X.persist().",
            EigenliftWarning,
            stacklevel=8,
        )


def _arguments(node):
    return getattr(node, "args", ())


def _bytes(value):
    """Of an array or a table; 0 of anything else."""
    if hasattr(value, "memory_usage"):
        return int(np.sum(value.memory_usage()))
    size = getattr(value, "nbytes", 0)
    return size if isinstance(size, int) else 0


def _refuse_foreign(collection, backend):
    """Partitions that lie on a cluster can be read by tasks of its client alone."""
    try:
        from distributed import futures_of
    except ImportError:
        return
    client = getattr(backend, "client", None)
    if any(future.client is not client for future in futures_of(collection)):
        raise EigenliftError(
            f"partitions of X are held by a cluster that {backend!r} cannot reach; the work must go where they are. "
            "Give the client with which X was persisted."
        )


def _shapes(lazies, backend, report):
    """What the partitions have as shapes, each read once."""
    blocks = [Block(Place(i, 0, 0, f"partition {i}"), lazy) for i, lazy in enumerate(lazies)]
    return backend.gather(backend.map_blocks(_shape, blocks, name="count-rows"), report)


def _shape(rows, place):
    return tuple(int(n) for n in np.shape(rows[0]))
