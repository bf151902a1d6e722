"""Certificates of kernel PCA against spectra in 220-bit arithmetic: a few seeds of `benchmarks/certificates.py`."""

import importlib.util
import pathlib
import warnings

import eigenlift
import numpy as np
import pytest

SCRIPT = pathlib.Path(__file__).parents[2] / "benchmarks" / "certificates.py"


@pytest.fixture(scope="module")
def study():
    spec = importlib.util.spec_from_file_location("certificates", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_no_statement_about_small_tables_is_false(study):
    tally = study.Tally()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in range(len(study.KINDS)):
            tally.seed(seed, large=False, most_rows=60)
    assert tally.fits > 400
    assert not tally.violations
    summary = tally.summary()
    assert (summary["fits"], summary["false"]) == (tally.fits, 0)
    assert sum(summary["raised_by_reason"].values()) == summary["raised"]
    assert tally.certified > 0.9 * tally.components
    # Entries of 1e±120 are refused by the linear kernel, and nothing else of those tables.
    reasons = [
        (kind, kernel) for kind, kernel, _, _, text in tally.raised if "kernel values a" in text or "of at most" in text
    ]
    assert set(reasons) == {("huge", "linear"), ("small", "linear")}


@pytest.mark.parametrize("kind", ["binary", "ints", "pos", "shares", "grid"])
def test_no_statement_about_the_tanimoto_kernel_is_false(study, kind, monkeypatch):
    monkeypatch.setattr(study, "KERNELS", [])
    monkeypatch.setattr(study, "NOT_NEGATIVE", ["tanimoto"])
    tally = study.Tally()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in range(study.KINDS.index(kind), 4 * len(study.KINDS), len(study.KINDS)):
            tally.seed(seed, large=False, most_rows=60)
    assert tally.fits >= 4 * len(study.MODES)
    assert not tally.violations and not tally.raised


def test_no_statement_of_the_iterative_solver_is_false(study):
    tally = study.Tally()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in (1, 2, 9):
            tally.seed(seed, large=True, most_rows=310)
    assert tally.fits >= 10
    assert not tally.violations


def test_a_false_statement_would_be_found(study):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(30, 3))
    model = eigenlift.KernelPCA(2, kernel="rbf", gamma=0.3).fit(x)
    w, error = study.eigenvalues(study.centered("rbf", x, {"gamma": 0.3}))
    certificate = {**model.certificate_}
    assert not study.false_statements(certificate, w, w.sum(), error)
    wrong = {**certificate, "bounds": {**certificate["bounds"], "missed": float(w[2]) * 0.9}}
    assert [f[0] for f in study.false_statements(wrong, w, w.sum(), error)] == ["missed"]
    moved = [{"low": i["low"] * 1.01, "high": i["high"] * 1.01} for i in certificate["intervals"]]
    found = study.false_statements({**certificate, "intervals": moved}, w, w.sum(), error)
    assert [f[0] for f in found] == ["interval", "interval"]


def test_landmarks_of_a_kernel_that_is_not_known_to_be_positive_claim_nothing():
    x = np.random.default_rng(3).normal(size=(60, 4))

    def kernel(a, b):
        return float(np.exp(-0.3 * ((a - b) ** 2).sum()))

    with pytest.warns(eigenlift.EigenliftWarning, match="not known to be positive semi-definite"):
        model = eigenlift.KernelPCA(2, kernel=kernel, rank=30).fit(x)
    bounds = model.certificate_["bounds"]
    assert bounds["grounds"] == "none" and bounds["n_certified"] == 0 and bounds["explained"] is None
    assert len(model.certificate_["intervals"]) == 0
