"""Fitted models as ONNX graphs, for runtimes that know nothing of this library.

The graphs use common operators of opset 17 only. They are arranged so that single precision is enough: rows are shifted
by a centre that single precision holds exactly, and a kernel model adds up the differences k(x, s) − k(centre, s),
which are as large as the scores, instead of the kernel values, whose leading digits would cancel. Each graph is tried
on some rows; where single precision cannot hold the scores all the same, as for components of tiny variance, input and
output stay single and the arithmetic between them is double.
"""

from __future__ import annotations

import ast
import functools
import math
from typing import NamedTuple

import numpy as np
from scipy import linalg, sparse

from ._errors import EigenliftError, UnsupportedError
from ._native import __version__

_OPSET = 17
_IR_VERSION = 8
_LARGEST_FILE = 2**31 - 2**20  # protobuf reads messages below 2 GiB
_LARGEST_DEGREE = 8  # of polynomials that are written as products
_TOLERANCE = 3e-6  # of single precision on the rows tried, as a share of the largest score of a component
_ROWS_TRIED = 64


def linear_model(*, center, axes, divisor=None, dtype=None, n_features, name):
    """A graph of scores = (x − center)·axesᵀ, divided by `divisor` where there is one.

    Parameters
    ----------
    center : array of shape (n_features,) or None
        What is subtracted from a row; None for nothing.
    axes : array of shape (n_components, n_features)
        One row for each score.
    divisor : array of shape (n_components,), default=None
        What each score is divided by.
    dtype : {numpy.float32, numpy.float64}, default=None
        Precision of input and output, and of the arithmetic where it is enough; None is float32.
    n_features : int
        Columns of a row.
    name : str
        The method, for the description in the file.

    Returns
    -------
    onnx.ModelProto
        With the input `X` of shape (batch, n_features) and the output `scores` of shape (batch, n_components).
    """
    axes = _matrix("axes", axes, n_cols=n_features)
    center = np.zeros(n_features) if center is None else _vector("center", center, n_features)
    if divisor is not None:
        axes = axes / _vector("divisor", divisor, len(axes))[:, None]

    def build(graph):
        held = graph.rounded(center)
        shifted = graph.node("Sub", graph.rows, graph.constant("center", held))
        scores = graph.node("MatMul", shifted, graph.constant("axes", axes.T))
        return graph.finish(scores, (held - center) @ axes.T, n_features, name, "scores = (x - center) axes^T")

    def rows():
        # Rows with scores of one size, as whitening gives them: what is hard for single precision.
        scores = np.random.default_rng(0).standard_normal((len(axes), _ROWS_TRIED))
        return center + linalg.lstsq(axes, scores, cond=1e-13, lapack_driver="gelsy")[0].T

    return _accurate(build, dtype, rows, lambda x: (x - center) @ axes.T)


