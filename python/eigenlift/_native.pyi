"""The compiled part: glue between NumPy and the Rust library. Private; the estimators are the interface.

Rows come as a C-ordered two-dimensional array of float32 or float64, which is not copied, or as a CSR matrix taken apart by
`eigenlift._rows.native`. Results have the precision of the rows. Long calls release the GIL, stop at Ctrl-C within a fraction of
a second, and call `progress(stage, done, total)` a few times a second when it is given.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

Dense: TypeAlias = NDArray[np.float32] | NDArray[np.float64]
Csr: TypeAlias = tuple[NDArray[np.int64], NDArray[np.uint32], Dense, int]
Rows: TypeAlias = Dense | Csr
Classes: TypeAlias = NDArray[np.int64] | None
Numbers: TypeAlias = NDArray[np.float64] | None
Progress: TypeAlias = Callable[[str, int, int], object] | None
# Their names and types are those of the structures in `python/src` that end in `Settings`.
Settings: TypeAlias = Mapping[str, Any]

__version__: Final[str]

class EigenliftError(ValueError):
    """What the library refuses: settings, kernels or data. The base of all exceptions of this package."""

class NoVarianceError(EigenliftError):
    """All rows look the same."""

class ModelFileError(EigenliftError):
    """A model file that cannot be used."""

class NotConvergedError(EigenliftError, RuntimeError):
    """A requested tolerance or error was not reached."""

class MemoryLimitError(EigenliftError, MemoryError):
    """The work does not fit into the memory allowed."""

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
    def origin(self) -> NDArray[np.float64] | None:
        """Where rows are taken from before they are compared; None for rows as they are."""
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
    def refine(self, x: Rows, settings: Settings, threads: int, progress: Progress = None) -> Model: ...
    def save(self, path: str) -> None: ...

@final
class PcaStream:
    """Sums of rows that come in pieces; pickles as NumPy arrays."""

    def __new__(cls, n_features: int, settings: Settings, threads: int) -> PcaStream: ...
    @property
    def count(self) -> int: ...
    def columns(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Mean of each column, and the sum of its squared distances from it."""
    def add(self, x: Rows, threads: int, progress: Progress = None, weights: Numbers = None) -> None: ...
    def merge(self, other: PcaStream) -> None: ...
    def finish(self, n_components: int, threads: int) -> Model: ...

@final
class Features:
    """Features that rows are summed by, sent to where the rows are; pickles as NumPy arrays."""

    @staticmethod
    def from_parts(parts: dict[str, Any]) -> Features: ...
    @property
    def dimension(self) -> int: ...
    def sums(self, x: Rows, first_row: int, threads: int) -> FeatureSums:
        """Moments of the features of rows, the first of which is row `first_row` of all."""
    def left_out(self, x: Rows, threads: int) -> NDArray[np.float64]:
        """k(x, x) - |f(x)|^2 of each row."""

@final
class FeatureSums:
    """Moments of features of some rows; pickles as NumPy arrays, the upper triangle of the scatter."""

    @staticmethod
    def from_parts(
        count: int, mean: NDArray[np.float64], triangle: NDArray[np.float64], traces: tuple[float, float]
    ) -> FeatureSums: ...
    @property
    def count(self) -> int: ...
    def merge(self, other: FeatureSums) -> None: ...

class Pieces(Protocol):
    """Rows that lie elsewhere: what the compiled part asks of `eigenlift._cluster._pieces.Pieces`, from a thread of its own."""

    n_rows: int
    n_cols: int
    precision: str  # f32, f64
    weighted: bool
    place: str
    def gather(self, indices: NDArray[np.int64]) -> NDArray[np.float64]: ...
    def pca_sums(self, empty: PcaStream) -> PcaStream: ...
    def product(self, center: NDArray[np.float64], block: NDArray[np.float64]) -> NDArray[np.float64]: ...
    def feature_sums(self, features: Features) -> FeatureSums: ...
    def begin_rounds(self, sample: NDArray[np.int64] | None) -> None: ...
    def left_out(self, features: Features, spent: NDArray[np.int64]) -> NDArray[np.float64]: ...
    def locate(
        self, blocks: NDArray[np.int64], targets: NDArray[np.float64]
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]: ...
    def kernel_product(
        self, kernel: str, block: NDArray[np.float64], single: bool
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], float]: ...
    def kernel_columns(self, kernel: str, rows: NDArray[np.float64], single: bool) -> NDArray[np.float64]: ...
    def kernel_diagonal(self, kernel: str, single: bool) -> NDArray[np.float64]: ...
    def project(self, model: Model) -> NDArray[np.float64]: ...

