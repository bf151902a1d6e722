"""The Nyström method, whitening and PCA of rows in pieces, on a cluster: the results of one machine."""

import pickle
import threading
import warnings

import dask.array as da
import eigenlift
import numpy as np
import pytest
from distributed import Client, LocalCluster
from eigenlift._cluster import _pieces
from eigenlift.dask import PCA, IncrementalPCA, Nystroem, PartitionError, Threads, Whitening, _nystroem
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

X = np.random.default_rng(0).normal(size=(613, 5)) * np.linspace(2, 0.5, 5) + 1
ROWS = da.from_array(X, chunks=(70, 3))


@pytest.fixture(scope="module")
def client():
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture(params=["threads", "dask"])
def workers(request):
    return Threads(2) if request.param == "threads" else request.getfixturevalue("client")


def close(found, expected, share=1e-10):
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.dtype == expected.dtype
    assert_allclose(found, expected, rtol=0, atol=share * np.abs(expected).max(initial=0))


@pytest.mark.parametrize(
    "how",
    [
        {"random_state": 0},
        {"random_state": 3, "landmarks": "pivoted"},
        {"random_state": 0, "kernel": "rbf(gamma=median)"},
        {"random_state": 0, "kernel": "poly", "degree": 2},
        {"random_state": np.random.RandomState(5), "kernel": "additive_chi2"},
    ],
)
def test_nystroem_as_on_one_machine(workers, how):
    rows, lazy = (np.abs(X), abs(ROWS)) if how.get("kernel") == "additive_chi2" else (X, ROWS)
    ours, theirs = Nystroem(n_components=30, **how, client=workers), eigenlift.Nystroem(n_components=30, **how)
    theirs = clone(theirs).fit(rows)
    ours = clone(ours).fit(lazy)
    assert_array_equal(ours.component_indices_, theirs.component_indices_)
    assert_array_equal(ours.components_, theirs.components_)
    assert ours.kernel_ == theirs.kernel_
    close(ours.normalization_, theirs.normalization_)
    features = ours.transform(lazy)
    assert features.chunks == (lazy.chunks[0], (30,))
    close(features.compute(), theirs.transform(rows))
    found, expected = ours.certify(lazy), theirs.certify(rows)
    assert found.n_samples == 613 and found.n_landmarks == 30
    assert found.trace == pytest.approx(expected.trace, rel=1e-12)
    # Differences of the trace and what features hold, which agree to 1e-10 themselves; the trace of additive_chi2 is 0.
    held = abs(expected.trace - expected.residual_trace)
    assert found.residual_trace == pytest.approx(expected.residual_trace, rel=0, abs=1e-9 * held)
    assert found.rounding == pytest.approx(expected.rounding, rel=1e-6)
    if how.get("kernel") == "additive_chi2":
        assert found.bound is None and expected.bound is None
        assert "nothing is stated" in str(found) and "at most" not in str(found)
    else:
        assert found.bound == found.residual_trace + found.rounding
        assert "is at most" in str(found)
    assert_array_equal(ours.transform(rows[:5]), pickle.loads(pickle.dumps(ours)).transform(rows[:5]))


def test_nystroem_and_a_function():
    def inner(x, y):
        return float(x @ y) + 1.0

    ours = Nystroem(inner, n_components=20, random_state=0, client=Threads(2)).fit(ROWS)
    theirs = eigenlift.Nystroem(inner, n_components=20, random_state=0).fit(X)
    close(ours.transform(ROWS[:50]).compute(), theirs.transform(X[:50]))


