"""What both backends share: tasks with open inputs, the merge tree, and waiting."""

from __future__ import annotations

import contextlib
import re
import threading
import weakref
from concurrent.futures import CancelledError
from typing import TYPE_CHECKING, Any, Self

from .. import _native
from .._errors import EigenliftError
from ._protocol import Block, Lazy, PartitionError, Slot

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

# Seconds between two looks at whether there is still somebody to wait for.
_POLL = 0.1


@contextlib.contextmanager
def stopped_by(check):
    """Has what the compiled part does in this thread meanwhile end when `check()` raises."""
    before = _native.stop_when(check)
    try:
        yield
    finally:
        _native.stop_when(before)


class Call:
    """A function with its arguments; slots stand for inputs that other tasks give."""

    def __init__(self, function, arguments, label):
        self.function = function
        self.arguments = arguments
        self.label = label

    def __call__(self, *inputs):
        try:
            return self.function(*_filled(self.arguments, inputs))
        except (PartitionError, CancelledError):
            raise
        except Exception as error:
            raise PartitionError(f"{self.label}: {type(error).__name__}: {error}", self.label) from error


class Tally:
    """How many tasks of one call are done."""

    def __init__(self, n_tasks):
        self.n_tasks = n_tasks
        self.done = 0
        self.error = None

    @property
    def finished(self):
        return self.done == self.n_tasks and self.error is None


class Handle:
    """Stands for the result of a task."""

    def __init__(self, function, arguments, label):
        self.inputs = []
        opened = _opened(arguments, self.inputs)
        self.label = label
        self.ends = (self.label, self.label)
        self.call = Call(function, opened, self.label)
        self.is_merge = False
        self.state = "waiting"  # then "done", "failed" or "cancelled"
        self.value = self.error = None
        self.tally = None
        self.tallies = frozenset()

    def needs(self):
        """The handles among the inputs."""
        return [given for given in self.inputs or () if isinstance(given, Handle)]


