"""Models that travel: files between Python and the command line, pickles and copies, all to the last bit."""

import copy
import io
import json
import os
import pickle
import shutil
import struct
import subprocess
import warnings

import eigenlift
import joblib
import numpy as np
import pandas as pd
import pytest
from eigenlift import PCA, KernelPCA, ModelFileError, Whitening
from eigenlift.kernels import RBF, Linear
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn import decomposition
from sklearn.datasets import load_iris

IRIS = load_iris().data
NAMES = ["length", "width", "petal length", "größe"]
BINARY = os.environ.get("EIGENLIFT_BIN") or shutil.which("eigenlift")
command_line = pytest.mark.skipif(
    not BINARY, reason="the command line is not here: EIGENLIFT_BIN is not set and eigenlift is not on the PATH"
)
# Estimators, and what the command line needs for the same model.
CASES = {
    "exact": (KernelPCA(3, kernel="rbf", gamma=0.3), "kpca -k 3 --kernel rbf(gamma=0.3)"),
    "median": (KernelPCA(2, kernel="rbf(gamma=median)"), "kpca"),
    "polynomial": (KernelPCA(3, kernel="poly", gamma=0.5), "kpca -k 3 --kernel polynomial(degree=3,gamma=0.5)"),
    "linear": (KernelPCA(3), "kpca -k 3 --kernel linear"),
    "sum": (KernelPCA(3, kernel=RBF(gamma=0.5) + 0.1 * Linear()), "kpca -k 3 --kernel rbf(gamma=0.5)+0.1*linear"),
    "landmarks": (KernelPCA(3, kernel="rbf", gamma=0.3, rank=30), "kpca -k 3 --kernel rbf(gamma=0.3) --rank 30"),
    "fourier": (
        KernelPCA(3, kernel="rbf", gamma=0.3, approximation="fourier", rank=40),
        "kpca -k 3 --kernel rbf(gamma=0.3) --rank 40 --low-rank fourier",
    ),
    "pca": (PCA(3), "pca -k 3"),
    "standardised": (PCA(2, standardize=True), "pca -k 2 --scale"),
    "full": (PCA(2, svd_solver="full"), "pca -k 2 --route tsqr"),
    "zca": (Whitening(), "whiten"),
    "pca-cor": (Whitening(2, method="pca-cor", ridge=0.01), "whiten --method pca-cor --ridge 0.01 -k 2"),
    "cholesky": (Whitening(method="cholesky"), "whiten --method cholesky"),
}


def rows(n=150, seed=0):
    """Rows whose numbers fill every bit of the mantissa."""
    return IRIS[:n] + np.random.RandomState(seed).randn(n, 4) / 3


def same_bits(a, b):
    assert (a.dtype, a.shape) == (b.dtype, b.shape)
    assert np.ascontiguousarray(a).tobytes() == np.ascontiguousarray(b).tobytes()


