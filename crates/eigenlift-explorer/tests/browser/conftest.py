"""What the tests share: the program, servers that are ended again, a browser, and pages that tell of every complaint."""

import os
import shutil
import subprocess
from urllib.parse import urlsplit

import pytest
from explorer import Explorer
from playwright.sync_api import sync_playwright
from server import ENDED, Server

# No traffic of the browser's own, and WebGL without a graphics card.
FLAGS = [
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--no-first-run",
]
ROLL_ROWS = 9000
MEASURED = []


def pytest_terminal_summary(terminalreporter):
    for line in MEASURED:
        terminalreporter.write_line(f"measured: {line}")


@pytest.fixture
def measured():
    """Takes a line that is printed at the end of the run."""
    return MEASURED.append


@pytest.fixture(scope="session")
def program():
    """The command line under test; `cargo xtask browser` names it."""
    named = os.environ.get("EIGENLIFT_BIN")
    assert named, "EIGENLIFT_BIN must name the eigenlift binary; run `cargo xtask browser`"
    return named


@pytest.fixture(scope="session")
def eigenlift(program):
    """Runs the command line in a folder and requires that it ends well."""

    def run(folder, *arguments):
        done = subprocess.run([program, *map(str, arguments)], cwd=folder, capture_output=True, text=True, timeout=50)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture(scope="session")
def start(program):
    """Starts explorers; all are ended with the session."""
    servers = []

    def begin(folder, *arguments, port=0):
        servers.append(Server(program, folder, *arguments, port=port))
        return servers[-1]

    yield begin
    codes = [server.end() for server in servers]
    errors = [line for server in servers for line in server.errors if "panicked" in line]
    assert not errors, errors
    assert all(code in ENDED for code in codes), codes


@pytest.fixture(scope="session")
def tables(tmp_path_factory, eigenlift):
    """A folder with tables: small, labelled, large, and bad."""
    folder = tmp_path_factory.mktemp("tables")
    eigenlift(folder, "data", "iris", "--out", "iris.csv")
    eigenlift(folder, "data", "moons", "--rows", 400, "--noise", 0.08, "--out", "moons.csv")
    eigenlift(folder, "data", "swiss-roll", "--rows", ROLL_ROWS, "--noise", 0.1, "--out", "roll.csv")
    (folder / "broken.csv").write_text("width,height\n1,2\n3,4\n5,six\n7,8\n")
    return folder


@pytest.fixture(scope="session")
def served(start, tables):
    """The explorer that the tests of the page share."""
    return start(tables)


@pytest.fixture(scope="session")
def browser():
    """The Chromium of the system."""
    path = os.environ.get("EIGENLIFT_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    assert path, "EIGENLIFT_CHROMIUM must name a Chromium; run `cargo xtask browser`"
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield started
        started.close()


class Watch:
    """Everything that a page asked for and complained about."""

    def __init__(self):
        self.complaints = []
        self.requests = []
        self.hosts = set()
        self.excused = []

    def attach(self, page):
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.complaints.append(f"uncaught: {error}"))
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("crash", lambda _: self.complaints.append("the page crashed"))

    def excuse(self, status, path):
        """Chromium itself reports every answer that is an error; one that a test asks for is not a complaint."""
        self.excused.append((f"the server responded with a status of {status}", path))

    def excuse_silence(self, path):
        """Likewise of a server that was ended."""
        self.excused.append(("net::ERR_", path))

    def check(self):
        assert not self.complaints, self.complaints
        foreign = [url for url in self.requests if not self._own(url)]
        assert not foreign, foreign

    def _console(self, message):
        where = message.location.get("url", "")
        if any(text in message.text and path in where for text, path in self.excused):
            return
        if message.type in ("error", "warning", "assert"):
            self.complaints.append(f"{message.type}: {message.text} ({where})")

    def _own(self, url):
        parts = urlsplit(url)
        return parts.scheme in ("data", "blob") or (parts.scheme, parts.netloc) in self.hosts


@pytest.fixture
def open_page(browser):
    """Opens pages in clean contexts; at the end nothing may have complained or asked elsewhere."""
    contexts, watches = [], []

    def make(width=1280, height=900, **settings):
        context = browser.new_context(viewport={"width": width, "height": height}, accept_downloads=True, **settings)
        contexts.append(context)
        page, watch = context.new_page(), Watch()
        page.set_default_timeout(20000)
        watch.attach(page)
        watches.append(watch)
        return page, watch

    yield make
    for context in contexts:
        context.close()
    for watch in watches:
        watch.check()


@pytest.fixture
def explore(open_page, served):
    """Opens the explorer, on the shared server unless another is given, with a table if one is named."""

    def make(table=None, server=served, **settings):
        page, watch = open_page(**settings)
        watch.hosts.add(("http", server.host))
        explorer = Explorer(page, watch, server)
        explorer.open(table)
        return explorer

    return make


@pytest.fixture
def shoot(request):
    """Saves a picture of the page where EIGENLIFT_SCREENSHOTS says, for people to look at."""
    folder = os.environ.get("EIGENLIFT_SCREENSHOTS")

    def save(page, name, **settings):
        if folder:
            os.makedirs(folder, exist_ok=True)
            page.screenshot(path=os.path.join(folder, f"{name}.png"), **settings)

    return save
