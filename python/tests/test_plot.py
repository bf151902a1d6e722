"""Pictures: what they hold, for every method, and what they refuse."""

import subprocess
import sys
import warnings
from pathlib import Path

import eigenlift
import matplotlib
import numpy as np
import pytest
from eigenlift import (
    PCA,
    ClassicalMDS,
    DiffusionMap,
    IncrementalPCA,
    Isomap,
    KernelPCA,
    LocallyLinearEmbedding,
    SpectralEmbedding,
    Whitening,
    choose_kernel_pca,
    isomap_doctor,
    kernel_parallel_analysis,
    kernel_sensitivity,
    kernels,
    plot,
)
from matplotlib import pyplot as plt
from matplotlib.collections import LineCollection, PathCollection, PolyCollection
from matplotlib.container import ErrorbarContainer
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits, load_iris, make_blobs, make_swiss_roll
from sklearn.exceptions import NotFittedError
from sklearn.metrics import pairwise_distances

IRIS, SPECIES = load_iris(return_X_y=True)
NAMES = load_iris().target_names[SPECIES]
BLOBS, BLOB = make_blobs(90, centers=[[-0.5, -0.2], [0, 0.6], [0.5, 0]], cluster_std=0.1, random_state=0)
ROLL, ALONG = make_swiss_roll(500, noise=0.3, random_state=0)
METHODS = {
    "kpca": KernelPCA(3, kernel="rbf", gamma=0.2),
    "low rank": KernelPCA(3, kernel="rbf", gamma=0.2, rank=20),
    "pca": PCA(3),
    "incremental": IncrementalPCA(3),
    "whiten": Whitening(),
    "isomap": Isomap(n_neighbors=20),
    "mds": ClassicalMDS(3),
    "laplacian": SpectralEmbedding(2, n_neighbors=20),
    "lle": LocallyLinearEmbedding(n_components=2, n_neighbors=12),
    "diffusion": DiffusionMap(2),
}
HOSTILE = ["_hidden", r"$\frac{a$", "</svg><script>", "two\nlines\tand\0nothing", "", "x" * 400]


@pytest.fixture(autouse=True)
def no_figures_left():
    before = dict(matplotlib.rcParams)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", eigenlift.EigenliftWarning)
        yield
    plt.close("all")
    assert dict(matplotlib.rcParams) == before


@pytest.fixture(scope="module")
def fitted():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {name: model.fit(IRIS) for name, model in METHODS.items()}


def drawn(figure):
    """Draws, so that what cannot be drawn fails; the smallest letter is readable at the width of a column."""
    assert isinstance(figure, matplotlib.figure.Figure)
    figure.set_dpi(72)
    figure.canvas.draw()
    texts = [text for text in figure.findobj(matplotlib.text.Text) if text.get_visible() and text.get_text().strip()]
    assert texts and min(text.get_fontsize() for text in texts) >= min(6, 7 * figure.get_figwidth() / 3.4)
    width, height = figure.canvas.get_width_height()
    for ax in figure.axes:
        box = ax.get_window_extent()
        assert min(box.x0, box.y0) > -1 and box.x1 < width + 1 and box.y1 < height + 1
        assert box.width > 10 or ax.get_label() == "<colorbar>"
    return figure


def points_of(ax):
    return np.concatenate([c.get_offsets() for c in ax.collections if isinstance(c, PathCollection)])


