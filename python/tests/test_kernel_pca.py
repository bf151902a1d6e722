"""Kernel PCA against scikit-learn's on the same rows, and against NumPy where scikit-learn has nothing."""

import copy
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from eigenlift import EigenliftError, EigenliftWarning, KernelPCA
from eigenlift.kernels import RBF, Laplacian, Linear, Matern, Precomputed
from numpy.testing import assert_allclose, assert_array_equal
from scipy import linalg, sparse
from scipy.spatial.distance import cdist, pdist
from sklearn import decomposition
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, make_circles
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.metrics import pairwise
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

IRIS = load_iris().data
DIGITS = load_digits().data / 16
# All of scikit-learn's kernels, with numbers with which every one of them is well conditioned.
KERNELS = {
    "linear": {},
    "poly": {"degree": 2, "gamma": 0.3, "coef0": 2},
    "rbf": {"gamma": 0.1},
    "sigmoid": {"gamma": 0.01, "coef0": 0.1},
    "cosine": {},
}
SOLVERS = ["auto", "dense", "arpack", "randomized"]


def cloud(n=400, d=5, seed=0):
    """Rows whose components have eigenvalues well apart."""
    return np.random.RandomState(seed).randn(n, d) * np.linspace(2, 0.5, d) + 1.0


def centred(K):
    means = K.mean(axis=0)
    return K - means - means[:, None] + means.mean()


def pairs(K, k):
    """Eigenvalues and scores by NumPy, with scikit-learn's signs."""
    values, vectors = linalg.eigh(centred(K))
    values, vectors = values[::-1][:k], vectors[:, ::-1][:, :k]
    vectors *= np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(k)])
    return values, vectors * np.sqrt(values)


def same_fit(ours, theirs, X, new, rtol=1e-10, share=1e-6):
    """Eigenvalues, eigenvectors and scores of fitted estimators, signs included; `share` is of the largest score."""
    size = np.sqrt(theirs.eigenvalues_[0])
    assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=rtol, atol=1e-13 * theirs.eigenvalues_[0])
    there = theirs.eigenvalues_ > 1e-10 * theirs.eigenvalues_[0]
    assert_allclose(ours.eigenvectors_[:, there], theirs.eigenvectors_[:, there], atol=100 * share)
    assert_allclose(ours.transform(X), theirs.transform(X), atol=share * size)
    assert_allclose(ours.transform(new), theirs.transform(new), atol=share * size)
    assert ours.transform(new).dtype == theirs.transform(new).dtype


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("kernel", KERNELS)
def test_equals_scikit_learn(kernel, solver):
    X, new = cloud(), cloud(50, seed=1)
    ours = KernelPCA(4, kernel=kernel, eigen_solver=solver, random_state=0, **KERNELS[kernel])
    theirs = decomposition.KernelPCA(4, kernel=kernel, eigen_solver="dense", **KERNELS[kernel])
    scores = ours.fit_transform(X)
    assert_allclose(scores, theirs.fit_transform(X), atol=1e-9 * np.sqrt(theirs.eigenvalues_[0]))
    same_fit(ours, theirs, X, new, share=1e-9)
    assert ours.gamma_ == theirs.gamma_
    assert ours.certificate_.worst_residual < 1e-6


@pytest.mark.parametrize(("tol", "share"), [(0, 1e-6), (1e-12, 1e-9)])
@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf"])
def test_iterations_reach_the_tolerance(kernel, tol, share):
    X, new = DIGITS[:600], DIGITS[600:650]
    ours = KernelPCA(5, kernel=kernel, tol=tol).fit(X)
    theirs = decomposition.KernelPCA(5, kernel=kernel, eigen_solver="dense").fit(X)
    if kernel != "linear":
        assert ours.plan_.solver == "davidson"
    assert ours.n_iter_ >= 1
    same_fit(ours, theirs, X, new, share=share)
    assert ours.certificate_.worst_residual <= (tol or 1e-6)


