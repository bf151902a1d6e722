"""What kernel PCA hangs on: bandwidth, rows, chance; and one fit matched to another."""

import pickle

import numpy as np
import pytest
from eigenlift import (
    EigenliftError,
    InvalidParameterError,
    KernelPCA,
    kernel_parallel_analysis,
    kernel_sensitivity,
    kernel_stability,
)
from eigenlift.kernels import RBF, Matern
from numpy.testing import assert_allclose, assert_array_equal
from scipy import linalg
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import rbf_kernel

IRIS = load_iris().data
STUDIES = [kernel_sensitivity, kernel_stability, kernel_parallel_analysis]


def eigenpairs(gamma, k):
    K = rbf_kernel(IRIS, gamma=gamma)
    means = K.mean(axis=0)
    values, vectors = linalg.eigh(K - means - means[:, None] + means.mean())
    return values[::-1], vectors[:, ::-1][:, :k]


def test_sensitivity_against_numpy():
    report = kernel_sensitivity(IRIS, 2, kernel=RBF(gamma=0.2), bandwidths=[0.05, 0.8])
    assert [point["bandwidth"] for point in report.points] == [0.05, 0.2, 0.8]
    assert report.reference == 0.2 and report.n_components == 2 and report.parameter == "gamma"
    reference = eigenpairs(0.2, 2)[1]
    for point in report.points:
        values, vectors = eigenpairs(point["bandwidth"], 2)
        assert_allclose(point["shares"], values[:2] / values.sum(), rtol=1e-6)
        assert_allclose(point["effective_rank"], values.sum() ** 2 / (values**2).sum(), rtol=1e-6)
        angle = np.degrees(linalg.subspace_angles(vectors, reference).max())
        assert_allclose(point["angle_to_reference"], angle, atol=1e-3)
    assert report.sentence in str(report) and "times median" in str(report)


def test_stability_and_parallel_analysis():
    stable = kernel_stability(IRIS, 4, resamples=10)
    assert [level["n_components"] for level in stable.levels] == [1, 2, 3, 4]
    assert 1 <= stable.stable <= 4 and stable.resamples == 10 and stable.sentence in str(stable)
    values = eigenpairs(float(stable.kernel.split("=")[1][:-1]), 1)[0]
    assert_allclose([level["variance"] for level in stable.levels], values[:4] / 150, rtol=1e-6)
    parallel = kernel_parallel_analysis(IRIS, kernel="rbf(gamma=0.2)", permutations=10)
    assert_allclose(parallel.eigenvalues[:5], eigenpairs(0.2, 1)[0][:5], rtol=1e-8)
    assert parallel.n_components == np.argmin(np.array(parallel.eigenvalues) > np.array(parallel.null))
    assert str(parallel).startswith(parallel.sentence)
    noise = kernel_parallel_analysis(np.random.RandomState(0).randn(100, 5), permutations=10)
    assert noise.n_components <= 1


@pytest.mark.parametrize("study", STUDIES)
def test_what_studies_share(study):
    seen = []
    report = study(IRIS, kernel=Matern(nu=2.5, length=2.0), max_rows=80, progress=lambda *step: seen.append(step))
    assert report.n_rows == 80
    assert dict(study(IRIS, kernel="matern(nu=2.5,length=2)", max_rows=80, n_jobs=1)) == dict(report)
    assert dict(study(IRIS, kernel=Matern(nu=2.5, length=2.0), max_rows=80, random_state=3)) != dict(report)
    assert dict(pickle.loads(pickle.dumps(report))) == dict(report)
    with pytest.raises(InvalidParameterError, match=f"'kernel' parameter of {study.__name__}"):
        study(IRIS, kernel=abs)
    with pytest.raises(InvalidParameterError, match=f"'max_rows' parameter of {study.__name__}"):
        study(IRIS, max_rows=1)
    with pytest.raises(EigenliftError):
        study(IRIS, kernel="precomputed")
    with pytest.raises(ValueError, match="NaN"):
        study(np.where(IRIS > 5, np.nan, IRIS))


