"""Random Fourier features against scikit-learn's class and against the kernel."""

import pickle

import numpy as np
import pytest
from eigenlift import RBFSampler
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn import kernel_approximation
from sklearn.base import clone
from sklearn.metrics import pairwise

RNG = np.random.default_rng(3)
X = RNG.normal(size=(120, 7))
NEW = RNG.normal(size=(31, 7))


def both(**params):
    params = {"n_components": 50, "random_state": 5, **params}
    return RBFSampler(**params), kernel_approximation.RBFSampler(**params)


@pytest.mark.parametrize("gamma", [1.0, 0.03, 0, "scale"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
def test_agrees_with_scikit_learn(gamma, dtype):
    rows, new = (3 * X).astype(dtype), (3 * NEW).astype(dtype)
    ours, theirs = both(gamma=gamma)
    assert_array_equal(ours.fit(rows).random_weights_, theirs.fit(rows).random_weights_)
    assert_array_equal(ours.random_offset_, theirs.random_offset_)
    assert ours.random_weights_.dtype == theirs.random_weights_.dtype
    assert ours._gamma == theirs._gamma
    found, expected = ours.transform(new), theirs.transform(new)
    assert found.dtype == expected.dtype
    single = dtype == np.float32
    assert_allclose(found, expected, rtol=0, atol=1e-5 if single else 1e-13)
    assert_array_equal(ours.get_feature_names_out(), theirs.get_feature_names_out())


def test_precisions_that_differ():
    ours, theirs = both(gamma=0.1)
    for first, second in ((X, NEW.astype(np.float32)), (X.astype(np.float32), NEW)):
        found, expected = ours.fit(first).transform(second), theirs.fit(first).transform(second)
        assert found.dtype == expected.dtype == np.float64
        assert_allclose(found, expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize("container", [sparse.csr_matrix, sparse.csr_array, sparse.csc_matrix])
@pytest.mark.parametrize("gamma", [0.5, "scale"])
def test_sparse(container, gamma):
    table = sparse.random(150, 30, density=0.2, random_state=0, format="csr")
    ours, theirs = both(gamma=gamma)
    assert_allclose(ours.fit_transform(container(table)), theirs.fit_transform(table), rtol=0, atol=1e-13)
    assert_allclose(ours._gamma, theirs._gamma, rtol=1e-14)


def test_constant_rows():
    ours, theirs = both(gamma="scale")
    assert ours.fit(np.ones((4, 2)))._gamma == theirs.fit(np.ones((4, 2)))._gamma == 1.0


@pytest.mark.parametrize(("n_features", "n_components"), [(7, 50), (7, 7), (7, 3), (1, 5)])
def test_orthogonal_frequencies(n_features, n_components):
    """Orthogonal in blocks; the lengths are those of as many normal numbers."""
    ours = RBFSampler(gamma=0.3, n_components=n_components, orthogonal=True, random_state=0).fit(X[:, :n_features])
    weights = ours.random_weights_
    assert weights.shape == (n_features, n_components)
    for start in range(0, n_components, n_features):
        block = weights[:, start : start + n_features]
        products = block.T @ block
        assert_allclose(products, np.diag(np.diag(products)), atol=1e-12)
    again = clone(ours).fit(X[:, :n_features])
    assert_array_equal(again.random_weights_, weights)


def test_distribution_of_orthogonal_frequencies():
    """Moments of 2γ·N(0, 1) in each coordinate and of 2γ·χ² with 7 degrees of freedom in length."""
    weights = RBFSampler(gamma=0.3, n_components=70_000, orthogonal=True, random_state=0).fit(X).random_weights_
    assert_allclose(weights.mean(axis=1), 0, atol=0.02)
    assert_allclose((weights**2).mean(axis=1), 0.6, rtol=0.03)
    assert_allclose((weights**4).mean(axis=1), 3 * 0.36, rtol=0.06)
    squares = (weights**2).sum(axis=0) / 0.6
    assert squares.mean() == pytest.approx(7, rel=0.02)
    assert squares.var() == pytest.approx(14, rel=0.04)


def test_orthogonal_frequencies_have_a_smaller_error():
    kernel = pairwise.rbf_kernel(X, gamma=0.02)

    def error(orthogonal):
        errors = []
        for seed in range(8):
            ours = RBFSampler(gamma=0.02, n_components=210, orthogonal=orthogonal, random_state=seed)
            features = ours.fit_transform(X)
            errors.append(np.mean((features @ features.T - kernel) ** 2))
        return np.mean(errors)

    assert error(True) < 0.8 * error(False)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_certify_estimates_the_error(dtype):
    rows = X.astype(dtype)
    ours = RBFSampler(gamma=0.05, n_components=300, random_state=1)
    features = ours.fit_transform(rows)
    kernel = pairwise.rbf_kernel(X, gamma=0.05)
    different = ~np.eye(len(X), dtype=bool)
    error = np.sqrt(np.mean((features @ features.T - kernel)[different] ** 2))
    size = np.sqrt(np.mean(kernel[different] ** 2))
    account = ours.certify(rows)
    assert account.root_mean_square_error == pytest.approx(error, rel=0.1)
    assert account.relative_error == pytest.approx(error / size, rel=0.1)
    assert account.n_pairs == 2000
    assert "not a bound" in str(account)
    assert ours.certify(rows) == account
    assert ours.certify(sparse.csr_matrix(rows)).relative_error == pytest.approx(account.relative_error, rel=1e-4)


def test_certify_of_few_rows():
    ours = RBFSampler(n_components=64, random_state=0).fit(X)
    first, second = ours.transform(X[:2])
    exact = np.exp(-np.sum((X[0] - X[1]) ** 2))
    assert ours.certify(X[:2]).root_mean_square_error == pytest.approx(abs(first @ second - exact), rel=1e-9)
    assert ours.certify(X[:1]).root_mean_square_error == pytest.approx(abs(first @ first - 1), rel=1e-9)
    assert ours.certify(np.array([[0.0] * 7, [1e6] * 7])).relative_error == np.inf


@pytest.mark.parametrize(
    "params",
    [{"gamma": "auto"}, {"gamma": -0.1}, {"gamma": None}, {"n_components": 0}, {"n_components": 1.5}],
    ids=str,
)
def test_errors_have_the_words_of_scikit_learn(params):
    ours, theirs = both(**params)
    with pytest.raises(ValueError) as expected:
        theirs.fit(X)
    with pytest.raises(ValueError) as found:
        ours.fit(X)
    assert str(found.value) == str(expected.value)


def test_further_errors(tmp_path):
    with pytest.raises(ValueError, match="'orthogonal' parameter of RBFSampler"):
        RBFSampler(orthogonal="yes").fit(X)
    with pytest.raises(TypeError, match="has no model file"):
        RBFSampler().fit(X).save(tmp_path / "model.safetensors")


def test_pickle_threads_and_tables():
    ours = RBFSampler(gamma="scale", n_components=40, random_state=0, orthogonal=True).fit(X)
    features = ours.transform(NEW)
    assert_array_equal(pickle.loads(pickle.dumps(ours)).transform(NEW), features)
    assert_array_equal(clone(ours).set_params(n_jobs=2).fit(X).transform(NEW), features)
    frame = ours.set_output(transform="pandas").transform(NEW)
    assert list(frame.columns) == [f"rbfsampler{i}" for i in range(40)]
