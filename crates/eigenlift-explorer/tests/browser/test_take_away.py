"""What a person takes away from the explorer works without it: scores, model, command."""

import shlex

import numpy as np
import pytest
from explorer import numbers_of

# Both sides are the same program on the same rows; CSV keeps every digit.
SAME = 1e-12


def shown_commands(explorer, pane="a"):
    """The words of every command that is shown, without the name of the program."""
    text = explorer.at("command", pane).inner_text().replace("\\\n", " ")
    commands = [shlex.split(line) for part in text.split("&&") for line in part.splitlines() if line.strip()]
    assert all(words[0] == "eigenlift" for words in commands), text
    return [words[1:] for words in commands]


def run_shown(explorer, eigenlift, folder):
    """Runs what is shown and gives the scores it wrote."""
    for words in shown_commands(explorer):
        printed = eigenlift(folder, *words)
    return printed or (folder / "scores.csv").read_text()


def test_the_command_gives_the_scores_that_are_shown(explore, eigenlift, tables, tmp_path):
    explorer = explore("iris.csv")
    explorer.set_number("gamma", 0.7)
    explorer.set_number("k", 3)
    (tmp_path / "iris.csv").write_bytes((tables / "iris.csv").read_bytes())
    [words] = shown_commands(explorer)
    assert "rbf(gamma=0.7)" in words
    written = run_shown(explorer, eigenlift, tmp_path)
    downloaded = explorer.download("scores.csv").read_text()
    ours, theirs = numbers_of(downloaded, "kpca"), numbers_of(written, "kpca")
    assert ours.shape == (150, 3)
    np.testing.assert_allclose(ours, theirs, rtol=SAME, atol=SAME)


@pytest.mark.parametrize("method", ["kpca", "whiten", "isomap", "laplacian"])
def test_the_command_of_built_in_data_runs_too(explore, eigenlift, tmp_path, method):
    explorer = explore("moons")
    if method != "kpca":
        explorer.select("method", method)
    written = run_shown(explorer, eigenlift, tmp_path)
    np.testing.assert_allclose(numbers_of(explorer.scores(), method), numbers_of(written, method), rtol=SAME, atol=SAME)


def test_the_model_places_the_same_rows_at_the_same_scores(explore, eigenlift, tables, tmp_path):
    explorer = explore("iris.csv")
    explorer.set_number("gamma", 0.7)
    model = explorer.download("model.safetensors")
    kept = tmp_path / "model.safetensors"
    kept.write_bytes(model.read_bytes())
    again = eigenlift(tmp_path, "transform", kept, tables / "iris.csv", "--quiet")
    ours, theirs = numbers_of(explorer.scores(), "kpca"), numbers_of(again, "kpca")
    # transform(train) = scores up to rounding, amplified by the division by the eigenvalue.
    np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-8)


def test_downloads_have_names_that_say_what_they_are(explore):
    explorer = explore("iris.csv")
    for name in ("scores.csv", "model.safetensors", "report.html"):
        with explorer.page.expect_download() as started:
            explorer.page.locator(f'#downloads-a a[href*="{name}"]').click()
        assert started.value.suggested_filename.endswith(name.split(".")[1])
