"""The run of scikit-learn's tests fails when it should: each test runs a changed copy of this folder."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
INCREMENTAL = "sklearn.decomposition.tests.test_incremental_pca"
APPROXIMATION = "sklearn.tests.test_kernel_approximation"


def run(folder, *arguments, excluded="{}", change=lambda plugin: plugin):
    for name in ("__main__.py", "settings.ini", "sklearn_suite_plugin.py"):
        shutil.copy(FOLDER / name, folder)
    (folder / "sklearn_suite_excluded.py").write_text(f"EXCLUDED = {excluded}\n")
    plugin = folder / "sklearn_suite_plugin.py"
    plugin.write_text(change(plugin.read_text()))
    done = subprocess.run([sys.executable, str(folder), *arguments], capture_output=True, text=True, cwd=folder)
    return done.returncode, done.stdout + done.stderr


def test_an_excluded_test_that_passes_or_is_skipped_fails_the_run(tmp_path):
    excluded = {
        "test_kernel_approximation.py::test_additive_chi2_sampler": "it passes",
        "test_kernel_approximation.py::test_nystroem_approximation_array_api": "most cases are skipped",
    }
    code, text = run(tmp_path, APPROXIMATION, "-k", "additive_chi2_sampler or array_api", excluded=repr(excluded))
    assert code == 1, text
    assert "[XPASS(strict)] it passes" in text
    assert "[skipped, though excluded]" in text
    assert "0 excluded" in text


def test_an_excluded_test_that_does_not_exist_fails_the_run(tmp_path):
    code, text = run(tmp_path, "-k", "test_incremental_pca", excluded="{'test_pca.py::test_of_nothing': 'gone'}")
    assert code == 4, text
    assert "no such test; take it out of EXCLUDED: test_pca.py::test_of_nothing" in text


def test_a_class_that_was_not_replaced_fails_the_run(tmp_path):
    def forget(plugin):
        changed = plugin.replace('("IncrementalPCA", "KernelPCA", "PCA")', '("KernelPCA", "PCA")')
        assert changed != plugin
        return changed

    code, text = run(tmp_path, INCREMENTAL, change=forget)
    assert code == 4, text
    assert re.search(r"test_incremental_pca\.IncrementalPCA is <class 'sklearn\.", text)
    assert "test_incremental_pca.PCA" not in text


def test_a_failure_that_is_excluded_is_counted_and_named(tmp_path):
    def break_one(plugin):
        return plugin + "\n\ndef pytest_runtest_call(item):\n    assert item.name != 'test_rbf_sampler'\n"

    excluded = "{'test_kernel_approximation.py::test_rbf_sampler': 'broken on purpose'}"
    code, text = run(tmp_path, APPROXIMATION, "-k", "rbf_sampler", excluded=excluded, change=break_one)
    assert "excluded 1: test_kernel_approximation.py::test_rbf_sampler: broken on purpose" in text
    assert re.search(r"\d+ passed, 0 failed, \d+ skipped by scikit-learn, 1 excluded", text)
    assert code == 0, text
