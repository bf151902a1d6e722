from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _Progress, _Rows

class IsomapReport:
    recommended_: int
    sentence_: str
    sweep_: list[dict[str, Any]]
    examined_: int
    suspects_: NDArray[np.void]
    evidence_: list[dict[str, Any]]
    after_cut_: Any
    dimensions_: list[tuple[int, float]]
    sampled_rows_: int | None
    def __init__(self, values: dict[str, Any], sentences: list[str]) -> None: ...
    @property
    def cuts(self) -> list[tuple[int, int]]: ...

def isomap_doctor(
    X: _Rows,
    n_components: int = 2,
    *,
    n_neighbors: int | None = None,
    cut: bool = False,
    metric: str = "euclidean",
    search: str = "auto",
    random_state: int = 0,
    n_jobs: int | None = None,
    verbose: int = 0,
    progress: _Progress = None,
) -> IsomapReport: ...
