from typing import Any, Self

from . import _Array, _Estimator, _Progress, _RandomState, _Rows

class RBFSampler(_Estimator):
    random_weights_: _Array
    random_offset_: _Array
    def __init__(
        self,
        *,
        gamma: float | str = 1.0,
        n_components: int = 100,
        random_state: _RandomState = None,
        orthogonal: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
        progress: _Progress = None,
    ) -> None: ...
    def fit(self, X: _Rows, y: object = None) -> Self: ...
    def certify(self, X: _Rows) -> Any: ...
