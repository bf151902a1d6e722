from collections.abc import Callable, Iterable, Iterator, Mapping
from os import PathLike
from typing import Any, Final, Literal, NamedTuple, Self, TypeAlias, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin

from . import kernels as kernels
from . import plot as plot
from ._doctor import IsomapReport as IsomapReport
from ._doctor import isomap_doctor as isomap_doctor
from ._feature_filter import FeatureFilter as FeatureFilter
from ._kernel_cca import KernelCCA as KernelCCA
from ._kernel_choose import KernelChoice as KernelChoice
from ._kernel_choose import choose_kernel_pca as choose_kernel_pca
from ._kernel_discriminant import KernelDiscriminant as KernelDiscriminant
from ._kernel_k_means import KernelKMeans as KernelKMeans
from ._kernel_study import ParallelReport as ParallelReport
from ._kernel_study import SensitivityReport as SensitivityReport
from ._kernel_study import StabilityReport as StabilityReport
from ._kernel_study import kernel_parallel_analysis as kernel_parallel_analysis
from ._kernel_study import kernel_sensitivity as kernel_sensitivity
from ._kernel_study import kernel_stability as kernel_stability
from ._mutual_information import InformationReport as InformationReport
from ._mutual_information import mutual_info_classif as mutual_info_classif
from ._mutual_information import mutual_info_regression as mutual_info_regression
from ._mutual_information import mutual_information as mutual_information
from ._native import EigenliftError as EigenliftError
from ._native import MemoryLimitError as MemoryLimitError
from ._native import ModelFileError as ModelFileError
from ._native import NotConvergedError as NotConvergedError
from ._native import NoVarianceError as NoVarianceError
from ._rbf_sampler import RBFSampler as RBFSampler
from ._selection import FeatureSubset as FeatureSubset
from ._selection import NestedScore as NestedScore
from ._selection import SelectionStep as SelectionStep
from ._sequential import SequentialFeatureSelector as SequentialFeatureSelector
from ._spectral_embedding import SpectralEmbedding as SpectralEmbedding
from ._spectral_embedding import spectral_embedding as spectral_embedding
from ._whitening import Whitening as Whitening

