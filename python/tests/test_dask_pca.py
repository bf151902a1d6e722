"""PCA on a cluster: the results of one machine, to the bit whatever the number of workers, and rows from all sources."""

import pickle
import subprocess
import sys

import dask
import dask.array as da
import distributed
import eigenlift
import numpy as np
import pytest
from distributed import Client, LocalCluster
from eigenlift.dask import PCA, PartitionError, Threads, _distributed
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

X = np.random.default_rng(0).normal(size=(997, 6)) * np.linspace(3, 0.5, 6) + 2
ROWS = da.from_array(X, chunks=(100, 4))
NAMES = ["components_", "explained_variance_", "explained_variance_ratio_", "singular_values_", "mean_", "spectrum_"]


@pytest.fixture(scope="module")
def client():
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


def close(found, expected, scale=None, share=1e-10):
    """To a share of the scale: sums over blocks are added in another order, which costs some eps of it."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.dtype == expected.dtype
    assert_allclose(found, expected, rtol=0, atol=share * (scale or np.abs(expected).max(initial=0)))


def agree(ours, theirs, share=1e-10):
    for name in NAMES:
        # A mean is as exact as the rows are large.
        scale = np.abs(X).max() if name == "mean_" else None
        close(getattr(ours, name), getattr(theirs, name), scale, share)
    assert ours.n_components_ == theirs.n_components_
    assert ours.n_samples_ == theirs.n_samples_
    assert ours.plan_.route == theirs.plan_.route
    close(ours.noise_variance_, theirs.noise_variance_, theirs.spectrum_.max(), share)


@pytest.mark.parametrize(
    "how",
    [
        {"n_components": 3},
        {"n_components": 0.8},
        {"n_components": "mle"},
        {"n_components": "auto"},
        {},
        {"n_components": 0},
        {"svd_solver": "full", "n_components": 2},
        {"svd_solver": "arpack", "n_components": 2, "tol": 1e-12},
        {"route": "covariance"},
        {"route": "tsqr"},
        {"route": "krylov", "n_components": 2, "tol": 1e-13},
        {"standardize": True, "whiten": True},
    ],
)
def test_the_components_of_one_machine(how):
    ours, theirs = PCA(**how, client=Threads(2)).fit(ROWS), eigenlift.PCA(**how).fit(X)
    agree(ours, theirs)
    if theirs.scale_ is not None:
        close(ours.scale_, theirs.scale_)
    if how.get("n_components") == "auto":
        assert dict(ours.choice_).keys() == dict(theirs.choice_).keys()
    close(ours.transform(ROWS).compute(), theirs.transform(X), np.abs(X).max())
    close(ours.score(ROWS), theirs.score(X))


def test_many_columns_by_an_iteration():
    random = np.random.default_rng(1)
    wide = random.normal(size=(300, 400)) * np.r_[np.linspace(20, 10, 5), np.ones(395)]
    how = {"n_components": 3, "route": "krylov", "tol": 1e-12}
    agree(PCA(**how, client=Threads(2)).fit(da.from_array(wide, chunks=(64, 400))), eigenlift.PCA(**how).fit(wide))


def test_on_a_cluster(client):
    ours = PCA(3, client=client).fit(ROWS)
    agree(ours, eigenlift.PCA(3).fit(X))
    assert_array_equal(client.compute(ours.transform(ROWS)).result(), ours.transform(X))


def test_the_same_bits_for_any_number_of_workers():
    fits = [PCA(3, route=route, client=Threads(n)).fit(ROWS) for n in (1, 2, 4) for route in ("covariance", "tsqr")]
    with LocalCluster(n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        for n_workers in (1, 2, 4):
            cluster.scale(n_workers)
            with Client(cluster, set_as_default=False) as client:
                client.wait_for_workers(n_workers, timeout=60)
                fits += [PCA(3, route=route, client=client).fit(ROWS) for route in ("covariance", "tsqr")]
    for at, other in enumerate(fits):
        for name in NAMES:
            assert_array_equal(getattr(other, name), getattr(fits[at % 2], name))


def test_single_precision_stays():
    single = X.astype(np.float32)
    ours, theirs = PCA(3, client=Threads(2)).fit(ROWS.astype(np.float32)), eigenlift.PCA(3).fit(single)
    # Sums are in double precision; what is left is the rounding of the attributes.
    agree(ours, theirs, 4 * np.finfo(np.float32).eps)
    assert ours.transform(ROWS.astype(np.float32)).dtype == np.float32
    assert ours.transform(ROWS).dtype == np.float64


@pytest.mark.parametrize("route", ["covariance", "tsqr", "krylov"])
def test_weights(route):
    weights = np.random.default_rng(3).integers(0, 4, len(X)).astype(float)
    how = {"n_components": 3, "route": route, "tol": 1e-13}
    ours = PCA(**how, client=Threads(2)).fit(ROWS, sample_weight=da.from_array(weights, chunks=150))
    agree(ours, eigenlift.PCA(**how).fit(X, sample_weight=weights))
    agree(ours, eigenlift.PCA(**how).fit(np.repeat(X, weights.astype(int), axis=0)))
    with pytest.raises(ValueError, match="above 1"):
        PCA(client=Threads(2)).fit(ROWS, sample_weight=da.full(len(X), 1e-9))
    with pytest.raises(PartitionError, match="weight of row 121 is -1"):
        weights[120] = -1
        PCA(client=Threads(2)).fit(ROWS, sample_weight=da.from_array(weights, chunks=150))


def test_sparse_chunks():
    from scipy import sparse

    rows = sparse.random(500, 40, density=0.1, random_state=0, format="csr")
    lazy = da.from_array(rows.toarray(), chunks=(90, 40)).map_blocks(sparse.csr_matrix)
    ours, theirs = PCA(3, route="covariance", client=Threads(2)).fit(lazy), eigenlift.PCA(3).fit(rows)
    close(ours.explained_variance_, theirs.explained_variance_)
    close(ours.transform(lazy).compute(), theirs.transform(rows))


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """The rows in all forms that a fit takes."""
    import dask.dataframe as dd
    import pandas as pd

    folder = tmp_path_factory.mktemp("rows")
    frame = pd.DataFrame(X, columns=list("abcdef"))
    np.save(folder / "x.npy", X)
    np.save(folder / "part-0.npy", X[:300])
    np.save(folder / "part-1.npy", X[300:])
    frame.to_parquet(folder / "x.parquet", row_group_size=200)
    ROWS.rechunk((100, 6)).to_zarr(str(folder / "x.zarr"))
    return {
        "array": ROWS,
        "frame": dd.from_pandas(frame, npartitions=5),
        "npy": folder / "x.npy",
        "list": [str(folder / "part-0.npy"), str(folder / "part-1.npy")],
        "pattern": str(folder / "part-*.npy"),
        "parquet": str(folder / "x.parquet"),
        "zarr": str(folder / "x.zarr"),
    }


@pytest.mark.parametrize("kind", ["array", "frame", "npy", "list", "pattern", "parquet", "zarr"])
def test_rows_from_everywhere(sources, kind):
    rows, theirs = sources[kind], eigenlift.PCA(3).fit(X)
    ours = PCA(3, client=Threads(2))
    scores = ours.fit_transform(rows)
    agree(ours, theirs)
    assert isinstance(scores, da.Array)
    close(scores.compute(), theirs.transform(X), np.abs(X).max())
    close(ours.score_samples(rows).compute(), theirs.score_samples(X))
    if kind in ("frame", "parquet"):
        assert list(ours.feature_names_in_) == list("abcdef")
        assert list(ours._model.column_names) == list("abcdef")
    else:
        assert not hasattr(ours, "feature_names_in_")
    if kind == "frame":
        assert np.isnan(scores.shape[0])
        with pytest.raises(ValueError, match="column 1 is 'b' where the fit had 'a'"):
            ours.transform(rows[list("bacdef")])
    else:
        assert scores.shape == (997, 3)


def test_empty_partitions(sources):
    some = sources["frame"]
    some = some[some["a"] > some["a"].quantile(0.5).compute() + 100 * (some.index < 400)]
    kept = some.compute().to_numpy()
    assert (some.map_partitions(len).compute() == 0).any()
    ours = PCA(2, client=Threads(2)).fit(some)
    close(ours.components_, eigenlift.PCA(2).fit(kept).components_)
    close(ours.transform(some).compute(), eigenlift.PCA(2).fit(kept).transform(kept), 10.0)


def test_methods_on_rows_are_put_off():
    ours, theirs = PCA(3, client=Threads(2)).fit(ROWS), eigenlift.PCA(3).fit(X)
    scores = ours.transform(ROWS)
    assert scores.chunks == (ROWS.chunks[0], (3,))
    assert scores.name.startswith("eigenlift-transform-")
    graph = dict(scores.__dask_graph__())
    assert sum(str(key).startswith("eigenlift-model-") for key in graph) == 1
    for scheduler in ("synchronous", "threads", "processes"):
        close(scores.compute(scheduler=scheduler), theirs.transform(X), np.abs(X).max())
    close(ours.inverse_transform(scores).compute(), theirs.inverse_transform(theirs.transform(X)))
    for method in ("t_squared", "reconstruction_error", "score_samples"):
        lazy = getattr(ours, method)(ROWS)
        assert isinstance(lazy, da.Array) and lazy.shape == (997,)
        close(lazy.compute(), getattr(theirs, method)(X))
        assert_array_equal(getattr(ours, method)(X), lazy.compute())
    # Rows in memory give arrays, as always.
    assert isinstance(ours.transform(X), np.ndarray)
    import pandas as pd

    assert isinstance(ours.set_output(transform="pandas").transform(X), pd.DataFrame)
    with pytest.raises(ValueError, match="a Dask array comes out here"):
        ours.transform(ROWS)


def test_what_is_refused_at_once():
    for wrong in ({"n_components": 9}, {"n_components": -1}, {"svd_solver": "slow"}, {"n_jobs": 0}):
        with pytest.raises(ValueError) as ours:
            PCA(**wrong, client=Threads(2)).fit(ROWS)
        with pytest.raises(ValueError) as theirs:
            eigenlift.PCA(**wrong).fit(X)
        assert str(ours.value) == str(theirs.value)
    fitted = PCA(3, client=Threads(2)).fit(ROWS)
    with pytest.raises(ValueError, match="X has 3 features, but PCA is expecting 6"):
        fitted.transform(ROWS[:, :3])
    with pytest.raises(ValueError, match="1 sample"):
        PCA(client=Threads(2)).fit(ROWS[:1])
    with pytest.raises(TypeError, match="dask.array.from_array"):
        PCA(client=Threads(2)).fit(X)
    with pytest.raises(TypeError, match=r"client must be a distributed\.Client"):
        PCA(client="tcp://nobody").fit(ROWS)


def test_a_bad_row_is_named():
    bad = X.copy()
    bad[777, 2] = np.nan
    rows = da.from_array(bad, chunks=(100, 6))
    with pytest.raises(PartitionError, match=r"partition 7 \(rows 701 to 800\): row 778, column 3 is nan"):
        PCA(client=Threads(2)).fit(rows)
    with pytest.raises(PartitionError, match=r"partition 7: row 78 of it, column 3 is nan"):
        PCA(client=Threads(2)).fit(ROWS).transform(rows).compute()


def test_rows_that_all_look_the_same():
    rows = da.full((50, 3), 2.5, chunks=(11, 3))
    ours, theirs = PCA(2, client=Threads(2)).fit(rows), eigenlift.PCA(2).fit(rows.compute())
    for name in ["components_", "explained_variance_", "mean_", "singular_values_"]:
        assert_array_equal(getattr(ours, name), getattr(theirs, name))
    assert ours.n_samples_ == 50
    assert not ours.transform(rows).compute().any()


def test_copies_are_without_the_client(client):
    ours = PCA(3, client=client, random_state=1)
    assert ours.get_params()["client"] is client
    other = clone(ours)
    assert other.client is client and other.random_state == 1
    fitted = ours.fit(ROWS)
    anywhere = pickle.loads(pickle.dumps(fitted))
    assert anywhere.client is None and fitted.client is client
    assert_array_equal(anywhere.transform(X), fitted.transform(X))
    assert_array_equal(anywhere.transform(ROWS).compute(), fitted.transform(X))


def test_the_model_file_is_the_ordinary_one(tmp_path):
    ours = PCA(3, client=Threads(2)).fit(ROWS)
    ours.save(tmp_path / "pca.safetensors")
    loaded = eigenlift.load(tmp_path / "pca.safetensors")
    assert type(loaded) is eigenlift.PCA
    assert_array_equal(loaded.transform(X), ours.transform(X))


def test_a_plan_reads_no_sums():
    plan = PCA(3, client=Threads(2)).plan(ROWS)
    assert plan.route == eigenlift.PCA(3).plan(X).route
    assert "10 blocks" in str(plan)


def test_progress_is_told():
    told = []
    PCA(3, client=Threads(1), progress=lambda *step: told.append(step)).fit(ROWS)
    steps = [(done, total) for stage, done, total in told if stage == "moments of rows"]
    assert steps and steps[-1] == (997, 997)
    assert steps == sorted(steps)


def test_the_current_client_and_a_cluster_of_its_own(client, monkeypatch):
    expected = PCA(3, client=Threads(2)).fit(ROWS)
    started, make = [], _distributed.LocalCluster

    def counted(**how):
        started.append(make(n_workers=2, **how))
        return started[-1]

    monkeypatch.setattr(_distributed, "LocalCluster", counted)
    with client.as_current():
        assert_array_equal(PCA(3).fit(ROWS).components_, expected.components_)
    assert not started
    assert_array_equal(PCA(3).fit(ROWS).components_, expected.components_)
    with pytest.raises(ValueError, match="n_components=9"):
        PCA(9).fit(ROWS)
    assert [cluster.status.name for cluster in started] == ["closed", "closed"]
    with pytest.raises(ValueError, match="client"):
        distributed.default_client()


def test_without_dask():
    code = "import sys; sys.modules['dask'] = None; import eigenlift; import eigenlift.dask"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=100)
    assert done.returncode == 1
    assert 'pip install "eigenlift[dask]"' in done.stderr


def test_the_config_of_dask_is_left_alone():
    before = dict(dask.config.config)
    PCA(2, client=Threads(2)).fit(ROWS)
    assert dask.config.config == before
