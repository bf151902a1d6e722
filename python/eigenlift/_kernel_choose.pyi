from collections.abc import Sequence
from typing import Any, Self

from numpy.typing import ArrayLike

from . import KernelPCA, _Account, _Progress, _RandomState, _Rows, kernels

class KernelChoice(_Account):
    @classmethod
    def from_json(cls, text: str, words: str | None = None) -> Self: ...
    @property
    def bandwidth(self) -> float | None: ...
    def estimator(self, **parameters: Any) -> KernelPCA: ...

def seed_of(random_state: _RandomState) -> int: ...
def described(asked: Any, kernel: object) -> str: ...
def choose_kernel_pca(
    X: _Rows,
    y: ArrayLike | None = None,
    *,
    kernel: str | kernels.Kernel | Sequence[str | kernels.Kernel] = "rbf",
    n_components: int | None = None,
    most_components: int | None = None,
    mask: str | tuple[str, int] | tuple[str, tuple[int, int]] = "entries",
    task: str | None = None,
    scorer: str = "best",
    max_rows: int | None = None,
    random_state: _RandomState = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    progress: _Progress = None,
) -> KernelChoice: ...
