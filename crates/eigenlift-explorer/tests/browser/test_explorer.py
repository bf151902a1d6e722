"""The explorer as a person uses it: sliders, tables, long fits, points, pre-images, steps, comparisons."""

import re
import time

import numpy as np
import pytest
from explorer import colored, differing, numbers_in, numbers_of

# Seconds in which the picture must follow a slider on any machine. On an idle one it is 0.2.
GENEROUS = 5.0

# Measures from the key press to the frame that shows the new scores.
TIMED_KEY = """([slider, pane, key]) => new Promise((done, failed) => {
  const input = document.getElementById(slider);
  const link = () => document.querySelector(`#downloads-${pane} a[href*="scores.csv"]`)?.getAttribute("href");
  const before = link();
  const start = performance.now();
  const look = () => {
    if (link() && link() !== before) return requestAnimationFrame(() => done(performance.now() - start));
    if (performance.now() - start > 20000) return failed(new Error("no new picture"));
    return requestAnimationFrame(look);
  };
  input.stepUp(key);
  input.dispatchEvent(new Event("input", { bubbles: true }));
  look();
})"""


def move_slider(explorer, steps, name="gamma", pane="a"):
    """Moves a slider by steps and gives the seconds until the picture had followed."""
    taken = explorer.page.evaluate(TIMED_KEY, [f"{name}-{pane}", pane, steps]) / 1000
    explorer.wait_for_result("", pane)
    return taken


def test_the_first_page_shows_an_embedding_and_no_error(explore, shoot):
    explorer = explore()
    assert explorer.page.title().startswith("eigenlift")
    assert colored(explorer.picture()).sum() > 200
    assert explorer.page.locator("#error").is_hidden()
    assert explorer.page.locator("#fit-error-a").is_hidden()
    shoot(explorer.page, "first-page", full_page=True)


@pytest.mark.parametrize(("table", "rows"), [("iris.csv", 150), ("digits", 1797)])
def test_the_picture_follows_the_gamma_slider(explore, measured, shoot, table, rows):
    explorer = explore(table)
    picture, scores = explorer.picture(), numbers_of(explorer.scores(), "kpca")
    assert len(scores) == rows
    taken = [move_slider(explorer, 20)]
    after, scores_after = explorer.picture(), numbers_of(explorer.scores(), "kpca")
    # Not the same points in other colours: a good part of the marks lies elsewhere.
    elsewhere = differing(picture, after)
    assert elsewhere > 0.2 * colored(picture).sum(), elsewhere
    assert np.abs(scores - scores_after).max() > 0.01 * np.abs(scores).max()
    shoot(explorer.page, f"gamma-moved-{table.split('.')[0]}", full_page=True)
    taken += [move_slider(explorer, steps) for steps in (-10, -10, 5, 5)]
    measured(
        f"{table}, {rows} rows: slider to picture {sorted(taken)[2]:.3f} s (median of 5), {max(taken):.3f} s at most"
    )
    assert max(taken) < GENEROUS


def test_a_quick_drag_of_the_slider_ends_at_the_last_value(explore):
    explorer = explore("iris.csv")
    explorer.page.evaluate(
        """() => {
          const slider = document.getElementById("gamma-a");
          for (let i = 0; i < 40; i += 1) {
            slider.stepUp(1);
            slider.dispatchEvent(new Event("input", { bubbles: true }));
          }
        }"""
    )
    wanted = explorer.page.input_value("#gamma-a-number")
    explorer.page.wait_for_function(
        "gamma => document.getElementById('command-a').textContent.includes(`gamma=${gamma}`)", arg=wanted
    )


def test_tables_are_taken_from_the_list(explore):
    explorer = explore()
    for table, rows in (("iris.csv", 150), ("moons.csv", 400), ("worked-example", 4)):
        explorer.choose(table)
        assert len(numbers_of(explorer.scores(), "kpca")) == rows
    assert "file:roll.csv" in explorer.page.locator("#data-select option").evaluate_all("all => all.map(o => o.value)")


def test_the_command_line_says_what_to_begin_with(explore, start, tables):
    server = start(tables, "moons.csv", "--target", "class")
    explorer = explore(server=server)
    assert explorer.page.input_value("#data-select") == "file:moons.csv"
    assert explorer.page.input_value("#target") == "class"
    assert "--target class" in explorer.at("command").inner_text()


def test_a_reload_brings_the_settings_back(explore):
    explorer = explore("iris.csv")
    explorer.set_number("gamma", 0.4)
    scores = explorer.scores()
    explorer.page.wait_for_function("() => location.hash.includes('gamma=0.4')")
    explorer.page.reload()
    explorer.wait_for_result("")
    assert explorer.page.input_value("#gamma-a-number") == "0.4"
    assert explorer.scores() == scores


