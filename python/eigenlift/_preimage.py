"""The way back of kernel PCA: rows for scores, and rows without their noise."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Literal, overload

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import check_array, check_is_fitted

from . import _native
from . import _parameters as parameters
from ._account import Account
from ._base import EigenliftWarning
from ._errors import EigenliftError
from ._rows import native

if TYPE_CHECKING:
    from ._types import Array, Rows

METHODS = ("auto", "fixed-point", "distance", "ridge", "gradient")


class PreimageInfo(Account):
    """What is known about pre-images, one entry for each row; `print` gives it in words.

    `distances` holds ‖φ(x̂) − P‖, how far the image of a row x̂ is from the point P of feature space that the scores stand for;
    `deviations` the same, but from the ray through P where P is too short to reach the image. `trusted` is False where no
    trustworthy row was found: the deviation is above `limit`, the search did not end, or the images lie on opposite sides.
    `starts` says from where each row was looked for, `steps` how many steps that took, `converged` whether it ended by itself,
    and `method` how it was done.
    """

    @property
    def n_untrusted(self) -> int:
        """How many rows are not to be trusted."""
        return int(np.count_nonzero(~self._values["trusted"]))

    def __str__(self):
        known = self._values
        names, counts = np.unique(known["starts"], return_counts=True)
        return (
            f"{len(known['trusted'])} rows by {known['method']}: {self.n_untrusted} not to be trusted (limit of the deviation in "
            f"feature space {known['limit']:.4g}, largest {max(known['deviations'], default=0.0):.4g}); looked for from "
            + ", ".join(f"{name} ({count})" for name, count in zip(names, counts))
        )


class WayBack:
    """What `KernelPCA` has to go back from feature space to rows."""

    # A choice of what is returned, not of data that a pipeline hands on.
    __metadata_request__inverse_transform = {"return_info": UNUSED}

    @overload
    def inverse_transform(self, X: Rows, return_info: Literal[False] = False) -> Array: ...
    @overload
    def inverse_transform(self, X: Rows, return_info: Literal[True]) -> tuple[Array, PreimageInfo]: ...
    def inverse_transform(self, X: Rows, return_info: bool = False) -> Array | tuple[Array, PreimageInfo]:
        """Rows for scores: by the ridge regression that was learned, or with `preimage` by that method.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)
            Scores.
        return_info : bool, default=False
            Also returns what is known about each row; with `preimage` alone.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            Rows.
        PreimageInfo
            With `return_info=True`.

        Examples
        --------
        >>> import numpy as np
        >>> from eigenlift import KernelPCA
        >>> angles = np.linspace(0, 2 * np.pi, 200, endpoint=False)
        >>> X = np.c_[np.cos(angles), np.sin(angles)]
        >>> kpca = KernelPCA(n_components=8, kernel="rbf", gamma=1.0, preimage="auto").fit(X)
        >>> back, info = kpca.inverse_transform(kpca.transform(X), return_info=True)
        >>> bool(np.abs(back - X).max() < 0.01), bool(info.trusted.all())
        (True, True)
        """
        if self.preimage is not None:
            check_is_fitted(self)
            how = self._way_back()
            X = check_array(X, dtype=[np.float64, np.float32], order="C")
            if X.shape[1] != len(self.eigenvalues_):
                raise EigenliftError(
                    f"X has {X.shape[1]} columns, but {type(self).__name__} has {len(self.eigenvalues_)} components. Give scores "
                    "of all of them."
                )
            how["single"] = np.result_type(X.dtype, self.eigenvalues_.dtype) == np.float32
            scores = np.ascontiguousarray(X[:, : self._model.n_components], dtype=np.float64)
            return self._found(_native.invert_kernel_pca, scores, how, return_info)
        if return_info:
            raise EigenliftError(
                "return_info=True needs preimage, such as preimage='auto': nothing is known about the ridge."
            )
        if not self.fit_inverse_transform:
            raise NotFittedError(
                "The fit_inverse_transform parameter was not set to True when instantiating and hence the inverse transform "
                "is not available."
            )
        check_is_fitted(self)
        X = check_array(X, dtype=[np.float64, np.float32], order="C")
        return self._score_choice().times(X, self.X_transformed_fit_, self.dual_coef_, self._threads())

    @overload
    def denoise(self, X: Rows, return_info: Literal[False] = False) -> Array: ...
    @overload
    def denoise(self, X: Rows, return_info: Literal[True]) -> tuple[Array, PreimageInfo]: ...
    def denoise(self, X: Rows, return_info: bool = False) -> Array | tuple[Array, PreimageInfo]:
        """Rows projected on the components and put back: noise that lies off the components is gone.

        Goes by `preimage`, or by `"auto"` where that is None; a search starts from the rows themselves. Nothing is learned.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        return_info : bool, default=False
            Also returns what is known about each row.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            Rows.
        PreimageInfo
            With `return_info=True`.

        Examples
        --------
        >>> import numpy as np
        >>> from eigenlift import KernelPCA
        >>> random = np.random.default_rng(0)
        >>> angles = random.uniform(0, 2 * np.pi, 400)
        >>> clean = np.c_[np.cos(angles), np.sin(angles)]
        >>> noisy = clean + 0.2 * random.normal(size=clean.shape)
        >>> kpca = KernelPCA(n_components=4, kernel="rbf", gamma=1.0).fit(noisy)
        >>> denoised = kpca.denoise(noisy)
        >>> print(f"{((noisy - clean) ** 2).sum(axis=1).mean():.2f} {((denoised - clean) ** 2).sum(axis=1).mean():.2f}")
        0.08 0.04
        """
        check_is_fitted(self)
        how = self._way_back()
        X = self._rows(X, reset=False)
        X = X.astype(np.result_type(X.dtype, self.eigenvalues_.dtype), copy=False)
        how["single"] = X.dtype == np.float32
        return self._found(_native.denoise_kernel_pca, native(X), how, return_info)

    def _check_way_back(self):
        """The parameters of the way back."""
        parameters.choice(self, "preimage", {*METHODS, "fixed_point"}, none=True)
        parameters.real(self, "penalty", 0)

    def _way_back(self):
        """Settings for the compiled part, where there is a way back."""
        self._check_way_back()
        if self._model is None:
            raise EigenliftError("The rows of the fit all look the same; there is no way back from their scores.")
        if not (self._fit_choice.text or self._fit_choice.precomputed):
            raise EigenliftError(
                f"The kernel {self.kernel!r} is computed by Python; pre-images need kernels that can be written down. Write it as "
                "'expr(...)', or learn the way back with fit_inverse_transform=True."
            )
        method = (self.preimage or "auto").replace("_", "-")
        return {"method": method, "penalty": float(self.penalty), "seed": self._seed()}

    def _found(self, function, rows, how, return_info):
        rows, known = self._run(function, self._model, rows, how)
        known["starts"] = np.array(known["starts"], dtype=np.str_)
        info = PreimageInfo(known)
        if info.n_untrusted:
            warnings.warn(
                f"{info.n_untrusted} of {len(rows)} rows have no trustworthy pre-image: nothing was found whose image is closer "
                f"than {info.limit:.3g} to the direction asked for, or the search did not end. return_info=True says which. Rows "
                "unlike those of the fit, too few components or too narrow a kernel are the usual causes.",
                EigenliftWarning,
                stacklevel=3,
            )
        return (rows, info) if return_info else rows
