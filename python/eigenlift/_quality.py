"""How well an embedding keeps neighbourhoods."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.metrics import pairwise_distances
from sklearn.utils import check_array, check_consistent_length

from . import _native
from ._errors import EigenliftError, InvalidParameterError
from ._manifold import dense, known_metric
from ._parameters import is_integer
from ._rows import native
from ._threads import thread_count

if TYPE_CHECKING:
    from collections.abc import Callable

    from ._types import Rows


def _compared(function, X, X_embedded, n_neighbors, metric):
    """Trustworthiness and continuity."""
    if not is_integer(n_neighbors) or n_neighbors < 1:
        raise InvalidParameterError(
            f"The 'n_neighbors' parameter of {function} must be an int in the range [1, inf). Got {n_neighbors!r} instead."
        )
    X = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32], order="C")
    X_embedded = np.ascontiguousarray(dense(check_array(X_embedded, accept_sparse="csr")), dtype=np.float64)
    check_consistent_length(X, X_embedded)
    n_samples = X.shape[0]
    if n_neighbors >= n_samples / 2:
        raise EigenliftError(f"n_neighbors ({n_neighbors}) should be less than n_samples / 2 ({n_samples / 2})")
    word = known_metric(metric)
    if word is None:
        distances = (
            dense(X) if isinstance(metric, str) and metric == "precomputed" else pairwise_distances(X, metric=metric)
        )
        X, word = np.ascontiguousarray(distances, dtype=np.float64), "precomputed"
    return _native.neighborhoods(native(X), X_embedded, int(n_neighbors), word, thread_count(None))


def trustworthiness(
    X: Rows, X_embedded: Rows, *, n_neighbors: int = 5, metric: str | Callable[..., float] = "euclidean"
) -> float:
    """Whether neighbours of coordinates are neighbours of rows: 1 when all are.

    A neighbour that is none is counted by how far down the row's own list it stands.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
        Rows, or distances between all of them with `metric="precomputed"`.
    X_embedded : {array-like, sparse matrix} of shape (n_samples, n_components)
        Coordinates.
    n_neighbors : int, default=5
        Size of the neighbourhoods; fewer than half of the rows.
    metric : str or callable, default="euclidean"
        Between rows: any metric of scikit-learn's `pairwise_distances`, or "precomputed".

    Returns
    -------
    float

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from eigenlift import PCA, trustworthiness
    >>> X, _ = load_iris(return_X_y=True)
    >>> round(trustworthiness(X, PCA(n_components=2).fit_transform(X)), 2)
    0.98
    """
    return _compared("trustworthiness", X, X_embedded, n_neighbors, metric)[0]


def continuity(
    X: Rows, X_embedded: Rows, *, n_neighbors: int = 5, metric: str | Callable[..., float] = "euclidean"
) -> float:
    """Whether neighbours of rows are neighbours of coordinates: 1 when all are.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
        Rows, or distances between all of them with `metric="precomputed"`.
    X_embedded : {array-like, sparse matrix} of shape (n_samples, n_components)
        Coordinates.
    n_neighbors : int, default=5
        Size of the neighbourhoods; fewer than half of the rows.
    metric : str or callable, default="euclidean"
        Between rows: any metric of scikit-learn's `pairwise_distances`, or "precomputed".

    Returns
    -------
    float

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from eigenlift import PCA, continuity
    >>> X, _ = load_iris(return_X_y=True)
    >>> round(continuity(X, PCA(n_components=2).fit_transform(X)), 2)
    0.99
    """
    return _compared("continuity", X, X_embedded, n_neighbors, metric)[1]
