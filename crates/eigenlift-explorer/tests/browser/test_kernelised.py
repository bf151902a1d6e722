"""Canonical correlation, discriminants and clusters in the explorer."""

import shlex

import numpy as np
import pytest
from explorer import colored, differing, numbers_in, numbers_of, table_of


def cells(text, name):
    """The cells of a column of a CSV."""
    heading, rows = table_of(text)
    return [row[heading.index(name)] for row in rows]


def chosen(explorer, name):
    """The text of the choice that a select shows."""
    return explorer.at(name).evaluate("select => select.selectedOptions[0].textContent")


def write_text(explorer, name, text):
    explorer.change(lambda: explorer.at(name).fill(text))


def command(explorer):
    """The words of the command that is shown."""
    return shlex.split(explorer.at("command").inner_text().split("&&")[-1])


def values_of(words, flag):
    return [words[i + 1] for i, word in enumerate(words) if word == flag]


def figures(explorer):
    return explorer.page.locator("#tabs-a [role=tab]").all_inner_texts()


def test_discriminants_tell_the_classes_apart(explore, shoot):
    explorer = explore("iris")
    explorer.select("method", "kda")
    scores = explorer.scores()
    assert numbers_of(scores, "kda").shape == (150, 2)
    assert np.mean([a == b for a, b in zip(cells(scores, "class"), cells(scores, "species"))]) > 0.95
    assert chosen(explorer, "color") == "species"
    explorer.tab("account")
    account = explorer.at("account").inner_text()
    assert "of rows held out in 5 folds are classified rightly" in account, account
    assert "Regularisation" in figures(explorer)
    explorer.tab("Regularisation")
    explorer.page.locator("#figure-regularization-a svg").first.wait_for(state="visible")
    shoot(explorer.page, "kda", full_page=True)
    # The κ that was chosen stands in the field, and can be replaced.
    kappa = numbers_in(account.split("κ = ")[1])[0]
    shown = float(explorer.page.input_value("#regularization-a-number"))
    assert abs(shown - kappa) < 1e-3 * kappa
    explorer.set_number("regularization", 0.5)
    assert values_of(command(explorer), "--regularization") == ["0.5"]
    assert "Regularisation" not in figures(explorer)
    explorer.set_number("k", 1)
    assert numbers_of(explorer.scores(), "kda").shape == (150, 1)
    explorer.at("color").select_option("labels")
    assert colored(explorer.picture()).sum() > 100


def test_discriminants_without_a_target_are_explained(explore):
    explorer = explore("worked-example")
    explorer.at("method").select_option("kda")
    explorer.at("fit-error").wait_for(state="visible")
    assert "--target" in explorer.at("fit-error").inner_text()


def test_clusters_are_shown_in_a_plane_and_in_their_colours(explore, shoot):
    explorer = explore("rings")
    explorer.select("method", "kkmeans")
    explorer.set_number("clusters", 2)
    explorer.set_number("gamma", 3)
    explorer.set_number("spectral", 4)
    scores = explorer.scores()
    assert numbers_of(scores, "kkmeans").shape[1] == 2
    clusters, classes = cells(scores, "cluster"), cells(scores, "class")
    assert len(set(zip(clusters, classes))) == 2, "a cluster for each ring"
    assert chosen(explorer, "color").startswith("cluster")
    assert explorer.at("x").locator("option").all_inner_texts() == ["kpca1", "kpca2", "kkmeans1", "kkmeans2"]
    assert "2 clusters" in explorer.at("status").inner_text()
    explorer.tab("Regions")
    explorer.page.locator("#figure-regions-a svg").first.wait_for(state="visible")
    shoot(explorer.page, "kkmeans", full_page=True)
    before = explorer.picture()
    explorer.at("x").select_option("2")
    assert differing(before, explorer.picture()) > 50
    # Another method has no clusters, and its colours are those of the target again.
    explorer.select("method", "pca")
    assert chosen(explorer, "color") == "class"


def test_views_are_columns_of_the_table(explore, shoot):
    explorer = explore("iris.csv")
    explorer.select("method", "kcca")
    assert [explorer.at(name).input_value() for name in ("view1", "view2")] == ["1-2", "3-4"]
    scores = numbers_of(explorer.scores(), "view")
    assert scores.shape == (150, 4)
    for j in range(2):
        assert np.corrcoef(scores[:, j], scores[:, 2 + j])[0, 1] > 0.9
    names = figures(explorer)
    assert {"Correlations", "Canonical", "Regularisation"} <= set(names), names
    explorer.tab("Canonical")
    explorer.page.locator("#figure-canonical-a svg").first.wait_for(state="visible")
    shoot(explorer.page, "kcca", full_page=True)
    write_text(explorer, "view2", "petal_width")
    assert values_of(command(explorer), "--view") == ["1-2", "petal_width"]
    explorer.set_number("permutations", 20)
    explorer.tab("account")
    assert "of 20 permutations of 150 rows" in explorer.at("account").inner_text()
    # A reload brings the columns back; another table has columns of its own.
    explorer.page.wait_for_function("() => location.hash.includes('petal_width')")
    explorer.page.reload()
    explorer.wait_for_result("")
    assert explorer.at("view2").input_value() == "petal_width"
    explorer.choose("moons.csv")
    assert [explorer.at(name).input_value() for name in ("view1", "view2")] != ["1-2", "petal_width"]


def test_columns_that_are_not_there_are_explained(explore):
    explorer = explore("iris.csv")
    explorer.select("method", "kcca")
    explorer.at("view1").fill("nothing")
    explorer.at("fit-error").wait_for(state="visible")
    assert "--view" in explorer.at("fit-error").inner_text() and "nothing" in explorer.at("fit-error").inner_text()
    write_text(explorer, "view1", "sepal_length")
    assert explorer.at("fit-error").is_hidden()


@pytest.mark.parametrize("method", ["kcca", "kda", "kkmeans"])
def test_the_command_gives_what_is_shown(explore, eigenlift, tmp_path, method):
    explorer = explore("iris")
    explorer.select("method", method)
    lines = [shlex.split(line)[1:] for line in explorer.at("command").inner_text().split("&&")]
    for words in lines:
        eigenlift(tmp_path, *words)
    assert (tmp_path / "scores.csv").read_text() == explorer.scores()
    report = explorer.download("report.html").read_text()
    assert method in report
