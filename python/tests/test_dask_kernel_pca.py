"""Kernel PCA on a cluster: landmarks, models and certificates of one machine, to the bit whatever the number of workers."""

import pickle
import warnings

import dask.array as da
import eigenlift
import numpy as np
import pytest
from distributed import Client, LocalCluster
from eigenlift.dask import KernelPCA, Threads
from eigenlift.kernels import RBF, Linear
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

X = np.random.default_rng(0).normal(size=(613, 5)) * np.linspace(2, 0.5, 5)
ROWS = da.from_array(X, chunks=(70, 3))
FEW = ROWS.rechunk((130, 5))  # passes over pairs of blocks cost less so
LOW_RANK = [
    {"kernel": "rbf", "rank": 40},
    {"kernel": "rbf", "rank": 40, "random_state": 7},
    {"kernel": "rbf(gamma=median)", "rank": 40, "approximation": "uniform"},
    {"kernel": "laplacian", "rank": 20, "approximation": "kmeans"},
    {"kernel": "rbf", "gamma": 0.02, "error": 0.01},
    {"kernel": RBF(gamma=0.1) + 0.1 * Linear(), "rank": 40},
    {"kernel": "rbf", "rank": 60, "approximation": "fourier"},
    {"kernel": "poly", "degree": 2, "rank": 64, "approximation": "tensorsketch"},
]
# An iteration is asked for so much that what it leaves open is below the tolerance of the comparison.
EXACT = [{"kernel": "rbf", "tol": 1e-13}, {"kernel": "matern(nu=1.5)", "tol": 1e-13}]
PRIMAL = [{"kernel": "linear"}, {"kernel": "poly", "degree": 2, "coef0": 0.5}]


@pytest.fixture(scope="module")
def client():
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


def close(found, expected, share=1e-10):
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.dtype == expected.dtype
    assert_allclose(found, expected, rtol=0, atol=share * np.abs(expected).max(initial=0))


def agree(ours, theirs, share=1e-10):
    for name in ("eigenvalues_", "explained_variance_ratio_", "eigenvectors_"):
        close(getattr(ours, name), getattr(theirs, name), share)
    assert ours.kernel_ == theirs.kernel_
    assert ours.gamma_ == theirs.gamma_
    assert ours.plan_.route == theirs.plan_.route
    assert hasattr(ours, "landmarks_") == hasattr(theirs, "landmarks_")
    if getattr(theirs, "landmarks_", None) is not None:
        assert_array_equal(ours.landmarks_, theirs.landmarks_)
    low, high = (
        [[interval[end] for interval in each.certificate_.intervals] for each in (ours, theirs)]
        for end in ("low", "high")
    )
    close(*low, share)
    close(*high, share)


@pytest.mark.parametrize("how", LOW_RANK + EXACT + PRIMAL)
def test_the_model_of_one_machine(how):
    ours, theirs = KernelPCA(4, **how, client=Threads(2)).fit(ROWS), eigenlift.KernelPCA(4, **how).fit(X)
    agree(ours, theirs)
    close(ours.transform(ROWS).compute(), theirs.transform(X))
    assert isinstance(ours.eigenvectors_, np.ndarray) == (how in EXACT)
    if how in EXACT:
        assert_array_equal(ours.X_fit_, X)
    else:
        assert not hasattr(ours, "X_fit_")


def test_landmarks_from_a_sample_of_many_rows():
    many = np.random.default_rng(4).normal(size=(12_007, 3))
    theirs = eigenlift.KernelPCA(3, kernel="rbf", rank=30, random_state=2).fit(many)
    assert theirs.plan_.sample_rows is not None
    for height in (200, 5000):
        rows = da.from_array(many, chunks=(height, 3))
        ours = KernelPCA(3, kernel="rbf", rank=30, random_state=2, client=Threads(2)).fit(rows)
        assert_array_equal(ours.landmarks_, theirs.landmarks_)
        close(ours.eigenvalues_, theirs.eigenvalues_)


@pytest.mark.parametrize("how", [LOW_RANK[0], LOW_RANK[5], EXACT[0], PRIMAL[1]])
def test_certificates_by_pairs_of_blocks(how):
    ours, theirs = KernelPCA(4, **how, client=Threads(2)).fit(ROWS), eigenlift.KernelPCA(4, **how).fit(X)
    for rows in (None, ROWS, X):
        found, expected = ours.certify(rows), theirs.certify(X)
        if how not in EXACT + PRIMAL:
            close(found.residuals, expected.residuals)
        else:
            assert found.worst_residual < 1e-12
        agree(ours, theirs)


