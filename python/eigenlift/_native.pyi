"""The compiled part: glue between NumPy and the Rust library. Private; the estimators are the interface.

Rows come as a C-ordered two-dimensional array of float32 or float64, which is not copied, or as a CSR matrix taken apart by
`eigenlift._rows.native`. Results have the precision of the rows. Long calls release the GIL, stop at Ctrl-C within a fraction of
a second, and call `progress(stage, done, total)` a few times a second when it is given.
"""

from collections.abc import Callable
from typing import Any, Final, TypeAlias, TypedDict, final

import numpy as np
from numpy.typing import NDArray

Dense: TypeAlias = NDArray[np.float32] | NDArray[np.float64]
Csr: TypeAlias = tuple[NDArray[np.int64], NDArray[np.uint32], Dense, int]
Rows: TypeAlias = Dense | Csr
Classes: TypeAlias = NDArray[np.int64] | None
Numbers: TypeAlias = NDArray[np.float64] | None
Progress: TypeAlias = Callable[[str, int, int], object] | None

__version__: Final[str]

class EigenliftError(ValueError):
    """What the library refuses: settings, kernels or data."""

class NoVarianceError(EigenliftError):
    """All rows look the same."""

class ModelFileError(EigenliftError):
    """A model file that cannot be used."""

class NotConvergedError(RuntimeError):
    """A tolerance or an error asked for was not reached."""

class MemoryLimitError(MemoryError):
    """The work does not fit into the memory allowed."""

class KernelPcaSettings(TypedDict):
    n_components: int | None  # None: chosen by cross-validation
    kernel: str  # as on the command line, or "precomputed"
    tolerance: float
    seed: int
    repair: str  # clip, flip, refuse
    solver: str | None  # dense, davidson
    memory: int | None  # bytes
    exact: bool  # refuse low rank
    approximation: str | None  # pivoted, uniform, kmeans, growing, fourier, tensorsketch
    rank: int | None  # landmarks or features
    error: float | None  # instead of rank: until this share of the trace is left
    novelty: float | None  # with growing
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
    search: str  # auto, brute, tree, approximate
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

