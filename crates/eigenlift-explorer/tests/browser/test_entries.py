"""What a person writes into the fields: words, numbers that cannot be, flags, columns, and tables that are gone."""

import re

import numpy as np
import pytest
from explorer import numbers_of
from test_take_away import run_shown, shown_commands

# More tables than the server keeps open.
MORE_THAN_KEPT = 12


def write_more(explorer, flags):
    """Writes flags under the other options."""
    if not explorer.at("more").is_visible():
        explorer.page.locator("#pane-a details.more summary").click()
    explorer.page.fill("#more-a", flags)
    explorer.page.press("#more-a", "Enter")


def enter(explorer, name, text):
    """Writes into a number field, whatever may come of it."""
    field = explorer.page.locator(f"#{name}-a-number")
    field.fill(text)
    field.press("Enter")
    return field


def test_a_column_with_a_comma_in_its_name_is_chosen_from_the_list(explore, start, eigenlift, tmp_path):
    random = np.random.default_rng(5)
    rows = [
        ",".join([f"{x:.4f}" for x in row[:1]] + ["t"] + [f"{x:.4f}" for x in row[1:]])
        for row in random.normal(size=(30, 3))
    ]
    (tmp_path / "odd.csv").write_text("\n".join(['"a,b",note,3,c', *rows]) + "\n")
    explorer = explore("odd.csv", server=start(tmp_path))
    explorer.page.locator("#column-list summary").click()
    boxes = explorer.page.locator("#column-boxes input")
    assert boxes.evaluate_all("all => all.map(box => box.value)") == ["a,b", "3", "c"]
    explorer.change(lambda: boxes.nth(2).uncheck())
    assert explorer.page.locator("#error").is_hidden()
    assert "2 data columns" in explorer.page.inner_text("#data-words").replace("\u00a0", " ")
    written = run_shown(explorer, eigenlift, tmp_path)
    np.testing.assert_allclose(
        numbers_of(explorer.scores(), "kpca"), numbers_of(written, "kpca"), rtol=1e-12, atol=1e-12
    )
    # The column called 3 is meant, not the third.
    first = next(words for words in shown_commands(explorer) if words[0] == "fit")
    assert first[first.index("--columns") + 1] == '"a,b",3'


@pytest.mark.parametrize("method", ["kpca", "pca"])
def test_the_number_of_components_can_be_left_to_the_library(explore, method):
    explorer = explore("iris.csv")
    if method != "kpca":
        explorer.select("method", method)
    explorer.change(lambda: explorer.page.click("#k-a-word"))
    assert "-k auto" in explorer.at("command").inner_text().replace("\n", " ")
    assert explorer.page.get_attribute("#k-a-word", "aria-pressed") == "true"
    # The field shows the number that was found.
    found = numbers_of(explorer.scores(), method).shape[1]
    explorer.page.wait_for_function("k => document.getElementById('k-a-number').value === k", arg=str(found))
    # A method that cannot choose takes a number again.
    explorer.select("method", "isomap")
    assert explorer.page.locator("#k-a-word").count() == 0
    assert numbers_of(explorer.scores(), "isomap").shape[1] == 2


def test_bandwidth_and_kernel_can_be_left_to_the_library(explore):
    explorer = explore("iris.csv")
    explorer.change(lambda: enter(explorer, "gamma", "auto"))
    assert "rbf(gamma=auto)" in explorer.at("command").inner_text()
    chosen = explorer.page.input_value("#gamma-a-number")
    explorer.change(lambda: explorer.page.click("#gamma-a-word"))
    assert "rbf(gamma=median)" in explorer.at("command").inner_text()
    assert explorer.page.input_value("#gamma-a-number") != chosen
    explorer.select("kernel", "auto")
    assert re.search(r"--kernel\s+auto", explorer.at("command").inner_text())
    explorer.select("method", "diffusion")
    assert explorer.page.input_value("#kernel-a") == "rbf"


@pytest.mark.parametrize(
    ("flags", "left_out"),
    [("-k 5", "-k 2"), ("--components 5", "-k 2"), ("--components=5", "-k 2"), ("-k5 --kernel linear", "rbf")],
)
def test_a_flag_that_was_written_takes_the_place_of_a_control(explore, flags, left_out):
    explorer = explore("iris.csv")
    explorer.change(lambda: write_more(explorer, flags))
    command = " ".join(explorer.at("command").inner_text().split())
    assert flags in command and left_out not in command, command
    assert numbers_of(explorer.scores(), "kpca").shape[1] == (4 if "linear" in flags else 5)
    assert "-k" in explorer.page.inner_text("#more-note-a")
    explorer.change(lambda: write_more(explorer, ""))
    assert numbers_of(explorer.scores(), "kpca").shape[1] == 2
    assert explorer.page.inner_text("#more-note-a") == ""


