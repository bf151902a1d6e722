"""Telling how far a long call has come."""

from __future__ import annotations

import contextlib
import sys

from ._parameters import refuse


class _Lines:
    """Progress in words, on one line of the standard error stream."""

    def __init__(self, name):
        self._name = name
        self._written = False

    def __call__(self, stage, done, total):
        share = f"{100 * done / total:3.0f} %" if total else f"{done}"
        sys.stderr.write(f"\r[{self._name}] {stage}: {share}\x1b[K")
        sys.stderr.flush()
        self._written = True

    def close(self):
        if self._written:
            sys.stderr.write("\n")


class _Bars:
    """Progress by bars such as tqdm's, one for each stage."""

    def __init__(self, make):
        self._make = make
        self._bar = None
        self._stage = None

    def __call__(self, stage, done, total):
        if stage != self._stage or done < self._bar.n:
            # A new stage, or the next pass of the same.
            self.close()
            self._bar, self._stage = self._make(total=total or None, desc=stage), stage
        if done > self._bar.n:
            self._bar.update(done - self._bar.n)

    def close(self):
        if self._bar is not None:
            self._bar.close()


@contextlib.contextmanager
def watching(estimator):
    """A callback `(stage, done, total)` for the compiled part, or None when nobody looks.

    `progress` of the estimator may be such a callback or a class of bars such as `tqdm.tqdm`; without one, `verbose` above 0
    writes a line to the standard error stream.
    """
    progress = estimator.progress
    if progress is not None and not callable(progress):
        refuse(estimator, "progress", "a function of (stage, done, total), a class of bars such as tqdm.tqdm, or None")
    if progress is None:
        watcher = _Lines(type(estimator).__name__) if estimator.verbose else None
    elif hasattr(progress, "update") and isinstance(progress, type):
        watcher = _Bars(progress)
    else:
        watcher = progress
    try:
        yield watcher
    finally:
        if isinstance(watcher, (_Lines, _Bars)):
            watcher.close()