def test_numbers_of_studies_are_checked():
    for study, wrong in (
        (kernel_sensitivity, {"n_components": 0}),
        (kernel_stability, {"n_components": 1.5}),
        (kernel_stability, {"resamples": 0}),
        (kernel_parallel_analysis, {"permutations": 0}),
        (kernel_parallel_analysis, {"quantile": -0.1}),
    ):
        with pytest.raises(InvalidParameterError, match=next(iter(wrong))):
            study(IRIS, **wrong)
    with pytest.raises(EigenliftError, match="bandwidth"):
        kernel_sensitivity(IRIS, bandwidths=[-1.0])
    with pytest.raises(EigenliftError):
        kernel_parallel_analysis(IRIS, quantile=2.0)


@pytest.mark.parametrize("settings", [{}, {"rank": 40}, {"fit_inverse_transform": True}])
def test_signs_follow_an_earlier_fit(settings):
    earlier = KernelPCA(4, kernel="rbf", gamma=0.2, **settings).fit(IRIS)
    later = KernelPCA(4, kernel="rbf", gamma=0.2, **settings).fit(IRIS)
    # The same model with two axes turned round, as another draw of rows might leave it.
    signs = np.array([-1, 1, 1, -1])
    later._tell(later._model.flipped((signs < 0).tolist()))
    later.eigenvectors_ = later.eigenvectors_ * signs
    alignment = later.align(earlier, IRIS)
    assert alignment.turned == [True, False, False, True] and not alignment.groups
    assert_allclose(alignment.agreement, 1)
    assert alignment.angle < 1e-3 and alignment.sentence in str(alignment)
    assert_array_equal(later.transform(IRIS), earlier.transform(IRIS))
    assert_allclose(later.eigenvectors_, earlier.eigenvectors_, atol=1e-12)
    assert_array_equal(later.eigenvalues_, earlier.eigenvalues_)
    if settings.get("fit_inverse_transform"):
        scores = earlier.transform(IRIS)
        assert_allclose(later.inverse_transform(scores), earlier.inverse_transform(scores), atol=1e-9)


def test_ties_are_rotated_together():
    angles = 2 * np.pi * np.arange(60) / 60
    X = np.c_[np.cos(angles), np.sin(angles)]
    turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    earlier = KernelPCA(2, kernel="linear").fit(X @ turn)
    later = KernelPCA(2, kernel="linear").fit(X)
    earlier_scores = earlier.transform(X)
    alignment = later.align(earlier, X)
    assert alignment.groups == [[0, 1]] and alignment.warnings
    assert_allclose(later.transform(X), earlier_scores, atol=1e-9)
    scores = later.eigenvectors_ * np.sqrt(later.eigenvalues_)
    assert_allclose(scores, later.transform(X), atol=1e-9)
    again = pickle.loads(pickle.dumps(later))
    assert_allclose(again.transform(X), later.transform(X), atol=1e-12)


def test_what_cannot_be_aligned():
    kpca = KernelPCA(2, kernel="rbf", gamma=0.2)
    with pytest.raises(NotFittedError):
        kpca.align(kpca, IRIS)
    kpca.fit(IRIS)
    with pytest.raises(NotFittedError):
        kpca.align(KernelPCA(2), IRIS)
    with pytest.raises(TypeError, match="earlier must be a fitted KernelPCA"):
        kpca.align(IRIS, IRIS)
    with pytest.raises(ValueError, match="computed by Python"):
        kpca.align(KernelPCA(2, kernel=lambda a, b: a @ b).fit(IRIS), IRIS)
    with pytest.raises(ValueError, match="look the same"):
        kpca.align(KernelPCA(2).fit(np.ones((5, 4))), IRIS)
    with pytest.raises(ValueError, match="3 features"):
        kpca.align(kpca, IRIS[:, :3])
    with pytest.raises(InvalidParameterError, match="near_tie"):
        kpca.align(kpca, IRIS, near_tie=1.5)
    with pytest.raises(EigenliftError, match="at least 2"):
        kpca.align(kpca, IRIS[:1])
