"""Rows that are images, in a grid."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .._errors import EigenliftError
from ._figure import COLUMN, NORMAL, SMALL, picture, plain, pyplot, rows_of, write

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

    from .._types import Rows

_MOST = 10


@picture
def preimages(
    images: Rows,
    denoised: Rows | Mapping[str, Rows],
    shape: tuple[int, int],
    *,
    labels: Sequence[Any] | None = None,
    trusted: ArrayLike | None = None,
    n_images: int = _MOST,
    title: str | None = None,
) -> Figure:
    """Images above each other: as they were given, and what was made of them.

    Parameters
    ----------
    images : array-like of shape (n_samples, height * width)
        Rows as they were given.
    denoised : array-like of the same shape, or dict of these by name
        Pre-images or denoised rows; each entry of a dict is a line of images with its name.
    shape : tuple of int
        Height and width of an image, whose lines are stored one after the other.
    labels : sequence, default=None
        A word above each image.
    trusted : array-like of bool, default=None
        As `PreimageInfo.trusted`: images that are not to be trusted, in the last line, get a frame.
    n_images : int, default=10
        Draws the first so many.
    title : str, default=None
        Above the picture.

    Returns
    -------
    matplotlib.figure.Figure
        An axes for each image, line by line.
    """
    lines = {"given": rows_of(images, "images")}
    several = denoised if isinstance(denoised, Mapping) else {"denoised": denoised}
    lines |= {plain(name, 16): rows_of(rows, "denoised") for name, rows in several.items()}
    height, width = (int(size) for size in shape)
    for name, rows in lines.items():
        if rows.shape[1] != height * width or len(rows) != len(lines["given"]):
            raise EigenliftError(
                f"{name} has the shape {rows.shape}; images of {height} × {width} need {height * width} columns, and all lines as many "
                f"images as the first, {len(lines['given'])}. Give the shape of an image, or other rows."
            )
    count = min(len(lines["given"]), n_images)
    size = COLUMN / max(count + 1, 4)
    figure, axes = pyplot().subplots(
        len(lines),
        count,
        figsize=(
            COLUMN,
            size * len(lines) * height / width + (0.2 if labels is not None else 0.05) + (0.2 if title else 0),
        ),
        squeeze=False,
        layout="constrained",
    )
    figure.get_layout_engine().set(w_pad=0.01, h_pad=0.01, wspace=0.02, hspace=0.02)
    low, high = lines["given"][:count].min(), lines["given"][:count].max()
    for place, (name, rows) in enumerate(lines.items()):
        for k in range(count):
            ax = axes[place, k]
            ax.imshow(rows[k].reshape(height, width), cmap="gray_r", vmin=low, vmax=high, interpolation="nearest")
            ax.set(xticks=[], yticks=[])
            ax.spines[:].set_visible(False)
        label = axes[place, 0].set_ylabel("", rotation=0, ha="right", va="center", fontsize=SMALL)
        write(label, name)
    for k in range(count):
        if labels is not None:
            write(axes[0, k].set_title("", fontsize=SMALL, pad=2), str(labels[k]), 8)
        if trusted is not None and not trusted[k]:
            axes[-1, k].spines[:].set(visible=True, color="#d55e00", linewidth=1.5)
    if title is not None:
        write(figure.suptitle("", fontsize=NORMAL), title)
    return figure