@pytest.mark.parametrize("name", ["laplacian", "chi2", "additive_chi2"])
def test_other_kernels_of_scikit_learn(name):
    X, new = np.abs(cloud(120)), np.abs(cloud(20, seed=1))
    ours = KernelPCA(3, kernel=name).fit(X)
    values, scores = pairs(pairwise.pairwise_kernels(X, metric=name), 3)
    theirs = decomposition.KernelPCA(3, kernel="precomputed").fit(pairwise.pairwise_kernels(X, metric=name))
    assert_allclose(ours.eigenvalues_, values, rtol=1e-10)
    assert_allclose(ours.transform(X), scores, atol=1e-9)
    assert_allclose(ours.transform(new), theirs.transform(pairwise.pairwise_kernels(new, X, metric=name)), atol=1e-9)


def test_precomputed():
    X, new = cloud(), cloud(30, seed=1)
    K = pairwise.rbf_kernel(X, gamma=0.1)
    theirs = decomposition.KernelPCA(4, kernel="precomputed").fit(K)
    for kernel in ["precomputed", Precomputed()]:
        ours = KernelPCA(4, kernel=kernel).fit(K)
        same_fit(ours, theirs, K, pairwise.rbf_kernel(new, X, gamma=0.1))
    by_rows = KernelPCA(4, kernel="rbf", gamma=0.1).fit(X)
    assert_allclose(ours.transform(K), by_rows.transform(X), atol=1e-9)
    with pytest.raises(ValueError, match="Cannot fit_inverse_transform with a precomputed kernel"):
        KernelPCA(kernel="precomputed", fit_inverse_transform=True).fit(K)
    with pytest.raises(ValueError, match="square"):
        KernelPCA(kernel="precomputed").fit(K[:, :-1])


def histogram(x, y, power=1):
    """A kernel that scikit-learn does not have."""
    return np.minimum(x, y).sum() ** power


def test_functions_with_parameters():
    X, new = np.abs(cloud(60)), np.abs(cloud(10, seed=1))
    for params in [None, {"power": 2}]:
        parameters = {"kernel": histogram, "kernel_params": params}
        ours, theirs = KernelPCA(3, **parameters).fit(X), decomposition.KernelPCA(3, **parameters).fit(X)
        same_fit(ours, theirs, X, new)
        assert_allclose(pickle.loads(pickle.dumps(ours)).transform(new), theirs.transform(new), atol=1e-9)


def test_parameters_of_functions_are_for_functions_alone():
    ours, theirs = (
        each(3, kernel="rbf", kernel_params={"gamma": 2.0}) for each in (KernelPCA, decomposition.KernelPCA)
    )
    assert_allclose(ours.fit(IRIS).eigenvalues_, theirs.fit(IRIS).eigenvalues_, rtol=1e-10)


@pytest.mark.parametrize("form", [sparse.csr_matrix, sparse.csr_array, sparse.csc_matrix, sparse.coo_array])
@pytest.mark.parametrize("kernel", KERNELS)
def test_sparse_rows(kernel, form):
    X = DIGITS[:150] * (DIGITS[:150] > 0.5)
    new = X[:20][::-1] * 1.1
    ours = KernelPCA(4, kernel=kernel, **KERNELS[kernel]).fit(form(X))
    theirs = decomposition.KernelPCA(4, kernel=kernel, **KERNELS[kernel]).fit(sparse.csr_matrix(X))
    same_fit(ours, theirs, form(X), form(new))
    assert_allclose(ours.transform(new), theirs.transform(new), atol=1e-9 * np.sqrt(theirs.eigenvalues_[0]))


@pytest.mark.parametrize("kernel", KERNELS)
def test_single_precision(kernel):
    X, new = cloud(200).astype(np.float32), cloud(30, seed=1).astype(np.float32)
    ours = KernelPCA(3, kernel=kernel, **KERNELS[kernel]).fit(X)
    theirs = decomposition.KernelPCA(3, kernel=kernel, **KERNELS[kernel]).fit(X)
    for name in ["eigenvalues_", "eigenvectors_", "X_fit_"]:
        assert getattr(ours, name).dtype == getattr(theirs, name).dtype == np.float32, name
    same_fit(ours, theirs, X, new, rtol=1e-4, share=1e-4)


