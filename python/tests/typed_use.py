"""A program in types that uses the public interface; mypy --strict must find nothing in it."""

import eigenlift
import numpy as np
from eigenlift import PCA, IncrementalPCA, KernelPCA, Nystroem, RBFSampler, Whitening, kernels
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


def words(path: str) -> tuple[str, float]:
    model = eigenlift.load(path)
    return str(model.plan_), model.certificate_.worst_residual


version: str = eigenlift.__version__
problem: type[ValueError] = eigenlift.EigenliftError
