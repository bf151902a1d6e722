"""Blocks of Dask collections and of files: what is read equals the rows that were written, and what cannot be used is refused in words."""

import os
import pickle

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import zarr
from distributed import Client, LocalCluster
from eigenlift._cluster import _readers
from eigenlift._cluster._blocks import blocks_of, is_source
from eigenlift._cluster._dask import Dask
from eigenlift._cluster._protocol import PartitionError, RowsError
from eigenlift._cluster._threads import Threads
from numpy.testing import assert_array_equal
from pyarrow import parquet
from scipy import sparse

pytestmark = [
    # Another cluster on this machine may have the usual port of the dashboard.
    pytest.mark.filterwarnings("ignore:Port"),
    # Dask calls pandas in a way that pandas will end one day.
    pytest.mark.filterwarnings("ignore:The inplace keyword"),
]
X = np.random.RandomState(0).randn(100, 4)
FRAME = pd.DataFrame({"a": X[:, 0], "b": np.arange(100), "c": X[:, 1] > 0, "d": X[:, 2].astype(np.float32)})


@pytest.fixture(scope="module")
def client():
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        yield client


@pytest.fixture(params=["threads", "dask"])
def backend(request):
    with Dask(request.getfixturevalue("client")) if request.param == "dask" else Threads(2) as made:
        yield made


@pytest.fixture
def small_blocks(monkeypatch):
    """Files in blocks of ten rows of four float64."""
    monkeypatch.setattr(_readers, "BLOCK_BYTES", 320)
    monkeypatch.setattr(_readers, "_TINY_BYTES", 320)


def rows_and_weights(backend, blocks):
    """Rows and weights as tasks see them."""

    def both(rows, place):
        return rows

    found = backend.gather(backend.map_blocks(both, blocks, name="rows"))
    for block, (rows, weights) in zip(blocks, found):
        assert rows.shape == (block.place.n_rows, blocks.n_cols) and rows.dtype == blocks.dtype
        assert sparse.issparse(rows) or rows.flags.c_contiguous
        assert (weights is not None) == blocks.weighted
        assert weights is None or weights.dtype == np.float64
    assert_array_equal(
        blocks.offsets,
        np.cumsum([0, *(len(rows) if not sparse.issparse(rows) else rows.shape[0] for rows, w in found)]),
    )
    assert blocks.offsets.dtype == np.int64 and blocks.n_rows == blocks.offsets[-1]
    assert [(p.index, p.first) for p in blocks.places] == list(enumerate(blocks.offsets[:-1]))
    rows = [rows.toarray() if sparse.issparse(rows) else rows for rows, weights in found]
    return np.concatenate(rows), np.concatenate([w for r, w in found]) if blocks.weighted else None


def same(backend, given, expected, n_blocks, dtype=np.float64, names=None):
    blocks = blocks_of(given, backend=backend)
    assert len(blocks) == n_blocks and blocks.dtype == dtype and blocks.column_names == names
    rows, _ = rows_and_weights(backend, blocks)
    assert_array_equal(rows, expected)
    return blocks


def test_arrays(backend):
    blocks = same(backend, da.from_array(X, chunks=(30, 4)), X, 4)
    assert blocks[3].place.label == "partition 3 (rows 91 to 100)"
    assert not blocks.weighted and len(list(blocks)) == 4


def test_arrays_in_chunks_of_columns(backend):
    same(backend, da.from_array(X, chunks=(30, 3)), X, 4)
    unknown = da.from_array(X, chunks=(30, 1))[da.from_array(X[:, 0] > 0, chunks=30)]
    assert len(unknown.chunks[1]) == 4
    same(backend, unknown, X[X[:, 0] > 0], 4)


def test_arrays_that_are_computed(backend):
    lazy = da.from_array(X, chunks=(40, 4))
    same(backend, (lazy - 1) * 2 + lazy, (X - 1) * 2 + X, 3)


@pytest.mark.parametrize(
    "dtype, held",
    [
        (np.float32, np.float32),
        (np.float16, np.float64),
        (np.int16, np.float64),
        (np.uint8, np.float64),
        (bool, np.float64),
        (">f8", np.float64),
    ],
)
def test_types_of_numbers(dtype, held):
    values = (X * 10).astype(np.int16).astype(dtype) if dtype != np.uint8 else np.abs(X * 10).astype(dtype)
    with Threads(1) as backend:
        same(backend, da.from_array(values, chunks=(50, 4)), values.astype(held), 2, held)