def test_kernel_and_components_change_the_fit(explore):
    explorer = explore("iris.csv")
    explorer.set_number("k", 4)
    assert numbers_of(explorer.scores(), "kpca").shape == (150, 4)
    explorer.select("kernel", "polynomial")
    assert "polynomial" in explorer.at("command").inner_text()
    explorer.select("method", "pca")
    assert numbers_of(explorer.scores(), "pca").shape == (150, 4)
    assert explorer.page.locator("#gamma-a").count() == 0 or explorer.page.locator("#gamma-a").is_hidden()


def test_every_method_gives_a_picture_of_its_own(explore):
    explorer = explore("iris.csv")
    before = explorer.picture()
    for method in ("pca", "whiten", "isomap", "mds", "laplacian", "diffusion", "lle"):
        explorer.select("method", method)
        after = explorer.picture()
        assert colored(after).sum() > 200, method
        assert differing(after, before) > 50, method
        assert explorer.page.locator("#fit-error-a").is_hidden(), method
        before = after


def test_figures_follow_the_data(explore, shoot):
    explorer = explore("moons")
    names = explorer.page.locator("#tabs-a [role=tab]").all_inner_texts()
    assert any("ontour" in name for name in names) and any("cree" in name for name in names), names
    explorer.tab("contour")
    figure = explorer.page.locator("#figure-contours-a svg").first
    before = figure.evaluate("svg => svg.outerHTML")
    shoot(explorer.page, "contours", full_page=True)
    move_slider(explorer, 30)
    explorer.page.wait_for_function(
        "before => document.querySelector('#figure-contours-a svg').outerHTML !== before", arg=before
    )


def test_each_figure_is_a_picture_of_its_own(served):
    job = served.fit(served.data(builtin="moons"), "kpca", "-k", "2")
    names = [figure["name"] for figure in job["result"]["figures"]]
    figures = {name: served.ask("GET", f"api/figure/{job['job']}/{name}").json()["svg"] for name in names}
    assert {"scree", "contours"} <= figures.keys()
    assert len(set(figures.values())) == len(figures), {name: len(svg) for name, svg in figures.items()}


def test_settings_that_cannot_be_fitted_are_explained_and_the_picture_stays(explore, shoot):
    explorer = explore("iris.csv")
    before, scores = explorer.picture(), explorer.scores()
    explorer.page.locator("#pane-a details.more summary").click()
    for attempt in ("never", "-1", "x", "y", "z"):
        explorer.page.fill("#more-a", f"--rank {attempt}")
        explorer.page.press("#more-a", "Enter")
        explorer.page.wait_for_function(
            "attempt => document.getElementById('fit-error-a').textContent.includes(attempt)", arg=attempt
        )
    assert "--rank" in explorer.page.inner_text("#fit-error-a")
    shoot(explorer.page, "fit-error")
    assert differing(before, explorer.picture()) < 0.02 * colored(before).sum()
    # What is shown can be downloaded again once its settings are restored, however often another setting failed.
    explorer.at("back").click()
    assert explorer.scores() == scores
    explorer.page.mouse.click(*explorer.a_point())
    explorer.page.wait_for_function("() => /\\d/.test(document.getElementById('preimage-a').textContent)")
    assert "not kept" not in explorer.at("preimage").inner_text()


def test_a_bad_upload_is_explained_with_row_and_column(explore, tables, shoot):
    explorer = explore("iris.csv")
    before = explorer.job()
    explorer.watch.excuse(4, "/api/upload")
    explorer.page.set_input_files("#upload", tables / "broken.csv")
    error = explorer.page.locator("#error")
    error.wait_for(state="visible")
    text = error.inner_text()
    # The third row stands on line 4; the cell is in the second column.
    assert "row 3" in text and "column 2" in text and "height" in text and "six" in text, text
    assert explorer.job() == before
    shoot(explorer.page, "bad-upload")


def test_a_good_upload_is_fitted_and_clears_the_error(explore, tables, tmp_path, shoot):
    explorer = explore("iris.csv")
    explorer.watch.excuse(4, "/api/upload")
    explorer.page.set_input_files("#upload", tables / "broken.csv")
    explorer.page.locator("#error").wait_for(state="visible")
    good = tmp_path / "my rows.csv"
    random = np.random.default_rng(3)
    rows = random.normal(size=(60, 3))
    good.write_text("a,b,c\n" + "".join(",".join(f"{x:.6f}" for x in row) + "\n" for row in rows))
    explorer.change(lambda: explorer.page.set_input_files("#upload", good))
    assert explorer.page.locator("#error").is_hidden()
    assert len(numbers_of(explorer.scores(), "kpca")) == 60
    assert "my rows.csv" in explorer.at("command").inner_text()
    assert 60 in numbers_in(explorer.page.inner_text("#data-words"))
    shoot(explorer.page, "good-upload", full_page=True)


