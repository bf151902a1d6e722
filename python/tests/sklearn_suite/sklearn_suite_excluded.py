"""Tests of scikit-learn that our classes cannot pass, each with the reason.

A key is `file.py::test`, which stands for all cases of that test, or `file.py::test[case]`. Each must fail: one that
passes, is skipped or does not exist makes the run fail.
"""

_MOCKED = "mocks the solvers that scikit-learn imports; the work is done here"
EXCLUDED = {
    "test_pca.py::test_pca_svd_solver_auto": "reads the private attribute _fit_svd_solver; plan_ names the route here",
    "test_spectral_embedding.py::test_spectral_eigen_tol_auto[csr_matrix-arpack]": _MOCKED,
    "test_spectral_embedding.py::test_spectral_eigen_tol_auto[csr_matrix-lobpcg]": _MOCKED,
    "test_spectral_embedding.py::test_spectral_eigen_tol_auto[csr_array-arpack]": _MOCKED,
    "test_spectral_embedding.py::test_spectral_eigen_tol_auto[csr_array-lobpcg]": _MOCKED,
}
