"""IncrementalPCA against scikit-learn's PCA of all rows at once, whatever the pieces."""

import pickle
import warnings

import eigenlift
import numpy as np
import pandas as pd
import polars as pl
import pytest
from eigenlift import PCA, IncrementalPCA
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn import decomposition
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

IRIS = load_iris().data
DIGITS = load_digits().data
SOLVED = [
    "components_",
    "explained_variance_",
    "explained_variance_ratio_",
    "singular_values_",
    "noise_variance_",
    "mean_",
]


def faint():
    """Columns whose deviations fall to 1e-10 of the first."""
    rng = np.random.RandomState(0)
    return rng.randn(400, 11) * 10.0 ** -np.arange(11) @ np.linalg.qr(rng.randn(11, 11))[0]


def in_pieces(estimator, X, n_pieces):
    for piece in np.array_split(X, n_pieces):
        estimator.partial_fit(piece)
    return estimator


def same_as_all_rows(ours, X, rtol=1e-8, atol=1e-9):
    theirs = decomposition.PCA(ours.n_components_, svd_solver="full").fit(X)
    for name in SOLVED:
        assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=rtol, atol=atol, err_msg=name)
    assert ours.n_samples_seen_ == len(X)
    assert_allclose(ours.var_, X.var(axis=0), rtol=1e-10, atol=1e-12)
    assert_allclose(ours.transform(X), theirs.transform(X), atol=1e-7)


@pytest.mark.parametrize("n_pieces", [1, 3, 40])
@pytest.mark.parametrize("X", [IRIS, DIGITS], ids=["iris", "digits"])
def test_pieces_do_not_matter(X, n_pieces):
    same_as_all_rows(in_pieces(IncrementalPCA(3), X, n_pieces), X)


@pytest.mark.parametrize("batch_size", [None, 10, 71])
def test_fit_is_exact_for_any_batch_size(batch_size):
    ours = IncrementalPCA(3, batch_size=batch_size).fit(DIGITS)
    same_as_all_rows(ours, DIGITS)
    assert ours.batch_size_ == (batch_size or 5 * 64)
    assert_array_equal(ours.components_, IncrementalPCA(3).fit(DIGITS).components_)


@pytest.mark.parametrize("route", ["covariance", "tsqr"])
def test_many_columns_and_routes(route):
    X = np.random.RandomState(1).randn(150, 90) * np.linspace(4, 1, 90)
    ours = in_pieces(IncrementalPCA(5, route=route), X, 7)
    assert ours.plan_.route == route
    same_as_all_rows(ours, X)


def test_single_rows_after_the_first_piece():
    ours = IncrementalPCA(2).partial_fit(IRIS[:2])
    for row in IRIS[2:]:
        ours.partial_fit(row[None])
    same_as_all_rows(ours, IRIS)


def test_a_single_row_first():
    ours = IncrementalPCA(1).partial_fit(IRIS[:1])
    with pytest.warns(eigenlift.EigenliftWarning, match="1 row has no variance"):
        assert_array_equal(ours.singular_values_, [0.0])
    assert_array_equal(ours.transform(IRIS[:1]), [[0.0]])
    same_as_all_rows(ours.partial_fit(IRIS[1:]), IRIS)


def test_faint_components_keep_their_digits():
    X = faint()
    ours = in_pieces(IncrementalPCA(), X, 8)
    theirs = decomposition.PCA(svd_solver="full").fit(X)
    assert_allclose(ours.singular_values_, theirs.singular_values_, rtol=1e-4)


def test_components_are_as_many_as_scikit_learn_has():
    X = np.random.RandomState(0).randn(100, 20)
    for batch_size in [7, 20, 50, None]:
        ours = IncrementalPCA(batch_size=batch_size).fit(X)
        theirs = decomposition.IncrementalPCA(batch_size=batch_size).fit(X)
        assert ours.components_.shape == theirs.components_.shape
        assert ours.n_components_ == theirs.n_components_


def test_fit_keeps_no_more_components_than_rows():
    X = np.random.RandomState(0).randn(4, 9)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = decomposition.IncrementalPCA(6).fit(X)
    ours = IncrementalPCA(6).fit(X)
    assert_allclose(ours.singular_values_, theirs.singular_values_, atol=1e-12)
    assert ours.transform(X).shape == theirs.transform(X).shape == (4, 4)


