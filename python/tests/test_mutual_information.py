"""Mutual information: against scikit-learn where it is right, against counts and entropies where it is not."""

import numpy as np
import pandas as pd
import pytest
from eigenlift import (
    EigenliftError,
    InformationReport,
    InvalidParameterError,
    mutual_info_classif,
    mutual_info_regression,
    mutual_information,
)
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn import feature_selection
from sklearn.datasets import load_wine, make_classification, make_regression
from sklearn.metrics import mutual_info_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

RNG = np.random.default_rng(5)


def entropy(values):
    shares = np.unique(values, return_counts=True)[1] / len(values)
    return -(shares * np.log(shares)).sum()


# No ties, and more than k rows of each class: both are the formula of Ross, so they agree to rounding, sums of 300 digammas.
@pytest.mark.parametrize("n_neighbors", [1, 3, 7])
def test_classes_as_scikit_learn(n_neighbors):
    X, y = make_classification(n_samples=300, n_features=8, n_informative=4, n_classes=3, random_state=1)
    expected = feature_selection.mutual_info_classif(X, y, n_neighbors=n_neighbors, random_state=0)
    assert expected.max() > 0.1
    found = mutual_info_classif(X, y, n_neighbors=n_neighbors)
    # Its noise of 1e-10 may change which of two rows is the nearer one, for one row in 1e7 or so.
    assert_allclose(found, expected, atol=1e-10)
    assert found.dtype == np.float64


@pytest.mark.parametrize("n_neighbors", [1, 3, 7])
def test_numbers_as_scikit_learn(n_neighbors):
    X, y = make_regression(n_samples=300, n_features=6, n_informative=2, noise=5, random_state=1)
    expected = feature_selection.mutual_info_regression(X, y, n_neighbors=n_neighbors, random_state=0)
    assert expected.max() > 0.2
    assert_allclose(mutual_info_regression(X, y, n_neighbors=n_neighbors), expected, atol=1e-6)


def test_counts_are_exact():
    X, y = RNG.integers(0, 4, (200, 3)), RNG.integers(0, 3, 200)
    X[:, 1] = y + RNG.integers(0, 2, 200)
    expected = [mutual_info_score(column, y) for column in X.T]
    assert_allclose(mutual_info_classif(X, y, discrete_features=True), expected, rtol=0, atol=1e-12)
    assert_allclose(mutual_info_classif(sparse.csr_matrix(X), y), expected, rtol=0, atol=1e-12)
    assert_allclose(mutual_information(X, y).values, expected, rtol=0, atol=1e-12)
    # Miller and Madow: cells that occur, (S2).
    cells = [len(np.unique(column)) + 3 - len(np.unique(column * 10 + y)) - 1 for column in X.T]
    corrected = np.maximum(np.array(expected) + np.array(cells) / 400, 0)
    assert_allclose(mutual_information(X, y, corrected=True).values, corrected, rtol=0, atol=1e-12)


def test_never_above_the_entropy():
    # scikit-learn's issue 30772, where a column that is constant has more information than there is.
    y = (np.arange(20_000) < 100).astype(int)
    constant, itself = mutual_info_classif(np.column_stack([np.ones(20_000), y]), y)
    assert constant == 0
    assert_allclose(itself, entropy(y), rtol=1e-9)
    assert feature_selection.mutual_info_classif(np.ones((20_000, 1)), y, random_state=0)[0] > 1e-4
    X = RNG.integers(0, 6, (500, 4)).astype(float)
    X[:, 3] = 3 * X[:, 0]
    limits = [min(entropy(column), entropy(X[:, 0])) + 1e-12 for column in X.T]
    for found in (mutual_info_classif(X, X[:, 0].astype(int)), mutual_info_regression(X, X[:, 0])):
        assert (found <= limits).all()
        assert_allclose(found[[0, 3]], entropy(X[:, 0]), rtol=1e-9)


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.uint64, np.float32, object])
def test_whole_numbers_are_taken_as_they_are(dtype):
    X, y = RNG.integers(0, 100, (150, 3)), RNG.integers(0, 5, 150)
    for function in (mutual_info_regression, mutual_info_classif):
        assert_array_equal(function(X.astype(dtype), y), function(X.astype(np.float64), y))


def test_gaussians_with_known_information():
    x = RNG.normal(size=4000)
    for rho in (0.3, 0.8):
        y = rho * x + np.sqrt(1 - rho**2) * RNG.normal(size=4000)
        report = mutual_information(x[:, None], y)
        # −ln(1 − ρ²)/2 within four standard errors; the bias of the estimator is of lower order.
        assert abs(report.values[0] + np.log(1 - rho**2) / 2) < 4 * report.errors[0]
        assert 0 < report.errors[0] < 0.05


