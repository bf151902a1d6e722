"""Whitening against the formulas (P15) to (P22) of the theory in NumPy."""

import pickle

import eigenlift
import numpy as np
import pandas as pd
import polars as pl
import pytest
from eigenlift import EigenliftWarning, Whitening
from numpy.testing import assert_allclose, assert_array_equal
from scipy import linalg, sparse
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA as SklearnPCA

IRIS = load_iris().data
METHODS = ["zca", "pca", "cholesky", "zca-cor", "pca-cor"]


def mixed(n=300, d=6):
    rng = np.random.RandomState(0)
    return rng.randn(n, d) @ rng.randn(d, d) + np.arange(d)


def deficient():
    rng = np.random.RandomState(1)
    return rng.randn(80, 3) @ rng.randn(3, 7) + 2.0


def covariance(X, weights=None):
    return np.cov(X, rowvar=False, bias=True, fweights=weights)


def inverse_root(matrix):
    values, vectors = np.linalg.eigh(matrix)
    return (vectors / np.sqrt(values)) @ vectors.T


def axes(matrix):
    """Eigenvalues, largest first, and eigenvectors as rows, the largest entry positive."""
    values, vectors = np.linalg.eigh(matrix)
    values, vectors = values[::-1], vectors[:, ::-1].T
    largest = np.abs(vectors).argmax(axis=1)
    return values, vectors * np.sign(vectors[np.arange(len(vectors)), largest])[:, None]


def formula(method, C, ridge=0.0):
    """W of full rank, by the formulas."""
    identity = np.eye(len(C))
    if method == "cholesky":
        return np.linalg.cholesky(np.linalg.inv(C + ridge * identity)).T
    roots = np.sqrt(np.diag(C)) if method.endswith("cor") else np.ones(len(C))
    P = C / np.outer(roots, roots)
    if method.startswith("zca"):
        return inverse_root(P + ridge * identity) / roots
    values, vectors = axes(P)
    return vectors / np.sqrt(values + ridge)[:, None] / roots


@pytest.mark.parametrize("ridge", [0.0, 0.1])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("X", [mixed(), IRIS], ids=["mixed", "iris"])
def test_formulas(X, method, ridge):
    W = formula(method, covariance(X), ridge)
    whitening = Whitening(method=method, ridge=ridge).fit(X)
    Z = whitening.transform(X)
    assert_allclose(whitening.whitening_matrix_, W, atol=1e-9)
    assert_allclose(Z, (X - X.mean(axis=0)) @ W.T, atol=1e-9)
    assert_allclose(whitening.inverse_transform(Z), X, atol=1e-9)
    assert_allclose(whitening.mean_, X.mean(axis=0), rtol=1e-12)
    assert whitening.rank_ == X.shape[1]
    if ridge == 0:
        assert_allclose(covariance(Z), np.eye(X.shape[1]), atol=1e-9)
        assert whitening.statement_ == f"all {X.shape[1]} directions are whitened"
    else:
        assert "ridge" in whitening.statement_


@pytest.mark.parametrize("method", METHODS)
def test_distance_is_how_far_rows_move(method):
    X = mixed()
    whitening = Whitening(method=method).fit(X)
    centred = (X - X.mean(axis=0)) / (X.std(axis=0) if method.endswith("cor") else 1.0)
    moved = ((whitening.transform(X) - centred) ** 2).sum(axis=1).mean()
    assert_allclose(whitening.distance_, moved, rtol=1e-9)


def test_zca_moves_rows_least():
    distances = {method: Whitening(method=method).fit(mixed()).distance_ for method in ["zca", "pca", "cholesky"]}
    assert min(distances, key=distances.get) == "zca"


def test_variances_are_divided_by_n():
    X = mixed()
    values, vectors = axes(covariance(X))
    whitening = Whitening(method="pca").fit(X)
    assert_allclose(whitening.explained_variance_, values, rtol=1e-10)
    assert_allclose(whitening.components_, vectors, atol=1e-9)
    whitened = SklearnPCA(whiten=True).fit_transform(X)
    assert_allclose(whitening.transform(X), whitened * np.sqrt(len(X) / (len(X) - 1)), atol=1e-9)


@pytest.mark.parametrize("method", ["zca", "pca", "zca-cor", "pca-cor"])
def test_directions_without_variance_are_left_out(method):
    X = deficient()
    with pytest.warns(EigenliftWarning, match="rank 3 of 7"):
        whitening = Whitening(method=method).fit(X)
    Z = whitening.transform(X)
    assert whitening.rank_ == 3
    assert Z.shape[1] == (3 if method.startswith("pca") else 7)
    expected = np.eye(3) if method.startswith("pca") else whitening.components_.T @ whitening.components_
    assert_allclose(covariance(Z), expected, atol=1e-9)
    assert_allclose(whitening.inverse_transform(Z), X, atol=1e-9)
    assert_allclose(Z, (X - X.mean(axis=0)) @ whitening.whitening_matrix_.T, atol=1e-9)


def test_cholesky_of_deficient_rows_needs_a_ridge():
    X = deficient()
    with pytest.raises(ValueError, match="ridge"):
        Whitening(method="cholesky").fit(X)
    with pytest.warns(EigenliftWarning, match="ridge"):
        whitening = Whitening(method="cholesky", ridge=0.5).fit(X)
    W = formula("cholesky", covariance(X), 0.5)
    assert_allclose(whitening.whitening_matrix_, W, atol=1e-9)
    assert_allclose(whitening.transform(X), (X - X.mean(axis=0)) @ W.T, atol=1e-9)


