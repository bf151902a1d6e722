"""What the kernelised estimators share: canonical correlation, discriminants and clustering go by features of a kernel."""

from __future__ import annotations

import json
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from . import _parameters as parameters
from ._account import Account, Plan
from ._base import EigenliftWarning, Estimator
from ._errors import EigenliftError
from ._kernel_base import Kernel
from ._kernel_choice import KernelChoice, choose
from ._rows import native, owned

_APPROXIMATIONS = {"pivoted", "uniform", "kmeans", "fourier", "tensorsketch"}
# Entries of a kernel matrix that differ by less than this share from those across the diagonal are meant to be equal.
_SYMMETRIC = 1e-8


def is_word(value, word):
    """Whether a parameter, which may be an array, is this word."""
    return isinstance(value, str) and value == word


def _gram(K, single):
    """A kernel matrix as the compiled part takes it: dense, square and symmetric."""
    if K.shape[0] != K.shape[1]:
        raise EigenliftError(f"Kernel matrix must be a square matrix. Input is a {K.shape[0]}x{K.shape[1]} matrix.")
    K = np.asarray(K.toarray() if sparse.issparse(K) else K, dtype=np.float32 if single else np.float64)
    gap, largest = np.abs(K - K.T).max(initial=0), np.abs(K).max(initial=0)
    if gap > _SYMMETRIC * largest and not (single and gap <= 1e-5 * largest):
        raise EigenliftError(
            f"The kernel matrix is not symmetric: entries differ by up to {gap:.3g} across the diagonal; k(x, y) must be k(y, x). "
            "Give a symmetric kernel, or the mean of the matrix and its transpose."
        )
    return K if gap == 0 else (K + K.T) / 2


@dataclass
class Side:
    """How the rows of one table are compared: by the compiled part, or by Python, which then holds the rows of the fit."""

    choice: KernelChoice
    rows: Any = None

    def fitted(self, X, given, threads):
        """What the compiled part fits: the rows, or the kernel matrix where Python knows it."""
        if self.choice.text:
            return X
        if not self.choice.precomputed:
            self.rows = owned(X, given)
            X = self.choice.matrix(self.rows, None, threads)
        return _gram(X, X.dtype == np.float32)

    def compared(self, X, threads):
        """What the compiled part takes for new rows."""
        if self.rows is None:
            return X
        return np.ascontiguousarray(self.choice.matrix(X, self.rows, threads), dtype=X.dtype)

    @property
    def can_be_written(self):
        return bool(self.choice.text or self.choice.precomputed)


class Kernelised(Estimator):
    """Base of the kernelised estimators: from parameters to settings, from kernels to what is computed, accounts.

    Subclasses have the parameters `kernel`, `gamma`, `degree`, `coef0`, `kernel_params`, `rank`, `error`, `approximation`,
    `random_state`, `memory`, `n_jobs`, `verbose` and `progress`. `_sides` has one entry for each table of the fit.
    """

    def _check_factor(self):
        """Checks what all have: the kernel's numbers, landmarks and memory."""
        parameters.real(self, "gamma", 0, none=True)
        parameters.real(self, "degree", 0)
        parameters.real(self, "coef0", -np.inf)
        parameters.instance(self, "kernel_params", dict, none=True)
        if not is_word(self.rank, "exact"):
            parameters.integer(self, "rank", 1, none=True)
        parameters.real(self, "error", 0, none=True, open_low=True)
        parameters.choice(self, "approximation", _APPROXIMATIONS, none=True)
        if self.rank is not None and self.error is not None:
            raise EigenliftError("rank and error cannot both be given: one follows from the other. Leave one out.")
        if is_word(self.rank, "exact") and self.approximation is not None:
            raise EigenliftError("rank='exact' and an approximation cannot both be given. Leave one out.")
        if self.error is not None and self.approximation not in (None, "pivoted"):
            raise EigenliftError(
                f"error is for pivoted landmarks; with approximation={self.approximation!r} give rank."
            )
        parameters.memory(self)

    def _check_held_back(self):
        """Checks the regularisation and the folds that choose it."""
        if not is_word(self.regularization, "auto"):
            if isinstance(self.regularization, str):
                parameters.refuse(self, "regularization", "'auto' or a float in the range [0, inf)")
            parameters.real(self, "regularization", 0)
        parameters.integer(self, "folds", 2)

    def _side(self, kernel, n_features):
        choice = choose(
            kernel,
            gamma=self.gamma,
            degree=self.degree,
            coef0=self.coef0,
            kernel_params=None if isinstance(kernel, (str, Kernel)) else self.kernel_params,
            n_features=n_features,
            owner=type(self).__name__,
        )
        if choice.automatic:
            raise EigenliftError(
                f"The kernel {choice.text} has an 'auto', which KernelPCA and choose_kernel_pca choose; numbers, 'median' and '1/d' "
                f"are known here. Write a number, or search over kernels with GridSearchCV."
            )
        return Side(choice)

    def _feature_settings(self):
        """Settings of features for the compiled part."""
        exact = is_word(self.rank, "exact")
        return {
            "kernels": [side.choice.text or "precomputed" for side in self._sides],
            "seed": self._seed(),
            "memory": parameters.memory(self),
            "exact": exact,
            "approximation": self.approximation,
            "rank": None if exact or self.rank is None else int(self.rank),
            "error": None if self.error is None else float(self.error),
        }

    def _regularized(self):
        """Regularisation and folds for the compiled part; None is chosen."""
        kappa = None if is_word(self.regularization, "auto") else float(self.regularization)
        return {"regularization": kappa, "folds": int(self.folds)}

    def _is_precomputed(self):
        """Whether X is a kernel matrix."""
        kernel = self.kernel[0] if isinstance(self.kernel, (list, tuple)) and self.kernel else self.kernel
        return isinstance(kernel, (str, Kernel)) and str(kernel) == "precomputed"

    def _keep(self, model):
        """Keeps the model with its plan, and returns what was found."""
        self._model = model
        self.plan_ = Plan.from_json(model.plan, model.plan_text)
        return Account(json.loads(model.facts))

    def _settle(self, model):
        """Takes the model of a fit, and tells what it warns of."""
        self._take(model)
        for text in model.warnings:
            warnings.warn(text, self._category(text), stacklevel=3)

    def _category(self, text):
        """The kind of a warning."""
        return EigenliftWarning

    def _compared(self, X, place, plan):
        """Rows in the wider of their precision and the model's, or their kernel values, for the compiled part."""
        precision = np.float32 if plan["precision"] == "f32" else np.float64
        X = X.astype(np.result_type(X.dtype, precision), copy=False)
        return native(self._sides[place].compared(X, self._threads()))

    def _saved_model(self):
        for side in self._sides:
            if not side.can_be_written:
                raise EigenliftError(
                    f"The kernel {side.choice.kernel!r} is computed by Python; a model file holds kernels that can be written down. "
                    "Write it as 'expr(...)', or fit with the precomputed kernel matrix."
                )
        return self._model

    @staticmethod
    def _rank_of(plan):
        """The parameter `rank` of a loaded model."""
        return None if plan["exact"] else plan["rank"]

    def __sklearn_is_fitted__(self):
        return hasattr(self, "_model")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self._is_precomputed()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
