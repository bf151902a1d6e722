"""Memory that the system refuses is an exception with a number, never the end of the process."""

import subprocess
import sys

import pytest

resource = pytest.importorskip("resource")

# Fits in a process whose address space may grow by some MB only.
CHILD = """
import resource, sys
import numpy as np
import eigenlift
from eigenlift import *

X = np.random.default_rng(0).standard_normal(({rows}, {columns})) * np.linspace(3, 0.5, {columns})
y = np.arange({rows}) % 3
model = {model}
# What is loaded and started once does not count.
small = X[:120]
{small}
size = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmSize")) << 10
limit = size + ({mb} << 20)
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
try:
    {fit}
    print("fitted")
except MemoryError as error:
    assert any(c.isdigit() for c in str(error)), error
    print("refused", type(error).__name__)
"""

# Not those with sparse factors (SpectralEmbedding, LocallyLinearEmbedding), whose allocations are not all checked.
ESTIMATORS = [
    ("KernelPCA(5, kernel='rbf', gamma=0.05, n_jobs=2, memory='8GB')", 5000, 10),
    ("KernelPCA(5, kernel='rbf', gamma=0.05, n_jobs=2, memory='8GB', eigen_solver='dense')", 2000, 10),
    ("KernelPCA(5, kernel='rbf', gamma=0.05, n_jobs=2, memory='8GB', rank=400)", 40000, 10),
    ("PCA(5, n_jobs=2, memory='8GB')", 1500, 4000),
    ("Whitening(n_jobs=2, memory='8GB')", 100000, 30),
    ("Isomap(n_neighbors=8, n_jobs=2, memory='8GB')", 4000, 5),
    ("ClassicalMDS(2, n_jobs=2, memory='8GB')", 3000, 5),
    ("DiffusionMap(2, n_jobs=2, memory='8GB')", 5000, 6),
    ("KernelKMeans(3, kernel='rbf', gamma=0.1, n_jobs=2, memory='8GB')", 20000, 6),
    ("Nystroem(n_components=500, n_jobs=2)", 40000, 10),
]


def end(model, rows, columns, mb):
    fit = "getattr(model, 'fit_transform', model.fit)(X)"
    small = "getattr(model, 'fit_transform', model.fit)(small)"
    code = CHILD.format(model=model, rows=rows, columns=columns, mb=mb, fit=fit, small=small)
    return subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, timeout=300)


@pytest.mark.skipif(sys.platform != "linux", reason="address space is limited by the system on Linux only")
@pytest.mark.parametrize(("model", "rows", "columns"), ESTIMATORS)
def test_memory_that_is_refused_is_an_exception(model, rows, columns):
    ends = {}
    # Small allocations are not checked: with less than this, one of them may end the process.
    for mb in (40, 100, 250):
        run = end(model, rows, columns, mb)
        assert run.returncode == 0, (mb, run.returncode, run.stderr[-2000:])
        ends[mb] = run.stdout.split()
    assert all(how == ["fitted"] or how[0] == "refused" for how in ends.values()), ends


@pytest.mark.skipif(sys.platform != "linux", reason="address space is limited by the system on Linux only")
@pytest.mark.parametrize(
    ("model", "rows", "columns"), [row for row in ESTIMATORS if row[0].startswith(("Isomap", "ClassicalMDS"))]
)
def test_the_exception_is_the_one_of_memory_limits(model, rows, columns):
    run = end(model, rows, columns, 12)
    assert run.stdout.split() == ["refused", "MemoryLimitError"], run
