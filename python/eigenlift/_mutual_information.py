"""Mutual information of columns and labels."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils import check_array, check_random_state, check_X_y
from sklearn.utils.multiclass import check_classification_targets

from . import _native
from . import _parameters as parameters
from ._errors import EigenliftError
from ._kernel_choose import seed_of
from ._progress import watching
from ._rows import native
from ._selection import is_word, labels_of
from ._threads import thread_count

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ._types import Progress, RandomState, Rows


class InformationReport(NamedTuple):
    """What `mutual_information` found; `print` gives a table, the largest first.

    Attributes
    ----------
    values : ndarray of shape (n_features,)
        Mutual information with the labels in nats.
    errors : ndarray of shape (n_features,)
        Its standard errors: from disjoint groups of rows for nearest neighbors, by the jackknife for counts.
    p_values : ndarray of shape (n_features,) or None
        With permutations: the probability of such a value or a larger one where column and labels have nothing to do with each
        other.
    family_p_values : ndarray of shape (n_features,) or None
        The same for the largest value of all columns: these hold for all columns together.
    names : list of str
        Of the columns.
    """

    values: NDArray[np.float64]
    errors: NDArray[np.float64]
    p_values: NDArray[np.float64] | None
    family_p_values: NDArray[np.float64] | None
    names: list[str]

    def __str__(self):
        width = max([len(name) for name in self.names], default=0)
        lines = []
        for at in np.argsort(-self.values, kind="stable"):
            line = f"{self.names[at]:>{width}}  {self.values[at]:.4f} ± {self.errors[at]:.4f}"
            if self.p_values is not None:
                line += f"  p {self.p_values[at]:.3g}, of all {self.family_p_values[at]:.3g}"
            lines.append(line)
        return "\n".join(lines)


def column_names(X: Any) -> list[str]:
    """Names of the columns of a table; none where it has none."""
    names = getattr(X, "columns", None)
    return [] if names is None else [str(name) for name in names]


def discrete_mask(discrete_features: bool | ArrayLike, n_features: int) -> NDArray[np.bool_]:
    """Which columns are discrete, from True or False for all, a mask or numbers of columns."""
    if isinstance(discrete_features, (bool, np.bool_)):
        return np.full(n_features, bool(discrete_features))
    if isinstance(discrete_features, str):
        raise EigenliftError(
            f"Invalid string value for discrete_features: {discrete_features!r}. Give 'auto', True, False, a mask or columns."
        )
    given = check_array(discrete_features, ensure_2d=False)
    if given.dtype != bool:
        mask = np.zeros(n_features, dtype=bool)
        mask[given] = True
        return mask
    if given.shape != (n_features,):
        raise IndexError(
            f"discrete_features is a mask of shape {given.shape}; ({n_features},) is required. Give as many."
        )
    return given


def _as_scikit_learn(asked, discrete_target):
    """Checks and estimates as scikit-learn's functions do, less the noise."""
    parameters.integer(asked, "n_neighbors", 1)
    parameters.boolean(asked, "copy")
    if isinstance(asked.discrete_features, str) and asked.discrete_features != "auto":
        discrete_mask(asked.discrete_features, 0)
    check_random_state(asked.random_state)
    names = column_names(asked.X)
    # Entries that are missing are counted by the compiled part.
    X, y = check_X_y(
        asked.X,
        asked.y,
        accept_sparse="csr",
        dtype=[np.float64, np.float32],
        order="C",
        ensure_all_finite=False,
        y_numeric=not discrete_target,
    )
    dense = not sparse.issparse(X)
    mask = discrete_mask(not dense if is_word(asked.discrete_features, "auto") else asked.discrete_features, X.shape[1])
    if not dense and not mask.all():
        raise EigenliftError("Sparse matrix `X` can't have continuous features.")
    classes, numbers = labels_of(y, discrete_target)
    settings = _settings(asked, mask) | {"column_names": names}
    found = _native.mutual_information(native(X), classes, numbers, settings, thread_count(asked.n_jobs), None)
    return np.array([score["value"] for score in json.loads(found)], dtype=np.float64)


def _settings(asked, mask):
    """Settings for the compiled part; a mask of None leaves it to the look of the columns."""
    return {
        "n_neighbors": int(asked.n_neighbors),
        "corrected": False,
        "discrete": None if mask is None else mask.tolist(),
        "permutations": 0,
        "seed": 0,
    }


def mutual_info_classif(
    X: Rows,
    y: ArrayLike,
    *,
    discrete_features: str | bool | ArrayLike = "auto",
    n_neighbors: int = 3,
    copy: bool = True,
    random_state: RandomState = None,
    n_jobs: int | None = None,
) -> NDArray[np.float64]:
    """Mutual information of each column and classes, in nats: scikit-learn's function, faster and without noise.

    No noise is added to tell equal values apart: ties are counted as such, so that the result never exceeds the entropy of
    either variable and does not hang on chance. Without ties it is scikit-learn's number.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Columns. A sparse matrix holds discrete ones.
    y : array-like of shape (n_samples,)
        Classes.
    discrete_features : "auto", bool or array-like, default="auto"
        Which columns are discrete: all or none, a mask, or numbers of columns. "auto" stands for none of a dense X and all of a
        sparse one.
    n_neighbors : int, default=3
        Neighbours that densities of continuous columns are estimated from.
    copy, random_state
        Without effect; scikit-learn's function has them for its noise.
    n_jobs : int, default=None
        Threads. The result does not depend on it.

    Returns
    -------
    ndarray of shape (n_features,)
        In double precision.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.feature_selection import SelectKBest
    >>> from eigenlift import mutual_info_classif
    >>> X, y = load_iris(return_X_y=True)
    >>> mutual_info_classif(X, y)[2:].round(1)
    array([1., 1.])
    >>> SelectKBest(mutual_info_classif, k=2).fit(X, y).get_support(indices=True)
    array([2, 3])
    """
    check_classification_targets(y)
    return _as_scikit_learn(parameters.of_function("mutual_info_classif", locals()), True)


