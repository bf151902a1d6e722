"""Pictures and reports of canonical correlations, discriminants and clusters."""

import re
import warnings
from pathlib import Path

import eigenlift
import numpy as np
import pytest
from eigenlift import KernelCCA, KernelDiscriminant, KernelKMeans, KernelPCA, plot, report
from matplotlib import pyplot as plt
from matplotlib.collections import PathCollection
from matplotlib.container import ErrorbarContainer
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris, load_linnerud
from sklearn.exceptions import NotFittedError

IRIS, SPECIES = load_iris(return_X_y=True)
ROWS, TARGETS = load_linnerud(return_X_y=True)


@pytest.fixture(autouse=True)
def no_figures_left():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", eigenlift.EigenliftWarning)
        yield
    plt.close("all")


@pytest.fixture(scope="module")
def fitted():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {
            "kcca": KernelCCA(2, n_permutations=19).fit(ROWS, TARGETS),
            "three": KernelCCA(3, regularization=0.1).fit(ROWS, TARGETS, ROWS[:, :1] ** 2),
            "kda": KernelDiscriminant(kernel="rbf", gamma=0.2).fit(IRIS, SPECIES),
            "kkmeans": KernelKMeans(3, kernel="rbf", gamma=0.2).fit(IRIS),
        }


def drawn(figure):
    figure.set_dpi(72)
    figure.canvas.draw()
    return figure


def points_of(ax):
    return np.concatenate([np.asarray(c.get_offsets()) for c in ax.collections if isinstance(c, PathCollection)])


def test_scores_against_each_other(fitted):
    model = fitted["kcca"]
    figure = drawn(plot.canonical(model, title="$\\frac"))
    ax = figure.axes[0]
    assert_allclose(points_of(ax), np.c_[model.x_scores_[:, 0], model.y_scores_[:, 0]])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("component 1 of X", "component 1 of y")
    assert ax.get_title() == f"$\\frac: correlation {model.training_correlations_[0]:.3g}"
    rows = [ROWS[:9], TARGETS[:9]]
    figure = drawn(plot.canonical(model, *rows, components=(0, 1), color=SPECIES[40:49], title="both"))
    scores = model.transform(*rows)
    for place in range(2):
        assert_allclose(points_of(figure.axes[place]), np.c_[scores[0][:, place], scores[1][:, place]])
    figure = drawn(plot.canonical(fitted["three"], tables=(0, 2), components=0))
    assert figure.axes[0].get_ylabel() == "component 1 of table 3"
    given = plt.figure().add_subplot()
    assert plot.canonical(model, color=ROWS[:, 0], ax=given) is given.figure


def test_correlations(fitted):
    model = fitted["kcca"]
    ax = drawn(plot.correlations(model, title="here")).axes[0]
    assert_allclose([bar.get_height() for bar in ax.patches], model.training_correlations_)
    (bars,) = (container for container in ax.containers if isinstance(container, ErrorbarContainer))
    assert_allclose(bars.lines[0].get_ydata(), model.held_out_correlations_)
    words = [text.get_text() for text in ax.get_legend().get_texts()]
    assert words == [
        "rows of the fit",
        "held-out rows",
        "held back by κ",
        f"95 % of permuted rows: {model.null_95_:.3g}",
    ]
    alone = drawn(plot.correlations(fitted["three"])).axes[0]
    assert len(alone.get_legend().get_texts()) == 2


@pytest.mark.parametrize(("name", "word"), [("kcca", "sum of correlations"), ("kda", "accuracy")])
def test_regularization(fitted, name, word):
    curve = fitted[name].regularization_curve_
    ax = drawn(plot.regularization(fitted[name])).axes[0]
    assert_allclose(ax.lines[0].get_xydata(), np.c_[curve.shares, curve.scores])
    assert ax.get_xscale() == "log" and ax.get_ylabel().startswith(word)
    assert ax.get_legend().get_texts()[0].get_text() == f"chosen: {curve.shares[curve.chosen]:.3g}"


