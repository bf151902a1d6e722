"""What the estimators on a cluster share: whose workers do the work, and methods on rows that are put off."""

from __future__ import annotations

import contextlib
import copy
import threading
from typing import Any

import numpy as np
from distributed import Client, LocalCluster, get_client, get_worker, rejoin, secede
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from .._cluster._blocks import blocks_of, is_source
from .._cluster._dask import Dask
from .._cluster._pieces import Pieces
from .._cluster._protocol import Backend
from .._cluster._threads import Threads
from .._errors import EigenliftError, InvalidParameterError
from .._progress import watching
from .._threads import thread_count
from ._lazy import lazy_rows, rowwise


class Distributed:
    """Base of the estimators on a cluster, before the ordinary class among the bases.

    Subclasses have the parameter `client`, and name the ordinary class in `_ordinary_class`.
    """

    client: Any

    _ordinary_class = None
    _unneeded = ()  # attributes that methods on rows do not use

    def transform(self, X: Any) -> Any:
        """As on one machine; put off for Dask collections and paths.

        Parameters
        ----------
        X : dask.array.Array, dask.dataframe.DataFrame, path or list of paths, or rows in memory
            Rows.

        Returns
        -------
        dask.array.Array or ndarray of shape (n_samples, n_components)
            A Dask array, block by block as the rows, for what is not in memory. Any scheduler of Dask computes it.
        """
        return self._lazily("transform", X) if is_source(X) else super().transform(X)

    def fit_transform(self, X: Any, y: object = None) -> Any:
        """`fit(X).transform(X)`: the scores are put off.

        Parameters
        ----------
        X : dask.array.Array, dask.dataframe.DataFrame, path or list of paths
            Rows.
        y : ignored

        Returns
        -------
        dask.array.Array of shape (n_samples, n_components)
        """
        return self.fit(X).transform(X)

    def __getstate__(self):
        return {**super().__getstate__(), "client": None, "_source": None}

    def __sklearn_clone__(self):
        # A copy is without the client, which cannot be copied and is meant for the clone as well.
        clone = BaseEstimator.__sklearn_clone__(copy.copy(self))
        clone.client = self.client
        return clone

    def _lazily(self, method, X, *, scores=False):
        """A method on rows, or on scores, put off."""
        check_is_fitted(self)
        self._refuse_tables()
        rows, names = lazy_rows(X)
        if not scores:
            self._check_names(names)
        return rowwise(self._ordinary(), method, rows)

    def _refuse_tables(self):
        """What is put off is an array; a table that was asked for by `set_output` cannot be had."""
        wanted = getattr(self, "_sklearn_output_config", {}).get("transform", "default")
        if wanted != "default":
            raise EigenliftError(
                f'set_output(transform="{wanted}") is for rows in memory; a Dask array comes out here. Call '
                'set_output(transform="default"), and make a table of it with dask.dataframe.from_dask_array.'
            )

    def _ordinary(self):
        """The fitted estimator as it works in a task: of the ordinary class, in one thread unless `n_jobs` says otherwise."""
        held = {name: value for name, value in vars(self).items() if name not in ("client", "_source", *self._unneeded)}
        # Chunks have no names, which were checked for all rows, and stay arrays.
        for name in ("feature_names_in_", "_sklearn_output_config"):
            held.pop(name, None)
        plain = self._ordinary_class.__new__(self._ordinary_class)
        vars(plain).update(held, n_jobs=self._task_threads(), verbose=0, progress=None)
        return plain

    def _threads(self):
        # Why: a cluster on this machine sets OMP_NUM_THREADS to 1 for its workers, and does so in this process.
        return thread_count(self.n_jobs, openmp=False)

    def _task_threads(self):
        return 1 if self.n_jobs is None else thread_count(self.n_jobs)

    @contextlib.contextmanager
    def _at_work(self, X, weights=None):
        """Rows in pieces, on the workers of the client. Nothing of it is left running afterwards."""
        with watching(self) as progress, backend_of(self.client) as backend:
            progress = None if progress is None else _one_at_a_time(progress)
            blocks = blocks_of(X, weights, backend=backend)
            pieces = Pieces(blocks, backend, self._task_threads(), progress)
            before = dict(vars(self))
            try:
                yield pieces
            except BaseException:
                # A fit that fails leaves the one before as it was.
                vars(self).clear()
                vars(self).update(before)
                raise
            finally:
                # Why: the compiled part may have been given up while one of its threads waits for rows.
                pieces.cancel()

    def _ask(self, function, *arguments, of):
        """Calls the compiled part with this estimator's threads, and the progress of the pieces, as last arguments."""
        return function(*arguments, self._threads(), of.progress)

    def _take_columns(self, pieces, *, reset=True, min_samples=2):
        """Takes or checks number and names of columns; refuses too few rows. The messages are scikit-learn's."""
        name = type(self).__name__
        if pieces.n_rows < min_samples:
            raise EigenliftError(
                f"Found array with {pieces.n_rows} sample(s) (shape={pieces.shape}) while a minimum of {min_samples} is "
                f"required by {name}."
            )
        if reset:
            self.n_features_in_ = pieces.n_cols
            vars(self).pop("feature_names_in_", None)
            if pieces.column_names is not None:
                self.feature_names_in_ = np.array(pieces.column_names, dtype=object)
            return
        if pieces.n_cols != self.n_features_in_:
            raise EigenliftError(
                f"X has {pieces.n_cols} features, but {name} is expecting {self.n_features_in_} features as input."
            )
        self._check_names(pieces.column_names)

    def _check_names(self, names):
        """Refuses columns that are called otherwise than those of the fit."""
        known = getattr(self, "feature_names_in_", None)
        if names is None or known is None or list(names) == list(known):
            return
        at = next((i for i, (a, b) in enumerate(zip(names, known)) if a != b), min(len(names), len(known)))
        there, wanted = (repr(list(some)[at]) if at < len(some) else "missing" for some in (names, known))
        raise EigenliftError(
            "The feature names should match those that were passed during fit, in the same order: "
            f"column {at + 1} is {there} where the fit had {wanted}."
        )

    def _rows(self, X, **how):
        if is_source(X):
            raise InvalidParameterError(
                f"{type(self).__name__}: this method takes rows in memory, and a {type(X).__name__} was given. Take a few rows, "
                "such as X[:1000].compute()."
            )
        return super()._rows(X, **how)


