"""Files on the driver, which know their shape, and readers of a few of their rows, which travel to workers."""

from __future__ import annotations

import contextlib
import os
import socket
from collections import Counter
from dataclasses import dataclass

import numpy as np

from .._errors import EigenliftError
from ._checks import rows_dtype

# Rows of about so many bytes are one block, where the file leaves the choice; fewer, down to the second number, where that makes so many blocks.
BLOCK_BYTES, _SMALLEST_BYTES, _ENOUGH = 32 << 20, 1 << 20, 16
# Row groups are joined up to so many bytes.
_TINY_BYTES = 4 << 20


# What was first seen in this process of files that another machine has opened.
_SEEN = {}
_MOST_SEEN = 10_000


@dataclass(frozen=True)
class Stamp:
    """A file as the driver has found it, or files of a directory: by size, time and number, which change when one is written anew."""

    path: str
    host: str
    facts: tuple
    # Names of the files in the directory `path`; the path itself is the file when empty.
    files: tuple = ()

    @classmethod
    def of(cls, path, files=()):
        return cls(path, socket.gethostname(), _facts(path, files), files)

    @contextlib.contextmanager
    def reading(self):
        """While the file is read; what goes wrong because it has changed is told so."""
        try:
            yield self.path
        finally:
            self.check()

    def check(self):
        """Raises ValueError if the file has changed since it was opened.

        Why by what was seen first on another machine: its copy of the file may have another time and number.
        """
        found = _facts(self.path, self.files)
        wanted = self.facts
        if self.host != socket.gethostname():
            if len(_SEEN) >= _MOST_SEEN:
                _SEEN.clear()
            wanted = _SEEN.setdefault(self, found)
        if found != wanted:
            raise EigenliftError(
                f"{self.path} has changed since it was opened; a file must stay as it is until the work is done. "
                "Wait until it is complete, and fit again."
            )


def _facts(path, files):
    return tuple(_facts_of_chunk(os.path.join(path, name)) for name in files) if files else _facts_of(path)


def _facts_of(path):
    found = os.stat(path)
    return found.st_size, found.st_mtime_ns, found.st_ino


def _facts_of_chunk(path):
    try:
        return _facts_of(path)
    except FileNotFoundError:
        # A chunk that holds the fill value alone has no file.
        return None


@dataclass(frozen=True)
class NpyRows:
    """Some rows of a .npy file."""

    stamp: Stamp
    first: int
    stop: int

    def read(self):
        with self.stamp.reading() as path:
            return np.array(np.load(path, mmap_mode="r")[self.first : self.stop])


@dataclass(frozen=True)
class ParquetRows:
    """Some row groups of a Parquet file."""

    stamp: Stamp
    groups: tuple
    columns: tuple
    dtype: np.dtype

    def read(self):
        from pyarrow import parquet

        # Cost: one thread, as there is one task for each thread of a worker.
        with self.stamp.reading() as path, parquet.ParquetFile(path) as file:
            table = file.read_row_groups(list(self.groups), columns=list(self.columns), use_threads=False)
        rows = np.empty((table.num_rows, len(self.columns)), self.dtype)
        for at, name in enumerate(self.columns):
            # Missing values become NaN, which is refused with row and column.
            rows[:, at] = table.column(name).to_numpy().astype(self.dtype)
        return rows


@dataclass(frozen=True)
class ZarrRows:
    """Some rows of a Zarr array. The stamp is of the files with their chunks."""

    stamp: Stamp
    first: int
    stop: int

    def read(self):
        import zarr

        with self.stamp.reading() as path:
            return np.asarray(zarr.open_array(path, mode="r")[self.first : self.stop])