def test_scatter(fitted):
    assert_allclose(points_of(drawn(plot.scatter(fitted["kcca"])).axes[0]), fitted["kcca"].x_scores_)
    ax = drawn(plot.scatter(fitted["kda"], SPECIES, X=IRIS)).axes[0]
    assert_allclose(points_of(ax), fitted["kda"].transform(IRIS))
    assert ax.get_xlabel() == "discriminant 1"
    ax = drawn(plot.scatter(fitted["kkmeans"], X=IRIS)).axes[0]
    order = np.argsort(fitted["kkmeans"].labels_, kind="stable")
    assert_allclose(points_of(ax), fitted["kkmeans"].plane(IRIS)[order])
    assert ax.get_xlabel() == "kernel component 1"
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["0", "1", "2"]
    with pytest.raises(ValueError, match="does not hold the scores of its rows"):
        plot.scatter(fitted["kda"])


def test_eigenvalues_and_contours(fitted):
    ax = drawn(plot.scree(fitted["kda"])).axes[0]
    assert ax.get_ylabel() == "eigenvalue λ"
    assert_allclose([bar.get_height() for bar in ax.patches], fitted["kda"].eigenvalues_)
    with pytest.raises(ValueError, match="has no eigenvalues"):
        plot.scree(fitted["kcca"])
    plane = IRIS[:, :2]
    model = KernelCCA(2, kernel="rbf", regularization=0.1).fit(plane, IRIS[:, 2:])
    assert len(drawn(plot.contours(model, plane, steps=10)).axes) == 2
    clusters = KernelKMeans(2, kernel="rbf", gamma=0.5).fit(plane)
    figure = drawn(plot.contours(clusters, plane, clusters.labels_, steps=10))
    assert [ax.get_title() for ax in figure.axes] == ["distance to cluster 0", "distance to cluster 1"]


def test_what_is_refused(fitted, tmp_path):
    model = fitted["kcca"]
    for wrong, message in (
        ({"components": 2}, "there are 2"),
        ({"components": [0, 1] * 3}, "6 components"),
        ({"tables": (0, 2)}, "two of the 2 tables"),
        ({"X": ROWS}, "X without y"),
        ({"color": SPECIES[:5]}, "one label for each of the 20 rows"),
    ):
        with pytest.raises(ValueError, match=message):
            plot.canonical(model, **wrong)
    with pytest.raises(ValueError, match="has no canonical correlations. Give a fitted KernelCCA"):
        plot.correlations(KernelPCA(2).fit(IRIS))
    with pytest.raises(ValueError, match="has no choice of a regularisation"):
        plot.regularization(fitted["three"])
    with pytest.raises(TypeError, match="a fitted estimator is required"):
        plot.correlations(3)
    with pytest.raises(NotFittedError):
        plot.canonical(KernelCCA())
    model.save(tmp_path / "model.safetensors")
    with pytest.raises(ValueError, match="it was loaded"):
        plot.canonical(eigenlift.load(tmp_path / "model.safetensors"))


@pytest.mark.parametrize("name", ["kcca", "three", "kda", "kkmeans"])
def test_reports(fitted, tmp_path, name):
    model = fitted[name]
    X, y = (ROWS, None) if hasattr(model, "n_views_") else (IRIS, SPECIES)
    page = Path(report(model, X, y, path=tmp_path / "told.html")).read_text(encoding="utf-8")
    text = re.sub(r"\s+", " ", page)
    told = {
        "kcca": [".fit(X, Y)", "of held-out rows", "95 % of permutations"],
        "three": [".fit(X, Y, view3)", "0.1, 0.1, 0.1"],
        "kda": [".fit(X, y)", "accuracy on held-out rows", "discriminant 1"],
        "kkmeans": [".fit(X)", "rows in each cluster", "kernel component 1"],
    }[name]
    for words in told:
        assert words in text
    assert str(model.plan_).split("\n")[0] in page
