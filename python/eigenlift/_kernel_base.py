"""What all kernels share: operators, text, parameters, values; sums, products and scalings; reading text."""

from __future__ import annotations

import copy
import inspect
import json
import math
import numbers
import re
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy import sparse
from sklearn.utils import check_array

from . import _native, _rows
from ._errors import EigenliftError, InvalidParameterError
from ._threads import thread_count

if TYPE_CHECKING:
    from ._types import Array, Rows

_FROM_DATA = ("median", "1/d")
# What a fit of kernel PCA chooses.
_CHOSEN = "auto"

CATALOG = {entry["name"]: entry for entry in json.loads(_native.kernel_catalog())}
"""What the compiled part says of each kernel, by name: parameters, formula, ranges, how it is computed."""

OF_DISTANCE = [name for name, entry in CATALOG.items() if entry["profile"] == "squared distances"]
"""Kernels of the distance, whose bandwidth can be chosen."""


class Kernel:
    """Base of all kernels: operators, comparison, text, parameters and values.

    Two kernels are equal when their texts are. `K + K`, `K * K`, `a * K` and `K * a` give new kernels.

    Examples
    --------
    >>> from eigenlift.kernels import Cosine, Linear
    >>> 2 * Linear() * Cosine() == Linear() * Cosine() * 2
    True
    """

    _name = None  # in the text; None for sums, products and scalings
    _parameters = ()  # attributes, in the order of the constructor
    _by_name = {}
    __array_ufunc__ = None  # so that a NumPy number times a kernel is a kernel

    def __init_subclass__(cls, **keywords):
        super().__init_subclass__(**keywords)
        if "_name" in cls.__dict__:
            Kernel._by_name.setdefault(cls._name, cls)
            _describe(cls, CATALOG[cls._name])

    def __str__(self):
        return _native.kernel_text(self._text())

    def __repr__(self):
        given = (f"{name}={shown(getattr(self, name))}" for name in self._given())
        return f"{type(self).__name__}({', '.join(given)})"

    def __eq__(self, other: object) -> bool:
        return str(self) == str(other) if isinstance(other, Kernel) else NotImplemented

    def __hash__(self) -> int:
        return hash(str(self))

    def __add__(self, other: Kernel) -> Sum:
        return Sum(copy.deepcopy(self), copy.deepcopy(other)) if isinstance(other, Kernel) else NotImplemented

    def __radd__(self, other: int) -> Kernel:
        # The builtin sum starts with 0.
        return copy.deepcopy(self) if _is_number(other) and other == 0 else NotImplemented

    def __mul__(self, other: Kernel | float) -> Kernel:
        if isinstance(other, Kernel):
            return Product(copy.deepcopy(self), copy.deepcopy(other))
        if not _is_number(other):
            return NotImplemented
        if isinstance(self, Scaled):
            return Scaled(other * self.factor, copy.deepcopy(self.kernel))
        return Scaled(other, copy.deepcopy(self))

    __rmul__ = __mul__

    def __call__(self, X: Rows, Y: Rows | None = None, n_jobs: int | None = None) -> Array:
        """Values k(x, y) of all rows of X and Y.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples_X, n_features)
            Rows. Numbers of the kernel that come from data are found from these.
        Y : array-like or sparse matrix of shape (n_samples_Y, n_features), default=None
            Rows; None stands for those of X.
        n_jobs : int, default=None
            Threads; None asks the environment and takes all processors otherwise.

        Returns
        -------
        ndarray of shape (n_samples_X, n_samples_Y)
            In float32 if X and Y are, else float64. A single number if X and Y are single rows.
        """
        if not sparse.issparse(X) and np.ndim(X) == 1 and np.ndim(Y) == 1:
            return float(self(np.reshape(X, (1, -1)), np.reshape(Y, (1, -1)), n_jobs)[0, 0])
        X = checked(X)
        X, Y = matched(X, X if Y is None else checked(Y))
        if X.shape[1] != Y.shape[1]:
            raise EigenliftError(f"X has {X.shape[1]} columns and Y has {Y.shape[1]}; both must have the same number.")
        threads = thread_count(n_jobs)
        return _rows.kernel_matrix(numbers_found(self._evaluable(), X, threads), X, Y, threads)

    def diag(self, X: Rows, n_jobs: int | None = None) -> Array:
        """Values k(x, x) of the rows of X.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.
        n_jobs : int, default=None
            Threads.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        X, threads = checked(X), thread_count(n_jobs)
        values = _native.kernel_diagonal(numbers_found(self._evaluable(), X, threads), _rows.native(X), threads)
        return values.astype(X.dtype, copy=False)

    def resolve(self, X: Rows, n_jobs: int | None = None) -> Kernel:
        """The kernel with `"median"` and `"1/d"` replaced by the numbers found from the rows of X.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.
        n_jobs : int, default=None
            Threads.

        Returns
        -------
        Kernel
        """
        return parse(numbers_found(str(self), checked(X), thread_count(n_jobs)))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name; those of kernels inside as `name__parameter` if `deep`."""
        params = {name: getattr(self, name) for name in self._parameters}
        if deep:
            for name in self._parameters:
                if isinstance(params[name], Kernel):
                    params.update((f"{name}__{inner}", value) for inner, value in params[name].get_params().items())
        return params

    def set_params(self, **params: Any) -> Self:
        """Changes parameters, named as by `get_params`; when they do not fit, nothing is changed."""
        changed, inside = copy.deepcopy(self), {}
        for name, value in params.items():
            own, _, inner = name.partition("__")
            if inner and own in self._parameters:
                inside.setdefault(own, {})[inner] = value
            elif name in self._parameters:
                setattr(changed, name, value)
            else:
                known = ", ".join(self.get_params()) or "none"
                raise EigenliftError(f"{type(self).__name__} has no parameter {name!r}; there are: {known}.")
        for own, values in inside.items():
            _require_kernel(getattr(changed, own))
            getattr(changed, own).set_params(**values)
        changed._check()
        self.__dict__.update(changed.__dict__)
        return self

    def __sklearn_clone__(self):
        return copy.deepcopy(self)

    def _given(self):
        """Names of the parameters that are written: of several notations of one number, those that are not None."""
        if any(row["replaces_first"] for row in CATALOG.get(self._name, {}).get("params", ())):
            return [name for name in self._parameters if getattr(self, name) is not None]
        return self._parameters

    def _text(self):
        """A description that the compiled part reads."""
        given = (f"{name}={_written(name, getattr(self, name))}" for name in self._given())
        return f"{self._name}({','.join(given)})" if self._parameters else self._name

    def _evaluable(self):
        return str(self)

    def _check(self):
        _native.kernel_text(self._text())


