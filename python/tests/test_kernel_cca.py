"""Kernel canonical correlation: against a slow solution by definition, cca-zoo and scikit-learn, and what the estimator promises."""

import pickle

import eigenlift
import numpy as np
import pandas as pd
import pytest
from eigenlift import EigenliftWarning, KernelCCA
from eigenlift.kernels import RBF
from numpy.testing import assert_allclose, assert_array_equal
from scipy import linalg, sparse
from sklearn.base import clone
from sklearn.cross_decomposition import CCA
from sklearn.datasets import load_linnerud
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler


def table(number, n_columns, n_rows=40):
    """Rows by a formula, which share something with those of other numbers."""
    i, j = np.arange(n_rows)[:, None], np.arange(n_columns)
    noise = np.sin((1.7 + 0.61 * number) * (i + 1) * (j + 1) + 0.4 * j + number)
    shared, other = np.sin(0.9 * i + 0.3), np.cos(0.23 * i * i + 0.5)
    return noise + shared * np.cos(j + number) + 0.6 * other * np.sin(2 * j + number)


X, Y, Z = table(0, 3), table(1, 4), table(2, 3)
N = len(X)
# Plain correlations of the scores of cca-zoo 4.0.1 on these tables, KCCA with a shrinkage of 0.1.
ZOO = {
    ("CCA", 2): [0.6023438982016893, 0.5737383142860432, 0.13059313005371853],
    ("linear", 2): [0.6011001902290318, 0.5740682077786832, 0.13059789855485218],
    ("rbf", 2): [0.8330419616234311, 0.8341578232328848, 0.8494016595927344],
    ("linear", 3): [0.6980506787788152, 0.6022265597550388, 0.06255764464959462],
    ("rbf", 3): [0.8351776819826746, 0.7772984027077278, 0.6949169069526541],
}
# Its shrinkage c as our κ.
KAPPA = 0.1 / 0.9 * (N - 1) / N


# A choice at the end of what was tried is told.
pytestmark = pytest.mark.filterwarnings("ignore:the regularisation chosen:eigenlift.EigenliftWarning")


@pytest.fixture(scope="module")
def curved():
    """Tables that share a square, which no line sees."""
    random = np.random.default_rng(0)
    t = random.uniform(-1, 1, size=300)
    tables = [np.c_[part, random.normal(size=300)] + 0.05 * random.normal(size=(300, 2)) for part in (t, t**2)]
    return tables


def by_definition(grams, kappa, n_components):
    """ρ and scores from the dual problem: blocks KᵢKⱼ/n against Kᵢ²/n + κKᵢ, (C2)."""
    n, count = len(grams[0]), len(grams)
    centre = np.eye(n) - 1 / n
    factors = []
    for gram in grams:
        values, vectors = np.linalg.eigh(centre @ gram @ centre)
        kept = values > 1e-10 * values.max()
        factors.append(vectors[:, kept] * np.sqrt(values[kept]))
    wide, places = np.hstack(factors), np.cumsum([0, *(factor.shape[1] for factor in factors)])
    left = wide.T @ wide / n
    right = np.zeros_like(left)
    for a, b in zip(places[:-1], places[1:]):
        right[a:b, a:b] = left[a:b, a:b] + kappa * np.eye(b - a)
        left[a:b, a:b] = right[a:b, a:b]
    values, vectors = linalg.eigh(left, right)
    best = np.argsort(-values)[:n_components]
    scores = [factor @ vectors[a:b, best] for factor, a, b in zip(factors, places[:-1], places[1:])]
    return (values[best] - 1) / (count - 1), scores


def assert_same_up_to_scale(ours, theirs, tolerance=1e-8):
    """Columns are equal up to a factor."""
    assert ours.shape == theirs.shape
    ours, theirs = (scores - scores.mean(axis=0) for scores in (ours, theirs))
    cosines = np.sum(ours * theirs, axis=0) / np.linalg.norm(ours, axis=0) / np.linalg.norm(theirs, axis=0)
    assert_allclose(np.abs(cosines), 1, atol=tolerance)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
@pytest.mark.parametrize("n_tables", [2, 3])
def test_by_definition(kernel, n_tables):
    tables = (X, Y, Z)[:n_tables]
    of = {
        "linear": lambda rows: rows @ rows.T,
        "rbf": lambda rows: rbf_kernel(rows, gamma=0.4),
        "poly": lambda rows: polynomial_kernel(rows, degree=2, gamma=0.4),
    }[kernel]
    model = KernelCCA(3, kernel=kernel, gamma=0.4, degree=2, regularization=0.05).fit(*tables)
    correlations, scores = by_definition([of(rows) for rows in tables], 0.05, 3)
    assert_allclose(model.correlations_, correlations, atol=1e-8)
    assert model.n_views_ == len(model.scores_) == n_tables
    for ours, theirs in zip(model.scores_, scores):
        assert_same_up_to_scale(ours, theirs)
    assert_allclose(model.regularization_, [0.05] * n_tables)
    assert model.regularization_curve_ is None and model.p_values_ is None and model.null_95_ is None
    if n_tables == 2:
        # Without κ in the denominator.
        assert (model.training_correlations_ > model.correlations_).all()
    for scores, transformed in zip(model.scores_, model.transform(*tables)):
        assert_allclose(scores, transformed, atol=1e-12)


