"""Principal component analysis of rows that come in pieces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np
from scipy import sparse
from sklearn.utils import gen_batches, metadata_routing

from . import _native, _parameters
from ._account import Certificate, Plan
from ._base import ONE_ROW, warn_of_no_variance
from ._errors import EigenliftError, InvalidParameterError
from ._linear import PrincipalAxes, attributes, pass_on_warnings

if TYPE_CHECKING:
    from ._types import Array, Progress, Rows

_STREAM_ROUTES = {"covariance", "tsqr", "directions"}
# Up to so many columns the route that squares nothing costs little in each piece.
_FEW_COLUMNS = 64


def _solved(name):
    """An attribute that is found when it is first asked for after rows were added."""

    def read(self):
        return self._solution()[name]

    def write(self, value):
        self._solution()[name] = value

    return property(read, write)


class IncrementalPCA(PrincipalAxes):
    """Principal component analysis of rows that come in pieces: the components of all rows seen, whatever the pieces.

    A drop-in for `sklearn.decomposition.IncrementalPCA`, which keeps only the leading components of earlier rows. Here
    sums over all rows are kept, n_features² numbers. `partial_fit` adds to them; components are solved for when they
    are first asked for, so that many small pieces cost little.

    Parameters
    ----------
    n_components : int or None, default=None
        How many components are kept; None for as many as there are columns, or rows in the first piece. `fit` keeps no
        more than there are rows.
    whiten : bool, default=False
        Divide scores by their standard deviations.
    copy : bool, default=True
        Accepted as by scikit-learn. Rows are never written to.
    batch_size : int or None, default=None
        Rows that `fit` counts as the first piece; None for 5 times the columns. With `n_components=None` there are no
        more components than that; otherwise the result does not depend on it.
    route : {"covariance", "tsqr", "directions"} or None, default=None
        "covariance" keeps sums of squares, "tsqr" a triangle, which costs about twice as much and keeps the digits of
        faint components. "directions" keeps a sketch of fixed size and bounds what it misses. None takes the triangle
        up to 64 columns if `memory` is None, else the covariance, and the sketch when that does not fit.
    sketch_rows : int, default=None
        Rows of the sketch of the route "directions", more than components; None stands for max(4·n_components, 100).
    memory : int, str or None, default=None
        Bytes that the sums may use, such as "2GiB"; None for most of what is free.
    n_jobs : int or None, default=None
        Threads; None for the environment's OMP_NUM_THREADS or all processors. Results do not depend on it.
    verbose : int, default=0
        Above 0, a fit tells how far it has come.
    progress : callable or None, default=None
        Called with (stage, done, total), or a class of bars such as `tqdm.tqdm`.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The directions, largest variance first; the entry of largest magnitude is positive.
    explained_variance_ : ndarray of shape (n_components,)
        Variances along them, divided by the number of rows minus 1.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Their shares of the variance of all columns.
    singular_values_ : ndarray of shape (n_components,)
        Singular values of the centred rows.
    spectrum_ : ndarray
        All variances that are known, those of the components first.
    mean_ : ndarray of shape (n_features,)
        Means of the columns.
    var_ : ndarray of shape (n_features,)
        Variances of the columns, divided by the number of rows.
    noise_variance_ : float
        Mean of the variances that were left out.
    n_components_ : int
        How many components there are.
    n_samples_seen_ : int
        Rows so far.
    batch_size_ : int
        As `batch_size`, found by `fit`.
    plan_ : Plan
        What was decided and why; None while all rows look the same.
    certificate_ : Certificate
        What is proved about the eigenvalues.
    n_features_in_ : int
        Columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, when they are all strings.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenlift import PCA, IncrementalPCA
    >>> X = np.random.RandomState(0).randn(1000, 5) * [5, 4, 3, 2, 1]
    >>> ipca = IncrementalPCA(n_components=2)
    >>> for piece in np.array_split(X, 20):
    ...     ipca = ipca.partial_fit(piece)
    >>> bool(np.allclose(ipca.components_, PCA(n_components=2).fit(X).components_, atol=1e-12))
    True
    >>> ipca.n_samples_seen_
    1000
    """

    n_samples_seen_: int
    batch_size_: int
    var_: Array

    __metadata_request__partial_fit = {"check_input": metadata_routing.UNUSED}
    _method = "pca"

    components_ = _solved("components_")
    explained_variance_ = _solved("explained_variance_")
    explained_variance_ratio_ = _solved("explained_variance_ratio_")
    singular_values_ = _solved("singular_values_")
    mean_ = _solved("mean_")
    spectrum_ = _solved("spectrum_")
    noise_variance_ = _solved("noise_variance_")
    plan_ = _solved("plan_")
    certificate_ = _solved("certificate_")
    _model = _solved("_model")

    def __init__(
        self,
        n_components: int | None = None,
        *,
        whiten: bool = False,
        copy: bool = True,
        batch_size: int | None = None,
        route: str | None = None,
        sketch_rows: int | None = None,
        memory: int | str | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        progress: Progress = None,
    ) -> None:
        self.n_components = n_components
        self.whiten = whiten
        self.copy = copy
        self.batch_size = batch_size
        self.route = route
        self.sketch_rows = sketch_rows
        self.memory = memory
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.progress = progress

    def fit(self, X: Rows, y: object = None) -> Self:
        """Finds the components of rows; what was seen before is forgotten.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows. Sparse ones stay sparse.
        y : Ignored
            There for the sake of pipelines.

        Returns
        -------
        self : IncrementalPCA
            The fitted estimator.
        """
        self._check_parameters()
        X = self._rows(X, reset=True, min_samples=2, finite=False)
        n_components, batch_size = self._begin(*X.shape)
        self._add(X, n_components)
        self.batch_size_ = batch_size
        self._solution()
        return self

    def partial_fit(self, X: Rows, y: object = None, check_input: bool = True) -> Self:
        """Adds rows to those seen before.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : Ignored
            There for the sake of pipelines.
        check_input : bool, default=True
            False if the rows are known to be a C-ordered array of float32 or float64.

        Returns
        -------
        self : IncrementalPCA
            The estimator with these rows added.
        """
        self._check_parameters()
        first_pass = not self.__sklearn_is_fitted__()
        if check_input:
            if sparse.issparse(X):
                raise InvalidParameterError(
                    "IncrementalPCA.partial_fit does not support sparse input. Either convert data to dense "
                    "or use IncrementalPCA.fit to do so in batches."
                )
            X = self._rows(X, reset=first_pass, finite=False)
        n_components = self._number_of_components(*X.shape)
        self._add(X, n_components)
        return self

    def _begin(self, n_samples, n_features):
        """Forgets what was seen; gives the number of components and the rows of the first piece."""
        self._forget()
        batch_size = 5 * n_features if self.batch_size is None else self.batch_size
        first = next(gen_batches(n_samples, batch_size, min_batch_size=self.n_components or 0))
        return self._number_of_components(first.stop, n_features, at_once=n_samples), batch_size

    def __sklearn_is_fitted__(self):
        return "_stream" in self.__dict__

    def _check_parameters(self):
        _parameters.integer(self, "n_components", 1, none=True)
        _parameters.boolean(self, "whiten")
        _parameters.boolean(self, "copy")
        _parameters.integer(self, "batch_size", 1, none=True)
        _parameters.choice(self, "route", _STREAM_ROUTES, none=True)
        _parameters.integer(self, "sketch_rows", 1, none=True)

    def _forget(self):
        for name in ("_stream", "_found", "n_components_", "n_samples_seen_", "_mean", "var_", "batch_size_"):
            self.__dict__.pop(name, None)

    def _number_of_components(self, n_samples, n_features, at_once=None):
        """How many components there will be; refuses a number that does not fit. `at_once` rows make up a whole fit."""
        before = self.n_components_ if self.__sklearn_is_fitted__() else None
        if self.n_components is None:
            return min(n_samples, n_features) if before is None else before
        if self.n_components > n_features:
            raise EigenliftError(
                f"n_components={self.n_components!r} invalid for n_features={n_features}, need more rows than columns "
                "for IncrementalPCA processing"
            )
        if at_once is not None:
            return min(self.n_components, at_once)
        if before is None and self.n_components > n_samples:
            raise EigenliftError(
                f"n_components={self.n_components} must be less or equal to the batch number of samples {n_samples} "
                "for the first partial_fit call."
            )
        if before not in (None, self.n_components):
            raise EigenliftError(
                f"Number of input features has changed from {before} to {self.n_components} between calls to "
                "partial_fit! Try setting n_components to a fixed value."
            )
        return self.n_components

    def _add(self, X, n_components):
        """Adds rows to the sums; nothing is changed when that fails."""
        stream = self._stream if self.__sklearn_is_fitted__() else self._new_stream(X.shape[1], n_components)
        self._run_on(X, stream.add)
        self._take_sums(stream, n_components, X.dtype)

    def _take_sums(self, stream, n_components, precision):
        """Makes the sums this estimator's; rows of this precision were added last."""
        self._precision = np.result_type(self._precision, precision) if self.__sklearn_is_fitted__() else precision
        self._stream, self._found, self.n_components_ = stream, None, n_components
        self.n_samples_seen_ = stream.count
        self._mean, squares = stream.columns()
        self.var_ = squares / stream.count

    def _new_stream(self, n_features, n_components):
        route = self.route
        memory = _parameters.memory(self)
        if route is None and memory is None and n_features <= _FEW_COLUMNS:
            route = "tsqr"
        settings = {
            "n_components": int(n_components),
            "standardize": False,
            "route": route,
            "tolerance": 1e-6,
            "seed": 0,
            "memory": memory,
            "sketch_rows": None if self.sketch_rows is None else int(self.sketch_rows),
            "column_names": self._column_names(),
        }
        return _native.PcaStream(n_features, settings, self._threads())

    def _solution(self):
        """What is found from the sums, by name; solved for if rows were added since."""
        if not self.__sklearn_is_fitted__():
            raise AttributeError("This IncrementalPCA has not seen rows yet; call fit or partial_fit first.")
        if self._found is None:
            self._found = self._solve()
        return self._found

    def _solve(self):
        shape = (self._stream.count, len(self._mean))
        model, reason = None, ONE_ROW
        if shape[0] > 1:
            try:
                model = self._stream.finish(int(self.n_components_), self._threads())
                pass_on_warnings(model)
            except _native.NoVarianceError as error:
                reason = error
        found = attributes(model, self.n_components_, shape[0], shape, np.dtype(self._precision))
        if model is None:
            warn_of_no_variance(reason, stacklevel=4)
            accounts = {
                "plan_": Plan.of_no_variance(reason, shape, int(self.n_components_)),
                "certificate_": Certificate.of_no_variance(),
            }
        else:
            accounts = {
                "plan_": Plan.from_json(model.plan, model.plan_text),
                "certificate_": Certificate.from_json(model.certificate),
            }
        return found | accounts | {"_model": model, "mean_": self._mean if model is None else model.mean}
