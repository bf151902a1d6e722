"""Manifold methods against scikit-learn's, and what scikit-learn does not have."""

import pickle
import warnings

import eigenlift
import numpy as np
import pandas as pd
import pytest
from eigenlift import (
    PCA,
    ClassicalMDS,
    DiffusionMap,
    EigenliftError,
    EigenliftWarning,
    InvalidParameterError,
    Isomap,
    LocallyLinearEmbedding,
    SpectralEmbedding,
    continuity,
    isomap_doctor,
    locally_linear_embedding,
    spectral_embedding,
    trustworthiness,
)
from eigenlift.kernels import RBF
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn import manifold
from sklearn.base import clone
from sklearn.datasets import load_iris, make_moons, make_s_curve, make_swiss_roll
from sklearn.neighbors import KDTree, KNeighborsTransformer, NearestNeighbors, kneighbors_graph

ROLL = make_swiss_roll(400, random_state=0)[0]
# Without ties: the numbers fill every bit of the mantissa.
IRIS = load_iris().data + np.random.RandomState(0).randn(150, 4) / 3
CURVE = make_s_curve(300, random_state=1)[0]
BLOBS = np.concatenate([ROLL[:60] / 100, ROLL[60:100] / 100 + 20])


def same_up_to_sign(found, expected, rtol=1e-8):
    """Columns agree, relative to the largest entry, up to sign; gaps between eigenvalues are wide here."""
    assert found.shape == expected.shape
    signs = np.sign(np.sum(found * expected, axis=0))
    assert_allclose(found * signs, expected, atol=rtol * np.abs(expected).max(), rtol=0)


