"""The report is one file that opens from disk, asks for nothing and complains of nothing."""

import re

import pytest
from explorer import colored, numbers_in, pixels


@pytest.fixture(scope="module")
def demo(eigenlift, tmp_path_factory):
    """The report that `eigenlift demo` makes of digits."""
    folder = tmp_path_factory.mktemp("demo")
    eigenlift(folder, "demo", "--out", "pictures", "--quiet")
    return folder / "pictures" / "report.html"


@pytest.fixture
def open_report(open_page):
    """Opens a file from disk with the network cut, and gives the page."""

    def make(path, **settings):
        page, watch = open_page(offline=True, **settings)
        watch.hosts.add(("file", ""))
        page.goto(path.as_uri())
        page.wait_for_function("() => document.querySelector('canvas.points-front')")
        page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        # The file alone: no script, style, font or picture beside it.
        assert [url for url in watch.requests if url.startswith("file:")] == [path.as_uri()]
        return page

    return make


def embedding(page):
    """The element that holds the canvas of the points."""
    return page.locator("canvas.points-front").first.locator("xpath=..")


def a_mark(page):
    """Place of a mark on the page, found by looking."""
    area = embedding(page)
    area.scroll_into_view_if_needed()
    mask = colored(pixels(area.screenshot()))
    whole = mask[:-4, :-4] & mask[4:, 4:] & mask[2:-2, 2:-2]
    ys, xs = whole.nonzero()
    assert len(ys) > 50, "the report shows no marks"
    at, box = len(ys) // 2, area.bounding_box()
    return float(box["x"] + xs[at] + 2), float(box["y"] + ys[at] + 2)


def warnings_stand_first(page):
    """Whether what is said of warnings stands above all sections."""
    said = page.get_by_text(re.compile("warning", re.IGNORECASE)).first.bounding_box()
    sections = [heading.bounding_box() for heading in page.locator("main h2, section h2").all()]
    return len(sections) > 3 and all(said["y"] < box["y"] for box in sections)


def test_the_report_of_the_demo_opens_from_disk(demo, open_report, shoot):
    page = open_report(demo)
    assert "digits" in page.title().lower() or "digits" in page.inner_text("h1").lower()
    assert colored(pixels(embedding(page).screenshot())).sum() > 2000
    assert warnings_stand_first(page)
    text = page.inner_text("body")
    # The plan with its reasons, the certificate in words, the command.
    for words in ("because", "certificate", "eigenlift ", "1797"):
        assert words in text, words
    shoot(page, "report-demo")
    shoot(page, "report-demo-whole", full_page=True)


def test_hovering_over_a_point_shows_its_row(demo, open_report, shoot):
    page = open_report(demo)
    tip = page.locator(".points-tip").first
    assert tip.is_hidden()
    page.mouse.move(*a_mark(page))
    tip.wait_for(state="visible")
    assert re.search(r"row\s+\d+", tip.inner_text(), re.IGNORECASE), tip.inner_text()
    shoot(page, "report-hover")


def test_a_lasso_selects_points(demo, open_report, shoot):
    page = open_report(demo)
    page.get_by_role("button", name=re.compile("select", re.IGNORECASE)).first.click()
    x, y = a_mark(page)
    page.mouse.move(x - 40, y - 40)
    page.mouse.down()
    for dx, dy in ((40, -40), (40, 40), (-40, 40), (-40, -38)):
        page.mouse.move(x + dx, y + dy, steps=4)
    page.mouse.up()
    page.wait_for_function(
        "() => /\\d+ (of \\d+ )?(points? |rows? )?(are )?selected|selected[^\\d]*\\d+/i.test(document.body.innerText)"
    )
    shoot(page, "report-selected")


def test_figures_zoom_by_the_wheel(demo, open_report):
    page = open_report(demo)
    figure = page.locator(".figure svg").first
    figure.scroll_into_view_if_needed()
    before = figure.get_attribute("viewBox")
    box = figure.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.wheel(0, -300)
    page.wait_for_function(
        "([before]) => document.querySelector('.figure svg').getAttribute('viewBox') !== before", arg=[before]
    )


def test_the_downloaded_report_opens_from_disk(explore, open_report, tmp_path, shoot):
    explorer = explore("iris.csv")
    explorer.set_number("gamma", 0.7)
    path = tmp_path / "iris report.html"
    path.write_bytes(explorer.download("report.html").read_bytes())
    page = open_report(path)
    text = page.inner_text("body")
    assert "rbf(gamma=0.7)" in text and "iris.csv" in text
    # The command that made it, as the page shows it.
    command = " ".join(explorer.at("command").inner_text().replace("\\\n", " ").split())
    assert command.split(" --out")[0] in " ".join(text.replace("\\\n", " ").split())
    assert explorer.server.token not in path.read_text()
    assert warnings_stand_first(page)
    shoot(page, "report-iris", full_page=True)


def test_warnings_come_first(eigenlift, open_report, tmp_path, shoot):
    # Eight rows of one column repeated: a bandwidth far too small makes every row its own component.
    (tmp_path / "odd.csv").write_text("a,b\n" + "".join(f"{i % 5},{i % 7 * 100000}\n" for i in range(40)))
    eigenlift(
        tmp_path, "fit", "kpca", "odd.csv", "--kernel", "sigmoid(gamma=1,coef0=-1)", "-k", "2",
        "--out", "scores.csv", "--report", "report.html",
    )  # fmt: skip
    page = open_report(tmp_path / "report.html")
    assert warnings_stand_first(page)
    assert "no warnings" not in page.inner_text("body").lower()
    shoot(page, "report-warnings", full_page=True)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_report_is_readable_in_both_lights(demo, open_report, shoot, scheme):
    page = open_report(demo, color_scheme=scheme)
    color = page.evaluate("() => getComputedStyle(document.body).backgroundColor")
    bright = sum(numbers_in(color)[:3]) / 3
    assert bright > 200 if scheme == "light" else bright < 70
    shoot(page, f"report-{scheme}", full_page=True)


def test_the_report_fits_a_phone(demo, open_report, shoot):
    page = open_report(demo, width=390, height=800)
    assert page.evaluate("() => document.documentElement.scrollWidth - window.innerWidth") <= 0
    shoot(page, "report-phone", full_page=True)


def test_hostile_labels_are_shown_as_text(eigenlift, open_report, tmp_path):
    label = '</script><img src=x onerror="document.title=1">'
    rows = "".join(
        f'{i},{i * i % 7},"{label if i % 2 else "plain"}"\n'.replace('onerror="', 'onerror=""').replace('=1">', '=1"">')
        for i in range(20)
    )
    (tmp_path / "hostile.csv").write_text("a,b,<b>kind</b>\n" + rows)
    eigenlift(
        tmp_path,
        "fit",
        "kpca",
        "hostile.csv",
        "--target",
        "3",
        "-k",
        "2",
        "--out",
        "scores.csv",
        "--report",
        "report.html",
    )
    page = open_report(tmp_path / "report.html")
    assert page.title() != "1"
    assert page.locator("img").count() == 0
    assert "</script><img src=x" in page.inner_text("body")
