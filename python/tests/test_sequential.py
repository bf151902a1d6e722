"""Steps forward, backward and floating: against scikit-learn's class and brute force, with paths, files and interruptions."""

import itertools
import json
import os
import pickle
import shutil
import signal
import subprocess
import threading
import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from eigenlift import EigenliftError, EigenliftWarning, SequentialFeatureSelector
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn import feature_selection
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine, make_classification, make_regression
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, ShuffleSplit, StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale

posix = pytest.mark.skipif(os.name != "posix", reason="signals are sent as on POSIX")
BINARY = os.environ.get("EIGENLIFT_BIN") or shutil.which("eigenlift")
WINE = load_wine()
X_WINE, Y_WINE = scale(WINE.data), WINE.target


@pytest.mark.parametrize("direction", ["forward", "backward"])
@pytest.mark.parametrize("wanted", [{"n_features_to_select": 4}, {"n_features_to_select": 0.3}, {}, {"tol": 1e-2}])
def test_as_scikit_learn(direction, wanted):
    given = {"direction": direction, "cv": 3, **wanted}
    X = X_WINE[:, :9]
    for estimator in (KNeighborsClassifier(), LinearDiscriminantAnalysis()):
        ours = SequentialFeatureSelector(estimator, **given).fit(X, Y_WINE)
        theirs = feature_selection.SequentialFeatureSelector(estimator, **given).fit(X, Y_WINE)
        assert_array_equal(ours.support_, theirs.support_)
        assert ours.n_features_to_select_ == theirs.n_features_to_select_ == ours.transform(X).shape[1]


NAMED = [
    ("knn", KNeighborsClassifier(), {}),
    (("knn", {"n_neighbors": 7}), KNeighborsClassifier(n_neighbors=7), {"scoring": "balanced_accuracy"}),
    ("lda", LinearDiscriminantAnalysis(), {}),
    (("logistic", {"C": 0.5}), LogisticRegression(C=0.5, solver="newton-cholesky", tol=1e-12), {}),
    ("knn", KNeighborsRegressor(), {}),
    (("ridge", {"alpha": 2.0}), Ridge(alpha=2.0), {}),
    ("ridge", Ridge(), {"scoring": "neg_mean_squared_error"}),
]


@pytest.mark.parametrize("direction", ["forward", "backward"])
@pytest.mark.parametrize(("name", "estimator", "given"), NAMED, ids=lambda value: str(value)[:20])
def test_by_name_as_the_estimator_of_scikit_learn(name, estimator, given, direction):
    if sklearn.base.is_classifier(estimator):
        # Two classes and an odd number of neighbours: no votes are equal, whichever way a learner would break them.
        X, y = make_classification(150, n_features=6, n_informative=4, class_sep=0.8, flip_y=0, random_state=3)
    else:
        X, y = make_regression(n_samples=150, n_features=6, n_informative=4, noise=20, random_state=3)
    given = {"direction": direction, "n_features_to_select": "best", "patience": 20, **given}
    ours = SequentialFeatureSelector(name, **given).fit(X, y)
    theirs = SequentialFeatureSelector(estimator, **given).fit(X, y)
    assert [step.feature for step in ours.path_] == [step.feature for step in theirs.path_]
    for mine, other in zip(ours.path_, theirs.path_):
        # The same folds and the same formulas; what is solved by equations agrees to their condition, far below 1e8.
        assert_allclose(mine.fold_scores, other.fold_scores, rtol=1e-7, atol=1e-9)
        assert_allclose(mine.score, np.mean(mine.fold_scores), rtol=1e-12)
        assert_allclose(mine.spread, np.std(mine.fold_scores, ddof=1) / np.sqrt(5), rtol=1e-9)
    assert_array_equal(ours.support_, theirs.support_)


