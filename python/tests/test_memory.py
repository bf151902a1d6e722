"""Memory that the system refuses is an exception with a number, never the end of the process."""

import json
import os
import subprocess
import sys

import pytest

resource = pytest.importorskip("resource")

# One process for each limit: forked after the import, so that its address space may grow by some MB only.
CHILD = """
import json, os, resource, sys, tempfile
import numpy as np
import eigenlift
from eigenlift import *

X = np.random.default_rng(0).standard_normal(({rows}, {columns})) * np.linspace(3, 0.5, {columns})
y = np.arange({rows}) % 3
Y = X[:, :2] ** 2


def fit(model, rows):
    if isinstance(model, KernelCCA):
        return model.fit_transform(X[:rows], Y[:rows])
    if isinstance(model, KernelDiscriminant):
        return model.fit(X[:rows], y[:rows]).transform(X[:rows])
    if getattr(model, "kernel", None) == "precomputed":
        return model.fit_transform(K[:rows, :rows].copy() if rows < {rows} else K)
    return model.fit_transform(X[:rows]) if hasattr(model, "fit_transform") else model.fit(X[:rows])


def limited(mb, warm):
    model = {model}
    # With a small fit before, threads have been started.
    if warm:
        fit(model, 120)
    size = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmSize")) << 10
    limits = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (size + (mb << 20), limits[1]))
    try:
        fit(model, {rows})
        end = ["fitted"]
    except MemoryError as error:
        end = [type(error).__name__, str(error)]
    resource.setrlimit(resource.RLIMIT_AS, limits)
    return end


K = X @ X.T if {precomputed} else None
np.linalg.eigh(np.eye(64))
ends = []
for mb, warm in {limits}:
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(write, json.dumps(limited(mb, warm)).encode())
        except BaseException as error:
            os.write(write, json.dumps(["unexpected", repr(error)]).encode())
        os._exit(0)
    os.close(write)
    status = os.waitpid(child, 0)[1]
    text = os.read(read, 1 << 16)
    os.close(read)
    ends.append(json.loads(text) if text else ["died", str(status)])
print(json.dumps(ends))
"""

LIMITS = (1, 6, 16, 32, 48, 80, 120, 200, 350)

ESTIMATORS = [
    ("KernelPCA(5, kernel='rbf', gamma=0.05, n_jobs=2, memory='8GB')", 5000, 10),
    ("KernelPCA(5, kernel='rbf', gamma=0.05, n_jobs=2, memory='8GB', eigen_solver='dense')", 2000, 10),
    ("KernelPCA(5, kernel='rbf', gamma=0.05, n_jobs=2, memory='8GB', rank=400)", 40000, 10),
    ("KernelPCA(5, kernel='precomputed', n_jobs=2, memory='8GB')", 3000, 10),
    ("PCA(5, n_jobs=2, memory='8GB')", 1500, 4000),
    ("IncrementalPCA(5, n_jobs=2, memory='8GB')", 3000, 1500),
    ("Whitening(n_jobs=2, memory='8GB')", 2500, 1200),
    ("Isomap(n_neighbors=8, n_jobs=2, memory='8GB')", 4000, 5),
    ("ClassicalMDS(2, n_jobs=2, memory='8GB')", 3000, 5),
    ("DiffusionMap(2, n_jobs=2, memory='8GB')", 5000, 6),
    ("SpectralEmbedding(2, affinity='nearest_neighbors', n_neighbors=12, n_jobs=2, memory='8GB')", 6000, 5),
    ("LocallyLinearEmbedding(n_neighbors=12, n_jobs=2, memory='8GB')", 6000, 5),
    ("LocallyLinearEmbedding(n_neighbors=12, method='modified', n_jobs=2, memory='8GB')", 4000, 5),
    ("KernelCCA(2, kernel='rbf', gamma=0.1, n_jobs=2, memory='8GB')", 3000, 6),
    ("KernelDiscriminant(2, kernel='rbf', gamma=0.1, n_jobs=2, memory='8GB')", 3000, 6),
    ("KernelKMeans(3, kernel='rbf', gamma=0.1, n_jobs=2, memory='8GB')", 20000, 6),
    ("Nystroem(n_components=500, n_jobs=2)", 40000, 10),
]


def ends(model, rows, columns, limits):
    """For each pair of MB and whether a small fit comes first: how the fit ended, and with what message."""
    precomputed = "precomputed" in model
    code = CHILD.format(model=model, rows=rows, columns=columns, limits=limits, precomputed=precomputed)
    # What NumPy multiplies and decomposes with ends the process itself when it is refused memory for itself or its threads;
    # with one thread it takes that at its first use, before the limit.
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-W", "ignore", "-c", code]
    run = subprocess.run(command, capture_output=True, text=True, timeout=600, env=environment)
    assert run.returncode == 0, run.stderr[-2000:]
    return json.loads(run.stdout.splitlines()[-1]), run.stderr[-3000:]


@pytest.mark.skipif(sys.platform != "linux", reason="address space is limited by the system on Linux only")
@pytest.mark.parametrize(("model", "rows", "columns"), ESTIMATORS)
def test_memory_that_is_refused_is_an_exception(model, rows, columns):
    found, stderr = ends(model, rows, columns, [(mb, False) for mb in LIMITS])
    for mb, end in zip(LIMITS, found, strict=True):
        # NumPy raises a MemoryError of its own for what it allocates itself.
        refused = end[0] in ("MemoryLimitError", "MemoryError", "_ArrayMemoryError")
        assert end == ["fitted"] or refused, (mb, end, stderr)
        assert end == ["fitted"] or end[0] == "MemoryError" or any(c.isdigit() for c in end[1]), (mb, end)
    # The limits are worth something: the smallest does not suffice.
    assert found[0] != ["fitted"], found


@pytest.mark.skipif(sys.platform != "linux", reason="address space is limited by the system on Linux only")
@pytest.mark.parametrize(
    ("model", "rows", "columns"),
    [row for row in ESTIMATORS if row[0].startswith(("Isomap", "ClassicalMDS", "SpectralEmbedding", "LocallyLinear"))],
)
def test_the_exception_is_the_one_of_memory_limits(model, rows, columns):
    ((kind, message),), _ = ends(model, rows, columns, [(3, False)])
    assert kind == "MemoryLimitError" and "bytes" in message, (kind, message)
