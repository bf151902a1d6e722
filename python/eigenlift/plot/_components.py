"""Components over the plane of the rows: their contour lines, and their axes pulled back."""

from __future__ import annotations

import copy
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._errors import EigenliftError
from ._figure import (
    AXIS,
    CLASSES,
    COLUMN,
    INK,
    NORMAL,
    OTHER,
    PAGE,
    diverging,
    key_above,
    note,
    number,
    one_axes,
    picture,
    pyplot,
    rows_of,
    subscript,
    title_above,
    write,
)
from ._model import Labels, column_names, component_names, eigenvalues_of, method_of, placed, scores_of, symbol
from ._scores import look

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

    from .._types import Rows

# Columns of panels on a page.
_ACROSS = 4


def _plane(X, steps, margin=0.08):
    """Places along both axes that cover the rows with some room."""
    low, high = X.min(axis=0), X.max(axis=0)
    room = margin * np.where(high > low, high - low, 1.0)
    return [np.linspace(low[k] - room[k], high[k] + room[k], steps) for k in range(2)]


def _values(model, x, y):
    """Scores over the grid: an array of shape (n_components, len(y), len(x))."""
    places = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    values = placed(model, places)
    if method_of(model) == "kkmeans":
        # Distances: shaded by which are below and which above their mean.
        values = values - values.mean(axis=0)
    return values.T.reshape(-1, len(y), len(x))


def _title(model, j):
    if method_of(model) == "kkmeans":
        return f"distance to cluster {j}"
    values = eigenvalues_of(model)
    if method_of(model) == "whiten" or j >= len(values):
        return component_names(model, j + 1)[j]
    return f"{symbol(model)}{subscript(j + 1)} = {number(values[j], 4)}"


def _panel(ax, grid, values, X, labels):
    """One component: shading and contour lines over the plane, the rows on top."""
    x, y = grid
    step = (x[1] - x[0]) / 2, (y[1] - y[0]) / 2
    extent = (x[0] - step[0], x[-1] + step[0], y[0] - step[1], y[-1] + step[1])
    reach = max(float(np.abs(values).max()), np.finfo(float).tiny)
    ax.imshow(
        values,
        origin="lower",
        extent=extent,
        cmap=diverging(),
        vmin=-reach,
        vmax=reach,
        interpolation="bilinear",
        aspect="auto",
    )
    if values.max() > values.min():
        ax.contour(x, y, values, levels=10, colors=INK, linewidths=0.5, linestyles="solid")
    area = float(np.clip(1200 / len(X), 0.6, 5))
    codes = np.zeros(len(X), dtype=np.int64) if labels is None else labels.codes
    for code in np.unique(codes):
        color, marker = (CLASSES[0], "o") if labels is None else look(code, len(labels.classes))
        ax.scatter(*X[codes == code].T, s=area, color=color, marker=marker, linewidths=0)
    ax.set(xlim=(x[0], x[-1]), ylim=(y[0], y[-1]), xticks=[], yticks=[])


def _two_columns(model, X):
    rows = rows_of(X)
    if rows.shape[1] != 2:
        raise EigenliftError(
            f"rows with {rows.shape[1]} columns; contour lines over the plane need rows with 2. Fit the model with two columns, or "
            "look at scatter(model)."
        )
    return rows


@picture
def contours(
    model: Any,
    X: Rows,
    y: ArrayLike | None = None,
    *,
    components: int | Sequence[int] | None = None,
    linear: bool = False,
    steps: int = 80,
    title: str | None = None,
) -> Figure:
    """Contour lines of each component over the plane, the rows on top, the eigenvalue in each title.

    Parameters
    ----------
    model : fitted estimator
        Of rows with two columns.
    X : array-like of shape (n_samples, 2)
        Rows to draw, usually those of the fit.
    y : array-like of shape (n_samples,), default=None
        Classes of the rows.
    components : int or sequence of int, default=None
        How many, or which, counted from 0; None draws the first eight.
    linear : bool, default=False
        Whether a row of panels above shows linear PCA of the same rows.
    steps : int, default=80
        Places of the grid along each axis.
    title : str, default=None
        Above the picture.

    Returns
    -------
    matplotlib.figure.Figure
        An axes for each component, those of linear PCA first.

    Examples
    --------
    >>> import eigenlift
    >>> from sklearn.datasets import make_blobs
    >>> X, y = make_blobs(90, centers=[[-1, 0], [0, 1], [1, 0]], cluster_std=0.2, random_state=0)
    >>> model = eigenlift.KernelPCA(8, kernel="rbf", gamma=5).fit(X)
    >>> figure = eigenlift.plot.contours(model, X, linear=True)
    >>> len(figure.axes)
    10
    """
    check_is_fitted(model)
    rows = _two_columns(model, X)
    names = column_names(model, X, 2)
    labels = None if y is None else Labels(y, len(rows))
    labels = None if labels is None or labels.codes is None else labels
    grid = _plane(rows, steps)
    found = [(model, _values(model, *grid))]
    wanted = _wanted(components, len(found[0][1]))
    bands = [[(model, found[0][1][j], j) for j in wanted]]
    if linear:
        from .._pca import PCA

        pca = PCA(n_components=2).fit(rows)
        bands.insert(0, [(pca, values, j) for j, values in enumerate(_values(pca, *grid))])
    lines = [
        (at, band[start : start + _ACROSS]) for at, band in enumerate(bands) for start in range(0, len(band), _ACROSS)
    ]
    across = max(len(line) for _, line in lines)
    width = {1: COLUMN, 2: 4.8, 3: 6.0}.get(across, PAGE)
    figure = pyplot().figure(figsize=(width, (0.92 * width / across) * len(lines) + 0.3), layout="constrained")
    cells = figure.add_gridspec(len(lines), across)
    for place, (at, line) in enumerate(lines):
        for column, (shown, values, j) in enumerate(line):
            ax = figure.add_subplot(cells[place, column])
            _panel(ax, grid, values, rows, labels)
            ax.set_title(("linear PCA, " if linear and at == 0 else "") + _title(shown, j), fontsize=NORMAL, pad=3)
            if column == 0:
                write(ax.yaxis.label, names[1], 20)
            if place == len(lines) - 1:
                write(ax.xaxis.label, names[0], 20)
    if title is not None:
        write(figure.suptitle("", fontsize=NORMAL + 1), title)
    return figure


