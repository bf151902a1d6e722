"""Tasks in threads of this process."""

from __future__ import annotations

import heapq
import itertools
import threading
from concurrent.futures import CancelledError

import joblib

from .._errors import InvalidParameterError
from .._parameters import is_integer
from .._threads import thread_count
from ._protocol import PartitionError
from ._work import Handle, Work, stopped_by


class Threads(Work):
    """Runs the tasks in threads of this process; results are those of a cluster, bit by bit.

    Threads exist while there are tasks to be done, and at most so many.

    Parameters
    ----------
    n_threads : int or None, default=None
        How many tasks run at a time. None stands for EIGENLIFT_NUM_THREADS or another of the usual variables, else for the number of processors that
        this process may use.
    """

    n_threads: int | None

    def __init__(self, n_threads: int | None = None) -> None:
        if n_threads is not None and (not is_integer(n_threads) or n_threads < 1):
            raise InvalidParameterError(
                f"The 'n_threads' parameter must be an int from 1 or None. Got {n_threads!r} instead."
            )
        super().__init__()
        self.n_threads = n_threads
        self._ready = []
        self._order = itertools.count()
        self._followers = {}
        self._n_running = 0

    def __repr__(self):
        return f"Threads({self.n_threads if self.n_threads is not None else ''})"

    def __reduce__(self):
        return Threads, (self.n_threads,)

    @property
    def n_workers(self) -> int:
        return self.n_threads or thread_count(None) or joblib.cpu_count()

    def _start(self, name, handles):
        with self._changed:
            for handle in handles:
                needs = {id(need): need for need in handle.needs()}.values()
                failed = [need for need in needs if need.state == "failed"]
                open_needs = [need for need in needs if need.state == "waiting"]
                if failed:
                    self._end(handle, None, failed[0].error)
                elif open_needs:
                    handle.n_open = len(open_needs)
                    for need in open_needs:
                        self._followers.setdefault(need, []).append(handle)
                else:
                    self._push(handle)

    def _push(self, handle):
        # Cost: merges come first, so that parts are freed as soon as they can be.
        urgent = 0 if handle.is_merge else 1
        heapq.heappush(self._ready, (urgent, next(self._order), handle))
        if self._n_running < self.n_workers:
            self._n_running += 1
            threading.Thread(target=self._work, name="eigenlift-task").start()

    def _work(self):
        while True:
            with self._changed:
                if not self._ready:
                    self._n_running -= 1
                    return
                handle = heapq.heappop(self._ready)[-1]
                call, inputs = handle.call, handle.inputs
                if handle.state != "waiting":
                    continue
            value, error = _run(handle, call, inputs)
            with self._changed:
                self._end(handle, value, error)
            # What was read is freed before the next task reads.
            del handle, call, inputs, value, error

    def _end(self, handle, value, error):
        """Notes a result and lets those go on that wait for it."""
        if handle.state != "waiting":
            return
        handle.value = value
        self._settle(handle, error)
        for follower in self._followers.pop(handle, []):
            if error is not None:
                self._end(follower, None, error)
                continue
            follower.n_open -= 1
            if follower.n_open == 0 and follower.state == "waiting":
                self._push(follower)

    def _collect(self, handles):
        with self._changed:
            if any(handle.state == "cancelled" for handle in handles):
                raise CancelledError("cancelled while results were taken")
            return [handle.value for handle in handles]

    def _drop(self, handles):
        with self._changed:
            self._ready = [entry for entry in self._ready if entry[-1].state == "waiting"]
            heapq.heapify(self._ready)
            for handle in handles:
                self._followers.pop(handle, None)


def _run(handle, call, inputs):
    """The result and None, or None and the error."""

    def check():
        if handle.state != "waiting":
            raise CancelledError(f"{call.label}: cancelled")

    try:
        with stopped_by(check):
            return call(*[given.value if isinstance(given, Handle) else _read(given) for given in inputs]), None
    except PartitionError as error:
        return None, error
    except BaseException as error:
        # Why: also a panic of the compiled part, which is no Exception; a thread that ends without a word leaves others waiting.
        return None, PartitionError(f"{call.label}: {type(error).__name__}: {error}", call.label)


def _read(lazy):
    try:
        return lazy.read()
    except Exception as error:
        if lazy.label is None:
            raise
        raise PartitionError(f"{lazy.label}: {type(error).__name__}: {error}", lazy.label) from error