def kernel_model(*, kernel, samples, coefficients, offset, origin=None, dtype=None, n_features, name):
    """A graph of scores = K(x, samples)·coefficients − offset.

    Parameters
    ----------
    kernel : str
        The kernel with every number known, in this library's notation: `linear`, `rbf(gamma=0.5)`,
        `polynomial(degree=3,gamma=1,coef0=1)`, and sums, products and multiples of these.
    samples : array of shape (n_samples, n_features)
        Samples or landmarks.
    coefficients : array of shape (n_samples, n_components)
        What kernel values are multiplied by.
    offset : array of shape (n_components,)
        What is subtracted.
    origin : array of shape (n_features,), default=None
        What rows and samples are taken from before they are compared; None for nothing.
    dtype : {numpy.float32, numpy.float64}, default=None
        Precision of input and output, and of the arithmetic where it is enough; None is float32.
    n_features : int
        Columns of a row.
    name : str
        The method, for the description in the file.

    Returns
    -------
    onnx.ModelProto
        With the input `X` of shape (batch, n_features) and the output `scores` of shape (batch, n_components).

    Raises
    ------
    UnsupportedError
        When the kernel has no graph, or the model has no dense samples.
    """
    function = _read_kernel(kernel)
    if samples is None:
        raise UnsupportedError(
            f"This model with kernel {kernel} holds no samples or landmarks: its features are written out or its "
            "kernel matrix was given. to_onnx needs a model that compares rows with samples."
        )
    samples = _matrix("samples", samples, n_cols=n_features)
    coefficients = _matrix("coefficients", coefficients, n_rows=len(samples))
    offset = _vector("offset", offset, coefficients.shape[1])
    origin = np.zeros(n_features) if origin is None else _vector("origin", origin, n_features)
    formula = "scores = K(x, samples) coefficients - offset"

    def exact(x):
        return function.values(x - origin, samples - origin) @ coefficients - offset

    def build(graph):
        rows = _Rows(graph, samples, origin)
        scores = rows.scores(function, coefficients)
        return graph.finish(scores, exact(rows.center[None])[0], n_features, name, formula, kernel)

    def rows():
        some = samples[:: max(1, len(samples) // _ROWS_TRIED)]
        return np.vstack([some, (some + np.roll(some, 1, axis=0)) / 2])

    return _accurate(build, dtype, rows, exact)


def _accurate(build, dtype, rows, exact):
    """The model that `build` makes, with double precision inside where single does not give the `exact` scores."""
    dtype = np.dtype(np.float32 if dtype is None else dtype)
    if dtype not in (np.float32, np.float64):
        raise EigenliftError(f"dtype is {dtype}; it must be float32 or float64.")
    onnx = _import_onnx()
    double = _Graph(onnx, dtype, np.dtype(np.float64))
    if dtype == np.float64:
        return build(double)
    model = build(_Graph(onnx, dtype, dtype))
    x = rows().astype(dtype)
    expected = exact(x.astype(np.float64))
    with np.errstate(all="ignore"):
        (scores,) = onnx.reference.ReferenceEvaluator(model).run(None, {"X": x})
    error = np.abs(scores - expected).max(axis=0)
    return model if (error <= _TOLERANCE * np.abs(expected).max(axis=0)).all() else build(double)


# Arrays


def _dense(name, array):
    if sparse.issparse(array) or isinstance(array, tuple):
        raise UnsupportedError(
            f"The {name} of this model are sparse, and ONNX graphs hold dense arrays. Fit on X.toarray() for to_onnx."
        )
    array = np.asarray(array, dtype=np.float64)
    if not np.isfinite(array).all():
        raise EigenliftError(f"The {name} of this model hold NaN or infinity.")
    return array


def _matrix(name, array, *, n_rows=None, n_cols=None):
    array = _dense(name, array)
    if array.ndim != 2 or 0 in array.shape:
        raise EigenliftError(f"{name} has shape {array.shape}; a matrix with rows and columns is needed.")
    for axis, length in enumerate((n_rows, n_cols)):
        if length is not None and array.shape[axis] != length:
            raise EigenliftError(f"{name} has shape {array.shape}; {length} {('rows', 'columns')[axis]} are needed.")
    return array


def _vector(name, array, length):
    array = _dense(name, array)
    if array.shape != (length,):
        raise EigenliftError(f"{name} has shape {array.shape}; ({length},) is needed.")
    return array


# Kernels


class _Linear(NamedTuple):
    def values(self, x, y):
        return x @ y.T


class _Polynomial(NamedTuple):
    degree: float
    gamma: float
    coef0: float

    def values(self, x, y):
        return (self.gamma * (x @ y.T) + self.coef0) ** self.degree


class _Rbf(NamedTuple):
    gamma: float

    def values(self, x, y):
        center = y.mean(axis=0)
        x, y = x - center, y - center
        squares = np.square(x).sum(axis=1)[:, None] + np.square(y).sum(axis=1) - 2 * (x @ y.T)
        return np.exp(-self.gamma * np.maximum(squares, 0))


class _Sum(NamedTuple):
    """Of kernels, each with a number in front."""

    parts: tuple

    def values(self, x, y):
        return sum(weight * part.values(x, y) for weight, part in self.parts)


class _Product(NamedTuple):
    parts: tuple

    def values(self, x, y):
        return math.prod(part.values(x, y) for part in self.parts)


_EXPORTABLE = "linear, polynomial and rbf, and sums, products and multiples of these, can be exported"
_ARGUMENTS = {"linear": (), "polynomial": ("degree", "gamma", "coef0"), "rbf": ("gamma", "sigma", "c")}


def _read_kernel(text):
    """The kernel of a text in this library's notation, which Python reads as an expression too."""
    if not isinstance(text, str):
        raise UnsupportedError(f"The kernel {text!r} cannot be exported: {_EXPORTABLE}.")
    try:
        weight, kernel = _weighted(ast.parse(text.strip(), mode="eval").body, text)
    except SyntaxError:
        weight, kernel = 1.0, None
    if kernel is None:
        _refuse(text)
    parts = _parts(weight, kernel)
    return parts[0][1] if len(parts) == 1 and parts[0][0] == 1 else _Sum(parts)


def _parts(weight, kernel):
    """Kernels and the numbers in front of them whose sum is a kernel with a number in front."""
    parts = kernel.parts if isinstance(kernel, _Sum) else ((1.0, kernel),)
    return tuple((weight * inner, part) for inner, part in parts)


def _refuse(text):
    raise EigenliftError(f"The kernel {text!r} cannot be read; it must be a kernel with every number known.")


def _weighted(tree, text):
    """The number and the kernel whose product a part of the text is; None for the kernel of a mere number."""
    if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.Add):
        parts = _parts(*_weighted(tree.left, text)) + _parts(*_weighted(tree.right, text))
        if any(part is None for _, part in parts):
            _refuse(text)
        return 1.0, _Sum(parts)
    if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.Mult):
        (left, first), (right, second) = (_weighted(side, text) for side in (tree.left, tree.right))
        kernels = tuple(kernel for kernel in (first, second) if kernel is not None)
        return left * right, _Product(kernels) if len(kernels) == 2 else kernels[0] if kernels else None
    if isinstance(tree, ast.Name):
        return 1.0, _leaf(tree.id, [], {}, text)
    if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name):
        return 1.0, _leaf(tree.func.id, tree.args, {word.arg: word.value for word in tree.keywords}, text)
    return _number(tree, text), None


