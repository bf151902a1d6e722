"""What all estimators share."""

from __future__ import annotations

import os
import warnings
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import assert_all_finite, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from . import _native
from ._account import Certificate, Plan
from ._errors import EigenliftError
from ._progress import watching
from ._rows import native
from ._threads import thread_count

if TYPE_CHECKING:
    from os import PathLike

    from numpy.typing import NDArray

# So many numbers that a look at each, before they are used, takes time that counts.
_MANY = 1 << 16


class EigenliftWarning(UserWarning):
    """A result that is correct but may not be what was expected."""


ONE_ROW = "1 row has no variance"


def warn_of_no_variance(reason, stacklevel):
    """The warning of every estimator that gives zeros for rows that all look the same."""
    warnings.warn(f"{reason}. All scores are 0.", EigenliftWarning, stacklevel=stacklevel + 1)


def _refuse_repeated(names):
    """Raises ValueError if two columns of a data frame have the same name, by which new rows are matched."""
    for name, times in Counter(names).items():
        if times > 1:
            raise EigenliftError(f"the column {name!r} is there {times} times; names must differ. Rename or drop one.")


class Estimator(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Base of the estimators: validation, threads, progress, accounts and model files.

    Subclasses have the parameters `n_jobs`, `verbose` and `progress`.
    """

    plan_: Plan
    certificate_: Certificate
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]

    _method = None  # of the model file

    def _rows(self, X, *, reset, min_samples=1, finite=True):
        """X as C-ordered rows of float32 or float64, or CSR; `finite=False` leaves NaN in many rows to be found by `_run_on`."""
        rows = validate_data(
            self,
            X,
            reset=reset,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            order="C",
            ensure_min_samples=min_samples,
            ensure_all_finite=finite or getattr(X, "size", 0) < _MANY,
        )
        if reset:
            _refuse_repeated(getattr(self, "feature_names_in_", ()))
        return rows

    def _threads(self):
        return thread_count(self.n_jobs)

    def _seed(self):
        """A seed for the compiled part; None gives 0, so that results repeat."""
        if self.random_state is None:
            return 0
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _column_names(self):
        return [str(name) for name in getattr(self, "feature_names_in_", [])]

    def _take_names(self, model, count=None):
        """Takes the column names of a loaded model, or the first of them; x1, x2, … stand for none: so the columns of arrays are called."""
        names = model.column_names[:count]
        if names and names != [f"x{i + 1}" for i in range(len(names))]:
            self.feature_names_in_ = np.array(names, dtype=object)

    def _run(self, function, *arguments):
        """Calls the compiled part with this estimator's threads and progress as last arguments."""
        with watching(self) as progress:
            return function(*arguments, self._threads(), progress)

    def _run_on(self, X, function, *arguments, precision=None):
        """As `_run` with rows first, in this precision, for functions that refuse NaN and infinity by themselves.

        Why: a pass over the rows beforehand takes a good part of the time of a linear method. The message is scikit-learn's.
        """
        try:
            return self._run(function, native(X.astype(precision or X.dtype, copy=False)), *arguments)
        except _native.EigenliftError:
            assert_all_finite(X, estimator_name=type(self).__name__, input_name="X")
            raise

    def _tell(self, model):
        """Keeps the model with its plan and certificate."""
        self._model = model
        self.plan_ = Plan.from_json(model.plan, model.plan_text)
        self.certificate_ = Certificate.from_json(model.certificate)

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the model file, which the command line and Rust read too.

        The file appears under its name only when it is complete.

        Parameters
        ----------
        path : str or path-like
            Where to; the name should end in `.safetensors`.
        """
        check_is_fitted(self)
        self._saved_model().save(os.fspath(path))

    def _saved_model(self):
        return self._model