def test_lengths_that_are_not_known(backend):
    lazy = da.from_array(X, chunks=(20, 4))
    kept = X[:, 0] > 0.5
    kept[20:40] = False
    known = lazy[da.from_array(kept, chunks=20)]
    assert np.isnan(known.shape[0])
    told = []
    blocks = blocks_of(known, backend=backend, report=lambda *both: told.append(both))
    assert told[-1] == (5, 5)
    assert_array_equal(rows_and_weights(backend, blocks)[0], X[kept])
    # The second partition is empty and left out; the others keep their numbers.
    assert [place.label.split(" (")[0] for place in blocks.places] == [f"partition {i}" for i in (0, 2, 3, 4)]
    assert blocks[1].place.first == kept[:20].sum()


@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csr_array, sparse.csc_matrix])
def test_sparse_chunks(backend, kind):
    whole = sparse.random(90, 7, density=0.3, random_state=0, format="csr")
    pieces = [
        da.from_delayed(dask.delayed(kind(whole[i : i + 30])), (30, 7), dtype=float, meta=kind((0, 7)))
        for i in range(0, 90, 30)
    ]
    blocks = same(backend, da.concatenate(pieces), whole.toarray(), 3)
    assert blocks[0].read()[0].format == "csr"
    mapped = da.from_array(whole.toarray(), chunks=(30, 3)).rechunk({1: -1}).map_blocks(kind)
    same(backend, mapped, whole.toarray(), 3)


def test_chunks_of_the_sparse_library():
    pydata = pytest.importorskip("sparse")
    whole = sparse.random(40, 5, density=0.3, random_state=0).toarray()
    with Threads(2) as backend:
        same(backend, da.from_array(whole, chunks=(20, 5)).map_blocks(pydata.COO), whole, 2)


def test_data_frames(backend):
    blocks = same(backend, dd.from_pandas(FRAME, npartitions=3), FRAME.to_numpy(float), 3, names=list("abcd"))
    assert blocks[1].place.label == "partition 1 (rows 35 to 67)"
    single = FRAME[["d"]]
    same(backend, dd.from_pandas(single, npartitions=2), single.to_numpy(), 2, np.float32, ["d"])
    same(
        backend,
        dd.from_pandas(FRAME.astype({"b": "Int64"}), npartitions=2),
        FRAME.to_numpy(float),
        2,
        names=list("abcd"),
    )


def test_collections_that_lie_on_the_cluster(client):
    with Dask(client) as backend:
        held = (da.from_array(X, chunks=(30, 4)) + 1).persist()
        blocks = same(backend, held, X + 1, 4)
        same(backend, held * 2, (X + 1) * 2, 4)
        frame = dd.from_pandas(FRAME, npartitions=3).persist()
        same(backend, frame, FRAME.to_numpy(float), 3, names=list("abcd"))
        with pytest.raises(ValueError, match="cannot reach"):
            blocks_of(held, backend=Threads(1))
    assert len(blocks) == 4


def test_rows_are_read_where_they_are_needed_and_not_held(client):
    with Dask(client) as backend:
        blocks = blocks_of(da.from_array(X, chunks=(10, 4)) + 1, backend=backend)
        sums = backend.map_blocks(lambda rows, place: rows[0].sum(), blocks, name="sum")
        backend.gather(sums)
        held = [key for keys in client.has_what().values() for key in keys]
        assert len(held) == 10 and all(key.startswith("eigenlift-sum") for key in held)
        few = backend.map_blocks(lambda rows, place: place.index, [blocks[7], blocks[2]], name="few")
        assert backend.gather(few) == [7, 2]


def test_blocks_are_arguments_of_submit(backend, tmp_path):
    np.save(tmp_path / "x.npy", X)
    for given in (da.from_array(X, chunks=(50, 4)), tmp_path / "x.npy"):
        blocks = blocks_of(given, np.arange(100.0), backend)
        handle = backend.submit(lambda one, two: one[0][0].tolist() + [two[1][-1]], blocks[0], blocks[-1], name="both")
        assert backend.gather([handle]) == [[*X[0], 99.0]]