@pytest.mark.parametrize("method", ["zca", "pca"])
def test_few_directions(method):
    X = mixed()
    values, vectors = axes(covariance(X))
    W = vectors[:2] / np.sqrt(values[:2])[:, None]
    if method == "zca":
        W = vectors[:2].T @ W
    whitening = Whitening(2, method=method).fit(X)
    assert whitening.rank_ == 2
    assert_allclose(whitening.whitening_matrix_, W, atol=1e-9)
    assert_allclose(whitening.transform(X), (X - X.mean(axis=0)) @ W.T, atol=1e-9)
    kept = (X - X.mean(axis=0)) @ vectors[:2].T @ vectors[:2] + X.mean(axis=0)
    assert_allclose(whitening.inverse_transform(whitening.transform(X)), kept, atol=1e-9)


def test_wide_rows():
    X = np.random.RandomState(0).randn(15, 200)
    with pytest.warns(EigenliftWarning, match="rank 14 of 200"):
        whitening = Whitening().fit(X)
    basis = linalg.orth((X - X.mean(axis=0)).T)
    assert_allclose(covariance(whitening.transform(X)), basis @ basis.T, atol=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_weights_count_rows(method):
    X = mixed(60)
    weights = np.random.RandomState(0).randint(0, 4, len(X))
    ours = Whitening(method=method).fit(X, sample_weight=weights)
    repeated = np.repeat(X, weights, axis=0)
    assert_allclose(ours.transform(X), Whitening(method=method).fit(repeated).transform(X), atol=1e-9)
    assert_allclose(covariance(ours.transform(X), weights), np.eye(6), atol=1e-9)
    assert ours.n_samples_ == weights.sum()


def test_sparse_rows_and_single_precision():
    X = mixed()
    X[np.abs(X) < 1] = 0
    ours = Whitening().fit(X)
    assert_allclose(Whitening().fit(sparse.csr_array(X)).transform(sparse.csc_array(X)), ours.transform(X), atol=1e-8)
    single = X.astype(np.float32)
    other = Whitening().fit(single)
    assert other.components_.dtype == other.mean_.dtype == other.whitening_matrix_.dtype == np.float32
    Z = other.transform(single)
    assert Z.dtype == other.inverse_transform(Z).dtype == np.float32
    assert_allclose(Z, ours.transform(X), atol=1e-3)


@pytest.mark.parametrize("method", METHODS)
def test_saved_loaded_and_pickled(tmp_path, method):
    frame = pd.DataFrame(IRIS, columns=["a", "b", "c", "d"])
    ours = Whitening(None if method == "cholesky" else 3, method=method, ridge=0.01).fit(frame)
    ours.save(tmp_path / "model.safetensors")
    for other in [eigenlift.load(tmp_path / "model.safetensors"), pickle.loads(pickle.dumps(ours))]:
        assert isinstance(other, Whitening)
        assert {k: v for k, v in other.get_params().items()} == ours.get_params()
        Z = ours.transform(frame)
        assert_array_equal(other.transform(frame), Z)
        assert_array_equal(other.inverse_transform(Z), ours.inverse_transform(Z))
        for name in ["mean_", "components_", "explained_variance_", "whitening_matrix_", "feature_names_in_"]:
            assert_array_equal(getattr(other, name), getattr(ours, name), err_msg=name)
        for name in ["rank_", "statement_", "distance_", "n_samples_", "n_features_in_"]:
            assert getattr(other, name) == getattr(ours, name), name
        assert_array_equal(other.get_feature_names_out(), ours.get_feature_names_out())


def test_names_and_tables():
    frame = pd.DataFrame(IRIS, columns=["a", "b", "c", "d"])
    ours = Whitening(2, method="pca").fit(frame)
    assert_array_equal(ours.get_feature_names_out(), ["whitening0", "whitening1"])
    assert len(Whitening().fit(frame).get_feature_names_out()) == 4
    for kind, library in [("pandas", pd), ("polars", pl)]:
        table = Whitening(2, method="pca").set_output(transform=kind).fit_transform(frame)
        assert isinstance(table, library.DataFrame)
        assert list(table.columns) == ["whitening0", "whitening1"]
        assert_allclose(table.to_numpy(), ours.transform(frame), atol=1e-12)


def test_plan_and_certificate():
    ours = Whitening(memory="1GiB").fit(IRIS)
    assert (ours.plan_.n_samples, ours.plan_.n_features) == (150, 4)
    assert ours.plan_.bytes_allowed == 2**30
    assert 0 <= ours.certificate_.worst_residual < 1e-12
    values = np.linalg.eigvalsh(covariance(IRIS) * 150)[::-1]
    for value, interval in zip(values, ours.certificate_.intervals, strict=True):
        assert interval["low"] <= value * (1 + 1e-12) and value * (1 - 1e-12) <= interval["high"]


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"method": "blue"}, "'method' parameter of Whitening must be a str among"),
        ({"ridge": -1.0}, r"'ridge' parameter of Whitening must be a float in the range \[0.0, inf\)"),
        ({"n_components": 0}, r"'n_components' parameter of Whitening must be an int in the range \[1, inf\) or None"),
        ({"n_components": 2, "method": "cholesky"}, "its triangle needs all columns"),
    ],
)
def test_parameters_are_checked(parameters, words):
    with pytest.raises(ValueError, match=words):
        Whitening(**parameters).fit(IRIS)


def test_rows_that_all_look_the_same_cannot_be_whitened():
    with pytest.raises(ValueError, match="look the same"):
        Whitening().fit(np.ones((5, 3)))
