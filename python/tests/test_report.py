"""The report: one file that holds all it needs, for every method."""

import hashlib
import json
import os
import re
import sys
import warnings
from html import unescape

import eigenlift
import numpy as np
import pytest
from eigenlift import (
    PCA,
    ClassicalMDS,
    DiffusionMap,
    IncrementalPCA,
    Isomap,
    KernelPCA,
    LocallyLinearEmbedding,
    SpectralEmbedding,
    Whitening,
    _native,
    _report,
    kernels,
    report,
)
from numpy.testing import assert_allclose
from sklearn.datasets import load_digits, load_iris, make_blobs
from sklearn.exceptions import NotFittedError

IRIS, SPECIES = load_iris(return_X_y=True)
BLOBS, BLOB = make_blobs(60, centers=3, random_state=0)
METHODS = [
    KernelPCA(3, kernel="rbf", gamma=0.2),
    KernelPCA(3, kernel="rbf", gamma=0.2, rank=20),
    PCA(3),
    PCA("auto"),
    IncrementalPCA(3),
    Whitening(),
    Isomap(n_neighbors=5),
    ClassicalMDS(3),
    SpectralEmbedding(2),
    LocallyLinearEmbedding(n_neighbors=8),
    DiffusionMap(2),
]


@pytest.fixture
def told(monkeypatch, tmp_path):
    """Writes a report; gives what was told to the compiled part, and the page."""
    handed = []

    def watched(text, write=_native.report_html):
        handed.append(json.loads(text))
        return write(text)

    monkeypatch.setattr(_native, "report_html", watched)

    def tell(*arguments, **named):
        path = report(*arguments, path=tmp_path / "told.html", **named)
        assert path == str(tmp_path / "told.html") and os.listdir(tmp_path) == ["told.html"]
        return handed[-1], (tmp_path / "told.html").read_text(encoding="utf-8")

    return tell


def section(story, heading):
    (found,) = (part["blocks"] for part in story["sections"] if part["heading"] == heading)
    return found


