"""A rolled-up sheet laid flat by Isomap, torn by short circuits, and mended.

A thousand points lie on a sheet that is rolled up in space. The colour is the place along the sheet. PCA can only look at
the roll from one side, so layers lie on top of each other. Isomap measures along the sheet, from neighbour to neighbour,
and lays it flat.

All depends on who is a neighbour. With too many neighbours some edges jump from layer to layer: paths take the short cut,
and the picture folds. The doctor tries many numbers of neighbours, says which one to use and why, and names the edges
that look like short circuits, so that they can be cut.

The numbers are the residual variance (1 minus the squared correlation between the lengths of paths and distances in the
picture, 0 is best) and the rank correlation between the first coordinate and the place along the sheet (1 is best).

Writes swiss_roll.png.
"""

import matplotlib.pyplot as plt
from eigenlift import PCA, Isomap, isomap_doctor, trustworthiness
from scipy.stats import spearmanr
from sklearn.datasets import make_swiss_roll


def main():
    X, along = make_swiss_roll(1000, noise=0.4, random_state=0)
    report = isomap_doctor(X)
    print(report)
    # The first number of neighbours with which distances along the graph fall by a fifth.
    torn = next(row["n_neighbors"] for row in report.sweep_ if (row["drop"] or 0) > 0.2)
    cases = [
        ("PCA", PCA(n_components=2)),
        (f"Isomap, {report.recommended_} neighbours", Isomap(n_neighbors=report.recommended_)),
        (f"Isomap, {torn} neighbours", Isomap(n_neighbors=torn)),
        (f"Isomap, {torn} neighbours, suspects cut", Isomap(n_neighbors=torn, cut="suspects")),
    ]
    figure, grid = plt.subplots(2, 2, figsize=(9.5, 7.2), layout="constrained")
    print()
    for axes, (name, method) in zip(grid.flat, cases):
        scores = method.fit_transform(X)
        rank = abs(spearmanr(scores[:, 0], along).statistic)
        near = trustworthiness(X, scores, n_neighbors=10)
        lost = f"{method.residual_variance_:.4f}" if isinstance(method, Isomap) else "-"
        print(f"{name:37} rank {rank:.3f}  residual variance {lost:6}  trustworthiness {near:.3f}")
        axes.scatter(*scores.T, c=along, s=12, linewidths=0, cmap="viridis")
        axes.set_title(f"{name}\nrank correlation {rank:.3f}, trustworthiness {near:.3f}")
        axes.set(xlabel="first coordinate", ylabel="second coordinate", xticks=[], yticks=[])
        axes.margins(0.06)
    figure.savefig("swiss_roll.png", dpi=100)
    few = Isomap(n_neighbors=report.recommended_, landmarks=100).fit(X)
    print(f"\nThe plan with 100 landmarks in place of 1000 rows:\n{few.plan_}")
    print(f"Its residual variance, on rows that are no landmarks, is {few.residual_variance_:.4f}.")


if __name__ == "__main__":
    main()