def test_directions_without_variance_complete_the_components():
    rng = np.random.RandomState(0)
    X = rng.randn(50, 3) @ rng.randn(3, 8)
    ours = in_pieces(IncrementalPCA(6), X, 4)
    assert_allclose(ours.components_ @ ours.components_.T, np.eye(6), atol=1e-12)
    assert_allclose(ours.explained_variance_, PCA(6).fit(X).explained_variance_, atol=1e-12)
    assert_array_equal(ours.explained_variance_[3:], 0.0)


def test_constant_rows():
    ours = IncrementalPCA(2).partial_fit(np.ones((4, 3)))
    with pytest.warns(eigenlift.EigenliftWarning, match="All scores are 0"):
        assert_array_equal(ours.explained_variance_, [0.0, 0.0])
    assert_array_equal(ours.var_, np.zeros(3))
    assert (ours.plan_["n_samples"], ours.plan_["route"]) == (4, "none")
    with pytest.raises(ValueError, match="at least one component"):
        ours.save("nowhere.safetensors")


def test_nothing_is_solved_before_it_is_asked_for(monkeypatch):
    solved = []
    original = IncrementalPCA._solve
    monkeypatch.setattr(IncrementalPCA, "_solve", lambda self: solved.append(1) or original(self))
    ours = in_pieces(IncrementalPCA(2), DIGITS, 30)
    assert solved == []
    assert ours.components_ is ours.components_
    assert ours.explained_variance_.shape == (2,)
    assert solved == [1]


def test_not_fitted():
    ours = IncrementalPCA(2)
    for name in [*SOLVED, "plan_", "certificate_", "var_", "n_samples_seen_"]:
        assert not hasattr(ours, name), name
    with pytest.raises(NotFittedError):
        ours.transform(IRIS)
    with pytest.raises(NotFittedError):
        check_is_fitted(ours)
    check_is_fitted(ours.partial_fit(IRIS))


def test_fit_forgets_what_was_seen():
    ours = IncrementalPCA(2).partial_fit(IRIS * 3).fit(IRIS)
    same_as_all_rows(ours, IRIS)
    assert IncrementalPCA().fit(DIGITS).fit(IRIS).n_features_in_ == 4


def test_pickled_between_pieces():
    ours = IncrementalPCA(2).partial_fit(IRIS[:60])
    copy = pickle.loads(pickle.dumps(ours))
    copy.partial_fit(IRIS[60:])
    same_as_all_rows(copy, IRIS)
    assert_array_equal(copy.components_, ours.partial_fit(IRIS[60:]).components_)
    again = pickle.loads(pickle.dumps(copy))
    assert_array_equal(again.transform(IRIS), copy.transform(IRIS))


@pytest.mark.parametrize("container", [sparse.csr_matrix, sparse.csc_array, sparse.lil_matrix])
def test_sparse_rows(container):
    X = sparse.random(120, 30, density=0.2, random_state=0, format="csr")
    ours = IncrementalPCA(4, batch_size=25).fit(container(X))
    same_as_all_rows(ours, X.toarray())
    assert_allclose(ours.transform(container(X)), ours.transform(X.toarray()), atol=1e-10)
    with pytest.raises(TypeError) as error:
        ours.partial_fit(container(X))
    with pytest.raises(TypeError) as theirs:
        decomposition.IncrementalPCA(4).partial_fit(container(X))
    assert str(error.value) == str(theirs.value)


@pytest.mark.parametrize(
    "calls",
    [
        lambda pca: pca.set_params(n_components=5).fit(IRIS),
        lambda pca: pca.set_params(n_components=3).partial_fit(IRIS[:2]),
        lambda pca: pca.set_params(n_components=4).fit(IRIS[:3]).partial_fit(IRIS),
        lambda pca: pca.fit(IRIS).set_params(n_components=3).partial_fit(IRIS),
        lambda pca: pca.fit(IRIS).partial_fit(DIGITS),
        lambda pca: pca.set_params(n_components=0).fit(IRIS),
        lambda pca: pca.set_params(batch_size=0).fit(IRIS),
    ],
)
def test_errors_are_those_of_scikit_learn(calls):
    with pytest.raises(ValueError) as ours:
        calls(IncrementalPCA(2))
    with pytest.raises(ValueError) as theirs:
        calls(decomposition.IncrementalPCA(2))
    assert str(ours.value) == str(theirs.value)


