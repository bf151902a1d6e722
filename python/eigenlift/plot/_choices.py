"""What was tried and what was chosen: bandwidths, components, neighbours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .._errors import InvalidParameterError
from ._figure import (
    COLUMN,
    FAINT,
    FIRST,
    GRID,
    INK,
    NORMAL,
    OTHER,
    SECOND,
    THIRD,
    key_above,
    number,
    picture,
    plain,
    plain_numbers,
    pyplot,
    ramp,
    tick_names,
    write,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from .._doctor import IsomapReport
    from .._kernel_study import SensitivityReport


def _stack(heights, title):
    """Panels above each other that share their horizontal axis."""
    plt = pyplot()
    figure, axes = plt.subplots(
        len(heights),
        1,
        figsize=(COLUMN, sum(heights)),
        height_ratios=heights,
        sharex=True,
        layout="constrained",
        squeeze=False,
    )
    if title is not None:
        write(figure.suptitle("", fontsize=NORMAL), title)
    for ax in axes[:, 0]:
        ax.grid(True)
    return figure, list(axes[:, 0])


def _finite(values):
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)


def _whole_ticks(ax, places, most=7):
    """Ticks at some of the numbers tried, with their own names, on a logarithmic axis."""
    from matplotlib.ticker import NullLocator

    places = sorted(set(places))
    logs = np.log(np.maximum(places, 1e-12))
    gap, kept = (logs[-1] - logs[0]) / most, [0]
    for at in range(1, len(places)):
        if logs[at] - logs[kept[-1]] >= gap:
            kept.append(at)
    ax.set_xticks([places[at] for at in kept], [number(places[at]) for at in kept])
    ax.xaxis.set_minor_locator(NullLocator())


@picture
def doctor(result: IsomapReport, *, title: str | None = None) -> Figure:
    """What the number of neighbours does to Isomap: error, distances, parts of the graph, and how many coordinates it takes.

    Parameters
    ----------
    result : IsomapReport
        What `isomap_doctor` found.
    title : str, default=None
        Above the picture.

    Returns
    -------
    matplotlib.figure.Figure
        With four axes: residual variance, mean distance along the graph, parts and suspects, and residual variance over the
        number of coordinates.
    """
    if not hasattr(result, "sweep_"):
        raise InvalidParameterError(
            f"result is {type(result).__name__}; what isomap_doctor returns is required. Give that."
        )
    sweep = result.sweep_
    tried = [row["n_neighbors"] for row in sweep]
    figure = pyplot().figure(figsize=(COLUMN, 5.2), layout="constrained")
    cells = figure.add_gridspec(4, 1, height_ratios=[1.2, 1.1, 0.9, 1.1])
    axes = [figure.add_subplot(cells[0])]
    axes += [figure.add_subplot(cells[place], sharex=axes[0]) for place in (1, 2)]
    axes[0].plot(tried, 100 * _finite(row["residual_variance"] for row in sweep), "o-", color=FIRST)
    axes[0].set(ylabel="residual\nvariance, %", ylim=(0, None), xscale="log")
    axes[1].plot(tried, _finite(row["mean_geodesic"] for row in sweep), "s-", color=THIRD)
    axes[1].set(ylabel="mean distance\nalong the graph", ylim=(0, None))
    parts = axes[2].plot(tried, [row["n_components"] for row in sweep], "^-", color="#009e73")
    suspects = axes[2].plot(
        tried, _finite(None if row["too_many"] else row["n_suspects"] for row in sweep), "x--", color=SECOND
    )
    axes[2].set(ylabel="count", ylim=(0, None), xlabel="neighbours")
    axes[2].yaxis.get_major_locator().set_params(integer=True)
    for ax in axes:
        ax.grid(True)
        ax.axvline(result.recommended_, color=INK, linewidth=0.9, zorder=1)
    for ax in axes[:2]:
        ax.tick_params(labelbottom=False)
    _whole_ticks(axes[2], tried)
    key_above(axes[2], [*parts, *suspects], ["parts of the graph", "suspected short circuits"])
    line = pyplot().Line2D([], [], color=INK, linewidth=0.9)
    key_above(axes[0], [line], [f"recommended: {result.recommended_} neighbours"])
    last = figure.add_subplot(cells[3])
    counts, shares = zip(*result.dimensions_) if result.dimensions_ else ((), ())
    last.bar(counts, 100 * np.array(shares), width=0.6, color=FIRST, alpha=0.75)
    last.set(xlabel="coordinates", ylabel="residual\nvariance, %", xticks=counts)
    last.grid(True, axis="y")
    if title is not None:
        write(figure.suptitle("", fontsize=NORMAL), title)
    return figure


@picture
def choice(result: Any, *, title: str | None = None) -> Figure:
    """What was tried for the number of components, and for the bandwidth, and what was chosen.

    Parameters
    ----------
    result : KernelChoice, ParallelReport, the `choice_` of PCA, or a fitted estimator that has one
        What `choose_kernel_pca`, `kernel_parallel_analysis` or `n_components="auto"` found.
    title : str, default=None
        Above the picture.

    Returns
    -------
    matplotlib.figure.Figure
    """
    spectrum = np.asarray(getattr(result, "spectrum_", []))
    known = getattr(result, "choice_", result) if hasattr(result, "fit") else result
    if hasattr(known, "keys"):
        if "points" in known and "baseline" in known:
            return _kernel_choice(known, title)
        if "rules" in known:
            return _rules(known, spectrum, title)
        if "null" in known and "eigenvalues" in known:
            return _parallel(known, title)
    raise InvalidParameterError(
        f"result is {type(result).__name__}; what choose_kernel_pca, kernel_parallel_analysis or n_components='auto' found is "
        "required. Give it, or a fitted estimator that has choice_."
    )


def _kernel_choice(known, title):
    """The error over the number of components, a line for each bandwidth; below, both in colours."""
    points = known["points"]
    scored = known["criterion"] != "masked error"
    curves = {}
    for at, point in enumerate(points):
        curves.setdefault((point["bandwidth"] is not None, point["bandwidth"], point["kernel"]), []).append(at)
    curves = dict(sorted(curves.items(), key=lambda item: (item[0][0], item[0][1] or 0.0)))
    several = len(curves) > 1
    figure, axes = _stack([2.7, 0.6 + 0.12 * len(curves)] if several else [2.4], title)
    values = np.array([1 - point["error"] if scored else point["error"] for point in points])
    colors = ramp()(np.linspace(0, 0.86, len(curves))) if several else [FIRST]
    handles, names = [], []
    for place, ((_, bandwidth, kernel), at) in enumerate(curves.items()):
        at = sorted(at, key=lambda i: points[i]["n_components"])
        k = [points[i]["n_components"] for i in at]
        spread = [points[i]["spread"] for i in at]
        look = {"color": colors[place], "marker": "os^"[place % 3], "markersize": 2.6, "linewidth": 0.9}
        handles.append(axes[0].errorbar(k, values[at], yerr=spread, elinewidth=0.6, capsize=1.2, **look))
        names.append(kernel if bandwidth is None else number(bandwidth))
    _mark_choice(axes[0], known, points, values)
    tried = sorted({point["n_components"] for point in points})
    axes[0].set(xscale="log", ylabel=plain(known["criterion"]) if scored else "error of hidden entries")
    if not scored and values.min() > 0:
        axes[0].set_yscale("log")
        plain_numbers(axes[0].yaxis)
    key_above(axes[0], handles, names, "bandwidth" if several else None, 0.85)
    if several:
        _error_map(axes[1], list(curves.values()), points, values, tried, names)
    axes[-1].set(xlabel="components")
    _whole_ticks(axes[-1], tried)
    return figure


def _mark_choice(ax, known, points, values):
    """Rings around what does as well, a square around the choice, a line for no component at all."""
    near = known["near"]
    ax.plot(
        [points[i]["n_components"] for i in near],
        values[near],
        "o",
        markersize=6,
        fillstyle="none",
        color=FAINT,
        markeredgewidth=0.7,
    )
    chosen = known["chosen"]
    ax.plot(
        points[chosen]["n_components"],
        values[chosen],
        "s",
        markersize=8,
        fillstyle="none",
        color=SECOND,
        markeredgewidth=1.4,
    )
    if known["criterion"] == "masked error":
        ax.axhline(known["baseline"], color=OTHER, linestyle="--", linewidth=0.9, zorder=1)


def _error_map(ax, curves, points, values, tried, names):
    """Cells of bandwidth and number of components."""
    table = np.full((len(curves), len(tried)), np.nan)
    for row, at in enumerate(curves):
        for i in at:
            table[row, tried.index(points[i]["n_components"])] = values[i]
    logs = np.log(np.array(tried, dtype=np.float64))
    middle = (logs[1:] + logs[:-1]) / 2
    ends = np.exp([logs[0] - 0.3, *middle, logs[-1] + 0.3])
    drawn = ax.pcolormesh(ends, np.arange(len(curves) + 1) - 0.5, table, cmap=ramp(), rasterized=True)
    ax.set(ylabel="bandwidth")
    tick_names(ax.yaxis, range(len(names)), names, 10)
    ax.grid(False)
    ax.figure.colorbar(drawn, ax=ax, pad=0.02, aspect=12)


def _rules(known, spectrum, title):
    """The spectrum with what noise gives, the cross-validated error, and the answer of each rule."""
    parallel, gabriel = known["parallel"] or {}, known["gabriel"] or {}
    observed = np.asarray(parallel.get("observed") or spectrum)
    rules = known["rules"]
    figure, axes = _stack([1.7, 1.4, 0.22 * len(rules) + 0.5], title)
    least = 1e-6 * observed.max(initial=0)
    shown, null = (
        np.where(values > least, values, np.nan) for values in (observed, np.asarray(parallel.get("null") or []))
    )
    handles = axes[0].plot(range(1, len(shown) + 1), shown, "o-", color=FIRST)
    names = ["eigenvalue"]
    if len(null):
        handles += axes[0].plot(range(1, len(null) + 1), null, "--", color=THIRD)
        names.append("of permuted columns")
    if known["threshold"] is not None:
        handles.append(axes[0].axhline(known["threshold"], color=SECOND, linewidth=1.0))
        names.append("threshold of noise")
    axes[0].set(yscale="log", ylabel="eigenvalue λ")
    plain_numbers(axes[0].yaxis)
    key_above(axes[0], handles, names, room=0.9)
    errors = np.array(gabriel.get("errors") or np.empty((0, 3)), dtype=np.float64)
    if len(errors):
        axes[1].errorbar(
            errors[:, 0], errors[:, 1], yerr=errors[:, 2], fmt="s-", color=THIRD, markersize=3, capsize=1.5
        )
    axes[1].set(ylabel="cross-validated\nerror")
    _answers(axes[2], rules)
    for ax in axes:
        ax.axvline(known["consensus"], color=INK, linewidth=0.9, zorder=1)
    furthest = max([known["consensus"], *(rule["n_components"] or 0 for rule in rules)])
    axes[2].set(
        xlabel="components kept", xlim=(-0.5, max(min(len(observed), max(20, 1.25 * furthest + 4)), furthest) + 0.5)
    )
    axes[2].xaxis.get_major_locator().set_params(integer=True)
    return figure


def _answers(ax, rules):
    """A point for the answer of each rule, none where it has none."""
    for place, rule in enumerate(rules):
        if rule["n_components"] is not None:
            ax.plot(rule["n_components"], place, "D", color=SECOND, markersize=4)
    ax.set(ylim=(len(rules) - 0.4, -0.6))
    tick_names(ax.yaxis, range(len(rules)), [rule["name"] for rule in rules])


def _parallel(known, title):
    """Eigenvalues of the centred kernel matrix beside those of shuffled columns."""
    figure, (ax,) = _stack([2.5], title)
    shown = min(len(known["eigenvalues"]), max(20, 2 * known["n_components"] + 4))
    places = np.arange(1, shown + 1)
    handles = [
        *ax.plot(places, known["eigenvalues"][:shown], "o-", color=FIRST),
        *ax.plot(places[: len(known["null"])], known["null"][:shown], "--", color=THIRD),
        ax.axvline(known["n_components"] + 0.5, color=INK, linewidth=0.9),
    ]
    positive = min([*known["eigenvalues"][:shown], *known["null"][:shown]], default=0) > 0
    ax.set(xlabel="component", ylabel="eigenvalue nλ", yscale="log" if positive else "linear")
    ax.xaxis.get_major_locator().set_params(integer=True)
    if positive:
        plain_numbers(ax.yaxis)
    key_above(ax, handles, ["rows", "shuffled columns", f"{known['n_components']} above"])
    return figure


@picture
def sensitivity(result: SensitivityReport, *, title: str | None = None) -> Figure:
    """What the bandwidth does: shares of the components, the angle of their subspace, and the effective rank.

    Parameters
    ----------
    result : SensitivityReport
        What `kernel_sensitivity` found.
    title : str, default=None
        Above the picture.

    Returns
    -------
    matplotlib.figure.Figure
        With three axes.
    """
    if not isinstance(result, Mapping) or "points" not in result:
        raise InvalidParameterError(
            f"result is {type(result).__name__}; what kernel_sensitivity returns is required. Give that."
        )
    points = result["points"]
    bandwidths = np.array([point["bandwidth"] for point in points])
    figure, axes = _stack([1.9, 1.3, 1.3], title)
    shares = 100 * np.array([point["shares"][:8] for point in points]).T
    handles = axes[0].stackplot(bandwidths, shares, colors=ramp()(np.linspace(0.15, 0.9, len(shares))), linewidth=0)
    axes[0].set(ylabel="% of variance", ylim=(0, 100))
    axes[1].plot(bandwidths, [point["angle_to_reference"] for point in points], "o-", color=FIRST)
    axes[1].set(ylabel="angle to the\nreference, °", ylim=(-3, 93), yticks=[0, 30, 60, 90])
    axes[2].plot(bandwidths, [point["effective_rank"] for point in points], "s-", color=THIRD)
    axes[2].set(ylabel="effective rank", xlabel=plain(result["parameter"]), xscale="log", yscale="log")
    for ax in axes:
        ax.axvline(result["reference"], color=INK, linewidth=0.9)
        if result["plateau"] is not None:
            ax.axvspan(
                *result["plateau"],
                facecolor=GRID if ax is not axes[0] else "none",
                edgecolor=FAINT,
                linestyle="--",
                zorder=0.5,
            )
    names = (
        [f"component {j + 1}" for j in range(len(shares))]
        if len(shares) <= 3
        else [str(j + 1) for j in range(len(shares))]
    )
    line = pyplot().Line2D([], [], color=INK, linewidth=0.9)
    key_above(axes[0], [*handles, line], [*names, "reference"])
    axes[2].set_xlim(bandwidths[0], bandwidths[-1])
    plain_numbers(axes[2].xaxis)
    plain_numbers(axes[2].yaxis)
    return figure