@pytest.mark.parametrize("name", ZOO)
def test_values_of_cca_zoo(name):
    kernel, n_tables = name
    settings = {"kernel": "linear", "regularization": 0} if kernel == "CCA" else {"kernel": kernel, "gamma": 0.4}
    model = KernelCCA(3, **{"regularization": KAPPA, **settings}).fit(*(X, Y, Z)[:n_tables])
    assert_allclose(model.training_correlations_, ZOO[name], atol=1e-8)
    if kernel == "CCA":
        assert_allclose(model.correlations_, ZOO[name], atol=1e-8)


@pytest.mark.parametrize("name", ZOO)
def test_cca_zoo_live(name):
    zoo = pytest.importorskip("cca_zoo.linear")
    kernel, n_tables = name
    tables, new = (
        (X, Y, Z)[:n_tables],
        [table(v, rows.shape[1], 60)[40:] for v, rows in enumerate((X, Y, Z)[:n_tables])],
    )
    if kernel == "CCA":
        theirs = zoo.CCA(n_components=3).fit(list(tables))
        ours = KernelCCA(3, regularization=0).fit(*tables)
    else:
        from cca_zoo.nonparametric import KCCA

        gamma = {"gamma": 0.4} if kernel == "rbf" else {}
        theirs = KCCA(n_components=3, kernel=kernel, shrinkage=0.1, **gamma).fit(list(tables))
        ours = KernelCCA(3, kernel=kernel, regularization=KAPPA, **gamma).fit(*tables)
    for rows in (tables, new):
        for mine, zoos in zip(ours.transform(*rows), theirs.transform(list(rows))):
            assert_same_up_to_scale(mine, zoos, 1e-7)


def test_scikit_learn():
    rows, targets = load_linnerud(return_X_y=True)
    theirs = CCA(n_components=2, scale=False, tol=1e-12, max_iter=10_000).fit(rows, targets)
    ours = KernelCCA(2, regularization=0).fit(rows, targets)
    for mine, scores in zip(ours.transform(rows, targets), theirs.transform(rows, targets)):
        assert_same_up_to_scale(mine, scores, 1e-6)
    assert_allclose(ours.score(rows, targets), np.mean(ours.training_correlations_), atol=1e-12)


def test_a_kernel_sees_what_a_line_does_not(curved):
    line = KernelCCA(1).fit(*curved)
    assert line.held_out_correlations_[0] < 0.3
    model = KernelCCA(2, kernel="rbf", gamma=0.5, n_permutations=99, random_state=3).fit(*curved)
    assert model.held_out_correlations_[0] > 0.9
    assert (model.training_correlations_ >= model.held_out_correlations_).all()
    assert model.held_out_errors_.shape == (2,) and (model.held_out_errors_ >= 0).all()
    assert model.p_values_[0] == 0.01 and 0 < model.null_95_ < model.correlations_[0]
    # The second is none.
    assert model.p_values_[1] > 0.05
    curve = model.regularization_curve_
    assert len(curve.shares) == len(curve.scores) == len(curve.errors) == 13
    for kappa, rows in zip(model.regularization_, curved):
        gram = rbf_kernel(rows, gamma=0.5)
        variance = np.mean(np.diag(gram)) - gram.mean()
        assert_allclose(kappa, curve.shares[curve.chosen] * variance, rtol=1e-9)


def test_kernels_of_their_own(curved):
    model = KernelCCA(1, kernel=[RBF(gamma=0.5), "linear"]).fit(*curved)
    assert model.kernels_ == ["rbf(gamma=0.5)", "linear"]
    assert model.held_out_correlations_[0] > 0.9
    with pytest.raises(ValueError, match="3 kernels for 2 tables"):
        KernelCCA(kernel=["linear"] * 3).fit(*curved)