class Weighted(Distributed):
    """Of those whose rows may have weights."""

    def fit_transform(self, X: Any, y: object = None, sample_weight: Any = None) -> Any:
        """`fit(X, sample_weight=sample_weight).transform(X)`: the scores are put off.

        Parameters
        ----------
        X : dask.array.Array, dask.dataframe.DataFrame, path or list of paths
            Rows.
        y : ignored
        sample_weight : dask.array.Array of shape (n_samples,) or None, default=None
            As in `fit`.

        Returns
        -------
        dask.array.Array of shape (n_samples, n_components)
        """
        return self.fit(X, sample_weight=sample_weight).transform(X)


@contextlib.contextmanager
def backend_of(client):
    """The backend that a `client` stands for; nothing of this call is left running on it.

    None stands for the client of this process, else for a cluster of as many processes as there are processors, for the time of
    the call.
    """
    with contextlib.ExitStack() as stack:
        if client is None:
            try:
                client = get_client()
            except ValueError:
                client = stack.enter_context(_own_cluster())
        if type(client) is Threads:
            # Several fits at once: none ends the tasks of another.
            client = Threads(client.n_threads)
        if isinstance(client, Client):
            client = Dask(client)
            stack.enter_context(_beside_a_task())
            client.check_workers()
        if not isinstance(client, Backend):
            raise InvalidParameterError(
                f"client must be a distributed.Client, a backend such as eigenlift.dask.Threads(), or None. Got {client!r}."
            )
        yield stack.enter_context(client)


@contextlib.contextmanager
def _own_cluster():
    """A client of a cluster on this machine, which ends with it."""
    # Without a dashboard there is still a page of the scheduler; at any free port nobody is warned of it.
    anywhere = {"dashboard_address": ":0"}
    try:
        cluster = LocalCluster(processes=True, threads_per_worker=1, dashboard_address=None, scheduler_kwargs=anywhere)
    except RuntimeError as error:
        raise RuntimeError(
            "no cluster could be started on this machine; its processes import the script that starts it. Put the script below "
            'if __name__ == "__main__":, or give a client.'
        ) from error
    with cluster, Client(cluster, set_as_default=False) as client:
        yield client


@contextlib.contextmanager
def _beside_a_task():
    """In a task of a cluster, leaves its place to others: the work needs places, and nobody else may have one."""
    inside = True
    try:
        get_worker()
        secede()
    except (ValueError, KeyError):
        # In no task, or in one that has left its place already, as inside `worker_client`.
        inside = False
    try:
        yield
    finally:
        if inside:
            rejoin()


def _one_at_a_time(progress):
    """Why: the compiled part reports from the calling thread, and its questions to the rows from another."""
    lock = threading.Lock()

    def report(stage, done, total):
        with lock:
            progress(stage, done, total)

    return report
