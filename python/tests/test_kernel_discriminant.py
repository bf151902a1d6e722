"""Kernel discriminants: against scikit-learn and a slow solution by definition, and what the estimator promises."""

import pickle

import eigenlift
import numpy as np
import pandas as pd
import pytest
from eigenlift import EigenliftWarning, KernelDiscriminant
from numpy.testing import assert_allclose, assert_array_equal
from scipy import linalg, sparse
from sklearn.datasets import load_iris, load_wine, make_moons
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.preprocessing import scale

IRIS, SPECIES = load_iris(return_X_y=True)
MOONS, MOON = make_moons(200, noise=0.15, random_state=0)


@pytest.mark.parametrize("load", [load_iris, load_wine])
@pytest.mark.parametrize("kappa", [0, 1e-12])
def test_linear_discriminant_analysis(load, kappa):
    X, y = load(return_X_y=True)
    ours = KernelDiscriminant(regularization=kappa).fit(X, y)
    theirs = LinearDiscriminantAnalysis(solver="eigen").fit(X, y)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-6)
    assert_array_equal(ours.predict(X), theirs.predict(X))
    assert_allclose(ours.priors_, theirs.priors_)
    assert_allclose(ours.explained_variance_ratio_, theirs.explained_variance_ratio_, rtol=1e-5)
    for mine, scores in zip(ours.transform(X).T, theirs.transform(X).T):
        assert_allclose(abs(np.corrcoef(mine, scores)[0, 1]), 1, atol=1e-9)
    # Means along the directions are those of the scores.
    means = [ours.transform(X)[y == c].mean(axis=0) for c in ours.classes_]
    assert_allclose(ours.means_, means, atol=1e-8)
    assert ours.training_accuracy_ == theirs.score(X, y) == ours.score(X, y)


def test_by_definition():
    """Ratios of between to within with κ, in the span of the rows."""
    kappa, gram = 0.02, rbf_kernel(IRIS, gamma=0.2)
    n, centre = len(IRIS), np.eye(len(IRIS)) - 1 / len(IRIS)
    values, vectors = np.linalg.eigh(centre @ gram @ centre)
    kept = values > 1e-12 * values.max()
    features = vectors[:, kept] * np.sqrt(values[kept])
    members = np.eye(3)[SPECIES]
    means = (members.T @ features) / members.sum(axis=0)[:, None]
    between = (means.T * members.mean(axis=0)) @ means
    within = features.T @ features / n - between
    found, directions = linalg.eigh(between, within + kappa * np.eye(len(within)))
    model = KernelDiscriminant(kernel="rbf", gamma=0.2, regularization=kappa).fit(IRIS, SPECIES)
    assert_allclose(model.eigenvalues_, found[::-1][:2], rtol=1e-7)
    for ours, theirs in zip(model.transform(IRIS).T, (features @ directions[:, ::-1][:, :2]).T):
        assert_allclose(abs(np.corrcoef(ours, theirs)[0, 1]), 1, atol=1e-8)


def test_probabilities_and_decisions():
    model = KernelDiscriminant(kernel="rbf", gamma=0.2).fit(IRIS, SPECIES)
    proba = model.predict_proba(IRIS)
    assert_allclose(proba.sum(axis=1), 1)
    assert_allclose(np.log(proba), model.predict_log_proba(IRIS))
    assert_array_equal(model.decision_function(IRIS), model.predict_log_proba(IRIS))
    # The rule of normal densities with the identity as covariance.
    places = KernelDiscriminant(kernel="rbf", gamma=0.2, regularization=model.regularization_).fit(IRIS, SPECIES)
    places = places.transform(IRIS)
    logs = np.log(model.priors_) - 0.5 * np.sum((places[:, None] - model.means_) ** 2, axis=2)
    assert_allclose(model.predict_log_proba(IRIS), logs - np.log(np.exp(logs).sum(axis=1))[:, None], atol=1e-8)
    two = KernelDiscriminant(kernel="rbf", gamma=2).fit(MOONS, MOON)
    logs = two.predict_log_proba(MOONS)
    assert_allclose(two.decision_function(MOONS), logs[:, 1] - logs[:, 0])
    assert_array_equal(two.predict(MOONS), (two.decision_function(MOONS) > 0).astype(int))


