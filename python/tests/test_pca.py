"""PCA against scikit-learn's on the same rows, and against formulas where scikit-learn has nothing."""

import pickle
import warnings

import eigenlift
import numpy as np
import pandas as pd
import polars as pl
import pytest
from eigenlift import PCA, _native
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn import decomposition
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

IRIS = load_iris().data
DIGITS = load_digits().data
VALUES = ["explained_variance_", "explained_variance_ratio_", "singular_values_", "noise_variance_", "mean_"]
NUMBERS = ["n_components_", "n_samples_", "n_features_in_"]


def tall():
    return np.random.RandomState(0).randn(300, 12) * np.linspace(1, 5, 12) + 3.0


def wide():
    return np.random.RandomState(1).randn(20, 70) * np.linspace(3, 1, 70)


def deficient(n=60, d=25, rank=6):
    rng = np.random.RandomState(2)
    return rng.randn(n, rank) * np.arange(rank, 0, -1) @ rng.randn(rank, d) + 1.0


DATA = {"iris": IRIS, "digits": DIGITS, "tall": tall(), "wide": wide()}


def same_axes(ours, theirs, atol, where=slice(None)):
    """Equal up to a sign, which the largest entry decides on both sides."""
    assert_allclose(ours.components_[where], theirs.components_[where], atol=atol)


def same_values(ours, theirs, rtol=1e-9, atol=1e-9):
    for name in VALUES:
        assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=rtol, atol=atol, err_msg=name)
    for name in NUMBERS:
        assert getattr(ours, name) == getattr(theirs, name), name


@pytest.mark.parametrize("solver", ["auto", "full", "covariance_eigh", "arpack", "randomized"])
@pytest.mark.parametrize("name", DATA)
def test_equals_scikit_learn(name, solver):
    X = DATA[name]
    ours = PCA(3, svd_solver=solver, random_state=0).fit(X)
    theirs = decomposition.PCA(3, svd_solver="full").fit(X)
    same_values(ours, theirs)
    same_axes(ours, theirs, 1e-8)
    assert_allclose(ours.transform(X), theirs.transform(X), atol=1e-7)
    assert_allclose(ours.inverse_transform(ours.transform(X)), theirs.inverse_transform(theirs.transform(X)), atol=1e-7)
    assert_array_equal(ours.fit_transform(X), ours.transform(X))


@pytest.mark.parametrize("n_components", [None, 0, 1, 0.3, 0.95, "mle"])
@pytest.mark.parametrize("name", ["iris", "tall"])
def test_numbers_of_components(name, n_components):
    X = DATA[name]
    ours = PCA(n_components, svd_solver="full").fit(X)
    theirs = decomposition.PCA(n_components, svd_solver="full").fit(X)
    same_values(ours, theirs)
    same_axes(ours, theirs, 1e-8)
    assert ours.transform(X).shape == theirs.transform(X).shape


def test_mle_over_many_spectra():
    rng = np.random.RandomState(3)
    for k in range(1, 9):
        X = rng.randn(80, k) * 4 @ rng.randn(k, 10) + rng.randn(80, 10)
        theirs = decomposition.PCA("mle", svd_solver="full").fit(X)
        assert PCA("mle").fit(X).n_components_ == theirs.n_components_


@pytest.mark.parametrize("solver", ["full", "covariance_eigh", "auto"])
@pytest.mark.parametrize("whiten", [False, True])
def test_directions_without_variance_complete_the_components(solver, whiten):
    X = deficient()
    ours = PCA(svd_solver=solver, whiten=whiten).fit(X)
    theirs = decomposition.PCA(svd_solver="full", whiten=whiten).fit(X)
    assert ours.components_.shape == theirs.components_.shape == (25, 25)
    assert_allclose(ours.components_ @ ours.components_.T, np.eye(25), atol=1e-12)
    same_axes(ours, theirs, 1e-8, slice(6))
    assert_allclose(ours.explained_variance_, theirs.explained_variance_, atol=1e-10)
    assert_array_equal(ours.explained_variance_[6:], 0.0)
    assert_allclose(ours.transform(X)[:, :6], theirs.transform(X)[:, :6], atol=1e-8)
    assert_allclose(ours.inverse_transform(ours.transform(X)), X, atol=1e-10)
    assert_array_equal(clone(ours).fit(X).components_, ours.components_)


