"""Eigenvalues, what is proved about them, and what they explain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._errors import EigenliftError, InvalidParameterError
from ._figure import FIRST, OTHER, SECOND, THIRD, key_above, note, one_axes, picture, title_above
from ._model import eigenvalues_of, intervals_of, is_model, ratios_of, residual_of, symbol

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# More components are not drawn.
_MOST = 200


def _bars(ax, values, ends, logarithmic):
    """Eigenvalues as bars, or as points where the axis is logarithmic, with their intervals."""
    places = np.arange(1, len(values) + 1)
    handles, names = [], []
    if logarithmic:
        handles += ax.plot(places, values, "o", color=FIRST, markersize=3.5)
    else:
        handles.append(ax.bar(places, values, width=0.72, color=FIRST, alpha=0.75, linewidth=0))
    names.append("eigenvalue")
    if ends is not None:
        ends = ends[: len(values)]
        at = values[: len(ends)]
        away = np.maximum(np.c_[at - ends[:, 0], ends[:, 1] - at].T, 0)
        drawn = ax.errorbar(
            places[: len(ends)],
            at,
            yerr=away,
            fmt="none",
            ecolor=SECOND,
            elinewidth=1.2,
            capsize=2.5 if len(values) <= 30 else 0,
            zorder=4,
        )
        width = float(np.max((ends[:, 1] - ends[:, 0]) / np.maximum(np.abs(at), np.finfo(float).tiny)))
        handles.append(drawn)
        names.append("proved interval" if width > 1e-2 else f"proved within {width:.0e}")
    return handles, names


def _shares(ax, ratios, residual):
    """On a second axis, what the first components explain together, and what they leave."""
    second = ax.twinx()
    second.grid(False)
    together = 100 * np.cumsum(ratios)
    handles = second.plot(np.arange(1, len(together) + 1), together, "s-", color=THIRD, markersize=2.8, linewidth=1.0)
    names = ["explained together"]
    if len(residual) and residual[0] > 0:
        left = 100 * residual / residual[0]
        handles += second.plot(np.arange(len(left)), left, "^--", color="#009e73", markersize=2.8, linewidth=1.0)
        names.append("error that is left")
    second.set(ylabel="% of variance", ylim=(0, 105))
    return handles, names


@picture
def scree(model: Any, *, log: bool | None = None, title: str | None = None, ax: Axes | None = None) -> Figure:
    """Eigenvalues with the intervals that are proved for them, explained variance, and for PCA the error that is left.

    Parameters
    ----------
    model : fitted estimator
        Of any method with eigenvalues.
    log : bool, default=None
        Whether the axis of eigenvalues is logarithmic; None takes it where they span more than three decades and no share of
        the variance is known.
    title : str, default=None
        Above the picture.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None makes a figure as wide as a column.

    Returns
    -------
    matplotlib.figure.Figure
        Its first axes hold eigenvalues, the second, if there are any, percentages.

    Examples
    --------
    >>> import eigenlift
    >>> from sklearn.datasets import load_iris
    >>> model = eigenlift.KernelPCA(5, kernel="rbf", gamma=0.2, rank=30).fit(load_iris().data)
    >>> len(eigenlift.plot.scree(model).axes)
    2
    """
    if not is_model(model):
        raise InvalidParameterError(
            f"model is {type(model).__name__}; a fitted estimator is required. Fit one, and give it."
        )
    values = eigenvalues_of(model)
    if not len(values):
        raise EigenliftError(
            f"{type(model).__name__} has no eigenvalues; a fitted model with components is required. Fit one, and give it."
        )
    shown, n_left_out = values[:_MOST], max(0, len(values) - _MOST)
    ratios, ends, residual = ratios_of(model)[:_MOST], intervals_of(model), residual_of(model)[: _MOST + 1]
    positive = bool((shown > 0).all())
    wide = positive and shown.max() > 1e3 * shown.min() and not len(ratios)
    ax = one_axes(ax, 2.6)
    handles, names = _bars(ax, shown, ends, wide if log is None else log and positive)
    if wide if log is None else log and positive:
        ax.set_yscale("log")
    elif positive:
        ax.set_ylim(0, None)
    ax.set(
        xlabel="component",
        ylabel=f"eigenvalue {symbol(model)}",
        xlim=(-0.4 if len(residual) else 0.3, len(shown) + 0.7),
    )
    ax.xaxis.get_major_locator().set_params(integer=True)
    if len(ratios):
        further, words = _shares(ax, ratios, residual)
        handles, names = handles + further, names + words
    if not positive:
        ax.axhline(0, color=OTHER, linewidth=0.6)
    key = key_above(ax, handles, names)
    if n_left_out:
        note(ax, f"{n_left_out} more components")
    title_above(ax, title, key)
    return ax.figure
