"""Runs scikit-learn's own tests with eigenlift's classes in place of scikit-learn's.

python python/tests/sklearn_suite                      all files
python python/tests/sklearn_suite -k whiten --tb=long  further arguments go to pytest
python python/tests/sklearn_suite sklearn.decomposition.tests.test_pca    one file
"""

import sys
from pathlib import Path

# Nothing is written beside installed tests.
sys.dont_write_bytecode = True

import pytest  # noqa: E402
import sklearn  # noqa: E402
from sklearn_suite_plugin import MODULES  # noqa: E402


def main(arguments):
    names_files = any(argument.startswith("sklearn.") for argument in arguments)
    # Tests are named from the folder of installed packages: sklearn/decomposition/tests/test_pca.py::test_pca.
    settings = ["-c", str(Path(__file__).resolve().with_name("settings.ini"))]
    settings += ["--rootdir", str(Path(sklearn.__file__).resolve().parents[1])]
    return pytest.main([*settings, *arguments, *([] if names_files else MODULES)])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
