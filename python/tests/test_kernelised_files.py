"""Kernelised models between Python and the command line, to the last bit."""

import os
import shutil
import subprocess

import eigenlift
import numpy as np
import pandas as pd
import pytest
from eigenlift import KernelCCA, KernelDiscriminant, KernelKMeans
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_iris

BINARY = os.environ.get("EIGENLIFT_BIN") or shutil.which("eigenlift")
pytestmark = [
    pytest.mark.skipif(
        not BINARY, reason="the command line is not here: EIGENLIFT_BIN is not set and eigenlift is not on the PATH"
    ),
    pytest.mark.filterwarnings("ignore::eigenlift.EigenliftWarning"),
]
IRIS, SPECIES = load_iris(return_X_y=True)
# Rows whose numbers fill every bit of the mantissa.
ROWS = IRIS + np.random.RandomState(0).randn(150, 4) / 3
NEW = ROWS[::7] + 0.01
NAMES = np.array(["setosa", "versicolor", "virginica"])
VIEWS = {
    "median": (KernelCCA(2, kernel="rbf(gamma=median)"), ""),
    "kernels": (
        KernelCCA(1, kernel=["rbf(gamma=0.3)", "linear"], regularization=0.01, n_permutations=9),
        "-k 1 --kernel rbf(gamma=0.3) --kernel linear --regularization 0.01 --permutations 9",
    ),
    "landmarks": (KernelCCA(2, kernel="rbf", gamma=0.3, rank=30), "--kernel rbf(gamma=0.3) --rank 30"),
}
CLASSES = {
    "median": (KernelDiscriminant(kernel="rbf(gamma=median)"), ""),
    "linear": (KernelDiscriminant(1, regularization=0), "--kernel linear --regularization 0 -k 1"),
    "landmarks": (KernelDiscriminant(kernel="rbf", gamma=0.3, rank=30), "--kernel rbf(gamma=0.3) --rank 30"),
}
CLUSTERS = {
    "median": (KernelKMeans(3, kernel="rbf(gamma=median)"), "--clusters 3"),
    "linear": (KernelKMeans(4), "--clusters 4 --kernel linear"),
    "spectral": (
        KernelKMeans(3, kernel="rbf", gamma=0.3, spectral=2),
        "--clusters 3 --kernel rbf(gamma=0.3) --spectral 2",
    ),
}


def eigenlift_run(*words):
    done = subprocess.run([BINARY, *map(str, words)], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr


def written(folder, name, rows, classes=None):
    """A table with every bit of its numbers."""
    frame = pd.DataFrame(rows, columns=[f"x{j + 1}" for j in range(rows.shape[1])])
    if classes is not None:
        frame["class"] = classes
    frame.to_csv(folder / name, index=False, float_format="%.17g")
    return folder / name


@pytest.mark.parametrize("name", VIEWS)
def test_canonical_correlations(tmp_path, name):
    estimator, words = VIEWS[name]
    fitted = clone(estimator).fit(ROWS[:, :2], ROWS[:, 2:])
    files = [written(tmp_path, "a.csv", ROWS[:, :2]), written(tmp_path, "b.csv", ROWS[:, 2:])]
    eigenlift_run("fit", "kcca", *files, *words.split(), "--model", tmp_path / "theirs.safetensors", "--quiet")
    theirs = eigenlift.load(tmp_path / "theirs.safetensors")
    assert isinstance(theirs, KernelCCA)
    for attribute in ("correlations_", "held_out_correlations_", "regularization_", "p_values_"):
        assert_array_equal(getattr(theirs, attribute), getattr(fitted, attribute))
    for ours, others in zip(fitted.transform(NEW[:, :2], NEW[:, 2:]), theirs.transform(NEW[:, :2], NEW[:, 2:])):
        assert_array_equal(ours, others)
    fitted.save(tmp_path / "ours.safetensors")
    for place, view in enumerate((NEW[:, :2], NEW[:, 2:])):
        np.save(tmp_path / "new.npy", np.ascontiguousarray(view))
        out = tmp_path / "out.npy"
        eigenlift_run(
            "transform", tmp_path / "ours.safetensors", tmp_path / "new.npy", "--view", place + 1, "--out", out
        )
        assert_array_equal(np.load(out), fitted.transform(NEW[:, :2], NEW[:, 2:])[place])


@pytest.mark.parametrize("name", CLASSES)
def test_discriminants(tmp_path, name):
    estimator, words = CLASSES[name]
    fitted = clone(estimator).fit(ROWS, NAMES[SPECIES])
    table = written(tmp_path, "rows.csv", ROWS, NAMES[SPECIES])
    eigenlift_run(
        "fit", "kda", table, "--target", "class", *words.split(), "--model", tmp_path / "theirs.safetensors", "--quiet"
    )
    theirs = eigenlift.load(tmp_path / "theirs.safetensors")
    assert_array_equal(theirs.classes_, NAMES)
    assert_array_equal(theirs.predict_log_proba(NEW), fitted.predict_log_proba(NEW))
    assert_array_equal(theirs.transform(NEW), fitted.transform(NEW))
    assert theirs.held_out_accuracy_ == fitted.held_out_accuracy_
    fitted.save(tmp_path / "ours.safetensors")
    new = written(tmp_path, "new.csv", NEW)
    eigenlift_run("transform", tmp_path / "ours.safetensors", new, "--out", tmp_path / "out.csv")
    found = pd.read_csv(tmp_path / "out.csv")
    assert found["class"].tolist() == fitted.predict(NEW).tolist()


@pytest.mark.parametrize("name", CLUSTERS)
def test_clusters(tmp_path, name):
    estimator, words = CLUSTERS[name]
    fitted = clone(estimator).fit(ROWS)
    np.save(tmp_path / "rows.npy", ROWS)
    eigenlift_run(
        "fit", "kkmeans", tmp_path / "rows.npy", *words.split(), "--model", tmp_path / "theirs.safetensors", "--quiet"
    )
    theirs = eigenlift.load(tmp_path / "theirs.safetensors")
    assert_array_equal(theirs.labels_, fitted.labels_)
    assert_array_equal(theirs.transform(NEW), fitted.transform(NEW))
    assert theirs.inertia_ == fitted.inertia_
    fitted.save(tmp_path / "ours.safetensors")
    new = written(tmp_path, "new.csv", NEW)
    eigenlift_run("transform", tmp_path / "ours.safetensors", new, "--out", tmp_path / "out.csv")
    found = pd.read_csv(tmp_path / "out.csv")
    assert (found["cluster"] - 1).tolist() == fitted.predict(NEW).tolist()