def _wanted(components, count):
    """Which components, counted from 0."""
    if components is None:
        return list(range(min(count, 8)))
    wanted = list(range(components)) if isinstance(components, (int, np.integer)) else [int(j) for j in components]
    if not wanted or min(wanted) < 0 or max(wanted) >= count:
        raise EigenliftError(
            f"components {components!r} were asked for; there are {count}, counted from 0. Give some of these."
        )
    return wanted


def _way_back(model, scores):
    """Rows for scores, and which of them are to be trusted."""
    if not hasattr(model, "inverse_transform"):
        raise EigenliftError(
            f"{type(model).__name__} has no inverse_transform; curves need a way back to rows. Use KernelPCA, PCA or Whitening."
        )
    if not hasattr(model, "preimage") or (model.preimage is None and model.fit_inverse_transform):
        return np.asarray(model.inverse_transform(scores), dtype=np.float64), np.ones(len(scores), dtype=bool)
    if model.preimage is None:
        # The fit stays as it was; the way back needs nothing that is learned.
        model = copy.copy(model)
        model.preimage = "auto"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows, info = model.inverse_transform(scores, return_info=True)
    return np.asarray(rows, dtype=np.float64), np.asarray(info.trusted, dtype=bool)


@picture
def curves(
    model: Any,
    X: Rows,
    *,
    components: int | Sequence[int] = 3,
    columns: tuple[int, int] = (0, 1),
    steps: int = 120,
    title: str | None = None,
    ax: Axes | None = None,
) -> Figure:
    """Components as curves among the rows: for each the rows whose score on it is t, and on all others that of the mean.

    A curve runs from the smallest score of the rows to the largest. It is dotted where no trustworthy row has the scores.

    Parameters
    ----------
    model : fitted KernelPCA, PCA, IncrementalPCA or Whitening
        Kernel PCA goes back by its `preimage`, or by "auto" where it has none.
    X : array-like of shape (n_samples, n_features)
        Rows to draw, usually those of the fit.
    components : int or sequence of int, default=3
        How many, or which, counted from 0.
    columns : tuple of int, default=(0, 1)
        Which columns of the rows are drawn, counted from 0.
    steps : int, default=120
        Points of each curve.
    title : str, default=None
        Above the picture.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None makes a figure as wide as a column.

    Returns
    -------
    matplotlib.figure.Figure
        With two lines for each component: one dotted, and one on top of it where rows are to be trusted.
    """
    check_is_fitted(model)
    rows, scores = rows_of(X), scores_of(model, rows_of(X))
    if rows.shape[1] < 2:
        raise EigenliftError("rows with 1 column; curves are drawn over two columns. Give rows with at least 2.")
    if not all(0 <= column < rows.shape[1] for column in columns):
        raise EigenliftError(
            f"columns {columns!r} were asked for; there are {rows.shape[1]}, counted from 0. Give two of these."
        )
    count = scores.shape[1]
    wanted = _wanted(min(components, count) if isinstance(components, (int, np.integer)) else components, count)
    ax = one_axes(ax, 3.0)
    ax.scatter(*rows[:, columns].T, s=float(np.clip(3000 / len(rows), 1.5, 8)), color=OTHER, linewidths=0)
    handles, n_missing = [], 0
    for j in wanted:
        along = np.tile(scores.mean(axis=0), (steps, 1))
        along[:, j] = np.linspace(scores[:, j].min(), scores[:, j].max(), steps)
        found, trusted = _way_back(model, along)
        n_missing += np.count_nonzero(~trusted)
        look_of = {"color": CLASSES[j % len(CLASSES)], "linestyle": ["-", "--", "-."][j // len(CLASSES) % 3]}
        x, y = found[:, columns].T
        ax.plot(x, y, color=look_of["color"], linewidth=0.9, linestyle=":")
        handles += ax.plot(np.where(trusted, x, np.nan), y, linewidth=1.7, **look_of)
    _keep_to_rows(ax, rows[:, columns])
    names = column_names(model, X, rows.shape[1])
    write(ax.xaxis.label, names[columns[0]], 40)
    write(ax.yaxis.label, names[columns[1]], 40)
    key = key_above(ax, handles, [name.split(" (")[0] for name in _chosen(component_names(model, count), wanted)])
    if n_missing:
        note(ax, f"dotted: no trustworthy row ({n_missing} of {steps * len(wanted)})")
    title_above(ax, title, key)
    return ax.figure


def _chosen(values, places):
    return [values[place] for place in places]


def _keep_to_rows(ax, rows):
    """A curve may run off; the picture is of the rows with some room."""
    (x0, y0), (x1, y1) = rows.min(axis=0), rows.max(axis=0)
    room = 0.25 * max(x1 - x0, 1e-12), 0.25 * max(y1 - y0, 1e-12)
    ax.set(xlim=(x0 - room[0], x1 + room[0]), ylim=(y0 - room[1], y1 + room[1]))
    ax.spines[:].set_color(AXIS)
