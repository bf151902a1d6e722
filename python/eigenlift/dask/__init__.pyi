from collections.abc import Callable, Sequence
from typing import Any, Self, TypeAlias

import eigenlift
from eigenlift import kernels

__all__ = ["PCA", "IncrementalPCA", "KernelPCA", "Nystroem", "PartitionError", "Threads", "Whitening"]

# A Dask array or dataframe, or paths of files.
_Source: TypeAlias = Any
# A Dask array for a source, an array for rows in memory.
_Scores: TypeAlias = Any
_Weights: TypeAlias = Any
# A distributed.Client, a backend such as Threads(), or None.
_Client: TypeAlias = Any
_RandomState: TypeAlias = eigenlift._RandomState
_Progress: TypeAlias = eigenlift._Progress

class PartitionError(eigenlift.EigenliftError, RuntimeError):
    partition: str | None
    def __init__(self, message: str, partition: str | None = None) -> None: ...

class Threads:
    n_threads: int | None
    def __init__(self, n_threads: int | None = None) -> None: ...
    @property
    def n_workers(self) -> int: ...
    def submit(self, function: Callable[..., Any], *arguments: Any, name: str) -> Any: ...
    def map_blocks(
        self,
        function: Callable[..., Any],
        blocks: Sequence[Any],
        *arguments: Any,
        each: Sequence[Any] | None = None,
        name: str,
    ) -> list[Any]: ...
    def tree_reduce(self, function: Callable[[Any, Any], Any], handles: Sequence[Any], *, name: str) -> Any: ...
    def gather(self, handles: Sequence[Any], report: Callable[[int, int], object] | None = None) -> list[Any]: ...
    def cancel(self) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *error: object) -> None: ...

class _Distributed:
    client: _Client
    def transform(self, X: _Source) -> _Scores: ...
    def fit_transform(self, X: _Source, y: object = None) -> _Scores: ...

class _Weighted(_Distributed):
    def fit_transform(self, X: _Source, y: object = None, sample_weight: _Weights = None) -> _Scores: ...

class PCA(_Weighted, eigenlift.PCA):
    def __init__(
        self,
        n_components: int | float | str | None = None,
        *,
        copy: bool = True,
        whiten: bool = False,
        svd_solver: str = "auto",
        tol: float = 0.0,
        iterated_power: int | str = "auto",
        n_oversamples: int = 10,
        power_iteration_normalizer: str = "auto",
        random_state: _RandomState = None,
        standardize: bool = False,
        route: str | None = None,
        sketch_rows: int | None = None,
        memory: int | str | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        progress: _Progress = None,
        client: _Client = None,
    ) -> None: ...
    def fit(self, X: _Source, y: object = None, sample_weight: _Weights = None) -> Self: ...
    def inverse_transform(self, X: _Source) -> _Scores: ...
    def t_squared(self, X: _Source) -> _Scores: ...
    def reconstruction_error(self, X: _Source) -> _Scores: ...
    def score_samples(self, X: _Source) -> _Scores: ...

class IncrementalPCA(_Distributed, eigenlift.IncrementalPCA):
    def __init__(
        self,
        n_components: int | None = None,
        *,
        whiten: bool = False,
        copy: bool = True,
        batch_size: int | None = None,
        route: str | None = None,
        sketch_rows: int | None = None,
        memory: int | str | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        progress: _Progress = None,
        client: _Client = None,
    ) -> None: ...
    def inverse_transform(self, X: _Source) -> _Scores: ...

class Whitening(_Weighted, eigenlift.Whitening):
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
        client: _Client = None,
    ) -> None: ...
    def fit(self, X: _Source, y: object = None, sample_weight: _Weights = None) -> Self: ...
    def inverse_transform(self, X: _Source) -> _Scores: ...

class KernelPCA(_Distributed, eigenlift.KernelPCA):
    def __init__(
        self,
        n_components: int | str | None = None,
        *,
        kernel: str | kernels.Kernel = "linear",
        gamma: float | str | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        alpha: float = 1.0,
        fit_inverse_transform: bool = False,
        eigen_solver: str = "auto",
        tol: float = 0,
        max_iter: int | None = None,
        iterated_power: int | str = "auto",
        remove_zero_eig: bool = False,
        random_state: _RandomState = None,
        copy_X: bool = True,
        n_jobs: int | None = None,
        rank: int | str | None = None,
        error: float | None = None,
        approximation: str | None = None,
        repair: str | None = None,
        preimage: str | None = None,
        penalty: float = 0.0,
        memory: int | str | None = None,
        verbose: int = 0,
        progress: _Progress = None,
        client: _Client = None,
    ) -> None: ...
    @property
    def eigenvectors_(self) -> Any: ...
    @eigenvectors_.setter
    def eigenvectors_(self, vectors: Any) -> None: ...
    def inverse_transform(self, X: _Source, return_info: bool = False) -> Any: ...
    def denoise(self, X: _Source, return_info: bool = False) -> Any: ...
    def novelty_scores(self, X: _Source, own: Any = None) -> Any: ...
    def score_samples(self, X: _Source) -> _Scores: ...

class Nystroem(_Distributed, eigenlift.Nystroem):
    def __init__(
        self,
        kernel: str | kernels.Kernel | Callable[..., Any] = "rbf",
        *,
        gamma: float | None = None,
        coef0: float | None = None,
        degree: float | None = None,
        kernel_params: dict[str, Any] | None = None,
        n_components: int = 100,
        random_state: _RandomState = None,
        n_jobs: int | None = None,
        landmarks: str = "uniform",
        verbose: int = 0,
        progress: _Progress = None,
        client: _Client = None,
    ) -> None: ...