def test_more_components_than_directions_of_wide_rows():
    X = wide()
    ours, theirs = PCA().fit(X), decomposition.PCA().fit(X)
    assert ours.components_.shape == theirs.components_.shape == (20, 70)
    assert_allclose(ours.components_ @ ours.components_.T, np.eye(20), atol=1e-12)
    same_axes(ours, theirs, 1e-8, slice(19))
    assert ours.noise_variance_ == theirs.noise_variance_ == 0


def test_rows_that_all_look_the_same():
    X = np.full((5, 3), 2.5)
    ours = PCA().fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = decomposition.PCA(svd_solver="full").fit(X)
    assert_array_equal(ours.explained_variance_, theirs.explained_variance_)
    assert_array_equal(ours.explained_variance_ratio_, theirs.explained_variance_ratio_)
    assert_array_equal(ours.mean_, theirs.mean_)
    assert_allclose(ours.components_ @ ours.components_.T, np.eye(3), atol=1e-12)
    assert_array_equal(ours.transform(X), np.zeros((5, 3)))
    with pytest.raises(ValueError, match="at least one component"):
        ours.save("nowhere.safetensors")


@pytest.mark.parametrize("container", [sparse.csr_matrix, sparse.csc_matrix, sparse.csr_array, sparse.coo_array])
@pytest.mark.parametrize("solver", ["auto", "arpack", "covariance_eigh"])
def test_sparse_rows(container, solver):
    X = sparse.random(200, 40, density=0.1, random_state=0, format="csr")
    ours = PCA(4, svd_solver=solver).fit(container(X))
    theirs = decomposition.PCA(4, svd_solver="full").fit(X.toarray())
    same_values(ours, theirs, atol=1e-11)
    same_axes(ours, theirs, 1e-9)
    assert_allclose(ours.transform(container(X)), theirs.transform(X.toarray()), atol=1e-10)
    assert_allclose(ours.score_samples(container(X)), theirs.score_samples(X.toarray()), rtol=1e-8)


@pytest.mark.parametrize("solver", ["full", "randomized"])
def test_sparse_rows_are_refused_by_solvers_that_scikit_learn_refuses(solver):
    X = sparse.random(20, 5, density=0.5, format="csr")
    with pytest.raises(TypeError) as ours:
        PCA(2, svd_solver=solver).fit(X)
    with pytest.raises(TypeError) as theirs:
        decomposition.PCA(2, svd_solver=solver).fit(X)
    assert str(ours.value) == str(theirs.value)


@pytest.mark.parametrize(
    "parameters",
    [
        {"n_components": 5},
        {"n_components": 0, "svd_solver": "arpack"},
        {"n_components": 4, "svd_solver": "arpack"},
        {"n_components": 9, "svd_solver": "randomized"},
        {"n_components": "mle", "svd_solver": "arpack"},
        {"n_components": 0.5, "svd_solver": "randomized"},
        {"tol": -1.0},
        {"iterated_power": -1},
        {"n_oversamples": 0},
        {"whiten": "no"},
    ],
)
def test_errors_are_those_of_scikit_learn(parameters):
    with pytest.raises(ValueError) as ours:
        PCA(**parameters).fit(IRIS)
    with pytest.raises(ValueError) as theirs:
        decomposition.PCA(**parameters).fit(IRIS)
    # What follows scikit-learn's text may say more.
    assert str(ours.value).split(" instance")[0].startswith(str(theirs.value).split(" instance")[0])


def test_mle_needs_rows():
    with pytest.raises(ValueError, match="n_components='mle' is only supported if n_samples >= n_features"):
        PCA("mle", svd_solver="full").fit(wide())


def test_parameters_of_our_own_are_checked():
    with pytest.raises(ValueError, match="'route' parameter of PCA must be a str among"):
        PCA(route="north").fit(IRIS)
    with pytest.raises(ValueError, match="'memory' parameter of PCA must be a number of bytes"):
        PCA(memory="much").fit(IRIS)
    with pytest.raises(ValueError, match="'n_components' parameter of PCA must be an int"):
        PCA("automatic").fit(IRIS)
    with pytest.raises(ValueError, match="minimum of 2"):
        PCA().fit(IRIS[:1])