@pytest.mark.parametrize("fitted", [np.float64, np.float32])
@pytest.mark.parametrize("given", [np.float64, np.float32])
def test_mixed_precisions(fitted, given):
    X, new = cloud(100), cloud(20, seed=1).astype(given)
    parameters = {"kernel": "rbf", "fit_inverse_transform": True}
    ours, theirs = (each(3, **parameters).fit(X.astype(fitted)) for each in (KernelPCA, decomposition.KernelPCA))
    scores, expected = ours.transform(new), theirs.transform(new)
    assert_allclose(scores, expected, atol=1e-4)
    assert scores.dtype == expected.dtype
    assert ours.inverse_transform(expected).dtype == theirs.inverse_transform(expected).dtype


def test_numbers_of_components():
    X = IRIS[:60]
    for kernel in ["linear", "poly", "rbf"]:
        for n_components in [None, 1, 3, 200]:
            for remove in [False, True]:
                parameters = {"n_components": n_components, "kernel": kernel, "remove_zero_eig": remove}
                ours, theirs = KernelPCA(**parameters).fit(X), decomposition.KernelPCA(**parameters).fit(X)
                case = str(parameters)
                if kernel == "rbf":  # eigenvalues fall below the limit of zero too gently for both to agree on one
                    assert abs(ours.eigenvalues_.size - theirs.eigenvalues_.size) <= 1, case
                else:
                    assert ours.eigenvalues_.shape == theirs.eigenvalues_.shape, case
                size = min(ours.eigenvalues_.size, theirs.eigenvalues_.size)
                scale = theirs.eigenvalues_[0]
                assert_allclose(ours.eigenvalues_[:size], theirs.eigenvalues_[:size], atol=1e-11 * scale, err_msg=case)
                assert ours.transform(X).shape == (60, ours.eigenvalues_.size)
                basis = ours.eigenvectors_
                assert_allclose(basis.T @ basis, np.eye(basis.shape[1]), atol=1e-9, err_msg=case)


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf"])
@pytest.mark.parametrize("given", [KernelPCA, decomposition.KernelPCA])
def test_faint_components_of_the_rows_themselves(given, kernel):
    fitted = given(kernel=kernel)
    scores = fitted.fit_transform(IRIS[:60])
    # What rounding of the matrix does to a score.
    rounding = np.finfo(float).eps * fitted.eigenvalues_[0] / np.sqrt(fitted.eigenvalues_)
    assert (np.abs(fitted.transform(IRIS[:60]) - scores).max(axis=0) < 1000 * rounding).all()


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
@pytest.mark.parametrize("alpha", [1.0, 1e-3])
def test_the_way_back(kernel, alpha):
    X, new = cloud(150), cloud(20, seed=1)
    parameters = {"kernel": kernel, "alpha": alpha, "fit_inverse_transform": True, **KERNELS[kernel]}
    ours, theirs = KernelPCA(4, **parameters).fit(X), decomposition.KernelPCA(4, **parameters).fit(X)
    assert_allclose(ours.X_transformed_fit_, theirs.X_transformed_fit_, atol=1e-8)
    size = np.abs(theirs.dual_coef_).max()
    assert_allclose(ours.dual_coef_, theirs.dual_coef_, atol=1e-8 * max(size, 1))
    scores = theirs.transform(new)
    assert_allclose(ours.inverse_transform(scores), theirs.inverse_transform(scores), rtol=1e-8, atol=1e-8)
    assert ours.inverse_transform(scores.astype(np.float32)).shape == new.shape


def test_the_way_back_must_be_learned():
    ours = KernelPCA(2).fit(IRIS)
    theirs = decomposition.KernelPCA(2).fit(IRIS)
    with pytest.raises(NotFittedError) as expected:
        theirs.inverse_transform(theirs.transform(IRIS))
    with pytest.raises(NotFittedError) as raised:
        ours.inverse_transform(ours.transform(IRIS))
    assert str(raised.value) == str(expected.value)
    with pytest.raises(NotImplementedError, match="sparse"):
        KernelPCA(2, fit_inverse_transform=True).fit(sparse.csr_matrix(IRIS))