def test_the_route_must_suit_pieces():
    with pytest.raises(ValueError, match="'route' parameter of IncrementalPCA must be a str among"):
        IncrementalPCA(route="krylov").fit(IRIS)


def test_a_sketch_bounds_what_it_misses():
    X = np.random.RandomState(0).randn(500, 150) * np.linspace(5, 0.1, 150)
    ours = in_pieces(IncrementalPCA(3, route="directions"), X, 10)
    exact = np.linalg.eigvalsh((X - X.mean(axis=0)).T @ (X - X.mean(axis=0)))[::-1]
    for value, interval in zip(exact, ours.certificate_.intervals, strict=False):
        assert interval["low"] <= value <= interval["high"]
    assert ours.plan_.route == "directions"


@pytest.mark.parametrize("whiten", [False, True])
def test_single_precision_and_whitening(whiten):
    X = DIGITS.astype(np.float32)
    ours = in_pieces(IncrementalPCA(5, whiten=whiten), X, 4)
    theirs = decomposition.PCA(5, whiten=whiten, svd_solver="full").fit(DIGITS)
    assert ours.components_.dtype == ours.explained_variance_.dtype == np.float32
    assert ours.transform(X).dtype == np.float32
    assert_allclose(ours.transform(X), theirs.transform(DIGITS), atol=1e-3)
    assert in_pieces(IncrementalPCA(5), DIGITS, 2).transform(DIGITS).dtype == np.float64


def test_probabilistic_model():
    ours, theirs = IncrementalPCA(2).fit(IRIS), decomposition.PCA(2).fit(IRIS)
    assert_allclose(ours.get_covariance(), theirs.get_covariance(), atol=1e-10)
    assert_allclose(ours.get_precision(), theirs.get_precision(), rtol=1e-8)
    assert_allclose(ours.inverse_transform(ours.transform(IRIS)), theirs.inverse_transform(theirs.transform(IRIS)))


def test_rows_that_were_checked_by_the_caller():
    ours = IncrementalPCA(2).partial_fit(IRIS[:70], check_input=False).partial_fit(IRIS[70:], check_input=False)
    same_as_all_rows(ours, IRIS)


def test_rows_are_not_written_to():
    X = IRIS.copy()
    IncrementalPCA(2, copy=False).partial_fit(X).fit(X)
    assert_array_equal(X, IRIS)


def test_names_and_tables():
    frame = pd.DataFrame(IRIS, columns=["a", "b", "c", "d"])
    ours = IncrementalPCA(2).partial_fit(frame)
    assert_array_equal(ours.feature_names_in_, ["a", "b", "c", "d"])
    assert_array_equal(ours.get_feature_names_out(), ["incrementalpca0", "incrementalpca1"])
    for kind, library in [("pandas", pd), ("polars", pl)]:
        table = IncrementalPCA(2).set_output(transform=kind).fit_transform(frame)
        assert isinstance(table, library.DataFrame)
        assert_allclose(table.to_numpy(), ours.transform(frame), atol=1e-12)


@pytest.mark.parametrize("precision", [np.float64, np.float32])
def test_saved_model_is_one_of_pca(tmp_path, precision):
    X = IRIS.astype(precision)
    ours = in_pieces(IncrementalPCA(2), X, 5)
    ours.save(tmp_path / "model.safetensors")
    loaded = eigenlift.load(tmp_path / "model.safetensors")
    assert isinstance(loaded, PCA)
    assert_array_equal(loaded.transform(X), ours.transform(X))
    for name in SOLVED[:-1]:
        assert_array_equal(getattr(loaded, name), getattr(ours, name), err_msg=name)
    with pytest.raises(ValueError, match="Whitening"):
        IncrementalPCA(2, whiten=True).fit(IRIS).save(tmp_path / "other.safetensors")


def test_full_rank_rows_warn_of_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        in_pieces(IncrementalPCA(), IRIS, 3).transform(IRIS)