@pytest.mark.parametrize("form", ["precomputed", "function", "mixed"])
def test_matrices_and_functions(form):
    plain = KernelCCA(2, kernel="rbf", gamma=0.4, regularization=0.01).fit(X[:30], Y[:30])
    rows, new = [X[:30], Y[:30]], [X[30:], Y[30:]]

    def function(a, b, width=1.0):
        return np.exp(-0.4 * width * np.sum((a - b) ** 2))

    settings = {
        "kernel": {"precomputed": "precomputed", "function": function, "mixed": ["precomputed", function]}[form]
    }
    given = [0, 1] if form == "precomputed" else [0] if form == "mixed" else []
    for place in given:
        new[place] = rbf_kernel(new[place], rows[place], gamma=0.4)
        rows[place] = rbf_kernel(rows[place], gamma=0.4)
    model = KernelCCA(2, regularization=0.01, kernel_params={"width": 1.0}, **settings).fit(*rows)
    assert_allclose(model.correlations_, plain.correlations_, atol=1e-8)
    for ours, theirs in zip(model.transform(*new), plain.transform(X[30:], Y[30:])):
        assert_same_up_to_scale(ours, theirs)
    assert pickle.loads(pickle.dumps(clone(model).set_params(kernel="linear").fit(X, Y))).n_views_ == 2
    if form != "precomputed":
        with pytest.raises(ValueError, match="computed by Python"):
            model.save("nowhere.safetensors")


def test_forms_of_the_second_table():
    model = KernelCCA(1, regularization=0.1).fit(X, Y[:, 0])
    same = KernelCCA(1, regularization=0.1).fit(X, Y[:, [0]])
    assert_array_equal(model.transform(X, Y[:, 0])[1], same.transform(X, Y[:, [0]])[1])
    assert_array_equal(KernelCCA(1, regularization=0.1).fit(X, sparse.csr_matrix(Y[:, :1])).x_scores_, same.x_scores_)
    # One column has one direction.
    with pytest.warns(EigenliftWarning, match="2 components were asked for"):
        assert KernelCCA(2, regularization=0.1).fit_transform(X, Y[:, 0]).shape == (N, 1)


def test_single_precision():
    tables = [rows.astype(np.float32) for rows in (X, Y)]
    model, double = KernelCCA(2).fit(*tables), KernelCCA(2).fit(X, Y)
    assert {scores.dtype for scores in (*model.scores_, *model.transform(*tables))} == {np.dtype(np.float32)}
    assert model.transform(X).dtype == np.float64
    assert_allclose(np.abs(model.x_scores_), np.abs(double.x_scores_), atol=1e-4)


def test_landmarks(curved):
    random = np.random.default_rng(1)
    rows = [random.normal(size=(2000, 3)) for _ in range(2)]
    rows[1][:, 0] = np.abs(rows[0][:, 0]) + 0.1 * random.normal(size=2000)
    model = KernelCCA(1, kernel="rbf(gamma=median)", rank=100).fit(*rows)
    assert [view["rank"] for view in model.plan_.views] == [100, 100]
    assert all(0 < share < 0.1 for share in model.left_out_)
    assert model.held_out_correlations_[0] > 0.9
    exact = KernelCCA(2, kernel="rbf", gamma=0.5, regularization=0.01).fit(*curved)
    asked = KernelCCA(2, kernel="rbf", gamma=0.5, regularization=0.01, rank="exact").fit(*curved)
    close = KernelCCA(2, kernel="rbf", gamma=0.5, regularization=0.01, error=1e-6).fit(*curved)
    assert exact.left_out_ == [None, None]
    assert_allclose(asked.correlations_, exact.correlations_, atol=1e-10)
    assert_allclose(close.correlations_, exact.correlations_, atol=1e-3)


def test_results_repeat(curved):
    settings = {"kernel": "rbf", "gamma": 0.5, "n_permutations": 20}
    first = KernelCCA(2, n_jobs=1, **settings).fit(*curved)
    second = KernelCCA(2, n_jobs=2, **settings).fit(*curved)
    assert_array_equal(first.x_scores_, second.x_scores_)
    assert_array_equal(first.held_out_correlations_, second.held_out_correlations_)
    assert_array_equal(first.p_values_, second.p_values_)


def test_files_and_pickles(tmp_path, curved, portable):
    frames = [pd.DataFrame(curved[0], columns=["a", "b"]), curved[1]]
    model = KernelCCA(2, kernel=["rbf(gamma=median)", "linear"], n_permutations=10).fit(*frames)
    model.save(tmp_path / "model.safetensors")
    loaded = eigenlift.load(tmp_path / "model.safetensors")
    for again in (loaded, pickle.loads(pickle.dumps(model))):
        assert isinstance(again, KernelCCA)
        for ours, theirs in zip(again.transform(*frames), model.transform(*frames)):
            assert_array_equal(ours, theirs)
        for name in ("correlations_", "held_out_correlations_", "held_out_errors_", "regularization_", "p_values_"):
            assert_array_equal(getattr(again, name), getattr(model, name))
        assert again.feature_names_in_.tolist() == ["a", "b"]
        assert again.kernels_ == model.kernels_ and portable(again.plan_) == portable(model.plan_)
        assert dict(again.regularization_curve_) == dict(model.regularization_curve_)
    assert loaded._model.column_names == ["a", "b", "y1", "y2"]
    assert not hasattr(loaded, "x_scores_")
    assert loaded.n_components == 2 and loaded.regularization == "auto"