def _number(tree, text):
    if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, (ast.USub, ast.UAdd)):
        return (-1.0 if isinstance(tree.op, ast.USub) else 1.0) * _number(tree.operand, text)
    if not (isinstance(tree, ast.Constant) and type(tree.value) in (int, float)):
        _refuse(text)
    return float(tree.value)


def _leaf(name, by_position, by_name, text):
    name = {"poly": "polynomial", "gaussian": "rbf"}.get(name.lower(), name.lower())
    if name not in _ARGUMENTS:
        raise UnsupportedError(f"The kernel {name!r} in {text!r} cannot be exported: {_EXPORTABLE}.")
    first = _ARGUMENTS[name][: len(by_position)]
    if len(first) < len(by_position) or not set(by_name) <= set(_ARGUMENTS[name]) - set(first):
        _refuse(text)
    given = {key: _number(value, text) for key, value in (dict(zip(first, by_position)) | by_name).items()}
    if name == "linear":
        return _Linear()
    if name == "polynomial":
        return _Polynomial(**({"degree": 3.0, "gamma": 1.0, "coef0": 1.0} | given))
    ((kind, value),) = given.items() if len(given) == 1 else (("", 0.0),)
    if not value > 0:
        _refuse(text)
    return _Rbf({"gamma": value, "sigma": 0.5 / value**2, "c": 1 / value}[kind])


# Graphs


class _Graph:
    """Nodes and constants of a graph: input and output in one precision, the arithmetic in the same or another."""

    def __init__(self, onnx, outside, inside):
        self._onnx = onnx
        self._outside = outside
        self.dtype = inside
        self._nodes = []
        self._constants = {}
        self.rows = "X" if inside == outside else self._cast("X", inside)

    def _cast(self, tensor, dtype):
        return self.node("Cast", tensor, to=self._onnx.helper.np_dtype_to_tensor_dtype(dtype))

    def rounded(self, array):
        """The nearest numbers that the precision of the graph holds, in double precision."""
        return np.asarray(array).astype(self.dtype).astype(np.float64)

    def constant(self, name, array):
        """A constant; its name gets a number when it is taken."""
        with np.errstate(over="ignore"):
            array = np.ascontiguousarray(array, dtype=self.dtype)
        if not np.isfinite(array).all():
            raise EigenliftError(f"The {name} of this model are too large for {self.dtype}; try dtype='float64'.")
        name = name if name not in self._constants else f"{name}_{len(self._constants)}"
        self._constants[name] = array
        if sum(constant.nbytes for constant in self._constants.values()) > _LARGEST_FILE:
            raise EigenliftError(
                "The model is too large for an ONNX file, which may have 2 GiB. Fit a low-rank model instead."
            )
        return name

    def node(self, operator, *inputs, **attributes):
        """Adds a node and gives the name of its output."""
        output = f"{operator.lower()}_{len(self._nodes)}"
        self._nodes.append(self._onnx.helper.make_node(operator, inputs, [output], name=output, **attributes))
        return output

    def finish(self, scores, constant, n_features, name, formula, kernel=None):
        """The checked model whose output is `scores` plus `constant`."""
        helper = self._onnx.helper
        self.node("Add", scores, self.constant("constant", constant))
        if self.dtype != self._outside:
            self._cast(self._nodes[-1].output[0], self._outside)
        self._nodes[-1].output[0] = "scores"
        kind = helper.np_dtype_to_tensor_dtype(self._outside)
        graph = helper.make_graph(
            self._nodes,
            name,
            [helper.make_tensor_value_info("X", kind, ["batch", n_features])],
            [helper.make_tensor_value_info("scores", kind, ["batch", len(constant)])],
            [self._onnx.numpy_helper.from_array(array, key) for key, array in self._constants.items()],
        )
        model = helper.make_model(
            graph,
            producer_name="eigenlift",
            producer_version=__version__,
            doc_string=f"{name}: {formula}" + (f", kernel {kernel}" if kernel else ""),
            opset_imports=[helper.make_opsetid("", _OPSET)],
            ir_version=_IR_VERSION,
        )
        helper.set_model_props(model, {"method": name} | ({"kernel": kernel} if kernel else {}))
        self._onnx.checker.check_model(model, full_check=True)
        return model


