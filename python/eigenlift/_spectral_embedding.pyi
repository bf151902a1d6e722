from collections.abc import Callable
from typing import Any

from . import _Array, _Manifold, _Progress, _RandomState, _Rows, kernels

class SpectralEmbedding(_Manifold):
    eigenvalues_: _Array
    gamma_: float
    n_neighbors_: int
    def __init__(
        self,
        n_components: int = 2,
        *,
        affinity: str | kernels.Kernel | Callable[..., Any] = "nearest_neighbors",
        gamma: float | None = None,
        random_state: _RandomState = None,
        eigen_solver: str | None = None,
        eigen_tol: float | str = "auto",
        n_neighbors: int | None = None,
        n_jobs: int | None = None,
        metric: str = "euclidean",
        radius: float | None = None,
        heat: float | None = None,
        search: str = "auto",
        memory: int | str | None = None,
        verbose: int = 0,
        progress: _Progress = None,
    ) -> None: ...
    @property
    def affinity_matrix_(self) -> Any: ...

def spectral_embedding(
    adjacency: _Rows,
    *,
    n_components: int = 8,
    eigen_solver: str | None = None,
    random_state: _RandomState = None,
    eigen_tol: float | str = "auto",
    norm_laplacian: bool = True,
    drop_first: bool = True,
) -> _Array: ...