@pytest.mark.parametrize(
    "parameters",
    [
        {"n_neighbors": 8},
        {"n_neighbors": 12, "n_components": 3},
        {"n_neighbors": 10, "metric": "manhattan"},
        {"n_neighbors": 10, "metric": "cosine"},
        {"n_neighbors": 10, "metric": "minkowski", "p": 3},
        {"n_neighbors": 10, "metric": "minkowski", "p": 1},
        {"n_neighbors": 10, "metric": "chebyshev"},
    ],
    ids=str,
)
@pytest.mark.parametrize("X", [ROLL, IRIS], ids=["roll", "iris"])
def test_isomap_is_scikit_learns(X, parameters):
    new = X[:40] + 0.01 * np.random.RandomState(1).randn(40, X.shape[1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        ours, theirs = Isomap(**parameters).fit(X), manifold.Isomap(**parameters).fit(X)
    same_up_to_sign(ours.embedding_, theirs.embedding_)
    assert_allclose(ours.dist_matrix_, theirs.dist_matrix_, rtol=1e-10)
    assert_allclose(ours.kernel_pca_.eigenvalues_, theirs.kernel_pca_.eigenvalues_, rtol=1e-8)
    assert_allclose(ours.reconstruction_error(), theirs.reconstruction_error(), rtol=1e-6)
    signs = np.sign(np.sum(ours.embedding_ * theirs.embedding_, axis=0))
    scale = np.abs(theirs.embedding_).max()
    assert_allclose(ours.transform(new) * signs, theirs.transform(new), atol=1e-8 * scale, rtol=0)
    assert_allclose(ours.transform(X), ours.embedding_, atol=1e-8 * scale)


def test_isomap_by_radius_and_by_distances():
    ours, theirs = (module.Isomap(n_neighbors=None, radius=5).fit(ROLL) for module in (eigenlift, manifold))
    same_up_to_sign(ours.embedding_, theirs.embedding_)
    D = cdist(ROLL, ROLL)
    by_distances = Isomap(n_neighbors=8, metric="precomputed").fit(D)
    assert_allclose(by_distances.embedding_, Isomap(n_neighbors=8).fit_transform(ROLL), atol=1e-8)
    assert_allclose(by_distances.transform(D[:9]), by_distances.embedding_[:9], atol=1e-7)
    transformer = KNeighborsTransformer(n_neighbors=8).fit(ROLL)
    by_lists, by_rows = Isomap(n_neighbors=8, metric="precomputed"), Isomap(n_neighbors=8).fit(ROLL)
    assert_allclose(by_lists.fit_transform(transformer.transform(ROLL)), by_rows.embedding_, atol=1e-8)
    new = ROLL[:9] + 0.1
    assert_allclose(by_lists.transform(transformer.transform(new)), by_rows.transform(new), atol=1e-8)
    assert by_lists.trustworthiness_ is None
    with pytest.raises(AttributeError, match="does not hold the rows"):
        by_distances.nbrs_  # noqa: B018


def test_isomap_takes_trees_and_neighbours():
    expected = Isomap(n_neighbors=8).fit_transform(ROLL)
    assert_array_equal(Isomap(n_neighbors=8).fit_transform(KDTree(ROLL)), expected)
    assert_array_equal(Isomap(n_neighbors=8).fit_transform(NearestNeighbors().fit(ROLL)), expected)


def test_isomap_along_a_graph():
    graph = kneighbors_graph(ROLL, 8, mode="distance")
    by_graph, by_rows = Isomap(n_neighbors=8).fit(ROLL, graph=graph), Isomap(n_neighbors=8).fit(ROLL)
    assert_allclose(by_graph.embedding_, by_rows.embedding_, atol=1e-9)
    assert_allclose(by_graph.transform(ROLL[:9] + 0.1), by_rows.transform(ROLL[:9] + 0.1), atol=1e-9)
    with pytest.raises(ValueError, match="one row and one column for each"):
        Isomap().fit(ROLL, graph=graph[:5])


def test_landmarks_come_close_to_every_row():
    X = make_swiss_roll(1500, random_state=0)[0]
    exact, few = Isomap(n_neighbors=10).fit(X), Isomap(n_neighbors=10, landmarks=150).fit(X)
    scale = np.abs(exact.embedding_).max()
    # Landmarks say a few per cent less than all rows.
    same_up_to_sign(few.embedding_, exact.embedding_, rtol=0.03)
    assert few.plan_.n_landmarks == 150 and "n_landmarks" not in exact.plan_
    assert_allclose(few.transform(X[:50]), few.embedding_[:50], atol=1e-8 * scale)
    assert few.residual_variance_ < 0.01 and few.trustworthiness_ > 0.95
    assert 0.0 < few.residual_variance_error_ < 0.01
    with pytest.raises(AttributeError, match="paths start from 150 landmarks"):
        few.dist_matrix_  # noqa: B018
    largest = np.abs(few.embedding_).argmax(axis=0)
    assert (few.embedding_[largest, [0, 1]] > 0).all()


def test_landmarks_that_nobody_asked_for_are_announced():
    with pytest.warns(EigenliftWarning, match="landmarks"):
        Isomap(n_neighbors=5, memory="5MB").fit(make_swiss_roll(700, random_state=0)[0])
    with pytest.raises(MemoryError):
        Isomap(n_neighbors=5, memory="5MB", landmarks="exact").fit(make_swiss_roll(700, random_state=0)[0])


def test_a_graph_in_parts():
    with pytest.warns(UserWarning, match="number of connected components"):
        joined = Isomap(n_neighbors=5).fit(BLOBS)
    assert joined.component_sizes_ == [60, 40] and len(joined.bridges_) == 1
    i, j, length = joined.bridges_[0]
    D = cdist(BLOBS[:60], BLOBS[60:])
    assert_allclose(length, D.min())
    assert (i, j - 60) == np.unravel_index(D.argmin(), D.shape)
    assert not joined.labels_.any()
    with pytest.warns(EigenliftWarning, match="by itself"):
        apart = Isomap(n_neighbors=5, disconnected="separate").fit(BLOBS)
    assert_array_equal(apart.labels_, np.repeat([0, 1], [60, 40]))
    alone = Isomap(n_neighbors=5).fit(BLOBS[60:])
    assert_allclose(np.abs(apart.embedding_[60:]), np.abs(alone.embedding_), atol=1e-9)
    assert_allclose(apart.transform(BLOBS), apart.embedding_, atol=1e-8)
    with pytest.raises(AttributeError, match="one by one"):
        apart.dist_matrix_  # noqa: B018
    with pytest.warns(EigenliftWarning, match="the largest is embedded"):
        largest = Isomap(n_neighbors=5, disconnected="largest").fit(BLOBS)
    assert_array_equal(largest.labels_, np.repeat([0, 1], [60, 40]))
    assert np.isfinite(largest.embedding_).all()
    with pytest.raises(EigenliftError, match="number of connected components"):
        Isomap(n_neighbors=5, disconnected="error").fit(BLOBS)


def test_a_graph_in_parts_by_a_metric_of_scikit_learn():
    parameters = {"n_neighbors": 5, "metric": "chebyshev"}
    with pytest.warns(UserWarning, match="number of connected components"):
        ours = Isomap(**parameters).fit(BLOBS)
    with pytest.warns(UserWarning):
        theirs = manifold.Isomap(**parameters).fit(BLOBS)
    same_up_to_sign(ours.embedding_, theirs.embedding_)
    same_up_to_sign(ours.transform(BLOBS[::7] + 1e-3), theirs.transform(BLOBS[::7] + 1e-3))
    with pytest.raises(ValueError, match="a model file holds euclidean"):
        ours.save("nowhere.safetensors")
    assert_array_equal(pickle.loads(pickle.dumps(ours)).transform(BLOBS), ours.transform(BLOBS))


def test_edges_can_be_cut():
    whole = Isomap(n_neighbors=5).fit(ROLL)
    edge = tuple(int(end) for end in (0, kneighbors_graph(ROLL, 5)[[0]].indices[0]))
    less = Isomap(n_neighbors=5, cut=[edge]).fit(ROLL)
    assert {int(less.cut_["from"][0]), int(less.cut_["to"][0])} == set(edge)
    assert less.dist_matrix_[edge] > whole.dist_matrix_[edge]
    with pytest.raises(EigenliftError, match="no such edge"):
        Isomap(n_neighbors=5, cut=[(0, int(cdist(ROLL[:1], ROLL).argmax()))]).fit(ROLL)
    with pytest.raises(InvalidParameterError, match="cut"):
        Isomap(cut="everything").fit(ROLL)


def test_scaling_euclidean_distances_is_pca():
    scaling, pca = ClassicalMDS(3).fit(IRIS), PCA(3).fit(IRIS)
    same_up_to_sign(scaling.embedding_, pca.transform(IRIS), rtol=1e-9)
    assert_allclose(np.sqrt(scaling.eigenvalues_), pca.singular_values_, rtol=1e-10)
    same_up_to_sign(scaling.transform(IRIS[:9] + 0.1), pca.transform(IRIS[:9] + 0.1), rtol=1e-8)
    assert scaling.negative_share_ < 1e-10 and scaling.residual_variance_ < 0.1
    assert scaling.residual_variance_error_ is None


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine", "correlation", "chebyshev"])
def test_classical_scaling_is_scikit_learns(metric):
    ours, theirs = (module.ClassicalMDS(2, metric=metric).fit(IRIS) for module in (eigenlift, manifold))
    assert_allclose(ours.embedding_, theirs.embedding_, atol=1e-9 * np.abs(theirs.embedding_).max())
    assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-9)
    assert_allclose(ours.dissimilarity_matrix_, theirs.dissimilarity_matrix_, atol=1e-12)
    assert_allclose(ours.transform(IRIS[:30]), ours.embedding_[:30], atol=1e-7)


def test_scaling_by_landmarks():
    few = ClassicalMDS(4, landmarks=30, random_state=0).fit(IRIS)
    # Four dimensions hold these rows, so any landmarks that span them will do.
    same_up_to_sign(few.embedding_, ClassicalMDS(4).fit_transform(IRIS), rtol=1e-7)
    with pytest.raises(AttributeError, match="does not hold all rows"):
        few.dissimilarity_matrix_  # noqa: B018


@pytest.mark.parametrize(
    "parameters",
    [{"n_neighbors": 12}, {"affinity": "rbf", "gamma": 2.0}, {"n_neighbors": 20, "n_components": 3}],
    ids=str,
)
def test_spectral_embedding_is_scikit_learns(parameters):
    ours = SpectralEmbedding(**parameters).fit(CURVE)
    theirs = manifold.SpectralEmbedding(eigen_solver="arpack", random_state=0, **parameters).fit(CURVE)
    # ARPACK's own residual, divided by the gaps of the Laplacian.
    same_up_to_sign(ours.embedding_, theirs.embedding_, rtol=1e-6)
    assert_allclose(ours.embedding_, theirs.embedding_, atol=1e-6 * np.abs(theirs.embedding_).max())
    difference = ours.affinity_matrix_ - theirs.affinity_matrix_
    assert abs(difference).max() < 1e-12


def test_spectral_embedding_of_affinities():
    W = RBF(gamma=2.0)(CURVE)
    by_rows = SpectralEmbedding(affinity=RBF(gamma=2.0)).fit(CURVE)
    for affinities in (W, sparse.csr_matrix(W)):
        given = SpectralEmbedding(affinity="precomputed").fit(affinities)
        assert_allclose(given.embedding_, by_rows.embedding_, atol=1e-8 * np.abs(by_rows.embedding_).max())
        with pytest.raises(ValueError, match="New rows cannot be placed"):
            given.transform(W[:3])
    assert_allclose(spectral_embedding(W, n_components=2), by_rows.embedding_, atol=1e-8)
    both = spectral_embedding(W, n_components=3, drop_first=False)
    expected = manifold.spectral_embedding(W, n_components=3, drop_first=False, random_state=0)
    assert_allclose(both, expected, atol=1e-7)
    assert_allclose(by_rows.transform(CURVE), by_rows.embedding_, atol=0.1 * np.abs(by_rows.embedding_).max())


def test_spectral_embedding_by_heat_and_radius():
    warm = SpectralEmbedding(n_neighbors=15, heat=0.5).fit(CURVE)
    graph = kneighbors_graph(CURVE, 14, mode="distance")
    graph.data = np.exp(-0.5 * graph.data**2)
    expected = manifold.spectral_embedding(0.5 * (graph + graph.T), n_components=2, random_state=0)
    same_up_to_sign(warm.embedding_, expected, rtol=1e-6)
    within = SpectralEmbedding(radius=0.7).fit(CURVE)
    D = cdist(CURVE, CURVE)
    expected = manifold.spectral_embedding((D <= 0.7).astype(float), n_components=2, random_state=0)
    same_up_to_sign(within.embedding_, expected, rtol=1e-6)
    for fitted in (warm, within):
        given = SpectralEmbedding(affinity="precomputed").fit(fitted.affinity_matrix_)
        same_up_to_sign(given.embedding_, fitted.embedding_, rtol=1e-6)
    by_distances = SpectralEmbedding(n_neighbors=15, heat=0.5, metric="precomputed").fit(D)
    same_up_to_sign(by_distances.embedding_, warm.embedding_, rtol=1e-6)
    same_up_to_sign(by_distances.transform(D[:9]), warm.transform(CURVE[:9]), rtol=1e-6)


@pytest.mark.parametrize("method", ["standard", "modified", "hessian", "ltsa"])
def test_locally_linear_embedding_is_scikit_learns(method):
    parameters = {"n_neighbors": 12, "method": method}
    ours = LocallyLinearEmbedding(**parameters).fit(CURVE)
    theirs = manifold.LocallyLinearEmbedding(eigen_solver="dense", **parameters).fit(CURVE)
    # The dense solver's rounding, eps·‖M‖, divided by gaps of about 1e-6 of the norm. scikit-learn's hessian also counts directions
    # of a neighbourhood that no second derivative has, in a basis that its QR happens to give.
    rtol = 0.05 if method == "hessian" else 1e-4
    same_up_to_sign(ours.embedding_, theirs.embedding_, rtol=rtol)
    if method != "hessian":
        assert_allclose(ours.reconstruction_error_, theirs.reconstruction_error_, rtol=1e-5, atol=1e-11)
    signs = np.sign(np.sum(ours.embedding_ * theirs.embedding_, axis=0))
    new = CURVE[:30] + 0.01
    assert_allclose(ours.transform(new) * signs, theirs.transform(new), atol=rtol * np.abs(theirs.embedding_).max())
    embedding, error = locally_linear_embedding(CURVE, n_components=2, **parameters)
    assert_array_equal(embedding, ours.embedding_)
    assert error == ours.reconstruction_error_


def test_locally_linear_embedding_refuses_as_scikit_learn():
    for parameters, words in [
        ({"n_components": 4}, "output dimension must be less than or equal to input dimension"),
        ({"n_neighbors": 400}, "Expected n_neighbors < n_samples"),
        ({"method": "hessian"}, "n_neighbors must be greater than"),
        ({"method": "modified", "n_neighbors": 1}, "modified LLE requires"),
    ]:
        for module in (eigenlift, manifold):
            with pytest.raises(ValueError, match=words):
                module.LocallyLinearEmbedding(**parameters).fit(CURVE)


@pytest.mark.parametrize("alpha", [0, 0.5, 1])
@pytest.mark.parametrize("t", [0, 1, 3])
def test_diffusion_maps_by_their_definition(alpha, t):
    X = make_moons(150, noise=0.05, random_state=0)[0]
    K = np.exp(-10 * cdist(X, X, "sqeuclidean"))
    K /= np.outer(K.sum(axis=1), K.sum(axis=1)) ** alpha
    degrees = K.sum(axis=1)
    values, vectors = np.linalg.eigh(K / np.sqrt(np.outer(degrees, degrees)))
    values, vectors = values[::-1][1:4], vectors[:, ::-1][:, 1:4]
    psi = vectors * np.sqrt(degrees.sum()) / np.sqrt(degrees)[:, None]
    found = DiffusionMap(3, gamma=10, alpha=alpha, t=t).fit(X)
    assert_allclose(found.eigenvalues_, values, atol=1e-10)
    same_up_to_sign(found.embedding_, psi * values**t, rtol=1e-8)
    assert_allclose(found.transform(X), found.embedding_, atol=1e-8 * np.abs(found.embedding_).max())
    assert found.kernel_ == "rbf(gamma=10)"


def test_diffusion_maps_with_kernels():
    median = DiffusionMap().fit(CURVE)
    assert median.kernel_.startswith("rbf(gamma=") and "median" not in median.kernel_
    same = DiffusionMap(kernel=median.kernel_).fit(CURVE)
    assert_array_equal(same.embedding_, median.embedding_)
    assert DiffusionMap(kernel="exponential(gamma=2)").fit(CURVE).embedding_.shape == (300, 2)
    for kernel in ["precomputed", lambda x, y: 1.0]:
        with pytest.raises(ValueError, match="kernel"):
            DiffusionMap(kernel=kernel).fit(CURVE)


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "chebyshev", "precomputed"])
def test_trustworthiness_is_scikit_learns(metric):
    embedding = PCA(1).fit_transform(IRIS)
    X = cdist(IRIS, IRIS) if metric == "precomputed" else IRIS
    for k in (3, 5, 20):
        expected = manifold.trustworthiness(X, embedding, n_neighbors=k, metric=metric)
        assert_allclose(trustworthiness(X, embedding, n_neighbors=k, metric=metric), expected, rtol=1e-12)
    if metric == "euclidean":
        # Continuity is trustworthiness the other way round.
        assert_allclose(continuity(IRIS, embedding), trustworthiness(embedding, IRIS), rtol=1e-12)


