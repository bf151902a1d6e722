from collections.abc import Callable, Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from .. import IsomapReport, SensitivityReport, _Rows, kernels

__all__ = [
    "canonical",
    "choice",
    "contours",
    "correlations",
    "curves",
    "doctor",
    "gram",
    "graph",
    "path",
    "preimages",
    "regularization",
    "scatter",
    "scree",
    "sensitivity",
    "whitening",
]

def canonical(
    model: Any,
    X: _Rows | None = None,
    y: _Rows | None = None,
    *views: _Rows,
    color: ArrayLike | None = None,
    components: int | Sequence[int] = 0,
    tables: tuple[int, int] = (0, 1),
    title: str | None = None,
    ax: Axes | None = None,
) -> Figure: ...
def choice(result: Any, *, title: str | None = None) -> Figure: ...
def contours(
    model: Any,
    X: _Rows,
    y: ArrayLike | None = None,
    *,
    components: int | Sequence[int] | None = None,
    linear: bool = False,
    steps: int = 80,
    title: str | None = None,
) -> Figure: ...
def correlations(model: Any, *, title: str | None = None, ax: Axes | None = None) -> Figure: ...
def curves(
    model: Any,
    X: _Rows,
    *,
    components: int | Sequence[int] = 3,
    columns: tuple[int, int] = (0, 1),
    steps: int = 120,
    title: str | None = None,
    ax: Axes | None = None,
) -> Figure: ...
def doctor(result: IsomapReport, *, title: str | None = None) -> Figure: ...
def gram(
    X: _Rows,
    kernel: str | kernels.Kernel | Callable[..., Any] | Any = "rbf(gamma=median)",
    y: ArrayLike | None = None,
    *,
    title: str | None = None,
) -> Figure: ...
def graph(
    isomap: Any,
    y: ArrayLike | None = None,
    *,
    X: _Rows | None = None,
    doctor: IsomapReport | None = None,
    components: tuple[int, int] = (0, 1),
    title: str | None = None,
    ax: Axes | None = None,
) -> Figure: ...
def path(
    scores: Any,
    names: Sequence[str] | None = None,
    spread: ArrayLike | None = None,
    *,
    higher_is_better: bool = True,
    ylabel: str | None = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Figure: ...
def preimages(
    images: _Rows,
    denoised: _Rows | Mapping[str, _Rows],
    shape: tuple[int, int],
    *,
    labels: Sequence[Any] | None = None,
    trusted: ArrayLike | None = None,
    n_images: int = 10,
    title: str | None = None,
) -> Figure: ...
def regularization(model: Any, *, title: str | None = None, ax: Axes | None = None) -> Figure: ...
def scatter(
    scores: Any,
    y: ArrayLike | None = None,
    *,
    X: _Rows | None = None,
    components: tuple[int, int] = (0, 1),
    title: str | None = None,
    ax: Axes | None = None,
) -> Figure: ...
def scree(model: Any, *, log: bool | None = None, title: str | None = None, ax: Axes | None = None) -> Figure: ...
def sensitivity(result: SensitivityReport, *, title: str | None = None) -> Figure: ...
def whitening(
    model: Any,
    X: _Rows,
    y: ArrayLike | None = None,
    *,
    columns: tuple[int, int] = (0, 1),
    title: str | None = None,
) -> Figure: ...