@pytest.mark.parametrize("whiten", [False, True])
def test_single_precision(whiten):
    X = DIGITS.astype(np.float32)
    ours = PCA(5, whiten=whiten).fit(X)
    theirs = decomposition.PCA(5, whiten=whiten, svd_solver="full").fit(X)
    for name in ["components_", *VALUES]:
        assert np.asarray(getattr(ours, name)).dtype == np.float32, name
    assert_allclose(ours.transform(X), theirs.transform(X), atol=2e-3)
    assert ours.transform(X).dtype == ours.inverse_transform(ours.transform(X)).dtype == np.float32
    assert ours.transform(DIGITS).dtype == np.float64
    assert PCA(5).fit(DIGITS).transform(X).dtype == decomposition.PCA(5).fit(DIGITS).transform(X).dtype
    assert ours.get_covariance().dtype == ours.get_precision().dtype == np.float32


@pytest.mark.parametrize("whiten", [False, True])
@pytest.mark.parametrize("n_components", [1, 2, 4])
def test_probabilistic_model(n_components, whiten):
    ours = PCA(n_components, whiten=whiten).fit(IRIS)
    theirs = decomposition.PCA(n_components, whiten=whiten).fit(IRIS)
    assert_allclose(ours.get_covariance(), theirs.get_covariance(), atol=1e-10)
    assert_allclose(ours.get_precision(), theirs.get_precision(), rtol=1e-7, atol=1e-9)
    assert_allclose(ours.score_samples(IRIS), theirs.score_samples(IRIS), rtol=1e-9)
    assert_allclose(ours.score(IRIS), theirs.score(IRIS), rtol=1e-9)


def test_likelihood_without_noise_is_that_within_the_subspace():
    X = deficient(d=9, rank=3)
    pca = PCA(3).fit(X)
    scores, variances = pca.transform(X), pca.explained_variance_
    expected = -0.5 * ((scores**2 / variances).sum(axis=1) + np.log(2 * np.pi * variances).sum())
    assert_allclose(pca.score_samples(X), expected, rtol=1e-9)


def test_standardized_columns_are_those_of_a_pipeline():
    X = tall()
    ours = PCA(4, standardize=True).fit(X)
    pipeline = make_pipeline(StandardScaler(), decomposition.PCA(4)).fit(X)
    assert_allclose(ours.explained_variance_, pipeline[-1].explained_variance_, rtol=1e-9)
    assert_allclose(ours.scale_, X.std(axis=0), rtol=1e-12)
    assert_allclose(ours.transform(X), pipeline.transform(X), atol=1e-9)
    assert_allclose(
        ours.inverse_transform(ours.transform(X)), pipeline.inverse_transform(pipeline.transform(X)), atol=1e-9
    )
    assert_allclose(ours.get_covariance() @ ours.get_precision(), np.eye(12), atol=1e-10)
    jacobian = np.log(X.std(axis=0)).sum()
    assert_allclose(ours.score_samples(X), pipeline[-1].score_samples(pipeline[0].transform(X)) - jacobian, rtol=1e-9)


def test_weights_count_rows():
    X = tall()[:60]
    weights = np.random.RandomState(0).randint(0, 4, len(X))
    ours = PCA(5).fit(X, sample_weight=weights)
    repeated = decomposition.PCA(5, svd_solver="full").fit(np.repeat(X, weights, axis=0))
    same_values(ours, repeated)
    same_axes(ours, repeated, 1e-9)
    assert_array_equal(PCA(5).fit_transform(X, sample_weight=weights), ours.transform(X))
    assert_allclose(PCA(5).fit(X, sample_weight=2.0).components_, PCA(5).fit(X).components_, atol=1e-9)


def test_few_rows_with_weights_have_as_many_components_as_repeated_rows():
    X = wide()[:6, :10]
    weights = np.array([3, 2, 1, 4, 0, 2])
    ours, repeated = PCA().fit(X, sample_weight=weights), PCA().fit(np.repeat(X, weights, axis=0))
    assert ours.components_.shape == repeated.components_.shape == (10, 10)
    assert_allclose(ours.transform(X), repeated.transform(X), atol=1e-10)


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        (np.ones((150, 2)), "1D array"),
        (np.ones(3), r"expected \(150,\)"),
        (-np.ones(150), "Negative values"),
        (np.zeros(150), "non-zero"),
        (np.full(150, 1 / 150), "Multiply the weights by the number of rows"),
        (np.full(150, np.nan), "NaN"),
    ],
)
def test_weights_that_make_no_sense(weights, words):
    with pytest.raises(ValueError, match=words):
        PCA().fit(IRIS, sample_weight=weights)


