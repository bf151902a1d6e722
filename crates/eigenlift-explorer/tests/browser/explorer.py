"""The explorer's page as a person uses it."""

import csv
import io
import re
from urllib.parse import quote

import numpy as np
from PIL import Image

# Milliseconds that an answer may take. Machines are shared; the time it really takes is measured and printed.
PATIENCE = 20000


def pixels(png):
    """Red, green and blue of a screenshot."""
    return np.asarray(Image.open(io.BytesIO(png)).convert("RGB")).astype(int)


def colored(picture):
    """Where a picture has colour: marks of classes, but neither ink nor paper. A faded picture has the same places."""
    strength = picture.max(axis=2) - picture.min(axis=2)
    return strength > max(30, 0.4 * strength.max())


def differing(one, other):
    """Number of places where only one of two pictures has a mark. Edges may be cut at another pixel."""
    rows, columns = (min(sizes) for sizes in zip(one.shape[:2], other.shape[:2]))
    return (colored(one)[:rows, :columns] != colored(other)[:rows, :columns]).sum()


def table_of(text):
    """A CSV with a header: the names, and the cells as they are."""
    heading, *rows = csv.reader(io.StringIO(text))
    return heading, rows


def numbers_of(text, prefix):
    """The columns of a CSV whose names start so, as numbers."""
    heading, rows = table_of(text)
    places = [i for i, name in enumerate(heading) if name.startswith(prefix)]
    return np.array([[float(row[i]) for i in places] for row in rows])


def numbers_in(text):
    """All numbers that a text shows, a proper minus taken for a hyphen."""
    return [float(found) for found in re.findall(r"-?\d+(?:\.\d+)?(?:e-?\d+)?", text.replace("−", "-"))]


def source(table):
    """How the page names a table: a file of the folder if it has an extension, else one that is built in."""
    return f"file:{table}" if "." in table else f"builtin:{table}"


class Explorer:
    """One open page. Names such as "gamma" stand for the control of a pane."""

    def __init__(self, page, watch, server):
        self.page, self.watch, self.server = page, watch, server

    def open(self, table=None):
        """Opens the page, with a table at once as a reload would."""
        fragment = f"#data={quote(source(table), safe='')}" if table else ""
        self.page.goto(self.server.url + fragment)
        self.wait_for_result("")

    def at(self, name, pane="a"):
        return self.page.locator(f"#{name}-{pane}")

    def job(self, pane="a"):
        """The address of the scores that are shown; empty before the first result."""
        link = self.page.locator(f'#downloads-{pane} a[href*="scores.csv"]')
        return link.get_attribute("href") if link.count() else ""

    def wait_for_result(self, before, pane="a", timeout=PATIENCE):
        """Waits until scores other than those before are shown and nothing runs."""
        self.page.wait_for_function(
            """([pane, before]) => {
              const link = document.querySelector(`#downloads-${pane} a[href*="scores.csv"]`);
              const bar = document.getElementById(`progress-line-${pane}`);
              return link && link.getAttribute("href") !== before && bar && bar.hidden;
            }""",
            arg=[pane, before],
            timeout=timeout,
        )
        self.rest()

    def rest(self):
        """Waits until what was asked to be drawn is drawn."""
        self.page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def choose(self, table):
        """Takes a table from the list."""
        self.change(lambda: self.page.select_option("#data-select", source(table)))

    def change(self, act, pane="a", before=None):
        """Does something that must lead to a result other than the one before, which is the one shown unless it is given."""
        before = self.job(pane) if before is None else before
        act()
        self.wait_for_result(before, pane)

    def set_number(self, name, value, pane="a"):
        """Writes a number beside a slider."""

        def write():
            field = self.page.locator(f"#{name}-{pane}-number")
            field.fill(str(value))
            field.press("Enter")

        self.change(write, pane)

    def select(self, name, value, pane="a"):
        self.change(lambda: self.at(name, pane).select_option(value), pane)

    def write_more(self, text, pane="a"):
        """Writes flags under the other options."""
        at = self.at("more", pane)
        if not at.is_visible():
            self.page.locator(f"#pane-{pane} details.more summary").click()
        at.fill(text)
        at.press("Enter")

    def begin_an_endless_fit(self, pane="a"):
        """A fit that ends when it is cancelled or replaced and never before: k-means from a thousand million starts.

        Gives the address of the scores that are shown meanwhile.
        """
        self.select("method", "kkmeans", pane)
        shown = self.job(pane)
        self.write_more("--starts 1000000000", pane)
        self.at("cancel", pane).wait_for(state="visible")
        return shown

    def cancel(self, pane="a"):
        self.at("cancel", pane).click()
        self.page.wait_for_function(
            "pane => /cancelled/i.test(document.getElementById(`status-${pane}`).textContent)", arg=pane
        )

    def mode(self, name, pane="a"):
        self.page.locator(f'input[name="mode-{pane}"][value="{name}"]').check(force=True)

    def tab(self, name, pane="a"):
        """Shows a tab below the embedding by a part of its title."""
        self.page.locator(f"#tabs-{pane} [role=tab]", has_text=re.compile(name, re.IGNORECASE)).first.click()

    def picture(self, pane="a"):
        self.rest()
        return pixels(self.at("embedding", pane).screenshot())

    def download(self, name, pane="a"):
        """The bytes of a download, taken by its link."""
        with self.page.expect_download() as started:
            self.page.locator(f'#downloads-{pane} a[href*="{name}"]').click()
        path = started.value.path()
        assert started.value.failure() is None
        return path

    def scores(self, pane="a"):
        """The scores that are shown, as the download has them."""
        answer = self.server.ask("GET", self.job(pane))
        assert answer.status == 200, answer.body
        return answer.body.decode()

    def a_point(self, pane="a", number=0):
        """Place of a mark on the page: the middle of a small patch of colour, found by looking."""
        mask = colored(self.picture(pane))
        whole = mask[:-4, :-4] & mask[4:, 4:] & mask[:-4, 4:] & mask[4:, :-4] & mask[2:-2, 2:-2]
        rows, columns = np.nonzero(whole)
        assert len(rows), "no mark was found in the embedding"
        at = number * (len(rows) - 1) // 7
        box = self.at("embedding", pane).bounding_box()
        return float(box["x"] + columns[at] + 2), float(box["y"] + rows[at] + 2)
