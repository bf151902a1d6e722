"""Filters: against scikit-learn's measures and definitions, their number by cross-validation, and pictures of the path."""

import pickle

import numpy as np
import pandas as pd
import pytest
from eigenlift import (
    EigenliftError,
    FeatureFilter,
    InvalidParameterError,
    SequentialFeatureSelector,
    kernels,
    mutual_info_classif,
    mutual_information,
    plot,
)
from matplotlib import pyplot as plt
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits, load_wine, make_classification, make_regression
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import chi2, f_classif, f_regression
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import scale

WINE = load_wine()
X_WINE, Y_WINE = scale(WINE.data), WINE.target
METHODS = ["mi", "mrmr", "jmi", "f", "chi2", "hsic"]


def test_f_and_chi2_as_scikit_learn():
    selector = FeatureFilter("f", n_features_to_select=4).fit(X_WINE, Y_WINE)
    expected, p_values = f_classif(X_WINE, Y_WINE)
    # Sums of squares of 178 numbers of order 1.
    assert_allclose(selector.scores_, expected, rtol=1e-10)
    assert set(selector.get_support(indices=True)) == set(np.argsort(-expected)[:4])
    assert_allclose(selector.p_values_, p_values, rtol=1e-6)
    X, y = make_regression(n_samples=100, n_features=6, noise=10, random_state=0)
    assert_allclose(FeatureFilter("f", n_features_to_select=2).fit(X, y).scores_, f_regression(X, y)[0], rtol=1e-9)
    X, y = load_digits(return_X_y=True)
    X = X[:, X.any(axis=0)]
    selector = FeatureFilter("chi2", n_features_to_select=10).fit(X, y)
    assert_allclose(selector.scores_, chi2(X, y)[0], rtol=1e-10)
    assert_allclose(selector.p_values_, chi2(X, y)[1], rtol=1e-6, atol=1e-300)


def test_information_is_that_of_the_function():
    selector = FeatureFilter("mi", n_features_to_select=5, permutations=29, random_state=3).fit(X_WINE, Y_WINE)
    report = mutual_information(X_WINE, Y_WINE, permutations=29, random_state=3)
    assert_array_equal(selector.scores_, report.values)
    assert_array_equal(selector.errors_, report.errors)
    assert_array_equal(selector.p_values_, report.p_values)
    assert_array_equal(selector.family_p_values_, report.family_p_values)
    order = np.argsort(-report.values)
    assert [step.feature for step in selector.path_] == list(order[:5])
    assert_allclose([step.value for step in selector.path_], report.values[order[:5]], rtol=1e-12)
    assert_array_equal(selector.ranking_[order[:6]], [1, 2, 3, 4, 5, 6])
    assert selector.ranking_.max() == 6
    assert selector.curve_ is None and selector.subsets_ == [] and selector.best_ is None


def test_redundant_columns_wait():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 600)
    strong = y + 0.6 * rng.normal(size=600)
    X = np.column_stack([strong, strong + 0.01 * rng.normal(size=600), y + 0.9 * rng.normal(size=600)])
    assert [step.feature for step in FeatureFilter("mi", n_features_to_select=2).fit(X, y).path_][1] < 2
    assert [step.feature for step in FeatureFilter("mrmr", n_features_to_select=2).fit(X, y).path_][1] == 2


def test_pairs_that_single_columns_hide():
    rng = np.random.default_rng(1)
    X = rng.integers(0, 2, (2000, 6))
    y = np.where(rng.random(2000) < 0.9, X[:, 1] ^ X[:, 4], X[:, 0])
    X = np.column_stack([X, X[:, 1] * (rng.random(2000) < 0.95)])
    taken = [step.feature for step in FeatureFilter("jmi", n_features_to_select=3).fit(X, y).path_]
    values = mutual_info_classif(X, y, discrete_features=True)
    assert values[[1, 4]].max() < 0.02
    assert len(set(taken)) == 3


