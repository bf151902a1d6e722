"""Tasks on the workers of a Dask cluster."""

from __future__ import annotations

import contextlib
import functools
import itertools
import threading
import time
import uuid
import warnings
from concurrent.futures import CancelledError

import dask
from distributed import Client, KilledWorker, get_worker

import eigenlift

from .._base import EigenliftWarning
from .._errors import EigenliftError, InvalidParameterError
from ._protocol import Lazy, PartitionError
from ._work import Work, stopped_by

# Seconds for which `cancel` waits until the scheduler has let go of the tasks.
_CANCEL_SECONDS = 10.0
# Seconds after which it is told that a cluster has no worker yet.
_TELL_SECONDS = 20.0
# Seconds between two looks at whether there are workers, and after which a cluster that lost all is given up. A cluster that had none yet is waited for.
_LOOK_SECONDS = 5.0
_ALONE_SECONDS = 300.0
# Seconds within which the scheduler tells of all tasks that failed or were given up together.
_TOGETHER_SECONDS = 0.3
_SENDING = threading.Lock()


class Dask(Work):
    """Runs the tasks on the workers of a cluster.

    Values travel inside the tasks that need them and are held by the scheduler, so that the death of a worker costs no more than the tasks that were lost with it.

    Parameters
    ----------
    client : distributed.Client
        The connection to the cluster; not an asynchronous one.
    """

    def __init__(self, client):
        if not isinstance(client, Client):
            raise InvalidParameterError(f"{client!r} is no distributed.Client; connect one to the scheduler first.")
        if client.asynchronous:
            raise EigenliftError(
                "the client is asynchronous; fits wait for results. Make one with Client(address, asynchronous=False)."
            )
        if client.status in ("closing", "closed"):
            raise EigenliftError(
                f"the client is {client.status}; fits need a connection to the scheduler. Make a new Client."
            )
        super().__init__()
        self.client = client
        self._version = eigenlift.__version__
        self._address = getattr(client.scheduler, "address", "an unknown address")
        self._session = uuid.uuid4().hex[:12]
        self._count = itertools.count()
        self._labels = {}
        self._next_look = 0.0
        self._last_seen = self._first_look = None
        self._told_of_none = False

    def __repr__(self):
        return f"Dask({self.client!r})"

    @property
    def n_workers(self):
        return max(1, sum(self.client.nthreads().values()))

    def check_workers(self):
        """Raises PartitionError if a worker has no eigenlift or another version of it."""

        # Why: a function inside a function travels as code, so it also runs where eigenlift is missing.
        def version():
            import eigenlift

            return eigenlift.__version__

        found = self.client.run(version, on_error="return")
        if found:
            self._last_seen = time.monotonic()
        for address, answer in found.items():
            if isinstance(answer, (ImportError, AttributeError)):
                raise PartitionError(
                    f"worker {address} cannot import eigenlift ({answer}); every worker needs version {self._version}. "
                    "Install it there."
                )
            if isinstance(answer, str):
                _refuse_other_version(address, answer, self._version)

    def _start(self, name, handles):
        # Why: the dashboard groups keys by the words before the first one that is not of letters alone.
        token = f"{self._session}x{next(self._count)}"
        graph = {}
        for i, handle in enumerate(handles):
            handle.key, handle.future = f"eigenlift-{name}-{token}-{i}", None
        for handle in handles:
            self._labels[handle.key] = handle.label
            graph[handle.key] = (
                _run,
                self._version,
                handle.call,
                *[self._part(given, graph, handle) for given in handle.inputs],
            )
        keys = [handle.key for handle in handles]
        # Why: values inside tasks are meant, as data that is scattered dies with its worker; so no warning of large graphs.
        with _SENDING, dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 PiB"}):
            futures = self.client.get(graph, keys, sync=False)
        for handle, future in zip(handles, futures):
            handle.future, handle.call = future, None
        for handle in handles:
            # Why: until it is done the task holds the handles of what it needs, so that the scheduler does not forget these before it has heard of the task.
            handle.future.add_done_callback(functools.partial(self._finished, handle))

    def _part(self, given, graph, handle):
        """What stands for this input in the graph."""
        if isinstance(given, Lazy):
            graph.update(given.graph)
            self._labels[given.key] = given.label or handle.label
            return given.key
        return given.key if given.future is None else given.future

    def _finished(self, handle, future):
        if handle.state != "waiting":
            return
        error = self._error_of(handle, future)
        if error is None:
            self._labels.pop(handle.key, None)
        with self._changed:
            self._settle(handle, error)

    def _error_of(self, handle, future):
        if future.status == "error":
            return handle.tally.error or self._failure(handle, future.exception())
        if future.status == "cancelled":
            return self._dropped(handle.label, future)
        return None

    def _dropped(self, label, future):
        """Why a task was given up that nobody has cancelled."""
        reason = getattr(getattr(getattr(future, "_state", None), "exception", None), "reason", None)
        if self.client.status == "running" and "scheduler" not in str(reason):
            return _dropped(label)
        return self._lost(label)

    def _lost(self, label=None):
        return PartitionError(
            f"{label + ': ' if label else ''}the connection to the scheduler at {self._address} was lost; it must run, and be "
            "reached, until the work is done. Look into its log for why it ended, start it again, and fit with a new Client.",
            label,
        )

    def _failure(self, handle, error):
        if not isinstance(error, PartitionError) and _blamed(handle).error is None:
            # The scheduler may tell of a merge before it tells of the task that failed.
            time.sleep(_TOGETHER_SECONDS)
        blamed = _blamed(handle)
        return blamed.error or self._told(error, self._partition(blamed))

    def _partition(self, handle):
        """The label of the task that failed; among several partitions that it reads, that of the one that could not be."""
        lazies = [given for given in handle.inputs or () if isinstance(given, Lazy)]
        if len(lazies) < 2:
            return handle.label
        key = handle.key

        def blame(dask_scheduler):
            task = dask_scheduler.tasks.get(key)
            return None if task is None or task.exception_blame is None else task.exception_blame.key

        with contextlib.suppress(OSError, TimeoutError, CancelledError):
            failed = self.client.run_on_scheduler(blame)
            for lazy in lazies:
                if failed in lazy.graph:
                    return lazy.label or handle.label
        return handle.label

    def _told(self, error, label):
        """The error as one that names the partition."""
        if isinstance(error, PartitionError):
            return error
        if isinstance(error, KilledWorker):
            label = self._suspects(error, label)
            message = (
                f"{label}: ended every worker that ran it ({error.allowed_failures + 1} of them, the last at "
                f"{error.last_worker.address}); a task must leave its worker alive. Make the partitions smaller if memory "
                "ran out, or look into the log of that worker."
            )
        else:
            message = f"{label}: {type(error).__name__}: {error}"
        told = PartitionError(message, label)
        told.__cause__ = error
        return told

    def _suspects(self, error, label):
        """The tasks that Dask gave up with this one: those that a worker had to do besides the one that ended it are suspected too."""
        labels = {error.task: self._labels.get(error.task, label)}
        # The scheduler gives them up together, but tells of one after the other.
        time.sleep(_TOGETHER_SECONDS)
        with self._changed:
            handles = list(self._handles)
        for future in [handle.future for handle in handles if handle.future is not None]:
            other = future.exception() if future.status == "error" else None
            if isinstance(other, KilledWorker) and other.last_worker.address == error.last_worker.address:
                labels.setdefault(other.task, self._labels.get(other.task, label))
        return " or ".join(sorted(set(labels.values())))

    def _collect(self, handles):
        futures = [handle.future for handle in handles]
        try:
            return self.client.gather(futures)
        except Exception as error:
            if any(handle.state == "cancelled" for handle in handles):
                raise CancelledError("cancelled while results were taken") from error
            if isinstance(error, CancelledError):
                raise self._dropped(handles[0].label, futures[0]) from error
            failed = [handle for handle in handles if handle.future.status == "error"]
            raise self._told(error, (failed or handles)[0].label) from error

    def _look(self):
        if self.client.status == "connecting":
            raise self._lost()
        if self.client.status != "running":
            raise PartitionError(
                f"the client is {self.client.status}; it must stay connected until the work is done. "
                "Look whether the scheduler still runs, and connect again."
            )
        now = time.monotonic()
        if now < self._next_look:
            return
        self._next_look = now + _LOOK_SECONDS
        try:
            threads = self.client.nthreads()
        except (OSError, TimeoutError) as error:
            raise self._lost() from error
        if threads:
            self._last_seen = now
        elif self._last_seen is not None and now - self._last_seen > _ALONE_SECONDS:
            raise PartitionError(
                f"the cluster has had no worker for {_ALONE_SECONDS:g} seconds; the work needs at least one. "
                "Look into the logs of the workers for why they ended, and start new ones."
            )
        elif self._last_seen is None and self._first_look is None:
            self._first_look = now
        elif self._last_seen is None and now - self._first_look > _TELL_SECONDS and not self._told_of_none:
            self._told_of_none = True
            warnings.warn(
                "the cluster has no worker, and the work waits until it has one. Start workers, or look into their logs for why "
                "they ended; Ctrl-C ends the wait.",
                EigenliftWarning,
                stacklevel=2,
            )

    def _drop(self, handles):
        self._labels.clear()
        futures = [handle.future for handle in handles if getattr(handle, "future", None) is not None]
        if not futures or self.client.status != "running":
            return
        session = self._session

        def n_left(dask_scheduler):
            return sum(isinstance(key, str) and session in key for key in list(dask_scheduler.tasks))

        with contextlib.suppress(OSError, TimeoutError, CancelledError):
            # Why not `Client.cancel`: where a task needs it whose own handle has gone, the scheduler ends the connection of the client.
            for future in futures:
                future.release()
            until = time.monotonic() + _CANCEL_SECONDS
            while self.client.run_on_scheduler(n_left) and time.monotonic() < until:
                time.sleep(0.02)


def _run(version, call, *inputs):
    """Runs on a worker."""
    worker = get_worker()
    if eigenlift.__version__ != version:
        _refuse_other_version(worker.address, eigenlift.__version__, version, call.label)
    key = worker.get_current_task()

    def check():
        task = worker.state.tasks.get(key)
        # Why: the worker cannot end a thread; it marks the task and would let it run on to its end.
        if task is None or task.state == "cancelled":
            raise CancelledError(f"{call.label}: cancelled")

    with stopped_by(check):
        return call(*inputs)


def _refuse_other_version(address, found, required, label=None):
    if found != required:
        raise PartitionError(
            f"{label + ': ' if label else ''}worker {address} has eigenlift {found} where this process has {required}; "
            "all must have the same. Install the same version everywhere.",
            label,
        )


def _blamed(handle):
    """The task at the bottom of a failure: the first among those that are needed which failed itself."""
    for need in handle.needs():
        if need.future is not None and need.future.status == "error":
            return _blamed(need)
    return handle


def _dropped(label):
    return PartitionError(
        f"{label}: the cluster dropped the task, or data that it needs and that nobody can compute again; tasks must be able to "
        "read their rows. Read from files, or persist the rows anew.",
        label,
    )
