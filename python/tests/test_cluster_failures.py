"""What a cluster does to work: workers that die or have another version, tasks that fail, a user who changes their mind.

A hang is a failure: each test has the time limit of all tests, and most a shorter one.
"""

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import CancelledError

import dask
import dask.array as da
import eigenlift
import numpy as np
import pytest
from distributed import Client, LocalCluster
from eigenlift._cluster import _dask, _readers
from eigenlift._cluster._blocks import blocks_of
from eigenlift._cluster._dask import Dask
from eigenlift._cluster._protocol import PartitionError

X = np.random.RandomState(0).randn(120, 3)
pytestmark = [
    pytest.mark.timeout(60),
    # Another cluster on this machine may have the usual port of the dashboard.
    pytest.mark.filterwarnings("ignore:Port"),
    pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no SIGKILL"),
]


def two_workers():
    return LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None)


@pytest.fixture(scope="module")
def cluster():
    with two_workers() as cluster:
        yield cluster


@pytest.fixture
def client(cluster):
    with Client(cluster) as client:
        client.wait_for_workers(2)
        yield client
        deadline = time.monotonic() + 10
        while cluster.scheduler.tasks and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not cluster.scheduler.tasks


@pytest.fixture
def backend(client):
    with Dask(client) as backend:
        yield backend


@pytest.fixture
def doomed():
    """A cluster of its own, as one whose workers die at once does not always start new ones. The second death is the last."""
    with two_workers() as cluster, Client(cluster) as client, Dask(client) as backend:
        cluster.scheduler.allowed_failures = 1
        yield backend


def functions():
    def slow_sum(rows, place, folder, seconds):
        """Leaves a mark with the number of its process, for whoever wants to kill that."""
        import os
        import pathlib
        import time

        pathlib.Path(folder, f"{place.index}.{os.getpid()}").touch()
        time.sleep(seconds)
        return rows[0].sum(axis=0)

    def slow_merge(a, b, folder=None, seconds=0.05):
        import os
        import pathlib
        import time

        if folder is not None:
            pathlib.Path(folder, f"merge.{os.getpid()}").touch()
        time.sleep(seconds)
        return a + b

    return slow_sum, slow_merge


slow_sum, slow_merge = functions()


def kill_when(folder, n_marks, prefix=""):
    """Kills the process that left the last of so many marks; gives the thread that does it."""

    def watch():
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            marks = sorted(folder.glob(f"{prefix}*"), key=lambda path: path.stat().st_mtime_ns)
            if len(marks) >= n_marks:
                os.kill(int(marks[-1].suffix[1:]), signal.SIGKILL)
                killed.append(marks[-1].suffix)
                return
            time.sleep(0.005)

    killed = []
    thread = threading.Thread(target=watch)
    thread.killed = killed
    thread.start()
    return thread


def kill(client, address):
    os.kill(client.run(os.getpid, workers=[address])[address], signal.SIGKILL)


def expected(values):
    """The tree of sums by the book."""
    level = list(values)
    while len(level) > 1:
        paired = [a + b for a, b in zip(level[::2], level[1::2])]
        level = paired + level[2 * len(paired) :]
    return level[0]


@pytest.mark.parametrize("source", ["array", "file"])
@pytest.mark.parametrize("moment", ["map", "tree"])
def test_a_killed_worker_changes_nothing(backend, tmp_path, source, moment):
    np.save(tmp_path / "x.npy", X)
    given = da.from_array(X, chunks=(10, 3)) if source == "array" else [tmp_path / "x.npy"] * 6
    blocks = blocks_of(given, backend=backend)
    expects = expected([block.read()[0].sum(axis=0) for block in blocks])
    folder = tmp_path / "marks"
    folder.mkdir()
    killer = kill_when(folder, 3) if moment == "map" else kill_when(folder, 1, "merge")
    merge = slow_merge if moment == "map" else _marked(folder)
    handles = backend.map_blocks(slow_sum, blocks, str(folder), 0.1 if moment == "map" else 0.02, name="sum")
    root = backend.tree_reduce(merge, handles, name="merge")
    del handles
    (found,) = backend.gather([root])
    killer.join()
    assert killer.killed
    assert found.tobytes() == expects.tobytes()