def test_what_nystroem_says_and_refuses(monkeypatch):
    few = da.from_array(X[:20], chunks=(6, 5))
    with pytest.warns(UserWarning, match="n_components > n_samples") as told:
        assert Nystroem(n_components=50, client=Threads(2)).fit(few).components_.shape == (20, 5)
    assert told[0].filename == __file__
    twice = da.concatenate([few, few])
    with pytest.warns(eigenlift.EigenliftWarning, match="lowered to 20"):
        Nystroem(n_components=30, landmarks="pivoted", random_state=0, client=Threads(2)).fit(twice)
    with pytest.raises(ValueError, match="precomputed"):
        Nystroem("precomputed", client=Threads(2)).fit(ROWS)
    with pytest.raises(TypeError, match="has no model file"):
        Nystroem(client=Threads(2)).fit(ROWS).save("x.safetensors")
    # More rows than are put in order as a whole.
    monkeypatch.setattr(_nystroem, "_ORDERED", 100)
    drawn = Nystroem(n_components=40, random_state=0, client=Threads(2)).fit(ROWS)
    assert len(np.unique(drawn.component_indices_)) == 40
    assert_array_equal(drawn.components_, X[drawn.component_indices_])


@pytest.mark.parametrize(
    "how", [{}, {"method": "pca", "n_components": 3}, {"method": "cholesky", "ridge": 0.1}, {"method": "zca-cor"}]
)
def test_whitening_as_on_one_machine(workers, how):
    ours, theirs = Whitening(**how, client=workers).fit(ROWS), eigenlift.Whitening(**how).fit(X)
    for name in ("mean_", "components_", "explained_variance_", "whitening_matrix_", "distance_"):
        close(getattr(ours, name), getattr(theirs, name))
    assert (ours.rank_, ours.statement_, ours.n_samples_) == (theirs.rank_, theirs.statement_, theirs.n_samples_)
    white = ours.transform(ROWS)
    close(white.compute(), theirs.transform(X))
    close(ours.inverse_transform(white).compute(), theirs.inverse_transform(theirs.transform(X)))


def test_weighted_whitening_and_its_file(tmp_path):
    weights = np.random.default_rng(1).integers(0, 4, len(X)).astype(float)
    ours = Whitening(client=Threads(2)).fit(ROWS, sample_weight=da.from_array(weights, chunks=100))
    theirs = eigenlift.Whitening().fit(X, sample_weight=weights)
    close(ours.whitening_matrix_, theirs.whitening_matrix_)
    ours.save(tmp_path / "w.safetensors")
    loaded = eigenlift.load(tmp_path / "w.safetensors")
    assert type(loaded) is eigenlift.Whitening
    assert_array_equal(loaded.transform(X), ours.transform(X))
    single = Whitening(client=Threads(2)).fit(ROWS.astype(np.float32))
    assert single.components_.dtype == np.float32
    with pytest.raises(eigenlift.NoVarianceError):
        Whitening(client=Threads(2)).fit(da.ones((40, 2), chunks=(9, 2)))


@pytest.mark.parametrize("route", [None, "covariance", "tsqr"])
def test_rows_in_pieces_as_on_one_machine(workers, route):
    ours = IncrementalPCA(3, route=route, client=workers).fit(ROWS)
    theirs = eigenlift.IncrementalPCA(3, route=route).fit(X)
    names = ["components_", "explained_variance_", "singular_values_", "mean_", "var_", "noise_variance_"]
    for name in names:
        close(getattr(ours, name), getattr(theirs, name))
    assert ours.n_samples_seen_ == 613 and ours.batch_size_ == theirs.batch_size_
    scores = ours.transform(ROWS)
    close(scores.compute(), theirs.transform(X))
    close(ours.inverse_transform(scores).compute(), theirs.inverse_transform(theirs.transform(X)))
    more = IncrementalPCA(3, route=route, client=workers)
    # Pieces from the cluster and from memory, in any order.
    more.partial_fit(ROWS[:200]).partial_fit(X[200:300]).partial_fit(ROWS[300:])
    for name in names:
        close(getattr(more, name), getattr(theirs, name))
    assert more.n_samples_seen_ == 613


