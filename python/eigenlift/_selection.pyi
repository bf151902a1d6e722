from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from . import _Account

SCORERS: Final[dict[str, tuple[str | None, float]]]
MEASURES: Final[dict[str, bool]]

class SelectionStep(_Account):
    feature: int
    added: bool
    n_features: int
    value: float | None
    score: float | None
    spread: float | None
    fold_scores: list[float]

class FeatureSubset(_Account):
    features: list[int]
    score: float
    spread: float | None
    fold_scores: list[float]

class NestedScore(_Account):
    score: float
    spread: float | None
    fold_scores: list[float]
    selected: list[list[int]]
    frequency: list[float]

class Selected:
    path_: list[SelectionStep]
    subsets_: list[FeatureSubset]
    best_: FeatureSubset | None
    nested_: NestedScore | None
    support_: NDArray[np.bool_]
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]

def is_word(value: object, word: str) -> bool: ...
def looks_discrete(y: NDArray[Any]) -> bool: ...
def labels_of(
    y: NDArray[Any], discrete: bool | None
) -> tuple[NDArray[np.int64] | None, NDArray[np.float64] | None]: ...
def scorer_named(owner: Any, name: str) -> tuple[str, float] | None: ...
def measure_named(owner: Any, word: str | None) -> bool | None: ...
def folds_of(
    cv: Any, X: Any, y: Any, params: dict[str, Any] | None = None
) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]: ...
