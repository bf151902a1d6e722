"""What runs on workers.

A function of a block takes its rows, a pair of `X` and weights (or None), and its `Place`. None changes what it is given: a
result that is needed again, because a worker was lost, must come out the same.

Values for many tasks, and sums, travel packed. Why: arrays that a cluster sends beside a pickle may arrive unaligned, which the
compiled part refuses.
"""

from __future__ import annotations

import pickle

import numpy as np
from scipy import sparse

from .. import _native
from .._errors import EigenliftError
from .._rows import native
from ._checks import bad_entry, column_words, not_finite
from ._protocol import PartitionError, RowsError

FIRST, SECOND = 0, 1  # halves of a pair


def same(value):
    """A value for many tasks, sent once."""
    return value


def packed(value):
    """A value in one piece."""
    return pickle.dumps(value, protocol=4)


def unpacked(value):
    """What was packed, as a copy of its own."""
    return pickle.loads(value)


def done(_):
    """Word that a result is there, without the result."""
    return None


def added(a, b):
    """a + b."""
    return a + b


def merged(a, b):
    """Sums over the rows of both."""
    sums = unpacked(a)
    sums.merge(unpacked(b))
    return packed(sums)


def weight(rows, place):
    """Sum of the weights."""
    return float(rows[1].sum())


def pca_sums(rows, place, empty, threads):
    """Sums for principal components."""
    sums = unpacked(empty)
    sums.add(native(rows[0]), threads, None, _aligned(rows[1]))
    return packed(sums)


def product(rows, place, shared, threads):
    """Σ w (x−c)(x−c)ᵀ·block."""
    return _native.centred_product(native(rows[0]), _aligned(rows[1]), *unpacked(shared), threads)


def feature_sums(rows, place, features, threads):
    """Sums of features for kernel PCA."""
    return packed(unpacked(features).sums(native(rows[0]), place.first, threads))


def taken(rows, place, local):
    """Some rows, dense and in double precision."""
    X = rows[0][local]
    return np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)


def sampled(rows, place, local):
    """Some rows as they are, with their numbers among all rows."""
    return rows[0][local], place.first + local


def joined(samples):
    """Several samples, one after the other."""
    rows, numbers = zip(*samples)
    stacked = sparse.vstack(rows, format="csr") if any(map(sparse.issparse, rows)) else np.vstack(rows)
    return stacked, np.concatenate(numbers)


def rows_alone(rows):
    """Rows without their weights."""
    return rows[0]


def left_out(rows, place, shared, threads):
    """What the features leave out of each row; nothing of rows that are spent."""
    return _left(rows[0], np.arange(place.first, place.first + place.n_rows), shared, threads)


def left_out_of(sample, shared, threads):
    """As `left_out`, of rows that were sampled."""
    return _left(*sample, shared, threads)


def total(values):
    """The sum, added up in order."""
    return float(np.cumsum(values)[-1]) if len(values) else 0.0


def located(values, targets):
    """The first positions where the running sum exceeds the targets, at most the last; and whether something is left there."""
    at = np.minimum(np.searchsorted(np.cumsum(values), targets, side="right"), len(values) - 1)
    return at, values[at] > 0


def rows_at(sample, local):
    """Rows that were sampled, dense and in double precision, and their numbers among all rows."""
    X, numbers = sample
    return taken((X, None), None, local), numbers[local]


def pair(rows, place, one, how, block):
    """Products with the kernel matrix between the block `one`, given as (first row, rows, block), and this one.

    Gives what belongs to the rows of the first, what belongs to those of the second, each as (K·block, row sums), and Σ K² with
    what lies off the diagonal counted twice, as the whole matrix has it.
    """
    kernel, single, threads = how
    first, x, block_one = one
    x = _in(x, single)
    if first == place.first:
        times, _, sums, _, square = _native.kernel_pair(kernel, native(x), None, unpacked(block), None, threads)
        return (times, sums), None, square
    y = native(_in(rows[0], single))
    found = _native.kernel_pair(kernel, native(x), y, unpacked(block_one), unpacked(block), threads)
    times_one, times, sums_one, sums, square = found
    return (times_one, sums_one), (times, sums), 2.0 * square


