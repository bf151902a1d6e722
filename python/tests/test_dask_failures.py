"""What goes wrong on a cluster: workers that die, users that lose patience, blocks that cannot be read, other versions."""

import contextlib
import os
import signal
import threading
import time

import dask
import dask.array as da
import eigenlift
import numpy as np
import pytest
from distributed import Client, LocalCluster
from eigenlift._cluster import _pieces
from eigenlift.dask import PCA, KernelPCA, Nystroem, PartitionError, Threads, Whitening
from numpy.testing import assert_array_equal

X = np.random.default_rng(0).normal(size=(960, 5)) * np.linspace(2, 0.5, 5)
posix = pytest.mark.skipif(os.name != "posix", reason="signals are POSIX")


def slowly(seconds=0.03):
    """A function for the chunks of an array, which travels to the workers as code: they cannot import a test."""

    def wait(chunk):
        time.sleep(seconds)
        return chunk

    return wait


ROWS = da.from_array(X, chunks=(40, 5))
SLOW = ROWS.map_blocks(slowly(), dtype=float)


# How long a worker tries to reach one that is gone, and how long a cluster waits for one that starts anew on a busy machine.
PATIENCE = {"distributed.comm.timeouts.connect": "3s", "distributed.deploy.lost-worker-timeout": "5 minutes"}


