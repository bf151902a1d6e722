"""scikit-learn's rules for estimators, on all of ours, with no failure expected but those named here."""

from eigenlift import (
    PCA,
    ClassicalMDS,
    DiffusionMap,
    FeatureFilter,
    IncrementalPCA,
    Isomap,
    KernelCCA,
    KernelDiscriminant,
    KernelKMeans,
    KernelPCA,
    LocallyLinearEmbedding,
    Nystroem,
    RBFSampler,
    SequentialFeatureSelector,
    SpectralEmbedding,
    Whitening,
)
from sklearn.linear_model import LogisticRegression, Ridge
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


class IsomapByAnotherName(Isomap):
    pass


class ClassicalMDSByAnotherName(ClassicalMDS):
    pass


class SpectralEmbeddingByAnotherName(SpectralEmbedding):
    pass


class LocallyLinearEmbeddingByAnotherName(LocallyLinearEmbedding):
    pass


class DiffusionMapByAnotherName(DiffusionMap):
    pass


class KernelCCAByAnotherName(KernelCCA):
    pass


class KernelDiscriminantByAnotherName(KernelDiscriminant):
    pass


class KernelKMeansByAnotherName(KernelKMeans):
    pass


class SequentialFeatureSelectorByAnotherName(SequentialFeatureSelector):
    pass


class FeatureFilterByAnotherName(FeatureFilter):
    pass


@parametrize_with_checks(
    [
        KernelPCA(),
        *(KernelPCA(n_components=2, kernel=kernel) for kernel in KERNELS),
        *(KernelPCA(n_components=2, kernel="rbf", eigen_solver=solver, random_state=0) for solver in EIGEN_SOLVERS),
        *(KernelPCA(n_components=2, kernel="rbf", rank=5, approximation=word, random_state=0) for word in LOW_RANK),
        KernelPCA(n_components=2, kernel="rbf", preimage="auto"),
        KernelPCAByAnotherName(n_components=2, kernel="rbf", preimage="gradient"),
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


# scikit-learn's class has no transform. Ours places a row by its neighbours or by the kernel, itself among them, while the
# eigenvectors leave it out: rows of the fit come near their coordinates, not onto them.
NEAR_ALONE = (
    "check_transformer_data_not_an_array",
    "check_transformer_general",
    "check_transformer_general(readonly_memmap=True)",
)


def near_alone(estimator):
    """Checks that ask more of new rows than a spectral embedding gives."""
    # With few neighbours the graph is in parts, and all rows of a part have the same coordinates.
    in_parts = estimator.get_params().get("affinity") == "nearest_neighbors" and estimator.n_neighbors is None
    if in_parts or not isinstance(estimator, SpectralEmbedding):
        return {}
    return dict.fromkeys(NEAR_ALONE, "rows of the fit are placed as new rows are")


@parametrize_with_checks(
    [
        Isomap(),
        Isomap(n_neighbors=3, landmarks=5),
        Isomap(n_neighbors=None, radius=10.0),
        Isomap(n_neighbors=3, metric="chebyshev"),
        Isomap(n_neighbors=3, disconnected="separate"),
        IsomapByAnotherName(n_neighbors=3),
        ClassicalMDS(),
        ClassicalMDS(metric="cosine"),
        ClassicalMDS(metric="precomputed"),
        ClassicalMDS(landmarks=4),
        ClassicalMDSByAnotherName(),
        SpectralEmbedding(),
        SpectralEmbedding(affinity="rbf"),
        SpectralEmbeddingByAnotherName(n_neighbors=4),
        LocallyLinearEmbedding(),
        LocallyLinearEmbedding(n_components=1, n_neighbors=4, method="ltsa"),
        LocallyLinearEmbeddingByAnotherName(),
        DiffusionMap(),
        DiffusionMap(alpha=0, t=2),
        DiffusionMapByAnotherName(),
    ],
    expected_failed_checks=near_alone,
)
def test_manifold(estimator, check):
    check(estimator)


def no_kernel_matrices(estimator):
    """Checks that hand over what is no positive semi-definite matrix: less its mean, rounded, or rows in its place."""
    if not estimator.__sklearn_tags__().input_tags.pairwise:
        return {}
    names = ["check_positive_only_tag_during_fit", "check_estimators_dtypes"]
    if isinstance(estimator, KernelKMeans):
        names += ["check_clustering", "check_clustering(readonly_memmap=True)"]
    return dict.fromkeys(names, "no positive semi-definite kernel matrix")


# Without a precomputed KernelDiscriminant: classes that the checks make of kernel values have one row each.
@parametrize_with_checks(
    [
        KernelCCA(),
        *(KernelCCA(n_components=1, kernel=kernel) for kernel in ("rbf", "poly", ["precomputed", "linear"])),
        KernelCCA(n_components=1, kernel="rbf", regularization=0.1, rank=5, n_permutations=3, random_state=0),
        KernelCCAByAnotherName(),
        KernelDiscriminant(),
        *(KernelDiscriminant(kernel=kernel) for kernel in ("rbf", "poly")),
        KernelDiscriminant(kernel="rbf", regularization=0.1, rank=5, random_state=0),
        KernelDiscriminantByAnotherName(),
        KernelKMeans(),
        *(KernelKMeans(n_clusters=2, kernel=kernel, n_init=2) for kernel in ("rbf", "poly", "precomputed")),
        KernelKMeans(n_clusters=2, kernel="rbf", spectral=2, rank=5, random_state=0),
        KernelKMeansByAnotherName(n_clusters=3),
    ],
    expected_failed_checks=no_kernel_matrices,
)
def test_kernelised(estimator, check):
    check(estimator)


@parametrize_with_checks(
    [
        *(SequentialFeatureSelector(name, cv=2) for name in ("knn", "ridge", "lda", ("logistic", {"C": 0.5}))),
        SequentialFeatureSelector("knn", n_features_to_select="one_se", cv=2, floating=True),
        SequentialFeatureSelector(LogisticRegression(), cv=2),
        SequentialFeatureSelector(Ridge(), cv=2, direction="backward", n_features_to_select="best"),
        SequentialFeatureSelectorByAnotherName("ridge", cv=2),
        *(FeatureFilter(method, n_features_to_select=1) for method in ("mi", "mrmr", "jmi", "f", "chi2", "hsic")),
        FeatureFilter(cv=2, permutations=3),
        FeatureFilterByAnotherName("f", cv=2, scorer="ridge"),
    ]
)
def test_selection(estimator, check):
    check(estimator)
