"""Figures, colours and words that all pictures share. matplotlib is imported when a picture is drawn."""

from __future__ import annotations

import functools
import inspect
import math

import numpy as np

INK = "#222222"
FAINT = "#666666"
AXIS = "#999999"
GRID = "#ececec"
OTHER = "#b0b0b0"
FIRST, SECOND, THIRD = "#0072b2", "#b84e00", "#7a2c66"
# The eight colours of Okabe and Ito, which people with any colour vision can tell apart; the yellow is darkened.
CLASSES = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#000000", "#dccb12"]
MARKERS = ["o", "s", "^"]

# Inches: one column and two of a printed page, at which no letter is smaller than 7 points.
COLUMN, PAGE = 3.4, 7.0
SMALL, NORMAL = 7, 8
_STYLE = {
    "axes.axisbelow": True,
    "axes.edgecolor": AXIS,
    "axes.facecolor": "white",
    "axes.formatter.use_mathtext": False,
    "axes.grid": False,
    "axes.labelcolor": INK,
    "axes.labelsize": NORMAL,
    "axes.linewidth": 0.6,
    "axes.spines.right": True,
    "axes.spines.top": True,
    "axes.titlecolor": INK,
    "axes.titlesize": NORMAL,
    "axes.titleweight": "normal",
    "figure.dpi": 200,
    "figure.facecolor": "white",
    "font.family": ["DejaVu Sans"],
    "font.size": NORMAL,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "image.interpolation": "nearest",
    "legend.fontsize": SMALL,
    "legend.frameon": False,
    "legend.handlelength": 1.6,
    "lines.linewidth": 1.2,
    "lines.markersize": 3.5,
    "text.color": INK,
    "text.usetex": False,
    "xtick.color": AXIS,
    "xtick.labelcolor": INK,
    "xtick.labelsize": SMALL,
    "ytick.color": AXIS,
    "ytick.labelcolor": INK,
    "ytick.labelsize": SMALL,
}

# Anchors of the ramp in Oklab: lightness, chroma, hue in degrees. Lightness rises in equal steps.
_RAMP = [
    (0.280, 0.120, 310.0),
    (0.400, 0.130, 280.0),
    (0.520, 0.100, 238.0),
    (0.640, 0.105, 185.0),
    (0.760, 0.150, 145.0),
    (0.880, 0.175, 108.0),
]


def pyplot():
    """matplotlib's pyplot.

    Raises
    ------
    ImportError
        Where matplotlib is not installed.
    """
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            f"matplotlib is needed for pictures, and it could not be imported ({error}); install eigenlift[plot] or matplotlib."
        ) from error
    return plt


