"""A kernel PCA matched to an earlier one, so that scores can be compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils.validation import check_is_fitted

from . import _native
from . import _parameters as parameters
from ._account import Account
from ._errors import EigenliftError, InvalidParameterError
from ._rows import native

if TYPE_CHECKING:
    from ._kernel_pca import KernelPCA
    from ._types import Rows


class Alignment(Account):
    """How a model was matched to an earlier one; `print` gives it in words.

    Attributes
    ----------
    turned : list of bool
        Whether each axis was turned: its sign, or by a rotation inside its group.
    groups : list of list of int
        First and last of components, from 0, that are nearly tied and were rotated together.
    agreement : list of float
        |cos| between the scores of each component and the earlier ones, after the alignment.
    angle : float
        Largest angle between the subspaces of both, in degrees.
    sentence, warnings
        What was done, and what to know before comparing scores.
    """

    def __str__(self):
        return "\n".join([self.sentence, *self.warnings])


class Alignable:
    """What `KernelPCA` has to be compared with an earlier fit."""

    def align(self, earlier: KernelPCA, X: Rows, *, near_tie: float = 0.01) -> Alignment:
        """Turns the axes of this model to those of an earlier one, so that scores of the two can be compared.

        A component whose eigenvalue stands apart keeps its axis, and only its sign is chosen. Those that are nearly tied are
        determined only together, and are rotated among themselves. `eigenvectors_` and scores follow; `eigenvalues_` stay.

        Parameters
        ----------
        earlier : KernelPCA
            A fitted model.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows that both models give scores to: a few hundred typical ones.
        near_tie : float, default=0.01
            Eigenvalues closer than this share of the larger are nearly tied.

        Returns
        -------
        Alignment
            How well the two match; print it.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn.datasets import load_iris
        >>> from eigenlift import KernelPCA
        >>> X = load_iris().data
        >>> monday = KernelPCA(2, kernel="rbf", gamma=0.2).fit(X[::2])
        >>> tuesday = KernelPCA(2, kernel="rbf", gamma=0.2).fit(X[1::2])
        >>> alignment = tuesday.align(monday, X)
        >>> min(alignment.agreement) > 0.9
        True
        """
        check_is_fitted(self)
        if not isinstance(earlier, Alignable):
            raise InvalidParameterError(f"earlier must be a fitted KernelPCA. Got {earlier!r}.")
        check_is_fitted(earlier)
        for model in (self, earlier):
            if model._model is None:
                raise EigenliftError("The rows of a fit all look the same; there is nothing to align.")
            if not (model._fit_choice.text or model._fit_choice.precomputed):
                raise EigenliftError(
                    f"The kernel {model.kernel!r} is computed by Python; such models cannot be aligned."
                )
        if not (parameters.is_real(near_tie) and 0 <= near_tie < 1):
            raise InvalidParameterError(f"near_tie must be a float in the range [0, 1). Got {near_tie!r}.")
        X = native(self._rows(X, reset=False))
        model, how = self._run(_native.align_kernel_pca, self._model, earlier._model, X, float(near_tie))
        self._tell(model)
        self._follow(model)
        return Alignment.from_json(how)

    def _follow(self, model):
        """Attributes by sample follow the axes of the model."""
        if hasattr(self, "eigenvectors_"):
            vectors = (model.scores() / np.sqrt(np.abs(model.eigenvalues))).astype(self.eigenvectors_.dtype)
            self.eigenvectors_ = np.hstack([vectors, self.eigenvectors_[:, vectors.shape[1] :]])
        if hasattr(self, "dual_coef_"):
            if hasattr(self, "X_fit_"):
                self._learn_way_back(self.X_fit_)
            else:
                self.X_transformed_fit_ = np.ascontiguousarray(self.eigenvectors_ * np.sqrt(np.abs(self.eigenvalues_)))