def load(path: str) -> Model: ...
def fit_kernel_pca(x: Rows, settings: Settings, threads: int, progress: Progress = None) -> Model: ...
def plan_kernel_pca(x: Rows, settings: Settings, threads: int) -> tuple[str, str]:
    """Plan as JSON and as text."""

def invert_kernel_pca(
    model: Model,
    scores: NDArray[np.float64],
    settings: Settings,
    threads: int,
    progress: Progress = None,
) -> tuple[Dense, dict[str, Any]]:
    """Rows for scores; distances, deviations, starts, trusted, steps, converged, limit, method."""

def denoise_kernel_pca(
    model: Model, x: Rows, settings: Settings, threads: int, progress: Progress = None
) -> tuple[Dense, dict[str, Any]]:
    """Rows projected and put back, and the same."""

def novelty_kernel_pca(
    model: Model, x: Rows, own: Numbers, threads: int, progress: Progress = None
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """T² and squared prediction error of each row, and moments of the scores of all."""

def limits_kernel_pca(
    model: Model,
    asked: tuple[float, str],
    reference: tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]] | None,
    fit: Rows | None,
    threads: int,
    progress: Progress = None,
) -> str:
    """As JSON: from a reference, from the samples of the fit by cross-validation, or from what the model holds."""

def contributions_kernel_pca(
    model: Model, x: Rows, statistic: str, baseline: Rows | None, threads: int, progress: Progress = None
) -> tuple[Dense, dict[str, Any]]:
    """Contributions of input columns; baselines, at_baseline, at_row, defect."""

def align_kernel_pca(
    model: Model, earlier: Model, x: Rows, near_tie: float, threads: int, progress: Progress = None
) -> tuple[Model, str]:
    """The model with its axes turned to those of the earlier one, and how as JSON."""

def choose_kernel_pca(
    x: Rows, classes: Classes, numbers: Numbers, settings: Settings, threads: int, progress: Progress = None
) -> str:
    """As JSON: by hidden entries, or by what can be learned from the scores when there are classes or numbers."""

def kernel_sensitivity(
    x: Rows,
    n_components: int,
    bandwidths: list[float],
    settings: Settings,
    threads: int,
    progress: Progress = None,
) -> str:
    """As JSON; no bandwidths stand for a grid around the median."""

def kernel_stability(
    x: Rows, n_components: int, resamples: int | None, settings: Settings, threads: int, progress: Progress = None
) -> str:
    """As JSON."""

def kernel_parallel_analysis(
    x: Rows,
    permutations: int | None,
    quantile: float | None,
    settings: Settings,
    threads: int,
    progress: Progress = None,
) -> str:
    """As JSON."""

def fit_pca(x: Rows, weights: Numbers, settings: Settings, threads: int, progress: Progress = None) -> Model: ...
def plan_pca(x: Rows, settings: Settings, threads: int) -> tuple[str, str]: ...
def fit_whitening(
    x: Rows,
    weights: Numbers,
    method: str,  # zca, pca, cholesky, zca-cor, pca-cor
    ridge: float,
    settings: Settings,  # n_components None: all directions with variance
    threads: int,
    progress: Progress = None,
) -> Model: ...
def fit_manifold(
    method: str, x: Rows, graph: Csr | None, settings: Settings, threads: int, progress: Progress = None
) -> Model: ...
def plan_manifold(method: str, x: Rows, settings: Settings, threads: int) -> tuple[str, str]: ...
def fit_kernel_cca(tables: list[Rows], settings: Settings, threads: int, progress: Progress = None) -> Model: ...
def plan_kernel_cca(tables: list[Rows], settings: Settings, threads: int) -> tuple[str, str]: ...
def kernel_cca_scores(model: Model, view: int, x: Rows, threads: int, progress: Progress = None) -> Dense:
    """Scores of rows of one table, counted from 0."""

