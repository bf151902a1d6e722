"""What the kernelised estimators have in common: memory, progress, failed fits, forms of the second table."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from eigenlift import EigenliftWarning, KernelCCA, KernelDiscriminant, KernelKMeans, MemoryLimitError
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

IRIS, SPECIES = load_iris(return_X_y=True)
ESTIMATORS = [
    KernelCCA(2, kernel="rbf", gamma=0.2, regularization=0.1),
    KernelDiscriminant(kernel="rbf", gamma=0.2, regularization=0.1),
    KernelKMeans(3, kernel="rbf", gamma=0.2),
]
every_estimator = pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: type(estimator).__name__)


def second(estimator):
    return IRIS[:, 2:] if isinstance(estimator, KernelCCA) else SPECIES


@pytest.fixture(autouse=True)
def no_other_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", EigenliftWarning)
        yield


@every_estimator
def test_little_memory(estimator):
    with pytest.raises(MemoryLimitError, match="are allowed"):
        clone(estimator).set_params(memory=100).fit(IRIS, second(estimator))


@every_estimator
def test_a_failed_fit_is_no_fit(estimator):
    estimator = clone(estimator).set_params(kernel="precomputed", gamma=None)
    with pytest.raises(ValueError, match="square matrix"):
        estimator.fit(IRIS, second(estimator))
    with pytest.raises(NotFittedError):
        estimator.transform(IRIS)


@every_estimator
def test_progress_and_threads(estimator):
    # Rows enough for a look at how far it has come.
    rows = np.random.default_rng(0).normal(size=(3000, 4))
    target = rows[:, 2:] if isinstance(estimator, KernelCCA) else np.arange(3000) % 3
    seen = []
    one = clone(estimator).set_params(rank=200, n_jobs=1, progress=lambda *step: seen.append(step)).fit(rows, target)
    two = clone(estimator).set_params(rank=200, n_jobs=2).fit(rows, target)
    assert_array_equal(one.transform(rows), two.transform(rows))
    assert all(isinstance(stage, str) and (total == 0 or 0 <= done <= total) for stage, done, total in seen)


@every_estimator
@pytest.mark.parametrize("table", [pd.DataFrame, lambda rows: pl.DataFrame(rows, schema=list("abcd"))])
def test_tables(estimator, table):
    plain = clone(estimator).fit(IRIS, second(estimator))
    rows = table(IRIS)
    if isinstance(rows, pd.DataFrame):
        rows.columns = list("abcd")
    model = clone(estimator).fit(rows, second(estimator))
    assert model.feature_names_in_.tolist() == list("abcd") and model.n_features_in_ == 4
    assert model._model.column_names[:4] == list("abcd")
    assert_array_equal(model.transform(rows), plain.transform(IRIS))


@every_estimator
@pytest.mark.parametrize("approximation", ["pivoted", "uniform", "kmeans", "fourier"])
def test_approximations(estimator, approximation):
    exact = clone(estimator).fit(IRIS, second(estimator))
    model = clone(estimator).set_params(rank=120, approximation=approximation).fit(IRIS, second(estimator))
    plan = model.plan_.views[0] if isinstance(estimator, KernelCCA) else model.plan_
    assert not plan["exact"] and plan["rank"] <= 120
    if approximation == "fourier":
        assert model.transform(IRIS).shape == exact.transform(IRIS).shape
        return
    if isinstance(estimator, KernelKMeans):
        assert_allclose(model.inertia_, exact.inertia_, rtol=1e-3)
    else:
        assert_allclose(np.abs(model.transform(IRIS)), np.abs(exact.transform(IRIS)), atol=0.02)
