"""Kernel k-means: against scikit-learn and the definition, and what the estimator promises."""

import pickle

import eigenlift
import numpy as np
import pandas as pd
import pytest
from eigenlift import EigenliftWarning, KernelKMeans, KernelPCA
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, make_circles, make_moons
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.pairwise import rbf_kernel

IRIS = load_iris().data
RINGS, RING = make_circles(300, factor=0.3, noise=0.05, random_state=0)


def squares(gram, labels):
    """Squared distances of rows to the means of clusters, from the kernel matrix alone."""
    members = np.eye(labels.max() + 1)[labels]
    shares = members / members.sum(axis=0)
    return np.diag(gram)[:, None] - 2 * gram @ shares + np.einsum("ic,ij,jc->c", shares, gram, shares)


@pytest.mark.parametrize("n_clusters", [1, 2, 3, 8])
def test_k_means_of_scikit_learn(n_clusters):
    ours = KernelKMeans(n_clusters).fit(IRIS)
    theirs = KMeans(n_clusters, n_init=10, random_state=0).fit(IRIS)
    assert_allclose(ours.inertia_, theirs.inertia_, rtol=1e-9 if n_clusters < 8 else 0.02)
    if n_clusters < 8:
        assert adjusted_rand_score(ours.labels_, theirs.labels_) == 1
        place = [np.bincount(ours.labels_[theirs.labels_ == c]).argmax() for c in range(n_clusters)]
        assert_allclose(ours.transform(IRIS)[:, place], theirs.transform(IRIS), atol=1e-6)
    assert_allclose(ours.score(IRIS), -ours.inertia_, rtol=1e-9)
    assert_array_equal(ours.predict(IRIS), ours.labels_)
    assert_array_equal(np.bincount(ours.labels_), ours.cluster_sizes_)


def test_distances_by_definition():
    gram = rbf_kernel(IRIS, gamma=0.3)
    model = KernelKMeans(4, kernel="rbf", gamma=0.3, random_state=1).fit(IRIS)
    expected = squares(gram, model.labels_)
    assert_allclose(model.transform(IRIS) ** 2, expected, atol=1e-8)
    assert_allclose(model.inertia_, expected[np.arange(150), model.labels_].sum(), rtol=1e-9)
    # No row is nearer to the mean of another cluster.
    assert_array_equal(expected.argmin(axis=1), model.labels_)
    assert model.converged_ and model.n_iter_ >= 1
    given = KernelKMeans(4, kernel="precomputed", random_state=1).fit(gram)
    assert_allclose(given.inertia_, model.inertia_, rtol=1e-6)
    assert_allclose(given.transform(gram) ** 2, squares(gram, given.labels_), atol=1e-6)
    function = KernelKMeans(4, kernel=lambda a, b: np.exp(-0.3 * np.sum((a - b) ** 2)), random_state=1).fit(IRIS)
    assert_array_equal(function.predict(IRIS), function.labels_)


def test_rings():
    assert adjusted_rand_score(RING, KernelKMeans(2).fit_predict(RINGS)) < 0.1
    assert adjusted_rand_score(RING, KernelKMeans(2, kernel="rbf", gamma=3).fit_predict(RINGS)) == 1
    rings = KernelKMeans(2, kernel="rbf", gamma=3, spectral=2).fit(RINGS)
    assert adjusted_rand_score(RING, rings.labels_) == 1
    # The spectral view is k-means of kernel principal components.
    scores = KernelPCA(2, kernel="rbf", gamma=3).fit_transform(RINGS)
    assert_allclose(rings.inertia_, KMeans(2, n_init=10, random_state=0).fit(scores).inertia_, rtol=1e-6)
    assert_allclose(np.abs(rings.plane(RINGS)), np.abs(scores), atol=1e-8)
    assert rings.plane(RINGS[:7]).shape == (7, 2)


def test_landmarks_threads_and_seeds():
    X, _ = make_moons(3000, noise=0.1, random_state=0)
    model = KernelKMeans(5, kernel="rbf", gamma=2, rank=60, random_state=4).fit(X)
    again = KernelKMeans(5, kernel="rbf", gamma=2, rank=60, random_state=4, n_jobs=1).fit(X)
    assert_array_equal(model.labels_, again.labels_)
    assert_array_equal(model.transform(X), again.transform(X))
    assert model.plan_.rank == 60 and 0 < model.left_out_ < 0.05
    assert KernelKMeans(5, kernel="rbf").plan(X).rank == 1000


def test_files_and_pickles(tmp_path):
    frame = pd.DataFrame(IRIS, columns=list("abcd"))
    for settings in ({"kernel": "rbf(gamma=median)"}, {"kernel": "rbf", "rank": 20}, {"spectral": 2, "n_init": 3}, {}):
        model = KernelKMeans(3, **settings).fit(frame)
        model.save(tmp_path / "model.safetensors")
        loaded = eigenlift.load(tmp_path / "model.safetensors")
        for again in (loaded, pickle.loads(pickle.dumps(model))):
            assert isinstance(again, KernelKMeans)
            for name in ("labels_", "cluster_sizes_", "inertia_", "n_iter_", "kernel_", "feature_names_in_"):
                assert_array_equal(getattr(again, name), getattr(model, name))
            assert_array_equal(again.transform(frame), model.transform(frame))
            assert_array_equal(again.predict(frame), model.predict(frame))
            assert_array_equal(again.plane(frame), model.plane(frame))
            assert (again.n_clusters, again.n_init, again.spectral) == (3, model.n_init, model.spectral)


def test_forms_of_rows():
    model = KernelKMeans(3, kernel="rbf", gamma=0.3).fit(IRIS)
    thin = KernelKMeans(3, kernel="rbf", gamma=0.3).fit(sparse.csr_matrix(IRIS))
    assert_allclose(thin.inertia_, model.inertia_, rtol=1e-9)
    single = KernelKMeans(3, kernel="rbf", gamma=0.3).fit(IRIS.astype(np.float32))
    assert single.transform(IRIS.astype(np.float32)).dtype == np.float32 and single.labels_.dtype == np.int64
    assert_allclose(single.inertia_, model.inertia_, rtol=1e-4)
    frame = KernelKMeans(3).set_output(transform="pandas").fit_transform(IRIS)
    assert frame.columns.tolist() == ["kernelkmeans0", "kernelkmeans1", "kernelkmeans2"]


def test_few_steps_are_told():
    X = np.random.default_rng(0).normal(size=(400, 2))
    with pytest.warns(EigenliftWarning, match="allow more steps"):
        assert not KernelKMeans(8, max_iter=1, n_init=1).fit(X).converged_


@pytest.mark.parametrize(
    ("settings", "X", "message"),
    [
        ({"n_clusters": 151}, IRIS, "n_samples=150 should be >= n_clusters=151"),
        ({"n_clusters": 0}, IRIS, "'n_clusters' parameter"),
        ({"n_init": 0}, IRIS, "'n_init' parameter"),
        ({"max_iter": 0}, IRIS, "'max_iter' parameter"),
        ({"spectral": 0}, IRIS, "'spectral' parameter"),
        ({"kernel": "auto"}, IRIS, "has an 'auto'"),
    ],
)
def test_what_is_refused(settings, X, message):
    with pytest.raises(ValueError, match=message):
        KernelKMeans(**settings).fit(X)
