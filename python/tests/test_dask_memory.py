"""What a fit on a cluster holds: a worker a few blocks and the model, the driver sums and landmarks but never the rows."""

import pickle
import sys
import tracemalloc

import dask.array as da
import numpy as np
import pytest
from distributed import Client, LocalCluster
from eigenlift._cluster._dask import Dask
from eigenlift.dask import PCA, IncrementalPCA, KernelPCA, Nystroem, Whitening
from numpy.testing import assert_array_equal

N_COLS, HEIGHT, N_BLOCKS = 20, 50_000, 48
BLOCK = 8 * HEIGHT * N_COLS
ROWS = da.random.default_rng(0).normal(size=(N_BLOCKS * HEIGHT, N_COLS), chunks=(HEIGHT, N_COLS))
RANK = 60
ESTIMATORS = [
    PCA(5),
    PCA(3, route="krylov"),
    Whitening(),
    IncrementalPCA(5),
    KernelPCA(5, kernel="rbf", rank=RANK),
    Nystroem(n_components=RANK, landmarks="uniform"),
]
names = [str(estimator).replace("\n", "") for estimator in ESTIMATORS]


@pytest.fixture(scope="module")
def client():
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        # What a worker needs for itself: the package, and blocks of this size once.
        for estimator in ESTIMATORS:
            estimator.set_params(client=client).fit(ROWS[: 2 * HEIGHT])
        yield client


@pytest.fixture(scope="module")
def at_rest(client):
    return peaks(client)


class Counting(Dask):
    """A backend that counts the bytes of all results that come to the driver."""

    received = 0

    def gather(self, handles, report=None):
        results = super().gather(handles, report)
        self.received += len(pickle.dumps(results))
        return results


def peaks(client):
    """The most memory that each worker has had, in bytes; nothing where that is not known."""
    if sys.platform != "linux":
        return {}

    def peak():
        # Not that of `resource`, which a process has from the one that started it.
        with open("/proc/self/status") as status:
            return next(1024 * int(line.split()[1]) for line in status if line.startswith("VmHWM"))

    return client.run(peak)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=names)
def test_a_worker_holds_a_few_blocks_and_the_driver_none(client, at_rest, estimator):
    tracemalloc.start()
    with Counting(client) as backend:
        estimator.set_params(client=backend).fit(ROWS)
        held = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    # Rows from which the bandwidth, the landmarks or the mean are found are at most some ten thousand.
    assert 0 < backend.received < BLOCK
    assert held < 4 * BLOCK < ROWS.nbytes / 10
    # Its own block, those on their way to the next task, and what the allocator has not returned; a fit that keeps the rows
    # would grow by half of the data on each of the two workers. Peaks stay, so that no estimator is excused by those before.
    allowed = 6 * BLOCK
    assert allowed < ROWS.nbytes / 2 / 3
    for address, peak in peaks(client).items():
        assert peak - at_rest[address] < allowed, f"{(peak - at_rest[address]) / BLOCK:.1f} blocks"


def test_a_certificate_costs_the_driver_a_product():
    rows = da.random.default_rng(1).normal(size=(8000, N_COLS), chunks=(800, N_COLS))
    with (
        LocalCluster(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None) as cluster,
        Client(cluster, set_as_default=False) as client,
        Counting(client) as backend,
    ):
        kpca = KernelPCA(3, kernel="rbf", rank=20, client=backend).fit(rows)
        before = backend.received
        kpca.certify()
        # Scores, K times them and the row sums: a number for each row and component, a few times.
        assert backend.received - before < 8 * 8000 * 6 * 3
        assert_array_equal(np.isfinite(kpca.certificate_.residuals), True)
