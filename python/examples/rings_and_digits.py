"""PCA and kernel PCA side by side: what a straight axis cannot see.

Above, two rings lie one inside the other. PCA can only turn the plane, so it gives the rings back as they were, and no
straight line separates them. Kernel PCA with a Gaussian kernel first lifts each point to its similarities with all
others. There the rings are apart, and the first component alone tells which one a point belongs to.

Below, images of the handwritten digits 0 to 5 with 64 pixels each; two components must do for 64 columns. The gain is
real but small: most of what tells digits apart here is straight enough for PCA.

The accuracies are those of a linear classifier that sees two scores only, on rows that neither the components nor the
classifier have seen. The width of the kernel decides: the last lines show the rings with widths that do not work. The
text in front of them is a plan: what the fit of the digits decided, and why.

Writes rings_and_digits.png.
"""

import matplotlib.pyplot as plt
from eigenlift import PCA, KernelPCA
from eigenlift.kernels import RBF
from sklearn.datasets import load_digits, make_circles
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

# Distinguishable with all common forms of colour blindness (Okabe and Ito); shapes tell the same a second time.
COLOURS = ["#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#000000"]
MARKERS = ["o", "^", "s", "D", "v", "P"]


def accuracy(reduction, X, y):
    """Mean percentage of rows that a linear classifier on the scores gets right, over 5 folds."""
    steps = make_pipeline(reduction, StandardScaler(), LogisticRegression())
    return 100 * cross_val_score(steps, X, y, cv=5).mean()


def show(axes, scores, y, names):
    """Two scores of each row, with a colour and a shape for each class."""
    for label, name in enumerate(names):
        look = {"c": COLOURS[label], "marker": MARKERS[label], "s": 18, "alpha": 0.65, "linewidths": 0}
        axes.scatter(*scores[y == label].T, label=name, **look)
    axes.set(xlabel="first component", ylabel="second component", xticks=[], yticks=[])
    axes.margins(0.06)


def main():
    rings = make_circles(n_samples=600, factor=0.3, noise=0.06, random_state=0)
    digits = load_digits(n_class=6, return_X_y=True)
    cases = [
        ("rings", *rings, RBF(gamma=4), ["outer ring", "inner ring"]),
        ("digits", *digits, RBF(gamma=0.0007), [f"digit {label}" for label in range(6)]),
    ]
    figure, grid = plt.subplots(2, 2, figsize=(9.5, 7.8), layout="constrained")
    for row, (name, X, y, kernel, labels) in zip(grid, cases, strict=True):
        linear, curved = PCA(n_components=2), KernelPCA(n_components=2, kernel=kernel)
        for axes, words, reduction in zip(row, ["PCA", f"kernel PCA, {kernel}"], [linear, curved], strict=True):
            right = accuracy(reduction, X, y)
            show(axes, reduction.fit_transform(X), y, labels)
            axes.set_title(f"{name}: {words}\n{right:.1f} % right by straight lines")
            print(f"{name:7} {words:29} {right:5.1f} % right by straight lines")
        legend = row[1].legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, markerscale=1.8)
        for handle in legend.legend_handles:
            handle.set_alpha(1.0)
        print(f"{name:7} worst residual of kernel PCA: {curved.certificate_.worst_residual:.1e}")
    figure.savefig("rings_and_digits.png", dpi=100)

    print(f"\nThe plan of kernel PCA of the {name}:\n{curved.plan_}")
    for gamma in (1, 4, 20):
        right = accuracy(KernelPCA(n_components=2, kernel=RBF(gamma=gamma)), *rings)
        print(f"rings with gamma={gamma:<3} {right:5.1f} % right")


if __name__ == "__main__":
    main()
