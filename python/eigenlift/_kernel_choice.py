"""From the kernel parameters of an estimator to what is computed."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.metrics.pairwise import pairwise_kernels

from . import _native, _rows
from ._errors import EigenliftError, InvalidParameterError
from ._kernel_base import CATALOG, Kernel, matched, numbers_found

_DEFAULTS = {"degree": 3, "coef0": 1}
# scikit-learn's names and the names here. The compiled part has no additive_chi2.
_OURS = {
    "additive_chi2": None,
    "chi2": "chi2",
    "cosine": "cosine",
    "laplacian": "laplacian",
    "linear": "linear",
    "poly": "polynomial",
    "polynomial": "polynomial",
    "rbf": "rbf",
    "sigmoid": "sigmoid",
}


def _taken(ours):
    """Numbers that scikit-learn gives to a kernel of this name: of several notations of one number the first."""
    rows = CATALOG[ours]["params"] if ours else ()
    return tuple(row["name"] for row in rows if not row["replaces_first"])


_NAMES = {name: (ours, _taken(ours)) for name, ours in _OURS.items()}
# Kernels of scikit-learn that refuse negative entries, in its words.
_CHECKED = {ours for ours in _OURS.values() if ours and CATALOG[ours]["nonnegative"]}


@dataclass(frozen=True)
class KernelChoice:
    """A kernel to be computed: by the compiled part, by a function of two rows, or given as a matrix."""

    text: str | None = None
    """Description for the compiled part."""
    function: Callable[..., float] | str | None = None
    """Without a text: a function k(x, y), or a name of scikit-learn for what the compiled part does not have."""
    params: dict[str, Any] = field(default_factory=dict)
    """Keyword arguments of the function."""
    precomputed: bool = False
    """The matrix is given in place of rows."""

    @property
    def automatic(self):
        """Whether the fit has to choose the kernel or a bandwidth."""
        return self.text is not None and re.search(r"\bauto\b", self.text) is not None

    @property
    def kernel(self):
        """What a user would call it."""
        return "precomputed" if self.precomputed else self.text or self.function

    def resolved(self, X, threads):
        """The same with every number known."""
        return self if self.text is None else replace(self, text=numbers_found(self.text, X, threads))

    def matrix(self, X, Y, threads):
        """k(x, y) of all rows of X and Y; Y of None stands for X."""
        self._check(X, Y)
        if self.text is not None:
            X, Y = matched(X, X if Y is None else Y)
            return _rows.kernel_matrix(numbers_found(self.text, X, threads), X, Y, threads)
        if self.precomputed:
            raise EigenliftError("A precomputed kernel has no rows to compute from.")
        return pairwise_kernels(X, Y, metric=self.function, filter_params=True, **self.params)

    def times(self, X, Y, block, threads, progress=None):
        """K(X, Y)·block; the compiled part does not store K. Without progress for functions."""
        if self.text is None:
            return self.matrix(X, Y, threads) @ block
        self._check(X, Y)
        X, Y = matched(X, Y)
        text, block = numbers_found(self.text, X, threads), np.ascontiguousarray(block, dtype=np.float64)
        return _native.kernel_times(text, _rows.native(X), _rows.native(Y), block, threads, progress)

    def diagonal(self, X, threads):
        """k(x, x) of the rows of X, as float64."""
        if self.text is not None:
            self._check(X, None)
            return _native.kernel_diagonal(numbers_found(self.text, X, threads), _rows.native(X), threads)
        return np.array([self.matrix(X[[i]], None, threads)[0, 0] for i in range(X.shape[0])], dtype=np.float64)

    def _check(self, X, Y):
        if self.text is None or self.text.partition("(")[0] not in _CHECKED:
            return
        for name, rows in (("X", X), ("Y", Y)):
            values = rows.data if sparse.issparse(rows) else rows
            if values is not None and values.size and values.min() < 0:
                raise EigenliftError(f"{name} contains negative values.")


def choose(kernel, *, gamma, degree, coef0, kernel_params, n_features, owner="the estimator", defaults=_DEFAULTS):
    """The kernel that an estimator's parameters stand for.

    Parameters
    ----------
    kernel : str, Kernel or callable
        A name of scikit-learn, which takes scikit-learn's defaults; else a description as on the command line, a kernel
        of `eigenlift.kernels`, or a function k(x, y, **kernel_params).
    gamma, degree, coef0 : float or None
        Numbers for scikit-learn's names; None where none is given.
    kernel_params : dict or None
        For functions; for scikit-learn's names numbers that were not given otherwise.
    n_features : int
        Columns of the rows.
    owner : str
        Class of the estimator, for messages.
    defaults : dict
        Numbers that count as not given because they are defaults of the estimator.

    Returns
    -------
    KernelChoice
    """
    given = {"gamma": gamma, "degree": degree, "coef0": coef0}
    given = {name: value for name, value in given.items() if value is not None}
    if isinstance(kernel, str) and kernel in _NAMES:
        return _named(kernel, {**(kernel_params or {}), **given}, n_features)
    if isinstance(kernel, str) and kernel == "precomputed":
        return KernelChoice(precomputed=True)
    if isinstance(kernel, (str, Kernel)):
        extra = [name for name, value in given.items() if value != defaults.get(name)]
        return _described(kernel, extra, owner)
    if callable(kernel) and not (isinstance(kernel, type) and issubclass(kernel, Kernel)):
        return KernelChoice(function=kernel, params=dict(kernel_params or {}))
    raise _unknown(kernel, owner)


def _named(name, given, n_features):
    """A name of scikit-learn with its defaults."""
    ours, takes = _NAMES[name]
    params = {key: given[key] for key in takes if given.get(key) is not None}
    if ours is None:
        return KernelChoice(function=name, params=params)
    values = {"gamma": 1.0 if name == "chi2" else 1.0 / n_features, **_DEFAULTS, **params}
    text = f"{ours}({','.join(f'{key}={_text(values[key])}' for key in takes)})"
    try:
        return KernelChoice(text=_native.kernel_text(text))
    except ValueError:
        if any(isinstance(value, str) for value in params.values()):
            raise
        # Such as a gamma of 0, which scikit-learn takes.
        return KernelChoice(function=name, params=params)


def _text(value):
    """A number with every bit; the word "auto" stays."""
    return value if isinstance(value, str) and value == "auto" else repr(float(value))


def _described(kernel, extra, owner):
    """A description or a kernel of ours, which holds its numbers."""
    try:
        text = str(kernel) if isinstance(kernel, Kernel) else _native.kernel_text(kernel)
    except ValueError as error:
        raise _unknown(kernel, owner, error) from None
    if extra:
        raise EigenliftError(
            f"{' and '.join(extra)} of {owner} cannot be given together with the kernel {text}. Write the numbers into "
            "the kernel, as in 'rbf(gamma=0.5)' or RBF(gamma=0.5)."
        )
    return KernelChoice(precomputed=True) if text == "precomputed" else KernelChoice(text=text)


def _unknown(kernel, owner, reason=None):
    words = ", ".join(repr(name) for name in sorted([*_NAMES, "precomputed"]))
    return InvalidParameterError(
        f"The 'kernel' parameter of {owner} must be a str among {{{words}}}, a kernel description such as "
        f"'rbf(gamma=median)', a kernel of eigenlift.kernels or a callable. Got {kernel!r} instead."
        + (f" As a description: {reason}" if reason else "")
    )
