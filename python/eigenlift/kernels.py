"""Kernels as values: build them, add and multiply them, print them, evaluate them.

A kernel prints as the text that the command line and model files use, and `parse` reads that text.

>>> from eigenlift.kernels import RBF, Linear, parse
>>> kernel = RBF(gamma=0.5) + 0.1 * Linear()
>>> kernel
RBF(gamma=0.5) + 0.1*Linear()
>>> str(kernel)
'rbf(gamma=0.5) + 0.1*linear'
>>> parse("rbf(gamma=0.5) + 0.1*linear") == kernel
True
>>> kernel([[0.0, 0.0], [1.0, 1.0]])
array([[1.        , 0.36787944],
       [0.36787944, 1.2       ]])

Some numbers may also be `"median"` (one over the median of what they multiply, over pairs of rows; for a length the
median distance) or `"1/d"` (one over the number of columns). They become known when the kernel meets data. A bandwidth
that is `"auto"` is chosen in the fit of a `KernelPCA`, or by `choose_kernel_pca`.

Constructors come from the catalog of the compiled part; what is written here of them is for type checkers and editors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._errors import EigenliftError
from ._kernel_base import Kernel, Product, Scaled, Sum, formula_text, parse, shown

if TYPE_CHECKING:
    from ._types import Number

__all__ = [
    "Chi2",
    "Cosine",
    "Exponential",
    "Expr",
    "Intersection",
    "Kernel",
    "Laplacian",
    "Linear",
    "Map",
    "Matern",
    "Polynomial",
    "Precomputed",
    "Product",
    "RBF",
    "RationalQuadratic",
    "Scaled",
    "Sigmoid",
    "Sum",
    "Tanimoto",
    "parse",
]


class Linear(Kernel):
    """
    Examples
    --------
    >>> from eigenlift.kernels import Linear
    >>> Linear()([[1.0, 2.0]], [[3.0, 4.0]])
    array([[11.]])
    """

    _name = "linear"


class Polynomial(Kernel):
    """
    Examples
    --------
    >>> from eigenlift.kernels import Polynomial
    >>> Polynomial(degree=2)([[1.0, 2.0]], [[3.0, 4.0]])
    array([[144.]])
    """

    _name = "polynomial"

    if TYPE_CHECKING:

        def __init__(self, degree: float = 3, gamma: Number = 1, coef0: float = 1) -> None: ...


class RBF(Kernel):
    """
    Examples
    --------
    >>> from eigenlift.kernels import RBF
    >>> RBF()
    RBF(gamma='median')
    >>> str(RBF(sigma=2))
    'rbf(sigma=2)'
    """

    _name = "rbf"

    if TYPE_CHECKING:

        def __init__(
            self, gamma: Number | None = None, sigma: Number | None = None, c: Number | None = None
        ) -> None: ...

    def _text(self):
        return super()._text() if self._given() else "rbf(gamma=median)"

    def __repr__(self):
        return super().__repr__() if self._given() else "RBF(gamma='median')"


class Laplacian(Kernel):
    """
    Examples
    --------
    >>> from eigenlift.kernels import Laplacian
    >>> Laplacian(gamma=0.5)([[0.0, 0.0]], [[1.0, 1.0]])
    array([[0.36787944]])
    """

    _name = "laplacian"

    if TYPE_CHECKING:

        def __init__(self, gamma: Number = "median") -> None: ...


class Exponential(Kernel):
    """
    Examples
    --------
    >>> from eigenlift.kernels import Exponential
    >>> Exponential(gamma=0.2)([[0.0, 0.0]], [[3.0, 4.0]])
    array([[0.36787944]])
    """

    _name = "exponential"

    if TYPE_CHECKING:

        def __init__(self, gamma: Number = "median") -> None: ...


class Matern(Kernel):
    """
    Examples
    --------
    >>> from eigenlift.kernels import Matern
    >>> Matern(nu=0.5, length=5)([[0.0, 0.0]], [[3.0, 4.0]])
    array([[0.36787944]])
    """

    _name = "matern"

    if TYPE_CHECKING:

        def __init__(self, nu: float = 1.5, length: Number = "median") -> None: ...


class RationalQuadratic(Kernel):
    """
    Examples
    --------
    >>> from eigenlift.kernels import RationalQuadratic
    >>> RationalQuadratic(alpha=0.5, length=1)([[0.0]], [[1.0]]) ** 2
    array([[0.5]])
    """

    _name = "rational_quadratic"

    if TYPE_CHECKING:

        def __init__(self, alpha: float = 1, length: Number = "median") -> None: ...


class Sigmoid(Kernel):
    """
    Examples
    --------
    >>> from eigenlift.kernels import Sigmoid
    >>> Sigmoid(coef0=0)([[1.0, 1.0]], [[1.0, 1.0]])
    array([[0.76159416]])
    """

    _name = "sigmoid"

    if TYPE_CHECKING:

        def __init__(self, gamma: Number = "1/d", coef0: float = 1) -> None: ...


class Cosine(Kernel):
    """
    Examples
    --------
    >>> from eigenlift.kernels import Cosine
    >>> Cosine()([[3.0, 4.0]], [[1.0, 0.0]])
    array([[0.6]])
    """

    _name = "cosine"


class Chi2(Kernel):
    """
    Examples
    --------
    >>> from eigenlift.kernels import Chi2
    >>> Chi2()([[1.0, 0.0]], [[0.0, 0.0]])
    array([[0.36787944]])
    """

    _name = "chi2"

    if TYPE_CHECKING:

        def __init__(self, gamma: Number = 1) -> None: ...


class Intersection(Kernel):
    """
    Examples
    --------
    >>> from eigenlift.kernels import Intersection
    >>> Intersection()([[1.0, 5.0]], [[2.0, 3.0]])
    array([[4.]])
    """

    _name = "intersection"


class Tanimoto(Kernel):
    """
    Examples
    --------
    >>> from eigenlift.kernels import Tanimoto
    >>> Tanimoto()([[1.0, 1.0, 0.0, 1.0]], [[1.0, 0.0, 1.0, 1.0]])
    array([[0.5]])
    """

    _name = "tanimoto"


class Map(Kernel):
    """
    Parameters
    ----------
    *formulas : str or float
        Arithmetic with `+ - * / ^`, `pi`, `e` and functions such as `sqrt`, `exp`, `sin`, `max`.

    Examples
    --------
    >>> from eigenlift.kernels import Map
    >>> Map("x1", "sqrt(2)*x2^2")([[1.0, 2.0]], [[3.0, 1.0]])
    array([[11.]])
    """

    _name = "map"
    _parameters = ("formulas",)

    def __init__(self, *formulas: str) -> None:
        self.formulas = formulas
        self._check()

    def __repr__(self):
        return f"Map({', '.join(map(shown, self.formulas))})"

    def _text(self):
        return f"map({', '.join(map(formula_text, self.formulas))})"


class Expr(Kernel):
    """
    Parameters
    ----------
    formula : str or float
        Arithmetic as in `Map`.

    Examples
    --------
    >>> from eigenlift.kernels import Expr
    >>> Expr("1 + 2*x1^2*y1^2")([[1.0]], [[3.0]])
    array([[19.]])
    """

    _name = "expr"
    _parameters = ("formula",)

    def __init__(self, formula: str) -> None:
        self.formula = formula
        self._check()

    def __repr__(self):
        return f"Expr({shown(self.formula)})"

    def _text(self):
        return f"expr({formula_text(self.formula)})"


class Precomputed(Kernel):
    """
    Examples
    --------
    >>> from eigenlift.kernels import Precomputed
    >>> str(Precomputed())
    'precomputed'
    """

    _name = "precomputed"

    def _evaluable(self):
        raise EigenliftError("A precomputed kernel has no formula; its values are the matrix itself.")
