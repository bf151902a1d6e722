"""What the page shows and hands out is of the table and the settings that it names, whatever else goes on."""

import re

from explorer import colored, numbers_in, numbers_of

# More pages than the server keeps results of.
MORE_THAN_KEPT = 12
# Keeps the words that were drawn last on each canvas.
RECORD_WORDS = """() => {
  const { clearRect, fillText } = CanvasRenderingContext2D.prototype;
  CanvasRenderingContext2D.prototype.clearRect = function (...given) {
    this.canvas.words = [];
    return clearRect.apply(this, given);
  };
  CanvasRenderingContext2D.prototype.fillText = function (text, ...given) {
    (this.canvas.words ||= []).push(text);
    return fillText.call(this, text, ...given);
  };
}"""


def words_in_picture(explorer, pane="a"):
    """What is written in the embedding: labels and numbers of axes."""
    explorer.rest()
    canvases = f"#embedding-{pane} canvas"
    return explorer.page.locator(canvases).evaluate_all("all => all.flatMap(canvas => canvas.words || [])")


def names_in_picture(explorer, pane="a"):
    """The labels of the axes, without their signs."""
    return [word.lstrip("−") for word in words_in_picture(explorer, pane) if re.search("[a-df-z]", word)]


def recorded(explorer):
    explorer.page.add_init_script(f"({RECORD_WORDS})()")
    explorer.page.reload()
    explorer.wait_for_result("")
    return explorer


def begin_an_endless_fit_of_another_table(explorer):
    """What is shown is the table before; the one that was chosen is fitted until that is cancelled."""
    explorer.begin_an_endless_fit()
    explorer.page.select_option("#data-select", "file:moons.csv")
    explorer.at("stale").filter(has_text="moons.csv").wait_for(state="visible")
    explorer.at("cancel").wait_for(state="visible")


def nothing_can_be_taken(explorer, pane="a"):
    links = explorer.page.locator(f"#downloads-{pane} a")
    unlinked = links.evaluate_all("all => all.every(a => !a.href && a.getAttribute('aria-disabled') === 'true')")
    return unlinked and explorer.page.locator(f"#pane-{pane} .take").evaluate("card => card.inert")


def forget(server):
    """Other pages fit so much that results of idle ones are put away."""
    data = server.data(builtin="worked-example")
    for i in range(MORE_THAN_KEPT):
        assert server.fit(data, "pca", workspace=f"other page {i}")["state"] == "done"


def test_a_fit_in_one_page_leaves_another_alone(explore):
    one, other = explore("moons.csv"), explore("iris.csv")
    job = one.begin_an_endless_fit()
    kept = one.server.ask("GET", job)
    assert kept.status == 200
    # More fits than are kept of one page.
    for k in (3, 4, 5, 6):
        other.set_number("k", k)
    assert one.at("cancel").is_visible() and "ancelled" not in one.at("status").inner_text()
    # What is shown is kept all the while, though the page does not hand it out during a fit.
    assert one.server.ask("GET", job).body == kept.body
    other.begin_an_endless_fit()
    one.cancel()
    assert other.at("cancel").is_visible() and "ancelled" not in other.at("status").inner_text()
    assert one.at("again").is_visible()
    one.at("back").click()
    assert one.scores() == kept.body.decode()
    other.cancel()


def test_a_page_that_is_closed_ends_its_fit(explore, served):
    explorer, other = explore("moons.csv"), explore("iris.csv")
    with explorer.page.expect_request("**/api/job/**") as asked:
        explorer.begin_an_endless_fit()
        explorer.page.wait_for_timeout(700)
    # The last that was asked about is the fit that runs.
    jobs = [re.search(r"api/job/(\d+)", url) for url in explorer.watch.requests]
    job = [found[1] for found in jobs if found][-1]
    assert asked.value and served.ask("GET", f"api/job/{job}").json()["state"] == "running"
    shown = other.scores()
    explorer.page.goto("about:blank")
    for _ in range(100):
        if served.ask("GET", f"api/job/{job}?wait=100").status == 404:
            break
    else:
        raise AssertionError("the fit of a closed page is still kept")
    assert other.scores() == shown