def legend_of(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


@pytest.mark.parametrize("name", METHODS)
def test_scatter_of_every_method(fitted, name):
    model = fitted[name]
    scores = np.asarray(model.transform(IRIS))
    figure = drawn(plot.scatter(model, NAMES, X=IRIS))
    ax = figure.axes[0]
    order = np.argsort(SPECIES, kind="stable")
    assert_allclose(points_of(ax), scores[order, :2], atol=1e-9)
    assert legend_of(ax) == ["setosa", "versicolor", "virginica"]
    word = "output" if name == "whiten" else "coordinate" if hasattr(model, "embedding_") else "component"
    assert ax.get_xlabel().startswith(f"{word} 1")
    if name in ("kpca", "pca"):
        assert f"{100 * model.explained_variance_ratio_[1]:.1f} % of variance" in ax.get_ylabel()


@pytest.mark.parametrize("name", METHODS)
def test_scree_of_every_method(fitted, name):
    model = fitted[name]
    figure = drawn(plot.scree(model))
    ax = figure.axes[0]
    values = getattr(model, "explained_variance_", None)
    if values is None:
        values = model.kernel_pca_.eigenvalues_ if name == "isomap" else model.eigenvalues_
    if ax.get_yscale() == "log":
        assert_allclose(ax.lines[0].get_ydata(), values)
    else:
        assert_allclose([bar.get_height() for bar in ax.patches], values)
    bars = [container for container in ax.containers if isinstance(container, ErrorbarContainer)]
    assert len(bars) == (1 if hasattr(model, "certificate_") else 0)
    if name == "low rank":
        ends = np.array([segment[:, 1] for segment in bars[0].lines[2][0].get_segments()])
        proved = [[interval["low"], interval["high"]] for interval in model.certificate_.intervals]
        assert_allclose(ends, proved)
        assert "proved interval" in legend_of(ax)
    if name in ("pca", "incremental", "whiten"):
        together, left = (line.get_ydata() for line in figure.axes[1].lines)
        ratios = model.explained_variance_ / IRIS.var(axis=0, ddof=0 if name == "whiten" else 1).sum()
        assert_allclose(together, 100 * np.cumsum(ratios))
        mean = IRIS.mean(axis=0)
        axes = model.components_[:2]
        lost = ((IRIS - mean - (IRIS - mean) @ axes.T @ axes) ** 2).sum() / ((IRIS - mean) ** 2).sum()
        assert_allclose(left[[0, 2]], [100, 100 * lost], rtol=1e-8)


def test_intervals_of_variances_are_in_their_units(fitted):
    pca = PCA(2, route="directions", sketch_rows=3).fit(load_digits().data)
    ax = drawn(plot.scree(pca)).axes[0]
    (bars,) = (container for container in ax.containers if isinstance(container, ErrorbarContainer))
    ends = np.array([segment[:, 1] for segment in bars.lines[2][0].get_segments()])
    truth = PCA(2).fit(load_digits().data).explained_variance_
    assert (ends[:, 0] <= truth * (1 + 1e-9)).all() and (truth <= ends[:, 1] * (1 + 1e-9)).all()


def test_what_points_are_coloured_by():
    scores = np.c_[np.arange(60.0), np.arange(60.0) ** 2]
    for y, classes in (
        (np.arange(60) % 3, ["0", "1", "2"]),
        (np.arange(60) % 2 == 0, ["False", "True"]),
        (np.arange(60) % 2 / 1.0, ["0", "1"]),
        (np.array([None, "b", "a"] * 20, dtype=object), ["(missing)", "a", "b"]),
        (np.array(["10", "9", "x"] * 20), ["9", "10", "x"]),
    ):
        assert legend_of(plot.scatter(scores, y).axes[0]) == classes
    for y in (np.arange(60), np.linspace(0, 1, 60), np.where(np.arange(60) == 3, np.nan, np.linspace(0, 1, 60))):
        figure = drawn(plot.scatter(scores, y))
        assert figure.axes[0].get_legend() is None and figure.axes[1].get_label() == "<colorbar>"
        assert_array_equal(np.ma.filled(figure.axes[0].collections[0].get_array(), np.nan), y)
    many = plot.scatter(scores, [f"class {i % 25}" for i in range(60)])
    assert len(legend_of(many.axes[0])) == 21 and legend_of(many.axes[0])[-1] == "other (5)"


def test_many_points_become_a_density():
    random = np.random.default_rng(0)
    scores = random.normal(size=(100_000, 2))
    (cells,) = drawn(plot.scatter(scores)).axes[0].collections
    assert isinstance(cells, PolyCollection) and cells.get_array().sum() == len(scores)
    figure = plot.scatter(scores, np.where(scores[:, 0] < 0, "left", "right"))
    (cells,) = figure.axes[0].collections
    centres = cells.get_offsets()[:, 0]
    assert_array_equal(cells.get_array()[abs(centres) > 0.2], (centres > 0)[abs(centres) > 0.2])
    assert legend_of(drawn(figure).axes[0]) == ["left", "right"]
    (cells,) = plot.scatter(scores, scores[:, 1]).axes[0].collections
    near = cells.get_array() - cells.get_offsets()[:, 1]
    assert abs(near).max() < 0.2
    assert isinstance(plot.scatter(scores[:-1]).axes[0].collections[0], PathCollection)


def test_labels_are_shown_as_they_are():
    scores = np.random.default_rng(0).normal(size=(60, 2))
    figure = drawn(plot.scatter(scores, np.array(HOSTILE * 10, dtype=object), title=HOSTILE[1]))
    shown = legend_of(figure.axes[0])
    assert {"_hidden", r"$\frac{a$", "</svg><script>", "(empty)"} <= set(shown) and len(shown) == len(HOSTILE)
    assert not any("\n" in name or "\0" in name or len(name) > 30 for name in shown)
    assert figure.axes[0].get_title() == HOSTILE[1]
    drawn(plot.path(range(6), HOSTILE, [0.1] * 6, ylabel=HOSTILE[1], title=HOSTILE[3]))
    table = pytest.importorskip("pandas").DataFrame(BLOBS, columns=HOSTILE[1:3])
    drawn(plot.contours(PCA(2).fit(table), table, HOSTILE * 15, title=HOSTILE[1]))
    drawn(plot.curves(PCA(2).fit(table), table, title=HOSTILE[1]))
    drawn(plot.whitening(Whitening().fit(table), table, HOSTILE * 15, title=HOSTILE[1]))
    images = np.random.default_rng(0).random((6, 12))
    drawn(plot.preimages(images, {HOSTILE[1]: images}, (3, 4), labels=HOSTILE, title=HOSTILE[1]))


def test_points_that_are_not_finite_are_counted():
    scores = np.random.default_rng(0).normal(size=(10, 2))
    scores[[1, 4], [0, 1]] = np.nan, np.inf
    ax = drawn(plot.scatter(scores, np.arange(10) % 2)).axes[0]
    assert len(points_of(ax)) == 8
    assert any("2 points not finite" in text.get_text() for text in ax.texts)


def test_the_eight_panels():
    model = KernelPCA(8, kernel="rbf", gamma=10).fit(BLOBS)
    figure = drawn(plot.contours(model, BLOBS))
    assert len(figure.axes) == 8
    for j, ax in enumerate(figure.axes):
        assert ax.get_title() == f"nλ{'₁₂₃₄₅₆₇₈'[j]} = {model.eigenvalues_[j]:.4g}"
        assert_allclose(points_of(ax), BLOBS)
        image = ax.images[0]
        left, right, low, high = image.get_extent()
        rows, columns = image.get_array().shape
        x, y = (
            (end + (np.arange(count) + 0.5) * (other - end) / count)
            for end, other, count in ((left, right, columns), (low, high, rows))
        )
        grid = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
        truth = model.transform(grid)[:, j]
        assert_allclose(image.get_array().ravel(), truth, atol=1e-10)
        lines = [c for c in ax.collections if not isinstance(c, PathCollection)][0]
        for level, path in zip(lines.levels, lines.get_paths()):
            if len(path.vertices):
                # Lines are straight between places of the grid, whose distance is 1.3 % of the plane.
                assert abs(model.transform(path.vertices)[:, j] - level).max() < 0.03 * np.ptp(truth)


def test_linear_beside_kernel():
    model = KernelPCA(4, kernel="poly", degree=2).fit(BLOBS)
    figure = drawn(plot.contours(model, BLOBS, BLOB, linear=True, components=3))
    pca = PCA(2).fit(BLOBS)
    titles = [ax.get_title() for ax in figure.axes]
    assert titles[:2] == [f"linear PCA, λ{'₁₂'[j]} = {pca.explained_variance_[j]:.4g}" for j in range(2)]
    assert len(titles) == 5 and titles[2].startswith("nλ₁")
    # Values of linear PCA rise along a straight line by equal steps.
    steps = np.diff(figure.axes[0].images[0].get_array(), axis=1)
    assert_allclose(steps, steps[0, 0])
    tops = [ax.get_position().y0 for ax in figure.axes]
    assert tops[0] == pytest.approx(tops[1]) and tops[0] > tops[2]


@pytest.mark.parametrize("name", METHODS)
def test_contours_of_every_method(name):
    model = METHODS[name].__class__(**METHODS[name].get_params())
    if "n_components" in model.get_params():
        model.set_params(n_components=2)
    figure = drawn(plot.contours(model.fit(BLOBS), BLOBS, steps=15))
    assert len(figure.axes) == 2


def test_curves_go_through_the_rows():
    t = np.linspace(-1, 1, 200)
    rows = np.c_[t, 0.5 * t + 1]
    line = drawn(plot.curves(PCA(2).fit(rows), rows, components=1)).axes[0].lines[-1]
    x, y = line.get_data()
    assert_allclose(y, 0.5 * x + 1, atol=1e-12)
    assert_allclose([x.min(), x.max()], [-1, 1], atol=1e-12)
    angles = 2 * np.pi * np.arange(150) / 150
    ring = np.c_[np.cos(angles), np.sin(angles)]
    for settings in ({}, {"preimage": "ridge"}, {"fit_inverse_transform": True, "alpha": 0.01}):
        model = KernelPCA(4, kernel="rbf", gamma=0.5, **settings).fit(ring)
        figure = drawn(plot.curves(model, ring, components=[0, 3], steps=20))
        assert len(figure.axes[0].lines) == 4 and legend_of(figure.axes[0]) == ["component 1", "component 4"]
        assert model.preimage == settings.get("preimage")
    scores = model.transform(ring)
    along = np.tile(scores.mean(axis=0), (20, 1))
    along[:, 3] = np.linspace(scores[:, 3].min(), scores[:, 3].max(), 20)
    assert_allclose(figure.axes[0].lines[2].get_xydata(), model.inverse_transform(along))
    drawn(plot.curves(Whitening().fit(IRIS), IRIS, columns=(2, 3)))


def test_gram_and_centred_gram():
    figure = drawn(plot.gram(IRIS, "rbf(gamma=0.5)", NAMES))
    K = kernels.RBF(gamma=0.5)(IRIS)
    H = np.eye(150) - 1 / 150
    first, second = (ax.images[0].get_array() for ax in figure.axes[:2])
    assert_allclose(first, K)
    assert_allclose(second, H @ K @ H, atol=1e-12)
    assert len(figure.axes[0].lines) == 4
    low, high = figure.axes[1].images[0].get_clim()
    assert low == -high
    order = np.random.default_rng(0).permutation(150)
    shuffled = plot.gram(IRIS[order], kernels.RBF(gamma=0.5), NAMES[order])
    assert_allclose(shuffled.axes[0].images[0].get_array().diagonal(), 1)
    assert_allclose(plot.gram(K, "precomputed").axes[0].images[0].get_array(), K)
    model = KernelPCA(2, kernel="rbf", gamma=0.5).fit(IRIS)
    assert_allclose(plot.gram(IRIS, model).axes[0].images[0].get_array(), K)
    inner = KernelPCA(2, kernel=lambda a, b: a @ b).fit(IRIS[:9])
    assert_allclose(plot.gram(IRIS[:9], inner).axes[0].images[0].get_array(), IRIS[:9] @ IRIS[:9].T)
    many = drawn(plot.gram(np.random.default_rng(0).normal(size=(1500, 2))))
    assert many.axes[0].images[0].get_array().shape == (1200, 1200) and "1200 of 1500" in many.get_suptitle()


def test_images_in_a_grid():
    images = load_digits().images[:12].reshape(12, -1)
    trusted = np.arange(12) != 3
    figure = drawn(plot.preimages(images, {"a": images / 2, "b": images / 4}, (8, 8), trusted=trusted, n_images=5))
    assert len(figure.axes) == 15
    assert_array_equal(figure.axes[6].images[0].get_array(), images[1].reshape(8, 8) / 2)
    assert [ax.get_ylabel() for ax in figure.axes[::5]] == ["given", "a", "b"]
    framed = [ax.spines["left"].get_visible() for ax in figure.axes]
    assert framed == [at == 13 for at in range(15)]
    assert [ax.get_ylabel() for ax in plot.preimages(images, images, (8, 8)).axes[::10]] == ["given", "denoised"]


def test_graph_with_short_circuits():
    doctor = isomap_doctor(ROLL, n_neighbors=12)
    assert len(doctor.suspects_)
    isomap = Isomap(n_neighbors=12).fit(ROLL)
    figure = drawn(plot.graph(isomap, ALONG, doctor=doctor))
    edges, suspects = (c for c in figure.axes[0].collections if isinstance(c, LineCollection))
    assert len(edges.get_segments()) == isomap._facts.graph.n_edges
    place = isomap.embedding_
    ends = {frozenset(map(tuple, segment)) for segment in suspects.get_segments()}
    assert ends == {frozenset(map(tuple, place[list(edge)])) for edge in doctor.cuts}
    assert any("suspected short circuit" in name for name in legend_of(figure.axes[0]))
    cut = Isomap(n_neighbors=12, cut=doctor.cuts).fit(ROLL)
    (left, *_) = (c for c in plot.graph(cut).axes[0].collections if isinstance(c, LineCollection))
    assert len(left.get_segments()) == cut._facts.graph.n_edges
    bridged = drawn(plot.graph(Isomap(n_neighbors=5).fit(IRIS), NAMES))
    assert legend_of(bridged.axes[0]) == ["bridge"]
    assert len(bridged.findobj(matplotlib.legend.Legend)) == 2
    drawn(plot.graph(Isomap(n_neighbors=None, radius=1.0).fit(IRIS)))
    distances = pairwise_distances(ROLL)
    given = Isomap(n_neighbors=12, metric="precomputed").fit(distances)
    (same, *_) = (c for c in plot.graph(given, X=distances).axes[0].collections if isinstance(c, LineCollection))
    assert_allclose(same.get_segments(), edges.get_segments(), atol=1e-6)
    with pytest.raises(ValueError, match="does not hold the rows"):
        plot.graph(given)
    ring = Isomap(n_neighbors=2).fit(IRIS[:4], graph=np.array([[0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0]]))
    assert "the fit had 4" in plot.graph(ring).axes[0].texts[-1].get_text()
    with pytest.raises(ValueError, match="the same rows"):
        plot.graph(Isomap(n_neighbors=5).fit(ROLL[:20]), doctor=doctor)


def test_doctor():
    result = isomap_doctor(ROLL)
    figure = drawn(plot.doctor(result, title="roll"))
    residual, distance, counts, dimensions = figure.axes
    assert_array_equal(residual.lines[0].get_xdata(), [row["n_neighbors"] for row in result.sweep_])
    known = [
        100 * row["residual_variance"] if row["residual_variance"] is not None else np.nan for row in result.sweep_
    ]
    assert_allclose(residual.lines[0].get_ydata(), known)
    assert legend_of(residual) == [f"recommended: {result.recommended_} neighbours"]
    assert_array_equal(counts.lines[0].get_ydata(), [row["n_components"] for row in result.sweep_])
    assert_allclose([bar.get_height() for bar in dimensions.patches], [100 * share for _, share in result.dimensions_])
    assert all(result.recommended_ in np.ravel(ax.lines[-1].get_xdata()) for ax in (residual, distance, counts))


def test_choices():
    choice = choose_kernel_pca(IRIS, max_rows=50, most_components=8)
    figure = drawn(plot.choice(choice))
    bandwidths = sorted({point["bandwidth"] for point in choice.points})
    assert len(figure.axes[0].containers) == len(bandwidths)
    assert len(legend_of(figure.axes[0])) == len(bandwidths)
    chosen = choice.points[choice.chosen]
    squares = [line for line in figure.axes[0].lines if line.get_marker() == "s" and len(line.get_xdata()) == 1]
    assert squares[-1].get_xydata().tolist() == [[chosen["n_components"], chosen["error"]]]
    labelled = drawn(plot.choice(choose_kernel_pca(IRIS, NAMES, kernel="linear", most_components=4)))
    assert labelled.axes[0].get_ylabel().startswith("accuracy") and labelled.axes[0].get_ylim()[1] < 1.2
    pca = PCA("auto").fit(IRIS)
    for result in (pca, pca.choice_):
        figure = drawn(plot.choice(result))
        assert_allclose(figure.axes[0].lines[0].get_ydata(), pca.choice_.parallel.observed)
        names = [text.get_text() for text in figure.axes[2].get_yticklabels()]
        assert names == [rule["name"] for rule in pca.choice_.rules]
        assert pca.choice_.consensus in figure.axes[2].lines[-1].get_xdata()
    parallel = kernel_parallel_analysis(IRIS, permutations=5)
    figure = drawn(plot.choice(parallel, title="noise"))
    assert_allclose(figure.axes[0].lines[1].get_ydata(), parallel.null[:20])
    auto = KernelPCA(2, kernel="rbf", gamma="auto").fit(IRIS[::4])
    assert len(drawn(plot.choice(auto)).axes) >= 2
    with pytest.raises(TypeError, match="choice_"):
        plot.choice(PCA(2).fit(IRIS))


def test_sensitivity():
    result = kernel_sensitivity(IRIS, 3)
    figure = drawn(plot.sensitivity(result))
    shares, angles, rank = figure.axes
    assert len(shares.collections) == 3
    assert_allclose(angles.lines[0].get_ydata(), [point["angle_to_reference"] for point in result.points])
    assert_allclose(rank.lines[0].get_xdata(), [point["bandwidth"] for point in result.points])
    assert rank.get_xlabel() == "gamma"


def test_whitening_before_and_after():
    model = Whitening().fit(IRIS)
    figure = drawn(plot.whitening(model, IRIS, NAMES))
    before, after, first, second = figure.axes
    order = np.argsort(SPECIES, kind="stable")
    assert_allclose(points_of(before), IRIS[order, :2])
    assert_allclose(points_of(after), model.transform(IRIS)[order, :2])
    assert_allclose(first.images[0].get_array(), np.cov(IRIS, rowvar=False, bias=True))
    assert_allclose(second.images[0].get_array(), np.eye(4), atol=1e-10)
    assert [text.get_text() for text in first.texts][0] == "0.68"
    assert len(figure.legends) == 1


def test_path():
    ax = drawn(plot.path([0.5, 0.9, 0.93, 0.92], list("abcd"), [0.04] * 4)).axes[0]
    assert legend_of(ax) == ["best: step 3", "as good: step 2"]
    assert_array_equal(ax.lines[0].get_ydata(), [0.5, 0.9, 0.93, 0.92])
    assert any(isinstance(container, ErrorbarContainer) for container in ax.containers)
    assert legend_of(plot.path([3, 1, 2], higher_is_better=False).axes[0]) == ["best: step 2"]


def test_axes_that_are_given_keep_their_style(fitted):
    figure, axes = plt.subplots(2, 3)
    isomap = Isomap(n_neighbors=8).fit(ROLL)
    calls = [
        lambda ax: plot.scatter(fitted["kpca"], NAMES, ax=ax),
        lambda ax: plot.scree(fitted["kpca"], ax=ax),
        lambda ax: plot.curves(fitted["pca"], IRIS, ax=ax),
        lambda ax: plot.graph(isomap, ax=ax),
        lambda ax: plot.path([1, 2, 3], ax=ax),
    ]
    for ax, call in zip(axes.flat, calls):
        assert call(ax) is figure
        assert ax.has_data() and ax.yaxis.label.get_fontsize() == matplotlib.rcParams["font.size"]
    figure.canvas.draw()
    assert plt.get_fignums() == [figure.number]


def test_tables_and_sparse_rows():
    pandas = pytest.importorskip("pandas")
    from scipy import sparse

    table = pandas.DataFrame(BLOBS, columns=["height", "width"])
    model = PCA(2).fit(table)
    figure = drawn(plot.contours(model, table, pandas.Series(BLOB, name="blob")))
    assert figure.axes[0].get_ylabel() == "width"
    assert drawn(plot.curves(model, table)).axes[0].get_xlabel() == "height"
    figure = drawn(plot.scatter(model, pandas.Series(np.linspace(0, 1, 90), name="weight"), X=table))
    assert figure.axes[1].get_ylabel() == "weight"
    drawn(plot.scatter(model.set_output(transform="pandas"), X=table))
    rows = sparse.random(50, 8, 0.5, "csr", random_state=0)
    drawn(plot.scatter(PCA(2).fit(rows), X=rows))
    drawn(plot.gram(rows, "linear"))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: plot.scatter(PCA(2)), NotFittedError, "not fitted"),
        (lambda: plot.scatter(PCA(2).fit(IRIS)), ValueError, "rows are required"),
        (lambda: plot.scatter(IRIS, components=(0, 4)), ValueError, "there are 4"),
        (lambda: plot.scatter(IRIS, NAMES[:-1]), ValueError, "one label for each of the 150 rows"),
        (lambda: plot.scatter(IRIS[0]), ValueError, "shape"),
        (lambda: plot.scree(IRIS), TypeError, "fitted estimator"),
        (lambda: plot.scree(PCA(2)), ValueError, "no eigenvalues"),
        (lambda: plot.contours(PCA(2).fit(IRIS), IRIS), ValueError, "4 columns"),
        (lambda: plot.contours(PCA(2).fit(BLOBS), BLOBS, components=[2]), ValueError, "there are 2"),
        (lambda: plot.curves(Isomap().fit(ROLL), ROLL), ValueError, "way back"),
        (lambda: plot.curves(PCA(2).fit(IRIS), IRIS, columns=(0, 7)), ValueError, "there are 4"),
        (lambda: plot.gram(IRIS, "precomputed"), ValueError, "kernel matrix"),
        (lambda: plot.gram(IRIS, "no kernel"), ValueError, "kernel"),
        (lambda: plot.preimages(IRIS, IRIS, (3, 3)), ValueError, "9 columns"),
        (lambda: plot.preimages(IRIS, IRIS[:4], (2, 2)), ValueError, "as the first"),
        (lambda: plot.whitening(Whitening().fit(IRIS), IRIS, columns=(0, 5)), ValueError, "there are 4"),
        (lambda: plot.path([]), ValueError, "number for each step"),
        (lambda: plot.path([1, 2], ["a"]), ValueError, "names"),
    ],
)
def test_what_is_refused(call, error, words):
    with pytest.raises(error, match=words):
        call()
    assert not plt.get_fignums()


def test_without_matplotlib():
    program = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "import eigenlift, numpy\n"
        "assert 'matplotlib' not in sys.modules\n"
        "sys.modules['matplotlib'] = None\n"
        "try: eigenlift.plot.scatter(numpy.eye(3))\n"
        "except ImportError as error: print(error)\n"
    )
    command = [sys.executable, "-c", program, str(Path(eigenlift.__file__).parent.parent)]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "matplotlib is needed" in found.stdout and "install eigenlift[plot]" in found.stdout