def test_dependence_by_kernels():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(120, 4))
    y = X[:, 2] ** 2 + 0.1 * rng.normal(size=120)
    selector = FeatureFilter("hsic", n_features_to_select=1).fit(X, y)
    assert selector.get_support(indices=True) == [2]
    same = FeatureFilter("hsic", n_features_to_select=1, kernel=kernels.RBF(gamma=0.5)).fit(X, y)
    assert_array_equal(FeatureFilter("hsic", n_features_to_select=1, gamma=0.5).fit(X, y).scores_, same.scores_)

    def aligned(x):
        centre = np.eye(120) - 1 / 120
        K, L = (centre @ rbf_kernel(column.reshape(-1, 1), gamma=0.5) @ centre for column in (x, y))
        return K, L

    assert same.scores_.argmax() == 2 and (same.scores_ >= 0).all()
    ratios = [score / (K * L).sum() for score, (K, L) in zip(same.scores_, map(aligned, X.T))]
    norms = [np.sqrt((K * K).sum() * (L * L).sum()) for K, L in map(aligned, X.T)]
    # HSIC up to a factor: the same for all columns, or the norms of the matrices where it is normalised.
    assert np.ptp(ratios) < 1e-6 * max(ratios) or np.ptp(np.multiply(ratios, norms)) < 1e-6


@pytest.mark.parametrize("method", ["mi", "f", "mrmr"])
def test_their_number_by_cross_validation(method):
    X, y = make_classification(
        n_samples=200, n_features=12, n_informative=3, n_redundant=0, class_sep=1.5, shuffle=False, random_state=4
    )
    selector = FeatureFilter(method, scorer="lda", cv=StratifiedKFold(4)).fit(X, y)
    curve = selector.curve_
    assert curve.n_features == list(range(1, 13))
    scores = np.array(curve.scores)
    assert curve.best == scores.argmax()
    assert curve.chosen == np.flatnonzero(scores >= scores.max() - curve.spreads[curve.best])[0]
    assert selector.support_.sum() == curve.n_features[curve.chosen]
    assert set(selector.best_.features) == {step.feature for step in selector.path_[: curve.best + 1]}
    assert {0, 1, 2} & set(selector.get_support(indices=True))


def test_columns_are_ranked_within_folds():
    # With many columns of noise, a ranking that has seen the rows held out would score far above a guess.
    rng = np.random.default_rng(7)
    X, y = rng.normal(size=(60, 2000)), np.repeat([0, 1], 30)
    selector = FeatureFilter("f", n_features_to_select=10, scorer="knn").fit(X, y)
    leaked = cross_val_score(KNeighborsClassifier(), selector.transform(X), y).mean()
    assert leaked > 0.75
    assert abs(selector.subsets_[9].score - 0.5) < 0.25


def test_nested():
    selector = FeatureFilter("mi", scorer="lda", nested=4, random_state=0).fit(X_WINE, Y_WINE)
    assert selector.nested_.score > 0.9 and len(selector.nested_.selected) == 4
    assert_allclose(np.sum(selector.nested_.frequency) * 4, sum(map(len, selector.nested_.selected)), rtol=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_threads_change_nothing_and_sparse_rows_are_taken(method):
    X, y = load_digits(return_X_y=True)
    X, y = X[:200, 10:30], y[:200]
    one, two, thin = (
        FeatureFilter(method, n_features_to_select=3, n_jobs=jobs).fit(rows, y)
        for jobs, rows in ((1, X), (2, X), (2, sparse.csr_matrix(X)))
    )
    assert_array_equal(one.scores_, two.scores_)
    assert_array_equal(one.ranking_, two.ranking_)
    assert_array_equal(thin.ranking_, two.ranking_)
    assert one.transform(X).shape == (200, 3)


def test_as_other_estimators():
    table = pd.DataFrame(X_WINE, columns=WINE.feature_names)
    selector = FeatureFilter("mrmr", n_features_to_select=3).set_output(transform="pandas").fit(table, Y_WINE)
    assert list(selector.transform(table).columns) == list(selector.get_feature_names_out())
    again = pickle.loads(pickle.dumps(selector))
    assert_array_equal(again.ranking_, selector.ranking_)
    with pytest.raises(NotFittedError):
        clone(selector).transform(X_WINE)
    pipeline = make_pipeline(FeatureFilter("mi", n_features_to_select=1), KNeighborsClassifier())
    grid = GridSearchCV(pipeline, {"featurefilter__n_features_to_select": [1, 6]}, cv=3).fit(X_WINE, Y_WINE)
    assert grid.best_params_ == {"featurefilter__n_features_to_select": 6}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"method": "mutual"}, "method"),
        ({"n_features_to_select": 0}, "n_features_to_select"),
        ({"n_features_to_select": 99}, "more than the 13"),
        ({"scorer": KNeighborsClassifier()}, "scorer"),
        ({"scorer": "svm"}, "scorer"),
        ({"scoring": "f1"}, "scoring"),
        ({"n_neighbors": 0}, "n_neighbors"),
        ({"permutations": -1}, "permutations"),
        ({"discrete_features": "some"}, "discrete_features"),
        ({"discrete_target": 3}, "discrete_target"),
        ({"method": "hsic", "kernel": "nothing"}, "kernel"),
        ({"method": "hsic", "kernel": "precomputed"}, "kernel"),
        ({"method": "hsic", "gamma": 0}, "gamma"),
        ({"nested": 3, "cv": KFold(3)}, "cross_val_score"),
        ({"method": "chi2"}, "Negative values"),
    ],
)
def test_what_is_refused(given, words):
    with pytest.raises(ValueError, match=words):
        FeatureFilter(**given).fit(X_WINE, Y_WINE)


