"""Manifold models between Python and the command line, to the last bit."""

import json
import os
import shutil
import subprocess

import eigenlift
import numpy as np
import pytest
from eigenlift import ClassicalMDS, DiffusionMap, Isomap, LocallyLinearEmbedding, SpectralEmbedding
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.datasets import make_s_curve

BINARY = os.environ.get("EIGENLIFT_BIN") or shutil.which("eigenlift")
pytestmark = pytest.mark.skipif(
    not BINARY, reason="the command line is not here: EIGENLIFT_BIN is not set and eigenlift is not on the PATH"
)
ROWS = make_s_curve(300, random_state=0)[0]
NEW = ROWS[:40] + 0.01
# Estimators, and what the command line needs for the same model. scikit-learn counts a row as its own neighbour.
CASES = {
    "isomap": (Isomap(n_neighbors=8), "isomap --neighbors 8"),
    "landmarks": (Isomap(n_neighbors=8, landmarks=50), "isomap --neighbors 8 --landmarks 50"),
    "radius": (Isomap(n_neighbors=None, radius=0.9, n_components=3), "isomap --radius 0.9 -k 3"),
    "manhattan": (Isomap(n_neighbors=9, metric="manhattan"), "isomap --neighbors 9 --metric manhattan"),
    "mds": (ClassicalMDS(2), "mds"),
    "mds-cosine": (ClassicalMDS(2, metric="cosine", landmarks=40), "mds --metric cosine --landmarks 40"),
    "laplacian": (SpectralEmbedding(2, n_neighbors=11), "laplacian --neighbors 10"),
    "heat": (SpectralEmbedding(2, n_neighbors=11, heat=0.5), "laplacian --neighbors 10 --heat 0.5"),
    "kernel": (SpectralEmbedding(2, affinity="rbf", gamma=2), "laplacian --kernel rbf(gamma=2)"),
    "diffusion": (DiffusionMap(2), "diffusion"),
    "walks": (DiffusionMap(2, gamma=2, alpha=0.5, t=3), "diffusion --kernel rbf(gamma=2) --alpha 0.5 --time 3"),
    "lle": (LocallyLinearEmbedding(n_neighbors=12), "lle --neighbors 12"),
    "ltsa": (LocallyLinearEmbedding(n_neighbors=12, method="ltsa"), "lle --neighbors 12 --variant ltsa"),
}


def eigenlift_run(*words):
    done = subprocess.run([BINARY, *map(str, words)], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("name", CASES)
def test_from_python_to_the_command_line(tmp_path, name):
    fitted = clone(CASES[name][0]).fit(ROWS)
    fitted.save(tmp_path / "model.safetensors")
    np.save(tmp_path / "new.npy", NEW)
    eigenlift_run("transform", tmp_path / "model.safetensors", tmp_path / "new.npy", "--out", tmp_path / "out.npy")
    assert_array_equal(np.load(tmp_path / "out.npy"), fitted.transform(NEW))


@pytest.mark.parametrize("name", CASES)
def test_from_the_command_line_to_python(tmp_path, name):
    estimator, words = CASES[name]
    np.save(tmp_path / "rows.npy", ROWS)
    np.save(tmp_path / "new.npy", NEW)
    model, out = tmp_path / "model.safetensors", tmp_path / "out.npy"
    words = [*words.split(" "), "--tol", "1e-10"]
    eigenlift_run("fit", *words, tmp_path / "rows.npy", "--model", model, "--out", tmp_path / "scores.npy")
    loaded = eigenlift.load(model)
    assert type(loaded) is type(estimator) and loaded.n_features_in_ == 3
    assert_array_equal(np.load(tmp_path / "scores.npy"), loaded.embedding_)
    eigenlift_run("transform", model, tmp_path / "new.npy", "--out", out)
    assert_array_equal(np.load(out), loaded.transform(NEW))
    # Both ways of fitting agree; signs may follow other conventions.
    fitted = clone(estimator).fit(ROWS)
    size = np.abs(fitted.embedding_).max()
    assert_allclose(np.abs(loaded.embedding_), np.abs(fitted.embedding_), atol=1e-6 * size)
    # Loaded models are fitted again with the parameters that the file tells.
    for parameter in ("n_components", "n_neighbors", "radius", "landmarks", "method"):
        if parameter in estimator.get_params():
            assert getattr(loaded, parameter) == getattr(estimator, parameter), parameter


def test_distances_and_parts_travel(tmp_path):
    D = cdist(ROWS, ROWS)
    fitted = Isomap(n_neighbors=8, metric="precomputed").fit(D)
    fitted.save(tmp_path / "model.safetensors")
    loaded = eigenlift.load(tmp_path / "model.safetensors")
    assert loaded.metric == "precomputed"
    assert_array_equal(loaded.transform(D[:9]), fitted.transform(D[:9]))
    X = np.concatenate([ROWS, ROWS[:100] + 50])
    with pytest.warns(eigenlift.EigenliftWarning, match="by itself"):
        apart = Isomap(n_neighbors=8, disconnected="separate").fit(X)
    apart.save(tmp_path / "parts.safetensors")
    loaded = eigenlift.load(tmp_path / "parts.safetensors")
    assert_array_equal(loaded.transform(X), apart.transform(X))
    assert_array_equal(loaded.labels_, apart.labels_)
    np.save(tmp_path / "new.npy", X)
    eigenlift_run("transform", tmp_path / "parts.safetensors", tmp_path / "new.npy", "--out", tmp_path / "out.npy")
    assert_array_equal(np.load(tmp_path / "out.npy"), apart.transform(X))


def test_the_doctor_says_the_same(tmp_path):
    np.save(tmp_path / "rows.npy", ROWS)
    told = json.loads(eigenlift_run("doctor", "isomap", tmp_path / "rows.npy", "--json"))
    report = eigenlift.isomap_doctor(ROWS)
    told = told.get("report", told)
    assert told["recommended"] == report.recommended_ and told["sentence"] == report.sentence_
    assert told["sweep"] == report.sweep_