def test_trustworthiness_refuses_as_scikit_learn():
    for function in (trustworthiness, manifold.trustworthiness):
        with pytest.raises(ValueError, match=r"n_neighbors \(75\) should be less than n_samples / 2"):
            function(IRIS, IRIS, n_neighbors=75)
        with pytest.raises(ValueError, match="'n_neighbors' parameter of trustworthiness"):
            function(IRIS, IRIS, n_neighbors=0)


def test_the_doctor_finds_short_circuits():
    # Two sheets with a wire between them.
    plane = np.random.RandomState(0).rand(800, 2) * [10, 4]
    X = np.c_[plane[:, 0], plane[:, 1], np.repeat([0.0, 1.6], 400)]
    X[0] = [5.0, 2.0, 0.8]
    report = isomap_doctor(X, n_neighbors=8, cut=True)
    assert report.examined_ == 8 and 3 <= report.recommended_ <= 64
    assert report.sentence_ in str(report) and str(report.recommended_) in report.sentence_
    assert {"n_neighbors", "residual_variance", "mean_geodesic"} <= set(report.sweep_[0])
    assert [row["n_neighbors"] for row in report.sweep_] == sorted(row["n_neighbors"] for row in report.sweep_)
    assert len(report.cuts) == len(report.suspects_) == len(report.evidence_)
    assert report.after_cut_ is not None
    with pytest.raises(InvalidParameterError, match="isomap_doctor"):
        isomap_doctor(X, n_neighbors=0)
    with pytest.raises(InvalidParameterError, match="metric"):
        isomap_doctor(X, metric="chebyshev")


