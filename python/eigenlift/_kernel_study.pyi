from numpy.typing import ArrayLike

from . import _Account, _Progress, _RandomState, _Rows, kernels

class SensitivityReport(_Account): ...
class StabilityReport(_Account): ...
class ParallelReport(_Account): ...

def kernel_sensitivity(
    X: _Rows,
    n_components: int = 2,
    *,
    kernel: str | kernels.Kernel = "rbf(gamma=median)",
    bandwidths: ArrayLike | None = None,
    max_rows: int | None = None,
    random_state: _RandomState = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    progress: _Progress = None,
) -> SensitivityReport: ...
def kernel_stability(
    X: _Rows,
    n_components: int = 10,
    *,
    kernel: str | kernels.Kernel = "rbf(gamma=median)",
    resamples: int | None = None,
    max_rows: int | None = None,
    random_state: _RandomState = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    progress: _Progress = None,
) -> StabilityReport: ...
def kernel_parallel_analysis(
    X: _Rows,
    *,
    kernel: str | kernels.Kernel = "rbf(gamma=median)",
    permutations: int | None = None,
    quantile: float | None = None,
    max_rows: int | None = None,
    random_state: _RandomState = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    progress: _Progress = None,
) -> ParallelReport: ...
