"""What the selectors of features share: labels, scorers by name, folds, and accounts of steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_array, column_or_1d
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from . import _parameters as parameters
from ._account import Account
from ._errors import EigenliftError

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Scorers by name: the one number that each takes, and what it is when none is given.
SCORERS = {
    "knn": ("n_neighbors", 5),
    "lda": (None, 0),
    "logistic": ("C", 1.0),
    "ridge": ("alpha", 1.0),
}
# Measures by name: whether they are of classes.
MEASURES = {"accuracy": True, "balanced_accuracy": True, "r2": False, "neg_mean_squared_error": False}
# As the compiled part takes columns: whole numbers of more values than this, or of more than a fifth of the rows, are numbers.
_MOST_VALUES = 32


class SelectionStep(Account):
    """One step of a selection: the `feature`, whether it was `added`, and what the features present after it are worth.

    Attributes
    ----------
    feature : int
        The column, counted from 0.
    added : bool
        False where it was taken out.
    n_features : int
        Features present after the step.
    value : float or None
        Filters: what the feature was taken for, in the filter's own measure.
    score, spread : float or None
        Mean score on rows held out, and its standard error over folds.
    fold_scores : list of float
        The score on each fold.
    """

    feature: int
    added: bool
    n_features: int
    value: float | None
    score: float | None
    spread: float | None
    fold_scores: list[float]


class FeatureSubset(Account):
    """The best set of features found of one size: its `features`, `score`, `spread` and `fold_scores`."""

    features: list[int]
    score: float
    spread: float | None
    fold_scores: list[float]


class NestedScore(Account):
    """The score of a whole selection on rows that had no say in it.

    Attributes
    ----------
    score, spread : float
        Mean over the parts of the rows that were left out in turn, and its standard error.
    fold_scores : list of float
        The score on each part.
    selected : list of list of int
        The features chosen without each part.
    frequency : list of float
        In which share of the parts each column was chosen.
    """

    score: float
    spread: float | None
    fold_scores: list[float]
    selected: list[list[int]]
    frequency: list[float]

    def __str__(self):
        values = self._values
        spread = "" if values["spread"] is None else f" ± {values['spread']:.2g}"
        return f"{values['score']:.4g}{spread} on {len(values['fold_scores'])} parts of the rows that had no say"


def is_word(value: object, word: str) -> bool:
    """Whether a parameter, which may be an array, is this word."""
    return isinstance(value, str) and value == word


def looks_discrete(y: NDArray[Any]) -> bool:
    """Whether labels are classes: anything but numbers with a fraction, and whole numbers stored as floats of many values."""
    kind = type_of_target(y, input_name="y")
    if kind not in ("binary", "multiclass", "continuous"):
        raise EigenliftError(
            f"Unknown label type: {kind}. One class or number for each row is required. Give one column."
        )
    if kind != "multiclass" or y.dtype.kind != "f":
        return kind != "continuous"
    return len(np.unique(y)) <= min(_MOST_VALUES, max(len(y) // 5, 2))


def labels_of(y: NDArray[Any], discrete: bool | None) -> tuple[NDArray[np.int64] | None, NDArray[np.float64] | None]:
    """Classes by number, or numbers; the other is None. `discrete` of None decides by the look of them."""
    y = column_or_1d(y, warn=True)
    if looks_discrete(y) if discrete is None else discrete:
        check_classification_targets(y)
        return np.unique(y, return_inverse=True)[1].astype(np.int64), None
    return None, check_array(y, ensure_2d=False, dtype=np.float64, order="C", input_name="y")


def scorer_named(owner: Any, name: str) -> tuple[str, float] | None:
    """The word and the number of the scorer that parameter `name` asks for; None where it is something else."""
    value = getattr(owner, name)
    word, given = value if isinstance(value, (tuple, list)) and len(value) == 2 else (value, {})
    if not isinstance(word, str):
        return None
    if word in SCORERS and isinstance(given, dict):
        number, usual = SCORERS[word]
        if set(given) <= {number}:
            amount = given.get(number, usual)
            whole = word != "knn" or (parameters.is_integer(amount) and amount >= 1)
            if parameters.is_real(amount) and whole:
                return word, float(amount)
    parameters.refuse(
        owner,
        name,
        "'knn', 'lda', 'logistic' or 'ridge', alone or with its number as ('knn', {'n_neighbors': 5}), "
        "('logistic', {'C': 1.0}) or ('ridge', {'alpha': 1.0})",
    )


def measure_named(owner: Any, word: str | None) -> bool | None:
    """Checks that a named scorer can be judged by `scoring`; returns whether that is of classes, None where nothing says so."""
    if owner.scoring is None:
        return True if word in ("lda", "logistic") else None
    if not isinstance(owner.scoring, str) or owner.scoring not in MEASURES:
        words = ", ".join(repr(name) for name in MEASURES)
        parameters.refuse(owner, "scoring", f"among {words}, or None, with a scorer by name")
    return MEASURES[owner.scoring]


def folds_of(
    cv: Any, X: Any, y: Any, params: dict[str, Any] | None = None
) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Rows of training and rows held out of each fold."""
    return [
        (np.asarray(train, dtype=np.int64), np.asarray(test, dtype=np.int64))
        for train, test in (_indices(fold, X.shape[0]) for fold in cv.split(X, y, **(params or {})))
    ]


def _indices(fold, n_rows):
    """Rows by number, which may be given as masks or from the end."""
    places = np.arange(n_rows)
    return tuple(places[np.asarray(rows)] for rows in fold)


class Selected:
    """Mixin of the selectors: takes what was found."""

    path_: list[SelectionStep]
    subsets_: list[FeatureSubset]
    best_: FeatureSubset | None
    nested_: NestedScore | None
    support_: NDArray[np.bool_]
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]

    def _take_found(self, found):
        """Keeps the steps and the sets."""
        self.path_ = [SelectionStep(step) for step in found["steps"]]
        self.subsets_ = [FeatureSubset(subset) for subset in found["subsets"]]
        best = found["best"]
        self.best_ = None if best is None else self.subsets_[best]
        nested = found.get("nested")
        self.nested_ = None if nested is None else NestedScore(nested)

    def _take_selected(self, features, n_features):
        self.support_ = np.zeros(n_features, dtype=bool)
        self.support_[list(features)] = True