def fit_kernel_discriminant(
    x: Rows,
    classes: NDArray[np.uint32],  # from 0
    settings: Settings,
    threads: int,
    progress: Progress = None,
) -> Model: ...
def plan_kernel_discriminant(
    x: Rows, classes: NDArray[np.uint32], settings: Settings, threads: int
) -> tuple[str, str]: ...
def kernel_discriminant_log_proba(
    model: Model, x: Rows, threads: int, progress: Progress = None
) -> NDArray[np.float64]:
    """Logarithms of the probabilities of the classes."""

def fit_kernel_k_means(x: Rows, settings: Settings, threads: int, progress: Progress = None) -> Model: ...
def plan_kernel_k_means(x: Rows, settings: Settings, threads: int) -> tuple[str, str]: ...
def kernel_k_means_plane(model: Model, x: Rows, threads: int, progress: Progress = None) -> Dense:
    """Scores of rows on two kernel principal components."""

def neighborhoods(
    x: Rows, embedding: NDArray[np.float64], n_neighbors: int, metric: str, threads: int
) -> tuple[float, float]:
    """Trustworthiness and continuity; the metric may be precomputed."""

def examine_isomap(x: Rows, settings: Settings, threads: int, progress: Progress = None) -> tuple[str, list[str]]:
    """What the doctor finds as JSON, and a sentence for each suspected edge."""

def mutual_information(
    x: Rows, classes: Classes, numbers: Numbers, settings: Settings, threads: int, progress: Progress = None
) -> str:
    """Value, error and p-values of each column as JSON."""

def select_features(
    x: Rows,
    classes: Classes,
    numbers: Numbers,
    folds: list[tuple[NDArray[np.int64], NDArray[np.int64]]],  # rows learned from, rows held out
    settings: Settings,
    checkpoint: str | None,  # a file to go on from and to keep steps in
    threads: int,
    progress: Progress = None,
) -> str:
    """By a filter or by our own scorers, as JSON."""

def search_features(
    judge: Callable[[list[list[int]]], list[list[float]]], settings: Settings, checkpoint: str | None
) -> str:
    """By what the judge says of sets of columns on each fold: steps, subsets, best, chosen and stopped as JSON."""

def project(
    x: Rows, center: NDArray[np.float64], axes: NDArray[np.float64], threads: int, progress: Progress = None
) -> Dense:
    """(x − center)·axesᵀ, axes one row each."""

def kernel_catalog() -> str:
    """The kernels, one entry each, as JSON."""

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

def centred_product(
    x: Rows, weights: Numbers, center: NDArray[np.float64], block: NDArray[np.float64], threads: int
) -> NDArray[np.float64]:
    """The sum of w(x - c)(x - c)^T·block over rows."""

def kernel_pair(
    kernel: str, x: Rows, y: Rows | None, vx: NDArray[np.float64], vy: Numbers, threads: int
) -> tuple[NDArray[np.float64], Numbers, NDArray[np.float64], Numbers, float]:
    """K(x, y)·vy, K(x, y)^T·vx, sums of rows and of columns, and of squares; without y the rows with themselves."""

def fit_pca_pieces(pieces: Pieces, settings: Settings, threads: int, progress: Progress = None) -> Model: ...
def plan_pca_pieces(pieces: Pieces, settings: Settings, threads: int) -> tuple[str, str]: ...
def fit_whitening_pieces(
    pieces: Pieces, method: str, ridge: float, settings: Settings, threads: int, progress: Progress = None
) -> Model: ...
def fit_kernel_pca_pieces(pieces: Pieces, settings: Settings, threads: int, progress: Progress = None) -> Model: ...
def plan_kernel_pca_pieces(pieces: Pieces, settings: Settings, threads: int) -> tuple[str, str]: ...
def certify_kernel_pca_pieces(model: Model, pieces: Pieces, threads: int, progress: Progress = None) -> Model: ...
def refine_kernel_pca_pieces(
    model: Model, pieces: Pieces, settings: Settings, threads: int, progress: Progress = None
) -> Model: ...
def pivots_pieces(
    kernel: str, pieces: Pieces, n: int, seed: int, threads: int, progress: Progress = None
) -> NDArray[np.int64]: ...
def stop_when(check: Callable[[], object] | None) -> Callable[[], object] | None:
    """Has long calls of this thread end when `check()` raises; None for no longer. Gives what was asked before."""
