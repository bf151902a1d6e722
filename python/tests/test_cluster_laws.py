"""Laws that every backend keeps: the same tests for threads of this process and for a Dask cluster of two processes.

Functions for tasks are made inside functions, so that they travel to the workers as code: the workers cannot import a test.
"""

import asyncio
import copy
import pickle
import threading
import time
from concurrent.futures import CancelledError

import numpy as np
import pytest
from distributed import Client, LocalCluster
from eigenlift._cluster._dask import Dask
from eigenlift._cluster._protocol import Backend, Block, PartitionError, Place
from eigenlift._cluster._threads import Threads
from numpy.testing import assert_array_equal
from sklearn.base import clone

# Another cluster on this machine may have the usual port of the dashboard.
pytestmark = pytest.mark.filterwarnings("ignore:Port")


@pytest.fixture(scope="module")
def client():
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        yield client


@pytest.fixture(params=["one thread", "threads", "dask"])
def backend(request):
    if request.param == "dask":
        made = Dask(request.getfixturevalue("client"))
    else:
        made = Threads(1 if request.param == "one thread" else 4)
    with made:
        yield made


def functions():
    class Numbers:
        """A source of the rows first, first + 1, … of one column."""

        def __init__(self, first, n_rows):
            self.first, self.n_rows = first, n_rows

        def read(self):
            import numpy as np

            return np.arange(self.first, self.first + self.n_rows, dtype=float)[:, None]

    def total(rows, place, *more):
        return place.index, float(rows[0].sum()), *more

    def word(value, seconds=0.0):
        import time

        time.sleep(seconds)
        return str(value)

    def bracket(a, b):
        import random
        import time

        time.sleep(random.random() * 0.02)
        return f"({a}{b})"

    return Numbers, total, word, bracket


Numbers, total, word, bracket = functions()


def numbers(lengths):
    starts = np.cumsum([0, *lengths])
    return [
        Block(Place(i, int(first), n, f"partition {i} (rows {first + 1} to {first + n})"), Numbers(int(first), n))
        for i, (first, n) in enumerate(zip(starts, lengths))
    ]


def brackets(words):
    """The tree by the book."""
    level = list(words)
    while len(level) > 1:
        paired = [f"({a}{b})" for a, b in zip(level[::2], level[1::2])]
        level = paired + level[2 * len(paired) :]
    return level[0]


def test_it_is_a_backend(backend):
    assert isinstance(backend, Backend)
    assert backend.n_workers == {"Threads(1)": 1, "Threads(4)": 4}.get(repr(backend), 2)


def test_submit_gives_what_the_function_gives(backend):
    handle = backend.submit(lambda a, b: a * b, 6, 7, name="product")
    assert backend.gather([handle]) == [42]
    assert backend.gather([handle, handle]) == [42, 42]
    assert backend.gather([]) == []


def test_map_is_the_plain_loop(backend):
    blocks = numbers([3, 1, 4, 1, 5])
    expected = [total((block.read()[0], None), block.place, "x") for block in blocks]
    assert backend.gather(backend.map_blocks(total, blocks, "x", name="total")) == expected
    assert backend.map_blocks(total, [], name="total") == []


def test_each_block_has_its_own_argument_last(backend):
    shared = backend.submit(word, "shared", name="word")
    own = [backend.submit(word, i, name="word") for i in range(3)]
    each = [own[0], "plain", [own[1], (own[2], 5)]]
    found = backend.gather(backend.map_blocks(total, numbers([1, 2, 3]), shared, 9, each=each, name="total"))
    assert found == [
        (0, 0.0, "shared", 9, "0"),
        (1, 3.0, "shared", 9, "plain"),
        (2, 12.0, "shared", 9, ["1", ("2", 5)]),
    ]
    with pytest.raises(ValueError, match="2 values for 3 blocks"):
        backend.map_blocks(total, numbers([1, 2, 3]), each=[1, 2], name="total")


def test_handles_and_blocks_are_arguments(backend):
    blocks = numbers([2, 3])
    first = backend.submit(lambda rows: rows[0].sum(), blocks[1], name="sum")
    second = backend.submit(lambda a, both: (a, [rows.tolist() for rows, weights in both]), first, blocks, name="both")
    assert backend.gather([second]) == [(9.0, [[[0.0], [1.0]], [[2.0], [3.0], [4.0]]])]


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 13, 17])
def test_the_tree_is_fixed(backend, n):
    seconds = np.random.RandomState(n).permutation(n) * 0.003
    handles = [backend.submit(word, i, float(wait), name="word") for i, wait in enumerate(seconds)]
    assert backend.gather([backend.tree_reduce(bracket, handles, name="bracket")]) == [brackets(map(str, range(n)))]
    # Merged parts are still there for whoever holds them.
    assert backend.gather(handles) == [str(i) for i in range(n)]


