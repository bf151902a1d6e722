"""Means far larger than spreads, indefinite kernels and matrices that are no kernel matrices."""

import numpy as np
import pytest
from eigenlift import EigenliftError, EigenliftWarning, KernelPCA
from numpy.testing import assert_allclose
from sklearn import decomposition


def grid(n, d, bits, seed=0):
    """Rows of multiples of 2**-bits, to which offsets are added without rounding."""
    return np.round(np.random.default_rng(seed).normal(size=(n, d)) * 2.0**bits) / 2.0**bits


@pytest.mark.parametrize(
    ("dtype", "offset", "share"), [(np.float32, o, 2e-6) for o in (1e3, 2e3, 3e3)] + [(np.float64, 1e8, 1e-12)]
)
def test_linear_kernel_far_from_the_origin(dtype, offset, share):
    X = grid(300, 5, 8)
    far = (X + offset * np.arange(1, 6)).astype(dtype)
    assert_allclose(far.astype(float) - offset * np.arange(1, 6), X, atol=0)
    theirs = decomposition.PCA(5, svd_solver="full").fit(X)
    ours = KernelPCA(5, kernel="linear").fit(far)
    truth = theirs.singular_values_**2
    assert_allclose(ours.eigenvalues_, truth, atol=share * truth.sum())
    scores = ours.transform(far)
    assert scores.dtype == dtype
    assert_allclose(np.abs(scores), np.abs(theirs.transform(X)), atol=300 * share)
    intervals = np.array([[i["low"], i["high"]] for i in ours.certificate_["intervals"]])
    assert (intervals[:, 0] <= truth).all()
    assert (truth <= intervals[:, 1]).all()
    assert "subtracted" in str(ours.plan_)


def test_a_year_beside_shares():
    rng = np.random.default_rng(1)
    X = np.column_stack([np.round(2000 + 8 * rng.normal(size=400)), rng.uniform(size=(400, 4))]).astype(np.float32)
    truth = decomposition.PCA(5, svd_solver="full").fit(X.astype(float)).singular_values_ ** 2
    assert_allclose(KernelPCA(5, kernel="linear").fit(X).eigenvalues_, truth, atol=1e-6 * truth.sum())


def test_polynomial_kernel_far_from_the_origin():
    X = (grid(200, 3, 8) + 2e3).astype(np.float32)
    settings = {"kernel": "poly", "degree": 2, "gamma": 1e-6}
    single, double = KernelPCA(3, **settings).fit(X), KernelPCA(3, **settings).fit(X.astype(float))
    assert_allclose(single.eigenvalues_, double.eigenvalues_, rtol=1e-6)
    assert single.transform(X).dtype == np.float32
    assert_allclose(single.transform(X), double.transform(X.astype(float)), atol=1e-6 * double.eigenvalues_[0] ** 0.5)
    with pytest.warns(EigenliftWarning, match="center or standardize"):
        KernelPCA(3, kernel="poly", degree=2, gamma=1e-17).fit(grid(200, 3, 8) + np.array([0, 3e8, 3e8]))


def test_sigmoid_kernel_of_noise():
    X = np.random.default_rng(2).normal(size=(600, 600))
    ours = KernelPCA(5, kernel="sigmoid", repair="clip").fit(X)
    theirs = np.linalg.eigvalsh(centered(np.tanh(X @ X.T / 600 + 1)))[::-1][:5]
    assert_allclose(ours.eigenvalues_, theirs, rtol=2e-6)


def centered(K):
    means = K.mean(axis=0)
    return K - means - means[:, None] + means.mean()


def test_matrices_that_are_no_kernel_matrices():
    K = np.diag(-1 - np.linspace(0, 1, 600))
    with pytest.raises(EigenliftError, match="no eigenvalue of the centered kernel matrix is positive"):
        KernelPCA(2, kernel="precomputed").fit(K)
    X = np.random.default_rng(3).normal(size=(30, 3))
    K = X @ X.T
    K[4, 7] += 0.5
    with pytest.raises(ValueError, match=r"K\[(4, 7|7, 4)\] is .* and K\[(4, 7|7, 4)\] is"):
        KernelPCA(2, kernel="precomputed").fit(K)
    # Rounding is no asymmetry.
    rounded = X @ X.T * (1 + 1e-14 * np.random.default_rng(4).normal(size=(30, 30)))
    assert_allclose(
        KernelPCA(2, kernel="precomputed").fit(rounded).eigenvalues_, KernelPCA(2).fit(X).eigenvalues_, rtol=1e-10
    )
