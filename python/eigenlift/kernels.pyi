from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

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

_Array: TypeAlias = NDArray[np.floating]
# Rows may also be sparse or a table.
_Rows: TypeAlias = ArrayLike | Any
# A number, or "median" or "1/d".
_Number: TypeAlias = float | str

class Kernel:
    def __eq__(self, other: object) -> bool: ...
    def __hash__(self) -> int: ...
    def __add__(self, other: Kernel) -> Sum: ...
    def __radd__(self, other: int) -> Kernel: ...
    def __mul__(self, other: Kernel | float) -> Kernel: ...
    def __rmul__(self, other: Kernel | float) -> Kernel: ...
    def __call__(self, X: _Rows, Y: _Rows | None = None, n_jobs: int | None = None) -> _Array: ...
    def diag(self, X: _Rows, n_jobs: int | None = None) -> _Array: ...
    def resolve(self, X: _Rows, n_jobs: int | None = None) -> Kernel: ...
    def get_params(self, deep: bool = True) -> dict[str, Any]: ...
    def set_params(self, **params: Any) -> Self: ...

class Sum(Kernel):
    k1: Kernel
    k2: Kernel
    def __init__(self, k1: Kernel, k2: Kernel) -> None: ...

class Product(Kernel):
    k1: Kernel
    k2: Kernel
    def __init__(self, k1: Kernel, k2: Kernel) -> None: ...

class Scaled(Kernel):
    factor: float
    kernel: Kernel
    def __init__(self, factor: float, kernel: Kernel) -> None: ...

class Linear(Kernel): ...

class Polynomial(Kernel):
    def __init__(self, degree: float = 3, gamma: _Number = 1, coef0: float = 1) -> None: ...

class RBF(Kernel):
    def __init__(
        self, gamma: _Number | None = None, sigma: _Number | None = None, c: _Number | None = None
    ) -> None: ...

class Laplacian(Kernel):
    def __init__(self, gamma: _Number = "median") -> None: ...

class Exponential(Kernel):
    def __init__(self, gamma: _Number = "median") -> None: ...

class Matern(Kernel):
    def __init__(self, nu: float = 1.5, length: _Number = "median") -> None: ...

class RationalQuadratic(Kernel):
    def __init__(self, alpha: float = 1, length: _Number = "median") -> None: ...

class Sigmoid(Kernel):
    def __init__(self, gamma: _Number = "1/d", coef0: float = 1) -> None: ...

class Cosine(Kernel): ...

class Chi2(Kernel):
    def __init__(self, gamma: _Number = 1) -> None: ...

class Intersection(Kernel): ...

class Tanimoto(Kernel): ...

class Map(Kernel):
    def __init__(self, *formulas: str) -> None: ...

class Expr(Kernel):
    def __init__(self, formula: str) -> None: ...

class Precomputed(Kernel): ...

def parse(text: str) -> Kernel: ...