def test_the_tree_of_sums_has_the_same_bits_for_any_number_of_workers(client):
    values = np.random.RandomState(0).randn(37) * 10.0 ** np.random.RandomState(1).randint(-8, 8, 37)

    def reduced(backend):
        with backend:
            handles = [backend.submit(lambda v: v, v, name="value") for v in values]
            return backend.gather([backend.tree_reduce(lambda a, b: a + b, handles, name="sum")])[0]

    found = [reduced(backend) for backend in (Threads(1), Threads(2), Threads(7), Dask(client))]
    assert len({value.hex() for value in found}) == 1
    assert found[0] != sum(values[::-1])


def test_a_tree_needs_leaves(backend):
    with pytest.raises(ValueError, match="nothing to reduce"):
        backend.tree_reduce(bracket, [], name="bracket")


def test_gather_keeps_the_order_of_its_handles(backend):
    handles = [backend.submit(word, i, 0.05 * (3 - i), name="word") for i in range(4)]
    assert backend.gather(handles[::-1]) == ["3", "2", "1", "0"]


def test_report_counts_all_that_is_waited_for(backend, tmp_path):
    def index(rows, place):
        import time

        while not gate.exists():
            time.sleep(0.01)
        return place.index

    gate, told = tmp_path / "gate", []
    handles = backend.map_blocks(index, numbers([1] * 9), name="index")
    root = backend.tree_reduce(lambda a, b: a + b, handles, name="sum")
    del handles

    def report(done, total):
        gate.touch()
        told.append((done, total))

    assert backend.gather([root], report) == [36]
    # Nine blocks and eight merges.
    done, totals = zip(*told)
    assert set(totals) == {17}
    assert done[0] == 0 and done[-1] == 17 and list(done) == sorted(set(done))
    again = []
    assert backend.gather([root], lambda *both: again.append(both)) == [36]
    assert again == [(1, 1)]


def test_names_are_words(backend):
    for name in ["", "two words", "sums-2", "-sums", "a_b"]:
        with pytest.raises(ValueError, match="words of letters"):
            backend.submit(word, 1, name=name)


def test_a_failure_names_the_partition(backend):
    def some(rows, place):
        if place.index == 2:
            raise KeyError("lost")
        return place.index

    handles = backend.map_blocks(some, numbers([2] * 5), name="some")
    root = backend.tree_reduce(lambda a, b: a + b, handles, name="sum")
    with pytest.raises(PartitionError, match=r"^partition 2 \(rows 5 to 6\): KeyError: 'lost'$") as error:
        backend.gather([root])
    assert error.value.partition == "partition 2 (rows 5 to 6)"
    # All the rest was cancelled, and the backend goes on.
    with pytest.raises(CancelledError):
        backend.gather(handles[:1])
    assert backend.gather([backend.submit(word, 1, name="word")]) == ["1"]


def test_a_failure_of_the_report_ends_the_work(backend):
    handle = backend.submit(word, 1, 0.3, name="word")

    def report(done, total):
        raise KeyError("stop")

    with pytest.raises(KeyError, match="stop"):
        backend.gather([handle], report)
    with pytest.raises(CancelledError):
        backend.gather([handle])


def test_cancel_wakes_whoever_waits(backend):
    handles = [backend.submit(word, i, 1.0, name="word") for i in range(3 * backend.n_workers)]
    later = threading.Timer(0.3, backend.cancel)
    later.start()
    with pytest.raises(CancelledError):
        backend.gather(handles)
    later.join()
    with pytest.raises(CancelledError, match="cancelled"):
        backend.submit(word, handles[0], name="word")
    with pytest.raises(CancelledError, match="cancelled"):
        backend.tree_reduce(bracket, handles, name="bracket")
    # Python code that runs cannot be stopped; what comes next waits for no more than that.
    assert backend.gather([backend.submit(word, 1, name="word")]) == ["1"]


def test_cancel_ends_compiled_work_that_runs(backend, tmp_path):
    def compare(folder):
        """Kernel values of 300 000 rows with themselves: minutes, unless it is stopped."""
        import pathlib

        import numpy as np
        from eigenlift import _native

        rows = np.zeros((300_000, 2))
        pathlib.Path(folder, "begun").touch()
        try:
            _native.kernel_pair("rbf(gamma=1)", rows, None, np.zeros((len(rows), 1)), None, 1)
        except BaseException as error:
            pathlib.Path(folder, type(error).__name__).touch()
            raise

    handle = backend.submit(compare, str(tmp_path), name="compare")
    deadline = time.monotonic() + 30
    while not (tmp_path / "begun").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    backend.cancel()
    with pytest.raises(CancelledError):
        backend.gather([handle])
    while not (tmp_path / "CancelledError").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert (tmp_path / "CancelledError").exists()