def test_blocks_as_delayed_values(tmp_path):
    np.save(tmp_path / "x.npy", X)
    with Threads(1) as backend:
        for given in (da.from_array(X, chunks=(60, 4)) * 1, str(tmp_path / "x.npy")):
            delayed = [block.delayed() for block in blocks_of(given, 2.0, backend)]
            found = dask.compute(*delayed, scheduler="threads")
            assert_array_equal(np.concatenate([rows for rows, weights in found]), X)
            assert_array_equal(np.concatenate([weights for rows, weights in found]), np.full(100, 2.0))


def test_npy_files(backend, tmp_path, small_blocks, monkeypatch):
    for i, order in enumerate("CFC"):
        np.save(tmp_path / f"part-{10 - i}.npy", np.asarray(X + i, order=order))
    blocks = same(backend, tmp_path / "part-8.npy", X + 2, 10)
    assert blocks[3].place.label == "partition 3 (rows 31 to 40 of part-8.npy)"
    assert isinstance(pickle.loads(pickle.dumps(blocks[3])).read()[0], np.ndarray)
    together = np.concatenate([X + 2, X + 1, X])
    # In the order of the numbers: 8, 9, 10.
    blocks = same(backend, str(tmp_path), together, 30)
    assert blocks[11].place.label == "partition 11 (rows 11 to 20 of part-9.npy)" and blocks[11].place.first == 110
    same(backend, str(tmp_path / "part-*.npy"), together, 30)
    same(backend, [tmp_path / "part-10.npy", str(tmp_path / "part-8.npy")], np.concatenate([X, X + 2]), 20)
    monkeypatch.chdir(tmp_path)
    same(backend, "part-9.npy", X + 1, 10)


def test_npy_files_of_other_types(tmp_path):
    np.save(tmp_path / "a.npy", X.astype(np.float32))
    np.save(tmp_path / "b.npy", np.arange(12).reshape(3, 4))
    with Threads(1) as backend:
        same(backend, tmp_path / "a.npy", X.astype(np.float32), 1, np.float32)
        same(backend, tmp_path / "b.npy", np.arange(12.0).reshape(3, 4), 1)
        both = np.concatenate([X.astype(np.float32).astype(float), np.arange(12.0).reshape(3, 4)])
        same(backend, tmp_path, both, 2)


def test_parquet_files(backend, tmp_path, small_blocks):
    FRAME.to_parquet(tmp_path / "x.parquet", row_group_size=15)
    blocks = same(backend, tmp_path / "x.parquet", FRAME.to_numpy(float), 7, names=list("abcd"))
    assert blocks[1].place.label == "partition 1 (rows 16 to 30 of x.parquet)"
    dd.from_pandas(FRAME, npartitions=12).to_parquet(tmp_path / "many")
    assert len(os.listdir(tmp_path / "many")) >= 12
    same(backend, tmp_path / "many", FRAME.to_numpy(float), 12, names=list("abcd"))
    # Columns go by their names, and an index is no column.
    FRAME[["d", "a", "c", "b"]].set_index(pd.Index(range(1, 101), name="key")).to_parquet(tmp_path / "y.parquet")
    given = [tmp_path / "x.parquet", tmp_path / "y.parquet"]
    same(backend, given, np.concatenate([FRAME.to_numpy(float)] * 2), 8, names=list("abcd"))


def test_small_row_groups_are_joined(tmp_path):
    FRAME[["d"]].to_parquet(tmp_path / "x.parquet", row_group_size=3)
    with Threads(1) as backend:
        same(backend, tmp_path / "x.parquet", FRAME[["d"]].to_numpy(), 1, np.float32, ["d"])


