"""scikit-learn's rules for estimators, on all of ours, with no failure expected."""

from eigenlift import PCA, IncrementalPCA, KernelPCA, Nystroem, RBFSampler, Whitening
from sklearn.utils.estimator_checks import parametrize_with_checks

KERNELS = ("linear", "poly", "rbf", "sigmoid", "cosine", "precomputed")
LOW_RANK = (None, "uniform", "fourier")
SVD_SOLVERS = ("auto", "full", "covariance_eigh", "arpack", "randomized")
EIGEN_SOLVERS = ("dense", "arpack", "randomized")
# Without "cholesky": scikit-learn's checks set n_components to 1, which it refuses, as its triangle needs all columns.
WHITENINGS = ("zca", "pca", "zca-cor", "pca-cor")


# scikit-learn leaves checks out for some names of classes, such as KernelPCA. Other names have no such privilege.
class KernelPCAByAnotherName(KernelPCA):
    pass


class PCAByAnotherName(PCA):
    pass


class IncrementalPCAByAnotherName(IncrementalPCA):
    pass


class NystroemByAnotherName(Nystroem):
    pass


class RBFSamplerByAnotherName(RBFSampler):
    pass


class WhiteningByAnotherName(Whitening):
    pass


@parametrize_with_checks(
    [
        KernelPCA(),
        *(KernelPCA(n_components=2, kernel=kernel) for kernel in KERNELS),
        *(KernelPCA(n_components=2, kernel="rbf", eigen_solver=solver, random_state=0) for solver in EIGEN_SOLVERS),
        *(KernelPCA(n_components=2, kernel="rbf", rank=5, approximation=word, random_state=0) for word in LOW_RANK),
        KernelPCAByAnotherName(n_components=2, kernel="rbf"),
    ]
)
def test_kernel_pca(estimator, check):
    check(estimator)


@parametrize_with_checks(
    [
        *(PCA(svd_solver=solver, random_state=0) for solver in SVD_SOLVERS),
        PCA(n_components=1, whiten=True),
        PCA(n_components=1, standardize=True),
        PCAByAnotherName(),
        IncrementalPCA(),
        IncrementalPCA(n_components=1, whiten=True, batch_size=10),
        IncrementalPCAByAnotherName(),
    ]
)
def test_pca(estimator, check):
    check(estimator)


@parametrize_with_checks(
    [
        Nystroem(),
        *(Nystroem(n_components=3, kernel=kernel, random_state=0) for kernel in KERNELS if kernel != "precomputed"),
        NystroemByAnotherName(n_components=3),
        RBFSampler(),
        RBFSampler(n_components=3, gamma="scale"),
        RBFSamplerByAnotherName(n_components=3),
    ]
)
def test_approximations(estimator, check):
    check(estimator)


@parametrize_with_checks(
    [
        Whitening(),
        *(Whitening(method=method) for method in WHITENINGS),
        Whitening(n_components=1, method="pca", ridge=0.1),
        WhiteningByAnotherName(),
    ]
)
def test_whitening(estimator, check):
    check(estimator)