def test_missing_entries_are_counted():
    X = X_WINE.copy()
    X[:3, 4] = np.nan
    with pytest.raises(EigenliftError, match=r"3 entries .*\(3\)"):
        FeatureFilter().fit(X, Y_WINE)
    with pytest.raises(InvalidParameterError):
        FeatureFilter(corrected="yes").fit(X, Y_WINE)


def labels_below(figure):
    return [text.get_text() for text in figure.axes[0].get_xticklabels()]


def test_pictures_of_paths():
    table = pd.DataFrame(X_WINE[:, :5], columns=list("abcde"))
    forward = SequentialFeatureSelector("lda", n_features_to_select="one_se", scoring="accuracy").fit(table, Y_WINE)
    figure = plot.path(forward)
    names = [table.columns[step.feature] for step in forward.path_]
    assert labels_below(figure) == names
    assert_allclose(figure.axes[0].lines[0].get_ydata(), [step.score for step in forward.path_])
    assert figure.axes[0].get_ylabel() == "accuracy"
    legend = (
        [text.get_text() for text in figure.axes[0].get_legend().get_texts()] if figure.axes[0].get_legend() else None
    )
    assert legend is None or legend[1] == f"chosen: step {forward.n_features_to_select_}"
    backward = SequentialFeatureSelector(KNeighborsClassifier(), n_features_to_select=2, direction="backward")
    figure = plot.path(backward.fit(X_WINE[:, :5], Y_WINE))
    assert labels_below(figure) == ["all"] + [f"−{step.feature}" for step in backward.path_]
    plain = plot.path(FeatureFilter("f", n_features_to_select=3).fit(table, Y_WINE))
    assert plain.axes[0].get_ylabel() == "f" and len(labels_below(plain)) == 3
    judged = plot.path(FeatureFilter("f").fit(table, Y_WINE), title="wines")
    assert judged.axes[0].get_ylabel() == "score on rows held out"
    with pytest.raises(NotFittedError):
        plot.path(FeatureFilter())
    with pytest.raises(TypeError, match="Leave them out"):
        plot.path(forward, names)
    with pytest.raises(TypeError, match="took no steps"):
        plot.path(KNeighborsClassifier().fit(X_WINE, Y_WINE))
    plt.close("all")


def test_a_column_that_y_explains_in_full_has_an_infinite_f():
    table = np.c_[Y_WINE, X_WINE]
    selector = FeatureFilter("f", n_features_to_select=1).fit(table, Y_WINE)
    assert selector.scores_[0] == np.inf and np.isfinite(selector.scores_[1:]).all()
    assert selector.get_support(indices=True).tolist() == [0]


def test_groups_stay_together():
    # The label belongs to the group, and so does the first column: rows of a group tell each other's label.
    rng = np.random.default_rng(0)
    groups = rng.permutation(np.repeat(np.arange(30), 10))
    y = rng.integers(2, size=30)[groups]
    table = np.c_[groups, 0.2 * rng.normal(size=300)]
    apart = FeatureFilter("f", n_features_to_select="best", scorer="knn")
    assert apart.fit(table, y).best_.score > 0.9
    assert apart.fit(table, y, groups=groups).best_.score < 0.75
    nested = FeatureFilter("f", scorer="knn", nested=3).fit(table, y, groups=groups)
    assert nested.nested_.score < 0.75
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        apart.fit(table, y, groups=groups[1:])


def test_the_best_number_of_features():
    selector = FeatureFilter("f", n_features_to_select="best", scorer="lda").fit(X_WINE, Y_WINE)
    scores = selector.curve_.scores
    assert selector.support_.sum() == np.argmax(scores) + 1
