"""Rows that all look the same: zeros with one warning, a plan and nothing certified, or an error, in every class."""

import warnings

import dask.array as da
import eigenlift
import eigenlift.dask as on_dask
import numpy as np
import pytest
from numpy.testing import assert_array_equal

ROWS = np.full((40, 3), 2.5)
LAZY = da.from_array(ROWS, chunks=(9, 3))
LABELS = np.arange(40) % 2
CLIENT = on_dask.Threads(2)

ZEROS = [
    (eigenlift.PCA(2), ROWS),
    (eigenlift.PCA(2, standardize=True), ROWS),
    (eigenlift.IncrementalPCA(2), ROWS),
    (eigenlift.KernelPCA(2), ROWS),
    (eigenlift.KernelPCA(2, kernel="rbf"), ROWS),
    (eigenlift.KernelPCA(2, kernel="rbf", rank=5), ROWS),
    (eigenlift.KernelPCA(2, kernel="precomputed"), np.ones((40, 40))),
    (eigenlift.KernelPCA(2), ROWS[:1]),
    (eigenlift.ClassicalMDS(2), ROWS),
    (eigenlift.ClassicalMDS(2, metric="precomputed"), np.zeros((40, 40))),
    (eigenlift.Isomap(n_neighbors=5, n_components=2), ROWS),
    (on_dask.PCA(2, client=CLIENT), LAZY),
    (on_dask.IncrementalPCA(2, client=CLIENT), LAZY),
    (on_dask.KernelPCA(2, client=CLIENT), LAZY),
    (on_dask.KernelPCA(2, kernel="rbf", rank=5, client=CLIENT), LAZY),
]


def name(value):
    return f"{type(value).__module__.split('.')[1]}-{value}" if hasattr(value, "fit") else str(len(value))


@pytest.mark.parametrize(("estimator", "rows"), ZEROS, ids=name)
def test_zeros_come_with_one_warning_and_a_plan(estimator, rows):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        estimator.fit(rows)
        scores = estimator.embedding_ if hasattr(estimator, "embedding_") else estimator.transform(rows)
    assert_array_equal(np.asarray(scores), np.zeros((len(rows), min(2, len(rows)))))
    ours = [
        w for w in caught if issubclass(w.category, eigenlift.EigenliftWarning) and "from_array" not in str(w.message)
    ]
    assert [str(w.message).endswith("All scores are 0.") for w in ours] == [True]
    assert ours[0].filename == __file__
    assert estimator.plan_["n_samples"] == len(rows)
    assert str(estimator.plan_).startswith("samples")
    if hasattr(estimator, "certificate_"):
        assert (len(estimator.certificate_["intervals"]), estimator.certificate_["bounds"]) == (0, None)
        assert "no variance" in str(estimator.certificate_)


@pytest.mark.parametrize(
    ("fit", "error"),
    [
        (lambda: eigenlift.Whitening().fit(ROWS), eigenlift.NoVarianceError),
        (lambda: on_dask.Whitening(client=CLIENT).fit(LAZY), eigenlift.NoVarianceError),
        (lambda: eigenlift.KernelPCA(2, kernel="auto").fit(ROWS), eigenlift.EigenliftError),
        # There is no median of distances.
        (lambda: eigenlift.KernelPCA(2, kernel="rbf(gamma=median)").fit(ROWS), eigenlift.EigenliftError),
        (
            lambda: on_dask.KernelPCA(2, kernel="rbf(gamma=median)", rank=5, client=CLIENT).fit(LAZY),
            eigenlift.EigenliftError,
        ),
        (lambda: eigenlift.KernelCCA(1).fit(ROWS, ROWS), eigenlift.NoVarianceError),
        (lambda: eigenlift.KernelDiscriminant().fit(ROWS, LABELS), eigenlift.EigenliftError),
    ],
)
def test_others_have_an_error(fit, error):
    with pytest.raises(error):
        fit()
