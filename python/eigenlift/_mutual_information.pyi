from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _Progress, _RandomState, _Rows

class InformationReport(NamedTuple):
    values: NDArray[np.float64]
    errors: NDArray[np.float64]
    p_values: NDArray[np.float64] | None
    family_p_values: NDArray[np.float64] | None
    names: list[str]

def column_names(X: Any) -> list[str]: ...
def discrete_mask(discrete_features: bool | ArrayLike, n_features: int) -> NDArray[np.bool_]: ...
def mutual_info_classif(
    X: _Rows,
    y: ArrayLike,
    *,
    discrete_features: str | bool | ArrayLike = "auto",
    n_neighbors: int = 3,
    copy: bool = True,
    random_state: _RandomState = None,
    n_jobs: int | None = None,
) -> NDArray[np.float64]: ...
def mutual_info_regression(
    X: _Rows,
    y: ArrayLike,
    *,
    discrete_features: str | bool | ArrayLike = "auto",
    n_neighbors: int = 3,
    copy: bool = True,
    random_state: _RandomState = None,
    n_jobs: int | None = None,
) -> NDArray[np.float64]: ...
def mutual_information(
    X: _Rows,
    y: ArrayLike,
    *,
    discrete_features: str | bool | ArrayLike = "auto",
    discrete_target: str | bool = "auto",
    n_neighbors: int = 3,
    corrected: bool = False,
    permutations: int = 0,
    random_state: _RandomState = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    progress: _Progress = None,
) -> InformationReport: ...
def scores_by_name(found: str | list[dict[str, Any]]) -> dict[str, NDArray[np.float64] | None]: ...