def test_rows_may_change_after_a_fit():
    rows, targets = X.copy(), Y.copy()
    for kernel in ("rbf", lambda a, b: float(a @ b)):
        model = KernelCCA(2, kernel=kernel, regularization=0.1).fit(rows, targets)
        before = model.transform(X, Y)
        rows[:], targets[:] = 7, 7
        for ours, theirs in zip(model.transform(X, Y), before):
            assert_array_equal(ours, theirs)
        rows[:], targets[:] = X, Y


def test_tools_of_scikit_learn():
    search = GridSearchCV(KernelCCA(1, kernel="rbf"), {"gamma": [0.01, 0.1], "regularization": [0.01, 0.1]}, cv=3).fit(
        X, Y
    )
    assert set(search.best_params_) == {"gamma", "regularization"} and search.best_score_ < 1
    frame = make_pipeline(StandardScaler(), KernelCCA(2)).set_output(transform="pandas").fit_transform(X, Y)
    assert frame.columns.tolist() == ["kernelcca0", "kernelcca1"]
    model = KernelCCA(2).set_output(transform="pandas").fit(X, Y)
    first, second = model.transform(X, Y)
    assert isinstance(first, pd.DataFrame) and second.shape == (N, 2)
    assert model.get_feature_names_out().tolist() == ["kernelcca0", "kernelcca1"]
    assert 0 < model.score(X, Y) < 1


def test_plans():
    plan = KernelCCA(2, kernel="rbf", n_permutations=5).plan(X, Y)
    assert [view["n_features"] for view in plan.views] == [3, 4] and plan.permutations == 5
    assert "view 2" in str(plan) and plan.folds == 5
    model = KernelCCA(kernel="rbf")
    model.plan(X, Y)
    assert not hasattr(model, "n_features_in_")


@pytest.mark.parametrize(
    ("settings", "given", "message"),
    [
        ({}, (X, None), "requires y to be passed"),
        ({}, (X, Y[:-1]), "inconsistent numbers of samples"),
        ({"n_components": 0}, (X, Y), "'n_components' parameter of KernelCCA"),
        ({"regularization": -1}, (X, Y), "'regularization' parameter of KernelCCA"),
        ({"regularization": "much"}, (X, Y), "must be 'auto' or a float"),
        ({"folds": 1}, (X, Y), "'folds' parameter"),
        ({"n_permutations": -1}, (X, Y), "'n_permutations' parameter"),
        ({"kernel": "rbf(gamma=auto)"}, (X, Y), "has an 'auto'"),
        ({"kernel": "nothing"}, (X, Y), "'kernel' parameter of KernelCCA"),
        ({"kernel": "rbf", "regularization": 0}, (X, Y), "every correlation would then be 1"),
        ({"rank": 5, "error": 0.1}, (X, Y), "rank and error cannot both"),
        ({"approximation": "growing"}, (X, Y), "'approximation' parameter"),
        ({}, (X, np.full(N, 3.0)), "view 2: all rows look the same"),
        ({"kernel": "precomputed"}, (X, Y), "Kernel matrix must be a square matrix"),
        ({"kernel": "precomputed"}, (np.triu(X @ X.T), X @ X.T), "not symmetric"),
        ({}, (X[:4], Y[:4]), "at least 9 are needed"),
    ],
)
def test_what_is_refused(settings, given, message):
    with pytest.raises(ValueError, match=message):
        KernelCCA(**settings).fit(*given)


def test_what_a_fitted_model_refuses():
    model = KernelCCA(2).fit(X, Y)
    with pytest.raises(ValueError, match="y has 3 features, but KernelCCA is expecting 4"):
        model.transform(X, Z)
    with pytest.raises(ValueError, match="3 tables, but KernelCCA was fitted on 2"):
        model.transform(X, Y, Z)
    with pytest.raises(ValueError, match="3 tables, but KernelCCA was fitted on 2"):
        model.score(X, Y, Z)
    with pytest.raises(ValueError, match="inconsistent numbers"):
        model.score(X, Y[:-1])
    with pytest.raises(ValueError, match="Give y too"):
        KernelCCA(2).fit(X, Y, Z).transform(X, None, Z)
    # Other tables, another fit.
    assert model.fit(Y, Z).transform(Y, Z)[1].shape == (N, 2)