@pytest.mark.parametrize("form", [2, 3])
def test_zarr_arrays(backend, tmp_path, small_blocks, form):
    made = zarr.create_array(str(tmp_path / "x.zarr"), shape=X.shape, chunks=(4, 3), dtype=float, zarr_format=form)
    made[:] = X
    # Two chunks of four rows stay within the ten of a block.
    blocks = same(backend, tmp_path / "x.zarr", X, 13)
    assert blocks[12].place.label == "partition 12 (rows 97 to 100 of x.zarr)"
    os.rename(tmp_path / "x.zarr", tmp_path / "plain")
    same(backend, str(tmp_path / "plain"), X, 13)
    group = zarr.open_group(str(tmp_path / "group.zarr"), mode="w", zarr_format=form)
    group.create_array("inside", shape=(4, 2), dtype=np.float32)[:] = np.ones((4, 2))
    same(backend, tmp_path / "group.zarr" / "inside", np.ones((4, 2)), 1, np.float32)
    with pytest.raises(ValueError, match="group"):
        blocks_of(tmp_path / "group.zarr", backend=backend)


def test_weights(backend, tmp_path):
    w = np.arange(100.0)
    np.save(tmp_path / "w.npy", w)
    np.save(tmp_path / "x.npy", X)
    lazy = da.from_array(X, chunks=(30, 4))
    frame = dd.from_pandas(FRAME.assign(w=w), npartitions=3)
    unknown = lazy[da.from_array(X[:, 0] > -9, chunks=30)]
    for given, weights in [
        (lazy, w),
        (lazy, w.astype(int).tolist()),
        (lazy, da.from_array(w, chunks=30)),
        (lazy, da.from_array(w, chunks=33)),
        (lazy, str(tmp_path / "w.npy")),
        (lazy, frame["w"]),
        (unknown, da.from_array(w, chunks=41)),
        (frame[list("abcd")], frame["w"]),
        (frame[list("abcd")], w),
        (tmp_path / "x.npy", da.from_array(w, chunks=33)),
    ]:
        blocks = blocks_of(given, weights, backend)
        assert blocks.weighted
        assert_array_equal(rows_and_weights(backend, blocks)[1], w)
    assert_array_equal(rows_and_weights(backend, blocks_of(lazy, 3, backend))[1], np.full(100, 3.0))


def refused(backend, given, match, weights=None, error=RowsError):
    """Both what `blocks_of` and what a task refuses."""
    with pytest.raises(error, match=match) as raised:
        rows_and_weights(backend, blocks_of(given, weights, backend))
    return raised.value


def test_values_that_are_not_finite(backend, tmp_path, small_blocks):
    bad = X.copy()
    bad[37, 2] = np.nan
    np.save(tmp_path / "bad.npy", bad)
    words = r"row 38, column 3 is nan; rows must be finite"
    error = refused(backend, tmp_path / "bad.npy", rf"^partition 3 \(rows 31 to 40 of bad.npy\): {words}")
    assert isinstance(error, PartitionError) and error.partition == "partition 3 (rows 31 to 40 of bad.npy)"
    np.save(tmp_path / "good.npy", X)
    refused(
        backend, [tmp_path / "good.npy", tmp_path / "bad.npy"], r"^partition 13 \(rows 31 to 40 of bad.npy\): row 138,"
    )
    refused(backend, da.from_array(bad, chunks=(25, 2)), rf"^partition 1 \(rows 26 to 50\): {words}")
    bad[37, 2] = -np.inf
    refused(backend, da.from_array(bad, chunks=(25, 4)), "row 38, column 3 is -inf")
    lazy = da.from_array(np.where(np.isfinite(bad), 0, bad), chunks=(25, 4)).map_blocks(sparse.csr_matrix)
    refused(backend, lazy, "row 38, column 3 is -inf")
    holes = FRAME.astype({"b": "Int64"})
    holes.loc[50, "b"] = pd.NA
    refused(backend, dd.from_pandas(holes, npartitions=2), r"row 51, column 2 \('b'\) is nan")
    holes.astype({"c": "boolean"}).to_parquet(tmp_path / "holes.parquet")
    refused(backend, tmp_path / "holes.parquet", r"row 51, column 2 \('b'\) is nan")


def test_large_values_are_finite():
    large = np.full((6, 2), np.finfo(np.float64).max)
    with Threads(1) as backend:
        same(backend, da.from_array(large, chunks=(3, 2)), large, 2)
        single = np.full((6, 2), np.finfo(np.float32).max)
        same(backend, da.from_array(single.astype(np.float32), chunks=(3, 2)), single, 2, np.float32)