def test_a_kernel_separates_what_a_line_does_not():
    line, curve = KernelDiscriminant().fit(MOONS, MOON), KernelDiscriminant(kernel="rbf", gamma=2).fit(MOONS, MOON)
    assert line.held_out_accuracy_[0] < 0.92 < 0.96 < curve.held_out_accuracy_[0]
    found = curve.regularization_curve_
    assert len(found.shares) == 13 and curve.held_out_accuracy_[0] <= found.scores[found.chosen]
    gram = rbf_kernel(MOONS, gamma=2)
    assert_allclose(curve.regularization_, found.shares[found.chosen] * (1 - gram.mean()), rtol=1e-9)
    # What scikit-learn measures is close to what the fit has measured.
    held_out = cross_val_score(
        KernelDiscriminant(kernel="rbf", gamma=2, regularization=curve.regularization_), MOONS, MOON
    )
    assert abs(held_out.mean() - curve.held_out_accuracy_[0]) < 0.03


def test_components():
    assert KernelDiscriminant().fit(IRIS, SPECIES).transform(IRIS).shape == (150, 2)
    one, all_of_them = KernelDiscriminant(1).fit(IRIS, SPECIES), KernelDiscriminant().fit(IRIS, SPECIES)
    assert_allclose(one.transform(IRIS)[:, 0], all_of_them.transform(IRIS)[:, 0])
    # Classes are told apart by all directions.
    assert_allclose(one.predict_proba(IRIS), all_of_them.predict_proba(IRIS))
    assert one.get_feature_names_out().tolist() == ["kerneldiscriminant0"]


@pytest.mark.parametrize(
    "classes", [["a", "b", "c"], [3, 5, 7], [0.5, 1.5, 2.0], np.array(["setosa", "x", "größe"]), [-1, 0, 1]]
)
def test_classes_of_any_kind(tmp_path, classes):
    classes = np.array(classes)
    model = KernelDiscriminant().fit(IRIS, classes[SPECIES]) if classes.dtype.kind != "f" else None
    if model is None:
        # scikit-learn takes numbers with a fraction for a regression.
        with pytest.raises(ValueError, match="Unknown label type"):
            KernelDiscriminant().fit(IRIS, classes[SPECIES])
        return
    assert_array_equal(model.classes_, np.unique(classes))
    model.save(tmp_path / "model.safetensors")
    loaded = eigenlift.load(tmp_path / "model.safetensors")
    assert loaded.classes_.dtype.kind == model.classes_.dtype.kind
    assert_array_equal(loaded.predict(IRIS), model.predict(IRIS))
    assert loaded.score(IRIS, classes[SPECIES]) > 0.95


def test_truth_values(tmp_path):
    model = KernelDiscriminant().fit(IRIS, SPECIES == 1)
    model.save(tmp_path / "model.safetensors")
    assert eigenlift.load(tmp_path / "model.safetensors").classes_.tolist() == [False, True]


def test_files_and_pickles(tmp_path):
    frame = pd.DataFrame(IRIS, columns=list("abcd"))
    for settings in (
        {"kernel": "rbf(gamma=median)"},
        {"regularization": 0.1, "n_components": 1},
        {"kernel": "poly", "rank": 20},
    ):
        model = KernelDiscriminant(**settings).fit(frame, SPECIES)
        model.save(tmp_path / "model.safetensors")
        loaded = eigenlift.load(tmp_path / "model.safetensors")
        for again in (loaded, pickle.loads(pickle.dumps(model))):
            assert isinstance(again, KernelDiscriminant)
            assert_array_equal(again.predict_log_proba(frame), model.predict_log_proba(frame))
            assert_array_equal(again.transform(frame), model.transform(frame))
            for name in ("classes_", "priors_", "means_", "eigenvalues_", "regularization_", "feature_names_in_"):
                assert_array_equal(getattr(again, name), getattr(model, name))
            assert again.held_out_accuracy_ == model.held_out_accuracy_ and again.kernel_ == model.kernel_
            assert again.n_components == model.n_components and again.regularization == model.regularization


