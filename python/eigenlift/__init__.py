"""Kernel PCA, PCA and whitening with scikit-learn's interface: exact where memory allows, bounded where it does not."""

import os as _os

from . import kernels
from ._account import Certificate, Plan
from ._base import EigenliftWarning
from ._incremental_pca import IncrementalPCA
from ._kernel_pca import KernelPCA
from ._native import (
    EigenliftError,
    MemoryLimitError,
    ModelFileError,
    NotConvergedError,
    NoVarianceError,
    __version__,
)
from ._native import load as _load
from ._nystroem import Nystroem
from ._parameters import InvalidParameterError
from ._pca import PCA
from ._rbf_sampler import RBFSampler
from ._whitening import Whitening

__all__ = [
    "PCA",
    "Certificate",
    "EigenliftError",
    "EigenliftWarning",
    "IncrementalPCA",
    "InvalidParameterError",
    "KernelPCA",
    "MemoryLimitError",
    "ModelFileError",
    "NoVarianceError",
    "NotConvergedError",
    "Nystroem",
    "Plan",
    "RBFSampler",
    "Whitening",
    "__version__",
    "kernels",
    "load",
]

_CLASSES = {"kpca": KernelPCA, "pca": PCA, "whiten": Whitening}


def load(path):
    """A fitted estimator from a model file, whoever wrote it: this package, the command line or Rust.

    Loading runs no code that the file holds.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    KernelPCA, PCA or Whitening
        As the file says.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> import eigenlift
    >>> X = np.random.default_rng(0).normal(size=(50, 4))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pca = eigenlift.PCA(n_components=2).fit(X)
    ...     pca.save(folder + "/pca.safetensors")
    ...     same = eigenlift.load(folder + "/pca.safetensors")
    >>> bool((same.transform(X) == pca.transform(X)).all())
    True
    """
    model = _load(_os.fspath(path))
    return _CLASSES[model.method]._from_model(model)
