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
"""

from __future__ import annotations

from ._kernel_base import Kernel, Product, Scaled, Sum, formula_text, parse, shown

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
    "parse",
]


class Linear(Kernel):
    """⟨x,y⟩

    Examples
    --------
    >>> from eigenlift.kernels import Linear
    >>> Linear()([[1.0, 2.0]], [[3.0, 4.0]])
    array([[11.]])
    """

    _name = "linear"


class Polynomial(Kernel):
    """(gamma·⟨x,y⟩ + coef0)^degree

    Parameters
    ----------
    degree : float, default=3
        Above 0.
    gamma : float or "1/d" or "median", default=1
        Not 0.
    coef0 : float, default=1
        Constant inside the power.

    Examples
    --------
    >>> from eigenlift.kernels import Polynomial
    >>> Polynomial(degree=2)([[1.0, 2.0]], [[3.0, 4.0]])
    array([[144.]])
    """

    _name = "polynomial"
    _parameters = ("degree", "gamma", "coef0")

    def __init__(self, degree=3, gamma=1, coef0=1):
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self._check()


class RBF(Kernel):
    """exp(−gamma·‖x−y‖²), where gamma = 1/(2·sigma²) = 1/c

    Parameters
    ----------
    gamma : float or "median" or "1/d", default=None
        Above 0. None stands for `"median"` when neither `sigma` nor `c` is given.
    sigma : float or "median", default=None
        Instead of gamma: the standard deviation.
    c : float or "median", default=None
        Instead of gamma: what the squared distance is divided by.

    Examples
    --------
    >>> from eigenlift.kernels import RBF
    >>> RBF()
    RBF(gamma='median')
    >>> str(RBF(sigma=2))
    'rbf(sigma=2)'
    """

    _name = "rbf"
    _parameters = ("gamma", "sigma", "c")

    def __init__(self, gamma=None, sigma=None, c=None):
        self.gamma = gamma
        self.sigma = sigma
        self.c = c
        self._check()

    def _given(self):
        return [name for name in self._parameters if getattr(self, name) is not None]

    def _text(self):
        return super()._text() if self._given() else "rbf(gamma=median)"

    def __repr__(self):
        return super().__repr__() if self._given() else "RBF(gamma='median')"


class _OneRate(Kernel):
    _parameters = ("gamma",)

    def __init__(self, gamma="median"):
        self.gamma = gamma
        self._check()


class Laplacian(_OneRate):
    """exp(−gamma·‖x−y‖₁), with the sum of absolute differences

    Parameters
    ----------
    gamma : float or "median" or "1/d", default="median"
        Above 0.

    Examples
    --------
    >>> from eigenlift.kernels import Laplacian
    >>> Laplacian(gamma=0.5)([[0.0, 0.0]], [[1.0, 1.0]])
    array([[0.36787944]])
    """

    _name = "laplacian"


class Exponential(_OneRate):
    """exp(−gamma·‖x−y‖₂), with the distance itself, not its square

    Parameters
    ----------
    gamma : float or "median" or "1/d", default="median"
        Above 0.

    Examples
    --------
    >>> from eigenlift.kernels import Exponential
    >>> Exponential(gamma=0.2)([[0.0, 0.0]], [[3.0, 4.0]])
    array([[0.36787944]])
    """

    _name = "exponential"


class Matern(Kernel):
    """Matérn: with s = √(2·nu)·‖x−y‖/length, e^(−s) times 1, 1 + s or 1 + s + s²/3

    Parameters
    ----------
    nu : {0.5, 1.5, 2.5}, default=1.5
        Smoothness; decides which of the three factors is taken.
    length : float or "median" or "1/d", default="median"
        Above 0.

    Examples
    --------
    >>> from eigenlift.kernels import Matern
    >>> Matern(nu=0.5, length=5)([[0.0, 0.0]], [[3.0, 4.0]])
    array([[0.36787944]])
    """

    _name = "matern"
    _parameters = ("nu", "length")

    def __init__(self, nu=1.5, length="median"):
        self.nu = nu
        self.length = length
        self._check()


class RationalQuadratic(Kernel):
    """(1 + ‖x−y‖²/(2·alpha·length²))^(−alpha)

    Parameters
    ----------
    alpha : float, default=1
        Above 0; large values approach a Gaussian.
    length : float or "median" or "1/d", default="median"
        Above 0.

    Examples
    --------
    >>> from eigenlift.kernels import RationalQuadratic
    >>> RationalQuadratic(alpha=0.5, length=1)([[0.0]], [[1.0]]) ** 2
    array([[0.5]])
    """

    _name = "rational_quadratic"
    _parameters = ("alpha", "length")

    def __init__(self, alpha=1, length="median"):
        self.alpha = alpha
        self.length = length
        self._check()


class Sigmoid(Kernel):
    """tanh(gamma·⟨x,y⟩ + coef0): not a Mercer kernel in general

    Parameters
    ----------
    gamma : float or "1/d" or "median", default="1/d"
        Not 0.
    coef0 : float, default=1
        Constant inside.

    Examples
    --------
    >>> from eigenlift.kernels import Sigmoid
    >>> Sigmoid(coef0=0)([[1.0, 1.0]], [[1.0, 1.0]])
    array([[0.76159416]])
    """

    _name = "sigmoid"
    _parameters = ("gamma", "coef0")

    def __init__(self, gamma="1/d", coef0=1):
        self.gamma = gamma
        self.coef0 = coef0
        self._check()


class Cosine(Kernel):
    """⟨x,y⟩/(‖x‖·‖y‖), and 0 for a row of zeros

    Examples
    --------
    >>> from eigenlift.kernels import Cosine
    >>> Cosine()([[3.0, 4.0]], [[1.0, 0.0]])
    array([[0.6]])
    """

    _name = "cosine"


class Chi2(_OneRate):
    """exp(−gamma·Σ(xᵢ−yᵢ)²/(xᵢ+yᵢ)) for rows without negative entries

    Parameters
    ----------
    gamma : float or "median" or "1/d", default=1
        Above 0.

    Examples
    --------
    >>> from eigenlift.kernels import Chi2
    >>> Chi2()([[1.0, 0.0]], [[0.0, 0.0]])
    array([[0.36787944]])
    """

    _name = "chi2"

    def __init__(self, gamma=1):
        super().__init__(gamma)


class Intersection(Kernel):
    """Σ min(xᵢ,yᵢ) for rows without negative entries

    Examples
    --------
    >>> from eigenlift.kernels import Intersection
    >>> Intersection()([[1.0, 5.0]], [[2.0, 3.0]])
    array([[4.]])
    """

    _name = "intersection"


class Map(Kernel):
    """⟨φ(x),φ(y)⟩ with one formula in x1, x2, … for each coordinate of φ

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

    def __init__(self, *formulas):
        self.formulas = formulas
        self._check()

    def __repr__(self):
        return f"Map({', '.join(map(shown, self.formulas))})"

    def _text(self):
        return f"map({', '.join(map(formula_text, self.formulas))})"


class Expr(Kernel):
    """A formula in x1, x2, … and y1, y2, …, which must be symmetric

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

    def __init__(self, formula):
        self.formula = formula
        self._check()

    def __repr__(self):
        return f"Expr({shown(self.formula)})"

    def _text(self):
        return f"expr({formula_text(self.formula)})"


class Precomputed(Kernel):
    """The matrix of kernel values is given in place of rows

    Examples
    --------
    >>> from eigenlift.kernels import Precomputed
    >>> str(Precomputed())
    'precomputed'
    """

    _name = "precomputed"

    def _evaluable(self):
        raise ValueError("A precomputed kernel has no formula; its values are the matrix itself.")