__all__ = [
    "PCA",
    "Alignment",
    "Certificate",
    "ClassicalMDS",
    "Contributions",
    "DiffusionMap",
    "EigenliftError",
    "EigenliftWarning",
    "FeatureFilter",
    "FeatureSubset",
    "IncrementalPCA",
    "InformationReport",
    "InvalidParameterError",
    "Isomap",
    "IsomapReport",
    "KernelCCA",
    "KernelChoice",
    "KernelDiscriminant",
    "KernelKMeans",
    "KernelPCA",
    "Limits",
    "LocallyLinearEmbedding",
    "MemoryLimitError",
    "ModelFileError",
    "NestedScore",
    "NoVarianceError",
    "NotConvergedError",
    "Novelty",
    "Nystroem",
    "ParallelReport",
    "Plan",
    "PreimageInfo",
    "RBFSampler",
    "SelectionStep",
    "SensitivityReport",
    "SequentialFeatureSelector",
    "SpectralEmbedding",
    "StabilityReport",
    "Whitening",
    "__version__",
    "choose_kernel_pca",
    "continuity",
    "isomap_doctor",
    "kernel_parallel_analysis",
    "kernel_sensitivity",
    "kernel_stability",
    "kernels",
    "load",
    "locally_linear_embedding",
    "mutual_info_classif",
    "mutual_info_regression",
    "mutual_information",
    "plot",
    "report",
    "spectral_embedding",
    "trustworthiness",
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
class InvalidParameterError(EigenliftError, TypeError): ...

class _Account(Mapping[str, Any]):
    def __getattr__(self, name: str) -> Any: ...
    def __getitem__(self, name: str) -> Any: ...
    def __iter__(self) -> Iterator[str]: ...
    def __len__(self) -> int: ...

class Plan(_Account): ...

class Certificate(_Account):
    @property
    def worst_residual(self) -> float: ...

class Alignment(_Account): ...

class Novelty(NamedTuple):
    t_squared: _Array
    spe: _Array

class Contributions(NamedTuple):
    values: _Array
    baselines: _Array
    at_baseline: _Array
    at_row: _Array
    defect: float

class Limits(_Account):
    def novel(self, novelty: Novelty) -> NDArray[np.bool_]: ...

class PreimageInfo(_Account):
    @property
    def n_untrusted(self) -> int: ...

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
    choice_: KernelChoice
    def __init__(
        self,
        n_components: int | str | None = None,
        *,
        kernel: str | kernels.Kernel | Callable[..., Any] = "linear",
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
    ) -> None: ...
    def fit(self, X: _Rows, y: object = None) -> Self: ...
    @overload
    def inverse_transform(self, X: _Rows, return_info: Literal[False] = False) -> _Array: ...
    @overload
    def inverse_transform(self, X: _Rows, return_info: Literal[True]) -> tuple[_Array, PreimageInfo]: ...
    @overload
    def denoise(self, X: _Rows, return_info: Literal[False] = False) -> _Array: ...
    @overload
    def denoise(self, X: _Rows, return_info: Literal[True]) -> tuple[_Array, PreimageInfo]: ...
    def plan(self, X: _Rows) -> Plan: ...
    def certify(self, X: _Rows | None = None) -> Certificate: ...
    def align(self, earlier: KernelPCA, X: _Rows, *, near_tie: float = 0.01) -> Alignment: ...
    def novelty_scores(self, X: _Rows, own: ArrayLike | None = None) -> Novelty: ...
    def score_samples(self, X: _Rows) -> _Array: ...
    def limits(
        self,
        alpha: float = 0.01,
        rule: str = "quantile",
        reference: Novelty | _Rows | None = None,
        X: _Rows | None = None,
    ) -> Limits: ...
    def contributions(self, X: _Rows, statistic: str = "spe", reference: _Rows | None = None) -> Contributions: ...
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

class _Manifold(_Estimator):
    embedding_: _Array
    n_iter_: int
    plan_: Plan
    def fit(self, X: _Rows, y: object = None) -> Self: ...
    def plan(self, X: _Rows) -> Plan: ...

class _ScaledDistances:
    eigenvalues_: _Array
    eigenvectors_: _Array

class Isomap(_Manifold):
    labels_: NDArray[np.int64]
    component_sizes_: list[int]
    bridges_: NDArray[np.void]
    cut_: NDArray[np.void]
    residual_variance_: float | None
    residual_variance_error_: float | None
    negative_share_: float | None
    trustworthiness_: float | None
    continuity_: float | None
    def __init__(
        self,
        *,
        n_neighbors: int | None = 5,
        radius: float | None = None,
        n_components: int = 2,
        eigen_solver: str = "auto",
        tol: float = 0,
        max_iter: int | None = None,
        path_method: str = "auto",
        neighbors_algorithm: str = "auto",
        n_jobs: int | None = None,
        metric: str | Callable[..., float] = "minkowski",
        p: float = 2,
        metric_params: dict[str, Any] | None = None,
        landmarks: int | str | None = None,
        disconnected: str = "bridge",
        cut: str | Iterable[tuple[int, int]] | None = None,
        search: str = "auto",
        random_state: _RandomState = None,
        memory: int | str | None = None,
        verbose: int = 0,
        progress: _Progress = None,
    ) -> None: ...
    def fit(self, X: _Rows, y: object = None, graph: Any = None) -> Self: ...
    def fit_transform(self, X: _Rows, y: object = None, graph: Any = None) -> _Array: ...
    def component_of(self, X: _Rows) -> NDArray[np.int64]: ...
    @property
    def nbrs_(self) -> Any: ...
    @property
    def dist_matrix_(self) -> _Array: ...
    @property
    def kernel_pca_(self) -> _ScaledDistances: ...
    def reconstruction_error(self) -> float: ...

class ClassicalMDS(_Manifold):
    eigenvalues_: _Array
    residual_variance_: float | None
    residual_variance_error_: float | None
    negative_share_: float | None
    def __init__(
        self,
        n_components: int = 2,
        *,
        metric: str | Callable[..., float] = "euclidean",
        metric_params: dict[str, Any] | None = None,
        landmarks: int | None = None,
        tol: float = 0,
        random_state: _RandomState = None,
        memory: int | str | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        progress: _Progress = None,
    ) -> None: ...
    @property
    def dissimilarity_matrix_(self) -> _Array: ...

class LocallyLinearEmbedding(_Manifold):
    eigenvalues_: _Array
    reconstruction_error_: float
    def __init__(
        self,
        *,
        n_neighbors: int = 5,
        n_components: int = 2,
        reg: float = 1e-3,
        eigen_solver: str = "auto",
        tol: float = 1e-6,
        max_iter: int = 100,
        method: str = "standard",
        hessian_tol: float = 1e-4,
        modified_tol: float = 1e-12,
        neighbors_algorithm: str = "auto",
        random_state: _RandomState = None,
        n_jobs: int | None = None,
        metric: str = "euclidean",
        search: str = "auto",
        memory: int | str | None = None,
        verbose: int = 0,
        progress: _Progress = None,
    ) -> None: ...
    @property
    def nbrs_(self) -> Any: ...

class DiffusionMap(_Manifold):
    eigenvalues_: _Array
    kernel_: str
    def __init__(
        self,
        n_components: int = 2,
        *,
        kernel: str | kernels.Kernel = "rbf",
        gamma: float | None = None,
        alpha: float = 1.0,
        t: float = 1,
        tol: float = 0,
        random_state: _RandomState = None,
        memory: int | str | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        progress: _Progress = None,
    ) -> None: ...

def trustworthiness(
    X: _Rows, X_embedded: _Rows, *, n_neighbors: int = 5, metric: str | Callable[..., float] = "euclidean"
) -> float: ...
def continuity(
    X: _Rows, X_embedded: _Rows, *, n_neighbors: int = 5, metric: str | Callable[..., float] = "euclidean"
) -> float: ...
def locally_linear_embedding(
    X: _Rows,
    *,
    n_neighbors: int,
    n_components: int,
    reg: float = 1e-3,
    eigen_solver: str = "auto",
    tol: float = 1e-6,
    max_iter: int = 100,
    method: str = "standard",
    hessian_tol: float = 1e-4,
    modified_tol: float = 1e-12,
    random_state: _RandomState = None,
    n_jobs: int | None = None,
) -> tuple[_Array, float]: ...
def load(path: str | PathLike[str]) -> Any: ...
def report(
    model: Any,
    X: _Rows,
    y: ArrayLike | None = None,
    path: str | PathLike[str] = "report.html",
    title: str | None = None,
    *,
    feature_names: Iterable[str] | None = None,
    image: tuple[int, int] | None = None,
) -> str: ...
