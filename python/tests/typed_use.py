"""A program in types that uses the public interface; mypy --strict and pyright must find nothing in it."""

import eigenlift
import numpy as np
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
    kernels,
)
from eigenlift import dask as cluster
from numpy.typing import NDArray


def scores(rows: NDArray[np.float64]) -> list[NDArray[np.floating]]:
    kernel = kernels.RBF(gamma=0.5) + 0.1 * kernels.Linear()
    kpca: KernelPCA = KernelPCA(n_components=2, kernel=kernel, memory="400MB").fit(rows)
    pca: PCA = PCA(n_components=2, svd_solver="full", random_state=0).fit(rows)
    pieces: IncrementalPCA = IncrementalPCA(n_components=2, batch_size=10).partial_fit(rows)
    white: Whitening = Whitening(method="zca", ridge=0.1).fit(rows)
    return [
        kpca.certify().transform(rows),
        pca.transform(rows),
        pieces.transform(rows),
        white.inverse_transform(white.transform(rows)),
        Nystroem(kernel="rbf", gamma=0.5, n_components=3).fit_transform(rows),
        RBFSampler(gamma="scale", n_components=3).fit_transform(rows),
    ]


def coordinates(rows: NDArray[np.float64]) -> list[NDArray[np.floating]]:
    isomap: Isomap = Isomap(n_neighbors=8, landmarks=100, disconnected="error").fit(rows)
    report: eigenlift.IsomapReport = eigenlift.isomap_doctor(rows, n_neighbors=8, cut=True)
    share: float = eigenlift.trustworthiness(rows, isomap.embedding_) + eigenlift.continuity(rows, isomap.embedding_)
    return [
        isomap.transform(rows) * share,
        Isomap(cut=report.cuts, n_neighbors=report.recommended_).fit_transform(rows),
        ClassicalMDS(2, metric="manhattan").fit(rows).dissimilarity_matrix_,
        SpectralEmbedding(2, affinity=kernels.RBF(gamma=0.5)).fit_transform(rows),
        LocallyLinearEmbedding(method="ltsa").fit(rows).transform(rows),
        DiffusionMap(2, gamma=0.5, t=2).fit_transform(rows),
        eigenlift.locally_linear_embedding(rows, n_neighbors=5, n_components=2)[0],
    ]


def denoised(rows: NDArray[np.float64]) -> list[NDArray[np.floating]]:
    choice: eigenlift.KernelChoice = eigenlift.choose_kernel_pca(
        rows, kernel=["linear", kernels.Matern()], mask=("blocks", 2)
    )
    kpca: KernelPCA = choice.estimator(preimage="auto", penalty=0.1).fit(rows)
    clean, info = kpca.denoise(rows, return_info=True)
    alone: NDArray[np.floating] = kpca.inverse_transform(kpca.transform(rows))
    share: float = float(info.trusted.mean()) + info.n_untrusted
    print(eigenlift.kernel_sensitivity(rows, bandwidths=[0.1, 1.0]), eigenlift.kernel_stability(rows, 3, resamples=5))
    print(eigenlift.kernel_parallel_analysis(rows, permutations=5), kpca.align(kpca, rows).sentence)
    return [clean * share, alone]


def kernelised(rows: NDArray[np.float64], classes: NDArray[np.int64]) -> list[NDArray[np.floating]]:
    cca: KernelCCA = KernelCCA(1, kernel=["rbf", kernels.Linear()], regularization=0.1).fit(rows, rows[:, :1])
    kda: KernelDiscriminant = KernelDiscriminant(kernel="rbf", folds=3).fit(rows, classes)
    clusters: KernelKMeans = KernelKMeans(3, kernel="rbf", spectral=2).fit(rows)
    both: tuple[NDArray[np.floating], ...] = cca.transform(rows, rows[:, :1])
    share: float = cca.score(rows, rows[:, :1]) + kda.regularization_ + clusters.inertia_
    return [cca.transform(rows), *both, share * kda.predict_proba(rows), clusters.plane(rows)]


def selected(rows: NDArray[np.float64], classes: NDArray[np.int64]) -> list[float | None]:
    selector: SequentialFeatureSelector = SequentialFeatureSelector("knn", nested=3, floating=True).fit(rows, classes)
    best: FeatureFilter = FeatureFilter("mrmr", n_features_to_select=2, scorer=("ridge", {"alpha": 2.0})).fit(
        rows, classes
    )
    report: eigenlift.InformationReport = eigenlift.mutual_information(rows, classes, permutations=9)
    information: NDArray[np.float64] = eigenlift.mutual_info_classif(rows, classes) + report.errors
    honest: float = float(information.sum()) if selector.nested_ is None else selector.nested_.score
    return [honest, float(best.scores_.sum()), *(step.score for step in selector.path_)]


def on_a_cluster(path: str, rows: NDArray[np.float64]) -> list[NDArray[np.floating]]:
    workers = cluster.Threads(2)
    pca: cluster.PCA = cluster.PCA(3, client=workers).fit(path)
    kpca: cluster.KernelPCA = cluster.KernelPCA(3, kernel=kernels.RBF(gamma=0.5), rank=100, client=workers).fit(path)
    features: cluster.Nystroem = cluster.Nystroem(n_components=10, client=workers).fit([path])
    more: cluster.IncrementalPCA = cluster.IncrementalPCA(2, client=workers).partial_fit(path).partial_fit(rows)
    try:
        residual: float = kpca.certify().worst_residual + kpca.refine(path).certificate_.worst_residual
    except cluster.PartitionError as error:
        print(error.partition)
        residual = 0.0
    lazy = cluster.Whitening(client=workers).fit_transform(path, sample_weight=None)
    print(lazy.mean(axis=0), features.transform(path), residual)
    return [pca.components_, kpca.eigenvalues_, features.normalization_, more.components_]


def words(path: str) -> tuple[str, float]:
    model = eigenlift.load(path)
    return str(model.plan_), model.certificate_.worst_residual


version: str = eigenlift.__version__
problem: type[ValueError] = eigenlift.EigenliftError
