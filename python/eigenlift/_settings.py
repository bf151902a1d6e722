"""What settings for the compiled part look like, for types alone."""

from __future__ import annotations

from typing import TypedDict


class KernelPcaSettings(TypedDict):
    n_components: int | None  # None: chosen by cross-validation
    kernel: str  # as on the command line, or "precomputed"
    tolerance: float
    seed: int
    repair: str  # clip, flip, refuse
    solver: str | None  # dense, davidson
    memory: int | None  # bytes
    exact: bool  # refuse low rank
    approximation: str | None  # pivoted, uniform, kmeans, fourier, tensorsketch
    rank: int | None  # landmarks or features
    error: float | None  # instead of rank: until this share of the trace is left
    column_names: list[str]


class PreimageSettings(TypedDict):
    method: str  # auto, fixed-point, distance, ridge, gradient
    penalty: float
    seed: int
    single: bool  # rows in float32


class ChoiceSettings(TypedDict):
    kernels: list[str]  # the word auto alone for the usual ones
    n_components: int | None
    most_components: int | None
    mask: str  # entries, blocks, image
    mask_shape: list[int]  # length of a block, or height and width of an image
    scorer: str
    seed: int
    max_rows: int | None


class StudySettings(TypedDict):
    kernel: str
    max_rows: int | None
    seed: int


class PcaSettings(TypedDict):
    n_components: int | None  # None: the rules choose
    standardize: bool
    route: str | None  # covariance, dual, tsqr, krylov, directions
    tolerance: float
    seed: int
    memory: int | None
    sketch_rows: int | None
    column_names: list[str]


class ManifoldCommon(TypedDict):
    n_components: int
    given: str  # rows, distances, neighbors or affinities; neighbors are the parts of a CSR matrix
    metric: str  # euclidean, manhattan, cosine, correlation
    n_neighbors: int | None
    radius: float | None
    search: str  # auto, brute, tree
    tolerance: float
    seed: int
    memory: int | None
    column_names: list[str]


class IsomapSettings(TypedDict):
    common: ManifoldCommon
    exact: bool
    landmarks: int | None
    disconnected: str  # bridge, separate, largest, error
    cut_suspects: bool
    cut_edges: list[tuple[int, int]]  # from 0


class MdsSettings(TypedDict):
    common: ManifoldCommon
    landmarks: int | None


class LaplacianSettings(TypedDict):
    common: ManifoldCommon
    heat: float | None  # exp(−heat·d²) between neighbours
    kernel: str | None  # between all rows, instead of neighbours


class DiffusionSettings(TypedDict):
    common: ManifoldCommon
    kernel: str
    alpha: float
    time: float


class LleSettings(TypedDict):
    common: ManifoldCommon
    variant: str  # standard, modified, hessian, ltsa
    ridge: float
    hessian_zero: float
    modified_zero: float


class FactoringSettings(TypedDict):
    kernels: list[str]  # one for each table
    seed: int
    memory: int | None
    exact: bool  # every row a landmark
    approximation: str | None  # pivoted, uniform, kmeans, fourier, tensorsketch
    rank: int | None
    error: float | None  # instead of rank


class KernelCcaSettings(TypedDict):
    n_components: int
    factoring: FactoringSettings
    regularization: float | None  # None: chosen on held-out rows
    folds: int
    n_permutations: int
    column_names: list[list[str]]


class KernelDiscriminantSettings(TypedDict):
    n_components: int | None
    factoring: FactoringSettings
    regularization: float | None
    folds: int
    column_names: list[str]
    class_names: list[str]


class KernelKMeansSettings(TypedDict):
    n_clusters: int
    n_init: int
    max_iter: int
    spectral: int | None  # kernel principal components
    factoring: FactoringSettings
    column_names: list[str]


class InformationSettings(TypedDict):
    n_neighbors: int
    corrected: bool
    discrete: list[bool] | None  # None: by the look of the columns
    permutations: int
    seed: int
    column_names: list[str]


class SelectionSettings(TypedDict):
    method: str  # mi, mrmr, jmi, f, chi2, hsic, forward, backward, floating
    n_features: int | None  # None: the fewest within one standard error of the best, or the best
    best: bool
    scorer: tuple[str, float] | None  # knn, lda, ridge, logistic, and its number
    measure: str | None  # accuracy, balanced_accuracy, r2, neg_mean_squared_error
    n_folds: int | None  # drawn here; None where folds are given
    nested: int | None
    standardize: bool
    kernel: str | None
    tol: float | None
    patience: int | None
    information: InformationSettings


class SearchSettings(TypedDict):
    method: str  # forward, backward, floating
    n_features: int
    to: int  # features at the end
    tol: float | None
    patience: int | None
    fingerprint: str  # of data and settings, for the file
