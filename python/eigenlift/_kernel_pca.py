"""Kernel PCA."""

from __future__ import annotations

import contextlib
import json
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy import linalg
from sklearn.utils.validation import check_array, check_is_fitted

from . import _native
from . import _parameters as parameters
from ._account import Certificate, Plan
from ._align import Alignable
from ._base import ONE_ROW, EigenliftWarning, Estimator, warn_of_no_variance
from ._errors import EigenliftError, UnsupportedError
from ._kernel_base import OF_DISTANCE, Kernel
from ._kernel_choice import choose
from ._kernel_choose import KernelChoice
from ._kernel_spectrum import count_nonzero, leading_eigenvalues, refuse_negative, shares, shifted, symmetric
from ._linear import completed, pass_on_warnings
from ._novelty import Monitoring
from ._preimage import WayBack
from ._rows import from_native, native, owned

if TYPE_CHECKING:
    from ._types import Array, KernelLike, Progress, RandomState, Rows

# Relative residual that is asked for when `tol` is 0, and the smallest that makes sense.
_TOLERANCE = 1e-6
_SMALLEST_TOLERANCE = 1e-14
_APPROXIMATIONS = {"pivoted", "uniform", "kmeans", "fourier", "tensorsketch"}


def _is_auto(value):
    return isinstance(value, str) and value == "auto"


