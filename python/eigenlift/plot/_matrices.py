"""Matrices as cells: kernel values before and after centring, covariances before and after whitening."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._errors import EigenliftError
from .._kernel_choice import choose
from .._threads import thread_count
from ._figure import COLUMN, NORMAL, diverging, legend_of, picture, pyplot, ramp, rows_of, tick_names, write
from ._model import Labels, column_names, placed
from ._scores import draw_points

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

    from .._kernel_base import Kernel
    from .._types import Rows

# More rows are not drawn: cells would be smaller than what a page can show.
_MOST = 1200


def _heat(ax, values, title, *, centred):
    """Cells in colours with a bar; around zero with `centred`."""
    reach = max(float(np.abs(values).max()), np.finfo(float).tiny)
    limits = {"cmap": diverging(True), "vmin": -reach, "vmax": reach} if centred else {"cmap": ramp()}
    drawn = ax.imshow(values, interpolation="nearest", aspect="equal", **limits)
    bar = ax.figure.colorbar(drawn, ax=ax, orientation="horizontal", pad=0.03, aspect=24, shrink=0.95)
    bar.outline.set_linewidth(0.6)
    bar.ax.xaxis.get_major_locator().set_params(nbins=4)
    ax.set(xticks=[], yticks=[])
    ax.set_title(title, fontsize=NORMAL, pad=3)


def _centred(K):
    """HKH."""
    means = K.mean(axis=0)
    return K - means - K.mean(axis=1)[:, None] + means.mean()


@picture
def gram(
    X: Rows, kernel: str | Kernel | Any = "rbf(gamma=median)", y: ArrayLike | None = None, *, title: str | None = None
) -> Figure:
    """The kernel matrix and the centred kernel matrix of rows as heat maps.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Rows; the kernel matrix itself with `kernel="precomputed"`. Of more than 1200 rows every so many is drawn.
    kernel : str, Kernel, callable or fitted KernelPCA, default="rbf(gamma=median)"
        As `KernelPCA` takes it, or that of a model.
    y : array-like of shape (n_samples,), default=None
        Rows are ordered by it, with lines between classes.
    title : str, default=None
        Above the picture.

    Returns
    -------
    matplotlib.figure.Figure
        Its first axes show K, the second HKH.

    Examples
    --------
    >>> import eigenlift
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> [ax.get_title() for ax in eigenlift.plot.gram(X, "rbf(gamma=0.5)", y).axes[:2]]
    ['kernel matrix K', 'centred HKH']
    """
    rows = rows_of(X)
    if hasattr(kernel, "fit"):
        kernel = kernel.kernel if callable(kernel.kernel) else getattr(kernel, "kernel_", kernel.kernel)
    choice = choose(
        kernel, gamma=None, degree=None, coef0=None, kernel_params=None, n_features=rows.shape[1], owner="gram"
    )
    if choice.precomputed:
        if rows.shape[0] != rows.shape[1]:
            raise EigenliftError(
                f"a kernel matrix of shape {rows.shape}; it must have a row and a column for each row of data. Give rows and a kernel."
            )
        K = rows
    order, labels = np.arange(len(rows)), None
    if y is not None:
        labels = Labels(y, len(rows))
        order = np.argsort(labels.values if labels.codes is None else labels.codes, kind="stable")
    order = order[np.unique(np.linspace(0, len(order) - 1, min(len(order), _MOST)).round().astype(int))]
    K = (
        K[np.ix_(order, order)]
        if choice.precomputed
        else np.asarray(choice.matrix(rows[order], None, thread_count(None)))
    )
    figure, axes = pyplot().subplots(1, 2, figsize=(COLUMN, 2.1), layout="constrained")
    _heat(axes[0], K, "kernel matrix K", centred=False)
    _heat(axes[1], _centred(K), "centred HKH", centred=True)
    if labels is not None and labels.codes is not None:
        for ax in axes:
            for edge in np.flatnonzero(np.diff(labels.codes[order])) + 0.5:
                ax.axhline(edge, color="white", linewidth=0.6)
                ax.axvline(edge, color="white", linewidth=0.6)
    words = [str(title)] if title is not None else []
    words += [f"{len(order)} of {len(rows)} rows"] if len(order) < len(rows) else []
    if words:
        write(figure.suptitle("", fontsize=NORMAL), ", ".join(words))
    return figure


def _covariance(ax, rows, names, title):
    """Cells with their numbers where there is room."""
    values = np.atleast_2d(np.cov(rows, rowvar=False, bias=True))
    reach = max(float(np.abs(values).max()), np.finfo(float).tiny)
    ax.imshow(values, cmap=diverging(True), vmin=-reach, vmax=reach, interpolation="nearest")
    ax.set_title(title, fontsize=NORMAL, pad=3)
    few = len(values) <= 6
    ax.set(xticks=[], yticks=[])
    if few:
        tick_names(ax.yaxis, range(len(values)), names, 10)
        for i, j in np.ndindex(values.shape):
            shade = abs(values[i, j]) > 0.6 * reach
            shown = f"{values[i, j]:.2f}" if reach < 100 else f"{values[i, j]:.0f}"
            ax.text(
                j,
                i,
                shown.replace("-0.00", "0.00"),
                ha="center",
                va="center",
                fontsize=6 if len(values) > 4 else 7,
                color="white" if shade else "black",
            )


@picture
def whitening(
    model: Any, X: Rows, y: ArrayLike | None = None, *, columns: tuple[int, int] = (0, 1), title: str | None = None
) -> Figure:
    """Rows before and after whitening, above as points in two columns, below as covariances.

    Parameters
    ----------
    model : fitted Whitening or PCA
        What whitens.
    X : array-like of shape (n_samples, n_features)
        Rows, usually those of the fit.
    y : array-like of shape (n_samples,), default=None
        Colours, as in `scatter`.
    columns : tuple of int, default=(0, 1)
        Columns before and outputs after that are drawn as points, counted from 0.
    title : str, default=None
        Above the picture.

    Returns
    -------
    matplotlib.figure.Figure
        With four axes: points before and after, covariances before and after.
    """
    check_is_fitted(model)
    before = rows_of(X)
    after = placed(model, before)
    names = column_names(model, X, before.shape[1])
    same = after.shape[1] == before.shape[1] and getattr(model, "method", "").startswith(("zca", "cholesky"))
    outputs = names if same else [f"output {j + 1}" for j in range(after.shape[1])]
    for rows, words in ((before, "columns"), (after, "outputs")):
        if not all(0 <= column < rows.shape[1] for column in columns):
            raise EigenliftError(
                f"{words} {columns!r} were asked for; there are {rows.shape[1]}, counted from 0. Give two of these."
            )
    figure, axes = pyplot().subplots(2, 2, figsize=(COLUMN + 0.9, 4.1), layout="constrained", height_ratios=[1.0, 1.0])
    labels, handles = None if y is None else Labels(y, len(before)), []
    for ax, rows, of, words in zip(axes[0], (before, after), (names, outputs), ("before", "after")):
        draw_points(ax, rows[:, columns], labels)
        if ax.get_legend() is not None:
            # One legend below is enough.
            handles = ax.get_legend().legend_handles
            ax.get_legend().remove()
        write(ax.xaxis.label, of[columns[0]], 20)
        write(ax.yaxis.label, of[columns[1]], 20)
        ax.set_title(words, fontsize=NORMAL, pad=3)
        ax.set_aspect("equal", adjustable="datalim")
    if handles:
        legend_of(figure, handles, labels.legend, loc="outside lower center", ncols=4)
    _covariance(axes[1, 0], before, names, "covariance before")
    _covariance(axes[1, 1], after, outputs, "covariance after")
    if title is not None:
        write(figure.suptitle("", fontsize=NORMAL), title)
    return figure