def test_the_doctor_names_planted_edges_and_spares_a_flat_sheet():
    rng = np.random.RandomState(1)
    t = np.sort(rng.rand(700)) * 4 * np.pi
    strip = np.c_[np.cos(t), np.sin(t), 0.25 * t + 0.1 * rng.rand(700)]
    lists = NearestNeighbors(n_neighbors=8).fit(strip).kneighbors_graph(mode="distance")
    lists = lists.maximum(lists.T).tolil()
    # Turns of the helix are 1.6 apart, the way along it is four times that.
    pairs = [(60, 410), (61, 412), (200, 552)]
    for a, b in pairs:
        lists[a, b] = lists[b, a] = np.linalg.norm(strip[a] - strip[b])
    found = Isomap(n_neighbors=8, cut="suspects").fit(strip, graph=lists.tocsr()).cut_
    assert set(pairs) == {(int(edge["from"]), int(edge["to"])) for edge in found}
    sheet = np.c_[rng.rand(300, 2) * [5, 3], np.zeros(300)]
    report = isomap_doctor(sheet)
    assert "short circuits" not in report.sentence_ and len(report.suspects_) == 0


def test_new_rows_know_their_component():
    rng = np.random.RandomState(0)
    X = np.r_[rng.rand(40, 2), rng.rand(30, 2) + 20]
    with pytest.warns(UserWarning, match="number of connected components"):
        model = Isomap(n_neighbors=5, disconnected="separate").fit(X)
    assert_array_equal(model.labels_, np.repeat([0, 1], [40, 30]))
    assert_array_equal(model.component_of([[0.5, 0.5], [20.5, 20.5], [9.0, 9.0]]), [0, 1, 0])
    assert_array_equal(Isomap(n_neighbors=5).fit(X[:40]).component_of(X[:3]), [0, 0, 0])