def test_refined_to_the_exact_model():
    theirs = eigenlift.KernelPCA(4, kernel="rbf", tol=1e-13).fit(X)
    for rows in (None, ROWS):
        ours = KernelPCA(4, kernel="rbf", tol=1e-13, rank=30, client=Threads(2)).fit(ROWS)
        assert ours.refine(rows) is ours
        agree(ours, theirs)
        assert_array_equal(ours.X_fit_, X)
        close(ours.transform(ROWS).compute(), theirs.transform(X))


def test_on_a_cluster(client):
    for how, rows in ((LOW_RANK[0], ROWS), (EXACT[0], FEW), (PRIMAL[0], ROWS)):
        ours, theirs = KernelPCA(4, **how, client=client).fit(rows), eigenlift.KernelPCA(4, **how).fit(X)
        agree(ours, theirs)
        assert ours.certify().intervals == KernelPCA(4, **how, client=Threads(2)).fit(rows).certify().intervals
        close(client.compute(ours.transform(rows)).result(), theirs.transform(X))


def test_the_same_bits_for_any_number_of_workers():
    def fitted(client):
        low_rank = KernelPCA(4, **LOW_RANK[0], client=client).fit(ROWS)
        low_rank.certify(FEW)
        return [low_rank, KernelPCA(4, kernel="rbf", client=client).fit(FEW)]

    found = [fitted(Threads(n)) for n in (1, 2, 4)]
    with LocalCluster(n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        for n_workers in (1, 2, 4):
            cluster.scale(n_workers)
            with Client(cluster, set_as_default=False) as client:
                client.wait_for_workers(n_workers, timeout=60)
                found.append(fitted(client))
    for fits in found[1:]:
        for ours, first in zip(fits, found[0]):
            assert_array_equal(ours.eigenvalues_, first.eigenvalues_)
            assert_array_equal(ours.transform(X), first.transform(X))
            assert ours.certificate_.residuals == first.certificate_.residuals
        assert_array_equal(fits[0].landmarks_, found[0][0].landmarks_)
        assert_array_equal(fits[1].eigenvectors_, found[0][1].eigenvectors_)


def test_single_precision_stays():
    for how in (LOW_RANK[0], {"kernel": "rbf", "tol": 1e-6}, PRIMAL[0]):
        single = ROWS.astype(np.float32)
        ours = KernelPCA(4, **how, client=Threads(2)).fit(single)
        theirs = eigenlift.KernelPCA(4, **how).fit(X.astype(np.float32))
        # Kernel values are in single precision, and so are scores, which differ by some eps times the number of landmarks.
        share = 40 * np.finfo(np.float32).eps
        close(ours.eigenvalues_, theirs.eigenvalues_, share)
        close(ours.transform(single).compute(), theirs.transform(X.astype(np.float32)), share)
        assert np.asarray(ours.eigenvectors_).dtype == np.float32


def test_all_components_and_fewer():
    small = X[:40]
    rows = da.from_array(small, chunks=(9, 5))
    for how in (
        {"kernel": "linear"},
        {"kernel": "rbf"},
        {"n_components": 8},
        {"n_components": 8, "remove_zero_eig": True},
    ):
        ours, theirs = KernelPCA(**how, client=Threads(2)).fit(rows), eigenlift.KernelPCA(**how).fit(small)
        close(ours.eigenvalues_, theirs.eigenvalues_, 1e-6)
        close(ours.transform(rows).compute(), theirs.transform(small), 1e-5)
    assert not np.asarray(KernelPCA(8, client=Threads(2)).fit(rows).eigenvectors_)[:, 5:].any()


def test_a_choice_by_cross_validation():
    how = {"n_components": 3, "kernel": "rbf(gamma=auto)"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", eigenlift.EigenliftWarning)
        ours, theirs = KernelPCA(**how, client=Threads(2)).fit(ROWS), eigenlift.KernelPCA(**how).fit(X)
    assert ours.kernel_ == theirs.kernel_
    assert ours.choice_.bandwidth == theirs.choice_.bandwidth
    close(ours.eigenvalues_, theirs.eigenvalues_)


def test_rows_that_all_look_the_same():
    rows = da.full((50, 3), 2.5, chunks=(11, 3))
    ours = KernelPCA(2, kernel="rbf", client=Threads(2)).fit(rows)
    assert not ours.eigenvalues_.any() and not ours.transform(rows).compute().any()
    assert not ours.eigenvectors_.compute().any()
    with pytest.raises(ValueError, match="all look the same"):
        ours.certify()
    assert KernelPCA(2, client=Threads(2)).fit(rows[:1]).eigenvalues_.shape == (1,)


def test_what_is_refused():
    for how, words in (
        ({"fit_inverse_transform": True}, "preimage='auto'"),
        ({"kernel": lambda x, y: 0.0}, "can be written down"),
        ({"kernel": "precomputed"}, "matrix of all pairs"),
        ({"kernel": "rbf", "gamma": -1}, "gamma"),
    ):
        with pytest.raises(ValueError, match=words):
            KernelPCA(2, **how, client=Threads(2)).fit(ROWS)
    many = da.zeros((50_001, 2), chunks=(25_000, 2))
    with pytest.raises(ValueError, match="Give n_components"):
        KernelPCA(kernel="rbf", client=Threads(2)).fit(many)
    fitted = KernelPCA(2, kernel="rbf", rank=20, client=Threads(2)).fit(ROWS)
    with pytest.raises(ValueError, match="return_info"):
        fitted.denoise(ROWS, return_info=True)
    with pytest.raises(TypeError, match="rows in memory"):
        fitted.contributions(ROWS)
    with pytest.raises(ValueError, match="612"):
        fitted.certify(ROWS[:612])


def test_many_rows_go_by_landmarks():
    rows = da.random.default_rng(0).normal(size=(50_001, 2), chunks=(10_000, 2))
    with pytest.warns(eigenlift.EigenliftWarning, match="approximated by landmarks") as told:
        ours = KernelPCA(2, kernel="rbf", client=Threads(2)).fit(rows)
    assert told[0].filename == __file__
    assert ours.plan_.route == "low-rank" and ours.landmarks_.shape[1] == 2


def test_methods_on_rows_are_put_off():
    how = {"kernel": "rbf", "rank": 60, "preimage": "auto"}
    ours, theirs = KernelPCA(5, **how, client=Threads(2)).fit(ROWS), eigenlift.KernelPCA(5, **how).fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", eigenlift.EigenliftWarning)
        # A search from rows that agree to rounding ends within its own tolerance.
        close(ours.denoise(ROWS).compute(), theirs.denoise(X), 1e-5)
        scores = ours.transform(ROWS)
        close(ours.inverse_transform(scores).compute(), theirs.inverse_transform(theirs.transform(X)), 1e-5)
    found, expected = ours.novelty_scores(ROWS), theirs.novelty_scores(X)
    assert isinstance(found.spe, da.Array) and found.spe.shape == (613,)
    close(found.spe.compute(), expected.spe)
    close(found.t_squared.compute(), expected.t_squared)
    close(ours.score_samples(ROWS).compute(), theirs.score_samples(X))
    assert ours.limits(reference=ROWS).spe == pytest.approx(theirs.limits(reference=X).spe, rel=1e-10)
    assert scores.name.startswith("eigenlift-transform-") and scores.chunks == (ROWS.chunks[0], (5,))
    assert ours.align(theirs, X).agreement == pytest.approx([1.0] * 5)
    close(ours.eigenvectors_.compute(), theirs.eigenvectors_)


def test_copies_and_files(tmp_path, client):
    for how in (LOW_RANK[0], EXACT[0]):
        ours = KernelPCA(4, **how, client=client).fit(ROWS)
        assert clone(ours).client is client
        anywhere = pickle.loads(pickle.dumps(ours))
        assert anywhere.client is None
        assert_array_equal(anywhere.transform(X), ours.transform(X))
        ours.save(tmp_path / "kpca.safetensors")
        loaded = eigenlift.load(tmp_path / "kpca.safetensors")
        assert type(loaded) is eigenlift.KernelPCA
        assert_array_equal(loaded.transform(X), ours.transform(X))
    anywhere = pickle.loads(pickle.dumps(KernelPCA(4, rank=40, kernel="rbf", client=Threads(2)).fit(ROWS)))
    with pytest.raises(AttributeError, match="not known here"):
        anywhere.eigenvectors_  # noqa: B018
    anywhere.client = Threads(2)
    assert len(anywhere.certify(ROWS).residuals) == 4


def test_rows_from_files(tmp_path):
    np.save(tmp_path / "x.npy", X)
    theirs = eigenlift.KernelPCA(3, kernel="rbf", rank=40).fit(X)
    ours = KernelPCA(3, kernel="rbf", rank=40, client=Threads(2))
    close(ours.fit_transform(tmp_path / "x.npy").compute(), theirs.transform(X))
    close(ours.eigenvectors_.compute(), theirs.eigenvectors_)
    close(ours.certify().residuals, theirs.certify(X).residuals)


def test_plans_and_progress():
    told = []
    how = {"kernel": "rbf", "rank": 40, "client": Threads(1), "progress": lambda *step: told.append(step)}
    ours = KernelPCA(3, **how)
    assert ours.plan(ROWS).route == "low-rank"
    ours.fit(ROWS).certify()
    stages = {stage for stage, _, _ in told}
    assert {"moments of features", "signs", "pass over pairs"} <= stages
    assert all(0 <= done <= total for _, done, total in told)
    assert [step[1:] for step in told if step[0] == "moments of features"][-1] == (613, 613)
