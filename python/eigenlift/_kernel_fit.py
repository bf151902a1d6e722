"""How a kernel PCA is fitted: from parameters to settings, from models to attributes."""

from __future__ import annotations

import json
import warnings
from dataclasses import replace

import numpy as np
from scipy import linalg
from sklearn.utils.validation import check_is_fitted

from . import _native
from . import _parameters as parameters
from ._account import Certificate, Plan
from ._base import EigenliftWarning, Estimator
from ._kernel_base import OF_DISTANCE, Kernel
from ._kernel_choice import choose
from ._kernel_choose import KernelChoice
from ._kernel_spectrum import count_nonzero, leading_eigenvalues, refuse_negative, shares, symmetric
from ._linear import completed, pass_on_warnings
from ._rows import from_native, native, owned

# Relative residual that is asked for when `tol` is 0, and the smallest that makes sense.
_TOLERANCE = 1e-6
_SMALLEST_TOLERANCE = 1e-14
_APPROXIMATIONS = {"pivoted", "uniform", "kmeans", "fourier", "tensorsketch"}


def _is_auto(value):
    return isinstance(value, str) and value == "auto"


class KernelFit(Estimator):
    """What `KernelPCA` does behind its public methods."""

    _method = "kpca"

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
            raise ValueError("rank and error cannot both be given: one follows from the other. Leave one out.")
        numbers = parameters.is_integer(self.rank) and parameters.is_integer(self.n_components)
        if numbers and self.rank < self.n_components:
            raise ValueError(
                f"rank={self.rank} landmarks or features cannot hold n_components={self.n_components}. Give at least as many."
            )
        if self.rank == "exact" and self.approximation is not None:
            raise ValueError("rank='exact' and an approximation cannot both be given. Leave one out.")
        parameters.instance(self, "kernel_params", dict, none=True)
        parameters.choice(self, "approximation", _APPROXIMATIONS, none=True)
        parameters.choice(self, "repair", {"clip", "flip", "refuse"}, none=True)
        parameters.memory(self)
        self._check_way_back()
        if self.fit_inverse_transform and self._is_precomputed():
            raise ValueError("Cannot fit_inverse_transform with a precomputed kernel.")

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
            raise ValueError(
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

    def _plan_of_nothing(self, rows, settings):
        """The plan of a fit that found no variance; None where a plan needs some."""
        if rows.shape[0] < 2:
            return None
        try:
            return Plan.from_json(*_native.plan_kernel_pca(native(rows), settings, self._threads()))
        except _native.NoVarianceError:
            return None

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
            self.certificate_ = Certificate({"residuals": [], "intervals": [], "ties": []})
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
            raise NotImplementedError("Inverse transform not implemented for sparse matrices!")
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
            raise ValueError("The rows of the fit all look the same; there is nothing to certify.")
        if X is None and not hasattr(self, "X_fit_"):
            raise ValueError("A low-rank model does not hold the rows of its fit. Give X.")
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
            raise ValueError("The rows of the fit all look the same; there is no model to save.")
        if not (self._fit_choice.text or self._fit_choice.precomputed):
            raise ValueError(
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