def test_a_result_that_was_forgotten_is_fitted_again(explore, start, tables):
    server = start(tables)
    explorer = explore("iris.csv", server=server)
    before, scores = explorer.job(), explorer.scores()
    explorer.watch.excuse(404, "/api/")
    forget(server)
    assert server.ask("GET", before).status == 404
    explorer.page.mouse.click(*explorer.a_point())
    explorer.page.wait_for_function(
        "() => /[Pp]re-image of row/.test(document.getElementById('preimage-a').textContent)"
    )
    explorer.wait_for_result(before)
    assert explorer.scores() == scores
    forget(server)
    assert explorer.download("scores.csv").read_text() == scores
    forget(server)
    explorer.tab("gram")
    explorer.page.locator("#figure-gram-a svg").first.wait_for(state="visible")


def test_a_server_that_was_started_again_is_named(explore, start, tables, shoot):
    server = start(tables)
    explorer = explore("iris.csv", server=server)
    shown, connection = explorer.picture(), explorer.page.locator("#connection")
    explorer.watch.excuse(404, "/api/")
    explorer.watch.excuse_silence("/api/")
    server.end()
    explorer.at("method").select_option("pca")
    connection.wait_for(state="visible")
    assert "does not answer" in connection.inner_text()
    connection.locator("button").click()
    explorer.page.wait_for_timeout(300)
    assert "does not answer" in connection.inner_text()
    other = start(tables, port=server.port)
    assert other.url != server.url
    connection.locator("button").click()
    connection.filter(has_text="new address").wait_for(state="visible")
    assert connection.locator("button").count() == 0
    # The page is still there, and hands nothing out.
    assert colored(explorer.picture()).sum() > 0.5 * colored(shown).sum()
    assert nothing_can_be_taken(explorer)
    shoot(explorer.page, "started-again", full_page=True)
    # A person who is sent to the old address reads why nothing is there.
    explorer.watch.excuse(404, server.token)
    explorer.watch.excuse(404, "/favicon.ico")
    explorer.page.goto(server.url)
    assert "The explorer has another address" in explorer.page.inner_text("h1")
    assert "eigenlift explore" in explorer.page.inner_text("body") and other.token not in explorer.page.content()
    asked = other.ask("GET", f"/{server.token}/api/catalogue")
    assert asked.status == 404 and "eigenlift explore printed" in asked.json()["error"]


def test_while_another_table_is_fitted_what_is_shown_is_marked_and_kept_back(explore, shoot):
    explorer = explore("iris.csv")
    begin_an_endless_fit_of_another_table(explorer)
    words = explorer.at("stale").inner_text()
    assert "iris.csv" in words and "moons.csv" in words, words
    assert nothing_can_be_taken(explorer)
    for part in (".embedding", ".results", ".take", ".inspector"):
        shade = explorer.page.locator(f"#pane-a {part}").evaluate("part => Number(getComputedStyle(part).opacity)")
        assert shade < 0.95, part
    explorer.page.wait_for_timeout(400)
    shoot(explorer.page, "stale-table", full_page=True)
    explorer.write_more("")
    explorer.select("method", "pca")
    assert len(numbers_of(explorer.scores(), "pca")) == 400
    assert explorer.at("stale").is_hidden() and not nothing_can_be_taken(explorer)
    assert "moons.csv" in explorer.at("command").inner_text()


def test_while_other_settings_are_fitted_what_is_shown_is_marked_and_kept_back(explore, shoot):
    explorer = explore("iris.csv")
    job = explorer.begin_an_endless_fit()
    command = explorer.at("command").inner_text()
    explorer.at("stale").wait_for(state="visible")
    assert "previous settings" in explorer.at("stale").inner_text()
    assert explorer.at("back").count() == 0
    assert nothing_can_be_taken(explorer)
    shoot(explorer.page, "stale-settings", full_page=True)
    explorer.cancel()
    # At rest it is still of other settings than those that are shown, and can be had when those are taken back.
    assert "previous settings" in explorer.at("stale").inner_text()
    assert nothing_can_be_taken(explorer) and explorer.at("again").is_visible()
    explorer.page.wait_for_timeout(400)
    shoot(explorer.page, "cancelled-settings", full_page=True)
    explorer.at("back").click()
    assert explorer.at("more").input_value() == ""
    assert explorer.at("stale").is_hidden() and explorer.at("again").is_hidden()
    assert explorer.job() == job and explorer.at("command").inner_text() == command
    assert not nothing_can_be_taken(explorer)
    assert numbers_of(explorer.download("scores.csv").read_text(), "kkmeans").shape[0] == 150