def picture(function):
    """Draws in this package's style; axes that are given keep their own."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    def drawn(*arguments, **named):
        plt = pyplot()
        if signature.bind(*arguments, **named).arguments.get("ax") is not None:
            return function(*arguments, **named)
        before = set(plt.get_fignums())
        try:
            with plt.rc_context(_STYLE):
                figure = function(*arguments, **named)
                for ax in figure.axes:
                    # Ticks are made when they are drawn, which may be in another style.
                    ax.tick_params(labelsize=SMALL, labelcolor=INK, color=AXIS, width=0.6, length=2.5)
        except BaseException:
            for number in set(plt.get_fignums()) - before:
                plt.close(number)
            raise
        return figure

    return drawn


def one_axes(ax, height=2.7, width=COLUMN):
    """The axes that were given, or those of a new figure of one column."""
    return pyplot().figure(figsize=(width, height), layout="constrained").add_subplot() if ax is None else ax


def oklch(lightness, chroma, hue):
    """Oklab in polar form to sRGB (Ottosson 2020); colours outside sRGB are clipped."""
    a, b = chroma * math.cos(math.radians(hue)), chroma * math.sin(math.radians(hue))
    lms = np.array([lightness + 0.3963377774 * a + 0.2158037573 * b, 0.0, 0.0])
    lms[1] = lightness - 0.1055613458 * a - 0.0638541728 * b
    lms[2] = lightness - 0.0894841775 * a - 1.2914855480 * b
    turn = [
        [4.0767416621, -3.3077115913, 0.2309699292],
        [-1.2684380046, 2.6097574011, -0.3413193965],
        [-0.0041960863, -0.7034186147, 1.7076147010],
    ]
    linear = np.clip(np.array(turn) @ lms**3, 0, 1)
    return np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * np.maximum(linear, 1e-9) ** (1 / 2.4) - 0.055)


def ramp():
    """The sequential colours from dark violet over blue and green to yellow."""
    from matplotlib.colors import ListedColormap

    places = np.linspace(0, len(_RAMP) - 1, 256)
    mixed = np.stack([np.interp(places, range(len(_RAMP)), column) for column in zip(*_RAMP)], axis=1)
    return ListedColormap([oklch(*anchor) for anchor in mixed], name="eigenlift ramp")


def diverging(strong=False):
    """Blue, nearly white, and orange; the strong ones for cells without lines on top."""
    from matplotlib.colors import ListedColormap

    fall, chroma, cold, warm = (0.435, 0.145, 248.0, 48.0) if strong else (0.185, 0.09, 245.0, 55.0)
    colors = [oklch(0.985 - fall * abs(t), chroma * abs(t), cold if t < 0 else warm) for t in np.linspace(-1, 1, 257)]
    return ListedColormap(colors, name="eigenlift diverging")


def plain(text, most=28):
    """Text from elsewhere as it can be shown: one line, nothing that steers, not too long."""
    words = "".join(letter if letter.isprintable() else " " for letter in str(text)).strip() or "(empty)"
    return words if len(words) <= most else words[: most - 1] + "…"


def write(artist, text, most=60):
    """Sets text that may hold dollars and backslashes, which are not mathematics."""
    artist.set_parse_math(False)
    artist.set_text(plain(text, most))


def number(value, digits=3):
    """A number in few letters."""
    return f"{value:.{digits}g}"


def percent(share):
    return f"{100 * share:.1f} %"


def subscript(count):
    return str(count).translate(str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉"))


def legend_of(ax, handles, names, **where):
    """A legend whose names are shown as they are: also those that begin with an underscore or hold mathematics."""
    legend = ax.legend(handles, [f"name {place}" for place in range(len(names))], frameon=False, **where)
    for text, name in zip(legend.get_texts(), names):
        write(text, name, most=28)
    return legend


def key_above(ax, handles, names, heading=None, room=1.05):
    """A legend above the axes, where it hides nothing, in as many columns as fit."""
    where = {
        "loc": "lower left",
        "bbox_to_anchor": (-0.02, 1.0),
        "columnspacing": 1.2,
        "title": heading,
        "alignment": "left",
    }
    room *= ax.get_window_extent().width
    for columns in range(min(len(names), 6), 0, -1):
        legend = legend_of(ax, handles, names, borderaxespad=0.2, handletextpad=0.5, ncols=columns, **where)
        if columns == 1 or legend.get_window_extent().width <= room:
            return legend


def title_above(ax, title, legend=None):
    """A title, above the key where there is one."""
    if title is None:
        return
    height = 0 if legend is None else legend.get_window_extent().height * 72 / ax.figure.dpi
    ax.set_title(" ", pad=height + 4)
    write(ax.title, title)


def tick_names(axis, places, names, most=18):
    """Names from elsewhere at ticks."""
    axis.set_ticks(places, [plain(name, most) for name in names])
    for text in axis.get_ticklabels():
        text.set_parse_math(False)


def plain_numbers(axis):
    """Numbers at the ticks of a logarithmic axis as they are spoken: 0.2, not a power."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    low, high = sorted(axis.get_view_interval())
    few = high < 50 * low
    if high < 1e4 * low:
        axis.set_major_locator(LogLocator(subs=(1, 2, 3, 5, 7) if high < 8 * low else (1, 2, 5) if few else (1,)))
        axis.set_major_formatter(FuncFormatter(lambda value, _: number(value)))
        axis.set_minor_locator(NullLocator())


def note(ax, text):
    """A remark below the axes, in the place of the smallest print."""
    ax.annotate(
        text, (1, 0), (0, -26), xycoords="axes fraction", textcoords="offset points", ha="right", va="top", color=FAINT
    ).set_fontsize(SMALL)


def rows_of(X, what="X"):
    """Rows as a dense array of numbers."""
    from scipy import sparse
    from sklearn.utils import check_array

    X = check_array(X, accept_sparse=True, dtype=np.float64, input_name=what)
    return X.toarray() if sparse.issparse(X) else X
