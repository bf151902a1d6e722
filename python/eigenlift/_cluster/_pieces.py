"""Rows in pieces: what the compiled part asks of all rows, answered by tasks on a backend."""

from __future__ import annotations

import threading
from concurrent.futures import CancelledError

import numpy as np

from . import _tasks as tasks
from ._protocol import joined

# A task takes small neighbouring blocks together until it has so many rows or numbers. Why: a task costs some milliseconds of its own.
_FEW_ROWS, _FEW_NUMBERS = 2048, 1 << 17
# Rows of blocks whose pairs are summed at a time. Why fixed: sums of pairs are in an order that depends on it.
_WINDOW = 4
# Rows of a sample, at least, that are one task's.
_SAMPLE_ROWS = 512
# Waves of blocks, or windows of pairs, that are under way at once.
_UNDER_WAY = 3


class Pieces:
    """All rows as the compiled part sees them: sums, products and single rows, but never the rows together.

    Blocks are sent in waves, so that no more than a few for each worker are under way. Sums go up a tree that is fixed by the
    order of the blocks; waves are aligned to it, so that results do not depend on how many workers there are.

    Parameters
    ----------
    blocks : Blocks
        Where rows are read from.
    backend : Backend
        Where tasks run.
    threads : int
        Threads of a task.
    progress : callable or None
        Called with (stage, done, total).
    """

    def __init__(self, blocks, backend, threads=1, progress=None):
        self._blocks = joined(blocks, _FEW_ROWS, _FEW_NUMBERS)
        self._offsets = np.cumsum([0, *(block.place.n_rows for block in self._blocks)], dtype=np.int64)
        self._backend, self._threads, self.progress = backend, threads, progress
        self._stopped = threading.Event()
        self._samples = self._left = None
        self.n_rows, self.n_cols = int(blocks.n_rows), int(blocks.n_cols)
        self.dtype = np.dtype(blocks.dtype)
        self.precision = "f32" if self.dtype == np.float32 else "f64"
        self.weighted, self.column_names = bool(blocks.weighted), blocks.column_names
        n_blocks, at_once = len(self._blocks), backend.n_workers
        self.place = f"{n_blocks} block{'s' * (n_blocks > 1)}, {at_once} task{'s' * (at_once > 1)} at a time"

    @property
    def shape(self):
        """Rows and columns."""
        return self.n_rows, self.n_cols

    def cancel(self):
        """Ends all work, also what another thread is waiting for."""
        self._stopped.set()
        self._backend.cancel()

    def weight(self):
        """Sum of the weights; the number of rows without them."""
        if not self.weighted:
            return float(self.n_rows)
        return float(np.cumsum(self._gathered("weights", (tasks.weight,)))[-1])

    def gather(self, indices):
        """Rows by their numbers, which ascend; dense and in double precision."""
        indices = np.asarray(indices, dtype=np.int64)
        used, each = self._by_block(indices)
        found = self._gathered("rows", (tasks.taken,), used, each)
        return np.vstack(found) if found else np.empty((0, self.n_cols))

    def pca_sums(self, empty):
        """Sums for principal components over all rows, added to such as have seen none."""
        work = (tasks.pca_sums, self._shared(empty), self._threads)
        return tasks.unpacked(self._reduced("moments of rows", work, tasks.merged))

    def product(self, center, block):
        """Σ w (x−c)(x−c)ᵀ·block."""
        shared = self._shared((np.asarray(center), np.asarray(block)))
        return self._reduced("products with rows", (tasks.product, shared, self._threads), tasks.added)

    def feature_sums(self, features):
        """Sums of features over all rows."""
        work = (tasks.feature_sums, self._shared(features), self._threads)
        return tasks.unpacked(self._reduced("moments of features", work, tasks.merged))

    def begin_rounds(self, sample=None):
        """Names the rows among which pivots are drawn; None for all. Those of a sample are taken out once.

        A sample is small beside the rows, so that rows of neighbouring blocks are joined; the parts do not depend on the workers.
        """
        self._left, self._samples = None, None
        if sample is None:
            return
        used, each = self._by_block(np.asarray(sample, dtype=np.int64))
        blocks = [self._blocks[at] for at in used]
        handles = self._backend.map_blocks(tasks.sampled, blocks, each=each, name="sample")
        parts = (np.cumsum([0, *map(len, each)])[:-1] // _SAMPLE_ROWS).tolist()
        self._samples = [
            self._backend.submit(tasks.joined, [one for one, own in zip(handles, parts) if own == part], name="sample")
            for part in sorted(set(parts))
        ]

    def left_out(self, features, spent):
        """For each block, or part of the sample, the sum of what features leave out of its rows."""
        shared = self._shared((features, np.asarray(spent, dtype=np.int64)))
        backend, threads = self._backend, self._threads
        if self._samples is None:
            self._left = backend.map_blocks(tasks.left_out, self._blocks, shared, threads, name="left-out")
        else:
            self._left = [
                backend.submit(tasks.left_out_of, sample, shared, threads, name="left-out") for sample in self._samples
            ]
        totals = [backend.submit(tasks.total, handle, name="left-out-sums") for handle in self._left]
        return np.array(self._results(totals), dtype=np.float64)

    def locate(self, parts, targets):
        """In each block or part of the sample, the first row whose running sum of what is left exceeds the target: its number and the row.

        The number is −1 where nothing is left of that row.
        """
        parts, targets = np.asarray(parts, dtype=np.int64), np.asarray(targets, dtype=np.float64)
        used = [int(at) for at in np.unique(parts)]
        places = [np.flatnonzero(parts == at) for at in used]
        sent = [
            self._backend.submit(tasks.located, self._left[at], targets[place], name="locate")
            for at, place in zip(used, places)
        ]
        found = self._results(sent)
        numbers, rows = np.empty(len(parts), dtype=np.int64), np.empty((len(parts), self.n_cols))
        if self._samples is None:
            for at, place, (local, _) in zip(used, places, found):
                numbers[place] = self._offsets[at] + local
            unique, back = np.unique(numbers, return_inverse=True)
            rows[:] = self.gather(unique)[back]
        else:
            sent = [
                self._backend.submit(tasks.rows_at, self._samples[at], local, name="locate")
                for at, (local, _) in zip(used, found)
            ]
            for place, taken in zip(places, self._results(sent)):
                rows[place], numbers[place] = taken
        for place, (_, there) in zip(places, found):
            numbers[place[~there]] = -1
        return numbers, rows

    def kernel_product(self, kernel, block, single):
        """K·block, the row sums of K, and the sum of its squares, by pairs of blocks."""
        n_blocks, offsets = len(self._blocks), self._offsets
        how = (kernel, bool(single), self._threads)
        parts = [self._shared(np.ascontiguousarray(block[a:b])) for a, b in zip(offsets, offsets[1:])]
        times, row_sums, square = np.empty(block.shape), np.empty(self.n_rows), 0.0
        above = [None] * n_blocks  # of each block, the sum over pairs whose second it is
        under_way, n_done, n_pairs = [], 0, n_blocks * (n_blocks + 1) // 2
        for first in range(0, n_blocks + _UNDER_WAY * _WINDOW, _WINDOW):
            if first < n_blocks:
                under_way.append((first, self._window(first, parts, above, how)))
            if first >= n_blocks or len(under_way) == _UNDER_WAY:
                if not under_way:
                    break
                start, handles = under_way.pop(0)
                for at, found in enumerate(self._results(handles), start):
                    rows = slice(offsets[at], offsets[at + 1])
                    times[rows], row_sums[rows] = found[:2]
                    square += found[2]
                    n_done += n_blocks - at
                self._report("pass over pairs", n_done, n_pairs)
        return times, row_sums, square

    def _window(self, first, parts, above, how):
        """Sends the pairs whose first is one of a few blocks; gives a handle for each of these, with all of its rows."""
        backend, n_blocks = self._backend, len(self._blocks)
        window = range(first, min(first + _WINDOW, n_blocks))
        pairs, sums = {}, {}
        for at in window:
            block = self._blocks[at]
            one = backend.submit(tasks.one_of, block, block.place.first, parts[at], name="pair-rows")
            pairs[at] = backend.map_blocks(tasks.pair, self._blocks[at:], one, how, each=parts[at:], name="pairs")
            sums[at] = backend.tree_reduce(tasks.firsts_added, pairs[at], name="pair-sums")
        for at in range(first + 1, n_blocks):
            terms = [pairs[one][at - one] for one in window if one < at]
            terms = terms if above[at] is None else [above[at], *terms]
            above[at] = backend.tree_reduce(tasks.seconds_added, terms, name="pair-sums")
        handles = []
        for at in window:
            handles.append(backend.submit(tasks.row_of, sums[at], above[at], name="pair-sums"))
            above[at] = None
        return handles

    def kernel_columns(self, kernel, rows, single):
        """Kernel values of all rows with a few others."""
        how = (kernel, bool(single), self._threads)
        work = (tasks.kernel_columns, self._shared(np.ascontiguousarray(rows)), how)
        return np.vstack(self._gathered("kernel columns", work))

    def kernel_diagonal(self, kernel, single):
        """k(x, x) of all rows."""
        how = (kernel, bool(single), self._threads)
        return np.concatenate(self._gathered("kernel diagonal", (tasks.kernel_diagonal, how)))

    def project(self, model):
        """Scores of all rows."""
        return np.vstack(self._gathered("scores", (tasks.scores, self._shared(model), self._threads)))

    def extremes(self, model):
        """For each component the score of largest magnitude over all rows, the first of equal ones."""
        found = np.array(self._gathered("signs", (tasks.extremes, self._shared(model), self._threads)))
        return found[np.abs(found).argmax(axis=0), np.arange(found.shape[1])]

    def summed(self, estimator, method):
        """Sum over all rows of what a method of a fitted estimator says of each."""
        return float(np.sum(self._gathered("scores", (tasks.summed, self._shared(estimator), method))))

    def certified(self, estimator):
        """The sums that the `certify` of a fitted Nyström method takes over rows."""
        return np.cumsum(self._gathered("certify", (tasks.certified, self._shared(estimator))), axis=0)[-1]

    def _by_block(self, indices):
        """Blocks that hold rows of these ascending numbers, and where in each block they are."""
        at = np.searchsorted(self._offsets, indices, side="right") - 1
        used = np.unique(at)
        return [int(one) for one in used], [indices[at == one] - self._offsets[one] for one in used]

    def _shared(self, value):
        """A value for many tasks; a task itself, so that the loss of a worker does not lose it."""
        return self._backend.submit(tasks.same, tasks.packed(value), name="value")

    def _waves(self, n_blocks):
        """First and last of the blocks of each wave. Their number is a power of two, so that the tree does not depend on it."""
        size = 1 << max(1, 2 * self._backend.n_workers - 1).bit_length()
        return [(first, min(first + size, n_blocks)) for first in range(0, n_blocks, size)]

    def _gathered(self, stage, work, used=None, each=None):
        """Results of a function for each block, or those in use, in order."""
        function, *arguments = work
        blocks = self._blocks if used is None else [self._blocks[at] for at in used]
        name, results, under_way = stage.replace(" ", "-"), [], []
        n_done, n_rows = 0, sum(block.place.n_rows for block in blocks)
        waves = self._waves(len(blocks))
        for at in range(len(waves) + _UNDER_WAY):
            if at < len(waves):
                wave = slice(*waves[at])
                own = None if each is None else each[wave]
                handles = self._backend.map_blocks(function, blocks[wave], *arguments, each=own, name=name)
                under_way.append((handles, sum(block.place.n_rows for block in blocks[wave])))
                del handles
            if under_way and (at >= len(waves) or len(under_way) == _UNDER_WAY):
                handles, n_sent = under_way.pop(0)
                results += self._results(handles)
                n_done += n_sent
                self._report(stage, n_done, n_rows)
        return results

    def _reduced(self, stage, work, merge):
        """The results of a function for all blocks, merged two by two."""
        function, *arguments = work
        name, heights, under_way = stage.replace(" ", "-"), [], []
        waves = self._waves(len(self._blocks))
        for at in range(len(waves) + _UNDER_WAY):
            if at < len(waves):
                wave = slice(*waves[at])
                handles = self._backend.map_blocks(function, self._blocks[wave], *arguments, name=name)
                handle = self._backend.tree_reduce(merge, handles, name=f"{name}-sums")
                under_way.append((self._backend.submit(tasks.done, handle, name=f"{name}-sums"), wave.stop))
                # As in counting: two of one height make one of the next.
                heights.append((0, handle))
                while len(heights) > 1 and heights[-1][0] == heights[-2][0]:
                    self._join(heights, merge, name)
                # Why: what a handle stands for is kept until the handle goes.
                del handles, handle
            if under_way and (at >= len(waves) or len(under_way) == _UNDER_WAY):
                token, stop = under_way.pop(0)
                self._results([token])
                self._report(stage, int(self._offsets[stop]), self.n_rows)
        while len(heights) > 1:
            self._join(heights, merge, name)
        return self._results([heights.pop()[1]])[0]

    def _join(self, heights, merge, name):
        """Merges the last two."""
        (height, one), (_, other) = heights[-2:]
        heights[-2:] = [(height + 1, self._backend.tree_reduce(merge, [one, other], name=f"{name}-sums"))]

    def _results(self, handles, report=None):
        """What the handles stand for. Nothing that was sent before `cancel`, from whatever thread, is waited for after it."""
        if self._stopped.is_set():
            self._backend.cancel()
            raise CancelledError("the work on the rows was cancelled")
        return self._backend.gather(handles, report)

    def _report(self, stage, done, total):
        if self.progress is not None:
            self.progress(stage, int(done), int(total))
