"""T², squared prediction error, limits and contributions of kernel PCA."""

import pickle
import warnings

import eigenlift
import numpy as np
import pytest
from eigenlift import PCA, EigenliftError, EigenliftWarning, InvalidParameterError, KernelPCA
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse, stats
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import rbf_kernel


def cloud(n=120, d=4, seed=0):
    return np.random.RandomState(seed).randn(n, d) * np.linspace(2, 0.5, d) + 1.0


def by_definition(X, new, gamma, k):
    """From the centred Gram matrix."""
    K, across = rbf_kernel(X, gamma=gamma), rbf_kernel(new, X, gamma=gamma)
    centred = K - K.mean(0) - K.mean(1)[:, None] + K.mean()
    values, vectors = np.linalg.eigh(centred)
    values, vectors = values[::-1][:k], vectors[:, ::-1][:, :k]
    scores = (across - across.mean(1)[:, None] - K.mean(0) + K.mean()) @ vectors / np.sqrt(values)
    t_squared = (scores**2 / (values / len(X))).sum(axis=1)
    spe = 1 - 2 * across.mean(1) + K.mean() - (scores**2).sum(axis=1)
    return t_squared, spe


def test_numbers_are_those_of_the_definition():
    X, new = cloud(), cloud(20, seed=1)
    kpca = KernelPCA(5, kernel="rbf", gamma=0.1, tol=1e-12).fit(X)
    t_squared, spe = by_definition(X, new, 0.1, 5)
    found = kpca.novelty_scores(new)
    assert_allclose(found.t_squared, t_squared, rtol=1e-7)
    assert_allclose(found.spe, spe, rtol=1e-7, atol=1e-9)
    assert_array_equal(kpca.score_samples(new), -found.spe)
    assert_allclose(kpca.novelty_scores(sparse.csr_matrix(new)).spe, found.spe, rtol=1e-9)
    assert_allclose(kpca.novelty_scores(new.astype(np.float32)).spe, found.spe, rtol=1e-3, atol=1e-5)


def test_the_linear_kernel_is_pca():
    X, new = cloud(), cloud(20, seed=1)
    pca = PCA(2).fit(X)
    found = KernelPCA(2, kernel="linear", tol=1e-12).fit(X).novelty_scores(new)
    back = pca.inverse_transform(pca.transform(new))
    assert_allclose(found.spe, ((new - back) ** 2).sum(axis=1), rtol=1e-7)
    variances = pca.explained_variance_ * (len(X) - 1) / len(X)
    assert_allclose(found.t_squared, (pca.transform(new) ** 2 / variances).sum(axis=1), rtol=1e-7)


def test_precomputed_and_functions_need_the_diagonal():
    X, new = cloud(), cloud(20, seed=1)
    expected = KernelPCA(3, kernel="rbf", gamma=0.1).fit(X).novelty_scores(new)
    precomputed = KernelPCA(3, kernel="precomputed").fit(rbf_kernel(X, gamma=0.1))
    rows = rbf_kernel(new, X, gamma=0.1)
    assert_allclose(precomputed.novelty_scores(rows, own=np.ones(20)).spe, expected.spe, rtol=1e-5, atol=1e-7)
    with pytest.raises(EigenliftError, match=r"k\(x,x\)"):
        precomputed.novelty_scores(rows)
    with pytest.raises(EigenliftError, match="19 values"):
        precomputed.novelty_scores(rows, own=np.ones(19))
    function = KernelPCA(3, kernel=lambda x, y: np.exp(-0.1 * ((x - y) ** 2).sum())).fit(X)
    assert_allclose(function.novelty_scores(new).spe, expected.spe, rtol=1e-5, atol=1e-7)
    with pytest.raises(ValueError, match="written down"):
        function.contributions(new)


