from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin

from . import Plan, _Account, _Estimator, _Progress, _RandomState, _Rows, kernels

class KernelDiscriminant(ClassifierMixin, _Estimator):  # type: ignore[misc]
    classes_: NDArray[Any]
    priors_: NDArray[np.float64]
    means_: NDArray[np.float64]
    eigenvalues_: NDArray[np.float64]
    explained_variance_ratio_: NDArray[np.float64]
    regularization_: float
    regularization_curve_: _Account | None
    held_out_accuracy_: tuple[float, float] | None
    training_accuracy_: float
    left_out_: float | None
    kernel_: str
    plan_: Plan
    def __init__(
        self,
        n_components: int | None = None,
        *,
        kernel: str | kernels.Kernel | Callable[..., Any] = "linear",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        regularization: float | str = "auto",
        folds: int = 5,
        rank: int | str | None = None,
        error: float | None = None,
        approximation: str | None = None,
        random_state: _RandomState = None,
        n_jobs: int | None = None,
        memory: int | str | None = None,
        verbose: int = 0,
        progress: _Progress = None,
    ) -> None: ...
    def plan(self, X: _Rows, y: ArrayLike) -> Plan: ...
    def fit(self, X: _Rows, y: ArrayLike) -> Self: ...
    def predict(self, X: _Rows) -> NDArray[Any]: ...
    def predict_proba(self, X: _Rows) -> NDArray[np.float64]: ...
    def predict_log_proba(self, X: _Rows) -> NDArray[np.float64]: ...
    def decision_function(self, X: _Rows) -> NDArray[np.float64]: ...
