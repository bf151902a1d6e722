"""What a page from elsewhere, a stranger on the network or a wrong name could try. Asked by raw requests, not by the browser."""

import json
import socket
import sys
import time
from pathlib import Path

import pytest
from server import ENDED

SECRET = "424242"
ROWS = "u,v\n" + "".join(f"{SECRET},{i}\n{i},{i * i}\n" for i in range(6))
# Paths that a visitor must not reach, with the headers that a page has.
PLACES = (("GET", ""), ("GET", "api/catalogue"), ("POST", "api/data"))


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with a good table and ways out of it, and a secret beside it."""
    beside = tmp_path_factory.mktemp("guarded")
    outside = beside / "outside"
    folder = beside / "folder"
    outside.mkdir()
    folder.mkdir()
    (outside / "secret.csv").write_text(ROWS)
    (folder / "good.csv").write_text("u,v\n" + "".join(f"{i},{i * i}\n" for i in range(12)))
    (folder / "sub").mkdir()
    (folder / "way-out.csv").symlink_to(outside / "secret.csv")
    (folder / "door").symlink_to(outside)
    return folder


@pytest.fixture(scope="module")
def served(start, place):
    """A server in that folder."""
    return start(place)


def everything_below(folder):
    return {str(path): path.lstat().st_size for path in Path(folder).rglob("*")}


def is_refused(answer):
    return 400 <= answer.status < 500


def says_why(answer):
    return bool(json.loads(answer.body)["error"].strip())


def test_the_page_and_the_api_answer_with_the_token(served):
    assert served.ask("GET", "").status == 200
    assert served.ask("GET", "api/catalogue").json()["files"] == ["good.csv"]


def test_tokens_are_long_and_new_every_time(served, start, place):
    other = start(place)
    assert other.token != served.token
    # 128 bits take 22 characters of base64 and 32 of hexadecimal.
    assert len(served.token) >= 22


@pytest.mark.parametrize("token", ["", "wrong", "..", "{half}", "{token}x", "{upper}", "%00"])
def test_without_the_token_there_is_nothing(served, token):
    known = served.token
    guess = token.format(half=known[: len(known) // 2], token=known, upper=known.swapcase())
    for method, place in PLACES:
        body = {"file": "good.csv"} if method == "POST" else None
        answer = served.ask(method, f"/{guess}/{place}", body)
        assert answer.status in (400, 403, 404), (method, place, answer.status)
        assert known.encode() not in answer.body
        assert known not in str(answer.headers)
    assert served.ask("GET", "/").status in (403, 404)
    assert served.ask("GET", f"/api/catalogue?token={known}").status in (403, 404)


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:{port}", "127.0.0.1.evil.example:{port}", "127.0.0.1:1", "0.0.0.0:{port}", None],
)
def test_a_name_that_was_pointed_here_is_refused(served, host):
    asked = host.format(port=served.port) if host else None
    for method, place in PLACES:
        body = {"file": "good.csv"} if method == "POST" else None
        answer = served.ask(method, place, body, host=asked)
        assert is_refused(answer), (method, place, answer.status)
        assert b"good.csv" not in answer.body


@pytest.mark.parametrize("second", ["evil.example", "127.0.0.1:{port}"])
def test_a_second_name_is_refused(served, second):
    second = second.format(port=served.port)
    headers = [("Host", second)]
    assert is_refused(served.ask("GET", "api/catalogue", None, headers))
    with socket.create_connection(("127.0.0.1", served.port), timeout=20) as line:
        address = f"http://{second}/{served.token}/api/catalogue"
        line.sendall(f"GET {address} HTTP/1.1\r\nHost: {served.host}\r\nConnection: close\r\n\r\n".encode())
        assert b" 403 " in line.recv(4096).split(b"\r\n")[0]


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "null",
        "https://127.0.0.1:{port}",
        "http://127.0.0.1:1",
        "http://127.0.0.1:{port}.evil.example",
    ],
)
def test_a_page_from_elsewhere_changes_nothing_and_reads_nothing(served, origin):
    headers = [("Origin", origin.format(port=served.port))]
    posted = served.ask("POST", "api/data", {"file": "good.csv"}, headers)
    assert posted.status == 403, posted.status
    uploaded = served.ask("POST", "api/upload?name=a.csv", b"u,v\n1,2\n3,4\n", headers)
    assert uploaded.status == 403, uploaded.status
    asked_first = served.ask("OPTIONS", "api/data", None, [*headers, ("Access-Control-Request-Method", "POST")])
    read = served.ask("GET", "api/catalogue", None, headers)
    for answer in (posted, uploaded, asked_first, read):
        assert not [name for name in answer.headers if name.lower().startswith("access-control-")]


def test_the_page_itself_is_let_in(served):
    own = [("Origin", f"http://{served.host}")]
    assert served.ask("POST", "api/data", {"file": "good.csv"}, own).status == 200


def test_only_this_machine_is_listened_to(served):
    if Path("/proc/net/tcp").exists():
        addresses = []
        for table in ("/proc/net/tcp", "/proc/net/tcp6"):
            lines = Path(table).read_text().splitlines()[1:] if Path(table).exists() else []
            local = (line.split()[1].split(":") for line in lines if line.split()[3] == "0A")
            addresses += [address for address, port in local if int(port, 16) == served.port]
        assert addresses == ["0100007F"], addresses
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            # No packet is sent: this asks which address of this machine leads outside.
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return
        address = probe.getsockname()[0]
    if not address.startswith("127."):
        with pytest.raises(OSError):
            socket.create_connection((address, served.port), timeout=2).close()


def test_headers_keep_the_page_to_itself(served):
    for path in ("", "base.css", "points.js", "api/catalogue", "no-such-file"):
        headers = served.ask("GET", path).headers
        assert headers["X-Content-Type-Options"] == "nosniff", path
        # The address holds the token, so it must not travel.
        assert headers["Referrer-Policy"] == "no-referrer", path
        assert "no-store" in headers["Cache-Control"], path
    rules = served.ask("GET", "").headers["Content-Security-Policy"]
    parts = {part.split()[0]: part.split()[1:] for part in rules.split(";") if part.strip()}
    assert parts["default-src"] == ["'none'"]
    assert parts["script-src"] == ["'self'"]
    assert parts["style-src"] == ["'self'"]
    assert parts["connect-src"] == ["'self'"]
    assert parts["frame-ancestors"] == ["'none'"]
    assert parts["base-uri"] == ["'none'"]
    assert "unsafe" not in rules and "http" not in rules and "*" not in rules


NAMES_THAT_LEAD_OUT = [
    "../outside/secret.csv",
    "sub/../../outside/secret.csv",
    "..%2foutside%2fsecret.csv",
    "%2e%2e/outside/secret.csv",
    "..\\outside\\secret.csv",
    "....//outside/secret.csv",
    "door/secret.csv",
    "way-out.csv",
    "{outside}/secret.csv",
    "file://{outside}/secret.csv",
    "//{outside}/secret.csv",
    "good.csv\x00",
    "-",
    "",
    ".",
    "..",
    "/dev/zero",
    "/proc/self/environ",
]


@pytest.mark.parametrize("name", NAMES_THAT_LEAD_OUT)
def test_files_outside_the_folder_cannot_be_read(served, place, name):
    answer = served.ask("POST", "api/data", {"file": name.format(outside=place.parent / "outside")})
    assert is_refused(answer), (answer.status, answer.body[:200])
    assert says_why(answer)
    assert SECRET.encode() not in answer.body


def test_the_folder_is_not_served_as_files(served):
    for path in (
        "good.csv",
        "../good.csv",
        "..%2f..%2fetc%2fpasswd",
        "%2e%2e/%2e%2e/etc/passwd",
        "api/download/1/..%2f..%2fgood.csv",
        "/etc/passwd",
        "//etc/passwd",
    ):
        answer = served.ask("GET", path)
        assert is_refused(answer), (path, answer.status)
        assert b"root:" not in answer.body and b"1,1\n" not in answer.body


@pytest.mark.parametrize(
    "words",
    [
        ["--out", "{folder}/written.csv"],
        ["--out={folder}/written.csv"],
        ["--model", "written.safetensors"],
        ["--plot", "scree=written.svg"],
        ["--plot=written.svg"],
        ["--report", "written.html"],
        ["--landmarks", "{folder}/../outside/secret.csv"],
        ["--like", "{folder}/../outside/secret.csv"],
        ["good.csv"],
        ["--target", "u"],
        ["--columns", "1"],
        ["--missing", "drop"],
        ["--ou", "written.csv"],
        ["--", "{folder}/../outside/secret.csv"],
        ["--help"],
    ],
)
def test_a_fit_names_neither_files_nor_columns(served, words):
    before = everything_below(served.folder.parent)
    data = served.data(file="good.csv")
    words = [word.format(folder=served.folder) for word in words]
    answer = served.ask(
        "POST", "api/fit", {"workspace": "test", "pane": "a", "data": data["id"], "args": ["kpca", "-k", "2", *words]}
    )
    if answer.status == 200:
        job = answer.json()
        while job["state"] == "running":
            job = served.ask("GET", f"api/job/{job['job']}?wait=300").json()
        assert job["state"] == "failed", job
        assert job["error"].strip()
    else:
        assert is_refused(answer) and says_why(answer), answer.body
    assert SECRET.encode() not in answer.body
    assert everything_below(served.folder.parent) == before
    assert served.process.poll() is None


def test_nothing_is_written_by_anything_that_the_page_does(served):
    before = everything_below(served.folder.parent)
    for name in ("a.csv", "../x.csv", "/tmp/x.csv", "..%2fx.csv", "good.csv"):
        served.ask("POST", f"api/upload?name={name}", b"u,v\n" + b"".join(b"%d,%d\n" % (i, i * i) for i in range(9)))
    data = served.data(file="good.csv")
    job = served.fit(data, "kpca", "--kernel", "rbf(gamma=0.1)", "-k", "2")
    assert job["state"] == "done", job
    for name in ("scores.csv", "model.safetensors", "report.html"):
        answer = served.ask("GET", f"api/download/{job['job']}/{name}")
        assert answer.status == 200 and len(answer.body) > 50
        assert answer.headers["Content-Disposition"].startswith("attachment")
    assert served.ask("POST", "api/preimage", {"job": job["job"], "scores": [0.1, 0.1]}).status == 200
    assert everything_below(served.folder.parent) == before


def test_an_upload_that_is_too_large_is_refused_before_it_is_read(served):
    most = served.ask("GET", "api/catalogue").json()["most_upload_bytes"]
    assert 2**20 <= most <= 2**31
    start = time.monotonic()
    # The body is never sent: a server that waits for it answers too late.
    answer = served.ask("POST", "api/upload?name=a.csv", b"", [("Content-Length", str(most + 1))])
    assert answer.status == 413 and says_why(answer)
    assert time.monotonic() - start < 5


def test_an_upload_of_unstated_length_is_bounded_too(served):
    most = served.ask("GET", "api/catalogue").json()["most_upload_bytes"]
    piece = b"1,2\n" * 2**18
    head = f"POST /{served.token}/api/upload?name=a.csv HTTP/1.1\r\nHost: {served.host}\r\nTransfer-Encoding: chunked\r\n\r\n"
    sent = 0
    with socket.create_connection(("127.0.0.1", served.port), timeout=20) as line:
        line.sendall(head.encode())
        try:
            while sent <= most + 2**24:
                line.sendall(b"%x\r\n%b\r\n" % (len(piece), piece))
                sent += len(piece)
        except (BrokenPipeError, ConnectionResetError):
            pass
        try:
            answer = line.recv(4096)
        except ConnectionResetError:
            answer = b""
    assert answer == b"" or b" 413 " in answer.split(b"\r\n")[0], answer[:200]
    assert sent <= most + 2**24
    assert served.ask("GET", "api/catalogue").status == 200


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "api/data", b"{"),
        ("POST", "api/data", b"[" * 20000),
        ("POST", "api/data", {}),
        ("POST", "api/data", {"builtin": "no-such-set"}),
        ("POST", "api/data", {"builtin": "iris", "file": "good.csv"}),
        ("POST", "api/fit", {"workspace": "test", "pane": "a", "data": "no-such-data", "args": ["kpca"]}),
        ("POST", "api/fit", {"workspace": "test", "pane": "a", "args": ["kpca"]}),
        ("POST", "api/fit", {"pane": "a", "data": 1, "args": ["kpca"]}),
        ("POST", "api/fit", {"workspace": "", "pane": "a", "data": 1, "args": ["kpca"]}),
        ("POST", "api/fit", {"workspace": "w" * 1000, "pane": "a", "data": 1, "args": ["kpca"]}),
        ("POST", "api/fit", {"workspace": "test", "pane": "invented", "data": 1, "args": ["kpca"]}),
        ("GET", "api/job/999999?wait=0", None),
        ("GET", "api/job/-1", None),
        ("POST", "api/cancel/999999", None),
        ("GET", "api/row/999999/0", None),
        ("POST", "api/preimage", {"job": 999999, "scores": [1, 2]}),
        ("GET", "api/download/999999/scores.csv", None),
        ("GET", "api/figure/999999/scree", None),
        ("GET", "api/column/999999/0", None),
        ("DELETE", "api/catalogue", None),
        ("PUT", "api/data", {"file": "good.csv"}),
        ("GET", "no-such-file", None),
    ],
)
def test_nonsense_is_answered_with_a_sentence(served, method, path, body):
    answer = served.ask(method, path, body if body is not None or method == "GET" else b"")
    assert is_refused(answer), answer.status
    assert says_why(answer), answer.body
    assert served.process.poll() is None


def test_rows_and_scores_that_are_not_there_are_refused(served):
    data = served.data(file="good.csv")
    job = served.fit(data, "kpca", "--kernel", "rbf(gamma=0.1)", "-k", "2")
    assert served.ask("GET", f"api/row/{data['id']}/11").json()["row"] == 12
    for row in ("12", "-1", "1e3", "18446744073709551616"):
        assert is_refused(served.ask("GET", f"api/row/{data['id']}/{row}")), row
        assert is_refused(served.ask("GET", f"api/column/{data['id']}/{row}")), row
    assert is_refused(served.ask("GET", f"api/figure/{job['job']}/no-such-figure"))
    for given in ([], [1.0], [1.0, 2.0, 3.0], ["a", "b"], [None, 1.0]):
        answer = served.ask("POST", "api/preimage", {"job": job["job"], "scores": given})
        assert is_refused(answer) and says_why(answer), (given, answer.body)
    assert is_refused(served.ask("GET", f"api/download/{job['job']}/other.txt"))


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent otherwise on Windows")
def test_interrupting_ends_it(start, place):
    server = start(place)
    code = server.end()
    assert code in ENDED, (code, server.errors)
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", server.port), timeout=2).close()