@pytest.mark.parametrize("how", [{}, {"rank": 30}, {"rank": 64, "approximation": "fourier"}])
def test_limits_come_from_reference_rows(how):
    X, held_out = cloud(300), cloud(199, seed=1)
    kpca = KernelPCA(5, kernel="rbf", gamma=0.05, random_state=0, **how).fit(X)
    reference = kpca.novelty_scores(held_out)
    limits = kpca.limits(alpha=0.05, reference=held_out)
    assert limits.rows == 199 and not limits.in_sample and not limits.cross_validated
    assert limits == kpca.limits(alpha=0.05, reference=reference)
    # Either limit of the other 198 is exceeded by (199 + 1)·0.05 = 10; the row of the limit itself is one of them for each.
    assert 8 <= np.count_nonzero(limits.novel(reference)) <= 10
    assert limits.share == np.count_nonzero(limits.novel(reference)) / 199
    own = kpca.limits(alpha=0.05, X=X)
    assert own.cross_validated and not own.in_sample and "cross-validated" in str(own) and not own.warnings
    if how:
        with pytest.warns(EigenliftWarning, match="rows of the fit"):
            assert kpca.limits(alpha=0.05).in_sample
    else:
        assert kpca.limits(alpha=0.05) == own
    with pytest.warns(EigenliftWarning, match="Gaussian scores"):
        parametric = kpca.limits(alpha=0.05, rule="parametric", reference=held_out)
    each = 1 - np.sqrt(0.95)
    expected = 5 * 301 / 295 * stats.f.isf(each, 5, 295)
    assert_allclose(parametric.t_squared, expected, rtol=1e-9)
    mean, variance = reference.spe.mean(), reference.spe.var(ddof=1)
    expected = variance / (2 * mean) * stats.chi2.isf(each, 2 * mean**2 / variance)
    assert_allclose(parametric.spe, expected, rtol=1e-9)


def test_false_alarms_have_the_rate_requested():
    # 40 fits of 200 rows, 1000 new rows each: the standard error of the mean rate is √(0.05·0.95·(1/200 + 1/1000)/40) = 0.0027.
    rates = []
    for seed in range(40):
        X = np.exp(cloud(1200, seed=seed) / 4)
        kpca = KernelPCA(4, kernel="rbf(gamma=median)", n_jobs=1).fit(X[:200])
        rates.append(kpca.limits(alpha=0.05).novel(kpca.novelty_scores(X[200:])).mean())
    assert abs(np.mean(rates) - 0.05) < 0.01


def test_parametric_limits_of_gaussian_scores_come_without_a_warning():
    X = cloud(600)
    kpca = KernelPCA(2, kernel="linear").fit(X[:300])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kpca.limits(alpha=0.05, rule="parametric", reference=X[300:])


def test_parametric_limits_warn_of_clusters():
    # T² and the squared prediction error average clusters out; the kurtosis of the first component, near 1.5, does not.
    X = cloud(600) + 4 * np.random.default_rng(1).integers(-1, 2, size=(600, 1))
    kpca = KernelPCA(3, kernel="linear").fit(X[:300])
    for reference in (X[300:], kpca.novelty_scores(X[300:]), None):
        with pytest.warns(EigenliftWarning, match="scores of component 1 have skewness"):
            kpca.limits(alpha=0.05, rule="parametric", reference=reference)


@pytest.mark.parametrize("kernel", ["precomputed", "function"])
def test_kernels_of_python_are_cross_validated_too(kernel):
    X = cloud(100)
    expected = KernelPCA(3, kernel="rbf", gamma=0.1).fit(X).limits(alpha=0.05)
    if kernel == "precomputed":
        found = KernelPCA(3, kernel="precomputed").fit(rbf_kernel(X, gamma=0.1)).limits(alpha=0.05)
    else:
        found = KernelPCA(3, kernel=lambda x, y: np.exp(-0.1 * ((x - y) ** 2).sum())).fit(X).limits(alpha=0.05)
    assert found.cross_validated
    assert_allclose([found.t_squared, found.spe], [expected.t_squared, expected.spe], rtol=1e-4)