@pytest.mark.parametrize(
    "parameters",
    [
        {"n_components": 0},
        {"n_components": 2.5},
        {"gamma": -1.0},
        {"degree": -1},
        {"coef0": "a"},
        {"coef0": np.inf},
        {"gamma": np.inf},
        {"degree": np.inf},
        {"alpha": np.inf},
        {"tol": np.inf},
        {"alpha": -1},
        {"fit_inverse_transform": "tree"},
        {"eigen_solver": "blue"},
        {"tol": -1.0},
        {"max_iter": 0},
        {"iterated_power": -1},
        {"remove_zero_eig": 2},
        {"copy_X": "no"},
        {"kernel": "blue"},
        {"kernel": 3},
    ],
)
def test_parameters_that_scikit_learn_refuses(parameters):
    name = next(iter(parameters))
    with pytest.raises(ValueError, match=f"The '{name}' parameter of KernelPCA must be"):
        decomposition.KernelPCA(**parameters).fit(IRIS)
    with pytest.raises(ValueError, match=f"The '{name}' parameter of KernelPCA must be .*Got "):
        KernelPCA(**parameters).fit(IRIS)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"rank": 0}, "'rank' parameter of KernelPCA must be an int in the range"),
        ({"error": 0.0}, "'error' parameter of KernelPCA must be a float in the range"),
        ({"approximation": "blue"}, "'approximation' parameter of KernelPCA must be a str among"),
        ({"repair": "blue"}, "'repair' parameter of KernelPCA must be a str among"),
        ({"memory": "much"}, "'memory' parameter of KernelPCA must be a number of bytes"),
        ({"kernel": "rbf(gamma=1)", "gamma": 2.0}, "gamma of KernelPCA cannot be given together with the kernel"),
        ({"kernel": "rbf(gamma=-1)"}, "gamma"),
        ({"kernel": "rbf", "approximation": "tensorsketch"}, "(?i)polynomial"),
        ({"kernel": "linear", "approximation": "fourier"}, "(?i)fourier"),
    ],
)
def test_parameters_of_ours_that_are_refused(parameters, words):
    with pytest.raises(ValueError, match=words):
        KernelPCA(**parameters).fit(IRIS)


def test_negative_eigenvalues():
    K = np.diag([4.0, 3.0, 2.0, -3.5]) + 0.1
    values = linalg.eigvalsh(centred(K))[::-1]
    assert values.min() < -1
    with pytest.raises(ValueError, match="There are significant negative eigenvalues"):
        decomposition.KernelPCA(kernel="precomputed").fit(K)
    with pytest.raises(ValueError, match="There are significant negative eigenvalues"):
        KernelPCA(kernel="precomputed").fit(K)
    with pytest.raises(EigenliftError, match="(?i)negative"):
        KernelPCA(kernel="precomputed", repair="refuse").fit(K)
    clipped = KernelPCA(kernel="precomputed", repair="clip").fit(K)
    assert_allclose(clipped.eigenvalues_, values[values > 1e-9], rtol=1e-10)
    flipped = KernelPCA(3, kernel="precomputed", repair="flip").fit(K)
    assert_allclose(np.abs(flipped.eigenvalues_), np.sort(np.abs(values))[::-1][:3], rtol=1e-10)
    for ours in [clipped, flipped]:
        assert_allclose(ours.transform(K), ours.fit_transform(K), atol=1e-9)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_duplicates_and_constant_rows(kernel):
    X = np.repeat(cloud(40), 3, axis=0)
    ours, theirs = KernelPCA(3, kernel=kernel).fit(X), decomposition.KernelPCA(3, kernel=kernel).fit(X)
    assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-10)
    # The largest entry is there three times, so rounding decides the sign.
    assert_allclose(np.abs(ours.transform(X)), np.abs(theirs.transform(X)), atol=1e-8)
    assert_allclose(ours.transform(X[::3]), ours.transform(X[1::3]), atol=1e-12)
    constant = np.full((6, 3), 2.5)
    with pytest.warns(EigenliftWarning, match="All scores are 0"):
        ours = KernelPCA(2, kernel=kernel).fit(constant)
    assert ours.plan_["n_samples"] == 6
    assert ours.certificate_["intervals"] == []
    assert_array_equal(ours.eigenvalues_, np.zeros(2))
    assert_array_equal(ours.transform(constant), np.zeros((6, 2)))
    assert_array_equal(ours.transform(X[:4, :3]), np.zeros((4, 2)))
    assert_array_equal(ours.explained_variance_ratio_, np.zeros(2))