EVERY = [
    Isomap(n_neighbors=8),
    Isomap(n_neighbors=8, landmarks=60),
    ClassicalMDS(2),
    SpectralEmbedding(2, n_neighbors=12),
    SpectralEmbedding(2, affinity="rbf", gamma=2),
    LocallyLinearEmbedding(n_neighbors=12),
    DiffusionMap(2, gamma=2),
]


@pytest.mark.parametrize("estimator", EVERY, ids=lambda estimator: str(estimator).replace("\n", ""))
def test_what_all_have_in_common(estimator, tmp_path, portable):
    fitted = clone(estimator).fit(CURVE)
    new = CURVE[:20] + 0.01
    expected = fitted.transform(new)
    scale = np.abs(fitted.embedding_).max()
    # Threads, copies and files give the same bits.
    for n_jobs in (1, 2):
        again = clone(estimator).set_params(n_jobs=n_jobs).fit(CURVE)
        assert_array_equal(again.embedding_, fitted.embedding_)
        assert_array_equal(again.transform(new), expected)
    fitted.save(tmp_path / "model.safetensors")
    for copy in (pickle.loads(pickle.dumps(fitted)), eigenlift.load(tmp_path / "model.safetensors")):
        assert type(copy) is type(fitted)
        assert_array_equal(copy.transform(new), expected)
        assert_array_equal(copy.embedding_, fitted.embedding_)
        assert portable(copy.plan_) == portable(fitted.plan_)
    # The rows that were given may change later.
    X = CURVE.copy()
    changed = clone(estimator).fit(X)
    X[:] = 0
    assert_array_equal(changed.transform(new), expected)
    # Sparse rows, single precision and tables.
    thin = clone(estimator).fit(sparse.csc_matrix(CURVE))
    assert_allclose(thin.embedding_, fitted.embedding_, atol=1e-6 * scale)
    assert_allclose(thin.transform(sparse.csr_matrix(new)), expected, atol=1e-6 * scale)
    single = clone(estimator).fit(CURVE.astype(np.float32))
    assert single.embedding_.dtype == np.float32
    assert single.transform(new.astype(np.float32)).dtype == single.embedding_.dtype
    same_up_to_sign(single.embedding_, fitted.embedding_, rtol=0.01)
    frame = pd.DataFrame(CURVE, columns=["a", "b", "c"])
    table = clone(estimator).set_output(transform="pandas").fit_transform(frame)
    assert list(table.columns) == [f"{type(estimator).__name__.lower()}{i}" for i in range(2)]
    # What a fit would do is what it does.
    assert fitted.plan(CURVE).route == fitted.plan_.route
    with pytest.raises(ValueError, match="is not fitted yet"):
        clone(estimator).transform(new)
    with pytest.raises(InvalidParameterError, match="n_components"):
        clone(estimator).set_params(n_components=0).fit(CURVE)


def test_progress_is_told():
    told = []
    Isomap(n_neighbors=10, progress=lambda *step: told.append(step)).fit(make_swiss_roll(1500, random_state=0)[0])
    # A total of 0 stands for one that nobody knows.
    assert told and all(done <= total or total == 0 for _, done, total in told)


def test_pickles_hold_rows_once_and_no_tree():
    fitted = Isomap(n_neighbors=8, landmarks=20).fit(ROLL)
    size = len(pickle.dumps(fitted))
    assert fitted.nbrs_.n_neighbors == 8
    assert len(pickle.dumps(fitted)) == size
    wide = np.random.RandomState(0).randn(500, 200)
    assert len(pickle.dumps(ClassicalMDS(2, tol=1e-6).fit(wide))) < 1.2 * wide.nbytes


def test_rows_that_are_all_the_same():
    X = np.ones((20, 3))
    for estimator in (Isomap(), ClassicalMDS()):
        assert_array_equal(estimator.fit_transform(X), np.zeros((20, 2)))
        assert_array_equal(estimator.transform(X[:3]), np.zeros((3, 2)))
        with pytest.raises(ValueError, match="no model to save"):
            estimator.save("nowhere.safetensors")
