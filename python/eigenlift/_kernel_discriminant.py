"""Kernel discriminant analysis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from . import _native
from . import _parameters as parameters
from ._account import Account, Plan
from ._errors import EigenliftError
from ._kernelised import Kernelised
from ._rows import native

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ._types import Array, KernelLike, Progress, RandomState, Rows


def _classes_named(names):
    """Classes from their names in a model file: whole numbers, numbers or truth values where all are such, else text."""
    for kind in (int, float):
        try:
            values = [kind(name) for name in names]
        except ValueError:
            continue
        if [str(value) for value in values] == names:
            return np.array(values)
    return np.array([name == "True" for name in names]) if names == ["False", "True"] else np.array(names)


class KernelDiscriminant(ClassifierMixin, Kernelised):
    """Discriminant analysis in the feature space of a kernel: kernel Fisher discriminants, for any number of classes.

    Finds the directions along which class means lie far apart compared with the spread within classes, and classifies rows by
    the distance to class means there. The linear kernel with `regularization=0` is scikit-learn's `LinearDiscriminantAnalysis`
    with `solver="eigen"`.

    Parameters
    ----------
    n_components : int, default=None
        Directions that `transform` gives, at most the number of classes less 1, which None stands for. Classes are told apart by
        all of them.
    kernel : str, Kernel or callable, default="linear"
        As in `KernelPCA`, less `"auto"`.
    gamma, degree, coef0, kernel_params
        As in `KernelPCA`.
    regularization : float or "auto", default="auto"
        κ, added to the variances within classes. "auto" chooses a share of the variance by the accuracy on held-out rows.
    folds : int, default=5
        Folds of rows that are held out in turn, with all classes in each; fewer where a class has fewer rows.
    rank, error, approximation, random_state, n_jobs, memory, verbose, progress
        As in `KernelCCA`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes. Those of a loaded model are numbers where all their names are.
    priors_ : ndarray of shape (n_classes,)
        Their shares of the rows.
    means_ : ndarray of shape (n_classes, n_directions)
        Their means along all directions.
    eigenvalues_ : ndarray of shape (n_directions,)
        Variance between classes over that within, κ included, along each direction.
    explained_variance_ratio_ : ndarray of shape (n_directions,)
        Shares of their sum, as in scikit-learn's class.
    regularization_ : float
        κ.
    regularization_curve_ : Account or None
        With "auto": `shares` of the variance that were tried, the accuracies on held-out rows as `scores`, their `errors`, and
        which was `chosen`.
    held_out_accuracy_ : tuple of float or None
        Accuracy on held-out samples, mean and standard error over folds. Where κ was chosen, this is the unbiased (nested
        cross-validation) estimate: κ is chosen without the fold that is measured. None with two folds, which leave nothing to choose by.
    training_accuracy_ : float
        Accuracy on the rows of the fit. Optimistic.
    left_out_ : float or None
        What landmarks or features leave out of the kernel; None where they are exact.
    kernel_ : str
        The kernel with every number known.
    plan_ : Plan
        What was decided and why; print it.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from eigenlift import KernelDiscriminant
    >>> X, y = load_wine(return_X_y=True)
    >>> kda = KernelDiscriminant(kernel="rbf").fit(scale(X), y)
    >>> kda.transform(scale(X)).shape
    (178, 2)
    >>> kda.held_out_accuracy_[0] > 0.95
    True
    """

    classes_: NDArray[Any]
    priors_: NDArray[np.float64]
    means_: NDArray[np.float64]
    eigenvalues_: NDArray[np.float64]
    explained_variance_ratio_: NDArray[np.float64]
    regularization_: float
    regularization_curve_: Account | None
    held_out_accuracy_: tuple[float, float] | None
    training_accuracy_: float
    left_out_: float | None
    kernel_: str
    plan_: Plan

    _method = "kda"

    def __init__(
        self,
        n_components: int | None = None,
        *,
        kernel: KernelLike = "linear",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        regularization: float | str = "auto",
        folds: int = 5,
        rank: int | str | None = None,
        error: float | None = None,
        approximation: str | None = None,
        random_state: RandomState = None,
        n_jobs: int | None = None,
        memory: int | str | None = None,
        verbose: int = 0,
        progress: Progress = None,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.regularization = regularization
        self.folds = folds
        self.rank = rank
        self.error = error
        self.approximation = approximation
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.memory = memory
        self.verbose = verbose
        self.progress = progress

    def plan(self, X: Rows, y: ArrayLike) -> Plan:
        """What `fit` would do with these rows, without doing it.

        Parameters
        ----------
        X, y
            As in `fit`.

        Returns
        -------
        Plan
        """
        twin = type(self)(**self.get_params(deep=False))
        rows, _, codes, settings = twin._prepared(X, y)
        return Plan.from_json(*_native.plan_kernel_discriminant(rows, codes, settings, self._threads()))

    def fit(self, X: Rows, y: ArrayLike) -> Self:
        """Finds the directions that tell the classes apart.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows; the kernel matrix of all pairs of rows when the kernel is precomputed.
        y : array-like of shape (n_samples,)
            Their classes, at least two rows of each.

        Returns
        -------
        self
        """
        rows, classes, codes, settings = self._prepared(X, y)
        model = self._run(_native.fit_kernel_discriminant, rows, codes, settings)
        self.classes_ = classes
        self._settle(model)
        return self

    def _prepared(self, X, y):
        """Rows, the classes, that of each row by number, and settings for the compiled part."""
        parameters.integer(self, "n_components", 1, none=True)
        self._check_held_back()
        self._check_factor()
        given = X
        X, y = validate_data(
            self,
            X,
            y,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            order="C",
            ensure_min_samples=2,
        )
        check_classification_targets(y)
        classes, codes = np.unique(y, return_inverse=True)
        n_classes = len(classes)
        if n_classes < 2:
            raise EigenliftError(
                f"The number of classes has to be greater than one; got {n_classes} class. Give rows of another class."
            )
        if self.n_components is not None and self.n_components > n_classes - 1:
            raise EigenliftError(
                f"n_components={self.n_components} cannot be larger than n_classes - 1 = {n_classes - 1}. Leave it out for all."
            )
        self._sides = [self._side(self.kernel, X.shape[1])]
        rows = self._sides[0].fitted(X, given, self._threads())
        settings = {
            "n_components": None if self.n_components is None else int(self.n_components),
            "features": self._feature_settings(),
            "column_names": self._column_names() if rows.shape[1] == X.shape[1] else [],
            "class_names": [str(name) for name in classes],
            **self._regularized(),
        }
        return native(rows), classes, codes.astype(np.uint32), settings

    def _take(self, model):
        """Makes the model this estimator's."""
        facts = self._keep(model)
        self.priors_ = np.array(facts.priors)
        self.eigenvalues_ = np.array(facts.eigenvalues)
        self.means_ = np.array(facts.class_means).reshape(len(self.priors_), len(self.eigenvalues_))
        total = self.eigenvalues_.sum()
        self.explained_variance_ratio_ = self.eigenvalues_ / total if total > 0 else np.zeros_like(self.eigenvalues_)
        self.regularization_ = facts.regularization
        curve = facts["curve"]
        self.regularization_curve_ = None if curve is None else Account(curve)
        held_out = facts["held_out_accuracy"]
        self.held_out_accuracy_ = None if held_out is None else tuple(held_out)
        self.training_accuracy_ = facts.training_accuracy
        self.left_out_ = facts["left_out"]
        choice = self._sides[0].choice
        self.kernel_ = self.plan_.kernel if choice.text else str(choice.kernel)
        self._n_features_out = model.n_outputs

    def transform(self, X: Rows) -> Array:
        """Places of rows along the directions.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows; kernel values with the rows of the fit when the kernel is precomputed.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
        """
        check_is_fitted(self)
        X = self._rows(X, reset=False)
        return self._run(self._model.transform, self._compared(X, 0, self.plan_))

    def predict_log_proba(self, X: Rows) -> NDArray[np.float64]:
        """Logarithms of the probabilities of the classes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            As in `transform`.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            In double precision, in the order of `classes_`.
        """
        check_is_fitted(self)
        X = self._rows(X, reset=False)
        return self._run(_native.kernel_discriminant_log_proba, self._model, self._compared(X, 0, self.plan_))

    def predict_proba(self, X: Rows) -> NDArray[np.float64]:
        """Probabilities of the classes, as if each were normal with the variance within along the directions.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            As in `transform`.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            In the order of `classes_`.
        """
        return np.exp(self.predict_log_proba(X))

    def decision_function(self, X: Rows) -> NDArray[np.float64]:
        """What classes are decided by: the larger, the more probable.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            As in `transform`.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes the logarithm of the ratio of their probabilities, above 0 for the second; for more those of
            `predict_log_proba`.
        """
        logs = self.predict_log_proba(X)
        return logs[:, 1] - logs[:, 0] if len(self.classes_) == 2 else logs

    def predict(self, X: Rows) -> NDArray[Any]:
        """The most probable class of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            As in `transform`.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        logs = self.predict_log_proba(X)
        return self.classes_[np.argmax(logs, axis=1)]

    @classmethod
    def _from_model(cls, model):
        """A fitted estimator from a loaded model."""
        plan = Plan.from_json(model.plan)
        estimator = cls(kernel=plan.kernel, rank=cls._rank_of(plan))
        estimator._sides = [estimator._side(plan.kernel, model.n_features)]
        estimator.n_features_in_ = model.n_features
        estimator._take_names(model)
        estimator._take(model)
        facts = estimator._keep(model)
        estimator.classes_ = _classes_named(facts.class_names)
        if facts["curve"] is None:
            estimator.regularization = estimator.regularization_
        if model.n_outputs < len(estimator.eigenvalues_):
            estimator.n_components = model.n_outputs
        return estimator