def test_pieces_that_do_not_fit():
    ipca = IncrementalPCA(3, client=Threads(2)).partial_fit(ROWS)
    before = ipca.components_.copy()
    with pytest.raises(ValueError, match="X has 4 features, but IncrementalPCA is expecting 5"):
        ipca.partial_fit(ROWS[:, :4])
    bad = ROWS.map_blocks(lambda rows: rows * np.nan, dtype=float)
    with pytest.raises(ValueError, match=r"row \d+, column 1 is nan"):
        ipca.partial_fit(bad)
    assert ipca.n_samples_seen_ == 613
    assert_array_equal(ipca.components_, before)
    with pytest.raises(ValueError, match="must be less or equal to the batch number of samples 2"):
        IncrementalPCA(3, client=Threads(2)).partial_fit(ROWS[:2])
    with pytest.raises(TypeError, match=r"dask\.array\.from_array"):
        IncrementalPCA(3, client=Threads(2)).fit(X)
    assert IncrementalPCA(2, client=Threads(2)).fit(ROWS.astype(np.float32)).components_.dtype == np.float32


def test_rows_in_pieces_that_all_look_the_same():
    rows = da.full((50, 3), 2.5, chunks=(11, 3))
    ipca = IncrementalPCA(2, client=Threads(2)).fit(rows)
    assert_array_equal(ipca.mean_, [2.5] * 3)
    assert not ipca.explained_variance_.any()


def test_the_same_bits_for_any_number_of_workers(client):
    for make in (Nystroem(n_components=30, landmarks="pivoted"), Whitening(), IncrementalPCA(3)):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            fits = [
                clone(make).set_params(client=one).fit(ROWS) for one in (Threads(1), Threads(2), Threads(4), client)
            ]
        for other in fits[1:]:
            assert_array_equal(other.components_, fits[0].components_)
            assert_array_equal(other.transform(X), fits[0].transform(X))


def test_what_is_put_off_tells_of_bad_rows_and_refuses_tables():
    rows = np.random.default_rng(0).normal(size=(40, 3))
    pca = PCA(2, client=Threads(1)).fit(da.from_array(rows, chunks=(10, 3)))
    rows[26, 1] = np.nan
    with pytest.raises(PartitionError, match=r"^partition 2: row 7 of it, column 2 is nan"):
        pca.transform(da.from_array(rows, chunks=(10, 3))).compute()
    with pytest.raises(ValueError, match="a Dask array comes out here"):
        pca.set_output(transform="pandas").transform(da.from_array(rows, chunks=(10, 3)))


def test_half_precision_is_fitted_in_double_as_on_one_machine():
    rows = np.random.default_rng(0).normal(size=(40, 3)).astype(np.float16)
    ours = PCA(2, client=Threads(1)).fit(da.from_array(rows, chunks=(10, 3)))
    assert ours.components_.dtype == eigenlift.PCA(2).fit(rows).components_.dtype == np.float64


def test_small_blocks_are_joined_and_keep_their_names(monkeypatch):
    monkeypatch.setattr(_pieces, "_FEW_ROWS", 150)
    rows = da.from_array(X, chunks=(10, 5))
    ours = eigenlift.dask.KernelPCA(3, kernel="rbf", tol=1e-12, client=Threads(2)).fit(rows)
    assert "5 blocks" in str(ours.plan_)
    theirs = eigenlift.KernelPCA(3, kernel="rbf", tol=1e-12).fit(X)
    assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-10)
    weights = np.arange(613) % 3
    weighted = PCA(2, client=Threads(2)).fit(rows, sample_weight=weights)
    assert_allclose(weighted.components_, eigenlift.PCA(2).fit(X, sample_weight=weights).components_, atol=1e-10)
    bad = X.copy()
    bad[333, 2] = np.inf
    with pytest.raises(PartitionError, match=r"^partition 33 \(rows 331 to 340\): row 334, column 3 is inf"):
        PCA(2, client=Threads(2)).fit(da.from_array(bad, chunks=(10, 5)))


