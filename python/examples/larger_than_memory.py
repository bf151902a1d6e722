"""Components and whitening of a table that is read from the disk a piece at a time.

A file of 2 million rows with 20 columns, 320 MB, is written piece by piece, so that it never is in memory as a whole.
`IncrementalPCA` then reads it in pieces of 50 000 rows. It keeps sums, not components, and therefore gives the
components of all rows, whatever the pieces. `PCA` gets the whole file as a memory map, and `memory=` limits what it may
use beside the rows. Both must give the same, and do.

The peak of memory counts pages of the file while they happen to be mapped, although the system may take them back at
any time. Pieces that are mapped one after the other stay small; a map of the whole file can count in full.

The picture shows 4000 of the rows before and after ZCA whitening: correlated columns of different spread become
uncorrelated ones of variance 1, and each stays as close as possible to the column it came from.

Writes larger_than_memory.png. Peak memory comes from the module `resource`, which Windows does not have.
"""

import resource
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import matplotlib.pyplot as plt
import numpy as np
from eigenlift import PCA, IncrementalPCA, Whitening

N_ROWS, N_COLUMNS, PIECE = 2_000_000, 20, 50_000


def peak():
    """The most memory this process has had so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6


def told(what, start):
    print(f"{what:34} {perf_counter() - start:5.1f} s, peak memory so far {peak():4.0f} MB")


def write_table(path):
    """Rows of 5 hidden factors and noise, written in pieces."""
    random = np.random.default_rng(0)
    factors = random.normal(size=(5, N_COLUMNS)) * np.array([3.0, 2.0, 1.5, 1.0, 0.7])[:, None]
    header = {"descr": "<f8", "fortran_order": False, "shape": (N_ROWS, N_COLUMNS)}
    with path.open("wb") as file:
        np.lib.format.write_array_header_1_0(file, header)
        for _ in range(N_ROWS // PIECE):
            rows = random.normal(size=(PIECE, 5)) @ factors + 0.5 * random.normal(size=(PIECE, N_COLUMNS))
            rows.tofile(file)


def pieces(path):
    """The rows in pieces; each maps its own part of the file for a while only."""
    for start in range(0, N_ROWS, PIECE):
        yield np.load(path, mmap_mode="r")[start : start + PIECE]


def show(rows, white):
    """Two columns, and the covariances of all columns, before and after."""
    figure, grid = plt.subplots(2, 2, figsize=(9, 8), layout="constrained")
    for axes, points, word in zip(grid[0], [rows, white], ["before", "after whitening"], strict=True):
        axes.scatter(points[:, 0], points[:, 1], s=5, color="#0072B2", alpha=0.4, linewidths=0)
        axes.set(title=f"two of 20 columns {word}", xlabel="column 1", ylabel="column 2", aspect="equal")
        axes.set(xlim=(-18, 18), ylim=(-18, 18))
    for axes, points, word in zip(grid[1], [rows, white], ["before", "after whitening"], strict=True):
        covariance = np.cov(points, rowvar=False, bias=True)
        limit = np.abs(covariance).max()
        image = axes.imshow(covariance, cmap="PuOr", vmin=-limit, vmax=limit)
        axes.set(title=f"covariance of all columns {word}", xlabel="column", ylabel="column")
        axes.set_xticks([0, 4, 9, 14, 19], [1, 5, 10, 15, 20])
        axes.set_yticks([0, 4, 9, 14, 19], [1, 5, 10, 15, 20])
        figure.colorbar(image, ax=axes, shrink=0.85)
    figure.savefig("larger_than_memory.png", dpi=90)


def main():
    print(f"{'before anything is read':34}          peak memory so far {peak():4.0f} MB")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.npy"
        start = perf_counter()
        write_table(path)
        told(f"written, a file of {path.stat().st_size / 1e6:.0f} MB", start)

        start = perf_counter()
        by_pieces = IncrementalPCA(n_components=5)
        for piece in pieces(path):
            by_pieces.partial_fit(piece)
        found = len(by_pieces.components_)  # solved for here, when they are first asked for
        told(f"IncrementalPCA, {found} components", start)

        start = perf_counter()
        table = np.load(path, mmap_mode="r")
        at_once = PCA(n_components=5, memory="50MB").fit(table)
        told("PCA of the memory map", start)
        print(f"  what it planned to use beside the rows: {at_once.plan_.bytes_needed / 1e6:.1f} MB of 50 MB")

        start = perf_counter()
        whitening = Whitening(memory="50MB").fit(table)
        told("Whitening of the memory map", start)
        rows = np.array(table[:: N_ROWS // 4000])
        del table

    apart = np.abs(by_pieces.components_ - at_once.components_).max()
    print(f"components by pieces and at once differ by at most {apart:.1e}")
    print(f"share of the variance in 5 components: {at_once.explained_variance_ratio_.sum():.4f}")
    print(f"whitening: {whitening.statement_}")
    show(rows, whitening.transform(rows))


if __name__ == "__main__":
    main()