@pytest.mark.parametrize("form", ["precomputed", "function"])
def test_matrices_and_functions(form):
    plain = KernelDiscriminant(kernel="rbf", gamma=0.2, regularization=0.01).fit(IRIS[::2], SPECIES[::2])
    rows, new = IRIS[::2], IRIS[1::2]
    if form == "precomputed":
        rows, new = rbf_kernel(rows, gamma=0.2), rbf_kernel(new, rows, gamma=0.2)
        model = KernelDiscriminant(kernel="precomputed", regularization=0.01).fit(rows, SPECIES[::2])
    else:
        model = KernelDiscriminant(kernel=lambda a, b: np.exp(-0.2 * np.sum((a - b) ** 2)), regularization=0.01)
        model.fit(rows, SPECIES[::2])
    assert_allclose(model.predict_proba(new), plain.predict_proba(IRIS[1::2]), atol=1e-7)


def test_forms_of_rows():
    model = KernelDiscriminant(kernel="rbf", gamma=0.2).fit(IRIS, SPECIES)
    thin = KernelDiscriminant(kernel="rbf", gamma=0.2).fit(sparse.csr_matrix(IRIS), SPECIES)
    assert_allclose(thin.predict_proba(sparse.csr_array(IRIS)), model.predict_proba(IRIS), atol=1e-8)
    single = KernelDiscriminant(kernel="rbf", gamma=0.2).fit(IRIS.astype(np.float32), SPECIES)
    assert single.transform(IRIS.astype(np.float32)).dtype == np.float32
    assert_array_equal(single.predict(IRIS), model.predict(IRIS))


def test_landmarks_and_threads():
    X, y = make_moons(3000, noise=0.2, random_state=0)
    model = KernelDiscriminant(kernel="rbf", gamma=2, rank=80).fit(X, y)
    assert model.plan_.rank == 80 and 0 < model.left_out_ < 0.05 and model.score(X, y) > 0.95
    again = KernelDiscriminant(kernel="rbf", gamma=2, rank=80, n_jobs=1).fit(X, y)
    assert_array_equal(model.transform(X), again.transform(X))
    assert KernelDiscriminant(kernel="rbf", gamma=2).plan(X, y).rank == 1000


def test_few_rows_of_a_class():
    rows = np.r_[0:10, 50:60, 100:103]
    with pytest.warns(EigenliftWarning, match="3 folds, not 5"):
        model = KernelDiscriminant().fit(IRIS[rows], SPECIES[rows])
    assert_allclose(model.priors_, np.array([10, 10, 3]) / 23)
    with pytest.raises(ValueError, match="class 2 has 1 row"):
        KernelDiscriminant().fit(IRIS[rows[:-2]], SPECIES[rows[:-2]])


def test_grid_search():
    search = GridSearchCV(KernelDiscriminant(kernel="rbf"), {"gamma": [0.001, 0.05]}, cv=3).fit(scale(IRIS), SPECIES)
    assert search.best_score_ > 0.9
    frame = KernelDiscriminant().set_output(transform="polars").fit(IRIS, SPECIES).transform(IRIS)
    assert frame.columns == ["kerneldiscriminant0", "kerneldiscriminant1"]


@pytest.mark.parametrize(
    ("settings", "y", "message"),
    [
        ({"n_components": 3}, SPECIES, "cannot be larger than n_classes - 1 = 2"),
        ({"n_components": 0}, SPECIES, "'n_components' parameter"),
        ({}, np.zeros(150), "greater than one; got 1 class"),
        ({}, np.linspace(0, 1, 150), "Unknown label type"),
        ({}, SPECIES[:-1], "inconsistent numbers of samples"),
        ({"regularization": "some"}, SPECIES, "'regularization' parameter"),
        ({"folds": 1}, SPECIES, "'folds' parameter"),
        ({"kernel": "rbf", "regularization": 0}, SPECIES, "regularisation"),
    ],
)
def test_what_is_refused(settings, y, message):
    with pytest.raises(ValueError, match=message):
        KernelDiscriminant(**settings).fit(IRIS, y)