def test_distances_from_the_model():
    X = tall()
    pca = PCA(4).fit(X)
    centred = X - X.mean(axis=0)
    values, vectors = np.linalg.eigh(centred.T @ centred / len(X))
    values, vectors = values[::-1], vectors[:, ::-1]
    scores = centred @ vectors[:, :4]
    assert_allclose(pca.t_squared(X), (scores**2 / values[:4]).sum(axis=1), rtol=1e-9)
    assert_allclose(pca.reconstruction_error(X), ((centred @ vectors[:, 4:]) ** 2).sum(axis=1), rtol=1e-9)
    assert_allclose(pca.t_squared(X).mean(), 4, rtol=1e-10)
    assert_allclose(pca.reconstruction_error(X).mean(), values[4:].sum(), rtol=1e-10)
    assert_allclose(PCA(4, whiten=True).fit(X).t_squared(X), pca.t_squared(X), rtol=1e-10)
    assert_allclose(pca.reconstruction_error(sparse.csr_array(X)), pca.reconstruction_error(X), rtol=1e-9)
    standardized = PCA(12, standardize=True).fit(X)
    assert_allclose(standardized.reconstruction_error(X), 0, atol=1e-20)
    mahalanobis = (centred @ np.linalg.inv(centred.T @ centred / len(X)) * centred).sum(axis=1)
    assert_allclose(standardized.t_squared(X), mahalanobis, rtol=1e-9)


def test_loadings_hold_the_variances_of_columns():
    pca = PCA().fit(IRIS)
    assert_allclose((pca.loadings_**2).sum(axis=1), IRIS.var(axis=0, ddof=1), rtol=1e-10)
    assert_allclose(pca.loadings_[:, 0], pca.components_[0] * np.sqrt(pca.explained_variance_[0]))


def test_the_spectrum_is_known_beyond_the_components():
    pca = PCA(2).fit(IRIS)
    assert_allclose(pca.spectrum_, decomposition.PCA().fit(IRIS).explained_variance_, rtol=1e-10)


def test_rules_choose():
    rng = np.random.RandomState(0)
    X = rng.randn(400, 3) * 10 @ rng.randn(3, 15) + rng.randn(400, 15)
    pca = PCA("auto").fit(X)
    assert pca.n_components_ == pca.choice_.consensus == 3
    assert {rule["name"] for rule in pca.choice_.rules} >= {"Minka", "parallel analysis", "cross-validation"}
    assert not hasattr(pca.set_params(n_components=2).fit(X), "choice_")


def test_plan_and_certificate():
    pca = PCA(2, memory="1GiB")
    plan = pca.plan(IRIS)
    assert not hasattr(pca, "n_features_in_")
    pca.fit(IRIS)
    assert (plan.n_samples, plan.n_features, plan.n_components) == (150, 4, 2)
    assert plan.route == pca.plan_.route == "tsqr"
    assert pca.plan_.bytes_allowed == 2**30
    assert "150 × 4" in str(pca.plan_)
    scatter = (IRIS - IRIS.mean(axis=0)).T @ (IRIS - IRIS.mean(axis=0))
    for value, interval in zip(np.linalg.eigvalsh(scatter)[::-1], pca.certificate_.intervals, strict=False):
        assert interval["low"] <= value * (1 + 1e-12) and value * (1 - 1e-12) <= interval["high"]
    assert 0 <= pca.certificate_.worst_residual < 1e-12


@pytest.mark.parametrize("route", ["covariance", "dual", "tsqr", "krylov"])
def test_routes(route):
    X = DIGITS[:120]
    pca = PCA(3, route=route, tol=1e-10).fit(X)
    assert pca.plan_.route == route
    same_values(pca, decomposition.PCA(3, svd_solver="full").fit(X), rtol=1e-8)


def test_signs_that_were_flipped_are_obeyed():
    pca = PCA(2).fit(IRIS)
    before = pca.transform(IRIS)
    pca.components_[1] *= -1
    assert_array_equal(pca.transform(IRIS), before * [1, -1])
    pca.mean_ += 1.0
    assert_allclose(pca.transform(IRIS + 1.0), before * [1, -1], atol=1e-12)


