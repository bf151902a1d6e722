"""What the manifold estimators share."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, check_non_negative

from . import _native
from . import _parameters as parameters
from ._account import Account, Plan
from ._base import Estimator, warn_of_no_variance
from ._errors import EigenliftError
from ._linear import pass_on_warnings
from ._rows import native, owned

if TYPE_CHECKING:
    from ._types import Array, Rows

# Relative residual that is asked for when `tol` is 0, and the smallest that double precision can meet.
_TOLERANCE = 1e-10
_SMALLEST_TOLERANCE = 1e-12
# Magnitudes as close as this to the largest count as equal when signs are chosen.
_TIE = 1e-8
# Radii beyond this hold everything, and can be written into a model file.
LARGEST_RADIUS = 1e300
_EDGE = np.dtype([("from", np.int64), ("to", np.int64), ("length", np.float64)])
_KNOWN_METRICS = {
    "euclidean": "euclidean",
    "l2": "euclidean",
    "manhattan": "manhattan",
    "cityblock": "manhattan",
    "l1": "manhattan",
    "cosine": "cosine",
    "correlation": "correlation",
}


def known_metric(metric, p=2, metric_params=None):
    """The compiled part's word for a metric of scikit-learn; None when it does not have it."""
    params = dict(metric_params or {})
    if isinstance(metric, str) and metric == "minkowski":
        power = params.pop("p", p)
        metric = {1: "manhattan", 2: "euclidean"}.get(power)
    if params or not isinstance(metric, str):
        return None
    return _KNOWN_METRICS.get(metric)


def edges(values):
    """Edges that the compiled part gave, as a structured array with the fields from, to and length."""
    return np.array([(edge["from"], edge["to"], edge["length"]) for edge in values], dtype=_EDGE)


class Manifold(Estimator):
    """Base of the manifold estimators: settings, attributes of the model, coordinates of new rows.

    Subclasses have the parameters `n_components`, `random_state`, `memory`, `n_jobs`, `verbose` and `progress`. How rows were
    given to the compiled part is in `_given`: as rows, as distances to the rows of the fit, or as neighbours among these.
    """

    embedding_: Array
    n_iter_: int
    plan_: Plan

    def _residual(self, tol):
        return max(float(tol), _SMALLEST_TOLERANCE) if tol else _TOLERANCE

    def _told(self, given, n_samples, **values):
        """What a fit is given: what the rows are, and parameters by the names of the command line; None for their default."""
        return {
            "given": given,
            "values": {"components": min(int(self.n_components), n_samples), **values},
            "seed": self._seed(),
            "memory": parameters.memory(self),
            "column_names": [] if given == "neighbors" else self._column_names(),
        }

    def _planned(self, X, settings):
        """The plan of a fit with these settings."""
        settings = settings | {"column_names": []}
        return Plan.from_json(*_native.plan_manifold(self._method, native(X), settings, self._threads()))

    def _fitted(self, X, settings, graph=None):
        """The model of a fit with these settings."""
        return self._run(lambda *how: _native.fit_manifold(self._method, native(X), graph, settings, *how))

    def _rows_of_fit(self, X, *, min_samples=2):
        """Rows that the model may keep: a copy where they share memory with what was given."""
        rows = self._rows(X, reset=True, min_samples=min_samples)
        if self.__sklearn_tags__().input_tags.positive_only:
            check_non_negative(rows, type(self).__name__)
        return owned(rows, X)

    def _plain_rows(self, X):
        return check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32], order="C", ensure_min_samples=2)

    def _turned(self, model):
        """The model with the signs of scikit-learn: the entry of largest magnitude is positive."""
        scores = model.scores()
        sizes = np.abs(scores)
        first = np.argmax(sizes >= (1 - _TIE) * sizes.max(axis=0, initial=0), axis=0)
        flip = scores[first, np.arange(scores.shape[1])] < 0
        return model.flipped(flip.tolist()) if flip.any() else model

    def _take(self, model, dtype, n_components):
        """Sets what every manifold estimator has; None is a model of rows that are all the same."""
        self._n_features_out = n_components
        self._precision = np.dtype(dtype)
        self._model = model
        self.n_iter_ = 1
        if model is None:
            self.plan_ = None
            return
        self.n_iter_ = max(1, json.loads(model.stats)["iterations"])
        self.plan_ = Plan.from_json(model.plan, model.plan_text)
        self.embedding_ = self._filled(model.scores()).astype(dtype, copy=False)

    def _settle(self, model, dtype, n_components):
        """Takes the model of a fit, and tells what it warns of."""
        self._take(model, dtype, n_components)
        if model is not None:
            pass_on_warnings(model)

    def _settle_nothing(self, reason, shape, plan):
        """Takes the plan of a fit whose rows are all the same, and warns of that."""
        warn_of_no_variance(reason, stacklevel=3)
        try:
            self.plan_ = plan()
        except _native.NoVarianceError:
            self.plan_ = Plan.of_no_variance(reason, shape, self._n_features_out)

    @property
    def _facts(self):
        return Account({} if self._model is None else json.loads(self._model.facts))

    def _filled(self, scores):
        """With columns of zeros for components that have no extent."""
        if scores.shape[1] == self._n_features_out:
            return scores
        out = np.zeros((scores.shape[0], self._n_features_out), dtype=scores.dtype)
        out[:, : scores.shape[1]] = scores
        return out

    def fit_transform(self, X: Rows, y: object = None) -> Array:
        """Embeds X and returns the coordinates of its rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            As in `fit`.
        y : ignored

        Returns
        -------
        ndarray of shape (n_samples, n_components)
        """
        self.fit(X)
        return self.embedding_

    def transform(self, X: Rows) -> Array:
        """Coordinates of new rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features)
            Rows; distances to the rows of the fit where these were given by distances.

        Returns
        -------
        ndarray of shape (n_queries, n_components)
        """
        check_is_fitted(self)
        X = self._rows(X, reset=False)
        if self._model is None:
            return np.zeros((X.shape[0], self._n_features_out), dtype=X.dtype)
        return self._filled(self._placed(X)).astype(X.dtype, copy=False)

    def _placed(self, X):
        """Coordinates of rows that were checked."""
        return self._run(self._model.transform, native(X))

    @classmethod
    def _restored(cls, model, given, **parameters):
        """A fitted estimator from a loaded model."""
        estimator = cls(**parameters)
        estimator.n_features_in_ = model.n_features
        estimator._take_names(model)
        estimator._given = given
        dtype = np.float32 if model.precision == "f32" else np.float64
        estimator._take(model, dtype, model.n_components)
        return estimator

    def _saved_model(self):
        if self._model is None:
            raise EigenliftError("The rows of the fit all look the same; there is no model to save.")
        return self._model

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def dense(X):
    """X as an array, also when it is sparse."""
    return X.toarray() if sparse.issparse(X) else X