def test_masked_values_are_missing():
    masked = np.ma.masked_array(X, mask=np.arange(400).reshape(100, 4) == 41)
    with Threads(1) as backend:
        refused(backend, da.from_array(masked, chunks=(50, 4), asarray=False), "row 11, column 2 is nan")


def test_columns_of_text_are_refused_by_name(backend, tmp_path):
    text = FRAME.assign(city="Bern")
    refused(backend, dd.from_pandas(text, npartitions=2), "^column 'city' is of type", error=ValueError)
    text.to_parquet(tmp_path / "text.parquet")
    refused(backend, tmp_path / "text.parquet", "^column 'city' of .*text.parquet is of type", error=ValueError)
    dates = dd.from_pandas(FRAME.assign(day=pd.Timestamp("2020-01-01")), npartitions=2)
    refused(backend, dates, "^column 'day' is of type", error=ValueError)
    refused(backend, da.from_array(np.array([["a"]]), chunks=1), "a Dask array of type <U1", error=ValueError)
    objects = da.from_array(X, chunks=(50, 4)).map_blocks(lambda x: x.astype(str), dtype=float)
    refused(backend, objects, r"^partition [01] \(.*\): values of type <U32; rows must be real numbers")


def test_partitions_that_are_not_as_announced(backend):
    def made(*shapes):
        return da.concatenate([da.from_delayed(dask.delayed(np.ones)(shape), (10, 3), dtype=float) for shape in shapes])

    refused(
        backend, made((10, 3), (10, 2)), r"^partition 1 \(rows 11 to 20\): 2 columns where the other partitions have 3"
    )
    refused(backend, made((9, 3), (10, 3)), r"^partition 0 \(rows 1 to 10\): 9 rows where 10 were announced")
    refused(backend, made((10, 3), (10,)), r"^partition 1 .*: an array of 1 dimension; rows must be a matrix")


def test_a_partition_that_cannot_be_made(backend):
    def broken(x, block_info=None):
        if block_info[0]["chunk-location"][0] == 1:
            raise OSError("disk on fire")
        return x

    lazy = da.from_array(X, chunks=(25, 4)).map_blocks(broken, dtype=float, meta=np.zeros((0, 0)))
    blocks = blocks_of(lazy, backend=backend)
    sums = backend.map_blocks(lambda rows, place: rows[0].sum(), blocks, name="sum")
    root = backend.tree_reduce(lambda a, b: a + b, sums, name="merge")
    with pytest.raises(PartitionError, match=r"^partition 1 \(rows 26 to 50\): OSError: disk on fire"):
        backend.gather([root])


def test_weights_that_are_refused(backend, tmp_path):
    lazy = da.from_array(X, chunks=(30, 4))
    w = np.ones(100)
    for wrong in (np.ones(99), da.ones(99, chunks=10), np.ones((100, 1))):
        refused(backend, lazy, "sample_weight.shape == .*expected", wrong, ValueError)
    refused(backend, lazy, "one number for each row", da.ones((100, 1), chunks=10), ValueError)
    np.save(tmp_path / "w.npy", np.ones(7))
    refused(backend, lazy, "sample_weight.shape", tmp_path / "w.npy", ValueError)
    for value in (-1.0, np.nan, np.inf):
        w[70] = value
        refused(backend, lazy, rf"^partition 2 \(rows 61 to 90\): the weight of row 71 is {value:g}", w)


def test_nothing_at_all(backend, tmp_path):
    refused(backend, da.zeros((0, 3), chunks=(1, 3)), "no rows in any partition", error=ValueError)
    refused(backend, da.zeros((3, 0), chunks=(1, 1)), "rows without columns", error=ValueError)
    refused(backend, dd.from_pandas(FRAME.iloc[:0], npartitions=1), "no rows", error=ValueError)
    np.save(tmp_path / "none.npy", np.zeros((0, 3)))
    refused(backend, tmp_path / "none.npy", "no rows", error=ValueError)
    FRAME.iloc[:0].to_parquet(tmp_path / "none.parquet")
    refused(backend, tmp_path / "none.parquet", "no rows", error=ValueError)
    none = da.from_array(X, chunks=(50, 4))
    refused(backend, none[none[:, 0] > 99], "no rows", error=ValueError)


