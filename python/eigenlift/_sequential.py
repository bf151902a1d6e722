"""Selection of features step by step, by what is learned from them."""

from __future__ import annotations

import json
import os
import warnings
from typing import TYPE_CHECKING, Any, Self

import joblib
import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.feature_selection import SelectorMixin
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv, cross_val_score
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    _raise_for_params,
    _routing_enabled,
    get_routing_for_object,
    process_routing,
)
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted, validate_data

from . import _native
from . import _parameters as parameters
from ._base import EigenliftWarning
from ._errors import EigenliftError
from ._kernel_choose import seed_of
from ._progress import watching
from ._rows import native
from ._selection import Selected, folds_of, is_word, labels_of, measure_named, scorer_named
from ._threads import thread_count

if TYPE_CHECKING:
    from os import PathLike

    from numpy.typing import ArrayLike, NDArray

    from ._types import Progress, RandomState, Rows

# Where the number of features is chosen: what the compiled part takes for scorers by name.
_PATIENCE = 10
_MOST = 100


class _Folds:
    """The same folds at every split. Metadata goes to the splitter that they came from."""

    def __init__(self, splitter, folds):
        self._splitter = splitter
        self._folds = folds

    def split(self, X=None, y=None, groups=None, **params):
        return iter(self._folds)

    def get_n_splits(self, X=None, y=None, groups=None, **params):
        return len(self._folds)

    def get_metadata_routing(self):
        return get_routing_for_object(self._splitter)


def _judge(estimator, X, y, how, n_jobs, told):
    """What the search in the compiled part asks: scores of sets of columns by an estimator on rows held out."""

    def judge(sets):
        scores = []
        n_workers = joblib.effective_n_jobs(n_jobs)
        at_once = 1 if n_workers == 1 else 4 * n_workers
        with Parallel(n_jobs=n_jobs) as parallel:
            for start in range(0, len(sets), at_once):
                some = sets[start : start + at_once]
                scores += parallel(delayed(cross_val_score)(estimator, X[:, features], y, **how) for features in some)
                if told is not None:
                    told(f"sets of {len(sets[0])} features", len(scores), len(sets))
        return [fold_scores.tolist() for fold_scores in scores]

    return judge


