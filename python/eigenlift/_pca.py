"""Principal component analysis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np
from scipy import sparse
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import check_is_fitted

from . import _native, _parameters
from ._account import Account, Certificate, Plan
from ._base import warn_of_no_variance
from ._errors import EigenliftError, InvalidParameterError
from ._linear import (
    ROUTES,
    PrincipalAxes,
    attributes,
    check_weights,
    mean_of,
    minka,
    pass_on_warnings,
    rows_meant,
)
from ._rows import native

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ._types import Array, Progress, RandomState, Rows

_SOLVERS = {"auto", "full", "covariance_eigh", "arpack", "randomized"}
_SPARSE_SOLVERS = {"auto", "arpack", "covariance_eigh"}
_ROUTE_OF_SOLVER = {"covariance_eigh": "covariance", "full": "tsqr"}
# From so many rows and columns on, "arpack" stands for an iteration; below, direct ways are faster and as exact.
_MANY = 2048
# Smallest tolerance of an iteration, and the one that `tol=0.0` stands for.
_LEAST_TOLERANCE, _TOLERANCE = 1e-14, 1e-6


class PCA(PrincipalAxes):
    """Principal component analysis: the orthonormal directions in which rows vary most.

    A drop-in for `sklearn.decomposition.PCA`: the same parameters, attributes, errors and precisions. Results are
    exact up to rounding, or up to `tol` where an iteration is needed, whatever solver is named.

    Parameters
    ----------
    n_components : int, float, "mle", "auto" or None, default=None
        How many components are kept: a number; a share of the variance between 0 and 1 that they must exceed; "mle"
        for Minka's rule; "auto" for what several rules agree on, see `choice_`; None for all, min(n_samples,
        n_features) of them, or one less with `svd_solver="arpack"`.
    copy : bool, default=True
        Accepted as by scikit-learn. Rows are never written to.
    whiten : bool, default=False
        Divide scores by their standard deviations.
    svd_solver : {"auto", "full", "covariance_eigh", "arpack", "randomized"}, default="auto"
        Which way to go. "full" squares nothing and keeps the digits of faint components, "covariance_eigh" takes
        eigenvectors of the covariance, "arpack" iterates when there are many rows and columns. "auto" and "randomized"
        leave it to the plan.
    tol : float, default=0.0
        Relative residual that an iteration must reach; 0 stands for 1e-6. Other ways are direct.
    iterated_power : int or "auto", default="auto"
        Accepted as by scikit-learn; nothing here is exact only after enough power iterations.
    n_oversamples : int, default=10
        Accepted as by scikit-learn; not needed, as `iterated_power`.
    power_iteration_normalizer : {"auto", "QR", "LU", "none"}, default="auto"
        Accepted as by scikit-learn; not needed, as `iterated_power`.
    random_state : int, RandomState instance or None, default=None
        Fixes the start of an iteration. None does so too, by 0.
    standardize : bool, default=False
        Divide every column by its standard deviation (1/n) first. Columns that are constant stay 0.
    route : {"covariance", "dual", "tsqr", "krylov", "directions"} or None, default=None
        The way to go, whatever `svd_solver` says. "directions" gives bounds instead of exact variances.
    sketch_rows : int, default=None
        Rows of the sketch of the route "directions", more than components; None stands for max(4·n_components, 100).
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
    components_ : ndarray of shape (n_components, n_features)
        The directions, largest variance first; the entry of largest magnitude is positive. Where rows have fewer
        directions than were asked for, others without variance complete them.
    explained_variance_ : ndarray of shape (n_components,)
        Variances along them, divided by n_samples - 1, or by the sum of the weights minus 1.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Their shares of the variance of all columns.
    singular_values_ : ndarray of shape (n_components,)
        Singular values of the centred rows.
    spectrum_ : ndarray
        All variances that are known, those of the components first.
    mean_ : ndarray of shape (n_features,)
        Means of the columns.
    scale_ : ndarray of shape (n_features,) or None
        What columns were divided by, with `standardize=True`.
    noise_variance_ : float
        Mean of the variances that were left out.
    n_components_ : int
        How many components there are.
    n_samples_ : int
        Rows, or the sum of their weights where that is a whole number.
    n_features_in_ : int
        Columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, when they are all strings.
    plan_ : Plan
        What was decided and why.
    certificate_ : Certificate
        What is proved about the eigenvalues.
    choice_ : Account
        With `n_components="auto"`, what each rule says.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenlift import PCA
    >>> X = np.array([[-1, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]])
    >>> pca = PCA(n_components=2).fit(X)
    >>> pca.explained_variance_ratio_.round(4)
    array([0.9924, 0.0076])
    >>> pca.certificate_.worst_residual < 1e-12
    True
    >>> pca.transform([[0.0, 1.0]]).round(4)
    array([[0.5449, 0.8385]])
    """

    n_samples_: int
    scale_: Array | None

    _method = "pca"

    def __init__(
        self,
        n_components: int | float | str | None = None,
        *,
        copy: bool = True,
        whiten: bool = False,
        svd_solver: str = "auto",
        tol: float = 0.0,
        iterated_power: int | str = "auto",
        n_oversamples: int = 10,
        power_iteration_normalizer: str = "auto",
        random_state: RandomState = None,
        standardize: bool = False,
        route: str | None = None,
        sketch_rows: int | None = None,
        memory: int | str | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        progress: Progress = None,
    ) -> None:
        self.n_components = n_components
        self.copy = copy
        self.whiten = whiten
        self.svd_solver = svd_solver
        self.tol = tol
        self.iterated_power = iterated_power
        self.n_oversamples = n_oversamples
        self.power_iteration_normalizer = power_iteration_normalizer
        self.random_state = random_state
        self.standardize = standardize
        self.route = route
        self.sketch_rows = sketch_rows
        self.memory = memory
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.progress = progress

    def fit(self, X: Rows, y: object = None, sample_weight: ArrayLike | None = None) -> Self:
        """Finds the components of rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows. Sparse ones stay sparse.
        y : Ignored
            There for the sake of pipelines.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            How often each row counts: a weight of 2 is the same as the row twice, 0 the same as leaving it out.

        Returns
        -------
        self : PCA
            The fitted estimator.
        """
        self._fit(X, sample_weight)
        return self

    def fit_transform(self, X: Rows, y: object = None, sample_weight: ArrayLike | None = None) -> Array:
        """Finds the components of rows and gives the scores of the same rows: `fit(X).transform(X)`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : Ignored
            There for the sake of pipelines.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            As in `fit`.

        Returns
        -------
        X_new : ndarray of shape (n_samples, n_components)
            Scores.
        """
        return self._scores(self._fit(X, sample_weight))

    def plan(self, X: Rows) -> Plan:
        """What `fit` would do with these rows, without doing it.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        plan : Plan
            Route, passes and bytes, with reasons; `print` gives them in words.
        """
        self._check_parameters(X)
        X = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32], order="C", ensure_min_samples=2)
        settings = self._settings(X, self._to_solve(X, X.shape[0]))
        return Plan.from_json(*_native.plan_pca(native(X), settings, self._threads()))

    def _fit(self, X, sample_weight):
        """Fits and gives the rows as they were checked."""
        self._check_parameters(X)
        X = self._rows(X, reset=True, min_samples=2, finite=False)
        weights, n_rows = check_weights(sample_weight, X)
        settings = self._solved(X, n_rows, lambda settings: self._run_on(X, _native.fit_pca, weights, settings))
        if settings is not None:
            share = None if weights is None else weights / weights.sum()
            self._take_constant_rows(mean_of(X, share).astype(X.dtype), n_rows, settings)
            self._weight = float(n_rows) if weights is None else float(weights.sum())
            self.plan_ = Plan.from_json(*_native.plan_pca(native(X), settings, self._threads()))
        return X

    def _solved(self, X, n_rows, fit):
        """Takes the model of `fit(settings)`, for rows of this shape; gives the settings when the rows all look the same."""
        self.__dict__.pop("choice_", None)
        wanted = self._to_solve(X, n_rows)
        settings = self._settings(X, wanted) | {"column_names": self._column_names()}
        try:
            model = fit(settings)
        except _native.NoVarianceError as error:
            warn_of_no_variance(error, stacklevel=4)
            return settings
        pass_on_warnings(model, stacklevel=5)
        n_components = model.n_components
        if wanted is not None:
            n_components = self._chosen(model, wanted, n_rows)
            if n_components != settings["n_components"]:
                model = model.keeping(max(1, n_components))
        self._take(model, n_components, n_rows)
        return None

    def _check_parameters(self, X):
        n_components = self.n_components
        if not (
            n_components is None
            or (isinstance(n_components, str) and n_components in ("mle", "auto"))
            or (_parameters.is_integer(n_components) and n_components >= 0)
            or (_parameters.is_real(n_components) and not _parameters.is_integer(n_components) and 0 < n_components < 1)
        ):
            _parameters.refuse(
                self,
                "n_components",
                "an int in the range [0, inf), a float in the range (0.0, 1.0), a str among {'auto', 'mle'} or None",
            )
        for name in ("copy", "whiten", "standardize"):
            _parameters.boolean(self, name)
        _parameters.choice(self, "svd_solver", _SOLVERS)
        _parameters.real(self, "tol", 0.0)
        power = self.iterated_power
        if not (isinstance(power, str) and power == "auto") and not (_parameters.is_integer(power) and power >= 0):
            _parameters.refuse(self, "iterated_power", "a str among {'auto'} or an int in the range [0, inf)")
        _parameters.integer(self, "n_oversamples", 1)
        _parameters.choice(self, "power_iteration_normalizer", {"auto", "QR", "LU", "none"})
        _parameters.choice(self, "route", ROUTES, none=True)
        _parameters.integer(self, "sketch_rows", 1, none=True)
        check_random_state(self.random_state)
        if sparse.issparse(X) and self.svd_solver not in _SPARSE_SOLVERS:
            raise InvalidParameterError(
                'PCA only support sparse inputs with the "arpack" and "covariance_eigh" solvers, while '
                f'"{self.svd_solver}" was passed. See TruncatedSVD for a possible alternative.'
            )

    def _to_solve(self, X, n_rows):
        """How many components the library is asked for; None when its rules choose.

        Refuses what scikit-learn refuses.
        """
        smallest = min(n_rows, X.shape[1])
        solver = self._solver_of(X, n_rows)
        wanted = self.n_components
        if isinstance(wanted, str) and wanted == "auto":
            return None
        if wanted is None:
            wanted = smallest - 1 if solver == "arpack" else smallest
        bounds = f"min(n_samples, n_features)={smallest} with svd_solver='{solver}'"
        if solver in ("arpack", "randomized"):
            if isinstance(wanted, str):
                raise EigenliftError(f"n_components={wanted!r} cannot be a string with svd_solver='{solver}'")
            if not 1 <= wanted <= smallest:
                raise EigenliftError(f"n_components={wanted!r} must be between 1 and {bounds}")
            if solver == "arpack" and wanted == smallest:
                raise EigenliftError(
                    f"n_components={wanted!r} must be strictly less than {bounds}: there are n_samples={n_rows} and "
                    f"n_features={X.shape[1]}"
                )
        elif isinstance(wanted, str):
            if n_rows < X.shape[1]:
                raise EigenliftError("n_components='mle' is only supported if n_samples >= n_features")
        elif not 0 <= wanted <= smallest:
            raise EigenliftError(f"n_components={wanted} must be between 0 and {bounds}")
        # A share of the variance and "mle" need all variances.
        return int(wanted) if _parameters.is_integer(wanted) else smallest

    def _solver_of(self, X, n_rows):
        """The solver that scikit-learn would take, which decides what it refuses."""
        wanted, n_features = self.n_components, X.shape[1]
        if self.svd_solver != "auto":
            return self.svd_solver
        if sparse.issparse(X):
            return "arpack"
        if n_features <= 1000 and n_rows >= 10 * n_features:
            return "covariance_eigh"
        few = not isinstance(wanted, str) and wanted is not None and 1 <= wanted < 0.8 * min(n_rows, n_features)
        return "randomized" if few and max(n_rows, n_features) > 500 else "full"

    def _settings(self, X, wanted):
        route = self.route or _ROUTE_OF_SOLVER.get(self.svd_solver)
        if route is None and self.svd_solver == "arpack" and wanted is not None:
            smallest = min(X.shape)
            route = "krylov" if smallest > _MANY and 5 * wanted < smallest else None
        return {
            "n_components": None if wanted is None else max(1, wanted),
            "standardize": bool(self.standardize),
            "route": route,
            "tolerance": max(float(self.tol), _LEAST_TOLERANCE) if self.tol else _TOLERANCE,
            "seed": self._seed(),
            "memory": _parameters.memory(self),
            "sketch_rows": None if self.sketch_rows is None else int(self.sketch_rows),
            "column_names": [],
        }

    def _chosen(self, model, solved, n_rows):
        """How many of the components that were solved for are kept."""
        wanted = self.n_components
        if wanted is None or _parameters.is_integer(wanted):
            return solved
        values = np.zeros(solved)
        values[: model.n_components] = model.eigenvalues
        if isinstance(wanted, str):
            return minka(values / (model.weight - 1), n_rows)
        # As the attribute, so that a sum of its entries is met exactly.
        shares = (values / model.total).astype(_precision(model)).cumsum()
        return min(int(np.searchsorted(shares, wanted, side="right")) + 1, solved)

    def _take(self, model, n_components, n_rows):
        """Makes the model this estimator's."""
        self._take_accounts(model)
        precision = np.dtype(_precision(model))
        vars(self).update(attributes(model, n_components, n_rows, (n_rows, model.n_features), precision))
        self.mean_ = model.mean.astype(precision)
        self.scale_ = None if model.scale is None else model.scale.astype(precision)
        self.n_components_, self.n_samples_, self._weight = n_components, n_rows, model.weight
        if model.choice is not None:
            self.choice_ = Account.from_json(model.choice)

    def _take_constant_rows(self, mean, n_rows, settings):
        """The result for rows that all look the same: any directions, without variance."""
        n_components = 1 if settings["n_components"] is None else settings["n_components"]
        wanted = self.n_components
        if isinstance(wanted, str) or (wanted is not None and not _parameters.is_integer(wanted)):
            n_components = 1
        elif wanted == 0:
            n_components = 0
        vars(self).update(attributes(None, n_components, n_rows, (n_rows, len(mean)), mean.dtype))
        self.mean_, self._model = mean, None
        self.scale_ = np.ones_like(mean) if self.standardize else None
        self.n_components_, self.n_samples_ = n_components, n_rows
        self.certificate_ = Certificate.of_no_variance()

    @classmethod
    def _from_model(cls, model):
        """A fitted estimator from a model file."""
        plan = Account.from_json(model.plan)
        n_rows = rows_meant(model.weight, model.n_samples)
        asked = model.n_components if plan.n_components is None else plan.n_components
        n_components = max(model.n_components, min(asked, n_rows, model.n_features))
        estimator = cls(n_components=n_components, standardize=model.scale is not None)
        estimator._take(model, n_components, n_rows)
        return estimator

    @property
    def loadings_(self) -> Array:
        """Components times the square roots of their variances, one row for each column of the data.

        Where all components are kept, the squares of a row add up to the variance of that column.
        """
        return self.components_.T * np.sqrt(self.explained_variance_)

    def t_squared(self, X: Rows) -> Array:
        """Hotelling's T²: the squared distance of each row from the mean within the components.

        It is counted in standard deviations (1/n) along each of them.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        distances : ndarray of shape (n_samples,)
            Over the rows of the fit their mean is the number of components with variance.
        """
        check_is_fitted(self)
        X = self._rows(X, reset=False)
        scores = self._plain_scores(X).astype(np.float64, copy=False)
        variances = self.explained_variance_ * ((self._weight - 1) / self._weight)
        there = variances > 0
        return (scores[:, there] ** 2 / variances[there]).sum(axis=1).astype(X.dtype, copy=False)

    def reconstruction_error(self, X: Rows) -> Array:
        """The squared distance of each row from what `inverse_transform` makes of its scores.

        Columns that were standardised count in that form.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        errors : ndarray of shape (n_samples,)
            Over the rows of the fit their mean is the sum (1/n) of the variances left out.
        """
        check_is_fitted(self)
        X = self._rows(X, reset=False)
        return self._taken_apart(X)[1].astype(X.dtype, copy=False)

    def score_samples(self, X: Rows) -> Array:
        """Log-likelihood of each row by the probabilistic model.

        Without noise and with fewer directions than columns it is that within the subspace of the components.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        log_likelihoods : ndarray of shape (n_samples,)
            One for each row.
        """
        check_is_fitted(self)
        X = self._rows(X, reset=False)
        scores, left_out = self._taken_apart(X)
        excess, noise = self._excess()
        variances = excess + noise
        there = variances > 0
        n_elsewhere = X.shape[1] - len(variances) if noise > 0 else 0
        squares = (scores[:, there] ** 2 / variances[there]).sum(axis=1)
        size = np.log(variances[there]).sum()
        if noise > 0:
            squares += left_out / noise
            size += n_elsewhere * np.log(noise)
        if self.scale_ is not None:
            size += 2.0 * np.log(self.scale_.astype(np.float64)).sum()
        directions = np.count_nonzero(there) + n_elsewhere
        likelihoods = -0.5 * (squares + directions * np.log(2.0 * np.pi) + size)
        return likelihoods.astype(np.result_type(X.dtype, self.components_.dtype), copy=False)

    def score(self, X: Rows, y: object = None) -> float:
        """Mean of `score_samples` over rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : Ignored
            There for the sake of pipelines.

        Returns
        -------
        log_likelihood : float
            The mean.
        """
        return float(np.mean(self.score_samples(X)))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.svd_solver in _SPARSE_SOLVERS
        return tags


def _precision(model):
    return np.float32 if model.precision == "f32" else np.float64