def test_files_that_are_refused(tmp_path):
    def case(given, error, match):
        with pytest.raises(error, match=match), Threads(1) as backend:
            blocks_of(given, backend=backend)

    folder = tmp_path / "folder"
    folder.mkdir()
    case(tmp_path / "missing.npy", FileNotFoundError, "missing.npy' does not exist; it must be one of files")
    case("s3://bucket/x.zarr", FileNotFoundError, "dask.array.from_zarr")
    case(folder, FileNotFoundError, "no files .* in the directory")
    case(str(folder / "*.npy"), FileNotFoundError, "no file matches")
    (folder / "notes.txt").write_text("words")
    case(folder, FileNotFoundError, "no files .* in the directory")
    case(folder / "notes.txt", ValueError, "read_csv")
    np.save(folder / "a.npy", X)
    np.save(folder / "b.npy", X[:, :3])
    case(folder, ValueError, r"b.npy has 3 columns where .*a.npy has 4")
    case([folder / "a.npy", folder / "c.npy"], FileNotFoundError, "c.npy")
    FRAME.to_parquet(folder / "f.parquet")
    case([folder / "a.npy", folder / "f.parquet"], ValueError, "different kinds")
    FRAME.rename(columns={"c": "z"}).to_parquet(folder / "g.parquet")
    case([folder / "f.parquet", folder / "g.parquet"], ValueError, "g.parquet has no column 'c'")
    np.save(folder / "line.npy", X[0])
    case(folder / "line.npy", ValueError, "shape \\(4,\\); it must have 2 dimensions")
    np.save(folder / "words.npy", np.array([["a"]]))
    case(folder / "words.npy", ValueError, "values of type <U1")
    np.save(folder / "objects.npy", np.array([[None]]), allow_pickle=True)
    case(folder / "objects.npy", ValueError, "cannot be read as an array")
    (folder / "cut.npy").write_bytes((folder / "a.npy").read_bytes()[:500])
    case(folder / "cut.npy", ValueError, "cannot be read as an array")
    (folder / "empty.npy").write_bytes(b"")
    case(folder / "empty.npy", ValueError, "cannot be read as an array")
    (folder / "cut.parquet").write_bytes((folder / "f.parquet").read_bytes()[:500])
    case(folder / "cut.parquet", ValueError, "it must be a Parquet file")
    twice = pa.table([pa.array([1.0]), pa.array([2.0])], names=["x", "x"])
    parquet.write_table(twice, folder / "twice.parquet")
    case(folder / "twice.parquet", ValueError, "'x' more than once")
    (folder / "x.zarr").mkdir()
    case(folder / "x.zarr", FileNotFoundError, "no files")


def test_a_file_that_vanishes_is_named(backend, tmp_path):
    np.save(tmp_path / "x.npy", X)
    blocks = blocks_of(tmp_path / "x.npy", backend=backend)
    os.remove(tmp_path / "x.npy")
    with pytest.raises(PartitionError, match=r"^partition 0 \(rows 1 to 100 of x.npy\): FileNotFoundError"):
        rows_and_weights(backend, blocks)


@pytest.mark.parametrize("given", [X, X.tolist(), FRAME, sparse.csr_matrix(X), [], None, 3, [X, X]])
def test_rows_in_memory_are_refused(given):
    assert not is_source(given)
    with pytest.raises(TypeError, match=r"dask.array.from_array\(X, chunks=\.\.\.\)"):
        blocks_of(given, backend=Threads(1))


def test_other_collections_are_refused():
    import dask.bag

    backend = Threads(1)
    refused(backend, da.ones(5, chunks=2), "1 dimension; rows must be a matrix", error=ValueError)
    refused(backend, da.ones((2, 2, 2), chunks=2), "3 dimensions", error=ValueError)
    refused(backend, da.ones((2, 2), chunks=2) * 1j, "complex128", error=ValueError)
    for given in (dask.bag.from_sequence([1, 2]), dask.delayed(X), dd.from_pandas(FRAME["a"], npartitions=2)):
        assert is_source(given)
        refused(backend, given, "of Dask; rows must be", error=TypeError)