def median_rate(X):
    return 1 / np.median(pdist(X, "sqeuclidean"))


@pytest.mark.parametrize(
    ("kernel", "matrix"),
    [
        ("rbf(gamma=0.3)", lambda X, Y: np.exp(-0.3 * cdist(X, Y, "sqeuclidean"))),
        (RBF(sigma=2), lambda X, Y: np.exp(-cdist(X, Y, "sqeuclidean") / 8)),
        (RBF(gamma=0.5) + 0.1 * Linear(), lambda X, Y: np.exp(-0.5 * cdist(X, Y, "sqeuclidean")) + 0.1 * X @ Y.T),
        ("poly(2,gamma=1/d) * cosine", lambda X, Y: (X @ Y.T / 5 + 1) ** 2 * pairwise.cosine_similarity(X, Y)),
        (Laplacian(gamma=0.2), lambda X, Y: np.exp(-0.2 * cdist(X, Y, "cityblock"))),
        (Matern(nu=0.5, length=3), lambda X, Y: np.exp(-cdist(X, Y) / 3)),
        ("map(x1, x2^2, x1*x3)", lambda X, Y: mapped(X) @ mapped(Y).T),
        ("expr(1 + x1*y1 + x2^2*y2^2)", lambda X, Y: 1 + np.outer(X[:, 0], Y[:, 0]) + np.outer(X[:, 1], Y[:, 1]) ** 2),
    ],
    ids=str,
)
def test_kernels_of_ours(kernel, matrix):
    X, new = cloud(150), cloud(20, seed=1)
    k = 2 if "expr" in str(kernel) else 3
    ours = KernelPCA(k, kernel=kernel).fit(X)
    values, scores = pairs(matrix(X, X), k)
    assert_allclose(ours.eigenvalues_, values, rtol=1e-10)
    assert_allclose(ours.transform(X), scores, atol=1e-8)
    theirs = decomposition.KernelPCA(k, kernel="precomputed").fit(matrix(X, X))
    assert_allclose(ours.transform(new), theirs.transform(matrix(new, X)), atol=1e-8)


def mapped(X):
    return np.column_stack([X[:, 0], X[:, 1] ** 2, X[:, 0] * X[:, 2]])


def test_the_median_is_found_from_rows():
    X = cloud(60)
    ours = KernelPCA(3, kernel="rbf(gamma=median)").fit(X)
    found = float(ours.kernel_.removeprefix("rbf(gamma=").removesuffix(")"))
    assert_allclose(found, median_rate(X), rtol=0.05)
    theirs = decomposition.KernelPCA(3, kernel="rbf", gamma=found).fit(X)
    same_fit(ours, theirs, X, cloud(10, seed=1))
    assert KernelPCA(3, kernel=RBF()).fit(X).kernel_ == ours.kernel_


@pytest.mark.parametrize("parameters", [{}, {"rank": 60}, {"approximation": "fourier", "rank": 60}, {"tol": 1e-10}])
def test_same_bits_for_any_number_of_threads(parameters):
    X = cloud(700)
    fits = [KernelPCA(3, kernel="rbf", n_jobs=n_jobs, **parameters).fit(X) for n_jobs in (1, 2, 3)]
    for other in fits[1:]:
        assert_array_equal(other.eigenvalues_, fits[0].eigenvalues_)
        assert_array_equal(other.eigenvectors_, fits[0].eigenvectors_)
        assert_array_equal(other.transform(X), fits[0].transform(X))


def test_random_state():
    def fit(seed):
        return KernelPCA(2, kernel="rbf", approximation="uniform", rank=20, random_state=seed).fit(IRIS).landmarks_

    assert_array_equal(fit(3), fit(3))
    assert_array_equal(fit(np.random.RandomState(3)), fit(np.random.RandomState(3)))
    assert_array_equal(fit(None), fit(None))
    assert not np.array_equal(fit(3), fit(4))