@final
class Model:
    """A fitted model of any method; pickles as a header and NumPy arrays."""

    @staticmethod
    def from_parts(header: str, arrays: dict[str, NDArray[Any]]) -> Model: ...
    def parts(self) -> tuple[str, dict[str, NDArray[Any]]]: ...
    @property
    def method(self) -> str: ...
    @property
    def n_samples(self) -> int: ...
    @property
    def n_features(self) -> int: ...
    @property
    def n_outputs(self) -> int: ...
    @property
    def n_components(self) -> int: ...
    @property
    def column_names(self) -> list[str]: ...
    @property
    def warnings(self) -> list[str]: ...
    @property
    def precision(self) -> str:
        """Of the samples: f32 or f64."""
    @property
    def plan(self) -> str:
        """As JSON."""
    @property
    def plan_text(self) -> str: ...
    @property
    def certificate(self) -> str:
        """As JSON: residuals, intervals, bounds, rounding, ties."""
    @property
    def stats(self) -> str:
        """As JSON: iterations, passes, products."""
    @property
    def choice(self) -> str | None:
        """As JSON: pca fitted with rules, their table; kpca that has chosen, what and why."""
    @property
    def eigenvalues(self) -> NDArray[np.float64]:
        """nλ, largest first."""
    @property
    def total(self) -> float:
        """n times the total variance."""
    @property
    def coefficients(self) -> NDArray[np.float64]:
        """A of scores = lift(x)ᵀA − c."""
    @property
    def offset(self) -> NDArray[np.float64]:
        """c."""
    @property
    def kernel(self) -> str:
        """kpca: the kernel with every number known."""
    @property
    def samples(self) -> Any:
        """kpca, manifold methods: samples or landmarks as an array (or CSR parts); None when the lift needs none."""
    @property
    def facts(self) -> str:
        """Manifold and kernelised methods: what was found beside the scores, as JSON."""
    @property
    def labels(self) -> NDArray[np.int64]:
        """Manifold methods: the part of each row; kkmeans: its cluster."""
    @property
    def residuals(self) -> NDArray[np.float64]:
        """Manifold methods: of the eigenpairs."""
    def geodesics(self) -> NDArray[np.float64] | None:
        """Isomap: distances along the graph, a column for each row or landmark."""
    @property
    def mean(self) -> NDArray[np.float64]: ...
    @property
    def scale(self) -> NDArray[np.float64] | None: ...
    @property
    def components(self) -> NDArray[np.float64]:
        """pca, whiten: axes, one row each."""
    @property
    def spectrum(self) -> NDArray[np.float64]:
        """pca, whiten: all nλ that are known."""
    @property
    def is_whole(self) -> bool: ...
    @property
    def weight(self) -> float:
        """n, or the sum of the weights."""
    @property
    def whitening(self) -> tuple[str, float, int, str, float]:
        """whiten: method, ridge, rank, statement, distance."""
    def keeping(self, k: int) -> Model:
        """pca, kpca: the first k components alone."""
    def flipped(self, which: list[bool]) -> Model:
        """kpca, manifold methods: the same model with the axes named turned round."""
    def scores(self) -> NDArray[np.float64]:
        """kpca, manifold methods: scores of the samples, when the model holds them."""
    def transform(self, x: Rows, threads: int, progress: Progress = None) -> Dense: ...
    def labels_of(self, x: Rows, threads: int, progress: Progress = None) -> NDArray[np.int64]:
        """Manifold methods: the part in which each row is placed; kkmeans: its cluster; kda: its class."""
    def transform_neighbors(self, x: Csr, threads: int, progress: Progress = None) -> NDArray[np.float64]:
        """Isomap: scores of rows that are known by their neighbours, as the parts of a CSR matrix."""
    def inverse(self, scores: NDArray[np.float64], threads: int) -> NDArray[np.float64]: ...
    def certify(self, x: Rows, threads: int, progress: Progress = None) -> Model: ...
    def refine(self, x: Rows, settings: KernelPcaSettings, threads: int, progress: Progress = None) -> Model: ...
    def save(self, path: str) -> None: ...