def test_nothing_is_outstanding_after_the_context(backend, tmp_path):
    def mark(i):
        import time

        time.sleep(0.1)
        (tmp_path / str(i)).touch()

    with backend as entered:
        assert entered is backend
        handles = [backend.submit(mark, i, name="mark") for i in range(40)]
        backend.gather(handles[:1])
    time.sleep(0.5)
    marked = len(list(tmp_path.iterdir()))
    assert marked < 40
    time.sleep(0.5)
    assert len(list(tmp_path.iterdir())) == marked
    with backend:
        assert backend.gather([backend.submit(word, 1, name="word")]) == ["1"]


def test_large_values_go_to_all_tasks_without_a_warning(backend, recwarn):
    value = np.arange(2_000_000, dtype=float)
    handle = backend.submit(lambda v: v, value, name="same")
    sums = [backend.submit(lambda v, i: float(v[i]), handle, i, name="item") for i in range(3)]
    assert backend.gather(sums) == [0.0, 1.0, 2.0]
    assert not [w for w in recwarn if "large graph" in str(w.message)]


def test_results_of_merged_parts_are_freed():
    alive, most, gate = set(), [], threading.Event()

    class Part:
        def __init__(self, at):
            self.at = at
            alive.add(id(self))
            most.append(len(alive))

        def __del__(self):
            alive.discard(id(self))

    def part(rows, place):
        gate.wait()
        return Part(place.index)

    with Threads(2) as backend:
        parts = backend.map_blocks(part, numbers([1] * 200), name="part")
        root = backend.tree_reduce(lambda a, b: Part(a.at + b.at), parts, name="merge")
        del parts
        gate.set()
        assert backend.gather([root])[0].at == sum(range(200))
        # On each of the 8 levels of the tree one part waits for its neighbour to the right, and one for each of the two
        # tasks that are at work; these have two parts and make a third.
        assert max(most) <= 8 * (1 + 2) + 2 * 3
        del root
    assert not alive


def test_dask_keeps_results_and_no_rows(client):
    with Dask(client) as backend:
        handles = backend.map_blocks(lambda rows, place: rows[0].sum(), numbers([10_000] * 8), name="sum")
        backend.gather(handles)
        held = [key for keys in client.has_what().values() for key in keys]
        assert sorted(held) == sorted(handle.future.key for handle in handles)
        assert all(key.startswith("eigenlift-sum-") for key in held)
        root = backend.tree_reduce(lambda a, b: a + b, handles, name="merge")
        del handles
        assert backend.gather([root]) == [sum(range(80_000))]
        deadline = time.monotonic() + 5
        while (n_held := sum(map(len, client.has_what().values()))) > 1 and time.monotonic() < deadline:
            time.sleep(0.02)
        assert n_held == 1
    assert not client.cluster.scheduler.tasks


def test_dask_groups_tasks_by_name(client):
    with Dask(client) as backend:
        handles = backend.map_blocks(total, numbers([1] * 5), name="left-out")
        backend.gather([backend.tree_reduce(lambda a, b: a, handles, name="pca-sums")])
        found = {prefix for prefix in client.cluster.scheduler.task_prefixes if prefix.startswith("eigenlift")}
    assert {"eigenlift-left-out", "eigenlift-pca-sums"} <= found
    assert all(word.isalpha() for name in found for word in name.split("-"))


def test_threads_copy_and_pickle_as_settings():
    backend = Threads(3)
    for other in (copy.deepcopy(backend), pickle.loads(pickle.dumps(backend)), clone(backend, safe=False)):
        assert isinstance(other, Threads) and other.n_threads == 3 and other is not backend
    assert Threads().n_workers >= 1
    for wrong in (0, -1, 2.5, "two", True):
        with pytest.raises(ValueError, match="'n_threads' parameter"):
            Threads(wrong)


def test_threads_end_with_their_work():
    with Threads(4) as backend:
        backend.gather([backend.submit(word, i, name="word") for i in range(20)])
    deadline = time.monotonic() + 5
    while any(t.name == "eigenlift-task" for t in threading.enumerate()) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not any(t.name == "eigenlift-task" for t in threading.enumerate())


def test_dask_wants_a_client_that_waits(client):
    with pytest.raises(TypeError, match="no distributed.Client"):
        Dask("tcp://127.0.0.1:8786")

    async def attempt():
        async with Client(client.scheduler.address, asynchronous=True, set_as_default=False) as other:
            with pytest.raises(ValueError, match="asynchronous"):
                Dask(other)

    asyncio.run(attempt())


def test_arrays_come_back_as_they_are(backend):
    rows = np.random.RandomState(0).randn(5, 3)
    (found,) = backend.gather([backend.submit(lambda a: a.T, rows, name="turn")])
    assert_array_equal(found, rows.T)