def _import_onnx():
    try:
        import onnx
        import onnx.reference
    except ImportError as error:
        raise ImportError("to_onnx needs the package onnx. Install it with: pip install eigenlift[onnx]") from error
    return onnx


class _Rows:
    """Rows of the input beside samples, both shifted by the mean of the samples."""

    def __init__(self, graph, samples, origin):
        self._graph = graph
        self.samples = samples
        self._origin = origin
        self.center = graph.rounded(samples.mean(axis=0))
        self._shifted_samples = samples - self.center
        self._radius2 = float(np.square(self._shifted_samples).sum(axis=1).max())
        self._shifted = graph.node("Sub", graph.rows, graph.constant("center", self.center))

    def scores(self, function, coefficients):
        """(K(x, samples) − K(center, samples))·coefficients, one product for each term of a sum."""
        terms = function.parts if isinstance(function, _Sum) else ((1.0, function),)
        scores = []
        for weight, term in terms:
            if isinstance(term, _Linear):
                lift, weights = self._shifted, weight * ((self.samples - self._origin).T @ coefficients)
            else:
                lift, scale = self._difference(term)
                weights = weight * np.broadcast_to(scale, len(coefficients))[:, None] * coefficients
            scores.append(self._graph.node("MatMul", lift, self._graph.constant("coefficients", weights)))
        return functools.reduce(functools.partial(self._graph.node, "Add"), scores)

    def _difference(self, term):
        """A tensor and a number, or one for each sample, whose product is k(x, s) − k(center, s)."""
        if isinstance(term, _Rbf) and term.gamma * self._radius2 <= 1:
            return self._wide_rbf(term.gamma)
        if isinstance(term, _Polynomial) and term.degree in range(1, _LARGEST_DEGREE + 1):
            return self._polynomial_difference(term)
        values, scale = self._values(term)
        at_center = term.values(self.center[None], self.samples)[0] / scale
        return self._graph.node("Sub", values, self._graph.constant("at_center", at_center)), scale

    def _values(self, kernel):
        """A tensor and a number whose product is k(x, s); the number keeps powers within single precision."""
        graph = self._graph
        if isinstance(kernel, _Rbf):
            return self._narrow_rbf(kernel.gamma), 1.0
        if isinstance(kernel, _Product):
            factors = [self._values(part) for part in kernel.parts]
            tensors, scales = zip(*factors)
            return functools.reduce(functools.partial(graph.node, "Mul"), tensors), math.prod(scales)
        if isinstance(kernel, _Sum):
            parts = [(weight, *self._values(part)) for weight, part in kernel.parts]
            largest = max(abs(weight) * scale for weight, _, scale in parts)
            tensors = [graph.node("Mul", t, graph.constant("weight", w * scale / largest)) for w, t, scale in parts]
            return functools.reduce(functools.partial(graph.node, "Add"), tensors), largest
        if isinstance(kernel, _Linear):
            kernel = _Polynomial(1.0, 1.0, 0.0)
        change, base, scale = self._inner(kernel)
        values = graph.node("Add", change, graph.constant("base", base))
        if kernel.degree != 1:
            values = graph.node("Pow", values, graph.constant("degree", kernel.degree))
        return values, scale**kernel.degree

    def _inner(self, kernel):
        """γ⟨x − center, s⟩ as a tensor and γ⟨center, s⟩ + c₀, both divided by the number that comes third."""
        base = kernel.gamma * (self.samples @ self.center) + kernel.coef0
        largest = np.abs(kernel.gamma * np.square(self.samples).sum(axis=1) + kernel.coef0).max()
        scale = max(float(largest), float(np.abs(base).max())) or 1.0
        matrix = self._graph.constant("samples", (kernel.gamma / scale) * self.samples.T)
        return self._graph.node("MatMul", self._shifted, matrix), base / scale, scale

    def _polynomial_difference(self, kernel):
        """tᵖ − bᵖ = (t − b)·(tᵖ⁻¹ + tᵖ⁻²b + … + bᵖ⁻¹), in which nothing cancels that did not in t − b."""
        graph = self._graph
        change, base, scale = self._inner(kernel)
        degree = int(kernel.degree)
        if degree == 1:
            return change, scale
        powers = [graph.constant("base", base)]
        powers += [graph.constant("power", base**i) for i in range(2, degree)]
        inner = graph.node("Add", change, powers[0])
        total = graph.node("Add", inner, powers[0])
        for power in powers[1:]:
            total = graph.node("Add", graph.node("Mul", total, inner), power)
        return graph.node("Mul", change, total), scale**degree

    def _wide_rbf(self, gamma):
        """For widths that hold all samples, where k is close to 1: k(center, s)·(eᵛ − 1), v = γ(2⟨x, s⟩ − ‖x‖²).

        eᵛ − 1 is tanh(v/2)·(eᵛ + 1), which has all its digits for small v. v is at most γ‖s‖², so nothing overflows.
        """
        graph = self._graph
        products = graph.node("MatMul", self._shifted, graph.constant("samples", gamma * self._shifted_samples.T))
        squares = graph.node("ReduceSumSquare", self._shifted, axes=[1], keepdims=1)
        squares = graph.node("Mul", squares, graph.constant("half_gamma", gamma / 2))
        half = graph.node("Sub", products, squares)
        exponential = graph.node("Exp", graph.node("Add", half, half))
        above = graph.node("Add", exponential, graph.constant("one", 1.0))
        values = graph.node("Mul", graph.node("Tanh", half), above)
        return values, np.exp(-gamma * np.square(self._shifted_samples).sum(axis=1))

    def _narrow_rbf(self, gamma):
        """exp(−γ‖x − s‖²), with ‖x − s‖² accurate for near neighbours too.

        Rows are split into multiples h of a step and a rest r. The step is so large that ‖h − t‖², for samples t + q
        split alike, is found without rounding; what is left is small, and so are its errors.
        """
        graph, samples = self._graph, self._shifted_samples
        digits = (np.finfo(self._graph.dtype).nmant - 1) // 2
        step = 2.0 ** (math.ceil(math.log2(math.sqrt(self._radius2))) - digits) if self._radius2 > 0 else 1.0
        coarse = step * np.round(samples / step)
        rest = samples - coarse
        coarse_squares = np.square(coarse).sum(axis=1)
        rest_squares = ((samples + coarse) * rest).sum(axis=1)

        steps = graph.node("Mul", self._shifted, graph.constant("per_step", 1 / step))
        steps = graph.node("Floor", graph.node("Add", steps, graph.constant("half", 0.5)))
        h = graph.node("Mul", steps, graph.constant("step", step))
        r = graph.node("Sub", self._shifted, h)

        exact = graph.node("MatMul", h, graph.constant("coarse", -2 * coarse.T))
        exact = graph.node("Add", exact, graph.constant("coarse_squares", coarse_squares))
        exact = graph.node("Add", exact, graph.node("ReduceSumSquare", h, axes=[1], keepdims=1))

        both = graph.node("Concat", h, r, axis=1)
        small = graph.node("MatMul", both, graph.constant("rest", -2 * np.vstack([rest.T, samples.T])))
        small = graph.node("Add", small, graph.constant("rest_squares", rest_squares))
        mixed = graph.node("Mul", r, graph.node("Add", self._shifted, h))
        mixed = graph.node("MatMul", mixed, graph.constant("ones", np.ones((samples.shape[1], 1))))
        small = graph.node("Add", small, mixed)

        squares = graph.node("Max", graph.node("Add", exact, small), graph.constant("zero", 0.0))
        return graph.node("Exp", graph.node("Mul", squares, graph.constant("minus_gamma", -gamma)))
