"""The Nyström method against scikit-learn's class and against its definition."""

import importlib.util
import pathlib
import pickle
import warnings

import numpy as np
import pytest
from eigenlift import Nystroem
from eigenlift._base import EigenliftWarning
from eigenlift._nystroem import _rounded_up
from eigenlift.kernels import RBF, Laplacian, Linear, Matern, Precomputed
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn import kernel_approximation
from sklearn.base import clone
from sklearn.datasets import load_iris, make_moons
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import pairwise
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

RNG = np.random.default_rng(3)
X = RNG.uniform(size=(200, 6))
NEW = RNG.uniform(size=(31, 6))

KERNELS = [
    {"kernel": "rbf", "gamma": 3.0},
    {"kernel": "laplacian"},
    {"kernel": "chi2", "gamma": 20.0},
    {"kernel": "cosine", "n_components": 5},
    {"kernel": "linear", "n_components": 5},
    {"kernel": "poly", "n_components": 12},
    {"kernel": "polynomial", "degree": 2.5, "coef0": 0.3, "gamma": 2.0, "n_components": 6},
    {"kernel": "sigmoid", "gamma": 0.5, "coef0": 0.1, "n_components": 5},
    {"kernel": "additive_chi2", "n_components": 8},
    {"kernel": "rbf", "gamma": 0.0, "n_components": 1},
    {"kernel": "rbf", "kernel_params": {"gamma": 2.0}},
]


def minimum(x, y, power=1.0):
    return (np.minimum(x, y) ** power).sum()


def both(**params):
    params = {"n_components": 20, "random_state": 5, **params}
    return Nystroem(**params), kernel_approximation.Nystroem(**params)


@pytest.mark.parametrize("params", KERNELS, ids=str)
def test_agrees_with_scikit_learn(params):
    ours, theirs = both(**params)
    found, expected = ours.fit_transform(X), theirs.fit_transform(X)
    assert_array_equal(ours.component_indices_, theirs.component_indices_)
    assert_array_equal(ours.components_, theirs.components_)
    assert_allclose(ours.normalization_, theirs.normalization_, rtol=1e-10, atol=1e-10)
    assert_allclose(found, expected, rtol=1e-10, atol=1e-10)
    assert_allclose(ours.transform(NEW), theirs.transform(NEW), rtol=1e-10, atol=1e-10)
    assert_array_equal(ours.get_feature_names_out(), theirs.get_feature_names_out())


def test_random_states_agree():
    """Also for a generator that goes on, and for the global one."""
    ours, theirs = both(random_state=np.random.RandomState(8))
    theirs.random_state = np.random.RandomState(8)
    for _ in range(2):
        assert_array_equal(ours.fit(X).component_indices_, theirs.fit(X).component_indices_)
    ours, theirs = both(random_state=None)
    np.random.seed(11)
    ours.fit(X)
    np.random.seed(11)
    assert_array_equal(ours.component_indices_, theirs.fit(X).component_indices_)


@pytest.mark.parametrize("container", [sparse.csr_matrix, sparse.csr_array, sparse.csc_matrix])
def test_sparse(container):
    table = sparse.random(150, 30, density=0.2, random_state=0, format="csr")
    ours, theirs = both(gamma=0.5)
    assert_allclose(ours.fit_transform(container(table)), theirs.fit_transform(table.toarray()), rtol=1e-10, atol=1e-10)
    assert sparse.issparse(ours.components_)
    assert_allclose(ours.transform(table.toarray()), ours.transform(table), rtol=1e-10, atol=1e-12)


def test_float32():
    """The type of the rows, with the accuracy of double precision inside."""
    single = X.astype(np.float32)
    ours = Nystroem(gamma=0.1, n_components=40, random_state=0)
    double = clone(ours).fit(single.astype(np.float64))
    features = ours.fit_transform(single)
    assert features.dtype == ours.normalization_.dtype == ours.components_.dtype == np.float32
    assert_allclose(features, double.transform(single.astype(np.float64)), atol=1e-6)
    assert ours.transform(X).dtype == np.float64
    assert double.transform(single).dtype == np.float64