def test_pickle_and_clone():
    pca = PCA(2, whiten=True).fit(IRIS)
    other = pickle.loads(pickle.dumps(pca))
    assert_array_equal(other.transform(IRIS), pca.transform(IRIS))
    assert other.plan_.route == pca.plan_.route
    assert clone(pca).get_params() == pca.get_params()


def test_names_and_tables():
    frame = pd.DataFrame(IRIS, columns=["a", "b", "c", "d"])
    pca = PCA(2).fit(frame)
    assert_array_equal(pca.feature_names_in_, ["a", "b", "c", "d"])
    assert_array_equal(pca.get_feature_names_out(), ["pca0", "pca1"])
    expected = decomposition.PCA(2).fit_transform(IRIS)
    for kind, library in [("pandas", pd), ("polars", pl)]:
        table = PCA(2).set_output(transform=kind).fit_transform(frame)
        assert isinstance(table, library.DataFrame)
        assert list(table.columns) == ["pca0", "pca1"]
        assert_allclose(table.to_numpy(), expected, atol=1e-9)
    assert_allclose(PCA(2).fit_transform(pl.from_pandas(frame)), expected, atol=1e-9)
    with pytest.raises(ValueError, match="feature names"):
        pca.transform(frame.rename(columns={"a": "z"}))


@pytest.mark.parametrize(
    ("X", "parameters"),
    [
        (IRIS, {"n_components": 3}),
        (IRIS.astype(np.float32), {"n_components": 2, "standardize": True}),
        (IRIS, {"n_components": 0.97}),
        (IRIS, {"n_components": "mle"}),
        (deficient(), {}),
        (deficient(), {"n_components": 1 - 1e-9}),
        (IRIS, {"n_components": "auto"}),
    ],
)
def test_saved_and_loaded(tmp_path, X, parameters):
    frame = pd.DataFrame(X, columns=[f"c{i}" for i in range(X.shape[1])])
    pca = PCA(**parameters).fit(frame)
    path = tmp_path / "model.safetensors"
    pca.save(path)
    loaded = eigenlift.load(path)
    assert isinstance(loaded, PCA)
    for name in ["components_", "spectrum_", *VALUES, *NUMBERS]:
        assert_array_equal(getattr(loaded, name), getattr(pca, name), err_msg=name)
    assert_array_equal(loaded.feature_names_in_, pca.feature_names_in_)
    assert_array_equal(loaded.transform(frame), pca.transform(frame))
    assert_array_equal(loaded.t_squared(frame), pca.t_squared(frame))
    n_found = _native.load(str(path)).n_components
    assert_array_equal(_native.load(str(path)).transform(X, 1), pca.transform(frame)[:, :n_found])
    assert dict(loaded.certificate_) == dict(pca.certificate_)


def test_whitened_scores_are_no_model_file(tmp_path):
    with pytest.raises(ValueError, match=r'Whitening\(method="pca"\)'):
        PCA(2, whiten=True).fit(IRIS).save(tmp_path / "model.safetensors")


def test_in_pipelines_and_searches():
    search = GridSearchCV(PCA(), {"n_components": [1, 2, 3]}, cv=3).fit(IRIS)
    theirs = GridSearchCV(decomposition.PCA(), {"n_components": [1, 2, 3]}, cv=3).fit(IRIS)
    assert search.best_params_ == theirs.best_params_
    assert_allclose(search.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], rtol=1e-8)


def test_threads_do_not_matter():
    one, two = PCA(5, n_jobs=1).fit(DIGITS), PCA(5, n_jobs=2).fit(DIGITS)
    assert_array_equal(one.components_, two.components_)
    assert_array_equal(one.transform(DIGITS), two.transform(DIGITS))


def test_noise_variance_with_weights_of_a_small_sum():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(20, 4)) * [3.0, 2.0, 1.5, 1.0]
    weights = rng.uniform(0.5, 1.0, 20)
    weights *= 2.0 / weights.sum()
    pca = PCA(n_components=2).fit(X, sample_weight=weights)
    centered = X - weights @ X / weights.sum()
    values = np.linalg.eigvalsh((centered.T * weights) @ centered / (weights.sum() - 1.0))
    # Sums of twenty products of size 10.
    assert pca.noise_variance_ == pytest.approx(values[:2].mean(), rel=1e-12)
