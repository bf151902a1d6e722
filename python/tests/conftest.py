"""What all tests share: a check of which package is tested, and rows with noise whose truth is known."""

import os
import sysconfig
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits


def pytest_configure():
    # Set by `cargo xtask`: the tests must see the installed wheel, not the folder of sources.
    if not os.environ.get("EIGENLIFT_TEST_INSTALLED"):
        return
    import eigenlift

    installed = Path(sysconfig.get_path("platlib")).resolve()
    found = Path(eigenlift.__file__).resolve()
    if not found.is_relative_to(installed):
        raise pytest.UsageError(f"eigenlift is {found}; the tests must use the one installed in {installed}")


# What a plan says of the machine and the moment.
MACHINE = ("threads", "at_once", "bytes_needed", "most_bytes", "bytes_allowed")

MOMENT = ("of memory are free", "fit into memory at once")


@pytest.fixture
def portable():
    """What a model file keeps of a plan: nothing of the machine and the moment, so that the same fit is the same bytes."""

    def of(plan):
        kept = {name: value for name, value in plan.items() if name not in MACHINE}
        kept["reasons"] = [reason for reason in kept["reasons"] if not any(word in reason for word in MOMENT)]
        if "views" in kept:
            kept["views"] = [of(view) for view in kept["views"]]
        return kept

    return of


@pytest.fixture(autouse=True)
def many_tasks(request, monkeypatch):
    """Tests of the cluster use small blocks, each a task of its own."""
    if request.module.__name__.rpartition(".")[2].startswith("test_dask"):
        from eigenlift._cluster import _pieces

        monkeypatch.setattr(_pieces, "_FEW_ROWS", 1)


def _curve(random, n_features, place, noise):
    """800 rows around a curve that lies turned in space: the curve, and the rows."""
    clean = np.zeros((800, n_features))
    clean[:, :2] = np.transpose(place(random.random(800)))
    clean = clean @ np.linalg.qr(random.normal(size=(n_features, n_features)))[0]
    return clean, clean + noise * random.normal(size=clean.shape)


@pytest.fixture(scope="session")
def noisy_problems():
    """By name: rows to fit, and 200 others clean and with noise. All are drawn one after the other from one seed."""
    random = np.random.default_rng(1)
    digits = load_digits().data / 16
    digits = digits[random.permutation(len(digits))]
    fitted, clean = digits[:600], digits[600:800]

    def with_noise(rows):
        return rows + 0.3 * random.normal(size=rows.shape)

    problems = {"digits clean": (fitted, clean, with_noise(clean))}
    problems["digits noisy"] = (with_noise(fitted), clean, with_noise(clean))
    for name, n_features, place, noise in (
        ("circle", 10, lambda t: (np.cos(2 * np.pi * t), np.sin(2 * np.pi * t)), 0.2),
        ("sine", 20, lambda t: (4 * t - 2, np.sin(10 * t - 5)), 0.15),
    ):
        clean, rows = _curve(random, n_features, place, noise)
        problems[name] = (rows[:600], clean[600:], rows[600:])
    return problems
