from abc import ABCMeta
from os import PathLike
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.feature_selection import SelectorMixin

from . import _Progress, _RandomState, _Rows
from ._selection import Selected

class SequentialFeatureSelector(Selected, SelectorMixin, MetaEstimatorMixin, BaseEstimator, metaclass=ABCMeta):  # type: ignore[misc]
    n_features_to_select_: int
    stopped_: str | None
    def __init__(
        self,
        estimator: Any,
        *,
        n_features_to_select: int | float | str = "auto",
        tol: float | None = None,
        direction: str = "forward",
        scoring: Any = None,
        cv: Any = 5,
        n_jobs: int | None = None,
        floating: bool = False,
        patience: int | None = None,
        nested: int | None = None,
        standardize: bool = False,
        checkpoint: str | PathLike[str] | None = None,
        random_state: _RandomState = None,
        verbose: int = 0,
        progress: _Progress = None,
    ) -> None: ...
    def fit(self, X: _Rows, y: ArrayLike | None = None, **params: Any) -> Self: ...
    def get_metadata_routing(self) -> Any: ...
    def _get_support_mask(self) -> NDArray[np.bool_]: ...