@final
class PcaStream:
    """Sums of rows that come in pieces; pickles as NumPy arrays."""

    def __new__(cls, n_features: int, settings: PcaSettings, threads: int) -> PcaStream: ...
    @property
    def count(self) -> int: ...
    def columns(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Mean of each column, and the sum of its squared distances from it."""
    def add(self, x: Rows, threads: int, progress: Progress = None) -> None: ...
    def finish(self, n_components: int, threads: int) -> Model: ...

def load(path: str) -> Model: ...
def fit_kernel_pca(x: Rows, settings: KernelPcaSettings, threads: int, progress: Progress = None) -> Model: ...
def plan_kernel_pca(x: Rows, settings: KernelPcaSettings, threads: int) -> tuple[str, str]:
    """Plan as JSON and as text."""

def invert_kernel_pca(
    model: Model,
    scores: NDArray[np.float64],
    settings: PreimageSettings,
    threads: int,
    progress: Progress = None,
) -> tuple[Dense, dict[str, Any]]:
    """Rows for scores; distances, deviations, starts, trusted, steps, converged, limit, method."""

def denoise_kernel_pca(
    model: Model, x: Rows, settings: PreimageSettings, threads: int, progress: Progress = None
) -> tuple[Dense, dict[str, Any]]:
    """Rows projected and put back, and the same."""

def novelty_kernel_pca(
    model: Model, x: Rows, own: Numbers, threads: int, progress: Progress = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """T² and squared prediction error of each row."""

def limits_kernel_pca(
    model: Model, alpha: float, rule: str, reference: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None
) -> str:
    """As JSON; no reference stands for the rows of the fit."""

def contributions_kernel_pca(
    model: Model, x: Rows, statistic: str, baseline: Rows | None, threads: int, progress: Progress = None
) -> tuple[Dense, dict[str, Any]]:
    """Contributions of input columns; baselines, at_baseline, at_row, defect."""

def align_kernel_pca(
    model: Model, earlier: Model, x: Rows, near_tie: float, threads: int, progress: Progress = None
) -> tuple[Model, str]:
    """The model with its axes turned to those of the earlier one, and how as JSON."""

def choose_kernel_pca(
    x: Rows, classes: Classes, numbers: Numbers, settings: ChoiceSettings, threads: int, progress: Progress = None
) -> str:
    """As JSON: by hidden entries, or by what can be learned from the scores when there are classes or numbers."""

def kernel_sensitivity(
    x: Rows,
    n_components: int,
    bandwidths: list[float],
    settings: StudySettings,
    threads: int,
    progress: Progress = None,
) -> str:
    """As JSON; no bandwidths stand for a grid around the median."""

def kernel_stability(
    x: Rows, n_components: int, resamples: int | None, settings: StudySettings, threads: int, progress: Progress = None
) -> str:
    """As JSON."""

def kernel_parallel_analysis(
    x: Rows,
    permutations: int | None,
    quantile: float | None,
    settings: StudySettings,
    threads: int,
    progress: Progress = None,
) -> str:
    """As JSON."""

def fit_pca(x: Rows, weights: Numbers, settings: PcaSettings, threads: int, progress: Progress = None) -> Model: ...
def plan_pca(x: Rows, settings: PcaSettings, threads: int) -> tuple[str, str]: ...
def fit_whitening(
    x: Rows,
    weights: Numbers,
    method: str,  # zca, pca, cholesky, zca-cor, pca-cor
    ridge: float,
    settings: PcaSettings,  # n_components None: all directions with variance
    threads: int,
    progress: Progress = None,
) -> Model: ...
def fit_isomap(
    x: Rows, graph: Csr | None, settings: IsomapSettings, threads: int, progress: Progress = None
) -> Model: ...
def plan_isomap(x: Rows, settings: IsomapSettings, threads: int) -> tuple[str, str]: ...
def fit_mds(x: Rows, settings: MdsSettings, threads: int, progress: Progress = None) -> Model: ...
def plan_mds(x: Rows, settings: MdsSettings, threads: int) -> tuple[str, str]: ...
def fit_laplacian(x: Rows, settings: LaplacianSettings, threads: int, progress: Progress = None) -> Model: ...
def plan_laplacian(x: Rows, settings: LaplacianSettings, threads: int) -> tuple[str, str]: ...
def fit_diffusion(x: Rows, settings: DiffusionSettings, threads: int, progress: Progress = None) -> Model: ...
def plan_diffusion(x: Rows, settings: DiffusionSettings, threads: int) -> tuple[str, str]: ...
def fit_lle(x: Rows, settings: LleSettings, threads: int, progress: Progress = None) -> Model: ...
def plan_lle(x: Rows, settings: LleSettings, threads: int) -> tuple[str, str]: ...
def fit_kernel_cca(
    tables: list[Rows], settings: KernelCcaSettings, threads: int, progress: Progress = None
) -> Model: ...
def plan_kernel_cca(tables: list[Rows], settings: KernelCcaSettings, threads: int) -> tuple[str, str]: ...
def kernel_cca_scores(model: Model, view: int, x: Rows, threads: int, progress: Progress = None) -> Dense:
    """Scores of rows of one table, counted from 0."""

def fit_kernel_discriminant(
    x: Rows,
    classes: NDArray[np.uint32],  # from 0
    settings: KernelDiscriminantSettings,
    threads: int,
    progress: Progress = None,
) -> Model: ...
def plan_kernel_discriminant(x: Rows, settings: KernelDiscriminantSettings, threads: int) -> tuple[str, str]: ...
def kernel_discriminant_log_proba(
    model: Model, x: Rows, threads: int, progress: Progress = None
) -> NDArray[np.float64]:
    """Logarithms of the probabilities of the classes."""

def fit_kernel_k_means(x: Rows, settings: KernelKMeansSettings, threads: int, progress: Progress = None) -> Model: ...
def plan_kernel_k_means(x: Rows, settings: KernelKMeansSettings, threads: int) -> tuple[str, str]: ...
def kernel_k_means_plane(model: Model, x: Rows, threads: int, progress: Progress = None) -> Dense:
    """Scores of rows on two kernel principal components."""

def neighborhoods(
    x: Rows, embedding: NDArray[np.float64], n_neighbors: int, metric: str, threads: int
) -> tuple[float, float]:
    """Trustworthiness and continuity; the metric may be precomputed."""

def examine_isomap(
    x: Rows, common: ManifoldCommon, cut: bool, threads: int, progress: Progress = None
) -> tuple[str, list[str]]:
    """What the doctor finds as JSON, and a sentence for each suspected edge."""

def mutual_information(
    x: Rows, classes: Classes, numbers: Numbers, settings: InformationSettings, threads: int, progress: Progress = None
) -> str:
    """Value, error and p-values of each column as JSON."""

def select_features(
    x: Rows,
    classes: Classes,
    numbers: Numbers,
    folds: list[tuple[NDArray[np.int64], NDArray[np.int64]]],  # rows learned from, rows held out
    settings: SelectionSettings,
    checkpoint: str | None,  # a file to go on from and to keep steps in
    threads: int,
    progress: Progress = None,
) -> str:
    """By a filter or by our own scorers, as JSON."""

def search_features(
    judge: Callable[[list[list[int]]], list[list[float]]], settings: SearchSettings, checkpoint: str | None
) -> str:
    """By what the judge says of sets of columns on each fold: steps, subsets, best, chosen and stopped as JSON."""

def project(
    x: Rows, center: NDArray[np.float64], axes: NDArray[np.float64], threads: int, progress: Progress = None
) -> Dense:
    """(x − center)·axesᵀ, axes one row each."""

def kernel_text(text: str) -> str:
    """A kernel description in its canonical form."""

def kernel_is_mercer(text: str) -> bool:
    """Whether the kernel is known to be positive semi-definite for all rows."""

def resolve_kernel(text: str, x: Rows, seed: int, threads: int) -> str:
    """The kernel with `median` and `1/d` found from the rows."""

def kernel_matrix(kernel: str, x: Rows, y: Rows, threads: int, progress: Progress = None) -> NDArray[np.float64]:
    """k(xᵢ, yⱼ)."""

def kernel_times(
    kernel: str, x: Rows, y: Rows, block: NDArray[np.float64], threads: int, progress: Progress = None
) -> Dense:
    """K(x, y)·block, without storing K."""

def kernel_diagonal(kernel: str, x: Rows, threads: int) -> NDArray[np.float64]:
    """k(xᵢ, xᵢ)."""

def cosine_features(
    x: Rows,
    weights: NDArray[np.float64],  # d × m
    offset: NDArray[np.float64],  # m
    threads: int,
    progress: Progress = None,
) -> Dense:
    """√(2/m)·cos(x·weights + offset)."""

def pivots(kernel: str, x: Rows, rank: int, seed: int, threads: int, progress: Progress = None) -> NDArray[np.int64]:
    """Rows that randomly pivoted Cholesky chooses as landmarks, in order."""

def report_html(json_text: str) -> str:
    """The report that its JSON describes, as HTML."""

def scree_svg(
    eigenvalues: list[float],
    ratio: list[float],
    intervals: list[tuple[float, float]] | None,
    residual: list[float],  # one more than components, or none
    title: str,
) -> str:
    """The spectrum as SVG."""