def fitted(model, X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", eigenlift.EigenliftWarning)
        return model.fit(X)


@pytest.mark.parametrize("model", METHODS, ids=lambda model: f"{type(model).__name__} {model.n_components}")
def test_every_method_is_told(model, told):
    fitted(model, IRIS)
    names = load_iris().target_names[SPECIES]
    story, page = told(model, IRIS, names)
    points = section(story, "The embedding")[0]
    scores = model.transform(IRIS)
    assert_allclose(np.reshape(points["scores"], (150, -1)), scores, atol=1e-9)
    assert len(points["axes"]) == scores.shape[1] and points["color"]["labels"] == names.tolist()
    assert points["rows"]["values"] == IRIS.ravel().tolist()
    assert story["warnings"] == model._model.warnings
    assert section(story, "What was decided, and why")[0]["text"] == str(model.plan_).rstrip()
    values = section(story, "The numbers")[0]
    assert values["heading"][1].startswith("eigenvalue") and len(values["rows"]) == len(model._model.eigenvalues)
    (scree,) = section(story, "Pictures")
    assert scree["svg"].lstrip().startswith(("<svg", "<?xml"))
    text = unescape(page)
    assert page.startswith("<!DOCTYPE html>") or page.lower().startswith("<!doctype html>")
    for words in (*story["warnings"], repr(model).replace("\n", " "), eigenlift.__version__, story["title"]):
        assert words in text or re.sub(r"\s+", " ", words) in text
    outside = re.findall(r"(?:src|href)=[\"'](?!data:|#|blob:)([^\"']*)", page)
    assert not [address for address in outside if address]


def test_the_certificate_is_told_in_words(told):
    model = KernelPCA(3, kernel="rbf", gamma=0.2, rank=20).fit(IRIS)
    story, _ = told(model, IRIS)
    table = section(story, "The numbers")[0]
    low, high = (table["heading"].index(name) for name in ("at least", "at most"))
    for row, interval in zip(table["rows"], model.certificate_.intervals):
        assert float(row[low]) == pytest.approx(interval["low"]) and float(row[high]) == pytest.approx(interval["high"])
    lines = section(story, "How far they can be trusted")[0]["lines"]
    assert any("lies between the bounds" in line for line in lines) and any("residual-trace" in line for line in lines)
    assert not any(line.startswith("component ") for line in lines)
    rules = section(told(PCA("auto").fit(IRIS), IRIS)[0], "How far they can be trusted")[-1]
    assert [row[0] for row in rules["rows"]] == [rule["name"] for rule in PCA("auto").fit(IRIS).choice_.rules]
    chosen = KernelPCA(2, kernel="rbf", gamma="auto").fit(IRIS[::3])
    story, _ = told(chosen, IRIS[::3])
    assert any(
        chosen.choice_.sentence.rstrip(".") in line
        for line in section(story, "How far they can be trusted")[0]["lines"]
    )
    assert set(chosen.choice_.warnings) <= set(story["warnings"])


def test_the_data_is_told(told):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(IRIS, columns=["a", "b", "</script><b>", "$d$"])
    story, page = told(PCA(2).fit(frame), frame, pandas.Series(IRIS[:, 0], name="weight"), title="Iris & co <1>")
    points, table = section(story, "The embedding")[0], section(story, "The data")[1]
    assert points["rows"]["names"] == frame.columns.tolist() == [row[0] for row in table["rows"]]
    assert points["color"]["kind"] == "values" and points["color"]["name"] == "weight"
    assert_allclose([float(row[1]) for row in table["rows"]], IRIS.mean(axis=0), rtol=1e-4)
    facts = dict(section(story, "The data")[0]["rows"])
    assert facts["rows"] == "150" and facts["SHA-256 of the rows"] == hashlib.sha256(IRIS.tobytes()).hexdigest()
    assert "<title>Iris &amp; co &lt;1&gt;</title>" in page and "</script><b>" not in page
    story, _ = told(PCA(2).fit(IRIS), IRIS, feature_names="wxyz")
    assert section(story, "The embedding")[0]["rows"]["names"] == list("wxyz")


def test_labels_cannot_leave_their_place(told):
    labels = np.array(["</script><script>alert(1)</script>", "<!--", "\u2028 \0 '\"", "&amp;"] * 15)
    story, page = told(PCA(2).fit(BLOBS), BLOBS, labels)
    assert section(story, "The embedding")[0]["color"]["labels"] == labels.tolist()
    assert "alert(1)</script>" not in page and "<!--" not in page.split("<body", 1)[1]


def test_how_to_do_it_again(told):
    model = KernelPCA(2, kernel=kernels.RBF(gamma=0.5) + kernels.Linear(), tol=1e-8).fit(IRIS)
    story, _ = told(model, IRIS, SPECIES)
    command = section(story, "How to do it again")[0]["text"]
    assert "from eigenlift.kernels import" in command and ", y, path=" in command
    told_again = {}
    program = command.replace("eigenlift.report(", "told_again['model'] = (")
    program = program.replace(", y, path=", ", y, ")
    exec(program, {"X": IRIS, "y": SPECIES, "told_again": told_again})
    assert_allclose(told_again["model"][0].transform(IRIS), model.transform(IRIS))
    versions = dict(section(story, "How to do it again")[1]["rows"])
    assert versions["eigenlift"] == eigenlift.__version__ and versions["NumPy"] == np.__version__


def test_contours_of_two_columns(told, monkeypatch):
    model = KernelPCA(2, kernel="rbf", gamma=1).fit(BLOBS)
    story, _ = told(model, BLOBS, BLOB)
    assert [block["name"] for block in section(story, "Pictures")] == ["scree", "contours"]
    assert told(model, BLOBS, BLOB)[0] == story
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    story, _ = told(model, BLOBS, BLOB)
    assert [block["name"] for block in section(story, "Pictures")] == ["scree"]


def test_large_tables_leave_their_rows_out(told, monkeypatch):
    digits = load_digits().data
    pca = PCA(20).fit(digits)
    story, page = told(pca, digits, image=(8, 8))
    points = section(story, "The embedding")[0]
    assert points["image"] == [8, 8] and len(points["axes"]) == 12 and "first 12 of 20" in points["caption"]
    assert len(page) < 2_000_000
    monkeypatch.setattr(_report, "_MOST_NUMBERS", 1000)
    monkeypatch.setattr(_report, "_MOST_POINTS", 600)
    points = section(told(pca, digits)[0], "The embedding")[0]
    assert "rows" not in points and points["row_numbers"][:3] == [1, 4, 7]
    assert len(points["scores"]) == 12 * 599 and "One row in 3 is shown." in points["caption"]


def test_sparse_rows_and_distances(told):
    from scipy import sparse
    from sklearn.metrics import pairwise_distances

    rows = sparse.random(40, 6, 0.5, "csr", random_state=0)
    story, _ = told(PCA(2).fit(rows), rows)
    assert section(story, "The embedding")[0]["rows"]["values"] == rows.toarray().ravel().tolist()
    distances = pairwise_distances(IRIS)
    model = ClassicalMDS(2, metric="precomputed").fit(distances)
    story, _ = told(model, distances)
    assert_allclose(np.reshape(section(story, "The embedding")[0]["scores"], (150, 2)), model.embedding_, atol=1e-8)


def test_models_with_little_to_tell(told):
    for model, rows in (
        (PCA(0), IRIS),
        (PCA(2), np.ones((5, 4))),
        (KernelPCA(2, kernel="rbf"), np.ones((5, 4))),
        (KernelPCA(5, kernel="sigmoid", gamma=0.05, repair="flip"), IRIS),
        (eigenlift.Nystroem(n_components=20), IRIS),
        (eigenlift.RBFSampler(n_components=20), IRIS),
    ):
        story, page = told(fitted(model, rows), rows)
        assert story["title"] in page and section(story, "How to do it again")


def test_values_that_are_missing(told):
    y = np.where(np.arange(150) == 4, np.nan, IRIS[:, 0])
    story, _ = told(PCA(2).fit(IRIS), IRIS, y)
    values = section(story, "The embedding")[0]["color"]["values"]
    assert values[4] is None and values[5] == IRIS[5, 0]


def test_what_is_refused(tmp_path):
    path = tmp_path / "report.html"
    pca = PCA(2).fit(IRIS)
    for error, words, arguments, named in (
        (TypeError, "estimator of eigenlift", (IRIS, IRIS), {}),
        (NotFittedError, "not fitted", (PCA(2), IRIS), {}),
        (ValueError, "4 columns", (pca, IRIS), {"feature_names": ["a"]}),
        (ValueError, "height times width", (pca, IRIS), {"image": (3, 3)}),
        (ValueError, "one label for each", (pca, IRIS, SPECIES[1:]), {}),
        (ValueError, "features", (pca, IRIS[:, :2]), {}),
    ):
        with pytest.raises(error, match=words):
            report(*arguments, path=path, **named)
    with pytest.raises(FileNotFoundError):
        report(pca, IRIS, path=tmp_path / "nowhere" / "report.html")
    assert not os.listdir(tmp_path)


def test_an_earlier_report_stays_until_the_new_one_is_complete(tmp_path, monkeypatch):
    path = tmp_path / "report.html"
    path.write_text("earlier")

    def fails(*_):
        raise OSError("the disk is full")

    monkeypatch.setattr(os, "replace", fails)
    with pytest.raises(OSError, match="full"):
        report(PCA(2).fit(IRIS), IRIS, path=path)
    assert path.read_text() == "earlier" and os.listdir(tmp_path) == ["report.html"]
