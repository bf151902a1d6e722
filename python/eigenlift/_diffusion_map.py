"""Diffusion maps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np

from . import _native
from . import _parameters as parameters
from ._account import Plan
from ._kernel_choice import choose
from ._manifold import Manifold
from ._rows import native

if TYPE_CHECKING:
    from ._kernel_base import Kernel
    from ._types import Array, Progress, RandomState, Rows

# Kernels of one rate; without a gamma it is one over the median.
_RATES = {"rbf", "laplacian"}


class DiffusionMap(Manifold):
    """Diffusion maps: distances of coordinates are those between where random walks on the rows end.

    Parameters
    ----------
    n_components : int, default=2
        Coordinates.
    kernel : str or Kernel, default="rbf"
        How likely a step from row to row is: "rbf" or "laplacian"; a description as on the command line, such as
        "exponential(gamma=2)"; or a kernel of `eigenlift.kernels`. Its values must not be negative.
    gamma : float or None, default=None
        Of "rbf" and "laplacian". None stands for one over the median of what it multiplies.
    alpha : float, default=1.0
        How much of the density of the rows is taken out: 1 for all, so that the shape alone decides, 0 for nothing.
    t : float, default=1
        Steps of the walk; need not be whole. Longer walks forget small features.
    tol : float, default=0
        Relative residual that iterations are asked for; 0 stands for 1e-10, and 1e-6 for float32.
    random_state : int, RandomState instance or None, default=None
        Of the pairs whose median is taken, and of start vectors. None stands for a fixed seed.
    memory : int, str or None, default=None
        Bytes that a fit may use beside the rows, such as "2GiB"; None for most of what is free.
    n_jobs : int or None, default=None
        Threads; None for the environment's OMP_NUM_THREADS or all processors. Results do not depend on it.
    verbose : int, default=0
        Above 0, a fit tells how far it has come.
    progress : callable or None, default=None
        Called with (stage, done, total), or a class of bars such as `tqdm.tqdm`.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The coordinates μ^t ψ.
    eigenvalues_ : ndarray of shape (n_components,)
        μ of the walk, largest first, without the first, which is 1.
    kernel_ : str
        The kernel with every number known, as the command line writes it.
    n_iter_ : int
        Iterations that the solver took.
    plan_ : Plan
        What was decided and why; print it.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from eigenlift import DiffusionMap
    >>> X, _ = make_moons(200, noise=0.05, random_state=0)
    >>> diffusion = DiffusionMap(n_components=2, gamma=20).fit(X)
    >>> diffusion.embedding_.shape
    (200, 2)
    >>> bool(abs(diffusion.transform(X) - diffusion.embedding_).max() < 1e-8)
    True
    """

    eigenvalues_: Array
    kernel_: str

    _method = "diffusion"

    def __init__(
        self,
        n_components: int = 2,
        *,
        kernel: str | Kernel = "rbf",
        gamma: float | None = None,
        alpha: float = 1.0,
        t: float = 1,
        tol: float = 0,
        random_state: RandomState = None,
        memory: int | str | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        progress: Progress = None,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.alpha = alpha
        self.t = t
        self.tol = tol
        self.random_state = random_state
        self.memory = memory
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.progress = progress

    def _check_parameters(self):
        parameters.integer(self, "n_components", 1)
        parameters.real(self, "gamma", 0, none=True, open_low=True)
        parameters.real(self, "alpha", -np.inf)
        parameters.real(self, "t", 0)
        parameters.real(self, "tol", 0)
        parameters.memory(self)

    def _text(self, n_features):
        """The kernel as the compiled part reads it."""
        if isinstance(self.kernel, str) and self.kernel in _RATES:
            return f"{self.kernel}(gamma={'median' if self.gamma is None else repr(float(self.gamma))})"
        choice = choose(
            self.kernel,
            gamma=self.gamma,
            degree=None,
            coef0=None,
            kernel_params=None,
            n_features=n_features,
            owner=type(self).__name__,
        )
        if choice.text is None:
            parameters.refuse(self, "kernel", "a name, a description or a kernel of eigenlift.kernels")
        return choice.text

    def _settings(self, X, kernel):
        residual = self._residual(self.tol) if X.dtype == np.float64 else max(self._residual(self.tol), 1e-6)
        return self._told("rows", X.shape[0], tol=residual, kernel=kernel, alpha=float(self.alpha), time=float(self.t))

    def plan(self, X: Rows) -> Plan:
        """What `fit` would do with X, without doing it.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        Plan
        """
        self._check_parameters()
        X = self._plain_rows(X)
        return self._planned(X, self._settings(X, self._text(X.shape[1])))

    def fit(self, X: Rows, y: object = None) -> Self:
        """Embeds X.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : ignored

        Returns
        -------
        self
        """
        self._check_parameters()
        X = self._rows_of_fit(X)
        text = self._text(X.shape[1])
        settings = self._settings(X, text)
        self._given = "rows"
        self.kernel_ = _native.resolve_kernel(text, native(X), settings["seed"], self._threads())
        settings["values"]["kernel"] = self.kernel_
        model = self._fitted(X, settings)
        self._settle(model, X.dtype, int(self.n_components))
        return self

    def _take(self, model, dtype, n_components):
        super()._take(model, dtype, n_components)
        self.eigenvalues_ = np.zeros(n_components)
        self.eigenvalues_[: len(model.eigenvalues)] = model.eigenvalues

    @classmethod
    def _from_model(cls, model):
        """A fitted estimator from a loaded model."""
        plan = Plan.from_json(model.plan)
        kernel = plan.metric.removeprefix("kernel ")
        estimator = cls._restored(model, "rows", n_components=plan.n_components, kernel=kernel, tol=plan.tolerance)
        estimator.kernel_ = kernel
        return estimator