def eigenlift_run(*words, status=0):
    """Runs the command line; gives what it says on the standard error stream."""
    done = subprocess.run([BINARY, *map(str, words)], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == status, done.stderr
    return done.stderr


@command_line
@pytest.mark.parametrize("single", [False, True], ids=["f64", "f32"])
@pytest.mark.parametrize("name", CASES)
def test_from_python_to_the_command_line(tmp_path, name, single):
    estimator, _ = CASES[name]
    precision = np.float32 if single else np.float64
    X, new = rows().astype(precision), rows(40, seed=1).astype(precision)
    fitted = copy.deepcopy(estimator).fit(X)
    fitted.save(tmp_path / "model.safetensors")
    np.save(tmp_path / "new.npy", new)
    eigenlift_run("transform", tmp_path / "model.safetensors", tmp_path / "new.npy", "--out", tmp_path / "out.npy")
    scores = np.load(tmp_path / "out.npy")
    if single:
        # The command line writes doubles; rounded they are ours.
        assert_allclose(scores, fitted.transform(new), rtol=1e-5, atol=1e-5)
    else:
        same_bits(scores, fitted.transform(new))


@command_line
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("name", CASES)
def test_from_the_command_line_to_python(tmp_path, name):
    estimator, words = CASES[name]
    X, new = rows(), rows(40, seed=1)
    np.save(tmp_path / "rows.npy", X)
    np.save(tmp_path / "new.npy", new)
    model, out = tmp_path / "model.safetensors", tmp_path / "out.npy"
    eigenlift_run("fit", *words.split(" "), tmp_path / "rows.npy", "--model", model, "--out", tmp_path / "scores.npy")
    loaded = eigenlift.load(model)
    assert type(loaded) is type(estimator)
    assert loaded.n_features_in_ == 4
    eigenlift_run("transform", model, tmp_path / "new.npy", "--out", out)
    same_bits(np.load(out), loaded.transform(new))
    # Both ways of fitting agree; signs may follow other conventions.
    fitted = copy.deepcopy(estimator).fit(X)
    size = np.abs(fitted.transform(new)).max()
    assert_allclose(np.abs(loaded.transform(new)), np.abs(fitted.transform(new)), atol=1e-9 * size)
    assert_allclose(np.abs(np.load(tmp_path / "scores.npy")), np.abs(fitted.transform(X)), atol=1e-9 * size)
    # And once more through Python.
    loaded.save(tmp_path / "again.safetensors")
    eigenlift_run("transform", tmp_path / "again.safetensors", tmp_path / "new.npy", "--out", out)
    same_bits(np.load(out), loaded.transform(new))


@command_line
def test_names_of_columns_travel(tmp_path):
    frame = pd.DataFrame(rows(), columns=NAMES)
    frame.to_csv(tmp_path / "rows.csv", index=False)
    for method, estimator in [("kpca", KernelPCA(2, kernel="rbf")), ("pca", PCA(2)), ("whiten", Whitening())]:
        model = tmp_path / "cli.safetensors"
        eigenlift_run("fit", method, tmp_path / "rows.csv", "--model", model, "--out", tmp_path / "o.npy")
        loaded = eigenlift.load(model)
        assert list(loaded.feature_names_in_) == NAMES
        loaded.transform(frame)
        with pytest.raises(ValueError, match="The feature names should match those that were passed during fit"):
            loaded.transform(frame[NAMES[::-1]])
        # The command line puts columns into the order of the model by their names.
        estimator.fit(frame).save(model)
        frame[NAMES[::-1]].to_parquet(tmp_path / "turned.parquet")
        eigenlift_run("transform", model, tmp_path / "turned.parquet", "--out", tmp_path / "t.npy")
        same_bits(np.load(tmp_path / "t.npy"), estimator.transform(frame))


@command_line
def test_arrays_without_names_stay_without(tmp_path):
    np.save(tmp_path / "rows.npy", rows())
    for method in ["kpca", "pca", "whiten"]:
        model = tmp_path / f"{method}.safetensors"
        eigenlift_run("fit", method, tmp_path / "rows.npy", "--model", model, "--out", tmp_path / "o.npy")
        loaded = eigenlift.load(model)
        assert not hasattr(loaded, "feature_names_in_")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            loaded.transform(rows())


@command_line
def test_certificates_travel(tmp_path, portable):
    fitted = KernelPCA(3, kernel="rbf", rank=40).fit(rows())
    fitted.certify(rows())
    fitted.save(tmp_path / "model.safetensors")
    words = [BINARY, "inspect", tmp_path / "model.safetensors", "--json"]
    account = json.loads(subprocess.run(words, capture_output=True, check=True, timeout=60).stdout)
    found = account.get("certificate", account)
    assert_array_equal(found["residuals"], fitted.certificate_.residuals)
    again = eigenlift.load(tmp_path / "model.safetensors")
    assert again.certificate_ == fitted.certificate_ and portable(again.plan_) == portable(fitted.plan_)
    assert_array_equal(again.eigenvalues_, fitted.eigenvalues_)


@pytest.mark.parametrize("name", CASES)
def test_files_and_copies(tmp_path, name, portable):
    X, new = rows(), rows(40, seed=1)
    fitted = copy.deepcopy(CASES[name][0]).fit(X)
    expected = fitted.transform(new)
    fitted.save(tmp_path / "model.safetensors")
    joblib.dump(fitted, tmp_path / "model.joblib")
    copies = [
        eigenlift.load(tmp_path / "model.safetensors"),
        eigenlift.load(str(tmp_path / "model.safetensors")),
        pickle.loads(pickle.dumps(fitted)),
        pickle.loads(pickle.dumps(fitted, protocol=2)),
        joblib.load(tmp_path / "model.joblib"),
        joblib.load(tmp_path / "model.joblib", mmap_mode="r"),
        copy.deepcopy(fitted),
        copy.copy(fitted),
    ]
    for each in [*copies, pickle.loads(pickle.dumps(copies[0]))]:
        same_bits(each.transform(new), expected)
        assert each.n_features_in_ == 4
    for each in copies[2:]:
        assert portable(each.plan_) == portable(fitted.plan_) and each.certificate_ == fitted.certificate_


def test_a_loaded_model_has_the_attributes_of_the_fit(tmp_path):
    X = rows()
    fitted = KernelPCA(3, kernel="rbf", gamma=0.3).fit(X)
    fitted.save(tmp_path / "model.safetensors")
    loaded = eigenlift.load(tmp_path / "model.safetensors")
    for name in ["eigenvalues_", "eigenvectors_", "X_fit_", "explained_variance_ratio_"]:
        assert_allclose(getattr(loaded, name), getattr(fitted, name), rtol=1e-13, atol=1e-15, err_msg=name)
    assert loaded.kernel_ == fitted.kernel_ == "rbf(gamma=0.3)"
    assert_array_equal(loaded.get_feature_names_out(), fitted.get_feature_names_out())
    assert loaded.certify().worst_residual < 1e-9
    refitted = loaded.fit(X)
    assert_array_equal(refitted.eigenvalues_, fitted.eigenvalues_)


def test_sparse_models(tmp_path):
    X = sparse.random(80, 30, density=0.2, random_state=0, format="csr")
    fitted = KernelPCA(3, kernel="rbf").fit(X)
    fitted.save(tmp_path / "model.safetensors")
    for each in [eigenlift.load(tmp_path / "model.safetensors"), pickle.loads(pickle.dumps(fitted))]:
        same_bits(each.transform(X), fitted.transform(X))
        assert sparse.issparse(each.X_fit_)
    theirs = decomposition.KernelPCA(3, kernel="rbf").fit(X)
    assert_allclose(each.transform(X), theirs.transform(X), atol=1e-9)


def test_precomputed_models(tmp_path):
    K = RBF(gamma=0.3)(rows())
    fitted = KernelPCA(3, kernel="precomputed").fit(K)
    fitted.save(tmp_path / "model.safetensors")
    loaded = eigenlift.load(tmp_path / "model.safetensors")
    assert loaded.kernel == "precomputed"
    same_bits(loaded.transform(K), fitted.transform(K))


def test_a_pickle_holds_rows_once():
    X = np.random.RandomState(0).randn(2000, 100)
    for fitted in [KernelPCA(2, kernel="rbf").fit(X), KernelPCA(2, kernel="rbf", copy_X=False).fit(X)]:
        size = len(pickle.dumps(fitted))
        assert X.nbytes < size < 1.2 * X.nbytes
    assert len(pickle.dumps(KernelPCA(2, kernel="rbf", rank=50).fit(X))) < 0.2 * X.nbytes


def test_mapped_rows_are_not_copied(tmp_path):
    X = np.random.RandomState(0).randn(2000, 100)
    joblib.dump(KernelPCA(2, kernel="rbf").fit(X), tmp_path / "model.joblib")
    mapped = joblib.load(tmp_path / "model.joblib", mmap_mode="r")
    assert isinstance(mapped.X_fit_, np.memmap)
    same_bits(mapped.transform(X[:50]), joblib.load(tmp_path / "model.joblib").transform(X[:50]))


@pytest.fixture
def saved(tmp_path):
    KernelPCA(2, kernel="rbf", gamma=0.3).fit(rows()).save(tmp_path / "model.safetensors")
    return tmp_path / "model.safetensors"


@pytest.mark.parametrize("kept", [0, 5, 8, 100, 0.5, -1])
def test_truncated_files(saved, kept):
    data = saved.read_bytes()
    saved.write_bytes(data[: int(kept * len(data)) if isinstance(kept, float) else kept])
    with pytest.raises(ModelFileError):
        eigenlift.load(saved)


def test_changed_files(saved):
    data = bytearray(saved.read_bytes())
    for place in [-1, -1000, len(data) // 2]:
        changed = bytearray(data)
        changed[place] ^= 1
        saved.write_bytes(changed)
        with pytest.raises(ModelFileError):
            eigenlift.load(saved)


def foreign(kind):
    if kind == "text":
        return b"a,b,c\n1,2,3\n"
    if kind == "pickle":
        return pickle.dumps(KernelPCA(2).fit(rows()))
    if kind == "npy":
        buffer = io.BytesIO()
        np.save(buffer, rows())
        return buffer.getvalue()
    header = b'{"weight":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}'
    return struct.pack("<Q", len(header)) + header + bytes(8)


@pytest.mark.parametrize("kind", ["text", "pickle", "npy", "safetensors"])
def test_foreign_files(tmp_path, kind):
    (tmp_path / "foreign").write_bytes(foreign(kind))
    with pytest.raises(ModelFileError) as raised:
        eigenlift.load(tmp_path / "foreign")
    assert "foreign" in str(raised.value)
    assert isinstance(raised.value, ValueError)


def test_files_of_a_newer_version(saved):
    data = saved.read_bytes()
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + size])
    own = json.loads(header["__metadata__"]["eigenlift"])
    own["format_version"] += 1
    header["__metadata__"]["eigenlift"] = json.dumps(own, separators=(",", ":"))
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    saved.write_bytes(struct.pack("<Q", len(text)) + text + data[8 + size :])
    with pytest.raises(ModelFileError, match="(?i)newer|version"):
        eigenlift.load(saved)


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nowhere\.safetensors"):
        eigenlift.load(tmp_path / "nowhere.safetensors")
    with pytest.raises((IsADirectoryError, PermissionError, ModelFileError)):
        eigenlift.load(tmp_path)


