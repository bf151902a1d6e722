"""Kernel matrices and their eigenvalues, judged as scikit-learn judges them."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from . import _native
from ._errors import EigenliftError

# Below this share of the largest, an eigenvalue counts as zero.
_ZERO = {np.dtype(np.float64): 1e-12, np.dtype(np.float32): 2e-7}
# Up to this share of the largest, entries across the diagonal may differ by rounding.
_ASYMMETRY = {np.dtype(np.float64): 1e-8, np.dtype(np.float32): 1e-5}
# A negative one is an error when it is above this share of the largest, and above this size.
_NEGATIVE = {np.dtype(np.float64): (1e-5, 1e-10), np.dtype(np.float32): (5e-3, 1e-6)}


def count_nonzero(values, dtype):
    """How many of the leading eigenvalues are not zero."""
    sizes = np.abs(values)
    return int(np.count_nonzero(sizes > _ZERO[dtype] * sizes.max(initial=0)))


def symmetric(K):
    """A kernel matrix as it can be used, dense, square and symmetric, and the column means that were taken from it.

    A matrix that is not symmetric is centered first, as scikit-learn does, which makes it so where only means differ. For others
    the means are None: they are centered later.

    Raises
    ------
    ValueError
        When the matrix is not square, or not symmetric after that.
    """
    if K.shape[0] != K.shape[1]:
        raise EigenliftError(f"Kernel matrix must be a square matrix. Input is a {K.shape[0]}x{K.shape[1]} matrix.")
    if hasattr(K, "tocsr"):
        K = K.toarray()
    share, largest = _ASYMMETRY.get(K.dtype, 1e-8), np.abs(K).max()
    gap = np.abs(K - K.T).max()
    if gap == 0:
        return K, None
    if gap <= share * largest:
        return (K + K.T) / 2, None
    means = K.mean(axis=0)
    centered = K - means - K.mean(axis=1)[:, None] + means.mean()
    gaps = np.abs(centered - centered.T)
    i, j = np.unravel_index(np.argmax(gaps), gaps.shape)
    # Rounding of the matrix stays when centering makes what is left of it small.
    if gaps[i, j] > max(share * np.abs(centered).max(), 1e-4 * share * largest):
        raise EigenliftError(
            f"The kernel matrix is not symmetric: K[{i}, {j}] is {K[i, j]:.6g} and K[{j}, {i}] is {K[j, i]:.6g}, and centering "
            "leaves them different. Use a symmetric kernel, or average the matrix with its transpose."
        )
    return (centered + centered.T) / 2, means


def shares(values, total):
    """Share of the total that each eigenvalue has; NaN where the total is not positive."""
    return (np.abs(values) / (total if total > 0 else np.nan)).astype(values.dtype)


def shifted(model, means):
    """The model of a matrix from which these means had been taken, for kernel values from which they were not."""
    header, arrays = model.parts()
    arrays["offset"] = means @ arrays["coefficients"]
    # Distances in feature space mean nothing for kernel values that are not symmetric.
    for name in ("mean", "mean_square", "novelty.fit", "novelty.folds"):
        arrays.pop(name, None)
    return _native.Model.from_parts(header, arrays)


def refuse_negative(values, dtype):
    """Refuses eigenvalues that are negative beyond rounding."""
    if not len(values):
        return
    share, size = _NEGATIVE[dtype]
    lowest, largest = values.min(), values.max()
    if lowest < -size and -lowest > share * largest:
        raise EigenliftError(
            f"There are significant negative eigenvalues ({-lowest / largest:g} of the maximum positive). Either the matrix is "
            "not PSD, or there was an issue while computing the eigendecomposition of the matrix."
        )


def leading_eigenvalues(K, count):
    """The algebraically largest eigenvalues of the centred matrix, largest first."""
    K = np.asarray(K, dtype=np.float64)
    means = K.mean(axis=0)
    return linalg.eigvalsh(K - means - means[:, None] + means.mean())[::-1][:count]