class _Pair(Kernel):
    _parameters = ("k1", "k2")

    def __init__(self, k1: Kernel, k2: Kernel) -> None:
        self.k1 = k1
        self.k2 = k2
        self._check()

    def _check(self):
        _require_kernel(self.k1)
        _require_kernel(self.k2)
        super()._check()


class Sum(_Pair):
    """k1(x,y) + k2(x,y), usually written `k1 + k2`

    Parameters
    ----------
    k1, k2 : Kernel
        The parts.

    Examples
    --------
    >>> from eigenlift.kernels import Linear, RBF, Sum
    >>> Sum(Linear(), RBF(gamma=1)) == Linear() + RBF(gamma=1)
    True
    """

    k1: Kernel
    k2: Kernel

    def __repr__(self):
        return f"{self.k1!r} + {self.k2!r}"

    def _text(self):
        return f"{self.k1._text()} + {self.k2._text()}"


class Product(_Pair):
    """k1(x,y)·k2(x,y), usually written `k1 * k2`

    Parameters
    ----------
    k1, k2 : Kernel
        The factors.

    Examples
    --------
    >>> from eigenlift.kernels import Linear, RBF, Product
    >>> Product(Linear(), RBF(gamma=1)) == Linear() * RBF(gamma=1)
    True
    """

    k1: Kernel
    k2: Kernel

    def __repr__(self):
        right = f"({self.k2!r})" if isinstance(self.k2, (Sum, Scaled, Product)) else repr(self.k2)
        return f"{_bracketed(self.k1, repr(self.k1))}*{right}"

    def _text(self):
        return "*".join(_bracketed(part, part._text()) for part in (self.k1, self.k2))


