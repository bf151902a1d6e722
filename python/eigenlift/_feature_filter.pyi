from abc import ABCMeta
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin

from . import _Account, _Progress, _RandomState, _Rows, kernels
from ._selection import Selected

class FeatureFilter(Selected, SelectorMixin, BaseEstimator, metaclass=ABCMeta):  # type: ignore[misc]
    scores_: NDArray[np.float64]
    errors_: NDArray[np.float64] | None
    p_values_: NDArray[np.float64] | None
    family_p_values_: NDArray[np.float64] | None
    ranking_: NDArray[np.integer]
    curve_: _Account | None
    def __init__(
        self,
        method: str = "mi",
        *,
        n_features_to_select: int | str = "auto",
        scorer: str | tuple[str, dict[str, float]] | None = None,
        scoring: str | None = None,
        cv: Any = 5,
        n_neighbors: int = 3,
        discrete_features: str | bool | ArrayLike = "auto",
        discrete_target: str | bool = "auto",
        corrected: bool = False,
        permutations: int = 0,
        kernel: str | kernels.Kernel = "rbf",
        gamma: float | None = None,
        standardize: bool = False,
        nested: int | None = None,
        random_state: _RandomState = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        progress: _Progress = None,
    ) -> None: ...
    def fit(self, X: _Rows, y: ArrayLike, *, groups: ArrayLike | None = None) -> Self: ...
    def _get_support_mask(self) -> NDArray[np.bool_]: ...