@pytest.mark.parametrize(
    ("text", "field", "value", "rows"),
    [
        ("width,height\n1,2\n3,\n5,7\n7,8\n", "missing", "drop", 3),
        ("width,height,depth\n1,2,3\n3,six,4\n5,7,8\n7,8,8\n", "columns", "width,depth", 4),
    ],
)
def test_what_the_error_advises_can_be_done_on_the_page(explore, tmp_path, text, field, value, rows):
    # Begun with a built-in table, whose missing cells and columns nobody asks about.
    explorer = explore("worked-example")
    (tmp_path / "gaps.csv").write_text(text)
    explorer.watch.excuse(4, "/api/upload")
    explorer.page.set_input_files("#upload", tmp_path / "gaps.csv")
    explorer.page.locator("#error").wait_for(state="visible")
    control = explorer.page.locator(f"#{field}")
    control.wait_for(state="visible", timeout=2000)

    def follow():
        if field == "missing":
            control.select_option(value)
        else:
            control.fill(value)
            control.press("Enter")

    explorer.change(follow)
    assert explorer.page.locator("#error").is_hidden()
    assert len(numbers_of(explorer.scores(), "kpca")) == rows


def test_a_table_in_the_folder_that_is_bad_is_explained(explore):
    explorer = explore("iris.csv")
    explorer.watch.excuse(4, "/api/data")
    explorer.page.select_option("#data-select", "file:broken.csv")
    explorer.page.locator("#error").wait_for(state="visible")
    assert "row 3" in explorer.page.inner_text("#error")


def test_a_long_fit_shows_progress_and_can_be_cancelled(explore, measured, shoot):
    explorer = explore("iris.csv")
    job = explorer.begin_an_endless_fit()
    # A number of steps, and seconds that go on.
    status = "document.getElementById('status-a').textContent"
    explorer.page.wait_for_function(f"() => /\\d.*%.*\\d/.test({status})")
    shown = explorer.at("status").inner_text()
    explorer.page.wait_for_function(f"before => {status} !== before", arg=shown)
    shoot(explorer.page, "progress")
    start = time.monotonic()
    explorer.cancel()
    measured(f"cancel to cancelled {time.monotonic() - start:.3f} s; progress said {shown!r}")
    explorer.at("cancel").wait_for(state="hidden")
    explorer.at("back").click()
    assert explorer.job() == job
    explorer.page.wait_for_timeout(400)
    picture = explorer.picture()
    assert colored(picture).sum() > 200
    # The page is not stuck: the next setting is fitted.
    explorer.select("method", "pca")
    assert differing(picture, explorer.picture()) > 200


def test_a_newer_setting_replaces_a_long_fit(explore):
    explorer = explore("iris.csv")
    job = explorer.begin_an_endless_fit()
    explorer.change(lambda: explorer.write_more("--starts 3"), before=job)
    assert "--starts 3" in explorer.at("command").inner_text()


def test_clicking_a_point_shows_its_row(explore, tables, shoot):
    explorer = explore("iris.csv")
    explorer.page.mouse.click(*explorer.a_point())
    row = explorer.at("row")
    explorer.page.wait_for_function("() => /\\d/.test(document.getElementById('row-a').textContent)")
    text = row.inner_text()
    number = int(re.search(r"[Rr]ow\s+(\d+)", text)[1])
    lines = (tables / "iris.csv").read_text().splitlines()
    cells = lines[number].split(",")
    for name in lines[0].split(","):
        assert name in text, name
    for cell in cells:
        found = float(cell) in numbers_in(text) if re.fullmatch(r"[-.\d]+", cell) else cell in text
        assert found, (cell, text)
    shoot(explorer.page, "row", full_page=True)


def canvas_pixels(explorer, place):
    """Sums of the canvases in an element, which differ when an image does."""
    return explorer.page.evaluate(
        """place => [...document.querySelectorAll(`#${place} canvas`)].map(canvas => {
          const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
          return [canvas.width, canvas.height, new Set(data).size, data.reduce((sum, x, i) => (sum * 31 + x * (i % 97)) % 1000003, 7)];
        })""",
        place,
    )