@pytest.mark.parametrize("n", [100, 700])
def test_copies_of_rows(n):
    X, new = cloud(n), cloud(10, seed=1)
    expected = decomposition.KernelPCA(2, kernel="rbf").fit(X).transform(new)
    kept = KernelPCA(2, kernel="rbf", copy_X=False).fit(X)
    assert kept.X_fit_ is X
    changed = X.copy()
    copied = KernelPCA(2, kernel="rbf").fit(changed)
    changed[:] = 0
    assert not np.shares_memory(copied.X_fit_, changed)
    assert_allclose(copied.transform(new), expected, atol=1e-6)
    assert_allclose(kept.transform(new), expected, atol=1e-6)


def test_clone_and_copies():
    ours = KernelPCA(3, kernel=RBF(gamma=0.5) + Linear(), rank=20, memory="1GB", random_state=1)
    again = clone(ours)
    assert again.get_params() == ours.get_params()
    assert again.kernel is not ours.kernel
    ours.fit(IRIS)
    with pytest.raises(NotFittedError):
        again.transform(IRIS)
    for other in [again.fit(IRIS), copy.deepcopy(ours)]:
        assert_array_equal(other.transform(IRIS), ours.transform(IRIS))


def test_pipelines_and_searches():
    X, y = make_circles(n_samples=120, factor=0.3, noise=0.05, random_state=0)
    by_hand = Perceptron(max_iter=5, tol=None).fit(KernelPCA(2, kernel="rbf", gamma=2.0).fit_transform(X), y)
    steps = [("kpca", KernelPCA(2, kernel="rbf", gamma=2.0)), ("line", Perceptron(max_iter=5, tol=None))]
    pipeline = Pipeline(steps).fit(X, y)
    assert pipeline.score(X, y) == 1.0
    assert_array_equal(pipeline.named_steps["line"].coef_, by_hand.coef_)
    model = make_pipeline(KernelPCA(2, kernel="rbf"), LogisticRegression())
    theirs = make_pipeline(decomposition.KernelPCA(2, kernel="rbf"), LogisticRegression())
    gammas = {"kernelpca__gamma": [0.01, 0.1, 2.0]}
    search, expected = (GridSearchCV(each, gammas, cv=3).fit(X, y) for each in (model, theirs))
    assert_allclose(search.cv_results_["mean_test_score"], expected.cv_results_["mean_test_score"])
    kernels = {"kernelpca__kernel": [Linear(), RBF(gamma=2.0), Linear() + RBF(gamma=2.0)]}
    search = GridSearchCV(make_pipeline(KernelPCA(2), LogisticRegression()), kernels, cv=3).fit(X, y)
    assert search.best_params_["kernelpca__kernel"] != Linear()
    assert_allclose(search.cv_results_["mean_test_score"][1], expected.cv_results_["mean_test_score"][2])
    inside = {"kernelpca__kernel__gamma": [0.01, 0.1, 2.0]}
    model = make_pipeline(KernelPCA(2, kernel=RBF(gamma=1)), LogisticRegression())
    search = GridSearchCV(model, inside, cv=3).fit(X, y)
    assert_allclose(search.cv_results_["mean_test_score"], expected.cv_results_["mean_test_score"])


def test_names_tables_and_pictures():
    frame = pd.DataFrame(IRIS, columns=["a", "b", "c", "d"])
    ours = KernelPCA(2, kernel="rbf").fit(frame)
    theirs = decomposition.KernelPCA(2, kernel="rbf").fit(frame)
    assert_array_equal(ours.get_feature_names_out(), theirs.get_feature_names_out())
    assert_array_equal(ours.feature_names_in_, theirs.feature_names_in_)
    for kind, library in [("pandas", pd), ("polars", pl)]:
        pipeline = make_pipeline(StandardScaler(), KernelPCA(2, kernel="rbf")).set_output(transform=kind)
        table = pipeline.fit_transform(frame)
        assert isinstance(table, library.DataFrame)
        assert list(table.columns) == ["kernelpca0", "kernelpca1"]
        expected = make_pipeline(StandardScaler(), decomposition.KernelPCA(2, kernel="rbf")).fit_transform(frame)
        assert_allclose(table.to_numpy(), expected, atol=1e-9)
    assert "KernelPCA" in ours._repr_html_()
    assert repr(KernelPCA(2, kernel="rbf")) == "KernelPCA(kernel='rbf', n_components=2)"
