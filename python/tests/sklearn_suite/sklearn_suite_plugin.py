"""A pytest plugin that puts eigenlift's classes where scikit-learn's tests look for scikit-learn's.

Before any test module is imported, the names in `sklearn.decomposition`, `sklearn.feature_selection`,
`sklearn.kernel_approximation` and `sklearn.manifold` are given to our classes and functions. The run fails when a test module has another class than ours, when a test in the list of excluded ones
passes or is skipped, and when that list names a test that does not exist.
"""

import collections
import functools

import eigenlift
import numpy as np
import pytest
import sklearn
import sklearn.decomposition
import sklearn.feature_selection
import sklearn.feature_selection._mutual_info
import sklearn.kernel_approximation
import sklearn.manifold
from sklearn_suite_excluded import EXCLUDED

# Test modules, and the names of our classes and functions that each must have.
MODULES = {
    "sklearn.decomposition.tests.test_kernel_pca": ("KernelPCA", "PCA"),
    "sklearn.decomposition.tests.test_pca": ("PCA",),
    "sklearn.decomposition.tests.test_incremental_pca": ("IncrementalPCA", "PCA"),
    "sklearn.feature_selection.tests.test_mutual_info": ("mutual_info_classif", "mutual_info_regression"),
    "sklearn.feature_selection.tests.test_sequential": ("SequentialFeatureSelector",),
    "sklearn.tests.test_kernel_approximation": ("Nystroem", "RBFSampler"),
    "sklearn.manifold.tests.test_isomap": ("manifold.Isomap",),
    "sklearn.manifold.tests.test_classical_mds": ("ClassicalMDS", "PCA"),
    "sklearn.manifold.tests.test_spectral_embedding": ("SpectralEmbedding", "spectral_embedding"),
    "sklearn.manifold.tests.test_locally_linear": (
        "manifold.LocallyLinearEmbedding",
        "manifold.locally_linear_embedding",
    ),
}
REPLACED = {
    sklearn.decomposition: ("IncrementalPCA", "KernelPCA", "PCA"),
    sklearn.feature_selection: ("SequentialFeatureSelector", "mutual_info_classif", "mutual_info_regression"),
    sklearn.kernel_approximation: ("Nystroem", "RBFSampler"),
    sklearn.manifold: (
        "ClassicalMDS",
        "Isomap",
        "LocallyLinearEmbedding",
        "SpectralEmbedding",
        "locally_linear_embedding",
        "spectral_embedding",
    ),
}
_EXCLUSION = pytest.StashKey[str]()


def compute_mi(x, y, x_discrete, y_discrete, n_neighbors=3):
    """Ours in the place of the private function that scikit-learn's tests of mutual information call."""
    kinds = {"discrete_features": bool(x_discrete), "discrete_target": bool(y_discrete)}
    return eigenlift.mutual_information(np.reshape(x, (-1, 1)), y, n_neighbors=n_neighbors, **kinds).values[0]


def pytest_configure():
    for module, names in REPLACED.items():
        for name in names:
            setattr(module, name, getattr(eigenlift, name))
    sklearn.feature_selection._mutual_info._compute_mi = compute_mi


def pytest_report_header():
    return f"scikit-learn {sklearn.__version__}, eigenlift {eigenlift.__version__} from {eigenlift.__file__}"


@pytest.fixture(params=[0, 42])
def global_random_seed(request):
    return request.param


@pytest.fixture(params=[np.float32, np.float64])
def global_dtype(request):
    return request.param


def classes_not_replaced(modules):
    """Names such as `module.PCA` in test modules that are not our classes."""
    wrong = []
    for module in modules:
        for name in MODULES[module.__name__]:
            # A name such as manifold.Isomap is looked up as the tests do.
            found = functools.reduce(lambda owner, part: getattr(owner, part, None), name.split("."), module)
            if found is not getattr(eigenlift, name.split(".")[-1]) or not found.__module__.startswith("eigenlift"):
                wrong.append(f"{module.__name__}.{name} is {found}")
    return wrong


def exclusions(names, excluded):
    """For each name of a test its entry in `excluded`, or None; and the entries that name no test.

    An entry is `file.py::test`, which stands for all its cases, or `file.py::test[case]`.
    """
    entries = [name if name in excluded else name.partition("[")[0] for name in names]
    entries = [entry if entry in excluded else None for entry in entries]
    return entries, sorted(set(excluded) - set(entries))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    modules = {item.module for item in items}
    complete = set(config.args) == set(MODULES)
    missing = sorted(set(MODULES) - {module.__name__ for module in modules}) if complete else []
    if missing:
        raise pytest.UsageError(f"no tests were found in {', '.join(missing)}")
    wrong = classes_not_replaced(modules)
    if wrong:
        raise pytest.UsageError("; ".join(wrong) + "; the tests must use eigenlift's classes")
    entries, unknown = exclusions([f"{item.path.name}::{item.name}" for item in items], EXCLUDED)
    if complete and unknown:
        raise pytest.UsageError(f"no such test; take it out of EXCLUDED: {', '.join(unknown)}")
    for item, entry in zip(items, entries, strict=True):
        if entry is not None:
            item.stash[_EXCLUSION] = entry
            item.add_marker(pytest.mark.xfail(reason=EXCLUDED[entry], strict=True))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    report = yield
    entry = item.stash.get(_EXCLUSION, None)
    report.exclusion = entry
    if entry is not None and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"[skipped, though excluded] take {entry} out of EXCLUDED"
    return report


def _reason(report):
    words = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return words.removeprefix("Skipped: ")


def pytest_terminal_summary(terminalreporter):
    stats = terminalreporter.stats
    count = {word: len(stats.get(word, [])) for word in ("passed", "failed", "error", "skipped", "xfailed")}
    terminalreporter.section("scikit-learn's tests with eigenlift's classes")
    terminalreporter.line(
        f"{count['passed']} passed, {count['failed'] + count['error']} failed, "
        f"{count['skipped']} skipped by scikit-learn, {count['xfailed']} excluded"
    )
    skipped = collections.Counter(_reason(report) for report in stats.get("skipped", []))
    for reason, times in skipped.most_common():
        terminalreporter.line(f"  skipped {times}: {reason}")
    excluded = collections.Counter(report.exclusion for report in stats.get("xfailed", []))
    for entry, times in sorted(excluded.items()):
        terminalreporter.line(f"  excluded {times}: {entry}: {EXCLUDED[entry]}")
