"""How unusual rows are to a kernel PCA: T², squared prediction error, limits, and which columns they come from."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_array, check_is_fitted

from . import _native
from . import _parameters as parameters
from ._account import Account
from ._base import EigenliftWarning
from ._errors import EigenliftError, InvalidParameterError
from ._rows import native

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ._types import Array, Rows

RULES = ("quantile", "parametric")
STATISTICS = ("spe", "t2")


class _Numbers(NamedTuple):
    t_squared: Array
    spe: Array


class Novelty(_Numbers):
    """How unusual rows are, one number of each kind for each row.

    `t_squared` is the sum of squared scores over their variances: how far out a row lies along the components. `spe` is the squared
    prediction error, the squared distance of φ(x) from the subspace: how far it lies off them.
    """

    # Moments of the scores, which show whether they are Gaussian; empty where they are not known.
    _scores: Array = np.empty(0)


class Contributions(NamedTuple):
    """Contributions of input columns to a statistic, (n_samples, n_features) in `values`.

    A row of `values` adds up to `at_row` − `at_baseline`, the statistic of the row and of the usual row in `baselines` that it is
    compared with, up to the share `defect` of the larger.
    """

    values: Array
    baselines: Array
    at_baseline: Array
    at_row: Array
    defect: float


class Limits(Account):
    """Control limits: a fraction `alpha` of normal samples exceeds one or both; `print` shows them.

    Attributes
    ----------
    t_squared, spe : float
        The limits; `spe` is None where nothing is left for it.
    t_squared_share, spe_share, share : float
        Fraction of the reference samples above each, and above either.
    rows : int
        Reference samples.
    cross_validated : bool
        Whether these are the samples of the fit, each judged by a model fitted on other samples.
    in_sample : bool
        Whether these are the samples of the fit, judged by the model itself: the false-alarm rate then differs from `alpha`.
    alpha, rule, warnings
        As requested, and what to know before using them.
    """

    def novel(self, novelty: Novelty) -> NDArray[np.bool_]:
        """Whether each row exceeds either limit; a fraction `alpha` of normal samples does.

        Parameters
        ----------
        novelty : Novelty
            What `novelty_scores` gave.

        Returns
        -------
        ndarray of bool of shape (n_samples,)
        """
        beyond = novelty.t_squared > self.t_squared * (1 + 1e-9)
        return beyond if self.spe is None else beyond | (novelty.spe > self.spe * (1 + 1e-9))

    def __str__(self):
        spe = "none" if self.spe is None else f"{self.spe:.4g}"
        rows = "rows of the fit" if self.in_sample else "reference rows"
        rows = "rows of the fit, cross-validated" if self.cross_validated else rows
        first = f"T² {self.t_squared:.4g}, SPE {spe}; {self.rule} at {self.alpha} from {self.rows} {rows}"
        return "\n".join([first, *self.warnings])


def _has_distances(estimator):
    """Whether rows alone have distances in feature space; not known before the fit."""
    model = getattr(estimator, "_model", None)
    if model is None:
        return True
    choice = estimator._fit_choice
    return not choice.precomputed and (choice.text is None or _native.kernel_is_mercer(model.kernel))


class Monitoring:
    """What `KernelPCA` has to say how unusual rows are."""

    def novelty_scores(self, X: Rows, own: ArrayLike | None = None) -> Novelty:
        """T² and squared prediction error of rows; the latter is Hoffmann's reconstruction error.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows; kernel values with the rows of the fit when the kernel is precomputed.
        own : array-like of shape (n_samples,), default=None
            k(x, x) of each row, when the kernel is precomputed, whose rows do not tell it.

        Returns
        -------
        Novelty
            With `t_squared` and `spe`.

        Examples
        --------
        >>> import numpy as np
        >>> from eigenlift import KernelPCA
        >>> angles = np.linspace(0, 2 * np.pi, 200, endpoint=False)
        >>> X = np.c_[np.cos(angles), np.sin(angles)]
        >>> kpca = KernelPCA(n_components=6, kernel="rbf", gamma=1.0).fit(X)
        >>> on_the_ring, in_the_middle = kpca.novelty_scores([[0.6, 0.8], [0.0, 0.0]]).spe
        >>> bool(in_the_middle > 5 * on_the_ring)
        True
        """
        self._check_monitored()
        return self._novelty(self._rows(X, reset=False), own)

    def _novelty(self, X, own=None):
        """As `novelty_scores`, of rows that were checked."""
        choice = self._fit_choice
        if own is not None:
            own = np.ascontiguousarray(check_array(own, ensure_2d=False, dtype=np.float64).ravel())
        elif not (choice.text or choice.precomputed):
            alone = (X[i : i + 1] for i in range(X.shape[0]))
            own = np.array([choice.matrix(row, row, self._threads())[0, 0] for row in alone], dtype=np.float64)
        if not (choice.text or choice.precomputed):
            X = np.ascontiguousarray(choice.matrix(X, self.X_fit_, self._threads()))
        *numbers, scores = self._run(_native.novelty_kernel_pca, self._model, native(X), own)
        found = Novelty(*numbers)
        found._scores = scores
        return found

    @available_if(_has_distances)
    def score_samples(self, X: Rows) -> Array:
        """How normal rows are: minus their squared prediction error, higher is more normal.

        Not there for a precomputed kernel and for one that is not positive semi-definite.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            In the precision of `X`.
        """
        self._check_monitored()
        X = self._rows(X, reset=False)
        precision = np.result_type(X.dtype, self.eigenvalues_.dtype)
        return -self._novelty(X).spe.astype(precision, copy=False)

    def limits(
        self,
        alpha: float = 0.01,
        rule: str = "quantile",
        reference: Novelty | Rows | None = None,
        X: Rows | None = None,
    ) -> Limits:
        """Control limits of T² and squared prediction error, of which a fraction `alpha` of normal samples exceeds one or both.

        Parameters
        ----------
        alpha : float, default=0.01
            The false-alarm rate of both limits together.
        rule : {"quantile", "parametric"}, default="quantile"
            Order statistics of the reference samples, which assume nothing; or the F distribution for T² and a multiple of χ² for the squared
            prediction error, which assume Gaussian scores. An `EigenliftWarning` is issued where the reference samples are not so
            (D'Agostino and Pearson's test of the scores of each component, Anderson and Darling's of T² and the squared prediction error).
        reference : Novelty, or {array-like, sparse matrix} of shape (n_samples, n_features), default=None
            Normal samples that the model was not fitted on, or what `novelty_scores` returned for them. None takes the samples of the fit
            by 10-fold cross-validation.
        X : {array-like, sparse matrix} of shape (n_samples, n_features), default=None
            The very samples of the fit, for that cross-validation; an exact fit holds them. Without them the limits of a low-rank model
            come from its samples as it sees them itself, and an `EigenliftWarning` says so.

        Returns
        -------
        Limits

        Examples
        --------
        >>> import numpy as np
        >>> from eigenlift import KernelPCA
        >>> random = np.random.default_rng(0)
        >>> X = random.normal(size=(500, 3))
        >>> kpca = KernelPCA(n_components=10, kernel="rbf", gamma=0.1).fit(X[:300])
        >>> limits = kpca.limits(alpha=0.05, reference=X[300:])
        >>> limits.novel(kpca.novelty_scores([[0, 0, 0], [9, 9, 9]])).tolist()
        [False, True]
        """
        self._check_monitored()
        if not (parameters.is_real(alpha) and 0 < alpha < 1):
            raise InvalidParameterError(f"alpha must be a float in the range (0, 1). Got {alpha!r}.")
        if rule not in RULES:
            raise InvalidParameterError(f"rule must be one of {', '.join(RULES)}. Got {rule!r}.")
        if reference is not None and not isinstance(reference, Novelty):
            reference = self.novelty_scores(reference)
        fit = None
        if reference is not None:
            numbers = (*reference, reference._scores)
            reference = tuple(np.ascontiguousarray(array, dtype=np.float64) for array in numbers)
        elif X is not None or hasattr(self, "X_fit_"):
            fit = native(self._rows_of_fit(X)[1])
        asked = (float(alpha), rule)
        limits = Limits.from_json(self._run(_native.limits_kernel_pca, self._model, asked, reference, fit))
        for message in limits.warnings:
            warnings.warn(message[0].upper() + message[1:] + ".", EigenliftWarning, stacklevel=2)
        return limits

    def contributions(self, X: Rows, statistic: str = "spe", reference: Rows | None = None) -> Contributions:
        """Which input columns make rows unusual: integrated gradients from a usual row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        statistic : {"spe", "t2"}, default="spe"
            What contributions add up to: the squared prediction error or T².
        reference : {array-like, sparse matrix} of shape (n_samples, n_features), default=None
            Usual rows; each row is compared with the nearest of them. None stands for the rows or landmarks that the model holds,
            or the mean row where it holds features of degree 1 instead.

        Returns
        -------
        Contributions

        Examples
        --------
        >>> import numpy as np
        >>> from eigenlift import KernelPCA
        >>> X = np.random.default_rng(0).normal(size=(300, 3))
        >>> kpca = KernelPCA(n_components=10, kernel="rbf", gamma=0.1).fit(X)
        >>> found = kpca.contributions([[0.1, 6.0, 0.1]])
        >>> int(found.values[0].argmax())
        1
        """
        self._check_monitored()
        if statistic not in STATISTICS:
            raise InvalidParameterError(f"statistic must be one of {', '.join(STATISTICS)}. Got {statistic!r}.")
        if not self._fit_choice.text:
            raise EigenliftError(
                f"The kernel {self.kernel!r} is precomputed or computed by Python; contributions to input columns need a kernel that "
                "can be written down. Write it as 'expr(...)'."
            )
        X = native(self._rows(X, reset=False))
        if reference is not None:
            reference = native(self._rows(reference, reset=False))
        values, rest = self._run(_native.contributions_kernel_pca, self._model, X, statistic, reference)
        found = Contributions(values, **rest)
        if found.defect > 0.01:
            warnings.warn(
                f"Contributions miss the statistic by up to {100 * found.defect:.1f} % of it: the gradient changes too fast along the way, take them as rough.",
                EigenliftWarning,
                stacklevel=2,
            )
        return found

    def _check_monitored(self):
        check_is_fitted(self)
        if self._model is None:
            raise EigenliftError("The rows of the fit all look the same; nothing can be said of others.")
