"""What fits say of themselves, against NumPy: plans, certificates, shares of the variance and limits of memory."""

import copy
import pickle
from collections.abc import Mapping

import numpy as np
import pytest
from eigenlift import (
    PCA,
    Certificate,
    EigenliftWarning,
    IncrementalPCA,
    KernelPCA,
    MemoryLimitError,
    Plan,
    Whitening,
)
from eigenlift.kernels import RBF, Polynomial
from numpy.testing import assert_allclose, assert_array_equal
from scipy import linalg
from scipy.spatial.distance import cdist
from sklearn import decomposition
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.metrics import pairwise

IRIS = load_iris().data
DIGITS = load_digits().data / 16
KERNELS = {
    "linear": {},
    "poly": {"degree": 2, "gamma": 0.3, "coef0": 2},
    "rbf": {"gamma": 0.1},
    "sigmoid": {"gamma": 0.01, "coef0": 0.1},
    "cosine": {},
}
APPROXIMATIONS = ["pivoted", "uniform", "kmeans", "fourier", "tensorsketch"]


def cloud(n=400, d=5, seed=0):
    """Rows whose components have eigenvalues well apart."""
    return np.random.RandomState(seed).randn(n, d) * np.linspace(2, 0.5, d) + 1.0


def centred(K):
    means = K.mean(axis=0)
    return K - means - means[:, None] + means.mean()


def exact(K):
    """Eigenvalues of the centred matrix, largest first."""
    return linalg.eigvalsh(centred(K))[::-1]


def scores_of(K, k):
    """Scores by NumPy, the entry of largest magnitude positive."""
    values, vectors = linalg.eigh(centred(K))
    values, vectors = values[::-1][:k], vectors[:, ::-1][:, :k]
    return vectors * np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(k)]) * np.sqrt(values)


