"""Everyone reaches everything: keyboard alone, light and dark, a phone."""

import numpy as np
import pytest
from explorer import colored, differing, numbers_of

NO_MORE_TABS = 80
WIDTH_OF_A_PHONE = 390


def tab_to(page, wanted):
    """Presses Tab until the element has the focus."""
    for _ in range(NO_MORE_TABS):
        page.keyboard.press("Tab")
        if page.evaluate("() => document.activeElement.id || document.activeElement.className") == wanted:
            return
    raise AssertionError(f"{wanted} was not reached by {NO_MORE_TABS} presses of Tab")


def test_the_slider_moves_by_keys_alone(explore):
    explorer = explore("iris.csv")
    explorer.page.locator("body").focus()
    before, scores = explorer.picture(), numbers_of(explorer.scores(), "kpca")
    tab_to(explorer.page, "gamma-a")
    assert has_focus_ring(explorer.page)

    def press():
        for _ in range(15):
            explorer.page.keyboard.press("ArrowRight")

    explorer.change(press)
    explorer.page.wait_for_timeout(300)
    assert np.abs(scores - numbers_of(explorer.scores(), "kpca")).max() > 1e-3
    assert differing(before, explorer.picture()) > 100


def has_focus_ring(page):
    return page.evaluate(
        """() => {
          const style = getComputedStyle(document.activeElement);
          return (style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0) || style.boxShadow !== "none";
        }"""
    )


def test_points_are_read_by_keys_alone(explore):
    explorer = explore("iris.csv")
    tab_to(explorer.page, "points-front")
    assert has_focus_ring(explorer.page)
    explorer.page.keyboard.press("n")
    explorer.page.keyboard.press("n")
    explorer.page.keyboard.press("Enter")
    explorer.page.wait_for_function("() => /[Rr]ow\\s+2\\b/.test(document.getElementById('row-a').innerText)")


def test_the_probe_moves_by_keys_alone(explore):
    explorer = explore("iris.csv")
    explorer.mode("probe")
    explorer.page.locator("#embedding-a canvas.points-front").focus()
    explorer.page.keyboard.press("ArrowRight")
    explorer.page.wait_for_function("() => /\\d/.test(document.getElementById('preimage-a').textContent)")
    before = explorer.at("preimage").inner_text()
    for _ in range(6):
        explorer.page.keyboard.press("ArrowRight")
    explorer.page.wait_for_function("before => document.getElementById('preimage-a').innerText !== before", arg=before)


def test_the_skip_link_keeps_the_settings(explore):
    explorer = explore("iris.csv")
    explorer.set_number("gamma", 0.4)
    explorer.page.wait_for_function("() => location.hash.includes('gamma=0.4')")
    job, fragment = explorer.job(), explorer.page.evaluate("() => location.hash")
    explorer.page.evaluate("() => { window.sameAsBefore = true; }")
    explorer.page.focus(".skip")
    explorer.page.keyboard.press("Enter")
    assert explorer.page.evaluate("() => document.activeElement.id") == "panes"
    # A fragment that holds no settings does not load the page again either.
    explorer.page.evaluate("() => { location.hash = '#pane-a'; }")
    explorer.page.wait_for_function("fragment => location.hash === fragment", arg=fragment)
    assert explorer.page.evaluate("() => window.sameAsBefore")
    assert explorer.job() == job
    assert explorer.page.input_value("#gamma-a-number") == "0.4"


PROBED = """() => {
  const card = document.getElementById("card-a").getBoundingClientRect();
  const slider = document.getElementById("gamma-a").getBoundingClientRect();
  const picture = document.getElementById("embedding-a").getBoundingClientRect();
  const seen = Math.min(picture.bottom, innerHeight) - Math.max(picture.top, 0);
  return { top: card.top, bottom: card.bottom, height: card.height, left: card.left, right: card.right,
    slider: slider.top, seen: seen / picture.height, frame: [picture.left, picture.right] };
}"""


