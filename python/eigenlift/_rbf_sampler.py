"""Random Fourier features of a Gaussian kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy import sparse
from sklearn.metrics.pairwise import paired_euclidean_distances
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from . import _native, _parameters
from ._account import Account
from ._base import Estimator
from ._errors import InvalidParameterError
from ._rows import native

if TYPE_CHECKING:
    from ._types import Array, Progress, RandomState, Rows

_PAIRS = 2000


class RBFSampler(Estimator):
    """Random features whose inner products approximate exp(−gamma·‖x−y‖²).

    z(x) = √(2/m)·cos(Wᵀx + b) with m random frequencies W and phases b. Drops in for
    `sklearn.kernel_approximation.RBFSampler`; the parameters from `orthogonal` on are further ones.

    Parameters
    ----------
    gamma : 'scale' or float, default=1.0
        `'scale'` stands for 1/(n_features·variance of all entries).
    n_components : int, default=100
        Features m.
    random_state : int, RandomState instance or None, default=None
        Decides the frequencies and phases; the same ones as scikit-learn draws.
    orthogonal : bool, default=False
        Makes frequencies orthogonal to each other, in blocks of as many as there are columns, with lengths distributed
        as before. The error becomes smaller, most of all for small gamma.
    n_jobs : int, default=None
        Threads; None asks the environment and takes all processors otherwise.
    verbose : int, default=0
        Above 0, progress is written to the standard error stream.
    progress : callable, default=None
        Called with (stage, done, total), or a class of bars such as `tqdm.tqdm`.

    Attributes
    ----------
    random_weights_ : ndarray of shape (n_features, n_components)
        Frequencies W, one in each column.
    random_offset_ : ndarray of shape (n_components,)
        Phases b.
    n_features_in_ : int
        Columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if they have any.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenlift import RBFSampler
    >>> X = np.random.default_rng(0).normal(size=(500, 10))
    >>> features = RBFSampler(gamma=0.02, n_components=400, orthogonal=True, random_state=0)
    >>> features.fit_transform(X).shape
    (500, 400)
    >>> features.certify(X).relative_error < 0.1
    True
    """

    random_weights_: Array
    random_offset_: Array

    def __init__(
        self,
        *,
        gamma: float | str = 1.0,
        n_components: int = 100,
        random_state: RandomState = None,
        orthogonal: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
        progress: Progress = None,
    ) -> None:
        self.gamma = gamma
        self.n_components = n_components
        self.random_state = random_state
        self.orthogonal = orthogonal
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.progress = progress

    def fit(self, X: Rows, y: object = None) -> Self:
        """Draws frequencies and phases for rows of this many columns.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows; their values matter only for gamma='scale'.
        y : None
            Ignored.

        Returns
        -------
        self
        """
        self._check_parameters()
        X = self._rows(X, reset=True)
        random = check_random_state(self.random_state)
        self._gamma = self._scale(X) if isinstance(self.gamma, str) else self.gamma
        shape = (X.shape[1], self.n_components)
        frequencies = _orthogonal(random, *shape) if self.orthogonal else random.normal(size=shape)
        weights = (2.0 * self._gamma) ** 0.5 * frequencies
        offset = random.uniform(0, 2 * np.pi, size=self.n_components)
        self.random_weights_ = weights.astype(X.dtype, copy=False)
        self.random_offset_ = offset.astype(X.dtype, copy=False)
        self._n_features_out = self.n_components
        return self

    def transform(self, X: Rows) -> Array:
        """Features of rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
        """
        check_is_fitted(self)
        return self._features(self._rows(X, reset=False))

    def certify(self, X: Rows) -> Any:
        """How far the features are from the kernel, on 2000 pairs of rows drawn with a fixed seed.

        This is an estimate from a sample, not a bound.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        Account
            With `root_mean_square_error` of ⟨z(x), z(y)⟩ against k(x, y), `relative_error`, which is this as a share of
            the root mean square of k(x, y), and `n_pairs`.
        """
        check_is_fitted(self)
        X = self._rows(X, reset=False)
        random, n_samples = np.random.default_rng(0), X.shape[0]
        first = random.integers(n_samples, size=_PAIRS)
        second = (first + random.integers(1, max(n_samples, 2), size=_PAIRS)) % n_samples
        distances = paired_euclidean_distances(X[first].astype(np.float64), X[second].astype(np.float64))
        kernel = np.exp(-self._gamma * distances**2)
        used, places = np.unique([first, second], return_inverse=True)
        features = self._features(X[used])
        first, second = places.reshape(2, -1)
        approximate = np.einsum("ij,ij->i", features[first], features[second], dtype=np.float64)
        error = float(np.sqrt(np.mean((approximate - kernel) ** 2)))
        size = float(np.sqrt(np.mean(kernel**2)))
        relative = error / size if size > 0 else float("inf")
        return Account(
            {"root_mean_square_error": error, "relative_error": relative, "n_pairs": _PAIRS},
            f"On {_PAIRS} pairs of rows the kernel is off by {error:.3g} (root mean square), {relative:.3g} of its "
            "size. This is an estimate from a sample, not a bound.",
        )

    def _check_parameters(self):
        is_scale = isinstance(self.gamma, str) and self.gamma == "scale"
        if not is_scale and not (_parameters.is_real(self.gamma) and self.gamma >= 0):
            _parameters.refuse(self, "gamma", "a str among {'scale'} or a float in the range [0.0, inf)")
        _parameters.integer(self, "n_components", 1)
        _parameters.boolean(self, "orthogonal")

    def _scale(self, X):
        if sparse.issparse(X):
            variance = X.multiply(X).mean() - X.mean() ** 2
        else:
            variance = X.var()
        return 1.0 / (X.shape[1] * variance) if variance != 0 else 1.0

    def _features(self, X):
        if self.random_weights_.dtype == np.float64:
            X = X.astype(np.float64, copy=False)
        weights = np.ascontiguousarray(self.random_weights_, dtype=np.float64)
        offset = self.random_offset_.astype(np.float64, copy=False)
        return self._run(_native.cosine_features, native(X), weights, offset)

    def _saved_model(self):
        raise InvalidParameterError(
            f"{type(self).__name__} has no model file: pickle it, or save a KernelPCA of low rank."
        )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _orthogonal(random, n_features, n_components):
    """Frequencies, each distributed as n_features normal numbers, but orthogonal in blocks of n_features."""
    blocks = []
    for start in range(0, n_components, n_features):
        width = min(n_features, n_components - start)
        directions, triangle = np.linalg.qr(random.normal(size=(n_features, width)))
        # With these signs directions are distributed evenly.
        directions *= np.where(np.diag(triangle) < 0, -1.0, 1.0)
        blocks.append(directions * np.sqrt(random.chisquare(n_features, size=width)))
    return np.hstack(blocks)
