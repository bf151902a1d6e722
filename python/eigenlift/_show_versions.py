"""What a bug report should name."""

import importlib.metadata
import os
import platform
import sys

from ._native import __version__

# Packages whose versions change what this one does.
_PACKAGES = (
    "numpy",
    "scipy",
    "scikit-learn",
    "joblib",
    "threadpoolctl",
    "matplotlib",
    "pandas",
    "dask",
    "distributed",
    "pyarrow",
    "zarr",
)


def _version(package):
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def show_versions() -> None:
    """Print the versions of eigenlift, Python and related packages, for bug reports.

    Examples
    --------
    >>> import eigenlift
    >>> eigenlift.show_versions()  # doctest: +ELLIPSIS
    eigenlift...
    """
    lines = [
        ("eigenlift", __version__),
        ("python", sys.version.replace("\n", " ")),
        ("executable", sys.executable),
        ("machine", platform.platform()),
        ("processors", os.cpu_count()),
        *((package, _version(package)) for package in _PACKAGES),
    ]
    width = max(len(name) for name, _ in lines)
    for name, value in lines:
        print(f"{name:<{width}}  {value}")
