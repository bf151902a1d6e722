"""Rows that all look the same: zeros with one warning, a plan and nothing certified, or an error, in every class."""

import warnings

import dask.array as da
import eigenlift
import eigenlift.dask as on_dask
import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

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


@pytest.mark.parametrize("value", [0.1, 1 / 3, -2.7e8, 1e5 + 0.1])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
@pytest.mark.filterwarnings("ignore::eigenlift.EigenliftWarning")
def test_zeros_are_exact_whatever_the_constant(value, dtype, form):
    # The sum of 37 numbers 0.1 divided by 37 is not 0.1, nor are those of parts of them.
    rows = np.full((37, 3), [value, 2 * value, -value], dtype=dtype)
    weights = np.linspace(0.3, 1.7, 37)
    fits = [
        eigenlift.PCA(2).fit(form(rows)),
        eigenlift.PCA(2, standardize=True).fit(form(rows)),
        eigenlift.PCA(2).fit(form(rows), sample_weight=weights),
        eigenlift.IncrementalPCA(2, batch_size=5).fit(form(rows)),
        eigenlift.IncrementalPCA(2).partial_fit(rows[:3]).partial_fit(rows[3:20]).partial_fit(rows[20:]),
        on_dask.PCA(2, client=CLIENT).fit(da.from_array(rows, chunks=(7, 3))),
        on_dask.IncrementalPCA(2, client=CLIENT).fit(da.from_array(rows, chunks=(7, 3))),
    ]
    for fitted in fits:
        assert_array_equal(fitted.mean_, rows[0])
        assert_array_equal(fitted.explained_variance_, np.zeros(2))
        assert_array_equal(fitted.singular_values_, np.zeros(2))
        assert_array_equal(getattr(fitted, "var_", np.zeros(3)), np.zeros(3))
        for given in (rows, form(rows)):
            assert_array_equal(np.asarray(fitted.transform(given)), np.zeros((37, 2)))
    assert_array_equal(eigenlift.PCA(2).fit_transform(form(rows)), np.zeros((37, 2)))


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
