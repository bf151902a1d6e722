"""What all tests share: a check of which package is tested."""

import os
import sysconfig
from pathlib import Path

import pytest


def pytest_configure():
    # Set by `cargo xtask`: the tests must see the installed wheel, not the folder of sources.
    if not os.environ.get("EIGENLIFT_TEST_INSTALLED"):
        return
    import eigenlift

    installed = Path(sysconfig.get_path("platlib")).resolve()
    found = Path(eigenlift.__file__).resolve()
    if not found.is_relative_to(installed):
        raise pytest.UsageError(f"eigenlift is {found}; the tests must use the one installed in {installed}")
