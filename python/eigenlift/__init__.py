"""Kernel PCA, PCA, whitening, manifold and kernelised linear methods with scikit-learn's interface: exact where memory allows, bounded where it does not."""

import os as _os
from typing import Any as _Any

from . import kernels, plot
from ._account import Certificate, Plan
from ._align import Alignment
from ._base import EigenliftWarning
from ._classical_mds import ClassicalMDS
from ._diffusion_map import DiffusionMap
from ._doctor import IsomapReport, isomap_doctor
from ._errors import EigenliftError, InvalidParameterError, UnsupportedError
from ._feature_filter import FeatureFilter
from ._incremental_pca import IncrementalPCA
from ._isomap import Isomap
from ._kernel_cca import KernelCCA
from ._kernel_choose import KernelChoice, choose_kernel_pca
from ._kernel_discriminant import KernelDiscriminant
from ._kernel_k_means import KernelKMeans
from ._kernel_pca import KernelPCA
from ._kernel_study import (
    ParallelReport,
    SensitivityReport,
    StabilityReport,
    kernel_parallel_analysis,
    kernel_sensitivity,
    kernel_stability,
)
from ._locally_linear import LocallyLinearEmbedding, locally_linear_embedding
from ._mutual_information import (
    InformationReport,
    mutual_info_classif,
    mutual_info_regression,
    mutual_information,
)
from ._native import (
    MemoryLimitError,
    ModelFileError,
    NotConvergedError,
    NoVarianceError,
    __version__,
)
from ._native import load as _load
from ._novelty import Contributions, Limits, Novelty
from ._nystroem import Nystroem
from ._pca import PCA
from ._preimage import PreimageInfo
from ._quality import continuity, trustworthiness
from ._rbf_sampler import RBFSampler
from ._report import report
from ._selection import FeatureSubset, NestedScore, SelectionStep
from ._sequential import SequentialFeatureSelector
from ._show_versions import show_versions
from ._spectral_embedding import SpectralEmbedding, spectral_embedding
from ._whitening import Whitening

__all__ = [
    "PCA",
    "Alignment",
    "Certificate",
    "ClassicalMDS",
    "Contributions",
    "DiffusionMap",
    "EigenliftError",
    "EigenliftWarning",
    "FeatureFilter",
    "FeatureSubset",
    "IncrementalPCA",
    "InformationReport",
    "InvalidParameterError",
    "Isomap",
    "IsomapReport",
    "KernelCCA",
    "KernelChoice",
    "KernelDiscriminant",
    "KernelKMeans",
    "KernelPCA",
    "Limits",
    "LocallyLinearEmbedding",
    "MemoryLimitError",
    "ModelFileError",
    "NestedScore",
    "NoVarianceError",
    "NotConvergedError",
    "Novelty",
    "Nystroem",
    "ParallelReport",
    "Plan",
    "PreimageInfo",
    "RBFSampler",
    "SelectionStep",
    "SensitivityReport",
    "SequentialFeatureSelector",
    "SpectralEmbedding",
    "StabilityReport",
    "UnsupportedError",
    "Whitening",
    "__version__",
    "choose_kernel_pca",
    "continuity",
    "isomap_doctor",
    "kernel_parallel_analysis",
    "kernel_sensitivity",
    "kernel_stability",
    "kernels",
    "load",
    "locally_linear_embedding",
    "mutual_info_classif",
    "mutual_info_regression",
    "mutual_information",
    "plot",
    "report",
    "show_versions",
    "spectral_embedding",
    "trustworthiness",
]

_CLASSES = {
    "diffusion": DiffusionMap,
    "isomap": Isomap,
    "kcca": KernelCCA,
    "kda": KernelDiscriminant,
    "kkmeans": KernelKMeans,
    "kpca": KernelPCA,
    "laplacian": SpectralEmbedding,
    "lle": LocallyLinearEmbedding,
    "mds": ClassicalMDS,
    "pca": PCA,
    "whiten": Whitening,
}


def load(path: str | _os.PathLike[str]) -> _Any:
    """A fitted estimator from a model file, whoever wrote it: this package, the command line or Rust.

    Loading runs no code that the file holds.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    estimator
        Of the class that the file says, such as KernelPCA, PCA, Whitening or Isomap.

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