def test_the_path_and_the_sets():
    X, y = make_regression(n_samples=90, n_features=8, n_informative=3, noise=40, random_state=5)
    selector = SequentialFeatureSelector("ridge", n_features_to_select="one_se", patience=99).fit(X, y)
    assert [step.n_features for step in selector.path_] == list(range(1, 9))
    assert all(step.added for step in selector.path_)
    for size, subset in enumerate(selector.subsets_, 1):
        assert subset.features == [step.feature for step in selector.path_[:size]]
        assert_allclose(subset.fold_scores, cross_val_score(Ridge(), X[:, sorted(subset.features)], y), rtol=1e-9)
    scores = np.array([subset.score for subset in selector.subsets_])
    best = int(scores.argmax())
    assert selector.best_.features == selector.subsets_[best].features
    enough = int(np.flatnonzero(scores >= scores[best] - selector.best_.spread)[0])
    assert selector.n_features_to_select_ == enough + 1 <= best + 1
    assert set(selector.get_support(indices=True)) == set(selector.subsets_[enough].features)
    assert selector.nested_ is None and selector.stopped_ is None
    early = SequentialFeatureSelector("ridge", n_features_to_select="best", patience=1).fit(X, y)
    assert len(early.path_) == best + 2 and "1 steps in a row" in early.stopped_


@pytest.mark.parametrize("estimator", ["lda", LinearDiscriminantAnalysis()])
def test_floating_beats_or_equals_forward(estimator):
    X, y = make_classification(n_samples=120, n_features=8, n_informative=3, n_redundant=4, random_state=11)
    given = {"n_features_to_select": "best", "patience": 99}
    forward = SequentialFeatureSelector(estimator, **given).fit(X, y)
    floating = SequentialFeatureSelector(estimator, floating=True, **given).fit(X, y)
    for plain, better in zip(forward.subsets_, floating.subsets_):
        assert better.score >= plain.score - 1e-12
    every = {
        size: max(
            cross_val_score(LinearDiscriminantAnalysis(), X[:, features], y).mean()
            for features in itertools.combinations(range(8), size)
        )
        for size in (1, 8)
    }
    for size, score in every.items():
        assert_allclose(floating.subsets_[size - 1].score, score, rtol=1e-12)
    for subset in floating.subsets_:
        again = cross_val_score(LinearDiscriminantAnalysis(), X[:, sorted(subset.features)], y).mean()
        assert_allclose(subset.score, again, rtol=1e-12)


def test_standardized_columns():
    given = {"n_features_to_select": 5, "cv": StratifiedKFold(4)}
    ours = SequentialFeatureSelector("knn", standardize=True, **given).fit(WINE.data, Y_WINE)
    pipeline = make_pipeline(StandardScaler(), KNeighborsClassifier())
    theirs = SequentialFeatureSelector(pipeline, **given).fit(WINE.data, Y_WINE)
    assert [step.feature for step in ours.path_] == [step.feature for step in theirs.path_]
    with pytest.warns(EigenliftWarning, match="standard"):
        SequentialFeatureSelector("knn", n_features_to_select=1).fit(WINE.data, Y_WINE)


def test_random_folds_are_the_same_for_all_sets():
    selector = SequentialFeatureSelector(
        KNeighborsClassifier(), n_features_to_select=2, cv=ShuffleSplit(3, random_state=np.random.RandomState(0))
    ).fit(X_WINE, Y_WINE)
    splits = list(ShuffleSplit(3, random_state=np.random.RandomState(0)).split(X_WINE))
    again = cross_val_score(KNeighborsClassifier(), X_WINE[:, selector.support_], Y_WINE, cv=splits)
    assert_allclose(selector.subsets_[1].fold_scores, again, rtol=0)


@pytest.mark.parametrize("estimator", ["knn", KNeighborsClassifier()])
def test_groups(estimator):
    groups = np.arange(len(Y_WINE)) % 6
    splits = list(GroupKFold(3).split(X_WINE, Y_WINE, groups))
    given = SequentialFeatureSelector(estimator, n_features_to_select=3, cv=iter(splits)).fit(X_WINE, Y_WINE)
    with sklearn.config_context(enable_metadata_routing=True):
        routed = SequentialFeatureSelector(estimator, n_features_to_select=3, cv=GroupKFold(3))
        routed.fit(X_WINE, Y_WINE, groups=groups)
        with pytest.raises(TypeError, match="sample_wei"):
            routed.fit(X_WINE, Y_WINE, groups=groups, sample_weigth=groups)
    assert [step.fold_scores for step in routed.path_] == [step.fold_scores for step in given.path_]
    with pytest.raises(ValueError, match="is only supported if"):
        SequentialFeatureSelector(estimator, cv=GroupKFold(3)).fit(X_WINE, Y_WINE, groups=groups)


