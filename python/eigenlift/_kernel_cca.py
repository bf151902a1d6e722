"""Kernel canonical correlation analysis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self, overload

import numpy as np
from sklearn.utils import check_array, check_consistent_length
from sklearn.utils.validation import check_is_fitted

from . import _native
from . import _parameters as parameters
from ._account import Account, Plan
from ._errors import EigenliftError
from ._kernelised import Kernelised
from ._rows import native

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ._types import Array, KernelLike, Progress, RandomState, Rows

# Names of the tables in messages, and of their columns where some tables have names and others have not.
_TABLES = ("X", "y")


def correlations_between(scores: Sequence[NDArray[np.floating]]) -> NDArray[np.float64]:
    """Correlation of each component, mean over pairs of tables; 0 where scores do not vary."""
    centred = [np.asarray(table, dtype=np.float64) - np.mean(table, axis=0, dtype=np.float64) for table in scores]
    lengths = [np.sqrt(np.sum(table**2, axis=0)) for table in centred]
    pairs = []
    for a in range(len(centred)):
        for b in range(a + 1, len(centred)):
            products = np.sum(centred[a] * centred[b], axis=0)
            both = lengths[a] * lengths[b]
            pairs.append(np.divide(products, both, out=np.zeros_like(products), where=both > 0))
    return np.mean(pairs, axis=0)


class KernelCCA(Kernelised):
    """Canonical correlation analysis of two or more tables about the same rows, each with a kernel of its own.

    Finds functions of the rows of each table whose values correlate as much as possible across the tables. With the linear
    kernel and `regularization=0` this is canonical correlation analysis. Exact up to 1000 rows and for kernels with few explicit
    features, on landmarks beyond; the rows are read once for the regularisation, the correlations on held-out rows and the
    result.

    Parameters
    ----------
    n_components : int, default=2
        Components kept. There are at most as many as the table with fewest directions has; fewer come with a warning.
    kernel : str, Kernel, callable, or a list of these, default="linear"
        As in `KernelPCA`, less `"auto"`; a list has one for each table. With `"precomputed"` each table is its kernel matrix.
    gamma, degree, coef0, kernel_params
        As in `KernelPCA`, for all tables whose kernel takes them. Write numbers that differ into the kernels, as in
        `["rbf(gamma=0.5)", "rbf(gamma=2)"]`.
    regularization : float or "auto", default="auto"
        κ, added to the variances of each table in its feature space. "auto" chooses a share of the variance of each table, the
        same share for all, by the correlations on held-out rows. 0 is refused where it makes every correlation 1 whatever the
        data.
    folds : int, default=5
        Folds of rows that are held out in turn; fewer where there are not 3 rows for each. `regularization="auto"` needs at
        least 3.
    n_permutations : int, default=0
        Permutations of rows for `p_values_`; 0 for none.
    rank : int or "exact", default=None
        Landmarks or features of each table. None stands for all rows up to 1000 of them and for 1000 landmarks beyond; "exact"
        makes every row a landmark.
    error : float, default=None
        In place of `rank`: as many landmarks as it takes until this share of the trace is left out.
    approximation : {"pivoted", "uniform", "kmeans", "fourier", "tensorsketch"}, default=None
        Where landmarks or features come from. None stands for pivoted.
    random_state : int, RandomState instance or None, default=None
        Of landmarks, folds and permutations. None stands for a fixed seed.
    n_jobs : int, default=None
        Threads, as in `KernelPCA`. The result does not depend on it.
    memory : int or str, default=None
        Bytes that the fit may use beside the tables, such as `"2GB"`. None stands for most of what is free.
    verbose : int, default=0
        Above 0 a line of progress goes to the standard error stream.
    progress : callable, default=None
        Called with (stage, done, total) a few times a second, or a class of bars such as `tqdm.tqdm`.

    Attributes
    ----------
    correlations_ : ndarray of shape (n_components,)
        What the components make as large as possible: correlations with κ in the denominators, largest first. For more than two
        tables the mean over pairs.
    training_correlations_ : ndarray of shape (n_components,)
        Plain correlations of the scores of the fit. Optimistic.
    held_out_correlations_, held_out_errors_ : ndarray of shape (n_components,)
        The same on held-out rows, mean and standard error over folds; empty when there were too few rows. With
        `regularization="auto"` by nested cross-validation: κ is chosen on the other folds, so that the mean is unbiased.
    regularization_ : ndarray of shape (n_views,)
        κ of each table.
    regularization_curve_ : Account or None
        With "auto": `shares` of the variance that were tried, as `scores` the sum of the correlations on held-out rows, mean over
        folds, its `errors`, and which was `chosen`.
    p_values_ : ndarray of shape (n_components,) or None
        Share of permutations, the rows as they are counted as one, whose largest correlation reaches that of the component.
    tested_correlations_ : array or None
        Regularised correlations of the rows in their own order, which permutations are compared with. Where κ is chosen this
        is done at one hundredth of the variance, since a κ chosen by these rows would favour them.
    null_95_ : float or None
        95 % of permutations have a largest correlation up to this.
    scores_ : list of ndarray of shape (n_samples, n_components)
        Scores of the rows of the fit, one array for each table; a loaded model does not have them.
    x_scores_, y_scores_ : ndarray of shape (n_samples, n_components)
        The first two of these.
    left_out_ : list of float or None
        What landmarks or features leave out of each kernel; None where they are exact.
    n_views_ : int
        Tables.
    kernels_ : list of str
        Their kernels with every number known.
    plan_ : Plan
        What was decided and why; print it.
    n_features_in_, feature_names_in_
        As in scikit-learn, of X.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenlift import KernelCCA
    >>> rng = np.random.default_rng(0)
    >>> t = rng.uniform(-1, 1, size=300)
    >>> X = np.c_[t, rng.normal(size=300)] + 0.05 * rng.normal(size=(300, 2))
    >>> Y = np.c_[t**2, rng.normal(size=300)] + 0.05 * rng.normal(size=(300, 2))
    >>> linear = KernelCCA(n_components=1).fit(X, Y)
    >>> curved = KernelCCA(n_components=1, kernel="rbf", gamma=0.5).fit(X, Y)
    >>> bool(linear.held_out_correlations_[0] < 0.3 < 0.9 < curved.held_out_correlations_[0])
    True
    >>> u, v = curved.transform(X, Y)
    >>> u.shape, v.shape
    ((300, 1), (300, 1))
    """

    correlations_: NDArray[np.float64]
    training_correlations_: NDArray[np.float64]
    held_out_correlations_: NDArray[np.float64]
    held_out_errors_: NDArray[np.float64]
    regularization_: NDArray[np.float64]
    regularization_curve_: Account | None
    p_values_: NDArray[np.float64] | None
    null_95_: float | None
    tested_correlations_: NDArray[np.float64] | None
    scores_: list[Array]
    left_out_: list[float | None]
    n_views_: int
    kernels_: list[str]
    plan_: Plan

    _method = "kcca"

    def __init__(
        self,
        n_components: int = 2,
        *,
        kernel: KernelLike | Sequence[KernelLike] = "linear",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        regularization: float | str = "auto",
        folds: int = 5,
        n_permutations: int = 0,
        rank: int | str | None = None,
        error: float | None = None,
        approximation: str | None = None,
        random_state: RandomState = None,
        n_jobs: int | None = None,
        memory: int | str | None = None,
        verbose: int = 0,
        progress: Progress = None,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.regularization = regularization
        self.folds = folds
        self.n_permutations = n_permutations
        self.rank = rank
        self.error = error
        self.approximation = approximation
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.memory = memory
        self.verbose = verbose
        self.progress = progress

    def plan(self, X: Rows, y: Rows, *views: Rows) -> Plan:
        """What `fit` would do with these tables, without doing it.

        Parameters
        ----------
        X, y, *views
            As in `fit`.

        Returns
        -------
        Plan
        """
        twin = type(self)(**self.get_params(deep=False))
        settings, tables = twin._prepared(X, y, views)
        return Plan.from_json(*_native.plan_kernel_cca(tables, settings, self._threads()))

    def fit(self, X: Rows, y: Rows, *views: Rows) -> Self:
        """Finds the components of the tables.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The first table.
        y : {array-like, sparse matrix} of shape (n_samples,) or (n_samples, n_targets)
            The second; one number for each row is a table of one column.
        *views : {array-like, sparse matrix} of shape (n_samples, n_columns)
            Further tables.

        Returns
        -------
        self
        """
        settings, tables = self._prepared(X, y, views)
        model = self._run(_native.fit_kernel_cca, tables, settings)
        self._settle(model)
        self.scores_ = [self._run(_native.kernel_cca_scores, model, place, table) for place, table in enumerate(tables)]
        return self

    def _prepared(self, X, y, views):
        """Settings and tables for the compiled part."""
        parameters.integer(self, "n_components", 1)
        parameters.integer(self, "n_permutations", 0)
        self._check_held_back()
        self._check_factor()
        if y is None:
            raise EigenliftError(
                f"{type(self).__name__} requires y to be passed, but the target y is None: correlations are between two tables. "
                "Give the second table as y."
            )
        given = (X, y, *views)
        rows = [self._rows(X, reset=True, min_samples=2)]
        rows += [self._table(table, place + 1, reset=True) for place, table in enumerate(given[1:])]
        check_consistent_length(*rows)
        self._widths = [table.shape[1] for table in rows]
        kernels = list(self.kernel) if isinstance(self.kernel, (list, tuple)) else [self.kernel] * len(rows)
        if len(kernels) != len(rows):
            raise EigenliftError(
                f"{len(kernels)} kernels for {len(rows)} tables; there must be one for all or one for each. Give as many."
            )
        self._sides = [self._side(kernel, width) for kernel, width in zip(kernels, self._widths)]
        tables = [side.fitted(*table, self._threads()) for side, *table in zip(self._sides, rows, given)]
        settings = {
            "n_components": int(self.n_components),
            "features": self._feature_settings(),
            "n_permutations": int(self.n_permutations),
            "column_names": self._names_of(given, [table.shape[1] for table in tables]),
            **self._regularized(),
        }
        return settings, [native(table) for table in tables]

    def _table(self, Y, place, *, reset=False):
        """A table after the first, as C-ordered rows; of as many columns as in the fit."""
        name = _TABLES[place] if place < len(_TABLES) else f"table {place + 1}"
        Y = check_array(
            Y,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            order="C",
            ensure_2d=False,
            input_name=name,
            estimator=self,
        )
        Y = Y.reshape(-1, 1) if Y.ndim == 1 else Y
        if not reset and Y.shape[1] != self._widths[place]:
            raise EigenliftError(
                f"{name} has {Y.shape[1]} features, but {type(self).__name__} is expecting {self._widths[place]} features as input."
            )
        return Y

    @staticmethod
    def _names_of(given, widths):
        """Names of the columns of each table, made up where only some have them; none where none has."""
        found = []
        for table, width in zip(given, widths):
            names = getattr(table, "column_names", getattr(table, "columns", None))
            names = [str(name) for name in names] if names is not None and not callable(names) else []
            found.append(names if len(names) == width else [])
        if not any(found):
            return []
        letters = ["x", "y", *(f"view{place + 1}_" for place in range(2, len(found)))]
        return [
            names or [f"{letter}{j + 1}" for j in range(width)] for names, letter, width in zip(found, letters, widths)
        ]

    def _take(self, model):
        """Makes the model this estimator's."""
        facts = self._keep(model)
        self.n_views_ = len(facts.widths)
        self.correlations_ = np.array(facts.correlations)
        self.training_correlations_ = np.array(facts.training_correlations)
        self.held_out_correlations_ = np.array(facts.held_out_correlations)
        self.held_out_errors_ = np.array(facts.held_out_errors)
        self.regularization_ = np.array(facts.regularization)
        curve, significance = facts["curve"], facts["significance"]
        self.regularization_curve_ = None if curve is None else Account(curve)
        self.p_values_ = None if significance is None else np.array(significance["p_values"])
        self.null_95_ = None if significance is None else significance["null_95"]
        self.tested_correlations_ = None if significance is None else np.array(significance["correlations"])
        self.left_out_ = facts.left_out
        self.kernels_ = [
            view["kernel"] if side.choice.text else str(side.choice.kernel)
            for view, side in zip(self.plan_.views, self._sides)
        ]
        self._n_features_out = len(self.correlations_)

    @property
    def x_scores_(self) -> Array:
        """Scores of the rows of X that it was fitted on."""
        return self.scores_[0]

    @property
    def y_scores_(self) -> Array:
        """Scores of the rows of y that it was fitted on."""
        return self.scores_[1]

    def fit_transform(self, X: Rows, y: Rows, *views: Rows) -> Array:
        """Finds the components of the tables and returns the scores of X; those of all tables are in `scores_`.

        Parameters
        ----------
        X, y, *views
            As in `fit`.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
        """
        return self.fit(X, y, *views).scores_[0]

    @overload
    def transform(self, X: Rows, y: None = None) -> Array: ...
    @overload
    def transform(self, X: Rows, y: Rows, *views: Rows) -> tuple[Array, ...]: ...
    def transform(self, X: Rows, y: Rows | None = None, *views: Rows) -> Array | tuple[Array, ...]:
        """Scores of rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows of the first table; their kernel values with the rows of the fit when the kernel is precomputed.
        y : {array-like, sparse matrix} of shape (n_samples,) or (n_samples, n_targets), default=None
            Rows of the second table.
        *views : {array-like, sparse matrix} of shape (n_samples, n_columns)
            Rows of further tables.

        Returns
        -------
        ndarray of shape (n_samples, n_components), or a tuple of them
            The scores of X alone, or of X, y and further tables when they are given.
        """
        check_is_fitted(self)
        if y is None and views:
            raise EigenliftError("Further tables without y: tables are known by their place. Give y too.")
        if len(views) > self.n_views_ - 2:
            raise EigenliftError(
                f"{len(views) + 2} tables, but {type(self).__name__} was fitted on {self.n_views_}. Give at most as many."
            )
        scores = [self._scores(self._rows(X, reset=False), 0)]
        further = () if y is None else (y, *views)
        scores += [self._scores(self._table(table, place + 1), place + 1) for place, table in enumerate(further)]
        return tuple(scores) if further else scores[0]

    def _scores(self, X, place):
        return self._run(
            _native.kernel_cca_scores, self._model, place, self._compared(X, place, self.plan_.views[place])
        )

    def correlations(self, X: Rows, y: Rows, *views: Rows) -> NDArray[np.float64]:
        """Plain correlations of the scores of these rows.

        Parameters
        ----------
        X, y, *views
            As in `fit`, all tables.

        Returns
        -------
        ndarray of shape (n_components,)
            For more than two tables the mean over pairs; 0 where scores do not vary.
        """
        check_is_fitted(self)
        if len(views) + 2 != self.n_views_:
            raise EigenliftError(
                f"{len(views) + 2} tables, but {type(self).__name__} was fitted on {self.n_views_}. Give as many."
            )
        rows = [self._rows(X, reset=False), *(self._table(table, j + 1) for j, table in enumerate((y, *views)))]
        check_consistent_length(*rows)
        return correlations_between([self._scores(table, place) for place, table in enumerate(rows)])

    def score(self, X: Rows, y: Rows, *views: Rows) -> float:
        """Mean of the plain correlations of these rows over components, for model selection.

        Parameters
        ----------
        X, y, *views
            As in `fit`, all tables.

        Returns
        -------
        float
        """
        return float(self.correlations(X, y, *views).mean())

    @classmethod
    def _from_model(cls, model):
        """A fitted estimator from a loaded model."""
        plan = Plan.from_json(model.plan)
        kernels = [view["kernel"] for view in plan.views]
        asked = plan["regularization"]
        estimator = cls(
            n_components=plan.n_components,
            kernel=kernels[0] if len(set(kernels)) == 1 else kernels,
            regularization=asked["value"] if isinstance(asked, dict) else asked,
            folds=max(2, plan.folds),
            n_permutations=plan.permutations,
            rank=cls._rank_of(plan.views[0]),
        )
        estimator._widths = [view["n_features"] for view in plan.views]
        estimator._sides = [estimator._side(kernel, width) for kernel, width in zip(kernels, estimator._widths)]
        estimator.n_features_in_ = estimator._widths[0]
        estimator._take_names(model, estimator.n_features_in_)
        estimator._take(model)
        return estimator

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        return tags