ESTIMATORS = [
    KernelPCA(3, kernel="rbf"),
    KernelPCA(3, kernel="rbf", rank=20),
    KernelPCA(3, kernel="rbf", approximation="fourier", rank=20),
    PCA(2),
    IncrementalPCA(2),
    Whitening(2),
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_plans_and_certificates_are_values(estimator):
    fitted = clone(estimator).fit(IRIS)
    assert isinstance(fitted.plan_, Plan) and isinstance(fitted.certificate_, Certificate)
    for account in [fitted.plan_, fitted.certificate_]:
        assert isinstance(account, Mapping)
        assert len(account) == len(list(account)) == len(account.keys()) > 3
        for name, value in account.items():
            assert account[name] == value == getattr(account, name)
            assert name in dir(account)
        with pytest.raises(AttributeError, match="no 'colour' here; there are "):
            account.colour  # noqa: B018
        with pytest.raises(KeyError):
            account["colour"]
        for other in [pickle.loads(pickle.dumps(account)), copy.copy(account), copy.deepcopy(account)]:
            assert type(other) is type(account)
            assert other == account and str(other) == str(account)
        assert repr(account).startswith(type(account).__name__ + "({")


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_what_a_plan_holds(estimator):
    plan = clone(estimator).fit(IRIS).plan_
    assert (plan.n_samples, plan.n_features) == IRIS.shape
    assert plan.n_components == estimator.n_components
    assert 0 < plan.bytes_needed <= plan.bytes_allowed
    assert plan.precision == "f64"
    assert plan.reasons and all(isinstance(reason, str) for reason in plan.reasons)
    words = str(plan)
    assert "150 × 4" in words
    for reason in plan.reasons:
        assert reason in words


def test_plans_follow_the_settings():
    plan = KernelPCA(3, kernel="rbf", gamma=0.5, tol=1e-9, random_state=0, memory="1GiB", n_jobs=1).fit(DIGITS).plan_
    assert (plan.kernel, plan.tolerance, plan.bytes_allowed, plan.threads) == ("rbf(gamma=0.5)", 1e-9, 2**30, 1)
    assert (plan.route, plan.solver) == ("dual", "davidson")
    assert KernelPCA(3, kernel="rbf", eigen_solver="dense").fit(IRIS).plan_.solver == "dense"
    assert KernelPCA(3, kernel="rbf", repair="flip").fit(IRIS).plan_.repair == "flip"
    assert KernelPCA(3, kernel="rbf").fit(IRIS.astype(np.float32)).plan_.precision == "f32"
    assert KernelPCA(3, kernel="rbf", rank=25).fit(IRIS).plan_.rank == 25
    for solver, route in [("full", "tsqr"), ("covariance_eigh", "covariance")]:
        assert PCA(2, svd_solver=solver).fit(IRIS).plan_.route == route


@pytest.mark.parametrize("rank", [None, 60])
@pytest.mark.parametrize("kernel", ["rbf", "poly"])
@pytest.mark.parametrize("n", [300, 700])
def test_residuals_are_those_of_the_whole_matrix(kernel, rank, n):
    """Of an iteration, of a direct solve and of landmarks: ‖K_c v − θv‖/θ for the unit vectors v of the fit."""
    X = DIGITS[:n]
    ours = KernelPCA(5, kernel=kernel, rank=rank).fit(X)
    if rank is not None:
        assert len(ours.certificate_.residuals) == 0
        ours.certify(X)
    K = centred(pairwise.pairwise_kernels(X, metric=kernel, filter_params=True))
    scores = ours.fit_transform(X) if rank is None else ours.transform(X)
    vectors = scores / np.linalg.norm(scores, axis=0)
    # One pass over landmarks also gives the Rayleigh quotients.
    values = ours.eigenvalues_ if rank is None else np.einsum("ij,ij->j", vectors, K @ vectors)
    expected = np.linalg.norm(K @ vectors - vectors * values, axis=0) / values
    found = np.array(ours.certificate_.residuals)
    assert ours.certificate_.worst_residual == found.max()
    # Below, rounding is all there is.
    assert_allclose(found, expected, rtol=0.1, atol=1e-12)
    if rank is not None:
        assert expected.min() > 1e-4
    elif n == 700:
        assert 1e-12 < expected.max() <= 1e-6
    enclosed(ours.certificate_, linalg.eigvalsh(K)[::-1])


def test_ties_are_told():
    """Three clusters at equal distances: the two axes between them are determined only as a plane."""
    K = np.kron(np.eye(3), np.ones((20, 20))) + 1e-3 * np.eye(60)
    values = exact(K)
    assert_allclose(values[0], values[1], rtol=1e-12)
    ours = KernelPCA(2, kernel="precomputed").fit(K)
    assert_allclose(ours.eigenvalues_, values[:2], rtol=1e-12)
    assert [list(tie) for tie in ours.certificate_.ties] == [[0, 1]]
    assert KernelPCA(2, kernel="rbf").fit(IRIS).certificate_.ties == []


@pytest.mark.parametrize("solver", ["full", "covariance_eigh", "arpack"])
def test_bounds_of_pca(solver):
    X = cloud(300)
    values = np.linalg.svd(X - X.mean(axis=0), compute_uv=False) ** 2
    ours = PCA(3, svd_solver=solver).fit(X)
    for value, interval in zip(values, ours.certificate_.intervals, strict=False):
        assert interval["low"] <= value * (1 + 1e-12) and value * (1 - 1e-12) <= interval["high"]
    assert len(ours.certificate_.intervals) == 3
    assert ours.certificate_.worst_residual < 1e-10


def test_a_sketch_gives_bounds():
    X = np.random.RandomState(0).randn(600, 300) * np.linspace(3, 0.1, 300) ** 2
    values = np.linalg.svd(X - X.mean(axis=0), compute_uv=False) ** 2
    ours = PCA(3, route="directions").fit(X)
    assert ours.certificate_.bounds.grounds == "sketch"
    for value, interval in zip(values, ours.certificate_.intervals, strict=False):
        assert interval["low"] <= value <= interval["high"]
    assert len(ours.certificate_.intervals) == 3


@pytest.mark.parametrize("approximation", APPROXIMATIONS)
def test_low_rank_bounds_hold(approximation):
    X, new = cloud(300), cloud(20, seed=1)
    kernel = Polynomial(2, gamma=0.1) if approximation == "tensorsketch" else RBF(gamma=0.05)
    K = kernel(X)
    values = exact(K)
    ours = KernelPCA(4, kernel=kernel, approximation=approximation, rank=80, random_state=0).fit(X)
    assert ours.plan_.route == "low-rank"
    assert not hasattr(ours, "X_fit_")
    enclosed(ours.certificate_, values)
    proved = ours.certificate_.bounds.grounds != "sampled-pairs"
    assert len(ours.certificate_.intervals) == (4 if proved else 0)
    assert_allclose(ours.eigenvalues_, values[:4], rtol=0.05 if proved else 0.6)
    assert ours.explained_variance_ratio_.sum() <= 1
    assert ours.transform(new).shape == (20, 4)
    assert_allclose(ours.transform(X), ours.fit_transform(X), atol=1e-8)
    certificate = ours.certify(X)
    assert certificate.bounds.grounds == "residuals"
    enclosed(certificate, values)
    assert len(certificate.residuals) == 4
    refined = ours.refine(X)
    assert_allclose(refined.eigenvalues_, values[:4], rtol=1e-10)
    assert_allclose(refined.transform(X), scores_of(K, 4), atol=1e-6 * np.sqrt(values[0]))
    assert_allclose(refined.explained_variance_ratio_, values[:4] / np.trace(centred(K)), rtol=1e-9)
    assert_array_equal(refined.X_fit_, X)
    assert refined.certificate_.worst_residual <= 1e-6


def enclosed(certificate, values):
    """Every interval holds an eigenvalue, and the certified ones hold that of their index."""
    for index, interval in enumerate(certificate.intervals):
        slack = 1e-12 * values[0]
        inside = (interval["low"] - slack <= values) & (values <= interval["high"] + slack)
        assert inside.any()
        if index < certificate.bounds.n_certified:
            assert inside[index]


def test_error_chooses_the_rank():
    X = cloud(300)
    K = pairwise.rbf_kernel(X, gamma=0.05)
    values = exact(K)
    ranks = []
    for error in [0.1, 0.01, 1e-4]:
        ours = KernelPCA(3, kernel="rbf", gamma=0.05, error=error).fit(X)
        landmarks = ours.landmarks_
        ranks.append(len(landmarks))
        across = pairwise.rbf_kernel(X, landmarks, gamma=0.05)
        within = pairwise.rbf_kernel(landmarks, gamma=0.05)
        left_out = 1 - np.trace(across @ linalg.solve(within, across.T, assume_a="sym")) / len(X)
        assert left_out <= error
        assert_allclose(ours.certificate_.bounds.residual_share, left_out, rtol=1e-6, atol=1e-9)
        enclosed(ours.certificate_, values)
        assert (ours.eigenvalues_ <= values[:3] * (1 + 1e-12)).all()
    assert ranks[0] < ranks[1] < ranks[2]
    # Landmarks are rows of X.
    assert (cdist(landmarks, X).min(axis=1) == 0).all()


def test_all_rows_as_landmarks_are_exact():
    X = cloud(60)
    ours = KernelPCA(3, kernel="rbf", gamma=0.5, rank=60).fit(X)
    theirs = decomposition.KernelPCA(3, kernel="rbf", gamma=0.5).fit(X)
    assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-9)
    assert_allclose(ours.transform(X), theirs.transform(X), atol=1e-6)