def test_neighbours_that_were_written_take_the_place_of_the_slider(explore):
    explorer = explore("iris.csv")
    explorer.select("method", "isomap")
    explorer.set_number("neighbors", 12)
    explorer.change(lambda: write_more(explorer, "--neighbors 20"))
    command = " ".join(explorer.at("command").inner_text().split())
    assert command.count("--neighbors") == 1 and "--neighbors 20" in command, command


@pytest.mark.parametrize("name", ["gamma", "k"])
@pytest.mark.parametrize(
    ("text", "says"), [("abc", "not a number"), ("−1", "−1"), ("0", "0"), ("1e400", "too large"), ("", "empty")]
)
def test_a_number_that_cannot_be_is_explained_beside_its_field(explore, name, text, says):
    explorer = explore("iris.csv")
    before = explorer.job()
    field = enter(explorer, name, text)
    fault = explorer.page.locator(f"#{name}-a-fault")
    fault.wait_for(state="visible")
    required = "above 0 is required" if name == "gamma" else "whole number of at least 1 is required"
    assert says in fault.inner_text() and required in fault.inner_text()
    assert field.get_attribute("aria-invalid") == "true"
    assert field.get_attribute("aria-describedby") == fault.get_attribute("id")
    # It stays to be mended when the field is left, and nothing was fitted.
    field.press("Tab")
    assert fault.is_visible() and explorer.page.input_value(f"#{name}-a-number") == text
    assert explorer.job() == before
    explorer.set_number(name, 3)
    assert fault.is_hidden()
    assert field.get_attribute("aria-invalid") == "false"


def test_a_size_of_images_that_cannot_be_is_explained_beside_its_fields(explore):
    explorer = explore("digits")
    report = explorer.page.locator('#downloads-a a[href*="report.html"]')
    assert report.get_attribute("href").endswith("report.html?image=8x8")
    fault = explorer.page.locator("#image-fault")
    for height, says in (("0", "at least 1"), ("7", "7 × 8 are 56 pixels"), ("", "empty")):
        explorer.page.fill("#image-height", height)
        explorer.page.press("#image-height", "Tab")
        fault.wait_for(state="visible")
        assert says in fault.inner_text()
        assert "image=" not in report.get_attribute("href")
    explorer.page.fill("#image-height", "4")
    explorer.page.fill("#image-width", "16")
    explorer.page.press("#image-width", "Tab")
    fault.wait_for(state="hidden")
    assert report.get_attribute("href").endswith("report.html?image=4x16")


def test_an_old_error_goes_when_the_next_fit_starts(explore):
    explorer = explore("roll.csv")
    write_more(explorer, "--rank never")
    explorer.at("fit-error").wait_for(state="visible")
    # A fit that takes seconds: the error is gone while it runs.
    write_more(explorer, "")
    explorer.at("method").select_option("isomap")
    enter(explorer, "neighbors", "50")
    explorer.at("cancel").wait_for(state="visible")
    assert explorer.at("fit-error").is_hidden()
    explorer.at("cancel").click()
    explorer.page.wait_for_function("() => /cancelled/i.test(document.getElementById('status-a').textContent)")


@pytest.mark.parametrize("table", ["iris.csv", "moons"])
def test_a_table_that_was_put_away_is_opened_again(explore, start, tables, table):
    server = start(tables)
    explorer = explore(table, server=server)
    for _ in range(MORE_THAN_KEPT):
        server.data(builtin="worked-example")
    explorer.watch.excuse(404, "/api/row")
    explorer.page.mouse.click(*explorer.a_point())
    explorer.page.wait_for_function("() => /[Rr]ow\\s+\\d/.test(document.getElementById('row-a').textContent)")
    for _ in range(MORE_THAN_KEPT):
        server.data(builtin="worked-example")
    explorer.set_number("k", 3)
    assert numbers_of(explorer.scores(), "kpca").shape[1] == 3
    assert explorer.at("fit-error").is_hidden()


def test_an_upload_that_changed_since_is_asked_for_again(explore, tmp_path):
    explorer = explore("iris.csv")
    table = tmp_path / "mine.csv"
    table.write_text("u,v,w\n" + "".join(f"{i},{i * i % 7},{i % 3}\n" for i in range(20)))
    explorer.change(lambda: explorer.page.set_input_files("#upload", table))
    table.write_text("u,v,w\n" + "".join(f"{i},{i * i % 5},{i % 3}\n" for i in range(25)))
    # Chromium itself reports that it could not send the file.
    explorer.watch.excused.append(("ERR_", "/api/upload"))
    explorer.page.select_option("#target", "w")
    explorer.page.locator("#error").wait_for(state="visible")
    text = explorer.page.inner_text("#error")
    assert "mine.csv" in text and "Choose the file again" in text, text
    assert explorer.page.locator("#connection").is_hidden()