def test_pieces_change_nothing(monkeypatch):
    ours = Nystroem(gamma=0.5, n_components=20, random_state=0).fit(X)
    whole, account = ours.transform(X), ours.certify(X)
    calls = []
    monkeypatch.setattr("eigenlift._nystroem._PIECE", 20)
    ours.progress = lambda stage, done, total: calls.append((stage, done, total))
    assert_allclose(ours.transform(X), whole, rtol=1e-9, atol=1e-11)
    assert calls == [("transform", done, 200) for done in (64, 128, 192, 200)]
    assert ours.certify(X).residual_trace == pytest.approx(account.residual_trace, rel=1e-7)


def test_precomputed():
    K = pairwise.rbf_kernel(X[:40], gamma=2.0)
    ours, theirs = both(kernel="precomputed", n_components=40)
    assert_allclose(ours.fit_transform(K), theirs.fit_transform(K), atol=1e-9)
    features = Nystroem(Precomputed(), n_components=40, random_state=5).fit_transform(K)
    assert_allclose(features @ features.T, K, atol=1e-9)
    account = ours.certify(K)
    assert account.trace == pytest.approx(40)
    assert abs(account.residual_share) < 1e-9
    with pytest.raises(ValueError, match="square"):
        ours.certify(K[:10])
    ours, theirs = both(kernel="precomputed", n_components=30)
    with pytest.raises(ValueError) as expected:
        theirs.fit(K)
    with pytest.raises(ValueError) as found:
        ours.fit(K)
    assert str(found.value) == str(expected.value)


def test_functions():
    ours, theirs = both(kernel=minimum, kernel_params={"power": 1.5}, n_components=8)
    assert_allclose(ours.fit_transform(X), theirs.fit_transform(X), atol=1e-9)
    again = pickle.loads(pickle.dumps(ours))
    assert_allclose(again.transform(NEW), theirs.transform(NEW), atol=1e-9)
    residual = (X**1.5).sum() - (theirs.transform(X) ** 2).sum()
    assert ours.certify(X).residual_trace == pytest.approx(residual, rel=1e-6)


def test_kernel_params_are_left_alone():
    """scikit-learn writes into the dictionary."""
    params = {"gamma": 2.0}
    Nystroem("rbf", gamma=3.0, kernel_params=params, n_components=3).fit(X)
    assert params == {"gamma": 2.0}


@pytest.mark.parametrize("kernel", [RBF(gamma=0.5) + 0.1 * Linear(), Matern(nu=2.5, length=2), Laplacian(gamma="1/d")])
@pytest.mark.parametrize("as_text", [False, True])
def test_kernels_and_descriptions(kernel, as_text):
    ours = Nystroem(str(kernel) if as_text else kernel, n_components=15, random_state=1).fit(X)
    basis = X[np.random.RandomState(1).permutation(200)[:15]]
    left, values, right = np.linalg.svd(kernel(basis))
    expected = kernel(NEW, basis) @ (left / np.sqrt(values) @ right).T
    assert_allclose(ours.transform(NEW), expected, rtol=1e-9, atol=1e-10)