class Scaled(Kernel):
    """factor·k(x,y), usually written `factor * k`

    Parameters
    ----------
    factor : float
        Not 0.
    kernel : Kernel
        What is multiplied.

    Examples
    --------
    >>> from eigenlift.kernels import Linear, Scaled
    >>> Scaled(0.5, Linear()) == 0.5 * Linear()
    True
    """

    factor: float
    kernel: Kernel

    _parameters = ("factor", "kernel")

    def __init__(self, factor: float, kernel: Kernel) -> None:
        self.factor = factor
        self.kernel = kernel
        self._check()

    def __repr__(self):
        inner = f"({self.kernel!r})" if isinstance(self.kernel, Scaled) else repr(self.kernel)
        return f"{shown(self.factor)}*{_bracketed(self.kernel, inner)}"

    def _text(self):
        return f"{_written('factor', self.factor)}*{_bracketed(self.kernel, self.kernel._text())}"

    def _check(self):
        if not (_is_number(self.factor) and math.isfinite(self.factor) and self.factor != 0):
            raise EigenliftError(f"The number in front of a kernel must be finite and not 0. Got {self.factor!r}.")
        _require_kernel(self.kernel)
        super()._check()


def _describe(cls, entry):
    """Gives a class the parameters, the constructor and the documentation of its row in the catalog."""
    rows = entry["params"]
    one_of = any(row["replaces_first"] for row in rows)
    if rows and "__init__" not in cls.__dict__:
        defaults = {row["name"]: None if one_of else _default(row) for row in rows}
        cls._parameters = tuple(defaults)
        cls.__init__ = _constructor(cls, defaults)
    sections = [entry["formula"], entry["doc"]]
    if one_of:
        sections[1] += f" At most one parameter is given; without any, {rows[0]['name']} is {rows[0]['default']!r}."
    if rows:
        sections.append("Parameters\n----------\n" + "\n".join(_documented(row, cls) for row in rows))
    cls.__doc__ = "\n\n".join([*sections, inspect.cleandoc(cls.__doc__ or "")]) + "\n"