def test_weights_are_routed_to_the_estimator():
    X, y = make_regression(n_samples=60, n_features=5, noise=10, random_state=0)
    weights = np.random.default_rng(0).uniform(0, 1, 60)
    with sklearn.config_context(enable_metadata_routing=True):
        estimator = LinearRegression().set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
        ours, theirs = (
            selector(estimator, n_features_to_select=2, n_jobs=2).fit(X, y, sample_weight=weights)
            for selector in (SequentialFeatureSelector, feature_selection.SequentialFeatureSelector)
        )
    assert_array_equal(ours.support_, theirs.support_)
    plain = SequentialFeatureSelector(LinearRegression(), n_features_to_select=2).fit(X, y)
    assert ours.path_[0].score != plain.path_[0].score


@pytest.mark.parametrize("estimator", ["ridge", Ridge()])
def test_jobs_change_nothing(estimator):
    X, y = make_regression(n_samples=80, n_features=6, noise=10, random_state=0)
    paths = [SequentialFeatureSelector(estimator, n_jobs=jobs).fit(X, y).path_ for jobs in (1, 2)]
    assert [dict(step) for step in paths[0]] == [dict(step) for step in paths[1]]


def test_what_is_predicted():
    X, y = make_regression(n_samples=80, n_features=4, noise=1, random_state=0)
    whole = np.round(y)
    as_numbers = SequentialFeatureSelector("knn").fit(X, whole)
    assert (
        as_numbers.path_[0].score < SequentialFeatureSelector(KNeighborsRegressor()).fit(X, whole).path_[0].score + 1e-9
    )
    few = np.digitize(y, [-50, 50])
    classes = SequentialFeatureSelector("knn").fit(X, few)
    assert_allclose(classes.path_[0].score * 80, np.round(classes.path_[0].score * 80), atol=1e-9)
    numbers = SequentialFeatureSelector("knn", scoring="r2", cv=KFold(5)).fit(X, few)
    expected = SequentialFeatureSelector(KNeighborsRegressor(), cv=KFold(5)).fit(X, few)
    assert_allclose(numbers.path_[0].score, expected.path_[0].score, rtol=1e-9)


def test_nested():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(80, 30)), np.repeat([0, 1], 40)
    X[:, 3] += 4 * y
    selector = SequentialFeatureSelector("lda", n_features_to_select="one_se", nested=4, random_state=0).fit(X, y)
    honest = selector.nested_
    assert honest.frequency[3] == 1 and len(honest.frequency) == 30 and len(honest.selected) == 4
    assert_allclose(honest.score, np.mean(honest.fold_scores), rtol=1e-12)
    assert honest.score > 0.9 and "4 parts" in str(honest)
    noise = SequentialFeatureSelector("lda", n_features_to_select=5, nested=4).fit(np.delete(X, 3, axis=1), y)
    # The score of what was chosen by it is optimistic; the honest one is that of guesses, within its noise.
    assert noise.subsets_[4].score > 0.65
    assert abs(noise.nested_.score - 0.5) < 0.2
    with pytest.raises(ValueError, match="cross_val_score"):
        SequentialFeatureSelector(KNeighborsClassifier(), nested=3).fit(X, y)
    with pytest.raises(ValueError, match="cross_val_score"):
        SequentialFeatureSelector("knn", nested=3, cv=KFold(3)).fit(X, y)