def _marked(folder):
    folder, merge = str(folder), slow_merge
    return lambda a, b: merge(a, b, folder, 0.2)


def test_a_worker_that_dies_with_results_is_made_good(backend, client, tmp_path):
    blocks = blocks_of(da.from_array(X, chunks=(10, 3)), backend=backend)
    handles = backend.map_blocks(slow_sum, blocks, str(tmp_path), 0.0, name="sum")
    first = backend.gather(handles)
    # Half of the results lie on this worker, and gather asks for them again.
    kill(client, next(address for address, keys in client.has_what().items() if keys))
    assert np.array_equal(backend.gather(handles), first)


def test_values_survive_the_worker_that_holds_them(backend, client):
    value = np.random.RandomState(1).randn(50_000)
    handle = backend.submit(lambda v: v, value, name="same")
    backend.gather([backend.submit(lambda v: v.sum(), handle, name="sum")])
    (address,) = [a for a, keys in client.has_what().items() if handle.future.key in keys]
    kill(client, address)
    assert backend.gather([backend.submit(lambda v: v[:3].tolist(), handle, name="some")]) == [value[:3].tolist()]


def test_a_task_that_ends_its_workers_is_named(doomed, tmp_path):
    def deadly(rows, place):
        import os
        import signal

        if place.index == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        return place.index

    np.save(tmp_path / "x.npy", X)
    blocks = blocks_of([tmp_path / "x.npy"] * 4, backend=doomed)
    handles = doomed.map_blocks(deadly, blocks, name="deadly")
    root = doomed.tree_reduce(lambda a, b: a + b, handles, name="merge")
    # Dask suspects whatever the worker had yet to do, so others may be named besides.
    words = r"partition 3 \(rows 1 to 120 of [^:]*x.npy\)[^:]*: ended every worker that ran it \(2 of them, the last at tcp://"
    with pytest.raises(PartitionError, match=words) as error:
        doomed.gather([root])
    assert "partition 3" in error.value.partition
    assert "Make the partitions smaller" in str(error.value)


def test_a_partition_that_ends_its_workers_is_named(doomed):
    def deadly(x, block_info=None):
        import os
        import signal

        if block_info[0]["chunk-location"][0] == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        return x

    lazy = da.from_array(X, chunks=(40, 3)).map_blocks(deadly, dtype=float, meta=np.zeros((0, 0)))
    handles = doomed.map_blocks(lambda rows, place: place.index, blocks_of(lazy, backend=doomed), name="index")
    with pytest.raises(PartitionError, match=r"partition 2 \(rows 81 to 120\)[^:]*: ended every worker"):
        doomed.gather([doomed.tree_reduce(lambda a, b: a + b, handles, name="merge")])


def test_a_cluster_that_lost_all_workers_is_given_up(monkeypatch):
    monkeypatch.setattr(_dask, "_LOOK_SECONDS", 0.1)
    monkeypatch.setattr(_dask, "_ALONE_SECONDS", 0.5)
    with (
        LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None) as cluster,
        Client(cluster) as client,
        Dask(client) as backend,
    ):
        assert backend.gather([backend.submit(lambda: 5, name="five")]) == [5]
        cluster.scale(0)
        while client.nthreads():
            time.sleep(0.05)
        with pytest.raises(PartitionError, match="no worker for 0.5 seconds; the work needs at least one"):
            backend.gather([backend.submit(lambda: 6, name="six")])


def test_a_task_that_always_fails_is_run_once(backend, tmp_path):
    def failing(rows, place):
        import os
        import pathlib
        import uuid

        if place.index == 1:
            pathlib.Path(folder, uuid.uuid4().hex).touch()
            raise ZeroDivisionError("by zero")
        return os.getpid()

    folder = str(tmp_path)
    blocks = blocks_of(da.from_array(X, chunks=(40, 3)), backend=backend)
    handles = backend.map_blocks(failing, blocks, name="failing")
    with pytest.raises(PartitionError, match=r"^partition 1 \(rows 41 to 80\): ZeroDivisionError: by zero$"):
        backend.gather(handles)
    assert len(list(tmp_path.iterdir())) == 1


def set_version(client, version, workers=None):
    def change():
        import eigenlift

        eigenlift.__version__ = version

    client.run(change, workers=workers)