class _File:
    """A file with its shape, type and column names; `pieces` gives readers, of these columns in this order, with their numbers of rows."""

    column_names = None

    def require_same(self, other):
        """Raises ValueError unless the other file has the same columns."""
        if self.n_cols != other.n_cols:
            raise EigenliftError(
                f"{other.path} has {other.n_cols} columns where {self.path} has {self.n_cols}; all files must have the same. "
                "Leave one of them out."
            )
        if (self.column_names is None) != (other.column_names is None):
            raise EigenliftError(
                f"{self.path} and {other.path} are of different kinds; all files must be of one. Convert one of them."
            )
        others = set(other.column_names or ())
        for name in self.column_names or ():
            if name not in others:
                raise EigenliftError(
                    f"{other.path} has no column {name!r}, which {self.path} has; all files must have the same. Rename or add it."
                )

    def _block_rows(self):
        """Rows of a block."""
        few = max(_SMALLEST_BYTES, self.n_rows * self.row_bytes // _ENOUGH)
        return max(1, min(BLOCK_BYTES, few) // self.row_bytes)

    def _take_array(self, shape, dtype, ndim=2):
        """Notes shape and type of an array."""
        if len(shape) != ndim:
            raise EigenliftError(
                f"{self.path} holds an array of shape {tuple(shape)}; it must have {ndim} dimension{'s' * (ndim != 1)}. Reshape it."
            )
        self.dtype = rows_dtype(dtype)
        if self.dtype is None:
            raise EigenliftError(
                f"{self.path} holds values of type {dtype}; they must be real numbers. Convert them and write the file anew."
            )
        self.n_rows = int(shape[0])
        self.n_cols = int(shape[1]) if ndim == 2 else 1
        self.row_bytes = max(1, self.n_cols * np.dtype(dtype).itemsize)


class NpyFile(_File):
    """A .npy file, read through a memory map."""

    def __init__(self, path, ndim=2):
        self.path = path
        self._stamp = Stamp.of(path)
        try:
            array = np.load(path, mmap_mode="r")
        except (ValueError, EOFError) as error:
            raise EigenliftError(
                f"{path} cannot be read as an array ({error}); it must be a .npy file. Write it with numpy.save."
            ) from error
        self._take_array(array.shape, array.dtype, ndim)

    def pieces(self, columns=None):
        step = self._block_rows()
        for first in range(0, self.n_rows, step):
            stop = min(first + step, self.n_rows)
            yield NpyRows(self._stamp, first, stop), stop - first

    def slices(self, lengths):
        """Readers of so many rows each."""
        if self.n_rows != sum(lengths):
            raise EigenliftError(f"sample_weight.shape == {(self.n_rows,)}, expected {(sum(lengths),)}!")
        stops = np.cumsum(lengths).tolist()
        return [NpyRows(self._stamp, stop - n_rows, stop) for stop, n_rows in zip(stops, lengths)]


class ParquetFile(_File):
    """A Parquet file, read by its row groups."""

    def __init__(self, path):
        parquet = _library("pyarrow.parquet", "pyarrow", path)
        self.path = path
        self._stamp = Stamp.of(path)
        try:
            with parquet.ParquetFile(path) as file:
                schema, metadata = file.schema_arrow, file.metadata
        except (ValueError, OSError) as error:
            raise EigenliftError(
                f"{path} cannot be read ({error}); it must be a Parquet file. Write it anew."
            ) from error
        index = [name for name in (schema.pandas_metadata or {}).get("index_columns", []) if isinstance(name, str)]
        fields = [field for field in schema if field.name not in index]
        self.column_names = tuple(field.name for field in fields)
        self.n_cols = len(fields)
        self.dtype = self._common(fields)
        self._groups = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]

    def _common(self, fields):
        from pyarrow import types

        for field in fields:
            if not (types.is_floating(field.type) or types.is_integer(field.type) or types.is_boolean(field.type)):
                raise EigenliftError(
                    f"column {field.name!r} of {self.path} is of type {field.type}; all columns must be real numbers. "
                    "Drop it or encode it as numbers."
                )
        for name, times in Counter(self.column_names).items():
            if times > 1:
                raise EigenliftError(
                    f"{self.path} has the column {name!r} more than once; names must differ. Rename one."
                )
        single = fields and all(types.is_floating(field.type) and field.type.bit_width <= 32 for field in fields)
        return np.dtype(np.float32 if single else np.float64)

    def pieces(self, columns=None):
        joined, n_rows = [], 0
        most = max(1, _TINY_BYTES // max(1, self.n_cols * self.dtype.itemsize))
        for group, rows in enumerate(self._groups):
            if joined and n_rows + rows > most:
                yield self._reader(joined, columns), n_rows
                joined, n_rows = [], 0
            joined.append(group)
            n_rows += rows
        if joined:
            yield self._reader(joined, columns), n_rows

    def _reader(self, groups, columns):
        return ParquetRows(self._stamp, tuple(groups), columns or self.column_names, self.dtype)


class ZarrFile(_File):
    """A Zarr array in a directory, read by its chunks of rows."""

    _MARKS = ("zarr.json", ".zarray")

    def __init__(self, path):
        zarr = _library("zarr", "zarr", path)
        self.path = path
        try:
            array = zarr.open_array(path, mode="r")
        except Exception as error:
            raise EigenliftError(
                f"{path} cannot be read as a Zarr array ({error}); it must be one. Of a group give the path of an array inside."
            ) from error
        self._take_array(array.shape, array.dtype)
        self._chunk, self._chunk_cols = (max(1, size) for size in getattr(array, "shards", None) or array.chunks)
        self._key = array.metadata.encode_chunk_key

    @staticmethod
    def is_store(path):
        """Whether a directory is a Zarr array or group."""
        marks = (*ZarrFile._MARKS, ".zgroup")
        return os.path.isdir(path) and any(os.path.exists(os.path.join(path, mark)) for mark in marks)

    def pieces(self, columns=None):
        step = self._chunk * max(1, self._block_rows() // self._chunk)
        for first in range(0, self.n_rows, step):
            stop = min(first + step, self.n_rows)
            yield ZarrRows(Stamp.of(self.path, self._files(first, stop)), first, stop), stop - first

    def _files(self, first, stop):
        """Names of the files that hold these rows, and of those that say how."""
        down = range(first // self._chunk, -(-stop // self._chunk))
        across = range(-(-self.n_cols // self._chunk_cols))
        return (*self._MARKS, *(self._key((i, j)) for i in down for j in across))


def _library(module, package, path):
    import importlib

    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(
            f"{path} needs {package}, which is not installed; install it with pip install {package}."
        ) from error