def test_certify_and_refine_need_rows():
    ours = KernelPCA(2, kernel="rbf", rank=20).fit(IRIS)
    for ask in [ours.certify, ours.refine]:
        with pytest.raises(ValueError, match="does not hold the rows"):
            ask()
    with pytest.raises(ValueError, match="rows|samples"):
        ours.certify(IRIS[:-1])
    exact_fit = KernelPCA(2, kernel="rbf").fit(IRIS)
    before = exact_fit.eigenvalues_.copy()
    assert exact_fit.certify() is exact_fit.certificate_
    assert_allclose(exact_fit.refine().eigenvalues_, before, rtol=1e-12)


@pytest.mark.parametrize("kernel", KERNELS)
def test_shares_of_the_variance(kernel):
    X = cloud(200)
    ours = KernelPCA(4, kernel=kernel, **KERNELS[kernel]).fit(X)
    values = exact(pairwise.pairwise_kernels(X, metric=kernel, **KERNELS[kernel]))
    # Of a kernel that is not positive semi-definite, what is left out has no part in the variance.
    assert_allclose(ours.explained_variance_ratio_, values[:4] / values[values > 0].sum(), rtol=1e-6)
    whole = KernelPCA(kernel=kernel, repair="clip", **KERNELS[kernel]).fit(X)
    assert_allclose(whole.explained_variance_ratio_.sum(), 1, rtol=1e-6)


def test_little_memory():
    X = cloud(1500)
    K = pairwise.rbf_kernel(X, gamma=0.2)
    with pytest.warns(EigenliftWarning, match="does not fit into the memory allowed"):
        ours = KernelPCA(3, kernel="rbf", gamma=0.2, memory="2MB").fit(X)
    assert ours.plan_.route == "low-rank"
    assert ours.plan_.bytes_needed <= ours.plan_.bytes_allowed == 2_000_000
    assert ours.landmarks_.shape == (ours.plan_.rank, 5)
    values = linalg.eigh(centred(K), subset_by_index=[len(K) - 3, len(K) - 1], eigvals_only=True)[::-1]
    for value, interval in zip(values, ours.certificate_.intervals, strict=True):
        assert interval["low"] <= value <= interval["high"]
    # Tiles that are computed again and again take less than the matrix, and give the same.
    tiled = KernelPCA(3, kernel="rbf", gamma=0.2, memory="8MB").fit(X)
    assert (tiled.plan_.route, tiled.plan_.storage) == ("dual", "tiled")
    assert_allclose(tiled.eigenvalues_, values, rtol=1e-10)
    for memory in ["1KB", 1000]:
        with pytest.raises(MemoryLimitError, match="1000 B are allowed") as raised:
            KernelPCA(3, kernel="rbf", memory=memory).fit(X)
    assert isinstance(raised.value, MemoryError)


def test_a_plan_is_no_fit():
    ours = KernelPCA(3, kernel="rbf", rank=20)
    plan = ours.plan(IRIS)
    assert isinstance(plan, Plan)
    assert (plan.n_samples, plan.n_features, plan.n_components, plan.rank) == (150, 4, 3, 20)
    with pytest.raises(NotFittedError):
        ours.transform(IRIS)
    assert {name for name in vars(ours) if name.endswith("_")} <= {"n_features_in_"}
    assert dict(ours.fit(IRIS).plan_) == dict(plan) | {"bytes_allowed": ours.plan_.bytes_allowed, **reasons(ours.plan_)}


def reasons(plan):
    """The free memory in the reasons changes from moment to moment."""
    return {"reasons": plan.reasons}