class SequentialFeatureSelector(Selected, SelectorMixin, MetaEstimatorMixin, BaseEstimator):
    """Adds or takes out columns one by one, by the score on rows held out: scikit-learn's class with the whole path shown.

    With scikit-learn's parameters it selects what scikit-learn's class selects. On top of them there are floating steps, the
    number of features by one standard error, the path of scores with their spread, and scorers by name, which go from one set of
    columns to the next without learning anew.

    The score of the set chosen is optimistic: it was chosen by that score. `nested` gives an honest one.

    Parameters
    ----------
    estimator : estimator, {"knn", "lda", "logistic", "ridge"} or tuple
        What learns from the columns: an estimator of scikit-learn, or a fast scorer by name. Its number may be given with it:
        `("knn", {"n_neighbors": 5})`, `("logistic", {"C": 1.0})` or `("ridge", {"alpha": 1.0})`, which are also the defaults.
        By name, "lda" and "logistic" tell classes apart; "knn" and "ridge" do, where y holds texts, integers, truth values or
        floats with few whole values, and predict numbers otherwise. `scoring` decides where that is in doubt.
    n_features_to_select : int, float, "auto", "one_se" or "best", default="auto"
        How many features, or which share of them. "auto" is scikit-learn's: half of them, or with `tol` until a step gains less
        than that. "one_se" takes the fewest that do as well as the best within one standard error, "best" those with the best
        score.
    tol : float, default=None
        A step that gains less is not taken and ends the search; with "auto", "one_se" and "best" alone. Backward it may be
        negative.
    direction : {"forward", "backward"}, default="forward"
        Columns are added one by one, or taken out.
    scoring : str or callable, default=None
        As in scikit-learn. A scorer by name knows "accuracy" and "balanced_accuracy" of classes, "r2" and
        "neg_mean_squared_error" of numbers.
    cv : int, splitter or iterable, default=5
        As in scikit-learn. The folds are split once and are the same for all sets of columns.
    n_jobs : int, default=None
        Sets of columns that are judged side by side; with a scorer by name, threads. The result does not depend on it.
    floating : bool, default=False
        After each step forward, columns are taken out for as long as that gives a better set of that size than any before.
    patience : int, default=None
        Ends the search after so many steps in a row without a better score; backward, so many that score more than one standard
        error below the best. None stands for 10 with "one_se" and "best", and for no such end otherwise.
    nested : int, default=None
        Does the whole selection again without each of so many parts of the rows and judges it on them. For a scorer by name with
        an integer `cv`; all folds are then drawn by `random_state`.
    standardize : bool, default=False
        For a scorer by name: columns get mean 0 and variance 1 over the rows learned from.
    checkpoint : str or path-like, default=None
        A file of JSON that keeps the steps; where it exists, the search goes on from it. That of a scorer by name can be gone on
        with by the command line, and the other way round, where data, settings and folds are the same, as with `nested`.
    random_state : int, RandomState instance or None, default=None
        Of the folds that `nested` draws. None stands for a fixed seed.
    verbose : int, default=0
        Above 0 a line of progress goes to the standard error stream.
    progress : callable, default=None
        Called with (stage, done, total), or a class of bars such as `tqdm.tqdm`.

    Attributes
    ----------
    support_ : ndarray of shape (n_features,)
        Which columns were selected.
    n_features_to_select_ : int
        How many.
    path_ : list of SelectionStep
        The steps: `feature`, `added`, `n_features`, `score`, `spread` and `fold_scores`.
    subsets_ : list of FeatureSubset
        The best set found of each size, by size: `features`, `score`, `spread` and `fold_scores`.
    best_ : FeatureSubset or None
        The one with the best score.
    nested_ : NestedScore or None
        With `nested`: an honest `score` with its `spread`, and the `frequency` with which each column was chosen.
    stopped_ : str or None
        Why the search ended before the number of features asked for.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from eigenlift import SequentialFeatureSelector
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> selector = SequentialFeatureSelector("knn", n_features_to_select="one_se", standardize=True).fit(X, y)
    >>> list(selector.get_feature_names_out())
    ['alcohol', 'magnesium', 'flavanoids', 'color_intensity', 'hue', 'proline']
    >>> [f"{step.score:.2f} ± {step.spread:.2f}" for step in selector.path_[:3]]
    ['0.78 ± 0.03', '0.92 ± 0.03', '0.95 ± 0.02']
    """

    n_features_to_select_: int
    stopped_: str | None

    def __init__(
        self,
        estimator: Any,
        *,
        n_features_to_select: int | float | str = "auto",
        tol: float | None = None,
        direction: str = "forward",
        scoring: Any = None,
        cv: Any = 5,
        n_jobs: int | None = None,
        floating: bool = False,
        patience: int | None = None,
        nested: int | None = None,
        standardize: bool = False,
        checkpoint: str | PathLike[str] | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
        progress: Progress = None,
    ) -> None:
        self.estimator = estimator
        self.n_features_to_select = n_features_to_select
        self.tol = tol
        self.direction = direction
        self.scoring = scoring
        self.cv = cv
        self.n_jobs = n_jobs
        self.floating = floating
        self.patience = patience
        self.nested = nested
        self.standardize = standardize
        self.checkpoint = checkpoint
        self.random_state = random_state
        self.verbose = verbose
        self.progress = progress

    def fit(self, X: Rows, y: ArrayLike | None = None, **params: Any) -> Self:
        """Selects columns.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows, of at least two columns.
        y : array-like of shape (n_samples,), default=None
            What is predicted; None for estimators that need none.
        **params : dict
            With scikit-learn's metadata routing enabled: what goes to the estimator, the splitter (such as `groups`) and the
            scorer.

        Returns
        -------
        self
        """
        _raise_for_params(params, self, "fit")
        scorer = self._check()
        if scorer is None:
            X = validate_data(
                self,
                X,
                accept_sparse="csc",
                ensure_min_features=2,
                ensure_all_finite=not self.__sklearn_tags__().input_tags.allow_nan,
            )
        else:
            # Entries that are missing are counted by the compiled part.
            X, y = validate_data(
                self,
                X,
                y,
                accept_sparse="csr",
                dtype=[np.float64, np.float32],
                order="C",
                ensure_min_features=2,
                ensure_all_finite=False,
            )
        to = self._wanted(X.shape[1])
        found = self._search(X, y, to, params) if scorer is None else self._select(scorer, X, y, to, params)
        self._take_found(found)
        self.stopped_ = found["stopped"]
        self._take_selected(self._chosen(found, to), X.shape[1])
        self.n_features_to_select_ = int(self.support_.sum())
        return self

    def _check(self):
        """Checks the parameters; returns the scorer by name, None for an estimator."""
        scorer = scorer_named(self, "estimator")
        if scorer is None and (not hasattr(self.estimator, "fit") or isinstance(self.estimator, type)):
            parameters.refuse(self, "estimator", "an estimator, or a scorer by name such as 'knn'")
        if isinstance(self.n_features_to_select, str):
            parameters.choice(self, "n_features_to_select", {"auto", "best", "one_se"})
        elif parameters.is_integer(self.n_features_to_select):
            parameters.integer(self, "n_features_to_select", 1)
        elif not parameters.is_real(self.n_features_to_select) or not 0 < self.n_features_to_select <= 1:
            parameters.refuse(
                self,
                "n_features_to_select",
                "'auto', 'best', 'one_se', an int of at least 1 or a float in the range (0, 1]",
            )
        parameters.real(self, "tol", -np.inf, none=True)
        parameters.choice(self, "direction", {"forward", "backward"})
        parameters.integer(self, "patience", 1, none=True)
        parameters.integer(self, "nested", 2, none=True)
        for name in ("floating", "standardize"):
            parameters.boolean(self, name)
        if self.tol is not None and self.tol < 0 and self.direction == "forward":
            raise EigenliftError("tol must be strictly positive when doing forward selection")
        if self.floating and self.direction == "backward":
            raise EigenliftError("floating steps go forward. Leave out floating=True, or direction='backward'.")
        self._check_nested(scorer)
        return scorer

    def _check_nested(self, scorer):
        """Refuses what can be asked of scorers by name alone."""
        if scorer is None and self.standardize:
            raise EigenliftError(
                "standardize=True is for scorers by name. Put the estimator behind a StandardScaler with make_pipeline."
            )
        if self.nested is None:
            return
        honest = "Leave out nested, and take cross_val_score(make_pipeline(selector, estimator), X, y), which selects anew in each fold."
        if scorer is None:
            raise EigenliftError(f"nested is for scorers by name such as 'knn'. {honest}")
        if not parameters.is_integer(self.cv):
            raise EigenliftError(
                f"nested needs an integer cv, as it splits parts of the rows anew; it is {self.cv!r}. {honest}"
            )

    def _wanted(self, n_features):
        """The number of features at the end of the search; None where it is chosen by the scores."""
        wanted = self.n_features_to_select
        if isinstance(wanted, str):
            if wanted != "auto":
                return None
            backward = self.direction == "backward"
            if self.tol is None:
                # As in scikit-learn: half of the features, rounded down, are added or taken out.
                return n_features - n_features // 2 if backward else n_features // 2
            return 1 if backward else n_features - 1
        if parameters.is_integer(wanted):
            if wanted >= n_features:
                raise EigenliftError(
                    f"n_features_to_select must be < n_features. It is {wanted}, and there are {n_features} features."
                )
            return int(wanted)
        if int(n_features * wanted) < 1:
            raise EigenliftError(
                f"n_features_to_select={wanted} of {n_features} features is less than one. Give a larger share, or a number."
            )
        return int(n_features * wanted)

    def _method(self):
        return "floating" if self.floating else self.direction

    def _tolerance(self):
        """As in scikit-learn, a number of features does not heed it."""
        return None if self.tol is None or not isinstance(self.n_features_to_select, str) else float(self.tol)

    def _checkpoint(self):
        return None if self.checkpoint is None else os.fspath(self.checkpoint)

    def _folds(self, X, y, classifier, params):
        """The splitter and its folds."""
        # Before metadata are routed, which would use up a generator.
        splitter = check_cv(self.cv, y, classifier=classifier)
        routed = process_routing(self, "fit", **params).splitter.split if _routing_enabled() else {}
        return splitter, folds_of(splitter, X, y, routed)

    def _search(self, X, y, to, params):
        """Searches by an estimator."""
        splitter, folds = self._folds(X, y, is_classifier(self.estimator), params)
        method, auto = self._method(), to is None
        if auto:
            to = 1 if method == "backward" else min(_MOST, X.shape[1])
        settings = {
            "method": method,
            "n_features": X.shape[1],
            "to": to,
            "tol": self._tolerance(),
            "patience": self.patience if self.patience is not None or not auto else _PATIENCE,
            "fingerprint": "",
        }
        if self.checkpoint is not None:
            given = (X, y, folds, method, self.scoring, clone(self.estimator), params)
            settings["fingerprint"] = f"estimator {joblib.hash(given)}"
        with watching(self) as told:
            how = {"cv": _Folds(splitter, folds), "scoring": self.scoring, "params": params}
            judge = _judge(clone(self.estimator), X, y, how, self.n_jobs, told)
            return json.loads(_native.search_features(judge, settings, self._checkpoint()))

    def _select(self, scorer, X, y, to, params):
        """Searches by a scorer by name."""
        classes, numbers = labels_of(y, measure_named(self, scorer[0]))
        folds = self._folds(X, y, classes is not None, params)[1] if self.nested is None else []
        settings = {
            "method": self._method(),
            "n_features": to,
            "best": is_word(self.n_features_to_select, "best"),
            "scorer": scorer,
            "measure": self.scoring,
            "n_folds": None if self.nested is None else int(self.cv),
            "groups": None,
            "nested": self.nested,
            "standardize": bool(self.standardize),
            "kernel": None,
            "tol": self._tolerance(),
            "patience": self.patience,
            "information": {
                "n_neighbors": 3,
                "corrected": False,
                "discrete": None,
                "permutations": 0,
                "seed": seed_of(self.random_state),
                "column_names": [str(name) for name in getattr(self, "feature_names_in_", [])],
            },
        }
        threads = thread_count(self.n_jobs)
        with watching(self) as told:
            found = _native.select_features(
                native(X), classes, numbers, folds, settings, self._checkpoint(), threads, told
            )
        found = json.loads(found)
        for text in found["warnings"]:
            warnings.warn(text, EigenliftWarning, stacklevel=3)
        return found

    def _chosen(self, found, to):
        """The features of the set asked for."""
        subsets = found["subsets"]
        place = found["best" if is_word(self.n_features_to_select, "best") else "chosen"]
        if to is not None:
            sizes = [len(subset["features"]) for subset in subsets]
            # A search that ended early keeps what it has come to.
            place = sizes.index(to) if to in sizes else (0 if self.direction == "backward" else -1)
        if place is None:
            raise EigenliftError("No set of features has a finite score. Look at what the estimator and scoring give.")
        return subsets[place]["features"]

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        if hasattr(self.estimator, "fit"):
            of_estimator = get_tags(self.estimator).input_tags
            tags.input_tags.allow_nan = of_estimator.allow_nan
            tags.input_tags.sparse = of_estimator.sparse
        else:
            tags.input_tags.sparse = True
            tags.target_tags.required = True
        return tags

    def get_metadata_routing(self) -> Any:
        """Where metadata goes: to the estimator, the splitter and the scorer; with a scorer by name, to the splitter.

        Returns
        -------
        sklearn.utils.metadata_routing.MetadataRouter
        """
        router = MetadataRouter(owner=self)
        named = not hasattr(self.estimator, "fit")
        splitter = check_cv(self.cv, classifier=not named and is_classifier(self.estimator))
        router.add(splitter=splitter, method_mapping=MethodMapping().add(caller="fit", callee="split"))
        if not named:
            mapping = MethodMapping().add(caller="fit", callee="fit")
            router.add(estimator=self.estimator, method_mapping=mapping)
            scorer = check_scoring(self.estimator, scoring=self.scoring)
            router.add(scorer=scorer, method_mapping=MethodMapping().add(caller="fit", callee="score"))
        return router