class KernelPCA(WayBack, Alignable, Monitoring, Estimator):
    """Kernel principal component analysis, exact and without a stored Gram matrix where that does not fit.

    Parameters and attributes of scikit-learn's class of this name have its meaning. A fit comes with a plan, which says what was
    done and why, and a certificate, which says how far the numbers can be trusted.

    Parameters
    ----------
    n_components : int or "auto", default=None
        Components kept. None keeps all whose eigenvalue is not zero; "auto" chooses by cross-validation, as `choose_kernel_pca`
        does, see `choice_`.
    kernel : str, Kernel or callable, default="linear"
        `"linear"`, `"poly"`, `"rbf"`, `"sigmoid"`, `"cosine"`, `"laplacian"`, `"chi2"` or `"precomputed"`, with scikit-learn's
        defaults; a description as on the command line, such as `"rbf(gamma=median)"`; a kernel of `eigenlift.kernels`, such as
        `RBF(gamma=0.5) + 0.1 * Linear()`; or a function of two rows. `"auto"` and a bandwidth written `auto`, as in
        `"rbf(gamma=auto)"`, are chosen by cross-validation.
    gamma : float or "auto", default=None
        Of rbf, poly, sigmoid, laplacian and chi2. None stands for 1 / n_features (1 for chi2); "auto", for rbf, chooses.
    degree : float, default=3
        Of poly.
    coef0 : float, default=1
        Of poly and sigmoid.
    kernel_params : dict, default=None
        Keyword arguments of a kernel that is a function.
    alpha : float, default=1.0
        Ridge of the regression that learns the way back.
    fit_inverse_transform : bool, default=False
        Learns the way back from scores to rows.
    eigen_solver : {"auto", "dense", "arpack", "randomized"}, default="auto"
        `"dense"` computes all eigenpairs. The others leave the choice to the plan: every way gives eigenpairs to the
        tolerance, none is an approximation. For a kernel that is not positive semi-definite `"randomized"` takes the
        eigenvalues of largest magnitude, as scikit-learn does.
    tol : float, default=0
        Relative residual ‖K_c v − λv‖/λ that iterations are asked for; 0 stands for 1e-6. `certificate_` has what was reached.
    max_iter, iterated_power
        Taken for compatibility; iterations run until the tolerance holds.
    remove_zero_eig : bool, default=False
        Leaves out components whose eigenvalue is zero, so that there may be fewer than `n_components`.
    random_state : int, RandomState instance or None, default=None
        Of landmarks, random features and start vectors. None stands for a fixed seed.
    copy_X : bool, default=True
        Keeps a copy of X. False keeps X itself, which must then not be changed.
    n_jobs : int, default=None
        Threads. None asks the environment (EIGENLIFT_NUM_THREADS, RAYON_NUM_THREADS, OMP_NUM_THREADS), else uses all processors.
        The result does not depend on it.
    rank : int or "exact", default=None
        Landmarks or features of a low-rank fit, which is then asked for. "exact" refuses low rank: an exact fit that does not
        fit into memory is then an error.
    error : float, default=None
        In place of `rank`: as many landmarks as it takes until this share of the trace is left out.
    approximation : {"pivoted", "uniform", "kmeans", "fourier", "tensorsketch"}, default=None
        Where landmarks or features come from. None stands for pivoted when `rank` or `error` is given, and for an exact fit
        otherwise.
    repair : {"clip", "flip", "refuse"}, default=None
        What becomes of negative eigenvalues: left out, counted by magnitude, or an error. None does as scikit-learn: an error
        only when a component that is asked for has one.
    preimage : {"auto", "fixed-point", "distance", "ridge", "gradient"}, default=None
        How `inverse_transform` and `denoise` find rows: by fixed point for kernels of the distance and by gradient for others
        ("auto"), from distances to the nearest rows in closed form ("distance"), or by a regression with a bandwidth and a
        ridge of its own ("ridge"). Needs no `fit_inverse_transform`; nothing is learned in `fit`. None goes back as
        scikit-learn does, by the regression of `fit_inverse_transform=True`.
    penalty : float, default=0.0
        Holds the rows found by "fixed-point" and "gradient" to where the search began, in `denoise` to the rows themselves: 0.1
        is a gentle, 1 a strong pull. Helps when there are too few components.
    memory : int or str, default=None
        Bytes that the fit may use beside X, such as `"2GB"`. None stands for most of what is free. An exact fit that needs
        more becomes a low-rank one, with a warning.
    verbose : int, default=0
        Above 0 a line of progress goes to the standard error stream.
    progress : callable, default=None
        Called with (stage, done, total) a few times a second, or a class of bars such as `tqdm.tqdm`.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues nλ of the centred kernel matrix, largest first.
    eigenvectors_ : ndarray of shape (n_samples, n_components)
        Its eigenvectors.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Ratio of the variance in feature space that each component explains; NaN where the total is not positive, as it
        can be of an indefinite kernel.
    dual_coef_, X_transformed_fit_ : ndarray
        Of the way back, with `fit_inverse_transform=True`.
    X_fit_ : ndarray or sparse matrix
        The rows of an exact fit. A low-rank fit has `landmarks_` (None for random features) instead.
    gamma_ : float
        The gamma that was used with a kernel of scikit-learn.
    n_iter_ : int
        Iterations that the solver took.
    kernel_ : str
        The kernel with every number known, as the command line writes it.
    choice_ : KernelChoice
        How kernel, bandwidth or components were chosen, with "auto"; print it.
    plan_ : Plan
        What was decided and why; print it. None for a single row, and where the kernel itself needs rows that differ.
    certificate_ : Certificate
        Residuals and bounds on eigenvalues. Rows that all look the same to the kernel give a warning, scores of 0 and a
        certificate without intervals.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from eigenlift import KernelPCA
    >>> X, _ = load_digits(return_X_y=True)
    >>> kpca = KernelPCA(n_components=7, kernel="rbf", gamma=0.001)
    >>> kpca.fit_transform(X).shape
    (1797, 7)
    >>> kpca.certificate_.worst_residual < 1e-6
    True
    """

    eigenvalues_: Array
    eigenvectors_: Array
    explained_variance_ratio_: Array
    gamma_: float
    n_iter_: int
    kernel_: str
    X_fit_: Any
    X_transformed_fit_: Array
    dual_coef_: Array
    landmarks_: Any
    choice_: KernelChoice

    _method = "kpca"

    def __init__(
        self,
        n_components: int | str | None = None,
        *,
        kernel: KernelLike = "linear",
        gamma: float | str | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        alpha: float = 1.0,
        fit_inverse_transform: bool = False,
        eigen_solver: str = "auto",
        tol: float = 0,
        max_iter: int | None = None,
        iterated_power: int | str = "auto",
        remove_zero_eig: bool = False,
        random_state: RandomState = None,
        copy_X: bool = True,
        n_jobs: int | None = None,
        rank: int | str | None = None,
        error: float | None = None,
        approximation: str | None = None,
        repair: str | None = None,
        preimage: str | None = None,
        penalty: float = 0.0,
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
        self.alpha = alpha
        self.fit_inverse_transform = fit_inverse_transform
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.iterated_power = iterated_power
        self.remove_zero_eig = remove_zero_eig
        self.random_state = random_state
        self.copy_X = copy_X
        self.n_jobs = n_jobs
        self.rank = rank
        self.error = error
        self.approximation = approximation
        self.repair = repair
        self.preimage = preimage
        self.penalty = penalty
        self.memory = memory
        self.verbose = verbose
        self.progress = progress

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
        X = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32], order="C", ensure_min_samples=2)
        (rows, _), _, settings = self._prepared(X)
        return Plan.from_json(*_native.plan_kernel_pca(native(rows), settings, self._threads()))

    def fit(self, X: Rows, y: object = None) -> Self:
        """Fits the components of X.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows; the kernel matrix of all pairs of rows when the kernel is precomputed.
        y : ignored

        Returns
        -------
        self
        """
        given = X
        self._check_parameters()
        X = self._rows(X, reset=True)
        (rows, means), choice, settings = self._prepared(X)
        automatic = choice.automatic or settings["n_components"] is None
        # Whether a fit that chooses goes by low rank is known when it has chosen.
        low_rank = False if automatic else self._planned_low_rank(rows, settings)
        if not low_rank:
            X, rows = self._owned(X, rows, given)
        self.gamma_ = 1 / X.shape[1] if self.gamma is None else self.gamma
        self._fit_choice = choice
        for name in ("X_fit_", "landmarks_", "choice_"):
            self.__dict__.pop(name, None)
        try:
            # One row is its own mean.
            alone, reason = X.shape[0] == 1 and not automatic, ONE_ROW
            model = None if alone else self._run(_native.fit_kernel_pca, native(rows), settings)
            model = model if model is None or means is None else shifted(model, means)
        except _native.NoVarianceError as error:
            if automatic:
                raise
            model, reason = None, error
        if automatic:
            low_rank = self._take_choice(model)
        self._adopt(model, X.dtype, X.shape[0], rows)
        if model is None:
            warn_of_no_variance(reason, stacklevel=2)
            self.plan_ = self._plan_of_nothing(
                reason, X.shape, lambda: _native.plan_kernel_pca(native(rows), settings, self._threads())
            )
        if low_rank:
            self.landmarks_ = from_native(model.samples) if model is not None else None
        if not low_rank or not (choice.text or choice.precomputed):
            # A function compares new rows with these.
            self.X_fit_ = X
        if self.fit_inverse_transform:
            self._learn_way_back(X)
        return self

    def fit_transform(self, X: Rows, y: object = None) -> Array:
        """Fits the components of X and returns the scores of its rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : ignored

        Returns
        -------
        ndarray of shape (n_samples, n_components)
        """
        self.fit(X)
        return self.eigenvectors_ * np.sqrt(np.abs(self.eigenvalues_))

    def transform(self, X: Rows) -> Array:
        """Scores of rows, centred as those of the fit were.

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
        X = X.astype(np.result_type(X.dtype, self.eigenvalues_.dtype), copy=False)
        out = np.zeros((X.shape[0], len(self.eigenvalues_)), dtype=X.dtype)
        if self._model is None:
            return out
        if not (self._fit_choice.text or self._fit_choice.precomputed):
            X = self._fit_choice.matrix(X, self.X_fit_, self._threads()).astype(out.dtype, copy=False)
        scores = self._run(self._model.transform, native(X))
        if scores.shape == out.shape:
            return scores
        out[:, : scores.shape[1]] = scores
        return out

    def certify(self, X: Rows | None = None) -> Certificate:
        """Bounds from one exact pass over the kernel matrix of the rows of the fit, whatever the fit was.

        Cost: n²(2d + 2k)/2 flops, without storing the matrix.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), default=None
            The very rows of the fit; an exact fit holds them.

        Returns
        -------
        Certificate
            Also kept as `certificate_`.
        """
        _, rows = self._rows_of_fit(X)
        return self._certified(self._run(self._model.certify, native(rows)))

    def _certified(self, model):
        """Takes the model with its certificate."""
        self._tell(model)
        self.explained_variance_ratio_ = shares(self.eigenvalues_, model.total)
        return self.certificate_

    def refine(self, X: Rows | None = None) -> Self:
        """Replaces a low-rank model by the exact one, starting from its axes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), default=None
            The very rows of the fit; an exact fit holds them.

        Returns
        -------
        self
        """
        X, rows = self._owned(*self._rows_of_fit(X), X)
        model = self._run(self._model.refine, native(rows), self._settings_to_refine(rows.shape[0]))
        self._adopt(model, rows.dtype, rows.shape[0], rows)
        self.__dict__.pop("landmarks_", None)
        self.X_fit_ = X
        if self.fit_inverse_transform:
            self._learn_way_back(X)
        return self

    def _settings_to_refine(self, n_samples):
        """Settings of an exact fit with the kernel that was found."""
        settings = self._settings(self._fit_choice, n_samples)
        settings.update(kernel=self._model.kernel, approximation=None, rank=None, error=None)
        settings["n_components"] = self._wanted(n_samples)
        return settings

    def to_onnx(self, *, dtype: str | None = None) -> Any:
        """The transform as an ONNX model, for kernels made of linear, polynomial and rbf.

        Parameters
        ----------
        dtype : {"float32", "float64"}, default=None
            Of rows and scores; None stands for float32.

        Returns
        -------
        onnx.ModelProto
            With input `X` and output `scores`.
        """
        from ._onnx import kernel_model, linear_model

        check_is_fitted(self)
        model, name = self._model, type(self).__name__
        if model is None:
            axes = np.zeros((len(self.eigenvalues_), self.n_features_in_))
            return linear_model(center=None, axes=axes, dtype=dtype, n_features=self.n_features_in_, name=name)
        samples, coefficients, offset = from_native(model.samples), model.coefficients, model.offset
        if samples is None and hasattr(self, "X_fit_") and self._fit_choice.text:
            # The fit went by explicit features; over samples it is the same projection.
            samples, coefficients = self.X_fit_, model.scores() / model.eigenvalues
            coefficients -= coefficients.mean(axis=0)
            offset = self._fit_choice.times(samples, samples, coefficients, self._threads()).mean(axis=0)
        padding = (0, len(self.eigenvalues_) - len(offset))
        return kernel_model(
            kernel=self.kernel_ if self._fit_choice.text else self._fit_choice.kernel,
            samples=samples,
            coefficients=np.pad(coefficients, ((0, 0), padding)),
            offset=np.pad(offset, padding),
            origin=model.origin,
            dtype=dtype,
            n_features=self.n_features_in_,
            name=name,
        )

    def _check_parameters(self):
        if not _is_auto(self.n_components):
            parameters.integer(self, "n_components", 1, none=True)
        if not _is_auto(self.gamma):
            parameters.real(self, "gamma", 0, none=True)
        parameters.real(self, "degree", 0)
        parameters.real(self, "coef0", -np.inf)
        parameters.real(self, "alpha", 0)
        parameters.boolean(self, "fit_inverse_transform")
        parameters.choice(self, "eigen_solver", {"auto", "dense", "arpack", "randomized"})
        parameters.real(self, "tol", 0)
        parameters.integer(self, "max_iter", 1, none=True)
        if self.iterated_power != "auto":
            parameters.integer(self, "iterated_power", 0)
        parameters.boolean(self, "remove_zero_eig")
        parameters.boolean(self, "copy_X")
        if self.rank != "exact":
            parameters.integer(self, "rank", 1, none=True)
        parameters.real(self, "error", 0, none=True, open_low=True)
        if self.rank is not None and self.error is not None:
            raise EigenliftError("rank and error cannot both be given: one follows from the other. Leave one out.")
        numbers = parameters.is_integer(self.rank) and parameters.is_integer(self.n_components)
        if numbers and self.rank < self.n_components:
            raise EigenliftError(
                f"rank={self.rank} landmarks or features cannot hold n_components={self.n_components}. Give at least as many."
            )
        if self.rank == "exact" and self.approximation is not None:
            raise EigenliftError("rank='exact' and an approximation cannot both be given. Leave one out.")
        parameters.instance(self, "kernel_params", dict, none=True)
        parameters.choice(self, "approximation", _APPROXIMATIONS, none=True)
        parameters.choice(self, "repair", {"clip", "flip", "refuse"}, none=True)
        parameters.memory(self)
        self._check_way_back()
        if self.fit_inverse_transform and self._is_precomputed():
            raise EigenliftError("Cannot fit_inverse_transform with a precomputed kernel.")

    def _is_precomputed(self):
        return isinstance(self.kernel, (str, Kernel)) and str(self.kernel) == "precomputed"

    def _is_low_rank(self):
        """Whether low rank was asked for."""
        return self.rank not in (None, "exact") or self.error is not None or self.approximation is not None

    def _settings(self, choice, n_samples):
        """Settings for the compiled part."""
        by_magnitude = self.eigen_solver == "randomized" and self.repair is None
        return {
            "n_components": None if _is_auto(self.n_components) else int(self.n_components or n_samples),
            "kernel": choice.text or "precomputed",
            "tolerance": max(float(self.tol), _SMALLEST_TOLERANCE) if self.tol else _TOLERANCE,
            "seed": self._seed(),
            "repair": "flip" if by_magnitude else self.repair or "clip",
            "solver": "dense" if self.eigen_solver == "dense" else None,
            "memory": parameters.memory(self),
            "exact": self.rank == "exact",
            "approximation": self.approximation,
            "rank": None if self.rank in (None, "exact") else int(self.rank),
            "error": None if self.error is None else float(self.error),
            "column_names": self._column_names(),
        }

    def _choice(self, n_features):
        return choose(
            self.kernel,
            gamma=self.gamma,
            degree=self.degree,
            coef0=self.coef0,
            kernel_params=None if isinstance(self.kernel, (str, Kernel)) else self.kernel_params,
            n_features=n_features,
            owner=type(self).__name__,
        )

    def _prepared(self, X):
        """Rows or kernel matrix for the compiled part, with the settings."""
        choice = self._choice(X.shape[1])
        if _is_auto(self.n_components) and choice.text is None:
            raise EigenliftError(
                f"n_components='auto' with the kernel {choice.kernel!r}: cross-validation needs rows, and a kernel that can be "
                f"written down. Use {', '.join(OF_DISTANCE)} or linear, or say how many components."
            )
        return self._compared(X, choice), choice, self._settings(choice, X.shape[0])

    def _compared(self, X, choice):
        """What the compiled part fits, and means that were taken from it: the rows, or the kernel matrix when it is known."""
        if choice.text:
            return X, None
        return symmetric(X if choice.precomputed else choice.matrix(X, None, self._threads()))

    def _planned_low_rank(self, rows, settings):
        """Whether the fit will go by low rank; says so when nobody asked for it."""
        if self._is_low_rank():
            return True
        if rows.shape[0] < 2:
            return False
        try:
            plan, _ = _native.plan_kernel_pca(native(rows), settings, self._threads())
        except _native.NoVarianceError:
            return False
        return self._became_low_rank(plan)

    def _plan_of_nothing(self, reason, shape, plan):
        """The plan of a fit that found no variance; it says why there is none where `plan` needs some."""
        if shape[0] > 1:
            with contextlib.suppress(_native.NoVarianceError):
                return Plan.from_json(*plan())
        return Plan.of_no_variance(reason, shape, self._wanted(shape[0]))

    def _became_low_rank(self, plan):
        """Whether a plan goes by low rank; says so when nobody asked for it."""
        low_rank = Plan.from_json(plan).route == "low-rank"
        if not low_rank or self._is_low_rank():
            return low_rank
        warnings.warn(
            "An exact fit does not fit into the memory allowed: the kernel is approximated by landmarks, with bounds in "
            "certificate_. Allow more memory, or give rank or error to choose how closely.",
            EigenliftWarning,
            stacklevel=4,
        )
        return True

    def _take_choice(self, model):
        """Takes what the fit has chosen; says whether it went by low rank."""
        self.choice_ = KernelChoice.from_json(model.choice)
        self._fit_choice = replace(self._fit_choice, text=model.kernel)
        if _is_auto(self.gamma):
            self.gamma_ = self.choice_.bandwidth
        return self._became_low_rank(model.plan)

    def _wanted(self, n_samples):
        """Components asked for, at most."""
        if _is_auto(self.n_components):
            return self.choice_.n_components
        return n_samples if self.n_components is None else min(n_samples, self.n_components)

    def _adopt(self, model, dtype, n_samples, rows):
        """Sets the fitted attributes from a model; None is a model of no variance."""
        values = np.zeros(0) if model is None else model.eigenvalues
        wanted = self._wanted(n_samples)
        if self.repair is None:
            refuse_negative(values, dtype)
            if len(values) < wanted and not self._known_valid(model):
                refuse_negative(self._all_eigenvalues(rows, wanted), dtype)
        kept = count_nonzero(values, dtype)
        values = values[:kept]
        if model is not None and kept < model.n_components:
            model = model.keeping(kept)
        model, vectors = self._oriented(model, rows)
        size = kept if self.remove_zero_eig or self.n_components is None else wanted
        self.eigenvalues_ = np.concatenate([values, np.zeros(size - kept)]).astype(dtype)
        if vectors is not None:
            self.eigenvectors_ = completed(vectors.T, size).T.astype(dtype, order="C")
        if model is None:
            self.explained_variance_ratio_ = np.zeros_like(self.eigenvalues_)
            self._model, self.kernel_, self.plan_ = None, str(self.kernel), None
            self.certificate_ = Certificate.of_no_variance()
            self.n_iter_ = 1
            return
        self.explained_variance_ratio_ = shares(self.eigenvalues_, model.total)
        self._tell(model)
        pass_on_warnings(model)
        self.n_iter_ = max(1, json.loads(model.stats)["iterations"])
        choice = self._fit_choice
        self.kernel_ = model.kernel if choice.text else str(choice.kernel)

    def _oriented(self, model, rows):
        """The model with scikit-learn's signs, and its eigenvectors: their entry of largest magnitude is positive."""
        if model is None:
            return None, np.zeros((rows.shape[0], 0))
        vectors = model.scores() / np.sqrt(np.abs(model.eigenvalues))
        flip = vectors[np.argmax(np.abs(vectors), axis=0), np.arange(vectors.shape[1])] < 0
        if flip.any():
            vectors[:, flip] *= -1
            model = model.flipped(flip.tolist())
        return model, vectors

    @staticmethod
    def _known_valid(model):
        """Whether no eigenvalue can be negative, whatever the rows."""
        return model is not None and _native.kernel_is_mercer(model.kernel)

    def _all_eigenvalues(self, rows, count):
        """Eigenvalues that were asked for, also those that the model leaves out."""
        choice = self._fit_choice
        return leading_eigenvalues(choice.matrix(rows, None, self._threads()) if choice.text else rows, count)

    def _learn_way_back(self, X):
        """Ridge regression from scores to rows: (K(scores) + alpha·I) · dual_coef_ = X."""
        if hasattr(X, "tocsr"):
            raise UnsupportedError("Inverse transform not implemented for sparse matrices!")
        scores = np.ascontiguousarray(self.eigenvectors_ * np.sqrt(np.abs(self.eigenvalues_)))
        matrix = self._score_choice().matrix(scores, None, self._threads())
        matrix.flat[:: len(matrix) + 1] += self.alpha
        self.dual_coef_ = linalg.solve(matrix, X, assume_a="pos", overwrite_a=True)
        self.X_transformed_fit_ = scores

    def _score_choice(self):
        """The kernel as it compares scores: the numbers found from rows stay."""
        choice = self._fit_choice
        return (
            choice
            if choice.text is None
            else choose(self.kernel_, gamma=None, degree=None, coef0=None, kernel_params=None, n_features=1)
        )

    def _rows_of_fit(self, X):
        check_is_fitted(self)
        if self._model is None:
            raise EigenliftError("The rows of the fit all look the same; there is nothing to certify.")
        if X is None and not hasattr(self, "X_fit_"):
            raise EigenliftError("A low-rank model does not hold the rows of its fit. Give X.")
        X = self.X_fit_ if X is None else self._rows(X, reset=False)
        return X, self._compared(X, self._fit_choice)[0]

    def _owned(self, X, rows, given):
        """Rows, and what is compared, that nobody else changes: copied where they share memory with what was given."""
        if not self.copy_X or given is None:
            return X, rows
        kept = owned(X, given)
        return kept, kept if rows is X else rows

    def _saved_model(self):
        if self._model is None:
            raise EigenliftError("The rows of the fit all look the same; there is no model to save.")
        if not (self._fit_choice.text or self._fit_choice.precomputed):
            raise EigenliftError(
                f"The kernel {self.kernel!r} is computed by Python; a model file holds kernels that can be written down. Write it "
                "as 'expr(...)', or fit with the precomputed kernel matrix."
            )
        return self._model

    @classmethod
    def _from_model(cls, model):
        """A fitted estimator from a loaded model."""
        samples, text = from_native(model.samples), model.kernel
        low_rank = '"route":"low-rank"' in model.plan
        rank = {"rank": len(model.coefficients)} if low_rank else {}
        self = cls(n_components=model.n_components, kernel=text, **rank)
        self.n_features_in_ = model.n_features
        self._take_names(model)
        self._fit_choice = self._choice(model.n_features)
        self.gamma_ = 1 / model.n_features
        self.kernel_ = text
        self._tell(model)
        self.n_iter_ = max(1, json.loads(model.stats)["iterations"])
        precision = np.float32 if model.precision == "f32" else np.float64
        self.eigenvalues_ = model.eigenvalues.astype(precision)
        self.explained_variance_ratio_ = shares(model.eigenvalues, model.total).astype(precision)
        if '"route":"dual"' in model.plan:
            self.eigenvectors_ = (model.scores() / np.sqrt(np.abs(model.eigenvalues))).astype(precision)
            if samples is not None:
                self.X_fit_ = samples
        elif low_rank:
            self.landmarks_ = samples
        return self

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self._is_precomputed()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @property
    def _n_features_out(self):
        return self.eigenvalues_.shape[0]
