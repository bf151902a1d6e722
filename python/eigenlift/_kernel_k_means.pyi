from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClusterMixin

from . import Plan, _Array, _Estimator, _Progress, _RandomState, _Rows, kernels

class KernelKMeans(ClusterMixin, _Estimator):  # type: ignore[misc]
    labels_: NDArray[np.int64]
    inertia_: float
    cluster_sizes_: NDArray[np.int64]
    n_iter_: int
    converged_: bool
    left_out_: float | None
    kernel_: str
    plan_: Plan
    def __init__(
        self,
        n_clusters: int = 8,
        *,
        kernel: str | kernels.Kernel | Callable[..., Any] = "linear",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        n_init: int = 10,
        max_iter: int = 300,
        spectral: int | None = None,
        rank: int | str | None = None,
        error: float | None = None,
        approximation: str | None = None,
        random_state: _RandomState = None,
        n_jobs: int | None = None,
        memory: int | str | None = None,
        verbose: int = 0,
        progress: _Progress = None,
    ) -> None: ...
    def plan(self, X: _Rows, y: object = None) -> Plan: ...
    def fit(self, X: _Rows, y: object = None) -> Self: ...
    def predict(self, X: _Rows) -> NDArray[np.int64]: ...
    def plane(self, X: _Rows) -> _Array: ...
    def score(self, X: _Rows, y: object = None) -> float: ...