class Work:
    """The four methods, on top of `_start(name, handles)`, `_collect(handles)` and `_drop(handles)` of a subclass.

    `_start` sends tasks off and sees to it that `_settle` is called at the end of each.
    """

    def __init__(self):
        self._changed = threading.Condition()
        self._handles = weakref.WeakSet()
        self._n_cancels = 0

    def submit(self, function: Callable[..., Any], *arguments: Any, name: str) -> Any:
        labels = [value.place.label for value in arguments if isinstance(value, Block)]
        return self._begin(name, [Handle(function, arguments, " with ".join(labels) or f"task {name!r}")])[0]

    def map_blocks(
        self,
        function: Callable[..., Any],
        blocks: Sequence[Any],
        *arguments: Any,
        each: Sequence[Any] | None = None,
        name: str,
    ) -> list[Any]:
        blocks = list(blocks)
        if each is not None and len(each) != len(blocks):
            raise EigenliftError(f"{len(each)} values for {len(blocks)} blocks; there must be one for each.")
        handles = []
        for i, block in enumerate(blocks):
            own = (block, block.place, *arguments) if each is None else (block, block.place, *arguments, each[i])
            handles.append(Handle(function, own, block.place.label))
        return self._begin(name, handles)

    def tree_reduce(self, function: Callable[[Any, Any], Any], handles: Sequence[Any], *, name: str) -> Any:
        level, merges = list(handles), []
        if not level:
            raise EigenliftError("nothing to reduce; there must be at least one handle.")
        while len(level) > 1:
            pairs = [_merge(function, a, b) for a, b in zip(level[::2], level[1::2])]
            level = pairs + level[2 * len(pairs) :]
            merges += pairs
        self._begin(name, merges)
        return level[0]

    def gather(self, handles: Sequence[Any], report: Callable[[int, int], object] | None = None) -> list[Any]:
        handles = list(handles)
        if not handles:
            return []
        try:
            self._wait(handles, report)
            return self._collect(handles)
        except CancelledError:
            raise
        except BaseException:
            self.cancel()
            raise

    def cancel(self) -> None:
        with self._changed:
            self._n_cancels += 1
            handles = list(self._handles)
            self._handles.clear()
            self._mark_cancelled(handles)
        self._drop(handles)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.cancel()

    def _begin(self, name, handles):
        """Starts these tasks, of which one may need those before it."""
        if not re.fullmatch(r"[A-Za-z]+(-[A-Za-z]+)*", name):
            raise EigenliftError(f"{name!r} is no name of tasks; it must be words of letters joined by hyphens.")
        if not handles:
            return handles
        tally, before = Tally(len(handles)), self._n_cancels
        for handle in handles:
            needs = handle.needs()
            if any(need.state == "cancelled" for need in needs):
                raise CancelledError(f"{handle.label}: what the task needs was cancelled")
            handle.tally = tally
            waited_for = {other for need in needs for other in need.tallies if not other.finished}
            handle.tallies = frozenset(waited_for | {tally})
        self._start(name, handles)
        with self._changed:
            late = self._n_cancels != before
            if late:
                self._mark_cancelled(handles)
            else:
                self._handles.update(handles)
        if late:
            self._drop(handles)
            raise CancelledError(f"{handles[0].label}: cancelled")
        return handles

    def _mark_cancelled(self, handles):
        for handle in handles:
            handle.state = "cancelled"
            handle.call = handle.inputs = handle.value = None
        self._changed.notify_all()

    def _wait(self, handles, report):
        """Waits until all are done; raises the first failure."""
        tallies = {tally for handle in handles for tally in handle.tallies if not tally.finished}
        total = sum(tally.n_tasks for tally in tallies) or len(handles)
        told, at, ready = -1, 0, False
        while not ready:
            with self._changed:
                while at < len(handles) and handles[at].state == "done":
                    at += 1
                _raise_failure(handles[at : at + 1], tallies)
                ready = at == len(handles)
                done = total if ready else sum(tally.done for tally in tallies)
                if not ready and done == told:
                    self._changed.wait(_POLL)
            if report is not None and done > told:
                report(done, total)
            told = max(told, done)
            self._look()

    def _settle(self, handle, error=None):
        """Notes the end of a task; the lock must be held."""
        if handle.state != "waiting":
            return
        handle.state = "done" if error is None else "failed"
        handle.error = error
        # What it needed may be freed: the handles it holds keep results alive.
        handle.call = handle.inputs = None
        if error is None:
            handle.tally.done += 1
        elif handle.tally.error is None:
            handle.tally.error = error
        self._changed.notify_all()

    def _look(self):
        """Raises if nobody works on the tasks any more."""


def _merge(function, first, second):
    ends = first.ends[0], second.ends[1]
    merge = Handle(function, (first, second), f"merge from {ends[0]} to {ends[1]}")
    merge.ends, merge.is_merge = ends, True
    return merge


def _raise_failure(handles, tallies):
    for handle in handles:
        if handle.state == "failed":
            raise handle.error
        if handle.state == "cancelled":
            raise CancelledError(f"{handle.label}: cancelled")
    for tally in tallies:
        if tally.error is not None:
            raise tally.error


def _opened(value, inputs):
    """The value with slots in place of handles and of what Dask graphs give; these are appended to `inputs`."""
    if isinstance(value, (Handle, Lazy)):
        inputs.append(value)
        return Slot(len(inputs) - 1)
    if isinstance(value, Block):
        return value.opened(inputs)
    if type(value) in (list, tuple):
        return type(value)([_opened(item, inputs) for item in value])
    return value


def _filled(value, inputs):
    if isinstance(value, Slot):
        return inputs[value.index]
    if isinstance(value, Block):
        return value.read(inputs)
    if type(value) in (list, tuple):
        return type(value)([_filled(item, inputs) for item in value])
    return value
