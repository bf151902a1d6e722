"""What the algorithms ask of a backend, and what they hand to it: four methods, blocks of rows and where these lie."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

import numpy as np
from scipy import sparse

from .._errors import EigenliftError
from ._checks import checked_rows, checked_weights


class PartitionError(EigenliftError, RuntimeError):
    """The work on a partition failed; the message begins with the partition.

    Attributes
    ----------
    partition : str or None
        The partition in words, such as "partition 3 (rows 3001 to 4000 of x.npy)".
    """

    partition: str | None

    def __init__(self, message: str, partition: str | None = None) -> None:
        super().__init__(message)
        self.partition = partition


class RowsError(PartitionError):
    """A partition holds rows or weights that cannot be used."""


@dataclass(frozen=True)
class Place:
    """Where a block lies among all rows."""

    index: int
    first: int
    n_rows: int
    label: str


@dataclass(frozen=True)
class Form:
    """What the rows of every block must look like."""

    n_cols: int
    dtype: np.dtype
    column_names: tuple | None = None


@dataclass(frozen=True)
class Part:
    """Rows of a source: what reads them, how many they are, the number of the partition there, and which rows of a file they are."""

    source: object
    n_rows: int
    number: int
    words: str | None = None


@dataclass(frozen=True)
class Slot:
    """Stands in an argument for the result that is given as input `index` of the task."""

    index: int


class Lazy:
    """A value that a Dask graph gives; `graph` holds what `key` needs and no more."""

    def __init__(self, graph, key):
        self.graph = graph
        self.key = key
        self.label = None  # of the partition

    def read(self):
        from dask.local import get_sync

        return get_sync(self.graph, self.key)


@dataclass(frozen=True, eq=False)
class Block:
    """Rows that a task reads by itself.

    `source` and `weights` are a reader (something with a method `read`, which pickles), a `Lazy` or a `Slot`; `weights` may also be an array or None.
    Without a `form` nothing is checked and the rows are what the source gives.
    """

    place: Place
    source: object
    weights: object = None
    form: Form | None = None

    def read(self, inputs=()):
        """Rows and weights, checked: C-ordered float32 or float64 or CSR, and float64 or None."""
        if isinstance(self.source, Several):
            return self.source.read(inputs)
        try:
            rows, weights = _value(self.source, inputs), _value(self.weights, inputs)
        except Exception as error:
            label = self.place.label
            raise PartitionError(f"{label}: {type(error).__name__}: {error}", label) from error
        if self.form is None:
            return rows, weights
        try:
            return checked_rows(rows, self.place, self.form), checked_weights(weights, self.place)
        except (ValueError, TypeError) as error:
            raise RowsError(f"{self.place.label}: {error}", self.place.label) from error

    def opened(self, inputs):
        """This block with slots in place of what a Dask graph gives, which is appended to `inputs`."""
        changes = {}
        for name in ("source", "weights"):
            value = getattr(self, name)
            if isinstance(value, Lazy):
                changes[name] = Slot(len(inputs))
                value.label = self.place.label
                inputs.append(value)
            elif isinstance(value, Several):
                changes[name] = Several([block.opened(inputs) for block in value.blocks])
        return replace(self, **changes) if changes else self

    def delayed(self):
        """The pair of rows and weights as a `dask.delayed.Delayed`."""
        from dask.delayed import Delayed, delayed

        inputs = []
        block = self.opened(inputs)
        return delayed(_read, pure=False)(block, *[Delayed(lazy.key, lazy.graph) for lazy in inputs])


@dataclass(frozen=True)
class Several:
    """Neighbouring blocks that one task reads."""

    blocks: list

    def read(self, inputs=()):
        rows, weights = zip(*(block.read(inputs) for block in self.blocks))
        stacked = sparse.vstack(rows, format="csr") if any(map(sparse.issparse, rows)) else np.vstack(rows)
        return stacked, None if weights[0] is None else np.concatenate(weights)


def joined(blocks, most_rows, most_numbers):
    """The blocks with small neighbours joined, until there are so many rows or numbers; in the same order, counted anew."""
    groups, n_rows = [], 0
    for block in blocks:
        n_cols = 1 if block.form is None else block.form.n_cols
        if groups and n_rows < min(most_rows, most_numbers / max(n_cols, 1)):
            groups[-1].append(block)
            n_rows += block.place.n_rows
        else:
            groups.append([block])
            n_rows = block.place.n_rows
    return [_as_one(index, group) for index, group in enumerate(groups)]


def _as_one(index, group):
    first, last = group[0], group[-1]
    if len(group) == 1:
        return replace(first, place=replace(first.place, index=index))
    n_rows = sum(block.place.n_rows for block in group)
    place = Place(index, first.place.first, n_rows, f"{first.place.label} to {last.place.label}")
    return Block(place, Several(group), None, first.form)


def _read(block, *inputs):
    return block.read(inputs)


def _value(source, inputs):
    if isinstance(source, Slot):
        return inputs[source.index]
    return source.read() if hasattr(source, "read") else source


@runtime_checkable
class Backend(Protocol):
    """Runs functions on blocks.

    A handle stands for a result. As an argument, also inside lists and tuples, a handle is replaced by its result and a block by its rows and weights.
    Functions must not change their arguments: a task whose result was lost is run again.
    """

    @property
    def n_workers(self) -> int:
        """How many tasks run at a time."""

    def submit(self, function, *arguments, name):
        """A handle for `function(*arguments)`, which runs once, somewhere."""

    def map_blocks(self, function, blocks, *arguments, each=None, name):
        """Handles for `function(rows, place, *arguments)` of each block, with `each[i]` as last argument where it is given."""

    def tree_reduce(self, function, handles, *, name):
        """A handle for the reduction by `function(a, b)` of neighbours, level by level; an odd last one moves up."""

    def gather(self, handles, report=None):
        """The results in order; `report(done, total)` is called while tasks are waited for.

        The first failure is raised as `PartitionError`, after everything else was cancelled.
        """

    def cancel(self):
        """Drops everything that is outstanding; whoever waits for it gets a `concurrent.futures.CancelledError`."""

    def __enter__(self):
        """Itself."""

    def __exit__(self, *error):
        """Drops everything that is outstanding."""
