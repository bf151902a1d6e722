from collections.abc import Callable, Iterator, Mapping
from os import PathLike
from typing import Any, Final, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin

from . import kernels as kernels
from ._native import EigenliftError as EigenliftError
from ._native import MemoryLimitError as MemoryLimitError
from ._native import ModelFileError as ModelFileError
from ._native import NotConvergedError as NotConvergedError
from ._native import NoVarianceError as NoVarianceError

__all__ = [
    "PCA",
    "Certificate",
    "EigenliftError",
    "EigenliftWarning",
    "IncrementalPCA",
    "InvalidParameterError",
    "KernelPCA",
    "MemoryLimitError",
    "ModelFileError",
    "NoVarianceError",
    "NotConvergedError",
    "Nystroem",
    "Plan",
    "RBFSampler",
    "Whitening",
    "__version__",
    "kernels",
    "load",
]

# Rows may also be a SciPy CSR matrix or a table of pandas, polars or pyarrow, none of which are required to be installed.
_Rows: TypeAlias = ArrayLike | Any
# As float as the rows were; a table when `set_output` asks for one, which is for the caller to cast.
_Array: TypeAlias = NDArray[np.floating]
_RandomState: TypeAlias = int | np.random.RandomState | np.random.Generator | None
# A callback `(stage, done, total)`, or a class of bars such as tqdm's.
_Progress: TypeAlias = Callable[[str, int, int], object] | type[Any] | None

__version__: Final[str]

class EigenliftWarning(UserWarning): ...
class InvalidParameterError(ValueError, TypeError): ...

class _Account(Mapping[str, Any]):
    def __getattr__(self, name: str) -> Any: ...
    def __getitem__(self, name: str) -> Any: ...
    def __iter__(self) -> Iterator[str]: ...
    def __len__(self) -> int: ...

class Plan(_Account): ...

class Certificate(_Account):
    @property
    def worst_residual(self) -> float: ...

class _Estimator(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    def transform(self, X: _Rows) -> _Array: ...
    def fit_transform(self, X: _Rows, y: object = None) -> _Array: ...
    def save(self, path: str | PathLike[str]) -> None: ...

class _Fitted(_Estimator):
    plan_: Plan
    certificate_: Certificate
    def to_onnx(self, *, dtype: str | None = None) -> Any: ...

class _PrincipalAxes(_Fitted):
    n_components_: int
    @property
    def components_(self) -> _Array: ...
    @property
    def explained_variance_(self) -> _Array: ...
    @property
    def explained_variance_ratio_(self) -> _Array: ...
    @property
    def singular_values_(self) -> _Array: ...
    @property
    def spectrum_(self) -> _Array: ...
    @property
    def mean_(self) -> _Array: ...
    @property
    def noise_variance_(self) -> float: ...
    def get_covariance(self) -> _Array: ...
    def get_precision(self) -> _Array: ...
    def inverse_transform(self, X: _Rows) -> _Array: ...

class PCA(_PrincipalAxes):
    n_samples_: int
    scale_: _Array | None
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
    ) -> None: ...
    @property
    def loadings_(self) -> _Array: ...
    def fit(self, X: _Rows, y: object = None, sample_weight: ArrayLike | None = None) -> Self: ...
    def fit_transform(self, X: _Rows, y: object = None, sample_weight: ArrayLike | None = None) -> _Array: ...
    def plan(self, X: _Rows) -> Plan: ...
    def reconstruction_error(self, X: _Rows) -> _Array: ...
    def score(self, X: _Rows, y: object = None) -> float: ...
    def score_samples(self, X: _Rows) -> _Array: ...
    def t_squared(self, X: _Rows) -> _Array: ...

class IncrementalPCA(_PrincipalAxes):
    n_samples_seen_: int
    batch_size_: int
    var_: _Array
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
    ) -> None: ...
    def fit(self, X: _Rows, y: object = None) -> Self: ...
    def partial_fit(self, X: _Rows, y: object = None, check_input: bool = True) -> Self: ...

class KernelPCA(_Fitted):
    eigenvalues_: _Array
    eigenvectors_: _Array
    explained_variance_ratio_: _Array
    gamma_: float
    n_iter_: int
    kernel_: str
    X_fit_: Any
    X_transformed_fit_: _Array
    dual_coef_: _Array
    landmarks_: Any
    def __init__(
        self,
        n_components: int | None = None,
        *,
        kernel: str | kernels.Kernel | Callable[..., Any] = "linear",
        gamma: float | None = None,
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
        novelty: float | None = None,
        repair: str | None = None,
        memory: int | str | None = None,
        verbose: int = 0,
        progress: _Progress = None,
    ) -> None: ...
    def fit(self, X: _Rows, y: object = None) -> Self: ...
    def inverse_transform(self, X: _Rows) -> _Array: ...
    def plan(self, X: _Rows) -> Plan: ...
    def certify(self, X: _Rows | None = None) -> Certificate: ...
    def refine(self, X: _Rows | None = None) -> Self: ...

class Nystroem(_Estimator):
    components_: Any
    component_indices_: NDArray[np.integer]
    normalization_: _Array
    kernel_: str
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
    ) -> None: ...
    def fit(self, X: _Rows, y: object = None) -> Self: ...
    def certify(self, X: _Rows) -> Any: ...

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

def load(path: str | PathLike[str]) -> KernelPCA | PCA | Whitening: ...
