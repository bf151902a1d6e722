"""An explorer that a test started, and how to talk to it without a browser."""

import base64
import http.client
import json
import queue
import re
import signal
import subprocess
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

ADDRESS = re.compile(r"^http://127\.0\.0\.1:(\d+)/([^/\s]+)/$")
# Seconds after which a server that says nothing has failed.
START = 20
# Exit codes of a server that was interrupted: by itself, and by the system.
ENDED = (0, 130, -signal.SIGINT)
# Seconds that a fit of a test may take. Machines are shared.
FIT = 30


@dataclass
class Answer:
    """What the server said."""

    status: int
    headers: http.client.HTTPMessage
    body: bytes

    def json(self):
        return json.loads(self.body)


class Server:
    """One `eigenlift explore`, and its address."""

    def __init__(self, program, folder, *arguments, port=0):
        command = [program, "explore", *map(str, arguments), "--port", str(port), "--no-open"]
        self.folder = Path(folder)
        self.errors = []
        self.process = subprocess.Popen(
            command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        lines = queue.Queue()
        for stream, take in ((self.process.stdout, lines.put), (self.process.stderr, self.errors.append)):
            threading.Thread(target=_read, args=(stream, take), daemon=True).start()
        try:
            self.url = lines.get(timeout=START).strip()
        except queue.Empty:
            self.end()
            raise AssertionError(f"{command} printed no address within {START} s; it said: {self.errors}") from None
        found = ADDRESS.match(self.url)
        if not found:
            self.end()
            raise AssertionError(f"{command} printed {self.url!r}, not http://127.0.0.1:PORT/TOKEN/: {self.errors}")
        self.port, self.token = int(found[1]), found[2]
        self.host = f"127.0.0.1:{self.port}"

    def end(self):
        """Ends the process, kindly first."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        try:
            return self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait(5)

    def ask(self, method, path, body=None, headers=(), host="", timeout=20):
        """One request below the token, or anywhere when `path` starts with a slash. `host=None` leaves the header out."""
        target = path if path.startswith("/") else f"/{self.token}/{path}"
        if body is not None and not isinstance(body, bytes):
            body, headers = json.dumps(body).encode(), [("Content-Type", "application/json"), *headers]
        names = {name.lower() for name, _ in headers}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            connection.putrequest(method, target, skip_host=True, skip_accept_encoding=True)
            if host is not None:
                connection.putheader("Host", host or self.host)
            for name, value in headers:
                connection.putheader(name, value)
            if body is not None and not names & {"content-length", "transfer-encoding"}:
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body)
            answer = connection.getresponse()
            return Answer(answer.status, answer.headers, answer.read())
        finally:
            connection.close()

    def data(self, **chosen):
        """Loads a data set that must be good."""
        answer = self.ask("POST", "api/data", chosen)
        assert answer.status == 200, answer.body
        return answer.json()

    def fit(self, data, *arguments, pane="a", workspace="test"):
        """Fits to the end and gives the job."""
        answer = self.ask(
            "POST", "api/fit", {"workspace": workspace, "pane": pane, "data": data["id"], "args": list(arguments)}
        )
        assert answer.status == 200, answer.body
        job, end = answer.json(), time.monotonic() + FIT
        while job["state"] == "running" and time.monotonic() < end:
            job = self.ask("GET", f"api/job/{job['job']}?wait=300").json()
        return job


def _read(stream, take):
    for line in stream:
        take(line)


def scores(result):
    """Scores of a result as an array."""
    flat = np.frombuffer(base64.b64decode(result["scores"]), "<f4")
    return flat.reshape(result["rows"], result["components"])