@pytest.mark.parametrize("estimator", ["knn", KNeighborsClassifier()])
@pytest.mark.parametrize("how", [{}, {"direction": "backward"}, {"floating": True}])
def test_a_search_is_taken_up_again(estimator, how, tmp_path):
    path = tmp_path / "steps.json"
    X, given = X_WINE[:, :7], {"patience": 99, "cv": 3, **how}
    whole = SequentialFeatureSelector(estimator, n_features_to_select="best", **given).fit(X, Y_WINE)
    SequentialFeatureSelector(estimator, n_features_to_select=4, checkpoint=path, **given).fit(X, Y_WINE)
    kept = json.loads(path.read_text())
    steps = kept["progress"]["steps"]
    assert 3 <= len(steps) < len(whole.path_)
    assert steps[0]["score"] == whole.path_[0].score
    longer = SequentialFeatureSelector(estimator, n_features_to_select="best", checkpoint=str(path), **given)
    assert [dict(step) for step in longer.fit(X, Y_WINE).path_] == [dict(step) for step in whole.path_]
    assert_array_equal(longer.support_, whole.support_)
    # What was changed by hand is not believed.
    text = path.read_text()
    steps[0]["score"] -= 0.5
    path.write_text(json.dumps(kept))
    with pytest.raises(EigenliftError, match="checksum"):
        SequentialFeatureSelector(estimator, checkpoint=path, **given).fit(X, Y_WINE)
    path.write_text(text)
    with pytest.raises(EigenliftError, match="other data"):
        SequentialFeatureSelector(estimator, checkpoint=path, **given).fit(X + 1, Y_WINE)
    path.write_text("{")
    with pytest.raises(EigenliftError, match="search"):
        SequentialFeatureSelector(estimator, checkpoint=path, **given).fit(X, Y_WINE)