def test_the_report():
    X, y = load_wine(return_X_y=True, as_frame=True)
    report = mutual_information(X, y, permutations=49, random_state=1)
    assert isinstance(report, InformationReport)
    assert report.names == list(X.columns)
    for p in (report.p_values, report.family_p_values):
        assert p.shape == (13,) and p.min() == pytest.approx(1 / 50) and p.max() <= 1
    assert (report.family_p_values >= report.p_values).all()
    assert str(report).splitlines()[0].split()[0] == X.columns[report.values.argmax()]
    again = mutual_information(X, y, permutations=49, random_state=1, n_jobs=1)
    assert_array_equal(again.p_values, report.p_values)
    assert_array_equal(again.values, report.values)
    plain = mutual_information(X.to_numpy(), y)
    assert plain.p_values is None and plain.family_p_values is None
    assert plain.names[:2] == ["x0", "x1"]


def test_noise_alone_has_no_small_family_p_value():
    X, y = RNG.normal(size=(200, 20)), RNG.integers(0, 2, 200)
    assert mutual_information(X, y, permutations=99).family_p_values.min() > 0.01


def test_what_the_labels_are():
    X = RNG.normal(size=(100, 2))
    words = np.where(X[:, 0] > 0, "yes", "no")
    as_words = mutual_information(X, words).values
    assert_allclose(as_words, mutual_info_classif(X, words), atol=0)
    assert_allclose(mutual_information(X, (words == "yes").astype(float)).values, as_words, atol=0)
    many = np.floor(1000 * X[:, 0])
    assert_allclose(mutual_information(X, many).values, mutual_info_regression(X, many), atol=0)
    chosen = mutual_information(X, (X[:, 0] > 0).astype(int), discrete_target=False).values
    assert_allclose(chosen, mutual_info_regression(X, (X[:, 0] > 0).astype(int)), atol=0)
    assert_array_equal(mutual_info_classif(X, np.zeros(100, dtype=int)), [0, 0])


def test_missing_entries_are_counted():
    X = pd.DataFrame(RNG.normal(size=(30, 3)), columns=["length", "width", "height"])
    X.iloc[:4, 1] = np.nan
    X.iloc[7, 2] = np.inf
    y = RNG.integers(0, 2, 30)
    for call in (mutual_info_classif, mutual_info_regression, mutual_information):
        with pytest.raises(EigenliftError, match=r"5 entries .*width \(4\), height \(1\)"):
            call(X, y)
    with pytest.raises(ValueError, match="NaN"):
        mutual_info_regression(X.fillna(0).replace(np.inf, 0), np.where(y, np.nan, 1.0))


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"n_neighbors": 0}, InvalidParameterError, "n_neighbors"),
        ({"n_neighbors": 2.0}, InvalidParameterError, "n_neighbors"),
        ({"copy": "yes"}, InvalidParameterError, "copy"),
        ({"discrete_features": "manual"}, ValueError, "discrete_features"),
        ({"discrete_features": [True, False]}, IndexError, "mask"),
        ({"discrete_features": [7]}, IndexError, "7"),
        ({"random_state": "x"}, ValueError, "seed"),
        ({"n_jobs": 0}, InvalidParameterError, "n_jobs"),
    ],
)
def test_what_is_refused(given, error, words):
    X, y = RNG.normal(size=(20, 3)), RNG.integers(0, 2, 20)
    with pytest.raises(error, match=words):
        mutual_info_classif(X, y, **given)


def test_other_refusals():
    X, y = RNG.normal(size=(20, 3)), RNG.integers(0, 2, 20)
    with pytest.raises(ValueError, match="Unknown label type"):
        mutual_info_classif(X, X[:, 0])
    with pytest.raises(ValueError, match="can't have continuous"):
        mutual_info_classif(sparse.csr_matrix(X), y, discrete_features=False)
    with pytest.raises(InvalidParameterError, match="permutations"):
        mutual_information(X, y, permutations=-1)
    with pytest.raises(InvalidParameterError, match="discrete_target"):
        mutual_information(X, y, discrete_target="maybe")
    with pytest.raises(ValueError, match="inconsistent"):
        mutual_information(X, y[:-1])


def test_in_select_k_best():
    X, y = make_classification(n_samples=200, n_features=12, n_informative=4, random_state=2)
    ours, theirs = (
        make_pipeline(StandardScaler(), feature_selection.SelectKBest(function, k=4)).fit(X, y)[-1]
        for function in (mutual_info_classif, feature_selection.mutual_info_classif)
    )
    assert_array_equal(ours.get_support(), theirs.get_support())
    assert_allclose(ours.scores_, theirs.scores_, atol=1e-10)


def test_near_scikit_learn_where_values_repeat():
    # It tells ties apart by noise, we count them: within two standard errors, on columns with two decimals.
    X, y = load_wine(return_X_y=True)
    report = mutual_information(X, y, discrete_features=False)
    theirs = feature_selection.mutual_info_classif(X, y, random_state=0)
    assert (abs(report.values - theirs) < 2 * report.errors).all()


def test_progress_is_told():
    X, y = RNG.normal(size=(3000, 8)), RNG.normal(size=3000)
    told = []
    mutual_information(X, y, permutations=30, progress=lambda *step: told.append(step))
    assert all(isinstance(stage, str) and 0 <= done <= max(total, done) for stage, done, total in told)

    def stop(stage, done, total):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        mutual_information(X, y, permutations=10_000, progress=stop)
