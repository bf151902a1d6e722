"""What components look like over the plane: contour lines of linear PCA above those of kernel PCA.

Three Gaussian clusters. A component is a function of the row, and its contour lines join the places where it has the
same value. Linear PCA has straight and parallel ones, and two components are all there are. Kernel PCA with a Gaussian
kernel has more components than columns, as the later panels show: the first two tell the three clusters apart, the
others cut each cluster into halves, one way and then the other. The number above a panel is the eigenvalue: after the
first two it falls, and what follows is the inside of the clusters.

The other pictures show the same from the spectrum, the scores and the kernel matrix, where each cluster is a block. The
page clusters.html has all of it in one file, to hover over and to zoom.

Writes contours.png, spectrum.png, gram.png and clusters.html.
"""

import eigenlift
import matplotlib.pyplot as plt
import numpy as np
from eigenlift import KernelPCA
from sklearn.datasets import make_blobs


def share_between(scores, y):
    """The share of a component's variance that lies between the clusters, not inside them."""
    means = np.array([scores[y == label].mean() for label in np.unique(y)])
    sizes = np.array([np.count_nonzero(y == label) for label in np.unique(y)])
    return (sizes * (means - scores.mean()) ** 2).sum() / ((scores - scores.mean()) ** 2).sum()


def main():
    X, y = make_blobs(90, centers=[[-0.5, -0.2], [0.0, 0.6], [0.5, 0.0]], cluster_std=0.1, random_state=0)
    model = KernelPCA(n_components=8, kernel="rbf", gamma=10).fit(X)
    eigenlift.plot.contours(model, X, y, linear=True).savefig("contours.png", dpi=110)

    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    eigenlift.plot.scree(model, ax=axes[0])
    eigenlift.plot.scatter(model, y, ax=axes[1])
    figure.savefig("spectrum.png", dpi=110)
    eigenlift.plot.gram(X, model, y).savefig("gram.png", dpi=200)
    eigenlift.report(model, X, y, "clusters.html", "Three clusters")

    for j, scores in enumerate(model.transform(X).T):
        between = 100 * share_between(scores, y)
        print(
            f"component {j + 1}: eigenvalue {model.eigenvalues_[j]:6.2f}, {between:5.1f} % of it between the clusters"
        )


if __name__ == "__main__":
    main()
