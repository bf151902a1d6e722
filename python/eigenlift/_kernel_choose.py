"""Which kernel, which bandwidth and how many components: by predicting entries that were hidden, or by labels."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils import check_array, check_random_state, column_or_1d
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_consistent_length

from . import _native
from . import _parameters as parameters
from ._account import Account
from ._kernel_base import CATALOG, OF_DISTANCE, Kernel
from ._progress import watching
from ._rows import native
from ._threads import thread_count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from ._kernel_pca import KernelPCA
    from ._types import Progress, RandomState, Rows


def _open_bandwidth(name):
    """The description of a kernel of the distance whose bandwidth is to be chosen."""
    bandwidth = next(row["name"] for row in CATALOG[name]["params"] if row["role"])
    return f"{name}({bandwidth}=auto)"


# A name alone leaves its bandwidth to be chosen.
_OPEN = {word: _open_bandwidth(name) for name in OF_DISTANCE for word in (name, *CATALOG[name]["aliases"])}


class KernelChoice(Account):
    """A kernel and a number of components that were chosen, and on what grounds; `print` gives the sentence.

    Attributes
    ----------
    criterion : str
        What was compared: "masked error", or with labels "accuracy knn", "accuracy ridge", "R2 knn" or "R2 ridge".
    points : list of dict
        All that was tried, bandwidth by bandwidth: `kernel`, `bandwidth`, `n_components`, `error` (small is good), `spread`, the
        standard error of it, and `n_masks`. `pandas.DataFrame(choice.points)` makes a table.
    chosen : int
        Which of the points.
    near : list of int
        Points that do as well within one standard error: the uncertainty.
    kernel : str
        The kernel chosen, with every number known.
    n_components : int
        The number of components chosen.
    gamma_range : tuple of float or None
        The smallest and the largest bandwidth among `near`.
    k_range : tuple of int
        The smallest and the largest number of components among `near`.
    median : float or None
        The bandwidth of the median heuristic.
    baseline : float
        The error without any component.
    n_rows, n_masks : int
        Rows looked at, and masks of each.
    stands_out : bool
        Whether the choice predicts better than no component at all. Where it does not, no component stands out from noise,
        and the fewest components that do as well are chosen.
    sentence : str
        The result in plain words.
    warnings : list of str
        What to know before relying on it.
    """

    @classmethod
    def from_json(cls, text: str, words: str | None = None) -> Self:
        values = json.loads(text)
        point = values["points"][values["chosen"]]
        values |= {"kernel": point["kernel"], "n_components": point["n_components"]}
        for name in ("gamma_range", "k_range"):
            values[name] = None if values[name] is None else tuple(values[name])
        return cls(values, words)

    @property
    def bandwidth(self) -> float | None:
        """The bandwidth chosen, in the notation of the kernel; None for one without."""
        return self._values["points"][self._values["chosen"]]["bandwidth"]

    def estimator(self, **parameters: Any) -> KernelPCA:
        """An unfitted `KernelPCA` with what was chosen.

        Parameters
        ----------
        **parameters
            Further parameters of `KernelPCA`.

        Returns
        -------
        KernelPCA
        """
        from ._kernel_pca import KernelPCA

        return KernelPCA(n_components=self._values["n_components"], kernel=self._values["kernel"], **parameters)

    def __str__(self):
        return self._values["sentence"]

    def __repr__(self):
        known = self._values
        return (
            f"KernelChoice(kernel={known['kernel']!r}, n_components={known['n_components']}, criterion={known['criterion']!r}, "
            f"{len(known['points'])} points)"
        )


def seed_of(random_state: RandomState) -> int:
    """A seed for the compiled part; None gives 0, so that results repeat."""
    return 0 if random_state is None else int(check_random_state(random_state).randint(2**31 - 1))


def described(asked: Any, kernel: object) -> str:
    """A kernel as the command line writes it."""
    if isinstance(kernel, Kernel):
        return str(kernel)
    if isinstance(kernel, str):
        return kernel
    parameters.refuse(asked, "kernel", "a description such as 'rbf(gamma=median)' or a kernel of eigenlift.kernels")


def _kernels(asked):
    """Descriptions of the kernels that are compared."""
    several = isinstance(asked.kernel, (list, tuple))
    given = [described(asked, kernel) for kernel in (asked.kernel if several else [asked.kernel])]
    if not given:
        parameters.refuse(asked, "kernel", "at least one kernel")
    return [_OPEN.get(text.strip(), text) for text in given]


def _mask(asked):
    """The word and the numbers of a mask."""
    mask = asked.mask
    if isinstance(mask, str) and mask == "entries":
        return mask, []
    if isinstance(mask, (list, tuple)) and len(mask) == 2:
        word, shape = mask
        shape = list(shape) if isinstance(shape, (list, tuple)) else [shape]
        wanted = {"blocks": 1, "image": 2}.get(word) if isinstance(word, str) else None
        if len(shape) == wanted and all(parameters.is_integer(size) and size > 0 for size in shape):
            return word, [int(size) for size in shape]
    parameters.refuse(asked, "mask", "'entries', ('blocks', length) or ('image', (height, width))")


def _labels(asked, X):
    """Classes or numbers; the other is None."""
    if asked.y is None:
        return None, None
    y = column_or_1d(asked.y)
    check_consistent_length(X, y)
    task = asked.task or (
        "regression" if type_of_target(y, input_name="y").startswith("continuous") else "classification"
    )
    if task == "classification":
        return np.unique(y, return_inverse=True)[1].astype(np.int64), None
    return None, check_array(y, ensure_2d=False, dtype=np.float64, order="C", input_name="y")


def choose_kernel_pca(
    X: Rows,
    y: ArrayLike | None = None,
    *,
    kernel: str | Kernel | Sequence[str | Kernel] = "rbf",
    n_components: int | None = None,
    most_components: int | None = None,
    mask: str | tuple[str, int] | tuple[str, tuple[int, int]] = "entries",
    task: str | None = None,
    scorer: str = "best",
    max_rows: int | None = None,
    random_state: RandomState = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    progress: Progress = None,
) -> KernelChoice:
    """Chooses the bandwidth and the number of components of kernel PCA.

    Without y some entries of each row are hidden, and kernel PCA of other rows predicts them from the rest of the row: the
    bandwidth that does so best is taken, with the largest number of components that does as well. With y it is what nearest
    neighbours or ridge regression learn from the scores that decides. Both are cross-validated over five parts of the rows.
    `KernelPCA(n_components="auto", kernel="auto")` does the same in its fit.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Rows.
    y : array-like of shape (n_samples,), default=None
        Classes or numbers that the scores are to predict.
    kernel : str, Kernel or list of these, default="rbf"
        A description as on the command line, with `auto` for what is to be chosen: `"rbf(gamma=auto)"`. The names "rbf",
        "exponential", "matern" and "rational_quadratic" alone leave their bandwidth to be chosen. Of a list the best is taken;
        "auto" compares "linear" and "rbf".
    n_components : int, default=None
        Keeps this number of components and chooses the bandwidth alone.
    most_components : int, default=None
        Tries at most so many; None stands for 256.
    mask : "entries", ("blocks", length) or ("image", (height, width)), default="entries"
        What is hidden together: single entries, runs of columns of a series, or squares of an image whose lines are stored one
        after another. As large as errors reach from column to column.
    task : {"classification", "regression"}, default=None
        What y is for; None takes numbers that are not whole for regression.
    scorer : {"best", "knn", "ridge"}, default="best"
        What learns y from the scores: nearest neighbours, ridge regression, or the better of both.
    max_rows : int, default=None
        Looks at so many rows at most; None stands for 600.
    random_state : int, RandomState instance or None, default=None
        Of rows, parts and masks. None stands for a fixed seed.
    n_jobs : int, default=None
        Threads. The result does not depend on it.
    verbose : int, default=0
        Above 0 a line of progress goes to the standard error stream.
    progress : callable, default=None
        Called with (stage, done, total), or a class of bars such as `tqdm.tqdm`.

    Returns
    -------
    KernelChoice
        With `kernel`, `n_components`, `points`, `near`, `sentence` and more; print it, or go on with `estimator()`.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenlift import choose_kernel_pca
    >>> random = np.random.default_rng(0)
    >>> angles = random.uniform(0, 2 * np.pi, 200)
    >>> X = np.c_[np.cos(angles), np.sin(angles), np.cos(2 * angles), np.sin(2 * angles)]
    >>> X += 0.1 * random.normal(size=X.shape)
    >>> choice = choose_kernel_pca(X)
    >>> choice.criterion, choice.kernel.startswith("rbf(gamma=")
    ('masked error', True)
    >>> denoised = choice.estimator().fit(X).denoise(X)
    """
    asked = parameters.of_function("choose_kernel_pca", locals())
    parameters.integer(asked, "n_components", 1, none=True)
    parameters.integer(asked, "most_components", 1, none=True)
    parameters.integer(asked, "max_rows", 1, none=True)
    parameters.choice(asked, "task", {"classification", "regression"}, none=True)
    parameters.choice(asked, "scorer", {"best", "knn", "ridge"})
    word, shape = _mask(asked)
    kernels = _kernels(asked)
    X = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32], order="C", input_name="X")
    classes, numbers = _labels(asked, X)
    settings = {
        "kernels": kernels,
        "n_components": None if n_components is None else int(n_components),
        "most_components": None if most_components is None else int(most_components),
        "mask": word,
        "mask_shape": shape,
        "scorer": scorer,
        "seed": seed_of(random_state),
        "max_rows": None if max_rows is None else int(max_rows),
    }
    with watching(asked) as told:
        found = _native.choose_kernel_pca(native(X), classes, numbers, settings, thread_count(n_jobs), told)
    return KernelChoice.from_json(found)