def mutual_info_regression(
    X: Rows,
    y: ArrayLike,
    *,
    discrete_features: str | bool | ArrayLike = "auto",
    n_neighbors: int = 3,
    copy: bool = True,
    random_state: RandomState = None,
    n_jobs: int | None = None,
) -> NDArray[np.float64]:
    """Mutual information of each column and a number, in nats: scikit-learn's function, faster and without noise.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Columns. A sparse matrix holds discrete ones.
    y : array-like of shape (n_samples,)
        Numbers.
    discrete_features, n_neighbors, copy, random_state, n_jobs
        As in `mutual_info_classif`.

    Returns
    -------
    ndarray of shape (n_features,)
        In double precision.

    Examples
    --------
    >>> from sklearn.datasets import make_regression
    >>> from eigenlift import mutual_info_regression
    >>> X, y = make_regression(n_samples=50, n_features=3, n_informative=1, noise=1e-4, random_state=42)
    >>> mutual_info_regression(X, y).round(2)
    array([0.12, 2.65, 0.03])
    """
    return _as_scikit_learn(parameters.of_function("mutual_info_regression", locals()), False)


def mutual_information(
    X: Rows,
    y: ArrayLike,
    *,
    discrete_features: str | bool | ArrayLike = "auto",
    discrete_target: str | bool = "auto",
    n_neighbors: int = 3,
    corrected: bool = False,
    permutations: int = 0,
    random_state: RandomState = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    progress: Progress = None,
) -> InformationReport:
    """Mutual information of each column and the labels with standard errors, and with p-values by permutation.

    Two discrete variables are counted, a discrete and a continuous one compared by Ross's estimator, two continuous ones by that
    of Kraskov, Stögbauer and Grassberger. The result never exceeds the entropy of either.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Columns.
    y : array-like of shape (n_samples,)
        Classes or numbers.
    discrete_features : "auto", bool or array-like, default="auto"
        Which columns are discrete: all or none, a mask, or numbers of columns. "auto" takes whole numbers of at most 32 values,
        and of at most a fifth as many as there are rows, for discrete.
    discrete_target : "auto" or bool, default="auto"
        Whether y is discrete. "auto" takes texts, integers and truth values for classes, and floats as it takes columns.
    n_neighbors : int, default=3
        Neighbours that densities of continuous columns are estimated from.
    corrected : bool, default=False
        Corrects counts of discrete variables for their bias, after Miller and Madow.
    permutations : int, default=0
        How often y is shuffled for p-values; 0 gives none.
    random_state : int, RandomState instance or None, default=None
        Of the permutations. None stands for a fixed seed.
    n_jobs : int, default=None
        Threads. The result does not depend on it.
    verbose : int, default=0
        Above 0 a line of progress goes to the standard error stream.
    progress : callable, default=None
        Called with (stage, done, total), or a class of bars such as `tqdm.tqdm`.

    Returns
    -------
    InformationReport
        Print it.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from eigenlift import mutual_information
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> report = mutual_information(X, y, permutations=99)
    >>> report.names[report.values.argmax()]
    'flavanoids'
    >>> bool((report.family_p_values >= report.p_values).all())
    True
    """
    asked = parameters.of_function("mutual_information", locals())
    parameters.integer(asked, "n_neighbors", 1)
    parameters.integer(asked, "permutations", 0)
    parameters.boolean(asked, "corrected")
    if not is_word(discrete_target, "auto"):
        parameters.boolean(asked, "discrete_target")
    names = column_names(X)
    X, y = check_X_y(X, y, accept_sparse="csr", dtype=[np.float64, np.float32], order="C", ensure_all_finite=False)
    mask = None if is_word(discrete_features, "auto") else discrete_mask(discrete_features, X.shape[1])
    classes, numbers = labels_of(y, None if is_word(discrete_target, "auto") else bool(discrete_target))
    settings = _settings(asked, mask) | {
        "corrected": bool(corrected),
        "permutations": int(permutations),
        "seed": seed_of(random_state),
        "column_names": names,
    }
    with watching(asked) as told:
        found = _native.mutual_information(native(X), classes, numbers, settings, thread_count(n_jobs), told)
    return InformationReport(**scores_by_name(found), names=names or [f"x{i}" for i in range(X.shape[1])])


def scores_by_name(found: str | list[dict[str, Any]]) -> dict[str, NDArray[np.float64] | None]:
    """Values, errors and p-values of features as arrays; None where there are none."""
    scores = json.loads(found) if isinstance(found, str) else found
    columns = {"values": "value", "errors": "error", "p_values": "p_value", "family_p_values": "family_p_value"}
    return {
        name: None
        if any(score[key] is None for score in scores)
        else np.array([score[key] for score in scores], dtype=np.float64)
        for name, key in columns.items()
    }
