"""Selection of features by what each says of the labels, without a model."""

from __future__ import annotations

import json
import warnings
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.model_selection import GroupKFold, check_cv
from sklearn.utils.validation import check_consistent_length, check_is_fitted, check_non_negative, validate_data

from . import _native
from . import _parameters as parameters
from ._account import Account
from ._base import EigenliftWarning
from ._errors import EigenliftError
from ._kernel_choice import choose
from ._kernel_choose import seed_of
from ._mutual_information import discrete_mask, scores_by_name
from ._progress import watching
from ._rows import native
from ._selection import Selected, folds_of, is_word, labels_of, measure_named, scorer_named
from ._threads import thread_count

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ._kernel_base import Kernel
    from ._types import Progress, RandomState, Rows

_METHODS = {"chi2", "f", "hsic", "jmi", "mi", "mrmr"}
# Kernels that have a bandwidth by the median of distances when none is given.
_BY_MEDIAN = {"laplacian", "rbf"}


class FeatureFilter(Selected, SelectorMixin, BaseEstimator):
    """Selects columns by a measure of what they say of y: fast, with p-values, and with their number by cross-validation.

    Parameters
    ----------
    method : {"mi", "mrmr", "jmi", "f", "chi2", "hsic"}, default="mi"
        Mutual information with y; the same less the redundancy with columns already taken ("mrmr"), or joint with them ("jmi");
        F of the analysis of variance or of a linear correlation; chi-squared of counts; dependence by kernels ("hsic").
    n_features_to_select : "auto", "best" or int, default="auto"
        How many. "auto" takes the fewest that do as well as the best within one standard error, on rows held out; "best" those with
        the best score.
    scorer : {"knn", "lda", "logistic", "ridge"} or tuple, default=None
        What learns from the columns on rows held out, as the estimator by name of `SequentialFeatureSelector`. None stands for
        "knn" where the number of features is chosen, otherwise for no such judgement.
    scoring : {"accuracy", "balanced_accuracy", "r2", "neg_mean_squared_error"}, default=None
        By what it is judged; None stands for accuracy of classes and r2 of numbers.
    cv : int, splitter or iterable, default=5
        Folds, as in scikit-learn. Columns are ranked anew in each of them, by its training rows.
    n_neighbors : int, default=3
        Neighbours that densities of continuous columns are estimated from.
    discrete_features, discrete_target : default="auto"
        As in `mutual_information`. `discrete_target` also says whether y holds classes for all other methods.
    corrected : bool, default=False
        Corrects counts of discrete variables for their bias, after Miller and Madow.
    permutations : int, default=0
        How often y is shuffled for p-values; 0 gives none where the measure has none of its own.
    kernel : str or Kernel, default="rbf"
        Of "hsic", on each column by itself: as in `KernelPCA`, less functions and matrices.
    gamma : float, default=None
        Its bandwidth; None stands for that of the median distance.
    standardize : bool, default=False
        Columns get mean 0 and variance 1 over the rows learned from, for the scorer.
    nested : int, default=None
        Does the whole selection again without each of so many parts of the rows and judges it on them. With an integer `cv`; all
        folds are then drawn by `random_state`.
    random_state : int, RandomState instance or None, default=None
        Of permutations and of the folds that `nested` draws. None stands for a fixed seed.
    n_jobs : int, default=None
        Threads. The result does not depend on it.
    verbose : int, default=0
        Above 0 a line of progress goes to the standard error stream.
    progress : callable, default=None
        Called with (stage, done, total), or a class of bars such as `tqdm.tqdm`.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        What the measure says of each column by itself; an F of columns that y explains in full is infinite.
    errors_, p_values_, family_p_values_ : ndarray of shape (n_features,) or None
        Standard errors and p-values of the scores, where there are some; the last hold for all columns together.
    ranking_ : ndarray of shape (n_features,)
        1 for the column taken first, and so on; columns that were not looked at share the last rank.
    path_ : list of SelectionStep
        The columns in the order taken: `feature`, `value`, and with a scorer `score`, `spread` and `fold_scores`.
    subsets_ : list of FeatureSubset
        With a scorer: the first columns, by their number.
    best_ : FeatureSubset or None
        The ones with the best score.
    curve_ : Account or None
        With a scorer: `n_features`, `scores` and `spreads` on rows held out, and which place is the `best` and which was `chosen`.
    nested_ : NestedScore or None
        With `nested`: an honest `score` with its `spread`, and the `frequency` with which each column was chosen.
    support_ : ndarray of shape (n_features,)
        Which columns were selected.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from eigenlift import FeatureFilter
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> FeatureFilter("mrmr", n_features_to_select=3).fit(X, y).transform(X).shape
    (178, 3)
    >>> selector = FeatureFilter("mi", standardize=True).fit(X, y)
    >>> len(selector.curve_.scores)
    13
    """

    scores_: NDArray[np.float64]
    errors_: NDArray[np.float64] | None
    p_values_: NDArray[np.float64] | None
    family_p_values_: NDArray[np.float64] | None
    ranking_: NDArray[np.integer]
    curve_: Account | None

    def __init__(
        self,
        method: str = "mi",
        *,
        n_features_to_select: int | str = "auto",
        scorer: str | tuple[str, dict[str, float]] | None = None,
        scoring: str | None = None,
        cv: Any = 5,
        n_neighbors: int = 3,
        discrete_features: str | bool | ArrayLike = "auto",
        discrete_target: str | bool = "auto",
        corrected: bool = False,
        permutations: int = 0,
        kernel: str | Kernel = "rbf",
        gamma: float | None = None,
        standardize: bool = False,
        nested: int | None = None,
        random_state: RandomState = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        progress: Progress = None,
    ) -> None:
        self.method = method
        self.n_features_to_select = n_features_to_select
        self.scorer = scorer
        self.scoring = scoring
        self.cv = cv
        self.n_neighbors = n_neighbors
        self.discrete_features = discrete_features
        self.discrete_target = discrete_target
        self.corrected = corrected
        self.permutations = permutations
        self.kernel = kernel
        self.gamma = gamma
        self.standardize = standardize
        self.nested = nested
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.progress = progress

    def fit(self, X: Rows, y: ArrayLike, *, groups: ArrayLike | None = None) -> Self:
        """Ranks columns and selects the first of them.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Classes or numbers.
        groups : array-like of shape (n_samples,), default=None
            Rows of the same group are held out together: by GroupKFold with an integer `cv`, otherwise as the splitter does.

        Returns
        -------
        self
        """
        scorer = self._check()
        if groups is not None:
            check_consistent_length(X, groups)
        # Entries that are missing are counted by the compiled part.
        X, y = validate_data(
            self,
            X,
            y,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            order="C",
            ensure_min_samples=2,
            ensure_all_finite=False,
        )
        if self.method == "chi2":
            check_non_negative(X, f"{type(self).__name__} (method='chi2')")
        discrete = measure_named(self, None if scorer is None else scorer[0])
        if not is_word(self.discrete_target, "auto"):
            discrete = bool(self.discrete_target)
        classes, numbers = labels_of(y, discrete)
        judged = scorer is not None or isinstance(self.n_features_to_select, str)
        folds = []
        if judged and self.nested is None:
            cv = self.cv
            if groups is not None and parameters.is_integer(cv):
                cv = GroupKFold(int(cv))
            splitter = check_cv(cv, y, classifier=classes is not None)
            folds = folds_of(splitter, X, y, None if groups is None else {"groups": groups})
        settings = self._settings(scorer, X.shape[1], groups)
        threads = thread_count(self.n_jobs)
        with watching(self) as told:
            found = _native.select_features(native(X), classes, numbers, folds, settings, None, threads, told)
        self._take(json.loads(found), X.shape[1])
        return self

    def _check(self):
        """Checks the parameters; returns the scorer by name, None where none is given."""
        parameters.choice(self, "method", _METHODS)
        if not (is_word(self.n_features_to_select, "auto") or is_word(self.n_features_to_select, "best")):
            if not parameters.is_integer(self.n_features_to_select) or self.n_features_to_select < 1:
                parameters.refuse(self, "n_features_to_select", "'auto', 'best' or an int in the range [1, inf)")
        parameters.integer(self, "n_neighbors", 1)
        parameters.integer(self, "permutations", 0)
        parameters.integer(self, "nested", 2, none=True)
        parameters.real(self, "gamma", 0, none=True, open_low=True)
        for name in ("corrected", "standardize"):
            parameters.boolean(self, name)
        if not is_word(self.discrete_target, "auto"):
            parameters.boolean(self, "discrete_target")
        if self.nested is not None and not parameters.is_integer(self.cv):
            raise EigenliftError(
                f"nested needs an integer cv, as it splits parts of the rows anew; it is {self.cv!r}. Leave out nested, and take "
                "cross_val_score(make_pipeline(selector, estimator), X, y), which selects anew in each fold."
            )
        if self.scorer is None:
            return None
        scorer = scorer_named(self, "scorer")
        if scorer is None:
            parameters.refuse(self, "scorer", "a scorer by name such as 'knn', or None")
        return scorer

    def _settings(self, scorer, n_features, groups):
        """Settings for the compiled part."""
        wanted = None if isinstance(self.n_features_to_select, str) else int(self.n_features_to_select)
        drawn = None if groups is None else np.unique(groups, return_inverse=True)[1].tolist()
        if wanted is not None and wanted > n_features:
            raise EigenliftError(
                f"n_features_to_select={wanted} is more than the {n_features} features there are. Give at most as many."
            )
        by_look = is_word(self.discrete_features, "auto")
        return {
            "method": self.method,
            "n_features": wanted,
            "best": is_word(self.n_features_to_select, "best"),
            "scorer": scorer,
            "measure": self.scoring,
            "n_folds": None if self.nested is None else int(self.cv),
            "groups": drawn,
            "nested": self.nested,
            "standardize": bool(self.standardize),
            "kernel": self._kernel() if self.method == "hsic" else None,
            "tol": None,
            "patience": None,
            "information": {
                "n_neighbors": int(self.n_neighbors),
                "corrected": bool(self.corrected),
                "discrete": None if by_look else discrete_mask(self.discrete_features, n_features).tolist(),
                "permutations": int(self.permutations),
                "seed": seed_of(self.random_state),
                "column_names": [str(name) for name in getattr(self, "feature_names_in_", [])],
            },
        }

    def _kernel(self):
        """The kernel as the command line writes it."""
        if self.gamma is None and isinstance(self.kernel, str) and self.kernel in _BY_MEDIAN:
            return f"{self.kernel}(gamma=median)"
        choice = choose(
            self.kernel,
            gamma=self.gamma,
            degree=3,
            coef0=1,
            kernel_params=None,
            n_features=1,
            owner=type(self).__name__,
        )
        if choice.text is None or choice.automatic:
            parameters.refuse(
                self, "kernel", "a description such as 'rbf(gamma=median)' or a kernel of eigenlift.kernels"
            )
        return choice.text

    def _take(self, found, n_features):
        """Keeps what was found, and tells what it warns of."""
        self._take_found(found)
        scores = scores_by_name(found["scores"])
        # What the compiled part writes for infinity.
        self.scores_ = np.where(scores["values"] == np.finfo(np.float64).max, np.inf, scores["values"])
        self.errors_ = scores["errors"]
        self.p_values_ = scores["p_values"]
        self.family_p_values_ = scores["family_p_values"]
        self.ranking_ = np.full(n_features, len(self.path_) + 1)
        self.ranking_[[step["feature"] for step in self.path_]] = np.arange(1, len(self.path_) + 1)
        self.curve_ = None
        if self.subsets_:
            self.curve_ = Account(
                {
                    "n_features": [len(subset["features"]) for subset in self.subsets_],
                    "scores": [subset["score"] for subset in self.subsets_],
                    "spreads": [subset["spread"] for subset in self.subsets_],
                    "best": found["best"],
                    "chosen": found["chosen"],
                }
            )
        self._take_selected(found["selected"], n_features)
        for text in found["warnings"]:
            warnings.warn(text, EigenliftWarning, stacklevel=3)

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = is_word(self.method, "chi2")
        tags.target_tags.required = True
        return tags