def _default(row):
    """The default of a parameter as Python writes it: whole numbers without a point."""
    value = row["default"]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _constructor(cls, defaults):
    """A constructor with these parameters, which checks them."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    named = [inspect.Parameter(name, kind, default=value) for name, value in defaults.items()]
    signature = inspect.Signature([inspect.Parameter("self", kind), *named])

    def __init__(self, *args, **kwargs):
        try:
            bound = signature.bind(self, *args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{cls.__name__}.__init__() {error}") from None
        for name, value in {**defaults, **bound.arguments}.items():
            if name != "self":
                setattr(self, name, value)
        self._check()

    __init__.__signature__ = signature
    __init__.__qualname__ = f"{cls.__qualname__}.__init__"
    __init__.__module__ = cls.__module__
    return __init__


_RANGES = {"positive": "Above 0.", "non-zero": "Not 0.", "finite": "Finite.", "one-of": "One of these."}


def _documented(row, cls):
    """A parameter as it stands in the documentation of a class."""
    allowed = row["range"]
    listed = "{" + ", ".join(map(shown, allowed.get("values", ()))) + "}"
    kind = listed if allowed["kind"] == "one-of" else 'float or "median" or "1/d"' if row["role"] else "float"
    default = inspect.signature(cls.__init__).parameters[row["name"]].default
    text = f"default={default!r}".replace("'", '"')
    return f"{row['name']} : {kind}, {text}\n    {row['doc']} {_RANGES[allowed['kind']]}"


def _bracketed(kernel, text):
    """The text as a factor."""
    return f"({text})" if isinstance(kernel, Sum) else text


def _require_kernel(value):
    if not isinstance(value, Kernel):
        raise InvalidParameterError(f"A part of a kernel must be a kernel of eigenlift.kernels. Got {value!r}.")


def _is_number(value):
    return isinstance(value, numbers.Real) and not isinstance(value, (bool, np.bool_))


def _written(name, value):
    """A number as the compiled part reads it, with every bit."""
    if isinstance(value, str) and value in (*_FROM_DATA, _CHOSEN):
        return value
    if not _is_number(value):
        allowed = "a number, or 'median', '1/d' or 'auto' where the kernel allows it"
        raise EigenliftError(f"{name} of a kernel must be {allowed}. Got {value!r}.")
    return repr(int(value)) if isinstance(value, numbers.Integral) else repr(float(value))


def shown(value):
    """A parameter as Python reads it."""
    return repr(value) if isinstance(value, str) or not _is_number(value) else _written("", value)


def formula_text(value):
    """A formula, which must not reach beyond its own parentheses."""
    if _is_number(value):
        return _written("formula", value)
    if not isinstance(value, str):
        raise EigenliftError(f"A formula must be a text such as 'x1^2'. Got {value!r}.")
    depth = 0
    for sign in value:
        depth += (sign == "(") - (sign == ")")
        if depth < 0:
            break
    if depth:
        raise EigenliftError(f"The parentheses of the formula {value!r} do not match.")
    return value


def checked(X):
    """Rows as the compiled part takes them."""
    return check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32], order="C")


def matched(X, Y):
    """X and Y in one precision, both dense or both sparse."""
    if X is Y:
        return X, Y
    dtype = np.result_type(X.dtype, Y.dtype)
    X, Y = X.astype(dtype, copy=False), Y.astype(dtype, copy=False)
    if sparse.issparse(X) and not sparse.issparse(Y):
        Y = sparse.csr_matrix(Y)
    if sparse.issparse(Y) and not sparse.issparse(X):
        X = sparse.csr_matrix(X)
    return X, Y


def numbers_found(text, X, threads):
    """The kernel with every number known: `median` and `1/d` are found from the rows of X."""
    if any(word in text for word in _FROM_DATA):
        return _native.resolve_kernel(text, _rows.native(X), 0, threads)
    return text


def parse(text: str) -> Kernel:
    """The kernel that a text describes, as on the command line.

    Parameters
    ----------
    text : str
        Such as `"rbf(gamma=median) + 0.1*linear"`.

    Returns
    -------
    Kernel

    Examples
    --------
    >>> from eigenlift.kernels import parse
    >>> parse("poly(2)")
    Polynomial(degree=2, gamma=1, coef0=1)
    """
    if not isinstance(text, str):
        raise InvalidParameterError(f"A kernel description is a text such as 'rbf(gamma=median)'. Got {text!r}.")
    return _Reader(_native.kernel_text(text)).sum()


class _Reader:
    """Reads a description in canonical form, which the compiled part has checked."""

    def __init__(self, text):
        self._text = text
        self._at = 0

    def sum(self):
        kernel = self._term()
        while self._accept(" + "):
            kernel = Sum(kernel, self._term())
        return kernel

    def _term(self):
        number = re.compile(r"(-?\d[\d.e-]*)\*").match(self._text, self._at)
        if number:
            self._at = number.end()
        kernel = self._factor()
        while self._accept("*"):
            kernel = Product(kernel, self._factor())
        return Scaled(_number(number[1]), kernel) if number else kernel

    def _factor(self):
        if self._accept("("):
            kernel = self.sum()
            self._accept(")")
            return kernel
        name = re.compile(r"\w+").match(self._text, self._at)[0]
        self._at += len(name)
        arguments = self._arguments() if self._accept("(") else []
        if name == _CHOSEN:
            raise EigenliftError("The kernel 'auto' is chosen in the fit of a KernelPCA; it is no kernel by itself.")
        make = Kernel._by_name[name]
        if name in ("map", "expr"):
            return make(*arguments)
        return make(**{key: _number(value) for key, value in (item.split("=") for item in arguments)})

    def _arguments(self):
        """Texts between the commas up to the closing parenthesis."""
        start, depth, texts = self._at, 0, []
        while depth >= 0:
            sign = self._text[self._at]
            self._at += 1
            if depth == 0 and sign in ",)":
                texts.append(self._text[start : self._at - 1].strip())
                start = self._at
            depth += (sign == "(") - (sign == ")")
        return texts

    def _accept(self, sign):
        found = self._text.startswith(sign, self._at)
        self._at += len(sign) * found
        return found


def _number(text):
    if text in (*_FROM_DATA, _CHOSEN):
        return text
    return int(text) if re.fullmatch(r"-?\d+", text) else float(text)