def test_fits_at_once_do_not_end_each_other():
    threads, found = Threads(2), {}

    def fit(name):
        found[name] = PCA(2, client=threads).fit(ROWS).explained_variance_

    workers = [threading.Thread(target=fit, args=(name,)) for name in range(4)]
    [worker.start() for worker in workers]
    [worker.join() for worker in workers]
    assert len(found) == 4 and all(np.array_equal(found[0], one) for one in found.values())


@pytest.mark.parametrize("how", ["plain", "its client", "seceded", "worker_client"])
def test_a_fit_inside_a_task_does_not_wait_for_itself(client, how):
    def fit(seed):
        import distributed

        rows = da.random.default_rng(seed).normal(size=(300, 4), chunks=(50, 4))
        if how == "worker_client":
            with distributed.worker_client():
                return PCA(2).fit(rows).explained_variance_
        if how == "seceded":
            distributed.secede()
        given = distributed.get_client() if how == "its client" else None
        return PCA(2, client=given).fit(rows).explained_variance_

    found = client.gather([client.submit(fit, seed, pure=False) for seed in range(3)])
    assert all(one.shape == (2,) for one in found)


def test_rows_that_travel_with_every_task_are_told_of():
    rows = da.from_array(np.zeros((200_000, 7)) + np.arange(7), chunks=(50_000, 7))
    with pytest.warns(eigenlift.EigenliftWarning, match=r"X carries 11 MB from the memory of this process"):
        Nystroem(n_components=2, client=Threads(1)).fit(rows)


def test_a_closed_client_is_refused(client):
    other = Client(client.scheduler.address, set_as_default=False)
    other.close()
    with pytest.raises(ValueError, match="the client is closed"):
        PCA(2, client=other).fit(ROWS)


def test_a_joined_block_that_fails_is_named_by_its_partition(client, monkeypatch):
    monkeypatch.setattr(_pieces, "_FEW_ROWS", 2048)

    def fail(rows, block_id=None):
        if block_id[0] == 5:
            raise OSError("disk on fire")
        return rows

    rows = da.from_array(X, chunks=(40, 5)).map_blocks(fail, dtype=float)
    for who in (Threads(2), client):
        with pytest.raises(PartitionError, match=r"^partition 5 \(rows 201 to 240\): OSError: disk on fire"):
            PCA(2, client=who).fit(rows)


@pytest.mark.parametrize("make", [PCA, Whitening, IncrementalPCA, Nystroem, eigenlift.dask.KernelPCA])
def test_a_fit_that_fails_leaves_the_one_before(make):
    ours = make(n_components=2, client=Threads(1)).fit(ROWS)
    before, attributes = ours.transform(X), set(vars(ours))
    bad = X[:, :4].copy()
    bad[:, 1] = np.nan
    with pytest.raises(PartitionError):
        ours.fit(da.from_array(bad, chunks=(100, 4)))
    assert ours.n_features_in_ == 5 and set(vars(ours)) == attributes
    assert_array_equal(ours.transform(X), before)


def test_masks_and_numbered_columns():
    import dask.dataframe as dd
    import pandas as pd

    ours = PCA(2, client=Threads(1)).fit(dd.from_pandas(pd.DataFrame(X), npartitions=3))
    assert not hasattr(ours, "feature_names_in_")
    with pytest.raises(PartitionError, match="is nan"):
        ours.transform(da.ma.masked_greater(ROWS, 1.0)).compute()


def test_blocks_of_the_usual_size_give_the_same_bits(client, monkeypatch):
    monkeypatch.setattr(_pieces, "_FEW_ROWS", 2048)
    rows = da.random.default_rng(3).normal(size=(30_000, 4), chunks=([2500] * 8 + [100] * 100, 4))
    makes = [lambda who: PCA(2, client=who), lambda who: eigenlift.dask.KernelPCA(2, kernel="rbf", rank=30, client=who)]
    for make in makes:
        fits = [make(who).fit(rows) for who in (Threads(1), Threads(3), client)]
        assert "13 blocks" in str(fits[0].plan_)
        for other in fits[1:]:
            assert_array_equal(other.transform(X[:, :4]), fits[0].transform(X[:, :4]))