@pytest.fixture(scope="module")
def cluster():
    with (
        dask.config.set(PATIENCE),
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        # The first task of a worker imports the package.
        PCA(2, client=client).fit(ROWS)
        yield client


@pytest.fixture
def client(cluster):
    """A client with both workers alive."""
    cluster.wait_for_workers(2, timeout=60)
    yield cluster
    cluster.wait_for_workers(2, timeout=60)


class Killer:
    """A progress that ends one worker without a word, in the middle of a stage."""

    def __init__(self, client, stage):
        self.victim = next(iter(client.run(os.getpid).values()))
        self.stage, self.killed = stage, False

    def __call__(self, stage, done, total):
        if not self.killed and stage == self.stage and 0 < done < total:
            self.killed = True
            os.kill(self.victim, signal.SIGKILL)


def nothing_left(client):
    """Whether the scheduler soon knows of no task of ours, and no worker runs one."""

    def ours(dask_scheduler):
        return [key for key in dask_scheduler.tasks if str(key).startswith("eigenlift")]

    until = time.monotonic() + 20
    while time.monotonic() < until:
        # A worker that died a moment ago may still be asked.
        with contextlib.suppress(OSError):
            busy = [calls for calls in client.call_stack().values() if calls]
            if not client.run_on_scheduler(ours) and not busy:
                return True
        time.sleep(0.05)
    return False


@posix
@pytest.mark.parametrize(
    ("make", "stage"),
    [
        (lambda: PCA(3), "moments of rows"),
        (lambda: PCA(2, route="krylov"), "products with rows"),
        (lambda: KernelPCA(3, kernel="rbf", rank=40), "landmarks"),
        (lambda: KernelPCA(3, kernel="rbf", rank=20), "moments of features"),
        (lambda: Whitening(), "moments of rows"),
        (lambda: Nystroem(n_components=40, landmarks="pivoted"), "landmarks"),
    ],
)
def test_a_worker_dies_in_the_middle_of_a_fit(client, make, stage):
    killer = Killer(client, stage)
    expected = make().set_params(client=Threads(2)).fit(ROWS)
    found = make().set_params(client=client, progress=killer).fit(SLOW)
    assert killer.killed
    for name in ("components_", "eigenvalues_", "landmarks_", "explained_variance_"):
        if hasattr(expected, name):
            assert_array_equal(getattr(found, name), getattr(expected, name))
    assert_array_equal(found.transform(X), expected.transform(X))
    assert nothing_left(client)


@posix
def test_a_worker_dies_while_tasks_take_several_blocks(client, monkeypatch):
    monkeypatch.setattr(_pieces, "_FEW_ROWS", 100)
    killer = Killer(client, "moments of rows")
    expected = PCA(3, client=Threads(1)).fit(ROWS)
    found = PCA(3, client=client, progress=killer).fit(SLOW)
    assert killer.killed
    assert_array_equal(found.components_, expected.components_)
    assert nothing_left(client)


@posix
def test_a_worker_dies_in_the_middle_of_certify(client):
    few = SLOW.rechunk((80, 5))
    expected = KernelPCA(3, kernel="rbf", rank=20, client=Threads(2)).fit(ROWS)
    expected.certify(ROWS.rechunk((80, 5)))
    found = KernelPCA(3, kernel="rbf", rank=20, client=client).fit(ROWS)
    found.progress = killer = Killer(client, "pass over pairs")
    found.certify(few)
    assert killer.killed
    assert found.certificate_.residuals == expected.certificate_.residuals
    assert found.certificate_.intervals == expected.certificate_.intervals


@posix
def test_a_worker_dies_in_the_middle_of_transform(client):
    fitted = PCA(3, client=client).fit(ROWS)
    victim = next(iter(client.run(os.getpid).values()))
    scores = client.compute(fitted.transform(ROWS.map_blocks(slowly(0.1), dtype=float)))
    time.sleep(0.5)
    assert not scores.done()
    os.kill(victim, signal.SIGKILL)
    assert_array_equal(scores.result(timeout=60), fitted.transform(ROWS).compute(scheduler="synchronous"))


@pytest.fixture
def ctrl_c():
    """Ctrl-C as in a terminal, also where the tests run in the background, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield lambda after: threading.Timer(after, os.kill, (os.getpid(), signal.SIGINT)).start()
    signal.signal(signal.SIGINT, before)


LONG = ROWS.map_blocks(slowly(0.5), dtype=float)


@posix
@pytest.mark.parametrize(
    "work",
    [
        lambda client: PCA(3, client=client).fit(LONG),
        lambda client: KernelPCA(3, kernel="rbf", rank=20, client=client).fit(LONG),
        lambda client: KernelPCA(3, kernel="rbf", rank=20, client=client).fit(ROWS).certify(LONG),
        lambda client: PCA(3, client=client).fit(ROWS).score(LONG),
    ],
    ids=["pca", "kernel pca", "certify", "score"],
)
def test_ctrl_c_leaves_no_running_tasks(client, ctrl_c, work):
    ctrl_c(2.0)
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        work(client)
    assert time.monotonic() - begun < 12, "24 tasks of half a second on two workers take 6 s without the signal"
    assert nothing_left(client)
    assert PCA(2, client=client).fit(ROWS).components_.shape == (2, 5)


@pytest.mark.parametrize("workers", ["threads", "dask"])
def test_an_error_of_the_callback_leaves_no_running_tasks(client, workers):
    class Enough(Exception):
        pass

    def enough(stage, done, total):
        raise Enough(stage)

    backend = Threads(2) if workers == "threads" else client
    estimator = KernelPCA(3, kernel="rbf", rank=20, client=backend, progress=enough)
    with pytest.raises(Enough):
        estimator.fit(SLOW)
    assert not hasattr(estimator, "eigenvalues_")
    assert nothing_left(client)
    assert estimator.set_params(progress=None).fit(ROWS).eigenvalues_.shape == (3,)


def broken(deadly=False):
    """Rows of which the sixth block cannot be read."""

    def read(chunk, block_id=None):
        if block_id[0] == 5 and deadly:
            os._exit(1)
        if block_id[0] == 5:
            raise OSError("the disk is on fire")
        return chunk

    return ROWS.map_blocks(read, dtype=float)


@pytest.mark.parametrize("workers", ["threads", "dask"])
def test_a_block_that_always_fails_is_named(client, workers):
    backend = Threads(2) if workers == "threads" else client
    for fit in (PCA(2, client=backend), KernelPCA(2, kernel="rbf", rank=10, client=backend)):
        with pytest.raises(PartitionError, match=r"^partition 5 \(rows 201 to 240\).*the disk is on fire"):
            fit.fit(broken())
    fitted = KernelPCA(2, kernel="rbf", rank=10, client=backend).fit(ROWS)
    with pytest.raises(PartitionError, match=r"partition 5 .*the disk is on fire"):
        fitted.certify(broken())
    assert nothing_left(client)


@posix
def test_a_block_that_ends_its_workers_is_named(client):
    def allowed(number):
        def change(dask_scheduler):
            dask_scheduler.allowed_failures, before = number, dask_scheduler.allowed_failures
            return before

        return client.run_on_scheduler(change)

    before = allowed(1)
    try:
        with pytest.raises(PartitionError, match=r"^partition 5 \(rows 201 to 240\): ended every worker that ran it"):
            PCA(2, client=client).fit(broken(deadly=True))
    finally:
        allowed(before)


def test_another_version_is_refused(client):
    def give_out(version):
        import eigenlift

        eigenlift.__version__ = version

    address = next(iter(client.scheduler_info()["workers"]))
    client.run(give_out, "0.0.1", workers=[address])
    try:
        with pytest.raises(PartitionError) as refused:
            PCA(2, client=client).fit(ROWS)
        for word in (address, "0.0.1", eigenlift.__version__):
            assert word in str(refused.value)
    finally:
        client.run(give_out, eigenlift.__version__, workers=[address])
    PCA(2, client=client).fit(ROWS)