def test_pickles_and_files_hold_what_is_needed(tmp_path):
    X, new = cloud(300), cloud(20, seed=1)
    kpca = KernelPCA(4, kernel="rbf", gamma=0.05).fit(X)
    kpca.save(tmp_path / "m.safetensors")
    for again in (pickle.loads(pickle.dumps(kpca)), eigenlift.load(tmp_path / "m.safetensors")):
        assert again.limits() == kpca.limits()
        assert_array_equal(again.novelty_scores(new).spe, kpca.novelty_scores(new).spe)
        assert_array_equal(again.contributions(new).values, kpca.contributions(new).values)


def test_contributions_add_up_and_name_the_column():
    X = load_iris().data
    odd = X[:20].copy()
    odd[:, 3] += 5
    kpca = KernelPCA(6, kernel="rbf", gamma=0.2).fit(X)
    for statistic in ("spe", "t2"):
        found = kpca.contributions(odd, statistic)
        sums = found.values.sum(axis=1)
        size = np.maximum(found.at_row, found.at_baseline).max()
        assert_allclose(sums, found.at_row - found.at_baseline, atol=found.defect * size + 1e-12)
        assert found.defect < 1e-3
        assert found.baselines.shape == found.values.shape == odd.shape
    found = kpca.contributions(odd)
    assert_allclose(found.at_row, kpca.novelty_scores(odd).spe, rtol=1e-6)
    assert_array_equal(found.values.argmax(axis=1), np.full(20, 3))
    mean = X.mean(axis=0, keepdims=True)
    assert_allclose(kpca.contributions(odd, reference=mean).baselines, np.repeat(mean, 20, axis=0))
    random = KernelPCA(6, kernel="rbf", gamma=0.2, rank=64, approximation="fourier", random_state=0).fit(X)
    with pytest.raises(EigenliftError, match="Give reference rows"):
        random.contributions(odd)
    assert random.contributions(odd, reference=X).values.shape == odd.shape


def test_what_is_refused():
    X = cloud()
    with pytest.raises(NotFittedError):
        KernelPCA(2).novelty_scores(X)
    kpca = KernelPCA(2, kernel="rbf").fit(X)
    with pytest.raises(ValueError, match="features"):
        kpca.novelty_scores(X[:, :3])
    for wrong in (0, 1, -1, "a"):
        with pytest.raises(InvalidParameterError, match="alpha"):
            kpca.limits(alpha=wrong)
    with pytest.raises(InvalidParameterError, match="rule"):
        kpca.limits(rule="normal")
    with pytest.raises(InvalidParameterError, match="statistic"):
        kpca.contributions(X, statistic="q")
    alike = KernelPCA(1, kernel="rbf").fit(np.ones((5, 2)))
    with pytest.raises(ValueError, match="look the same"):
        alike.novelty_scores(np.ones((2, 2)))
    with pytest.warns(EigenliftWarning, match="not positive semi-definite"):
        flipped = KernelPCA(8, kernel="sigmoid", gamma=2, coef0=-1, repair="flip").fit(X)
    with pytest.raises(EigenliftError, match="positive semi-definite"):
        flipped.novelty_scores(X)
    assert not hasattr(flipped, "score_samples") and hasattr(kpca, "score_samples")
    # Kernel values that are symmetric only after centring.
    K = rbf_kernel(X)
    lopsided = KernelPCA(2, kernel="precomputed").fit(K + np.arange(len(X)))
    assert_allclose(np.abs(lopsided.eigenvalues_), KernelPCA(2, kernel="precomputed").fit(K).eigenvalues_)
    with pytest.raises(EigenliftError, match="does not hold the mean"):
        lopsided.novelty_scores(K, own=np.ones(len(X)))
    with pytest.raises(EigenliftError, match="does not hold the mean"):
        lopsided.limits()
