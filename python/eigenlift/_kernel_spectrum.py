"""Kernel matrices and their eigenvalues, judged as scikit-learn judges them."""

from __future__ import annotations

import warnings

import numpy as np
from scipy import linalg

from . import _native
from ._base import EigenliftWarning

# Below this share of the largest, an eigenvalue counts as zero.
_ZERO = {np.dtype(np.float64): 1e-12, np.dtype(np.float32): 2e-7}
# A negative one is an error when it is above this share of the largest, and above this size.
_NEGATIVE = {np.dtype(np.float64): (1e-5, 1e-10), np.dtype(np.float32): (5e-3, 1e-6)}


def count_nonzero(values, dtype):
    """How many of the leading eigenvalues are not zero."""
    sizes = np.abs(values)
    return int(np.count_nonzero(sizes > _ZERO[dtype] * sizes.max(initial=0)))


def symmetric(K):
    """A kernel matrix as it can be used, dense, square and symmetric, and the column means that were taken from it.

    A matrix that is not symmetric is centred first, as scikit-learn does, which often makes it so; its symmetric part is used.
    For others the means are None: they are centred later.
    """
    if K.shape[0] != K.shape[1]:
        raise ValueError(f"Kernel matrix must be a square matrix. Input is a {K.shape[0]}x{K.shape[1]} matrix.")
    if hasattr(K, "tocsr"):
        K = K.toarray()
    gap = np.abs(K - K.T).max()
    if gap == 0:
        return K, None
    if gap <= 1e-8 * np.abs(K).max():
        return (K + K.T) / 2, None
    means = K.mean(axis=0)
    K = K - means - K.mean(axis=1)[:, None] + means.mean()
    gap = np.abs(K - K.T).max()
    if gap > 1e-8 * np.abs(K).max():
        warnings.warn(
            f"The kernel matrix is not symmetric: after centring entries differ by up to {gap:.3g}. The mean of both "
            "halves is used.",
            EigenliftWarning,
            stacklevel=5,
        )
    return (K + K.T) / 2, means


def shifted(model, means):
    """The model of a matrix from which these means had been taken, for kernel values from which they were not."""
    header, arrays = model.parts()
    arrays["offset"] = means @ arrays["coefficients"]
    # Distances in feature space mean nothing for kernel values that are not symmetric.
    for name in ("mean", "mean_square", "novelty.moments", "novelty.quantiles"):
        arrays.pop(name, None)
    return _native.Model.from_parts(header, arrays)


def refuse_negative(values, dtype):
    """Refuses eigenvalues that are negative beyond rounding."""
    if not len(values):
        return
    share, size = _NEGATIVE[dtype]
    lowest, largest = values.min(), values.max()
    if lowest < -size and -lowest > share * largest:
        raise ValueError(
            f"There are significant negative eigenvalues ({-lowest / largest:g} of the maximum positive). Either the matrix is "
            "not PSD, or there was an issue while computing the eigendecomposition of the matrix."
        )


def leading_eigenvalues(K, count):
    """The algebraically largest eigenvalues of the centred matrix, largest first."""
    K = np.asarray(K, dtype=np.float64)
    means = K.mean(axis=0)
    return linalg.eigvalsh(K - means - means[:, None] + means.mean())[::-1][:count]
