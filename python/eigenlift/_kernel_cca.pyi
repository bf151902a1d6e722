from collections.abc import Callable, Sequence
from typing import Any, Self, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from . import Plan, _Account, _Array, _Estimator, _Progress, _RandomState, _Rows, kernels

_Kernel: TypeAlias = str | kernels.Kernel | Callable[..., Any]

def correlations_between(scores: Sequence[NDArray[np.floating]]) -> NDArray[np.float64]: ...

class KernelCCA(_Estimator):
    correlations_: NDArray[np.float64]
    training_correlations_: NDArray[np.float64]
    held_out_correlations_: NDArray[np.float64]
    held_out_errors_: NDArray[np.float64]
    regularization_: NDArray[np.float64]
    regularization_curve_: _Account | None
    p_values_: NDArray[np.float64] | None
    null_95_: float | None
    tested_correlations_: NDArray[np.float64] | None
    scores_: list[_Array]
    left_out_: list[float | None]
    n_views_: int
    kernels_: list[str]
    plan_: Plan
    def __init__(
        self,
        n_components: int = 2,
        *,
        kernel: _Kernel | Sequence[_Kernel] = "linear",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        regularization: float | str = "auto",
        folds: int = 5,
        n_permutations: int = 0,
        rank: int | str | None = None,
        error: float | None = None,
        approximation: str | None = None,
        random_state: _RandomState = None,
        n_jobs: int | None = None,
        memory: int | str | None = None,
        verbose: int = 0,
        progress: _Progress = None,
    ) -> None: ...
    @property
    def x_scores_(self) -> _Array: ...
    @property
    def y_scores_(self) -> _Array: ...
    def plan(self, X: _Rows, y: _Rows, *views: _Rows) -> Plan: ...
    def fit(self, X: _Rows, y: _Rows, *views: _Rows) -> Self: ...
    def fit_transform(self, X: _Rows, y: _Rows, *views: _Rows) -> _Array: ...  # type: ignore[override]
    @overload
    def transform(self, X: _Rows, y: None = None) -> _Array: ...
    @overload
    def transform(self, X: _Rows, y: _Rows, *views: _Rows) -> tuple[_Array, ...]: ...
    def correlations(self, X: _Rows, y: _Rows, *views: _Rows) -> NDArray[np.float64]: ...
    def score(self, X: _Rows, y: _Rows, *views: _Rows) -> float: ...
