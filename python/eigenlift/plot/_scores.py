"""Scores of rows as points: by class, by value, by density, and with the graph that joins them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._errors import EigenliftError
from ._figure import (
    AXIS,
    CLASSES,
    FIRST,
    MARKERS,
    OTHER,
    SECOND,
    key_above,
    legend_of,
    note,
    one_axes,
    picture,
    plain,
    pyplot,
    ramp,
    title_above,
    write,
)
from ._model import Labels, clusters_of, component_names, is_model, scores_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

    from .._doctor import IsomapReport
    from .._types import Rows

# From so many points on, their density is drawn.
MANY = 100_000


def look(code, n_classes):
    """Colour and marker of a class: colours first, then shapes; beyond all classes grey."""
    if code >= n_classes:
        return OTHER, "o"
    return CLASSES[code % len(CLASSES)], MARKERS[min(code // len(CLASSES), len(MARKERS) - 1)]


def _size(n_points):
    """Area and opacity of a marker, smaller and fainter the more there are."""
    return float(np.clip(4000 / max(n_points, 1), 1.5, 14)), float(
        np.clip(1.6 - 0.2 * np.log10(max(n_points, 1)), 0.35, 0.9)
    )


def draw_points(ax, points, labels, sizes=None):
    """Points by class or value, the legend or colour bar beside them."""
    area, opacity = sizes or _size(len(points))
    shared = {"s": area, "alpha": opacity, "linewidths": 0}
    if labels is None:
        ax.scatter(*points.T, color=FIRST, **shared)
        return
    if labels.values is not None:
        drawn = ax.scatter(*points.T, c=labels.values, cmap=ramp(), plotnonfinite=False, **shared)
        _bar(ax, drawn, labels.name)
        return
    handles = []
    for code in range(len(labels.legend)):
        color, marker = look(code, len(labels.classes))
        ax.scatter(*points[labels.codes == code].T, color=color, marker=marker, **shared)
        handles.append(_sample(color, marker))
    _beside(ax, handles, labels.legend)


def _sample(color, marker):
    from matplotlib.lines import Line2D

    return Line2D([], [], color=color, marker=marker, linestyle="none", markersize=4.5)


def _beside(ax, handles, names):
    if len(names) > 1 or handles:
        where = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5), "handletextpad": 0.1, "borderaxespad": 0.3}
        where |= {"ncols": 1 if len(names) <= 12 else 2, "columnspacing": 0.6}
        legend_of(ax, handles, [plain(name, 16 if len(names) <= 12 else 10) for name in names], **where)


def _bar(ax, drawn, name):
    bar = ax.figure.colorbar(drawn, ax=ax, pad=0.02, aspect=30)
    bar.solids.set_alpha(1.0)
    bar.outline.set_linewidth(0.6)
    write(bar.ax.yaxis.label, name, 40)


def _most(values):
    """The most frequent code."""
    return np.bincount(np.asarray(values, dtype=np.int64)).argmax()


def draw_density(ax, points, labels):
    """Cells shaded by how many points they hold; with labels by their mean, or by the most frequent class."""
    cells = {"gridsize": 70, "mincnt": 1, "linewidths": 0.1}
    x, y = points.T
    if labels is None:
        _bar(ax, ax.hexbin(x, y, bins="log", cmap=ramp(), **cells), "points in a cell")
        return
    if labels.values is not None:
        known = np.isfinite(labels.values)
        _bar(ax, ax.hexbin(x[known], y[known], C=labels.values[known], cmap=ramp(), **cells), f"mean of {labels.name}")
        return
    from matplotlib.colors import ListedColormap

    colors = [look(code, len(labels.classes))[0] for code in range(len(labels.legend))]
    counted = ax.hexbin(x, y, **cells)
    counts = np.asarray(counted.get_array(), dtype=np.float64)
    counted.remove()
    drawn = ax.hexbin(
        x,
        y,
        C=labels.codes,
        reduce_C_function=_most,
        cmap=ListedColormap(colors),
        vmin=-0.5,
        vmax=len(colors) - 0.5,
        **cells,
    )
    drawn.set_alpha(0.25 + 0.75 * np.log1p(counts) / np.log1p(counts.max()))
    _beside(ax, [_sample(color, "h") for color in colors], labels.legend)


def pair(components, count):
    """Two components that there are, counted from 0."""
    first, second = components
    for which in (first, second):
        if not 0 <= which < count:
            raise EigenliftError(
                f"component {which} was asked for, counted from 0; there are {count}. Give two of them as components=(0, 1)."
            )
    return [first, second]


@picture
def scatter(
    scores: Any,
    y: ArrayLike | None = None,
    *,
    X: Rows | None = None,
    components: tuple[int, int] = (0, 1),
    title: str | None = None,
    ax: Axes | None = None,
) -> Figure:
    """Two scores of each row as a point; from 100 000 rows on, the density of points.

    Parameters
    ----------
    scores : fitted estimator or array-like of shape (n_samples, n_components)
        Scores, or a model. `KernelPCA`, `KernelCCA` (of X) and the manifold methods hold the scores of their rows; others need
        X. Rows of a `KernelKMeans` are drawn in the plane of two kernel principal components.
    y : array-like of shape (n_samples,), default=None
        Colours: text, truth values and at most 20 whole numbers are classes, all else is a value. None are the clusters of a
        `KernelKMeans`, and one colour otherwise.
    X : array-like of shape (n_samples, n_features), default=None
        Rows whose scores are drawn, with a model.
    components : tuple of int, default=(0, 1)
        Which scores, counted from 0.
    title : str, default=None
        Above the picture.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None makes a figure as wide as a column.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> import eigenlift
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> pca = eigenlift.PCA(n_components=2).fit(X)
    >>> figure = eigenlift.plot.scatter(pca, y, X=X)
    >>> figure.axes[0].get_xlabel()
    'component 1 (92.5 % of variance)'
    """
    found = scores_of(scores, X) if is_model(scores) else np.asarray(scores, dtype=np.float64)
    y = clusters_of(scores, X) if y is None else y
    if found.ndim != 2 or found.shape[1] < 1:
        raise EigenliftError(
            f"scores of shape {found.shape}; a row of scores for each point is required. Give a table of them."
        )
    names = component_names(scores, found.shape[1])
    if found.shape[1] == 1:
        # One score alone is drawn over the row number.
        found, names = np.c_[np.arange(1, len(found) + 1), found[:, 0]], ["row", names[0]]
    chosen = pair(components, found.shape[1])
    points = found[:, chosen]
    labels = None if y is None else Labels(y, len(points))
    ax = one_axes(ax)
    finite = np.isfinite(points).all(axis=1)
    if not finite.all():
        points = points[finite]
        if labels is not None:
            labels.codes = None if labels.codes is None else labels.codes[finite]
            labels.values = None if labels.values is None else labels.values[finite]
        note(ax, f"{np.count_nonzero(~finite)} points not finite")
    if len(points):
        (draw_density if len(points) >= MANY else draw_points)(ax, points, labels)
    ax.set(xlabel=names[chosen[0]], ylabel=names[chosen[1]])
    title_above(ax, title)
    return ax.figure


def _edges_of(isomap, X):
    """Pairs of rows that the graph joins: neighbours from either side and bridges, less what was cut; and the bridges."""
    try:
        neighbors = isomap.nbrs_
    except AttributeError:
        if X is None:
            raise EigenliftError(
                "this model does not hold the rows of its fit; they are required for its graph. Give them, or their distances, as X=..."
            ) from None
        neighbors = isomap._neighbors().fit(X)
    if isomap.n_neighbors is not None:
        graph = neighbors.kneighbors_graph(mode="connectivity")
    else:
        graph = neighbors.radius_neighbors_graph(mode="connectivity")
    graph = graph.tocoo()
    pairs = _sorted_pairs(np.c_[graph.row, graph.col])
    bridges = _sorted_pairs(np.c_[isomap.bridges_["from"], isomap.bridges_["to"]])
    cut = {tuple(edge) for edge in _sorted_pairs(np.c_[isomap.cut_["from"], isomap.cut_["to"]]).tolist()}
    pairs = np.unique(np.concatenate([pairs, bridges]), axis=0)
    if cut:
        pairs = pairs[[tuple(edge) not in cut for edge in pairs.tolist()]]
    return pairs, bridges


def _sorted_pairs(pairs):
    pairs = np.sort(np.asarray(pairs, dtype=np.int64).reshape(-1, 2), axis=1)
    return np.unique(pairs[pairs[:, 0] != pairs[:, 1]], axis=0)


@picture
def graph(
    isomap: Any,
    y: ArrayLike | None = None,
    *,
    X: Rows | None = None,
    doctor: IsomapReport | None = None,
    components: tuple[int, int] = (0, 1),
    title: str | None = None,
    ax: Axes | None = None,
) -> Figure:
    """The neighbourhood graph over the embedding, with suspected short circuits.

    Parameters
    ----------
    isomap : fitted Isomap
        The embedding and its graph.
    y : array-like of shape (n_samples,), default=None
        Colours of points, as in `scatter`.
    X : array-like, default=None
        What the model was fitted to, where it does not hold it: distances, or rows whose components were embedded separately.
    doctor : IsomapReport, default=None
        What `isomap_doctor` found; its suspects are drawn on top.
    components : tuple of int, default=(0, 1)
        Which coordinates, counted from 0.
    title : str, default=None
        Above the picture.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None makes a figure as wide as a column.

    Returns
    -------
    matplotlib.figure.Figure
    """
    from matplotlib.collections import LineCollection

    points = scores_of(isomap)
    points = np.c_[points, np.zeros(len(points))] if points.shape[1] == 1 else points
    chosen = pair(components, points.shape[1])
    points = points[:, chosen]
    edges, bridges = _edges_of(isomap, X)
    suspects = np.empty((0, 2), dtype=np.int64) if doctor is None else _sorted_pairs(doctor.cuts)
    if len(suspects) and suspects.max() >= len(points):
        raise EigenliftError(
            f"a suspected edge ends at row {suspects.max()}; the embedding has {len(points)} rows. Give the doctor the same rows."
        )
    ax = one_axes(ax)
    heavy = len(edges) > 20_000
    ax.add_collection(LineCollection(points[edges], colors=AXIS, linewidths=0.4, alpha=0.6, zorder=1, rasterized=heavy))
    draw_points(ax, points, None if y is None else Labels(y, len(points)), (3.0, 0.9))
    told = []
    for ends, color, style, words in (
        (bridges, CLASSES[6], "--", "bridge"),
        (suspects, SECOND, "-", "suspected short circuit"),
    ):
        if len(ends):
            told.append(
                (
                    LineCollection(points[ends], colors=color, linewidths=1.6, linestyles=style, zorder=3),
                    words,
                    len(ends),
                )
            )
            ax.add_collection(told[-1][0])
    key = _told_above(ax, told) if told else None
    n_edges = (isomap._facts.get("graph") or {}).get("n_edges", len(edges))
    if n_edges != len(edges):
        # Edges that were given to the fit, or neighbours at equal distances.
        note(ax, f"{len(edges)} edges between neighbours; the fit had {n_edges}")
    names = component_names(isomap, max(2, max(chosen) + 1))
    ax.set(xlabel=names[chosen[0]], ylabel=names[chosen[1]])
    ax.autoscale_view()
    title_above(ax, title, key)
    return ax.figure


def _told_above(ax, told):
    """What the marked edges are, above the axes; the legend of classes stays."""
    kept = ax.get_legend()
    names = [words if count == 1 else f"{count} {words}s" for _, words, count in told]
    handles = [
        pyplot().Line2D([], [], color=drawn.get_color()[0], linewidth=1.6, linestyle="--" if "bridge" in words else "-")
        for drawn, words, _ in told
    ]
    key = key_above(ax, handles, names)
    if kept is not None:
        ax.add_artist(kept).set_clip_on(False)
    return key