def one_of(X, first, block):
    """A block as `pair` takes its first."""
    return first, X[0], block


def firsts_added(a, b):
    """What belongs to the rows of the first, over several pairs."""
    return _parts_added(a[FIRST], b[FIRST]), None, a[2] + b[2]


def seconds_added(a, b):
    """What belongs to the rows of the second, over several pairs."""
    return None, _parts_added(a[SECOND], b[SECOND]), 0.0


def row_of(first, second):
    """All that belongs to the rows of a block: as the first of pairs, and as the second of others if there are any."""
    (times, sums), _, square = first
    if second is not None:
        times, sums = _parts_added((times, sums), second[SECOND])
    return times, sums, square


def kernel_columns(rows, place, shared, how):
    """Kernel values between the rows and a few others."""
    kernel, single, threads = how
    others = _in(unpacked(shared), single)
    return _native.kernel_matrix(kernel, native(_in(rows[0], single)), native(others), threads)


def kernel_diagonal(rows, place, how):
    """k(x, x)."""
    kernel, single, threads = how
    return _native.kernel_diagonal(kernel, native(_in(rows[0], single)), threads)


def scores(rows, place, model, threads):
    """Scores in double precision."""
    return np.asarray(unpacked(model).transform(native(rows[0]), threads, None), dtype=np.float64)


def extremes(rows, place, model, threads):
    """For each component the score of largest magnitude, the first of equal ones."""
    found = scores(rows, place, model, threads)
    return found[np.abs(found).argmax(axis=0), np.arange(found.shape[1])]


def summed(rows, place, estimator, method):
    """Sum of what a method of a fitted estimator says of each row."""
    return float(np.sum(getattr(unpacked(estimator), method)(rows[0]), dtype=np.float64))


def certified(rows, place, estimator):
    """The sums that the `certify` of a fitted Nyström method takes over rows."""
    fitted = unpacked(estimator)
    return fitted._left_out(fitted._rows(rows[0], reset=False))


def rowwise(X, estimator, method, form, block_id=None):
    """What a method of a fitted estimator says of each row of a chunk; `form` is the shape after the rows, and the type."""
    if X.shape[0] == 0:
        return np.empty((0, *form[0]), dtype=form[1])
    if isinstance(X, np.ma.MaskedArray):
        # What is masked is missing, and refused as such.
        X = X.astype(np.float64).filled(np.nan)
    try:
        found = getattr(estimator, method)(X)
    except Exception as error:
        label = f"partition {block_id[0]}"
        found = bad_entry(X.tocsr() if sparse.issparse(X) else np.asarray(X))
        if found is not None:
            row, column, value = found
            words = not_finite(f"row {row + 1} of it", column_words(column, None), value)
            raise RowsError(f"{label}: {words}", label) from error
        raise PartitionError(f"{label}: {type(error).__name__}: {error}", label) from error
    return np.column_stack(found) if isinstance(found, tuple) else found


def _aligned(weights):
    return None if weights is None else np.require(weights, requirements=["C", "ALIGNED"])


def _in(X, single):
    """Rows in the precision of a pass."""
    if not single or X.dtype == np.float32:
        return X.astype(np.float32 if single else np.float64, copy=False)
    with np.errstate(over="ignore"):
        rows = X.astype(np.float32)
    values = rows.data if sparse.issparse(rows) else rows
    if not np.isfinite(values).all():
        raise EigenliftError(
            "entries beyond 3.4e38; the iteration runs in single precision unless tol is below 1e-7. Scale the columns, or give "
            "tol=1e-8."
        )
    return rows


def _left(X, numbers, shared, threads):
    features, spent = unpacked(shared)
    values = features.left_out(native(X), threads)
    return np.where(np.isin(numbers, spent), 0.0, values)


def _parts_added(a, b):
    return tuple(one + other for one, other in zip(a, b))