def test_clicking_a_digit_shows_its_image(explore, shoot):
    explorer = explore("digits")
    images = []
    for number in (0, 6):
        explorer.page.mouse.click(*explorer.a_point(number=number))
        explorer.page.wait_for_function("() => document.querySelector('#row-a canvas')")
        explorer.rest()
        time.sleep(0.2)
        images.append(canvas_pixels(explorer, "row-a"))
    assert images[0] and images[0] != images[1]
    # An image of 17 grey levels is neither empty nor of one colour.
    assert images[0][0][2] > 4
    shoot(explorer.page, "digit", full_page=True)


def test_the_preimage_follows_the_pointer_in_probe_mode(explore, measured, shoot):
    explorer = explore("digits")
    explorer.mode("probe")
    box = explorer.at("embedding").bounding_box()
    explorer.page.mouse.move(box["x"] + 0.35 * box["width"], box["y"] + 0.5 * box["height"])
    explorer.page.mouse.down()
    explorer.page.wait_for_function("() => document.querySelector('#preimage-a canvas')")
    explorer.rest()
    time.sleep(0.3)
    first = canvas_pixels(explorer, "preimage-a")
    start = time.monotonic()
    explorer.page.mouse.move(box["x"] + 0.7 * box["width"], box["y"] + 0.3 * box["height"], steps=8)
    while canvas_pixels(explorer, "preimage-a") == first:
        assert time.monotonic() - start < GENEROUS, "the pre-image did not follow"
        time.sleep(0.01)
    measured(f"digits: pointer to pre-image {time.monotonic() - start:.3f} s, the move included")
    shoot(explorer.page, "preimage", full_page=True)
    explorer.page.mouse.up()
    assert explorer.at("preimage").inner_text().strip()


def test_the_worked_example_is_one_click_away(explore, shoot):
    explorer = explore("iris.csv")
    explorer.change(lambda: explorer.page.click("#worked-example"))
    steps = explorer.at("steps")
    steps.wait_for(state="visible")
    text = steps.inner_text()
    shown = numbers_in(text)

    def on_the_page(value, among):
        # Nine digits are shown: one unit of the last.
        return any(abs(value - number) <= 1.5e-8 * max(1, abs(value)) for number in among)

    assert "K" in text and "K̃" in text
    # K = (⟨x,y⟩ + 1)² and its centred form, by hand.
    points = np.array([[1, 1], [2, 4], [-1, 1], [-2, 4]])
    gram = (points @ points.T + 1.0) ** 2
    center = np.eye(4) - 0.25
    centered = center @ gram @ center
    for value in {*gram.ravel(), *centered.ravel()}:
        assert on_the_page(value, shown), value
    # The sign of a component is free.
    magnitudes = [abs(number) for number in shown]
    for value in (277.927517, 252, 2.07248280, 11.6609491, 7.93725393, 1.00696319, 1.72801191):
        assert on_the_page(value, magnitudes), (value, text)
    assert "polynomial" in explorer.at("command").inner_text()
    shoot(explorer.page, "worked-example", full_page=True)


def test_two_settings_stand_side_by_side(explore, shoot):
    explorer = explore("iris.csv")
    explorer.page.click("#compare")
    explorer.wait_for_result("", "b")
    explorer.set_number("gamma", 2.5, "b")
    assert "gamma=2.5" in explorer.at("command", "b").inner_text()
    assert "gamma=2.5" not in explorer.at("command", "a").inner_text()
    left, right = explorer.picture("a"), explorer.picture("b")
    assert differing(left, right) > 200
    boxes = [explorer.at("embedding", pane).bounding_box() for pane in "ab"]
    assert boxes[1]["x"] > boxes[0]["x"] + 0.9 * boxes[0]["width"], "the panes are not beside each other"
    a, b = (numbers_of(explorer.scores(pane), "kpca") for pane in "ab")
    assert np.abs(a - b).max() > 0.01
    shoot(explorer.page, "compare", full_page=True)
    explorer.page.click("#compare")
    explorer.at("embedding", "b").wait_for(state="hidden")


def test_selecting_by_a_lasso_counts_points(explore, shoot):
    explorer = explore("iris.csv")
    explorer.mode("select")
    box = explorer.at("embedding").bounding_box()
    explorer.page.mouse.move(box["x"] + 60, box["y"] + 10)
    explorer.page.mouse.down()
    for x, y in ((0.98, 0.02), (0.98, 0.85), (0.15, 0.85), (0.15, 0.02)):
        explorer.page.mouse.move(box["x"] + x * box["width"], box["y"] + y * box["height"], steps=4)
    explorer.page.mouse.up()
    selection = explorer.at("selection")
    selection.wait_for(state="visible")
    assert 1 <= numbers_in(selection.inner_text())[0] <= 150
    shoot(explorer.page, "selection", full_page=True)
