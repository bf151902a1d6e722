"""Kernel PCA on a cluster."""

from __future__ import annotations

import contextlib
import warnings
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .. import _kernel_pca, _native
from .._account import Plan
from .._base import ONE_ROW, EigenliftWarning, warn_of_no_variance
from .._cluster._blocks import is_source
from .._errors import EigenliftError
from .._novelty import Novelty, _has_distances
from .._rows import from_native
from ._distributed import Distributed

if TYPE_CHECKING:
    from .._account import Certificate
    from .._kernel_base import Kernel
    from .._types import Progress, RandomState, Rows

# Above so many rows the number of components must be said: all of them are as many as rows.
_ALL = 50_000


class KernelPCA(Distributed, _kernel_pca.KernelPCA):
    """Kernel principal component analysis of rows that no single machine holds.

    As `eigenlift.KernelPCA`: the same parameters and attributes, the same landmarks for the same `random_state` and, up to
    rounding, the same results. A low-rank fit takes some ten rounds over the rows to find landmarks, and one map and a tree of
    merges for the moments of their features. Exact fits, `certify` and `refine` go over pairs of blocks; the model of an exact fit
    holds all rows, and so does this process.

    Parameters
    ----------
    n_components : int or "auto", default=None
        As of `eigenlift.KernelPCA`. Must be given above 50 000 rows.
    kernel : str or Kernel, default="linear"
        As of `eigenlift.KernelPCA`, less functions of two rows and "precomputed".
    gamma, degree, coef0, kernel_params, alpha, eigen_solver, tol, max_iter, iterated_power, remove_zero_eig, random_state, copy_X
        As of `eigenlift.KernelPCA`, and of scikit-learn's.
    fit_inverse_transform : bool, default=False
        Must be False: it learns from all rows at once. `preimage` needs nothing to be learned.
    rank, error, repair, preimage, penalty, verbose, progress
        As of `eigenlift.KernelPCA`.
    approximation : {"pivoted", "uniform", "kmeans", "fourier", "tensorsketch"}, default=None
        As of `eigenlift.KernelPCA`.
    memory : int or str, default=None
        Bytes that this process may use, such as `"2GB"`.
    n_jobs : int, default=None
        Threads of each task; None for one.
    client : distributed.Client, backend or None, default=None
        Who does the work, as of `eigenlift.dask.PCA`.

    Attributes
    ----------
    eigenvectors_ : ndarray or dask.array.Array of shape (n_samples, n_components)
        An array after an exact fit that holds its rows. Otherwise put off, from the rows of the fit; zero for components whose
        eigenvalue is zero.
    X_fit_ : ndarray
        The rows of an exact fit over pairs.
    eigenvalues_, explained_variance_ratio_, landmarks_, gamma_, kernel_, n_iter_, choice_, plan_, certificate_
        As of `eigenlift.KernelPCA`.

    Examples
    --------
    >>> import dask.array as da
    >>> from eigenlift.dask import KernelPCA, Threads
    >>> X = da.random.default_rng(0).normal(size=(10_000, 3), chunks=(1000, 3))
    >>> kpca = KernelPCA(n_components=5, kernel="rbf", gamma=0.1, rank=100, client=Threads()).fit(X)
    >>> kpca.landmarks_.shape, kpca.transform(X).shape
    ((100, 3), (10000, 5))
    """

    _ordinary_class = _kernel_pca.KernelPCA
    _unneeded = ("_eigenvectors", "X_fit_")
    _source = None

    def __init__(
        self,
        n_components: int | str | None = None,
        *,
        kernel: str | Kernel = "linear",
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
        client: Any = None,
    ) -> None:
        super().__init__(
            n_components,
            kernel=kernel,
            gamma=gamma,
            degree=degree,
            coef0=coef0,
            kernel_params=kernel_params,
            alpha=alpha,
            fit_inverse_transform=fit_inverse_transform,
            eigen_solver=eigen_solver,
            tol=tol,
            max_iter=max_iter,
            iterated_power=iterated_power,
            remove_zero_eig=remove_zero_eig,
            random_state=random_state,
            copy_X=copy_X,
            n_jobs=n_jobs,
            rank=rank,
            error=error,
            approximation=approximation,
            repair=repair,
            preimage=preimage,
            penalty=penalty,
            memory=memory,
            verbose=verbose,
            progress=progress,
        )
        self.client = client

    def _check_parameters(self):
        super()._check_parameters()
        if self.fit_inverse_transform:
            raise EigenliftError(
                "fit_inverse_transform=True learns from the scores of all rows at once, which does not go beyond one machine. Use "
                "preimage='auto', which learns nothing, or eigenlift.KernelPCA."
            )

    def _prepared_for(self, pieces):
        """Kernel and settings for these rows."""
        choice = self._choice(pieces.n_cols)
        if choice.text is None:
            what = "is a matrix of all pairs of rows" if choice.precomputed else "is computed by Python, row by row"
            raise EigenliftError(
                f"The kernel {self.kernel!r} {what}; a cluster computes kernels that can be written down. Use one of "
                "eigenlift.kernels or a description such as 'rbf(gamma=0.5)' or 'expr(...)', or eigenlift.KernelPCA."
            )
        if self.n_components is None and pieces.n_rows > _ALL:
            raise EigenliftError(
                f"n_components=None stands for as many components as rows, and there are {pieces.n_rows}; above {_ALL} it must be a "
                "number. Give n_components."
            )
        return choice, self._settings(choice, pieces.n_rows)

    def fit(self, X: Rows, y: object = None) -> Self:
        """Fits the components of X.

        Parameters
        ----------
        X : dask.array.Array, dask.dataframe.DataFrame, path or list of paths
            Rows.
        y : ignored

        Returns
        -------
        self
        """
        self._check_parameters()
        with self._at_work(X) as pieces:
            self._take_columns(pieces, min_samples=1)
            choice, settings = self._prepared_for(pieces)
            automatic = choice.automatic or settings["n_components"] is None
            self.gamma_ = 1 / pieces.n_cols if self.gamma is None else self.gamma
            self._fit_choice = choice
            for name in ("X_fit_", "landmarks_", "choice_", "_eigenvectors"):
                vars(self).pop(name, None)
            try:
                # One row is its own mean.
                alone, reason = pieces.n_rows == 1 and not automatic, ONE_ROW
                model = None if alone else self._ask(_native.fit_kernel_pca_pieces, pieces, settings, of=pieces)
            except _native.NoVarianceError as error:
                if automatic:
                    raise
                model, reason = None, error
            low_rank = self._is_low_rank()
            if model is not None:
                low_rank = self._take_choice(model) if automatic else self._became_low_rank(model.plan)
            self._adopt(model, pieces.dtype, pieces.n_rows, pieces)
            if model is None:
                warn_of_no_variance(reason, stacklevel=2)
                self.plan_ = self._plan_of_nothing(
                    reason, pieces.shape, lambda: _native.plan_kernel_pca_pieces(pieces, settings, self._threads())
                )
        self._keep_rows()
        self._source = X
        if low_rank:
            self.landmarks_ = from_native(model.samples) if model is not None else None
        return self

    def _keep_rows(self):
        """Takes the rows that the model holds, if it does."""
        if self._model is not None and _holds_rows(self._model):
            self.X_fit_ = from_native(self._model.samples).astype(self.eigenvalues_.dtype, copy=False)

    def _became_low_rank(self, plan):
        low_rank = Plan.from_json(plan).route == "low-rank"
        if low_rank and not self._is_low_rank():
            warnings.warn(
                "An exact fit goes over all pairs of rows and holds the rows in this process, which is too much for these: the kernel "
                "is approximated by landmarks, with bounds in certificate_. Give rank or error to choose how closely, or "
                "rank='exact'.",
                EigenliftWarning,
                stacklevel=3,
            )
        return low_rank

    def _oriented(self, model, rows):
        if model is None:
            return None, None
        if _holds_rows(model):
            return super()._oriented(model, rows)
        flip = rows.extremes(model) < 0
        return (model.flipped(flip.tolist()) if flip.any() else model), None

    def _all_eigenvalues(self, rows, count):
        # Those that the model leaves out are not looked for: that takes the matrix of all pairs.
        return np.empty(0)

    @property
    def eigenvectors_(self) -> Any:
        """Eigenvectors of the centred kernel matrix."""
        if "_eigenvectors" in vars(self):
            return self._eigenvectors
        if "eigenvalues_" not in vars(self):
            raise AttributeError("This KernelPCA is not fitted yet; call fit first.")
        if self._source is None:
            raise AttributeError(
                "The rows of the fit are not known here, as in a copy or after unpickling; eigenvectors are "
                "transform(X) / sqrt(eigenvalues_) of these rows."
            )
        sizes = np.sqrt(np.abs(self.eigenvalues_))
        return self.transform(self._source) / np.where(sizes > 0, sizes, 1.0).astype(sizes.dtype)

    @eigenvectors_.setter
    def eigenvectors_(self, vectors: Any) -> None:
        self._eigenvectors = vectors

    def plan(self, X: Rows) -> Plan:
        """What `fit` would do with X, without doing it.

        Parameters
        ----------
        X : dask.array.Array, dask.dataframe.DataFrame, path or list of paths
            Rows.

        Returns
        -------
        Plan
        """
        self._check_parameters()
        with self._at_work(X) as pieces:
            _, settings = self._prepared_for(pieces)
            return Plan.from_json(*_native.plan_kernel_pca_pieces(pieces, settings, self._threads()))

    def certify(self, X: Rows | None = None) -> Certificate:
        """Bounds from one exact pass over the kernel matrix of the rows of the fit, by pairs of blocks.

        Parameters
        ----------
        X : dask.array.Array, dask.dataframe.DataFrame, path, list of paths or rows in memory, default=None
            The very rows of the fit; None for those that `fit` was given.

        Returns
        -------
        Certificate
            Also kept as `certificate_`.
        """
        X = self._source if X is None else X
        if not is_source(X):
            return super().certify(X)
        with self._pieces_of_fit(X) as pieces:
            return self._certified(self._ask(_native.certify_kernel_pca_pieces, self._model, pieces, of=pieces))

    def refine(self, X: Rows | None = None) -> Self:
        """Replaces a low-rank model by the exact one, starting from its axes. The model then holds all rows.

        Parameters
        ----------
        X : dask.array.Array, dask.dataframe.DataFrame, path, list of paths or rows in memory, default=None
            The very rows of the fit; None for those that `fit` was given.

        Returns
        -------
        self
        """
        X = self._source if X is None else X
        if not is_source(X):
            return super().refine(X)
        with self._pieces_of_fit(X) as pieces:
            settings = self._settings_to_refine(pieces.n_rows)
            model = self._ask(_native.refine_kernel_pca_pieces, self._model, pieces, settings, of=pieces)
            vars(self).pop("_eigenvectors", None)
            self._adopt(model, pieces.dtype, pieces.n_rows, pieces)
        vars(self).pop("landmarks_", None)
        self._keep_rows()
        return self

    @contextlib.contextmanager
    def _pieces_of_fit(self, X):
        check_is_fitted(self)
        if self._model is None:
            raise EigenliftError("The rows of the fit all look the same; there is nothing to certify.")
        with self._at_work(X) as pieces:
            self._take_columns(pieces, reset=False, min_samples=1)
            yield pieces

    def inverse_transform(self, X: Any, return_info: bool = False) -> Any:
        """Rows for scores, as on one machine; put off for Dask collections and paths, which have no `return_info`."""
        if not is_source(X):
            return super().inverse_transform(X, return_info)
        self._refuse_info(return_info)
        return self._lazily("inverse_transform", X, scores=True)

    def denoise(self, X: Any, return_info: bool = False) -> Any:
        """Rows without their noise, as on one machine; put off for Dask collections and paths, which have no `return_info`."""
        if not is_source(X):
            return super().denoise(X, return_info)
        self._refuse_info(return_info)
        return self._lazily("denoise", X)

    def novelty_scores(self, X: Any, own: Any = None) -> Any:
        """T² and squared prediction error of rows, as on one machine; put off for Dask collections and paths."""
        if not is_source(X):
            return super().novelty_scores(X, own)
        self._check_monitored()
        both = self._lazily("novelty_scores", X)
        return Novelty(both[:, 0], both[:, 1])

    @available_if(_has_distances)
    def score_samples(self, X: Any) -> Any:
        """How normal rows are: minus their squared prediction error; put off for Dask collections and paths."""
        if not is_source(X):
            return super().score_samples(X)
        self._check_monitored()
        return self._lazily("score_samples", X)

    @staticmethod
    def _refuse_info(return_info):
        if return_info:
            raise EigenliftError(
                "return_info=True is for rows in memory; what is put off gives rows alone. Take a few rows for it."
            )

    def _follow(self, model):
        # Eigenvectors that are put off follow by themselves.
        if "_eigenvectors" in vars(self):
            super()._follow(model)


def _holds_rows(model):
    """Whether a model was fitted over pairs of rows, and holds these with their scores."""
    return Plan.from_json(model.plan).route == "dual"
