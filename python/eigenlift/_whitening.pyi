from typing import Self

from numpy.typing import ArrayLike

from . import _Array, _Fitted, _Progress, _Rows

class Whitening(_Fitted):
    mean_: _Array
    scale_: _Array | None
    components_: _Array
    explained_variance_: _Array
    rank_: int
    distance_: float
    statement_: str
    n_samples_: int
    def __init__(
        self,
        n_components: int | None = None,
        *,
        method: str = "zca",
        ridge: float = 0.0,
        memory: int | str | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        progress: _Progress = None,
    ) -> None: ...
    @property
    def whitening_matrix_(self) -> _Array: ...
    def fit(self, X: _Rows, y: object = None, sample_weight: ArrayLike | None = None) -> Self: ...
    def inverse_transform(self, X: _Rows) -> _Array: ...
