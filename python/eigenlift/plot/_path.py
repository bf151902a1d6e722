"""Scores along the steps of a selection."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._errors import EigenliftError, InvalidParameterError
from ._figure import FIRST, OTHER, SECOND, THIRD, key_above, one_axes, picture, tick_names, title_above, write
from ._model import is_model

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike


@picture
def path(
    scores: Any,
    names: Sequence[str] | None = None,
    spread: ArrayLike | None = None,
    *,
    higher_is_better: bool = True,
    ylabel: str | None = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Figure:
    """The score after each step of a selection, such as columns that are taken in one by one.

    The best step has a square; the first that does as well, within the spread of the best, a ring. Of a selector, the ring is
    around the step that was chosen, and a minus stands before columns that were taken out.

    Parameters
    ----------
    scores : array-like of shape (n_steps,) or selector
        After each step; or a fitted `SequentialFeatureSelector` or `FeatureFilter`, which has names and spread of its own.
    names : sequence of str, default=None
        What each step took in or left out.
    spread : array-like of shape (n_steps,), default=None
        Standard error of each score.
    higher_is_better : bool, default=True
        False for errors.
    ylabel : str, default=None
        What the scores are; None stands for "score", of a selector for what it was judged by.
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
    >>> figure = eigenlift.plot.path([0.6, 0.9, 0.92, 0.91], ["petal", "sepal", "width", "length"], [0.03] * 4)
    >>> [text.get_text() for text in figure.axes[0].get_xticklabels()]
    ['petal', 'sepal', 'width', 'length']
    """
    chosen = None
    if is_model(scores):
        if names is not None or spread is not None:
            raise InvalidParameterError(
                "A selector has names and spread of its own; they cannot be given. Leave them out."
            )
        scores, names, spread, chosen, measure = _steps_of(scores)
        ylabel = measure if ylabel is None else ylabel
    scores = np.asarray(scores, dtype=np.float64)
    if scores.ndim != 1 or not np.isfinite(scores).any():
        raise EigenliftError(
            f"scores of shape {scores.shape}; a number for each step is required. Give a list of numbers."
        )
    for what, values in (("names", names), ("spread", spread)):
        if values is not None and len(values) != len(scores):
            raise EigenliftError(
                f"{len(values)} entries of {what}, {len(scores)} scores; one for each is required. Give as many."
            )
    spread = None if spread is None else np.asarray(spread, dtype=np.float64)
    ax = one_axes(ax, 2.5)
    places = np.arange(1, len(scores) + 1)
    ax.errorbar(places, scores, yerr=spread, fmt="o-", color=FIRST, elinewidth=0.8, capsize=2)
    sign = 1 if higher_is_better else -1
    best = int(np.nanargmax(sign * scores))
    marks = [
        *ax.plot(places[best], scores[best], "s", markersize=8, fillstyle="none", color=SECOND, markeredgewidth=1.4)
    ]
    words = [f"best: step {best + 1}"]
    if spread is not None and np.isfinite(spread[best]):
        ax.axhline(scores[best] - sign * spread[best], color=OTHER, linestyle="--", linewidth=0.8, zorder=1)
        if chosen is None:
            chosen = int(np.flatnonzero(sign * scores >= sign * scores[best] - spread[best])[0])
            words.append(f"as good: step {chosen + 1}")
    if chosen is not None:
        words += [f"chosen: step {chosen + 1}"] if len(words) == 1 else []
        marks += ax.plot(
            places[chosen], scores[chosen], "o", markersize=8, fillstyle="none", color=THIRD, markeredgewidth=1.2
        )
    write(ax.yaxis.label, "score" if ylabel is None else ylabel, 40)
    ax.grid(True, axis="y")
    _steps(ax, places, names)
    title_above(ax, title, key_above(ax, marks, words))
    return ax.figure


def _steps_of(selector):
    """Scores, names and spreads of the steps of a selector, which of them was chosen, and what the scores are."""
    check_is_fitted(selector)
    steps = list(getattr(selector, "path_", []))
    if not steps:
        raise InvalidParameterError(
            f"{type(selector).__name__} took no steps; scores or a selector with a path are required. "
            "Give a SequentialFeatureSelector or a FeatureFilter."
        )
    known = getattr(selector, "feature_names_in_", None)
    names = [str(step["feature"] if known is None else known[step["feature"]]) for step in steps]
    names = [name if step["added"] else f"−{name}" for name, step in zip(names, steps)]
    if steps[0]["score"] is None:
        return [step["value"] for step in steps], names, None, None, getattr(selector, "method", "score")
    if not steps[0]["added"]:
        # Backward steps begin with all columns.
        whole = selector.subsets_[-1]
        steps, names = [{**whole, "n_features": len(whole["features"])}, *steps], ["all", *names]
    size = int(selector.support_.sum())
    sized = [(step["score"], at) for at, step in enumerate(steps) if step["n_features"] == size]
    chosen = max(sized, key=lambda pair: pair[0])[1] if sized else None
    spread = [np.nan if step["spread"] is None else step["spread"] for step in steps]
    measure = selector.scoring if isinstance(selector.scoring, str) else "score on rows held out"
    return [step["score"] for step in steps], names, spread, chosen, measure


def _steps(ax, places, names):
    """Names of the steps, at most as many as can be read."""
    if names is None:
        ax.set_xlabel("step")
        ax.xaxis.get_major_locator().set_params(integer=True)
        return
    every = max(1, -(-len(places) // 24))
    tick_names(ax.xaxis, places[::every], list(names)[::every])
    for text in ax.get_xticklabels():
        text.set(rotation=50, ha="right", rotation_mode="anchor")
