"""What can be given as rows: arrays of all kinds, tables, mapped files; what is refused, in scikit-learn's words."""

import os
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from eigenlift import PCA, IncrementalPCA, KernelKMeans, KernelPCA, Nystroem, RBFSampler, Whitening
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn import cluster, decomposition, kernel_approximation
from sklearn.datasets import load_iris

IRIS = load_iris().data
NAMES = ["a", "b", "c", "d"]
# Ours, and scikit-learn's for the errors.
ESTIMATORS = {
    "KernelPCA": (KernelPCA(2, kernel="rbf"), decomposition.KernelPCA(2, kernel="rbf")),
    "low rank": (KernelPCA(2, kernel="rbf", rank=20), decomposition.KernelPCA(2, kernel="rbf")),
    "KernelKMeans": (KernelKMeans(3, kernel="rbf"), cluster.KMeans(3)),
    "PCA": (PCA(2), decomposition.PCA(2)),
    "IncrementalPCA": (IncrementalPCA(2), decomposition.IncrementalPCA(2)),
    "Whitening": (Whitening(), decomposition.PCA(2, whiten=True)),
    "Nystroem": (Nystroem(n_components=9), kernel_approximation.Nystroem(n_components=9)),
    "RBFSampler": (RBFSampler(), kernel_approximation.RBFSampler()),
}
every_estimator = pytest.mark.parametrize("name", ESTIMATORS)


def fresh(estimator):
    """A copy that is not fitted, with fixed random numbers."""
    parameters = estimator.get_params()
    return type(estimator)(**parameters | ({"random_state": 0} if "random_state" in parameters else {}))


def big_endian(X):
    return X.astype(">f8")


def read_only(X):
    X = X.copy()
    X.flags.writeable = False
    return X


def spread(X):
    """The same rows, not next to one another in memory."""
    wide = np.full((2 * len(X), 3 * X.shape[1]), np.nan)
    wide[::2, ::3] = X
    return wide[::2, ::3]


def turned(X):
    """Negative strides."""
    return np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1]


FORMS = {
    "C": np.ascontiguousarray,
    "Fortran": np.asfortranarray,
    "spread": spread,
    "turned": turned,
    "read-only": read_only,
    "big-endian": big_endian,
    "list": np.ndarray.tolist,
    "tuple": lambda X: tuple(map(tuple, X.tolist())),
    "objects": lambda X: X.astype(object),
    "pandas": lambda X: pd.DataFrame(X, columns=NAMES),
    "pandas, columns apart": lambda X: pd.DataFrame({name: X[:, i] for i, name in enumerate(NAMES)}),
    "pandas of Arrow": lambda X: pd.DataFrame(X, columns=NAMES).convert_dtypes(dtype_backend="pyarrow"),
    "polars": lambda X: pl.DataFrame(X, schema=NAMES),
    "pyarrow": lambda X: pa.table({name: X[:, i] for i, name in enumerate(NAMES)}),
}


@pytest.mark.parametrize("form", FORMS)
@every_estimator
def test_forms_of_rows(name, form):
    estimator, _ = ESTIMATORS[name]
    expected = fresh(estimator).fit(IRIS).transform(IRIS[:30])
    given, new = FORMS[form](IRIS), FORMS[form](IRIS[:30])
    ours = fresh(estimator).fit(given)
    assert_array_equal(ours.transform(new), expected)
    assert ours.n_features_in_ == 4
    if form.startswith(("pandas", "polars", "pyarrow")):
        assert list(ours.feature_names_in_) == NAMES
    else:
        assert not hasattr(ours, "feature_names_in_")


@pytest.mark.parametrize("kind", [np.int64, np.int32, np.uint8, np.bool_, np.float16])
@every_estimator
def test_other_numbers_become_doubles(name, kind):
    ours, theirs = (fresh(each) for each in ESTIMATORS[name])
    X = (IRIS > IRIS.mean(axis=0)) if kind is np.bool_ else (IRIS * 10).astype(kind)
    expected = fresh(ours).fit(X.astype(np.float64)).transform(X.astype(np.float64))
    assert_array_equal(ours.fit(X).transform(X), expected)
    assert ours.transform(X).dtype == theirs.fit(X).transform(X).dtype == np.float64


@every_estimator
def test_single_precision_stays(name):
    ours, theirs = (fresh(each) for each in ESTIMATORS[name])
    X = IRIS.astype(np.float32)
    assert ours.fit(X).transform(X).dtype == np.float32
    if name != "IncrementalPCA":  # scikit-learn's gives doubles
        assert theirs.fit(X).transform(X).dtype == np.float32
    size = np.abs(ours.transform(X)).max()
    assert_allclose(np.abs(ours.transform(X)), np.abs(fresh(ours).fit(IRIS).transform(IRIS)), atol=2e-3 * size)