def test_a_failed_save_leaves_nothing_behind(tmp_path):
    fitted = PCA(2).fit(rows())
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError):
        fitted.save(tmp_path / "folder")
    with pytest.raises(OSError):
        fitted.save(tmp_path / "missing" / "model.safetensors")
    refused = KernelPCA(2, kernel=lambda x, y: x @ y).fit(rows(20))
    with pytest.raises(ValueError, match="computed by Python"):
        refused.save(tmp_path / "model.safetensors")
    constant = KernelPCA(2).fit(np.ones((5, 3)))
    with pytest.raises(ValueError, match="no model to save"):
        constant.save(tmp_path / "model.safetensors")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]
    assert list((tmp_path / "folder").iterdir()) == []


def test_a_save_replaces_a_file_and_leaves_no_other(tmp_path):
    target = tmp_path / "model.safetensors"
    target.write_text("old")
    fitted = PCA(2).fit(rows())
    fitted.save(target)
    assert [path.name for path in tmp_path.iterdir()] == ["model.safetensors"]
    same_bits(eigenlift.load(target).transform(rows()), fitted.transform(rows()))


def test_only_what_is_fitted_can_be_saved(tmp_path):
    for estimator in [KernelPCA(2), PCA(2), Whitening()]:
        with pytest.raises(ValueError, match="is not fitted yet"):
            estimator.save(tmp_path / "model.safetensors")
    assert list(tmp_path.iterdir()) == []