def test_medians_come_from_the_training_rows():
    ours = Nystroem("rbf(gamma=median)", n_components=10, random_state=1).fit(X)
    gamma = RBF().resolve(X).gamma
    assert ours.kernel_ == f"rbf(gamma={gamma})"
    theirs = kernel_approximation.Nystroem(gamma=gamma, n_components=10, random_state=1).fit(X)
    assert_allclose(ours.transform(NEW[:3]), theirs.transform(NEW[:3]), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("landmarks", ["uniform", "pivoted"])
def test_certify_bounds_the_eigenvalues(landmarks):
    ours = Nystroem(gamma=0.5, n_components=25, random_state=0, landmarks=landmarks)
    features = ours.fit_transform(X)
    K = pairwise.rbf_kernel(X, gamma=0.5)
    account = ours.certify(X)
    assert account.trace == pytest.approx(200)
    assert account.residual_trace == pytest.approx(np.trace(K - features @ features.T), rel=1e-6)
    assert account.residual_share == pytest.approx(account.residual_trace / 200)
    assert account.n_samples == 200
    assert account.n_landmarks == 25
    for centre in (np.eye(200), np.eye(200) - 1 / 200):
        exact = np.linalg.eigvalsh(centre @ K @ centre)
        found = np.linalg.eigvalsh(centre @ features @ features.T @ centre)
        assert (exact - found).min() > -1e-9
        assert (exact - found).max() <= account.residual_trace
    assert "25 landmarks leave out" in str(account)


def test_pivoted_landmarks_leave_less_out():
    # A dense cluster and a few rows elsewhere, which even draws miss.
    rows = np.vstack([RNG.normal(scale=0.02, size=(480, 4)), RNG.normal(scale=3, size=(20, 4))])
    shares = {
        landmarks: np.mean(
            [
                Nystroem(gamma=0.5, n_components=25, random_state=seed, landmarks=landmarks)
                .fit(rows)
                .certify(rows)
                .residual_share
                for seed in range(3)
            ]
        )
        for landmarks in ("uniform", "pivoted")
    }
    assert shares["pivoted"] < 0.5 * shares["uniform"]


def test_pivoted_landmarks_repeat_and_stop_at_the_rank():
    ours = Nystroem("linear", n_components=30, random_state=2, landmarks="pivoted")
    with pytest.warns(EigenliftWarning, match="lowered to 6"):
        features = ours.fit_transform(X)
    assert features.shape == (200, 6)
    assert len(ours.get_feature_names_out()) == 6
    assert_allclose(features @ features.T, X @ X.T, atol=1e-8)
    first = Nystroem(n_components=9, random_state=2, landmarks="pivoted").fit(X).component_indices_
    second = Nystroem(n_components=9, random_state=2, landmarks="pivoted", n_jobs=2).fit(X).component_indices_
    assert_array_equal(first, second)
    assert len(set(first)) == 9
    for kernel in (minimum, "precomputed"):
        with pytest.raises(ValueError, match="pivoted"):
            Nystroem(kernel, n_components=9, landmarks="pivoted").fit(pairwise.rbf_kernel(X))


def test_more_landmarks_than_rows():
    ours, theirs = both(n_components=500)
    with pytest.warns(UserWarning) as found:
        features = ours.fit_transform(X[:20])
    with pytest.warns(UserWarning) as expected:
        theirs.fit(X[:20])
    assert str(found[0].message) == str(expected[0].message)
    assert_allclose(features @ features.T, pairwise.rbf_kernel(X[:20]), atol=1e-9)


@pytest.mark.parametrize(
    "params",
    [
        {"n_components": 0},
        {"n_components": 2.0},
        {"gamma": -1.0},
        {"degree": 0.5},
        {"coef0": "a"},
        {"kernel_params": [1]},
        {"n_jobs": 1.5},
        {"kernel": minimum, "gamma": 1.0},
        {"kernel": "precomputed", "degree": 2},
    ],
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
    with pytest.raises(ValueError, match=r"'landmarks' parameter of Nystroem must be .* \{'pivoted', 'uniform'\}"):
        Nystroem(landmarks="best").fit(X)
    with pytest.raises(ValueError, match="The 'kernel' parameter of Nystroem must be a str among"):
        Nystroem("rfb").fit(X)
    for numbers in ({"gamma": 1.0}, {"degree": 3}, {"coef0": 1}):
        with pytest.raises(ValueError, match="Write the numbers into the kernel"):
            Nystroem(RBF(), **numbers).fit(X)
    with pytest.raises(ValueError, match="X contains negative values"):
        Nystroem("chi2").fit(-X)
    with pytest.raises(TypeError, match="has no model file"):
        Nystroem(n_components=3).fit(X).save(tmp_path / "model.safetensors")


def test_clone_and_grid_search():
    rows, labels = make_moons(200, noise=0.1, random_state=0)
    model = make_pipeline(Nystroem(RBF(gamma=1.0), n_components=20, random_state=0), LogisticRegression())
    by_kernel = GridSearchCV(model, {"nystroem__kernel": [RBF(gamma=0.01), RBF(gamma=2.0)]}, cv=3).fit(rows, labels)
    by_number = GridSearchCV(model, {"nystroem__kernel__gamma": [0.01, 2.0]}, cv=3).fit(rows, labels)
    theirs = make_pipeline(kernel_approximation.Nystroem(n_components=20, random_state=0), LogisticRegression())
    expected = GridSearchCV(theirs, {"nystroem__gamma": [0.01, 2.0]}, cv=3).fit(rows, labels)
    for search in (by_kernel, by_number):
        assert_allclose(search.cv_results_["mean_test_score"], expected.cv_results_["mean_test_score"])
    assert by_kernel.best_params_ == {"nystroem__kernel": RBF(gamma=2.0)}
    assert model[0].kernel.gamma == 1.0
    copied = clone(model[0])
    assert copied.kernel == model[0].kernel
    assert copied.kernel is not model[0].kernel


def test_pickle_and_tables():
    table = load_iris(as_frame=True).data
    ours = Nystroem(Matern(), n_components=10, random_state=0).set_output(transform="pandas")
    features = ours.fit_transform(table)
    assert list(features.columns) == [f"nystroem{i}" for i in range(10)]
    assert list(ours.feature_names_in_) == list(table.columns)
    assert_array_equal(pickle.loads(pickle.dumps(ours)).transform(table), features)


def test_no_warnings_where_nothing_is_wrong():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Nystroem(n_components=10, landmarks="pivoted", random_state=0).fit(X).transform(NEW)


@pytest.fixture(scope="module")
def study():
    path = pathlib.Path(__file__).parents[2] / "benchmarks" / "certificates.py"
    spec = importlib.util.spec_from_file_location("certificates", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


CLOSE = [
    ("rbf", {"gamma": 1e-6}, X[:60]),
    ("rbf", {"gamma": 3.0}, X[:60]),
    ("linear", {}, X[:60] + 1e5),
    ("poly", {"gamma": 1.0, "coef0": 1, "degree": 2}, X[:60]),
    ("laplacian", {"gamma": 1e-3}, X[:60]),
]


@pytest.mark.parametrize("single", [False, True])
def test_the_bound_holds_where_nothing_but_rounding_is_left_out(study, single):
    beyond_the_trace = 0
    for kernel, params, rows in CLOSE:
        rows = rows.astype(np.float32) if single else rows
        true, error = study.eigenvalues(study.centered(kernel, rows, params))
        for count in (10, 30, 60):
            ours = Nystroem(kernel, **params, n_components=count, random_state=1)
            features = ours.fit_transform(rows).astype(np.longdouble)
            features -= features.mean(axis=0)
            held, held_error = study.eigenvalues(features @ features.T)
            account, above = ours.certify(rows), float((true - held - error - held_error).max())
            assert account.bound == account.residual_trace + account.rounding
            assert above <= account.bound, (kernel, params, count)
            assert account.rounding < 1e-3 * account.trace
            beyond_the_trace += above > account.residual_trace
    # Without the rounding, some of these statements would be false.
    assert beyond_the_trace


@pytest.mark.parametrize(
    "params",
    [{"kernel": "additive_chi2"}, {"kernel": "sigmoid"}, {"kernel": minimum}, {"kernel": "precomputed"}],
    ids=str,
)
def test_nothing_is_stated_of_kernels_that_are_not_known_to_be_positive(params):
    rows = X @ X.T if params["kernel"] == "precomputed" else X
    # scikit-learn takes the first columns of a matrix that are as many as the landmarks.
    ours = Nystroem(**params, n_components=200 if params["kernel"] == "precomputed" else 20, random_state=0).fit(rows)
    account = ours.certify(rows)
    assert account.bound is None
    assert "not known to be positive semi-definite: nothing is stated" in str(account)
    assert "at most" not in str(account)


def test_a_residual_trace_that_no_kernel_has_bounds_nothing():
    ours = Nystroem(gamma=0.5, n_components=20, random_state=0).fit(X)
    sums = ours._left_out(X)
    assert ours._account(sums, X.shape).bound > 0
    sums[1] = -1.0
    account = ours._account(sums, X.shape)
    assert account.bound is None
    assert "below zero by more than rounding" in str(account)


@pytest.mark.parametrize("value", [0.0, 1.23, 3.7949, 9.994, 9.9999, 1.0049, 2.5e-9])
def test_a_bound_is_rounded_up(value):
    shown = float(_rounded_up(value))
    assert value <= shown <= 1.012 * value