@pytest.mark.parametrize("fitted", [np.float64, np.float32])
@pytest.mark.parametrize("given", [np.float64, np.float32])
@pytest.mark.parametrize("name", [name for name in ESTIMATORS if name != "IncrementalPCA"])
def test_mixed_precisions(name, fitted, given):
    ours, theirs = (fresh(each).fit(IRIS.astype(fitted)) for each in ESTIMATORS[name])
    assert ours.transform(IRIS.astype(given)).dtype == theirs.transform(IRIS.astype(given)).dtype


@pytest.mark.parametrize("mode", ["r", "r+", "c"])
@every_estimator
def test_files_in_memory(tmp_path, name, mode):
    np.save(tmp_path / "rows.npy", IRIS)
    mapped = np.load(tmp_path / "rows.npy", mmap_mode=mode)
    estimator, _ = ESTIMATORS[name]
    expected = fresh(estimator).fit(IRIS).transform(IRIS)
    assert_array_equal(fresh(estimator).fit(mapped).transform(mapped), expected)
    assert_array_equal(np.load(tmp_path / "rows.npy"), IRIS)


@every_estimator
def test_rows_are_never_written_to(name):
    X = IRIS.copy()
    for parameters in [{"copy_X": False}, {"copy": False}, {}]:
        estimator = fresh(ESTIMATORS[name][0])
        if set(parameters) <= set(estimator.get_params()):
            estimator.set_params(**parameters).fit_transform(X)
            estimator.transform(X)
            assert_array_equal(X, IRIS)


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_rows_kept_are_the_array_itself(kind):
    X = IRIS.astype(kind)
    assert KernelPCA(2, kernel="rbf", copy_X=False).fit(X).X_fit_ is X
    assert KernelPCA(2, kernel="rbf", copy_X=False).fit(X)._model.samples is X
    theirs = decomposition.KernelPCA(2, kernel="rbf", copy_X=False).fit(X)
    assert np.shares_memory(theirs.X_fit_, X)
    S = sparse.csr_matrix(X)
    assert np.shares_memory(KernelPCA(2, kernel="rbf", copy_X=False).fit(S).X_fit_.data, S.data)


PEAK = """
import re, sys
import numpy as np
from eigenlift import PCA, KernelPCA, Whitening

def peak():
    # Of this process alone: what getrusage gives starts with the peak of the parent.
    with open("/proc/self/status") as status:
        return int(re.search("VmHWM:\\s*(\\d+) kB", status.read())[1]) * 1024

X = np.random.default_rng(0).standard_normal((300_000, 40), dtype=sys.argv[1])
before = peak()
X.copy()
print(1 - (peak() - before) / X.nbytes, "not seen of a copy")
for each in [
    PCA(2),
    PCA(2, svd_solver="full"),
    PCA(2, whiten=True),
    Whitening(2, method="pca"),
    KernelPCA(2, kernel="rbf", rank=5),
]:
    each.fit(X[:1000]).transform(X[:1000])  # threads and buffers that are made once
    for work in [each.fit, each.transform]:
        with open("/proc/self/clear_refs", "w") as reset:
            reset.write("5")
        before = peak()
        work(X)
        print((peak() - before) / X.nbytes, work.__name__, each)
"""