@pytest.mark.parametrize(
    ("table", "width", "height"),
    [("digits", 1280, 720), ("digits", WIDTH_OF_A_PHONE, 800), ("iris.csv", WIDTH_OF_A_PHONE, 700)],
)
def test_slider_embedding_and_preimage_are_seen_together(explore, shoot, table, width, height):
    explorer = explore(table, width=width, height=height)
    explorer.mode("probe")
    if width == WIDTH_OF_A_PHONE:
        explorer.page.evaluate("() => document.getElementById('gamma-a').closest('.slider').scrollIntoView()")
    for share in (0.3, 0.8):
        box = explorer.at("embedding").bounding_box()
        x, y = box["x"] + share * box["width"], box["y"] + 0.4 * box["height"]
        explorer.page.mouse.click(x, y)
        explorer.page.wait_for_function("() => document.getElementById('card-a').children.length > 0")
        explorer.rest()
        at = explorer.page.evaluate(PROBED)
        assert at["slider"] >= 0 and at["seen"] > 0.8, at
        assert 0 <= at["top"] and at["bottom"] <= height and at["height"] > 40, at
        # The card is not below the pointer, and inside the picture.
        assert not at["left"] <= x <= at["right"], (x, at)
        assert at["frame"][0] <= at["left"] and at["right"] <= at["frame"][1], at
    shoot(explorer.page, f"probe-{table.split('.')[0]}-{width}")
    explorer.mode("pan")
    assert explorer.at("card").is_hidden()


def test_every_control_has_a_name(explore):
    explorer = explore("iris.csv")
    nameless = explorer.page.evaluate(
        """() => [...document.querySelectorAll("input, select, button, textarea, a[href]")]
          .filter(e => !e.hidden && e.offsetParent)
          .filter(e => !(e.getAttribute("aria-label") || e.labels?.length || e.textContent.trim() || e.title))
          .map(e => e.outerHTML)"""
    )
    assert nameless == []


def paper(page):
    """Brightness of the page's background, 0 to 255."""
    color = page.evaluate("() => getComputedStyle(document.body).backgroundColor")
    return np.mean([float(part) for part in color.strip("rgba()").replace(",", " ").split()[:3]])


@pytest.mark.parametrize(("scheme", "least", "most"), [("light", 200, 255), ("dark", 0, 70)])
def test_the_page_follows_the_systems_light(explore, shoot, scheme, least, most):
    explorer = explore("iris.csv", color_scheme=scheme)
    assert least <= paper(explorer.page) <= most
    # The embedding has the paper of the page in its corner.
    corner = explorer.picture()[4, 4].mean()
    assert least - 40 <= corner <= most + 40, corner
    shoot(explorer.page, f"explorer-{scheme}", full_page=True)


def test_a_button_turns_the_light_on_and_off(explore):
    explorer = explore("iris.csv", color_scheme="light")
    seen = set()
    for _ in range(3):
        explorer.page.click("#theme")
        explorer.rest()
        seen.add((paper(explorer.page) > 128, explorer.page.inner_text("#theme")))
    assert {bright for bright, _ in seen} == {True, False}, seen
    assert len({words for _, words in seen}) >= 2


def overflow(page):
    """How far the page is wider than the window, and what sticks out."""
    return page.evaluate(
        """() => [document.documentElement.scrollWidth - window.innerWidth,
          [...document.querySelectorAll("main *")].filter(e => e.getBoundingClientRect().right > window.innerWidth + 1
            && !e.closest("pre, .scroll, [class*=table], svg")).slice(0, 5).map(e => e.id || e.className || e.tagName)]"""
    )


def test_a_phone_needs_no_scrolling_sideways(explore, shoot):
    explorer = explore("iris.csv", width=WIDTH_OF_A_PHONE, height=800, has_touch=True, is_mobile=True)
    assert overflow(explorer.page)[0] <= 0, overflow(explorer.page)
    box = explorer.at("embedding").bounding_box()
    assert 250 <= box["width"] <= WIDTH_OF_A_PHONE
    shoot(explorer.page, "phone", full_page=True)
    explorer.change(lambda: explorer.page.click("#worked-example"))
    assert overflow(explorer.page)[0] <= 0, overflow(explorer.page)
    shoot(explorer.page, "phone-worked-example", full_page=True)
    explorer.page.click("#compare")
    explorer.wait_for_result("", "b")
    assert overflow(explorer.page)[0] <= 0, overflow(explorer.page)
    shoot(explorer.page, "phone-compare", full_page=True)


def test_without_webgl_the_points_are_drawn_all_the_same(browser, explore):
    explorer = explore("iris.csv")
    explorer.page.add_init_script(
        """const original = HTMLCanvasElement.prototype.getContext;
        HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {
          return String(kind).startsWith("webgl") ? null : original.call(this, kind, ...rest);
        };"""
    )
    explorer.page.reload()
    explorer.wait_for_result("")
    assert colored(explorer.picture()).sum() > 200