@pytest.mark.skipif(
    not BINARY, reason="the command line is not here: EIGENLIFT_BIN is not set and it is not on the PATH"
)
def test_the_command_line_goes_on_with_a_search_and_back(tmp_path):
    path, data = tmp_path / "steps.json", tmp_path / "wines.csv"
    words = np.array(["first", "second", "third"])[Y_WINE]
    pd.DataFrame(X_WINE[:, :6], columns=list("abcdef")).assign(kind=words).to_csv(data, index=False)
    given = {"nested": 3, "checkpoint": path}
    begun = SequentialFeatureSelector("lda", n_features_to_select=2, **given).fit(X_WINE[:, :6], words)
    asked = (
        f"select forward {data} --target kind --scorer lda --features 4 --resume {path} --out {tmp_path / 'out.csv'}"
    )
    done = subprocess.run([BINARY, *asked.split()], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    kept = json.loads(path.read_text())["progress"]["steps"]
    assert len(kept) == 4 and kept[:2] == [dict(step) for step in begun.path_]
    ended = SequentialFeatureSelector("lda", n_features_to_select=5, **given).fit(X_WINE[:, :6], words)
    assert [dict(step) for step in ended.path_[:4]] == kept


class Interrupting(KNeighborsClassifier):
    """Raises as Ctrl-C does, once it has been fitted so often."""

    left = 0

    def fit(self, X, y):
        Interrupting.left -= 1
        if Interrupting.left == 0:
            os.kill(os.getpid(), signal.SIGINT)
        return super().fit(X, y)


@pytest.fixture
def ctrl_c():
    """Ctrl-C as in a terminal, also where the tests run in the background, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@posix
@pytest.mark.usefixtures("ctrl_c")
def test_an_interrupted_search_keeps_its_steps(tmp_path):
    path = tmp_path / "steps.json"
    selector = SequentialFeatureSelector(Interrupting(), n_features_to_select=4, cv=3, checkpoint=path)
    Interrupting.left = 3 * (13 + 12 + 5)
    with pytest.raises(KeyboardInterrupt):
        selector.fit(X_WINE, Y_WINE)
    assert len(json.loads(path.read_text())["progress"]["steps"]) == 2
    assert not hasattr(selector, "support_")
    selector.fit(X_WINE, Y_WINE)
    # Only the two steps that were missing were judged.
    assert Interrupting.left == -3 * (11 + 10)
    whole = SequentialFeatureSelector(KNeighborsClassifier(), n_features_to_select=4, cv=3).fit(X_WINE, Y_WINE)
    assert [dict(step) for step in selector.path_] == [dict(step) for step in whole.path_]


@posix
@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_ends_a_search_by_name():
    X = np.random.default_rng(0).normal(size=(3000, 150))
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        SequentialFeatureSelector("knn", n_features_to_select=140).fit(X, X[:, 0] > 0)
    timer.join()


def test_progress_is_told():
    told = []
    SequentialFeatureSelector(
        KNeighborsClassifier(), n_features_to_select=2, cv=3, progress=lambda *step: told.append(step)
    ).fit(X_WINE, Y_WINE)
    assert told == [("sets of 1 features", at, 13) for at in range(1, 14)] + [
        ("sets of 2 features", at, 12) for at in range(1, 13)
    ]

    def stop(stage, done, total):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        SequentialFeatureSelector(KNeighborsClassifier(), progress=stop).fit(X_WINE, Y_WINE)
    X = np.random.default_rng(0).normal(size=(3000, 150))
    with pytest.raises(RuntimeError, match="enough"):
        SequentialFeatureSelector("knn", n_features_to_select=140, progress=stop).fit(X, X[:, 0] > 0)


def test_errors_of_the_estimator_come_through():
    class Refusing(KNeighborsClassifier):
        def fit(self, X, y):
            raise ArithmeticError("not today")

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(ValueError, match="not today"):
            SequentialFeatureSelector(Refusing()).fit(X_WINE, Y_WINE)


@pytest.mark.parametrize(
    ("estimator", "given", "words"),
    [
        ("svm", {}, "'knn', 'lda'"),
        (("knn", {"alpha": 1}), {}, "n_neighbors"),
        (("knn", {"n_neighbors": 0}), {}, "n_neighbors"),
        (3, {}, "an estimator"),
        ("knn", {"n_features_to_select": "half"}, "n_features_to_select"),
        ("knn", {"n_features_to_select": 0}, "n_features_to_select"),
        ("knn", {"n_features_to_select": 1.5}, "n_features_to_select"),
        ("knn", {"n_features_to_select": 0.01}, "less than one"),
        ("knn", {"n_features_to_select": 13}, "must be < n_features"),
        ("knn", {"direction": "sideways"}, "direction"),
        ("knn", {"tol": -0.1}, "strictly positive"),
        ("knn", {"patience": 0}, "patience"),
        ("knn", {"nested": 1}, "nested"),
        ("knn", {"floating": True, "direction": "backward"}, "floating"),
        ("knn", {"scoring": "f1"}, "scoring"),
        ("lda", {"scoring": "r2"}, "lda"),
        ("knn", {"progress": 3}, "progress"),
        (KNeighborsClassifier(), {"standardize": True}, "make_pipeline"),
    ],
)
def test_what_is_refused(estimator, given, words):
    with pytest.raises(ValueError, match=words):
        SequentialFeatureSelector(estimator, **given).fit(X_WINE, Y_WINE)


def test_missing_entries_are_counted_by_name():
    table = pd.DataFrame(X_WINE[:, :3], columns=["a", "b", "c"])
    table.iloc[:6, 1] = np.nan
    with pytest.raises(EigenliftError, match=r"6 entries .*b \(6\)"):
        SequentialFeatureSelector("knn").fit(table, Y_WINE)


def test_as_other_estimators():
    table = pd.DataFrame(X_WINE, columns=WINE.feature_names)
    selector = SequentialFeatureSelector("lda", n_features_to_select=3).set_output(transform="pandas")
    out = selector.fit_transform(table, Y_WINE)
    assert list(out.columns) == list(selector.get_feature_names_out())
    again = pickle.loads(pickle.dumps(selector))
    assert_array_equal(again.support_, selector.support_)
    assert [dict(step) for step in again.path_] == [dict(step) for step in selector.path_]
    fresh = clone(selector)
    with pytest.raises(NotFittedError):
        fresh.transform(X_WINE)
    assert_array_equal(fresh.fit(table, Y_WINE).support_, selector.support_)
    pipeline = make_pipeline(
        StandardScaler(), SequentialFeatureSelector(("knn", {"n_neighbors": 3})), KNeighborsClassifier(3)
    )
    grid = GridSearchCV(pipeline, {"sequentialfeatureselector__n_features_to_select": [1, 4]}, cv=3)
    assert grid.fit(WINE.data, Y_WINE).best_params_["sequentialfeatureselector__n_features_to_select"] == 4
    dense = SequentialFeatureSelector("ridge").fit(*load_iris(return_X_y=True))
    X, y = load_iris(return_X_y=True)
    assert_array_equal(SequentialFeatureSelector("ridge").fit(sparse.csr_matrix(X), y).support_, dense.support_)