@pytest.mark.skipif(not os.access("/proc/self/clear_refs", os.W_OK), reason="the peak of memory is read in /proc")
@pytest.mark.parametrize("kind", ["f8", "f4"])
def test_rows_are_not_copied(kind):
    """In a process of its own: fits and transforms of 96 or 48 MB take a fraction of that beside the rows.

    Scores are a twentieth of the rows, and of single precision twice as large while they are computed; kernel PCA
    keeps those of the fit.
    """
    done = subprocess.run([sys.executable, "-c", PEAK, kind], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    shares = [float(line.split()[0]) for line in done.stdout.splitlines()]
    assert len(shares) == 11
    assert max(shares) < 0.5, done.stdout


BAD = {
    "NaN": np.where(np.arange(20).reshape(5, 4) == 7, np.nan, 1.0 * np.arange(20).reshape(5, 4)),
    "infinite": np.where(np.arange(20).reshape(5, 4) == 7, np.inf, 1.0 * np.arange(20).reshape(5, 4)),
    "infinite single": np.where(np.arange(20).reshape(5, 4) == 7, -np.inf, 1.0).astype(np.float32),
    "no rows": np.empty((0, 4)),
    "no columns": np.empty((5, 0)),
    "one dimension": np.arange(4.0),
    "three dimensions": np.zeros((2, 2, 2)),
    "a number": 3.0,
    "words": np.array([["a", "b"], ["c", "d"]]),
    "complex": np.ones((5, 4)) * 1j,
    "ragged": [[1.0, 2.0], [3.0]],
    "None": None,
    "sparse NaN": sparse.csr_matrix([[np.nan, 1.0], [0.0, 2.0]]),
}


def words_of(function, rows, owner):
    """The error of a call, with the name of the class left out."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises((ValueError, TypeError)) as raised:
            function(rows)
    words = str(raised.value).splitlines()[0].replace(type(owner).__name__, "CLASS")
    # Ours ask for two rows where one gives nothing but NaN.
    return type(raised.value), words.replace("a minimum of 2 is", "a minimum of 1 is")


@pytest.mark.parametrize("bad", BAD)
@every_estimator
def test_rows_that_are_refused(name, bad):
    ours, theirs = (fresh(each) for each in ESTIMATORS[name])
    if bad.startswith("sparse") and name in ("PCA", "Whitening"):
        theirs.set_params(svd_solver="arpack")
    # scikit-learn has two texts for words in place of numbers.
    compared = slice(1) if bad == "words" else slice(2)
    assert words_of(ours.fit, BAD[bad], ours)[compared] == words_of(theirs.fit, BAD[bad], theirs)[compared]
    ours.fit(IRIS)
    theirs.fit(IRIS)
    assert words_of(ours.transform, BAD[bad], ours)[compared] == words_of(theirs.transform, BAD[bad], theirs)[compared]


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_kernel_pca_of_one_row(kernel):
    ours, theirs = (each(1, kernel=kernel).fit(IRIS[:1]) for each in (KernelPCA, decomposition.KernelPCA))
    assert_array_equal(ours.eigenvalues_, theirs.eigenvalues_)
    assert_array_equal(ours.transform(IRIS[:3]), theirs.transform(IRIS[:3]))


def test_one_row_is_refused_where_nothing_can_be_learned():
    for estimator in [PCA(), Whitening()]:
        with pytest.raises(ValueError, match="Found array with 1 sample.* while a minimum of 2 is required"):
            estimator.fit(IRIS[:1])
    for estimator in [PCA(2), Whitening(), KernelPCA(2, kernel="rbf")]:
        fitted = estimator.fit(IRIS)
        assert_allclose(fitted.transform(IRIS[:1]), fitted.transform(IRIS)[:1], atol=1e-12)


@every_estimator
def test_wrong_columns(name):
    ours, theirs = (fresh(each).fit(IRIS) for each in ESTIMATORS[name])
    for new in [IRIS[:, :3], np.hstack([IRIS, IRIS]), sparse.csr_matrix(IRIS[:, :2])]:
        if sparse.issparse(new) and name in ("PCA", "Whitening"):
            theirs = decomposition.PCA(2, svd_solver="arpack").fit(sparse.csr_matrix(IRIS))
        assert words_of(ours.transform, new, ours) == words_of(theirs.transform, new, theirs)


@every_estimator
def test_wrong_names(name):
    frame = pd.DataFrame(IRIS, columns=NAMES)
    ours, theirs = (fresh(each).fit(frame) for each in ESTIMATORS[name])
    for columns in [["a", "b", "d", "c"], ["a", "b", "c", "e"]]:
        new = pd.DataFrame(IRIS, columns=columns)
        with pytest.raises(ValueError) as expected:
            theirs.transform(new)
        with pytest.raises(ValueError) as raised:
            ours.transform(new)
        assert str(raised.value) == str(expected.value)
    with pytest.warns(UserWarning, match="X does not have valid feature names, but .* was fitted with feature names"):
        ours.transform(IRIS)
    unnamed = fresh(ours).fit(IRIS)
    with pytest.warns(UserWarning, match="X has feature names, but .* was fitted without feature names"):
        unnamed.transform(frame)
    # A second fit forgets the names of the first.
    assert not hasattr(ours.fit(IRIS), "feature_names_in_")


@every_estimator
def test_names_that_are_there_twice(name):
    ours = fresh(ESTIMATORS[name][0])
    # Newer versions of scikit-learn refuse it in words of their own.
    with pytest.raises(ValueError, match="'a'.* 2 times"):
        ours.fit(pd.DataFrame(IRIS, columns=["a", "b", "a", "c"]))
