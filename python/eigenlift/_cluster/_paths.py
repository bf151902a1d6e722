"""Paths, patterns and directories as files in order, and files as parts."""

from __future__ import annotations

import glob
import os
import re

import numpy as np

from .._errors import EigenliftError
from ._protocol import Form, Part
from ._readers import NpyFile, ParquetFile, ZarrFile

FILES = "files (.npy, .parquet, .zarr)"
_KINDS = {".npy": NpyFile, ".parquet": ParquetFile, ".pq": ParquetFile, ".zarr": ZarrFile}


def file_parts(paths):
    """The parts of these files in order and what their rows must look like."""
    paths = [found for path in paths for found in _expanded(os.fspath(path))]
    files = [_opened(path) for path in paths]
    first = files[0]
    for file in files[1:]:
        first.require_same(file)
    single = all(file.dtype == np.float32 for file in files)
    form = Form(first.n_cols, np.dtype(np.float32 if single else np.float64), first.column_names)
    short = {os.path.basename(path) for path in paths}
    parts = []
    for file in files:
        name = os.path.basename(file.path) if len(short) == len(paths) else file.path
        start = 0
        for reader, n_rows in file.pieces(first.column_names):
            words = f"rows {start + 1} to {start + n_rows} of {name}"
            parts.append(Part(reader, n_rows, len(parts), words))
            start += n_rows
    return parts, form


def weight_file(path, lengths):
    """Readers of the weights of each block from a .npy file of 1 dimension."""
    return NpyFile(os.path.abspath(os.fspath(path)), ndim=1).slices(lengths)


def _expanded(path):
    """The files that a path, a pattern or a directory stands for."""
    if os.path.isdir(path):
        return [path] if ZarrFile.is_store(path) else _in_directory(path)
    if os.path.exists(path):
        return [path]
    if glob.has_magic(path):
        found = sorted(glob.glob(path, recursive=True), key=_natural)
        if found:
            return found
        raise FileNotFoundError(
            f"no file matches {path!r}; the pattern must match at least one. Look at the spelling and at the folder."
        )
    hint = " For what is not a file of this machine use dask.array.from_zarr or dask.dataframe.read_parquet." * (
        "://" in path
    )
    raise FileNotFoundError(
        f"{path!r} does not exist; it must be one of {FILES}, a directory of them, or a pattern.{hint}"
    )


def _in_directory(path):
    names = [name for name in os.listdir(path) if os.path.splitext(name)[1] in _KINDS]
    if not names:
        raise FileNotFoundError(
            f"no {FILES} in the directory {path!r}; there must be at least one. Look whether it is the right one."
        )
    return [os.path.join(path, name) for name in sorted(names, key=_natural)]


def _natural(name):
    """For an order in which part.2 comes before part.10."""
    return [int(word) if word.isdigit() else word for word in re.split(r"(\d+)", name)]


def _opened(path):
    kind = ZarrFile if ZarrFile.is_store(path) else _KINDS.get(os.path.splitext(path)[1].lower())
    if kind is None:
        raise EigenliftError(
            f"{path!r} is of no kind that is read in partitions; these are {FILES}. "
            "Open other kinds as Dask collections, for example by dask.dataframe.read_csv."
        )
    return kind(os.path.abspath(path))