def test_another_version_is_refused(backend, client):
    backend.check_workers()
    address = sorted(client.nthreads())[0]
    set_version(client, "0.0.7", [address])
    try:
        words = rf"worker {address} has eigenlift 0\.0\.7 where this process has {eigenlift.__version__}; all must have the same"
        with pytest.raises(PartitionError, match=f"^{words}"):
            backend.check_workers()
        blocks = blocks_of(da.from_array(X, chunks=(10, 3)), backend=backend)

        def slow(rows, place):
            import time

            time.sleep(0.05)

        with pytest.raises(PartitionError, match=rf"^partition \d+ \(rows \d+ to \d+\): {words}"):
            backend.gather(backend.map_blocks(slow, blocks, name="sum"))
    finally:
        set_version(client, eigenlift.__version__, [address])
    backend.check_workers()


def test_a_worker_without_eigenlift_is_refused(backend, client):
    address = sorted(client.nthreads())[0]

    def hide():
        import sys

        hidden = {name: module for name, module in sys.modules.items() if name.split(".")[0] == "eigenlift"}
        sys.hidden = hidden
        for name in hidden:
            sys.modules[name] = None

    def show():
        import sys

        sys.modules.update(sys.hidden)

    client.run(hide, workers=[address])
    try:
        with pytest.raises(PartitionError, match=rf"worker {address} cannot import eigenlift .* Install it there"):
            backend.check_workers()
    finally:
        client.run(show, workers=[address])
    backend.check_workers()


def test_cancel_from_another_thread(backend, client, cluster, tmp_path):
    blocks = blocks_of(da.from_array(X, chunks=(2, 3)), backend=backend)
    handles = backend.map_blocks(slow_sum, blocks, str(tmp_path), 0.3, name="sum")
    root = backend.tree_reduce(slow_merge, handles, name="merge")
    raised = []

    def wait():
        try:
            backend.gather([root])
        except BaseException as error:
            raised.append(error)

    waiting = threading.Thread(target=wait)
    waiting.start()
    while not list(tmp_path.iterdir()):
        time.sleep(0.01)
    backend.cancel()
    # What cancel promises holds when it returns.
    assert not [key for keys in client.processing().values() for key in keys]
    assert not cluster.scheduler.tasks
    waiting.join(10)
    assert not waiting.is_alive()
    assert isinstance(raised[0], CancelledError)
    time.sleep(0.5)
    n_started = len(list(tmp_path.iterdir()))
    time.sleep(0.5)
    assert len(list(tmp_path.iterdir())) == n_started < 60


def test_cancel_leaves_the_work_of_others_alone(client):
    with Dask(client) as other:
        theirs = other.submit(lambda: 5, name="other")
        mine = client.submit(lambda: 6, key="mine-1")
        with Dask(client) as backend:
            backend.submit(lambda: 7, name="own")
        assert other.gather([theirs]) == [5]
        assert mine.result() == 6
        mine.release()


def test_a_client_that_closes_ends_the_wait(cluster):
    client = Client(cluster)
    backend = Dask(client)
    handle = backend.submit(lambda: __import__("time").sleep(2), name="sleep")
    threading.Timer(0.3, client.close).start()
    with pytest.raises((PartitionError, CancelledError)):
        backend.gather([handle])
    backend.cancel()


def test_data_that_nobody_can_read_again_is_told(backend, client):
    address = sorted(client.nthreads())[0]
    scattered = client.scatter(X, workers=[address], hash=False)
    blocks = blocks_of(da.from_delayed(dask.delayed(scattered), X.shape, dtype=float), backend=backend)
    kill(client, address)
    with pytest.raises(PartitionError, match=r"^partition 0 \(rows 1 to 120\): the cluster dropped .* Read from files"):
        backend.gather(backend.map_blocks(lambda rows, place: rows[0].sum(), blocks, name="sum"))


def test_a_cluster_without_workers_is_told_of(monkeypatch):
    monkeypatch.setattr(_dask, "_LOOK_SECONDS", 0.1)
    monkeypatch.setattr(_dask, "_TELL_SECONDS", 0.3)
    with (
        LocalCluster(n_workers=0, threads_per_worker=1, processes=False, dashboard_address=None) as cluster,
        Client(cluster) as client,
        Dask(client) as backend,
    ):
        handle = backend.submit(lambda: 5, name="five")
        later = threading.Timer(1.5, cluster.scale, (1,))
        later.start()
        with pytest.warns(eigenlift.EigenliftWarning, match="the cluster has no worker, and the work waits"):
            assert backend.gather([handle]) == [5]
        later.join()


