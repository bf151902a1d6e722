"""Tests of scikit-learn that our classes cannot pass, each with the reason.

A key is `file.py::test`, which stands for all cases of that test, or `file.py::test[case]`. Each must fail: one that
passes, is skipped or does not exist makes the run fail.
"""

_MOCKED = "mocks the solvers that scikit-learn imports; the work is done here"
_UNSCALED = (
    "calls a private function that, unlike mutual_info_regression, does not bring columns to one scale; "
    "scikit-learn's public function gives what ours gives, with 5 neighbours 0.1195, and 0.1438 within 10 % is asked for"
)
EXCLUDED = {
    "test_mutual_info.py::test_compute_mi_cc": _UNSCALED,
    "test_pca.py::test_pca_svd_solver_auto": "reads the private attribute _fit_svd_solver; plan_ names the route here",
    "test_spectral_embedding.py::test_spectral_eigen_tol_auto[csr_matrix-arpack]": _MOCKED,
    "test_spectral_embedding.py::test_spectral_eigen_tol_auto[csr_matrix-lobpcg]": _MOCKED,
    "test_spectral_embedding.py::test_spectral_eigen_tol_auto[csr_array-arpack]": _MOCKED,
    "test_spectral_embedding.py::test_spectral_eigen_tol_auto[csr_array-lobpcg]": _MOCKED,
}