def test_what_a_failed_fit_leaves_is_of_the_previous_settings(explore, shoot):
    explorer = explore("iris.csv")
    explorer.write_more("--kernel sigmoid")
    explorer.at("warnings").wait_for(state="visible")
    explorer.rest()
    warnings, before = explorer.at("warnings").inner_text(), explorer.scores()
    explorer.write_more("--kernel rbf(gamma=-1)")
    explorer.at("fit-error").wait_for(state="visible")
    assert "previous settings" in explorer.at("stale").inner_text()
    assert nothing_can_be_taken(explorer) and explorer.at("warnings").is_hidden()
    explorer.page.wait_for_timeout(400)
    shoot(explorer.page, "failed-settings", full_page=True)
    explorer.at("back").click()
    assert explorer.at("fit-error").is_hidden() and explorer.at("stale").is_hidden()
    assert explorer.at("more").input_value() == "--kernel sigmoid"
    assert explorer.at("warnings").inner_text() == warnings
    assert explorer.scores() == before and not nothing_can_be_taken(explorer)
    # Settings that are taken back by hand are fitted, and end the same.
    explorer.write_more("--kernel rbf(gamma=-1)")
    explorer.at("fit-error").wait_for(state="visible")
    explorer.change(lambda: explorer.write_more("--kernel sigmoid"), before="")
    assert explorer.scores() == before and explorer.at("stale").is_hidden()


def test_while_a_table_is_read_the_one_before_is_marked_and_kept_back(explore):
    explorer = explore("iris.csv")
    held = []
    explorer.page.route("**/api/data", lambda route: held.append(route))
    explorer.page.select_option("#data-select", "file:moons.csv")
    explorer.at("stale").wait_for(state="visible")
    assert "iris.csv" in explorer.at("stale").inner_text()
    assert nothing_can_be_taken(explorer)
    explorer.change(lambda: held.pop().continue_())
    assert explorer.at("stale").is_hidden()
    explorer.page.select_option("#data-select", "file:broken.csv")
    explorer.watch.excuse(4, "/api/data")
    explorer.at("stale").wait_for(state="visible")
    held.pop().continue_()
    # The table could not be opened, and the page says which is still shown.
    explorer.page.locator("#error").wait_for(state="visible")
    assert "still showing moons.csv" in explorer.page.inner_text("#data-words")
    assert explorer.at("stale").is_hidden() and not nothing_can_be_taken(explorer)


def test_cancelling_the_fit_of_another_table_leaves_empty_axes_and_a_button(explore, shoot):
    explorer = recorded(explore("iris.csv"))
    assert any("kpca1" in name for name in names_in_picture(explorer))
    begin_an_endless_fit_of_another_table(explorer)
    explorer.cancel()
    assert colored(explorer.picture()).sum() < 200
    assert names_in_picture(explorer) == ["no points"]
    for axis in ("x", "y"):
        assert explorer.at(axis).locator("option").all_inner_texts() == ["none"]
    assert explorer.at("stale").is_hidden() and explorer.at("warnings").is_hidden()
    assert explorer.page.locator("#pane-a .take").is_hidden() and explorer.page.locator("#pane-a .results").is_hidden()
    shoot(explorer.page, "cancelled", full_page=True)
    again = explorer.at("again")
    assert again.is_visible() and again.evaluate("button => button === document.activeElement")
    again.click()
    explorer.at("cancel").wait_for(state="visible")
    assert again.is_hidden()
    explorer.write_more("")
    explorer.select("method", "pca")
    assert len(numbers_of(explorer.scores(), "pca")) == 400
    assert any("pca1" in name for name in names_in_picture(explorer))
    assert again.is_hidden()


