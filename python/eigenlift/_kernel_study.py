"""How far kernel PCA hangs on its bandwidth, on its rows and on chance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils import check_array

from . import _native
from . import _parameters as parameters
from ._account import Account
from ._kernel_choose import described, seed_of
from ._progress import watching
from ._rows import native
from ._threads import thread_count

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ._kernel_base import Kernel
    from ._types import Progress, RandomState, Rows


class SensitivityReport(Account):
    """What `kernel_sensitivity` found; `print` gives it in words.

    Attributes
    ----------
    points : list of dict
        For each bandwidth, ascending: `bandwidth`, `kernel`, `ratio_to_median`, the `shares` of the variance that components hold,
        the `effective_rank`, the `mean_similarity` of rows, `angle_to_reference` and `angle_to_next` in degrees.
    reference, median : float
        The bandwidth of the kernel as it was given, and that of the median heuristic.
    plateau : list of float or None
        The bandwidths between which the subspace hardly turns, around the reference; None when there are none.
    parameter, n_components, n_rows
        The name of the bandwidth, the dimension of the subspaces, and the rows looked at.
    sentence, warnings
        What it says, and what to know before relying on it.
    """

    def __str__(self):
        lines = [f"{self.parameter:>12}  times median  effective rank  similarity  angle"]
        lines += [
            f"{point['bandwidth']:>12.4g}  {point['ratio_to_median']:>12.3g}  {point['effective_rank']:>14.1f}  "
            f"{point['mean_similarity']:>10.3f}  {point['angle_to_reference']:>4.0f}°"
            for point in self.points
        ]
        return "\n".join([*lines, self.sentence, *self.warnings])


class StabilityReport(Account):
    """What `kernel_stability` found; `print` gives it in words.

    Attributes
    ----------
    levels : list of dict
        For the first 1, 2, … components together: `n_components`, the `mean_angle` by which half samples turn them and the
        `high_angle` that nine in ten stay below, in degrees; the `variance` of the last of them, its mean over half samples and
        its `standard_error`.
    stable : int
        The largest number of components whose `high_angle` is below 30 degrees; 0 when there is none.
    kernel, resamples, n_rows
        The kernel, half samples, and rows looked at.
    sentence, warnings
        What it says, and what to know before relying on it.
    """

    def __str__(self):
        lines = ["components  mean angle  nine in ten below  variance of the last"]
        lines += [
            f"{level['n_components']:>10}  {level['mean_angle']:>9.1f}°  {level['high_angle']:>16.1f}°  "
            f"{level['variance']:.4g} ± {level['standard_error']:.2g}"
            for level in self.levels
        ]
        return "\n".join([*lines, self.sentence, *self.warnings])


class ParallelReport(Account):
    """What `kernel_parallel_analysis` found; `print` gives it in words.

    Attributes
    ----------
    eigenvalues : list of float
        Of the centred kernel matrix of the rows looked at, largest first.
    null, null_mean : list of float
        Quantile and mean of each eigenvalue when the entries of every column are shuffled.
    n_components : int
        Leading eigenvalues above that quantile.
    permutations, n_rows, kernel
        How often columns were shuffled, the rows looked at, and the kernel.
    sentence, warnings
        What it says, and what to know before relying on it.
    """

    def __str__(self):
        return "\n".join([self.sentence, *self.warnings])


def _study(asked, function, *own, report):
    """Checks what all studies are told, and studies."""
    parameters.integer(asked, "max_rows", 3, none=True)
    kernel = described(asked, asked.kernel)
    X = check_array(asked.X, accept_sparse="csr", dtype=[np.float64, np.float32], order="C", input_name="X")
    settings = {
        "kernel": kernel,
        "max_rows": None if asked.max_rows is None else int(asked.max_rows),
        "seed": seed_of(asked.random_state),
    }
    with watching(asked) as told:
        return report.from_json(function(native(X), *own, settings, thread_count(asked.n_jobs), told))


def kernel_sensitivity(
    X: Rows,
    n_components: int = 2,
    *,
    kernel: str | Kernel = "rbf(gamma=median)",
    bandwidths: ArrayLike | None = None,
    max_rows: int | None = None,
    random_state: RandomState = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    progress: Progress = None,
) -> SensitivityReport:
    """How the leading subspace of kernel PCA turns with the bandwidth, from one pass of distances.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Rows.
    n_components : int, default=2
        Dimension of the subspaces that are compared.
    kernel : str or Kernel, default="rbf(gamma=median)"
        A kernel of the distance, as the command line writes it; its bandwidth is what others are compared with.
    bandwidths : array-like of float, default=None
        Bandwidths to try; None stands for 13 around the median heuristic.
    max_rows : int, default=None
        Looks at so many rows at most; None stands for 1000.
    random_state : int, RandomState instance or None, default=None
        Of what is drawn. None stands for a fixed seed.
    n_jobs : int, default=None
        Threads. The result does not depend on it.
    verbose : int, default=0
        Above 0 a line of progress goes to the standard error stream.
    progress : callable, default=None
        Called with (stage, done, total), or a class of bars such as `tqdm.tqdm`.

    Returns
    -------
    SensitivityReport
        Print it.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from eigenlift import kernel_sensitivity
    >>> report = kernel_sensitivity(load_iris().data, n_components=2)
    >>> len(report.points), report.plateau is not None
    (13, True)
    """
    asked = parameters.of_function("kernel_sensitivity", locals())
    parameters.integer(asked, "n_components", 1)
    tried = [] if bandwidths is None else np.atleast_1d(np.asarray(bandwidths, dtype=np.float64)).tolist()
    return _study(asked, _native.kernel_sensitivity, int(n_components), tried, report=SensitivityReport)


def kernel_stability(
    X: Rows,
    n_components: int = 10,
    *,
    kernel: str | Kernel = "rbf(gamma=median)",
    resamples: int | None = None,
    max_rows: int | None = None,
    random_state: RandomState = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    progress: Progress = None,
) -> StabilityReport:
    """How the components of kernel PCA turn when half of the rows are drawn.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Rows.
    n_components : int, default=10
        Components looked at.
    kernel : str or Kernel, default="rbf(gamma=median)"
        As the command line writes it.
    resamples : int, default=None
        Half samples; None stands for 20.
    max_rows : int, default=None
        Looks at so many rows at most; None stands for 2000.
    random_state, n_jobs, verbose, progress
        As in `kernel_sensitivity`.

    Returns
    -------
    StabilityReport
        Print it.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from eigenlift import kernel_stability
    >>> report = kernel_stability(load_iris().data, n_components=3)
    >>> report.stable >= 1
    True
    """
    asked = parameters.of_function("kernel_stability", locals())
    parameters.integer(asked, "n_components", 1)
    parameters.integer(asked, "resamples", 1, none=True)
    resamples = None if resamples is None else int(resamples)
    return _study(asked, _native.kernel_stability, int(n_components), resamples, report=StabilityReport)


def kernel_parallel_analysis(
    X: Rows,
    *,
    kernel: str | Kernel = "rbf(gamma=median)",
    permutations: int | None = None,
    quantile: float | None = None,
    max_rows: int | None = None,
    random_state: RandomState = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    progress: Progress = None,
) -> ParallelReport:
    """How many eigenvalues of the centred kernel matrix are larger than unrelated columns give.

    A rule about structure, not about denoising, for which `choose_kernel_pca` is.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Rows.
    kernel : str or Kernel, default="rbf(gamma=median)"
        As the command line writes it.
    permutations : int, default=None
        How often the entries of every column are shuffled; None stands for 20.
    quantile : float, default=None
        Of the eigenvalues of shuffled rows that one must exceed; None stands for 0.95.
    max_rows : int, default=None
        Looks at so many rows at most; None stands for 1000.
    random_state, n_jobs, verbose, progress
        As in `kernel_sensitivity`.

    Returns
    -------
    ParallelReport
        Print it.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from eigenlift import kernel_parallel_analysis
    >>> report = kernel_parallel_analysis(load_iris().data)
    >>> report.n_components >= 1
    True
    """
    asked = parameters.of_function("kernel_parallel_analysis", locals())
    parameters.integer(asked, "permutations", 1, none=True)
    parameters.real(asked, "quantile", 0, none=True)
    permutations = None if permutations is None else int(permutations)
    quantile = None if quantile is None else float(quantile)
    return _study(asked, _native.kernel_parallel_analysis, permutations, quantile, report=ParallelReport)
