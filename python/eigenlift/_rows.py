"""Rows on their way to the compiled part."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from . import _native
from ._errors import EigenliftError


def native(X):
    """Rows as the compiled part takes them: the array itself, or the parts of a CSR matrix.

    Nothing is copied of C-ordered float32 or float64 arrays. Of a CSR matrix the values are not copied if its rows are sorted.
    """
    if not sparse.issparse(X):
        return np.require(X, requirements=["C_CONTIGUOUS", "ALIGNED"])
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    if X.shape[1] > np.iinfo(np.uint32).max:
        raise EigenliftError(
            f"{X.shape[1]} columns; a sparse matrix may have up to 2**32 - 1. Leave empty columns out."
        )
    indices = X.indices.view(np.uint32) if X.indices.dtype == np.int32 else X.indices.astype(np.uint32)
    return (X.indptr.astype(np.int64, copy=False), indices, X.data, X.shape[1])


def owned(X, given):
    """X, copied where it shares memory with what was given, so that nobody else changes it."""
    if sparse.issparse(X):
        # Other formats were converted, which makes a copy.
        shared = getattr(given, "format", None) == "csr" and np.may_share_memory(X.data, given.data)
    else:
        # A view may be of memory that belongs to a file or a subclass of arrays, and a table may hand out its own.
        foreign = hasattr(given, "__array__") and not isinstance(given, np.ndarray)
        shared = X is given or foreign or not X.flags.owndata
    return X.copy() if shared else X


def from_native(rows):
    """The array or CSR matrix that the compiled part gave; None stays None."""
    if not isinstance(rows, tuple):
        return rows
    indptr, indices, data, n_cols = rows
    return sparse.csr_matrix((data, indices.astype(np.int64), indptr), shape=(len(indptr) - 1, n_cols))


def kernel_matrix(kernel, X, Y, threads):
    """k(x, y) of all rows of X and Y, in the wider of their precisions."""
    values = _native.kernel_matrix(kernel, native(X), native(Y), threads)
    single = X.dtype == np.float32 and Y.dtype == np.float32
    return values.astype(np.float32) if single else values