def started(tmp_path, what, *words):
    """A scheduler or a worker as a process of its own; they find each other by a file."""
    line = [sys.executable, "-m", f"distributed.cli.dask_{what}", "--scheduler-file", str(tmp_path / "scheduler.json")]
    return subprocess.Popen([*line, "--no-dashboard", *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def test_the_death_of_the_scheduler_is_told(tmp_path):
    scheduler = started(tmp_path, "scheduler", "--host", "127.0.0.1", "--port", "0")
    worker = started(tmp_path, "worker", "--nthreads", "1", "--no-nanny")
    marks = tmp_path / "marks"
    marks.mkdir()
    np.save(tmp_path / "x.npy", X)
    try:
        with Client(scheduler_file=str(tmp_path / "scheduler.json"), timeout=30) as client, Dask(client) as backend:
            client.wait_for_workers(1, timeout=30)
            blocks = blocks_of([tmp_path / "x.npy"] * 20, backend=backend)
            handles = backend.map_blocks(slow_sum, blocks, str(marks), 0.3, name="sum")
            while not list(marks.iterdir()):
                time.sleep(0.01)
            scheduler.kill()
            with pytest.raises(PartitionError, match="connection to the scheduler at tcp://127.0.0.1:.* was lost"):
                backend.gather(handles)
    finally:
        for process in (scheduler, worker):
            process.kill()
            process.wait(10)


@pytest.mark.parametrize("kind", ["npy", "parquet", "zarr", "zarr of version 2", "zarr with shards"])
@pytest.mark.parametrize("how", ["overwritten", "replaced"])
def test_a_file_that_changes_is_noticed(backend, tmp_path, kind, how):
    def write(path, rows):
        if kind == "npy":
            np.save(path, rows)
        elif kind.startswith("zarr"):
            zarr = pytest.importorskip("zarr")
            shape = {"shards": (40, 4)} if "shards" in kind else {}
            form = 2 if "2" in kind else 3
            array = zarr.create_array(
                str(path), shape=rows.shape, chunks=(20, 2), dtype=float, zarr_format=form, **shape
            )
            array[:] = rows
        else:
            parquet = pytest.importorskip("pyarrow.parquet")
            import pyarrow

            # Without compression, so that the size stays.
            columns = {f"c{j}": rows[:, j] for j in range(rows.shape[1])}
            parquet.write_table(pyarrow.table(columns), path, compression="none", use_dictionary=False)

    path = tmp_path / f"x.{kind.split()[0]}"
    write(path, X)
    blocks = blocks_of(path, backend=backend)
    handles = backend.map_blocks(slow_sum, blocks, str(tmp_path), 0, name="sum")
    backend.gather(handles)
    if kind.startswith("zarr"):
        # A chunk alone, or the array as a whole.
        if how == "overwritten":
            pytest.importorskip("zarr").open_array(str(path), mode="r+")[len(X) - 1, X.shape[1] - 1] = 7.0
        else:
            shutil.rmtree(path)
            write(path, X + 1)
    elif how == "overwritten":
        with open(path, "r+b") as file:
            file.seek(-64 if kind == "npy" else 8, 2 if kind == "npy" else 0)
            file.write(b"\0" * 8)
    else:
        write(tmp_path / f"new.{kind}", X + 1)
        os.replace(tmp_path / f"new.{kind}", path)
    with pytest.raises(PartitionError, match=f"{path.name} has changed since it was opened"):
        backend.gather(backend.map_blocks(slow_sum, blocks, str(tmp_path), 0, name="again"))


def test_a_copy_on_another_machine_may_have_another_time(tmp_path):
    path = tmp_path / "x.npy"
    np.save(path, X)
    stamp = _readers.Stamp(str(path), "elsewhere", (X.nbytes, 0, 0))
    stamp.check()
    os.utime(path, ns=(0, 12_345))
    with pytest.raises(ValueError, match="has changed since it was opened"):
        stamp.check()
