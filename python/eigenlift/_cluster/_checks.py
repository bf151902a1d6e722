"""Rows as a source gives them, made into what the compiled part takes, or refused with row and column."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from .._errors import EigenliftError


def rows_dtype(dtype):
    """float32 or float64, in which rows of this type are held; None if they are not numbers."""
    dtype = np.dtype(dtype)
    if dtype == np.float32:
        return np.dtype(np.float32)
    return np.dtype(np.float64) if dtype.kind in "fiub" else None


def column_words(column, names):
    """A column for people, counted from 1."""
    return f"column {column + 1}" + (f" ({names[column]!r})" if names else "")


def checked_rows(rows, place, form):
    """The rows as a C-ordered array or CSR matrix of `form.dtype`; raises ValueError if they are not as announced or not finite."""
    rows = _plain(rows, form)
    if rows.ndim != 2:
        raise EigenliftError(
            f"an array of {rows.ndim} dimension{'s' * (rows.ndim != 1)}; rows must be a matrix. Give an array of 2 dimensions."
        )
    if rows_dtype(rows.dtype) is None:
        raise EigenliftError(
            f"values of type {rows.dtype}; rows must be real numbers. Convert or drop what is not a number."
        )
    if rows.shape[1] != form.n_cols:
        raise EigenliftError(
            f"{rows.shape[1]} columns where the other partitions have {form.n_cols}; all must have the same. "
            "Look at what made this partition."
        )
    if rows.shape[0] != place.n_rows:
        raise EigenliftError(
            f"{rows.shape[0]} rows where {place.n_rows} were announced; the data must not change during a fit. "
            "Write it to a file first, or fix the seed of what makes it."
        )
    if sparse.issparse(rows):
        rows = rows.astype(form.dtype, copy=False)
    else:
        rows = np.ascontiguousarray(rows, dtype=form.dtype)
    _require_finite(rows, place, form)
    return rows


def checked_weights(weights, place):
    """The weights as float64; None stays None."""
    if weights is None:
        return None
    if hasattr(weights, "to_numpy"):
        weights = weights.to_numpy(dtype=np.float64, na_value=np.nan)
    weights = np.ascontiguousarray(weights, dtype=np.float64)
    if weights.shape != (place.n_rows,):
        raise EigenliftError(
            f"weights of shape {weights.shape}; there must be one for each of the {place.n_rows} rows. "
            "Divide the weights as the rows are."
        )
    bad = ~(weights >= 0) | np.isinf(weights)
    if bad.any():
        at = int(np.argmax(bad))
        raise EigenliftError(
            f"the weight of row {place.first + at + 1} is {weights[at]:g}; a weight must be finite and not negative. "
            "Drop the row or correct its weight."
        )
    return weights


def _plain(rows, form):
    """A NumPy array or CSR matrix of whatever a chunk may be."""
    if hasattr(rows, "to_scipy_sparse"):
        rows = rows.to_scipy_sparse()
    if sparse.issparse(rows):
        return rows.tocsr()
    if isinstance(rows, np.ma.MaskedArray):
        return rows.astype(form.dtype).filled(np.nan)
    if hasattr(rows, "to_numpy") and hasattr(rows, "dtypes"):
        return rows.to_numpy(dtype=form.dtype, na_value=np.nan)
    return np.asarray(rows)


def bad_entry(rows):
    """Row, column and value of the first entry that is not finite; None if there is none."""
    values = rows.data if sparse.issparse(rows) else rows
    # Cost: a sum takes one pass and no memory; only if it is not finite are the values looked at one by one.
    with np.errstate(all="ignore"):
        if np.isfinite(values.sum(dtype=np.float64)):
            return None
    bad = ~np.isfinite(values)
    if not bad.any():
        return None
    if sparse.issparse(rows):
        at = int(np.argmax(bad))
        return int(np.searchsorted(rows.indptr, at, side="right")) - 1, int(rows.indices[at]), values[at]
    row, column = (int(i) for i in np.unravel_index(np.argmax(bad), bad.shape))
    return row, column, values[row, column]


def not_finite(row, column, value):
    """What is said of an entry, with its row and column in words."""
    return f"{row}, {column} is {value}; rows must be finite numbers. Drop or fill such rows first."


def _require_finite(rows, place, form):
    found = bad_entry(rows)
    if found is not None:
        row, column, value = found
        raise EigenliftError(not_finite(f"row {place.first + row + 1}", column_words(column, form.column_names), value))
