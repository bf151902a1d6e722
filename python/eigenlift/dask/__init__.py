"""PCA, kernel PCA, the Nyström method and whitening of rows that no single machine holds, on a Dask cluster.

The estimators are those of `eigenlift` with one further parameter, `client`. Rows come as a Dask array, a Dask dataframe, or paths
of NPY, Parquet or Zarr files. A fitted estimator holds the ordinary model: its file is read by `eigenlift.load`, by the command
line and by Rust.
"""

try:
    import dask as _dask
    import distributed as _distributed
except ImportError as error:
    raise ImportError(
        'eigenlift.dask needs Dask, which is not installed here: pip install "eigenlift[dask]"'
    ) from error

from .._cluster._protocol import PartitionError
from .._cluster._threads import Threads
from ._incremental_pca import IncrementalPCA
from ._kernel_pca import KernelPCA
from ._nystroem import Nystroem
from ._pca import PCA
from ._whitening import Whitening

__all__ = ["PCA", "IncrementalPCA", "KernelPCA", "Nystroem", "PartitionError", "Threads", "Whitening"]

del _dask, _distributed
