"""Canonical correlations: scores of one table against those of another, correlations, and the regularisation that was chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._errors import EigenliftError, InvalidParameterError
from ._figure import (
    COLUMN,
    FIRST,
    INK,
    NORMAL,
    OTHER,
    PAGE,
    SECOND,
    THIRD,
    key_above,
    note,
    number,
    one_axes,
    picture,
    plain,
    plain_numbers,
    pyplot,
    title_above,
    write,
)
from ._model import Labels, is_model
from ._scores import MANY, draw_density, draw_points

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

    from .._types import Rows

# More components are not drawn as bars, more panels not side by side.
_MOST, _PANELS = 200, 4


def _fitted(model, attribute, what):
    """Refuses what is no fitted estimator with this attribute."""
    from sklearn.utils.validation import check_is_fitted

    if not is_model(model):
        raise InvalidParameterError(
            f"model is {type(model).__name__}; a fitted estimator is required. Fit one, and give it."
        )
    check_is_fitted(model)
    if getattr(model, attribute, None) is None:
        raise EigenliftError(f"{type(model).__name__} has no {what}. Give a fitted {_OWNERS[attribute]}.")


_OWNERS = {
    "n_views_": "KernelCCA",
    "training_correlations_": "KernelCCA",
    "regularization_curve_": 'KernelCCA or KernelDiscriminant with regularization="auto"',
}


def _tables(model, X, y, views):
    """Scores of all tables that were given, or of those of the fit."""
    if X is not None:
        if y is None:
            raise EigenliftError(
                "X without y; scores of two tables are drawn against each other. Give both, or neither."
            )
        return [np.asarray(table, dtype=np.float64) for table in model.transform(X, y, *views)]
    if not hasattr(model, "scores_"):
        raise EigenliftError("This model does not hold the scores of its rows: it was loaded. Give X and y.")
    return [np.asarray(table, dtype=np.float64) for table in model.scores_]


def _chosen(components, count):
    """Components that there are, counted from 0."""
    wanted = [components] if np.isscalar(components) else list(components)
    for which in wanted:
        if not 0 <= which < count:
            raise EigenliftError(
                f"component {which} was asked for, counted from 0; there are {count}. Give some of these as components=..."
            )
    return [int(which) for which in wanted]


@picture
def canonical(
    model: Any,
    X: Rows | None = None,
    y: Rows | None = None,
    *views: Rows,
    color: ArrayLike | None = None,
    components: int | Sequence[int] = 0,
    tables: tuple[int, int] = (0, 1),
    title: str | None = None,
    ax: Axes | None = None,
) -> Figure:
    """Scores of one table against those of another: the closer to a line, the larger the correlation.

    Parameters
    ----------
    model : fitted KernelCCA
        The components.
    X, y, *views : array-like, default=None
        Rows whose scores are drawn; those of the fit when none are given.
    color : array-like of shape (n_samples,), default=None
        Colours of points, as `y` of `scatter`.
    components : int or sequence of int, default=0
        Which, counted from 0; several are drawn side by side, at most four.
    tables : tuple of int, default=(0, 1)
        Which two of the tables, counted from 0.
    title : str, default=None
        Above the picture.
    ax : matplotlib.axes.Axes, default=None
        Where to draw one component; None makes a figure.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> import eigenlift
    >>> from sklearn.datasets import load_linnerud
    >>> X, Y = load_linnerud(return_X_y=True)
    >>> model = eigenlift.KernelCCA(n_components=1, regularization=0).fit(X, Y)
    >>> eigenlift.plot.canonical(model).axes[0].get_title()
    'correlation 0.796'
    """
    from .._kernel_cca import correlations_between

    _fitted(model, "n_views_", "scores of several tables")
    scores = _tables(model, X, y, views)
    if not (len(tables) == 2 and all(0 <= place < len(scores) for place in tables)):
        raise EigenliftError(f"tables={tables!r}; two of the {len(scores)} tables are required, counted from 0.")
    first, second = (scores[place] for place in tables)
    chosen = _chosen(components, first.shape[1])
    if len(chosen) > _PANELS or (ax is not None and len(chosen) > 1):
        raise EigenliftError(
            f"{len(chosen)} components; at most {_PANELS} are drawn side by side, and one into axes that are given. Give fewer."
        )
    labels = None if color is None else Labels(color, len(first))
    if labels is not None and getattr(color, "name", None) is None:
        labels.name = "color"
    found = correlations_between([first, second])
    figure, axes = _panels(len(chosen), ax, labels)
    for axes_of, which in zip(axes, chosen):
        _pair(axes_of, np.c_[first[:, which], second[:, which]], labels)
        names = [_table_name(place) for place in tables]
        axes_of.set(xlabel=f"component {which + 1} of {names[0]}", ylabel=f"component {which + 1} of {names[1]}")
        words = f"correlation {number(found[which])}"
        alone = title is not None and len(chosen) == 1
        title_above(axes_of, f"{plain(title, 40)}: {words}" if alone else words)
    if title is not None and len(chosen) > 1:
        write(figure.suptitle("", fontsize=NORMAL), title)
    return figure


def _table_name(place):
    return ("X", "y")[place] if place < 2 else f"table {place + 1}"


def _panels(count, ax, labels):
    if count == 1:
        ax = one_axes(ax)
        return ax.figure, [ax]
    width = COLUMN * 1.25 if count == 2 else PAGE
    beside = labels is not None
    figure, axes = pyplot().subplots(
        1 if count <= 3 else 2,
        count if count <= 3 else 2,
        figsize=((PAGE if beside else width), 2.3 if count <= 3 else 4.8),
        layout="constrained",
        squeeze=False,
    )
    return figure, list(axes.ravel())


def _pair(ax, points, labels):
    finite = np.isfinite(points).all(axis=1)
    if not finite.all():
        note(ax, f"{np.count_nonzero(~finite)} points not finite")
        points = np.where(finite[:, None], points, np.nan)
    (draw_density if len(points) >= MANY else draw_points)(ax, points, labels)


@picture
def correlations(model: Any, *, title: str | None = None, ax: Axes | None = None) -> Figure:
    """The correlation of each component: on the rows of the fit, on held-out rows, and what permuted rows reach.

    What permuted rows reach is to be compared with the correlations that are held back by κ, drawn as dashes.

    Parameters
    ----------
    model : fitted KernelCCA
        The correlations.
    title : str, default=None
        Above the picture.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None makes a figure as wide as a column.

    Returns
    -------
    matplotlib.figure.Figure
    """
    _fitted(model, "training_correlations_", "canonical correlations")
    training = np.asarray(model.training_correlations_)[:_MOST]
    places = np.arange(1, len(training) + 1)
    ax = one_axes(ax, 2.5)
    handles = [ax.bar(places, training, width=0.6, color=FIRST, alpha=0.75, linewidth=0)]
    names = ["rows of the fit"]
    held_out, errors = np.asarray(model.held_out_correlations_)[:_MOST], np.asarray(model.held_out_errors_)[:_MOST]
    if len(held_out):
        style = {"fmt": "o", "color": SECOND, "markersize": 3.5, "elinewidth": 1.2, "capsize": 2.5, "zorder": 4}
        handles.append(ax.errorbar(places[: len(held_out)], held_out, yerr=errors, **style))
        names.append("held-out rows")
    if model.null_95_ is not None:
        # Permutations are compared with these, which have κ in the denominator.
        held_back = np.asarray(model.tested_correlations_)[:_MOST]
        handles += ax.plot(places, held_back, "_", color=INK, markersize=9, markeredgewidth=1.4, zorder=3)
        names.append("held back by κ")
        handles.append(ax.axhline(model.null_95_, color=INK, linewidth=0.9, linestyle="--"))
        names.append(f"95 % of permuted rows: {number(model.null_95_)}")
    least = min(0.0, float(np.min(held_out - errors, initial=0)), float(np.min(training, initial=0)))
    ax.set(
        xlabel="component",
        ylabel="correlation",
        ylim=(least * 1.1 - (0.02 if least < 0 else 0), 1.05),
        xlim=(0.3, len(training) + 0.7),
    )
    ax.grid(True, axis="y")
    ax.set_axisbelow(True)
    ax.xaxis.get_major_locator().set_params(integer=True)
    if least < 0:
        ax.axhline(0, color=OTHER, linewidth=0.6)
    key = key_above(ax, handles, names)
    if len(model.training_correlations_) > _MOST:
        note(ax, f"{len(model.training_correlations_) - _MOST} more components")
    title_above(ax, title, key)
    return ax.figure


@picture
def regularization(model: Any, *, title: str | None = None, ax: Axes | None = None) -> Figure:
    """What held-out rows say of each regularisation that was tried, and which was chosen.

    Parameters
    ----------
    model : fitted KernelCCA or KernelDiscriminant
        With `regularization="auto"`.
    title : str, default=None
        Above the picture.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None makes a figure as wide as a column.

    Returns
    -------
    matplotlib.figure.Figure
    """
    _fitted(model, "regularization_curve_", "choice of a regularisation to show")
    curve = model.regularization_curve_
    shares, scores, errors = (np.asarray(curve[name], dtype=np.float64) for name in ("shares", "scores", "errors"))
    share = shares[curve["chosen"]]
    ax = one_axes(ax, 2.4)
    ax.set_xscale("log")
    ax.errorbar(shares, scores, yerr=errors, fmt="o-", color=FIRST, elinewidth=1.0, capsize=2.0)
    line = ax.axvline(share, color=INK, linewidth=0.9, zorder=1)
    ax.plot([share], [scores[curve["chosen"]]], "o", color=THIRD, markersize=5, zorder=5)
    what = "accuracy" if hasattr(model, "classes_") else "sum of correlations"
    ax.set(xlabel="κ as a share of the variance", ylabel=f"{what}\non held-out rows")
    ax.grid(True)
    plain_numbers(ax.xaxis)
    key = key_above(ax, [line], [f"chosen: {number(share)}"])
    title_above(ax, title, key)
    return ax.figure
