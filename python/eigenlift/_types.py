"""Types that the signatures of this package share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._kernel_base import Kernel

# Rows may also be a SciPy CSR matrix or a table of pandas, polars or pyarrow, none of which are required to be installed.
Rows: TypeAlias = ArrayLike | Any
# As float as the rows were; a table when `set_output` asks for one, which is for the caller to cast.
Array: TypeAlias = NDArray[np.floating]
KernelLike: TypeAlias = str | Kernel | Callable[..., Any]
# A number of a kernel, or "median" or "1/d".
Number: TypeAlias = float | str
RandomState: TypeAlias = int | np.random.RandomState | np.random.Generator | None
# A callback `(stage, done, total)`, or a class of bars such as tqdm's.
Progress: TypeAlias = Callable[[str, int, int], object] | type[Any] | None