def test_a_failed_fit_of_another_table_leaves_nothing_of_the_one_before(explore, tmp_path, shoot):
    explorer = recorded(explore("iris.csv"))
    # A warning of the fit before, which must not be taken for one of the next.
    explorer.page.locator("#pane-a details.more summary").click()
    explorer.change(
        lambda: (explorer.page.fill("#more-a", "--kernel sigmoid"), explorer.page.press("#more-a", "Enter"))
    )
    assert explorer.at("warnings").is_visible()
    flat = tmp_path / "flat.csv"
    flat.write_text("u,v\n" + "1,2\n" * 30)
    explorer.page.set_input_files("#upload", flat)
    explorer.at("fit-error").wait_for(state="visible")
    assert names_in_picture(explorer) == ["no points"]
    assert explorer.at("warnings").is_hidden() and explorer.at("stale").is_hidden()
    assert explorer.page.locator("#pane-a .take").is_hidden()
    shoot(explorer.page, "failed", full_page=True)
    assert explorer.at("again").is_visible()
    explorer.choose("moons.csv")
    assert explorer.at("again").is_hidden() and explorer.at("fit-error").is_hidden()


def test_labels_of_axes_follow_the_fit_where_the_view_stays(explore):
    explorer = recorded(explore("iris.csv"))
    seen = set()
    for gamma in (0.2, 0.21, 0.22):
        explorer.set_number("gamma", gamma)
        number = re.search(r"download/(\d+)/", explorer.job())[1]
        axes = explorer.server.ask("GET", f"api/job/{number}").json()["result"]["axes"]
        assert sorted(names_in_picture(explorer)) == sorted(axes[:2])
        seen.add(tuple(axes))
    assert len(seen) == 3


def test_a_row_that_comes_late_is_not_shown_for_another_table(explore):
    explorer = explore("iris.csv")
    held = []
    explorer.page.route("**/api/row/**", lambda route: held.append(route))
    explorer.page.mouse.click(*explorer.a_point())
    for _ in range(50):
        if held:
            break
        explorer.page.wait_for_timeout(20)
    explorer.choose("moons.csv")
    held.pop().continue_()
    explorer.page.wait_for_timeout(300)
    assert "Click a point" in explorer.at("row").inner_text()


def test_a_column_that_comes_late_does_not_color_another_table(explore):
    explorer = explore("iris.csv")
    held = []
    explorer.page.route("**/api/column/**", lambda route: held.append(route))
    explorer.at("color").select_option("column:0")
    for _ in range(50):
        if held:
            break
        explorer.page.wait_for_timeout(20)
    late = held.pop()
    explorer.choose("worked-example")
    while held:
        held.pop().continue_()
    late.continue_()
    explorer.page.wait_for_timeout(300)
    explorer.page.unroute("**/api/column/**")
    explorer.at("color").select_option("column:0")
    legend = explorer.at("legend")
    # The first column of the worked example goes from −2 to 2, that of the irises from 4.3 to 7.9.
    legend.filter(has_text="2").wait_for(state="visible")
    assert "7.9" not in legend.inner_text(), legend.inner_text()


def test_rows_of_hidden_classes_are_not_counted_as_seen(explore):
    explorer = explore("iris")
    explorer.mode("select")
    box = explorer.at("embedding").bounding_box()
    explorer.page.mouse.move(box["x"] + 60, box["y"] + 5)
    explorer.page.mouse.down()
    for x, y in ((0.99, 0.01), (0.99, 0.9), (0.13, 0.9), (0.13, 0.01)):
        explorer.page.mouse.move(box["x"] + x * box["width"], box["y"] + y * box["height"], steps=4)
    explorer.page.mouse.up()
    selection = explorer.at("selection")
    selection.wait_for(state="visible")
    before = numbers_in(selection.inner_text())
    explorer.at("legend").locator("button", has_text="setosa").click()
    seen, hidden, *classes = numbers_in(selection.inner_text())
    assert hidden > 0 and seen + hidden == before[0] and seen == sum(classes), (before, selection.inner_text())
    assert "setosa" not in selection.inner_text()
    explorer.at("legend").locator("button", has_text="setosa").click()
    assert numbers_in(selection.inner_text()) == before


def test_what_was_chosen_for_missing_cells_is_not_carried_to_another_table(explore, tmp_path):
    explorer = explore("worked-example")
    explorer.watch.excuse(400, "/api/upload")
    for name in ("one.csv", "other.csv"):
        (tmp_path / name).write_text("u,v\n1,2\n3,\n5,7\n7,8\n")
        explorer.page.set_input_files("#upload", tmp_path / name)
        explorer.page.locator("#error").wait_for(state="visible")
        assert explorer.page.input_value("#missing") == "error"
        explorer.change(lambda: explorer.page.select_option("#missing", "drop"))
