"""The Nyström method on a cluster."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.random import sample_without_replacement
from sklearn.utils.validation import check_is_fitted

from .. import _native, _nystroem
from .._account import Plan
from .._cluster._blocks import is_source
from .._errors import EigenliftError
from .._kernel_pca import KernelPCA
from ._distributed import Distributed

if TYPE_CHECKING:
    from .._types import KernelLike, Progress, RandomState, Rows

# So many rows may be put in random order as a whole: 1 GiB of numbers.
_ORDERED = 2**27


class Nystroem(Distributed, _nystroem.Nystroem):
    """Features from the kernel between rows, which no single machine holds, and a few landmark rows.

    As `eigenlift.Nystroem`: the same parameters and attributes, and the same landmarks for the same `random_state`. Beyond 2**27
    rows, landmarks drawn evenly are others than scikit-learn would draw, which needs a number for each row in memory.

    Parameters
    ----------
    kernel : str, kernel or callable, default='rbf'
        As of `eigenlift.Nystroem`, less 'precomputed'. A function must be known to the workers, or pickle.
    gamma, coef0, degree, kernel_params, n_components, random_state, landmarks, verbose, progress
        As of `eigenlift.Nystroem`.
    n_jobs : int or None, default=None
        Threads of each task; None for one.
    client : distributed.Client, backend or None, default=None
        Who does the work, as of `eigenlift.dask.PCA`.

    Attributes
    ----------
    components_, component_indices_, normalization_, kernel_
        As of `eigenlift.Nystroem`; `components_` is dense.

    Examples
    --------
    >>> import dask.array as da
    >>> from eigenlift.dask import Nystroem, Threads
    >>> X = da.random.default_rng(0).normal(size=(10_000, 3), chunks=(1000, 3))
    >>> features = Nystroem("rbf", gamma=0.1, n_components=60, random_state=0, client=Threads()).fit(X)
    >>> features.transform(X).shape
    (10000, 60)
    """

    _ordinary_class = _nystroem.Nystroem

    def __init__(
        self,
        kernel: KernelLike = "rbf",
        *,
        gamma: float | None = None,
        coef0: float | None = None,
        degree: float | None = None,
        kernel_params: dict[str, Any] | None = None,
        n_components: int = 100,
        random_state: RandomState = None,
        n_jobs: int | None = None,
        landmarks: str = "uniform",
        verbose: int = 0,
        progress: Progress = None,
        client: Any = None,
    ) -> None:
        super().__init__(
            kernel,
            gamma=gamma,
            coef0=coef0,
            degree=degree,
            kernel_params=kernel_params,
            n_components=n_components,
            random_state=random_state,
            n_jobs=n_jobs,
            landmarks=landmarks,
            verbose=verbose,
            progress=progress,
        )
        self.client = client

    def fit(self, X: Rows, y: object = None) -> Self:
        """Chooses landmarks and computes their kernel matrix.

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
            choice = self._resolved(pieces)
            indices = self._landmarks(choice, pieces.n_rows, lambda count: self._pivots(pieces, choice.text, count))
            order = np.argsort(indices)
            basis = np.empty((len(indices), pieces.n_cols), dtype=pieces.dtype)
            basis[order] = pieces.gather(indices[order])
        self._take_landmarks(choice, basis, indices)
        return self

    def _resolved(self, pieces):
        """The kernel with every number known."""
        choice = self._choice(pieces.n_cols)
        if choice.precomputed:
            raise EigenliftError(
                "kernel='precomputed' is a matrix of all pairs of rows, which no cluster should be asked to hold. Give the rows and a "
                "kernel that can be computed, such as 'rbf'."
            )
        if choice.text is None or pieces.n_rows < 2:
            return choice
        # The plan of a kernel PCA finds the numbers, from the same rows as on one machine.
        settings = KernelPCA(1, rank=1)._settings(choice, pieces.n_rows)
        plan, _ = _native.plan_kernel_pca_pieces(pieces, settings, self._threads())
        return replace(choice, text=Plan.from_json(plan).kernel)

    def _pivots(self, pieces, kernel, count):
        return self._ask(_native.pivots_pieces, kernel, pieces, count, self._seed(), of=pieces)

    def _drawn(self, random, n_samples, count):
        if n_samples <= _ORDERED:
            return super()._drawn(random, n_samples, count)
        drawn = sample_without_replacement(n_samples, count, method="tracking_selection", random_state=random)
        return np.asarray(drawn, dtype=np.int64)

    def certify(self, X: Rows) -> Any:
        """How much of the kernel the features leave out, by one pass over rows, as on one machine.

        Parameters
        ----------
        X : dask.array.Array, dask.dataframe.DataFrame, path or list of paths, or rows in memory
            Rows.

        Returns
        -------
        Account
        """
        if not is_source(X):
            return super().certify(X)
        check_is_fitted(self)
        with self._at_work(X) as pieces:
            self._take_columns(pieces, reset=False, min_samples=1)
            return self._account(pieces.certified(self._ordinary()), (pieces.n_rows, pieces.n_cols))
