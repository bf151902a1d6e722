"""Files that unpack to more than they look, numbers that have no share, and requests that never end."""

import io
import re
import socket
import sys
import time
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from test_truth import names_in_picture, recorded

# Seconds after which a connection whose request does not come is closed, and what a busy machine may add.
PATIENCE = 15
ADDED = 10
# Bytes of memory beyond which a server has unpacked what it should have refused.
MUCH = 600 << 20


def bomb(path, rows=400_000_000):
    """An NPZ file that is small and announces many rows, all zero."""
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (rows // 4, 4)})
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("X.npy", "w") as member:
        member.write(header.getvalue())
        zeros = bytes(1 << 20)
        for _ in range(64):
            member.write(zeros)


def constant_parquet(path, rows=20_000_000):
    """A Parquet file of one number and one word, each repeated at almost no cost."""
    table = pa.table(
        {"u": pa.array(np.ones(rows, np.int8)).cast(pa.int32()), "v": np.arange(rows, dtype=np.int32) // 1000}
    )
    pq.write_table(table, path, compression="snappy", use_dictionary=["u", "v"])


def most_memory(server):
    with open(f"/proc/{server.process.pid}/status") as status:
        return 1024 * int(re.search(r"VmHWM:\s+(\d+)", status.read())[1])


@pytest.mark.parametrize(("name", "make"), [("zeros.npz", bomb), ("same.parquet", constant_parquet)])
def test_a_file_is_bounded_by_what_it_unpacks_to(explore, start, tables, tmp_path, name, make):
    server = start(tables)
    explorer = explore("iris.csv", server=server)
    make(tmp_path / name)
    assert (tmp_path / name).stat().st_size < 2 << 20
    before = explorer.job()
    explorer.watch.excuse(413, "/api/upload")
    explorer.page.set_input_files("#upload", tmp_path / name)
    error = explorer.page.locator("#error")
    error.wait_for(state="visible")
    text = error.inner_text()
    assert "unpacks to" in text and str(64 << 20) in text and "--most-upload" in text, text
    assert explorer.job() == before and "iris.csv" in explorer.page.inner_text("#data-words")
    if sys.platform == "linux":
        assert most_memory(server) < MUCH


def test_numbers_that_overflow_are_called_that(explore, tmp_path):
    explorer = explore("iris.csv")
    rows = np.random.default_rng(0).normal(size=(30, 2)) * 1e300
    (tmp_path / "large.csv").write_text("u,v\n" + "".join(f"{u:e},{v:e}\n" for u, v in rows))
    explorer.page.set_input_files("#upload", tmp_path / "large.csv")
    explorer.at("fit-error").wait_for(state="visible")
    text = explorer.at("fit-error").inner_text()
    assert "overflow" in text and "without any distance" not in text, text


# Negative eigenvalues make the trace smaller than the variance: the three largest exceed it together, the two largest do not.
@pytest.mark.parametrize("k", [2, 3])
def test_no_share_is_shown_of_a_total_that_is_none(explore, shoot, k):
    explorer = recorded(explore("digits"))
    explorer.page.locator("#pane-a details.more summary").click()
    explorer.page.fill("#more-a", f"-k {k} --solver davidson --kernel sigmoid(gamma=0.001,coef0=-1)")
    explorer.change(lambda: explorer.page.press("#more-a", "Enter"))
    shoot(explorer.page, "sigmoid", full_page=True)
    assert sorted(names_in_picture(explorer)) == ["kpca1", "kpca2"]
    explorer.tab("account")
    page = explorer.page.inner_text("#pane-a")
    report = explorer.download("report.html").read_text()
    for text in (page, report):
        assert not re.search(r"\b(inf|nan|infinity)\b\s*%", text, re.IGNORECASE)
        assert "% of variance" not in text and "of the variance" not in text


def test_requests_that_never_end_are_given_up(served):
    beginnings = {
        "nothing": b"",
        "half a head": b"GET / HTTP/1.1\r\nHost: 127",
        "half a body": f"POST /{served.token}/api/data HTTP/1.1\r\nHost: {served.host}\r\nContent-Type: application/json\r\n"
        "Content-Length: 100\r\n\r\n{".encode(),
        "half an upload": f"POST /{served.token}/api/upload?name=a.csv HTTP/1.1\r\nHost: {served.host}\r\n"
        "Transfer-Encoding: chunked\r\n\r\n3\r\na,b\r\n".encode(),
    }
    begun = time.monotonic()
    open_lines = {}
    for name, words in beginnings.items():
        for i in range(15):
            line = socket.create_connection(("127.0.0.1", served.port), timeout=PATIENCE + ADDED)
            line.sendall(words)
            open_lines[name, i] = line
    # Others are answered meanwhile.
    assert served.ask("GET", "api/catalogue").status == 200
    for (name, _), line in open_lines.items():
        line.settimeout(max(0.1, begun + PATIENCE + ADDED - time.monotonic()))
        answer = b""
        while piece := line.recv(4096):
            answer += piece
        assert answer == b"" or b" 408 " in answer.split(b"\r\n")[0], (name, answer)
        line.close()
    assert time.monotonic() - begun > PATIENCE - 1
