"""How long the explorer takes from a slider to numbers and pictures, asked as its page asks.

    python benchmarks/explore.py PATH/TO/eigenlift

Starts `eigenlift explore`, moves a setting twenty times and prints median and worst milliseconds for the fit with its
scores, for each picture, and for a pre-image. The page itself adds the drawing of the points.
"""

import http.client
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

CASES = [
    (
        "digits, 1797 × 64, kpca",
        {"builtin": "digits"},
        lambda g: ["kpca", "-k", "2", "--kernel", f"rbf(gamma={g})"],
        4e-4,
    ),
    (
        "digits, kpca, 10 components",
        {"builtin": "digits"},
        lambda g: ["kpca", "-k", "10", "--kernel", f"rbf(gamma={g})"],
        4e-4,
    ),
    (
        "moons, 2000 × 2, kpca, 8 components",
        {"file": "moons.csv", "target": "class"},
        lambda g: ["kpca", "-k", "8", "--kernel", f"rbf(gamma={g})"],
        2.0,
    ),
    (
        "roll, 2000 × 3, isomap",
        {"file": "roll.csv", "target": "t"},
        lambda g: ["isomap", "--neighbors", str(8 + round(4 * g))],
        1.0,
    ),
    ("digits, 1797 × 64, pca", {"builtin": "digits"}, lambda g: ["pca", "-k", str(2 + round(5 * g))], 1.0),
]


class Page:
    """The server behind the page."""

    def __init__(self, program, folder):
        self.process = subprocess.Popen(
            [program, "explore", "--no-open", "--quiet"], cwd=folder, stdout=subprocess.PIPE, text=True
        )
        _, _, self.host, self.token, _ = self.process.stdout.readline().strip().split("/")
        self.connection = http.client.HTTPConnection(self.host)

    def ask(self, path, body=None):
        method, text = ("GET", None) if body is None else ("POST", json.dumps(body))
        self.connection.request(method, f"/{self.token}/{path}", text, {"Content-Type": "application/json"})
        return json.loads(self.connection.getresponse().read())

    def fit(self, data, args):
        job = self.ask("api/fit", {"workspace": "test", "pane": "a", "data": data["id"], "args": args})
        while job["state"] == "running":
            job = self.ask(f"api/job/{job['job']}?wait=5000")
        if job["state"] != "done":
            raise RuntimeError(job)
        return job


def milliseconds(work, *arguments):
    start = time.perf_counter()
    result = work(*arguments)
    return 1000 * (time.perf_counter() - start), result


def said(name, times):
    print(f"{name:60} median {statistics.median(times):7.1f} ms, worst {max(times):7.1f} ms")


def measure(page, name, table, args, middle):
    data = page.ask("api/data", table)
    fits, figures, back = [], {}, []
    for step in range(20):
        took, job = milliseconds(page.fit, data, args(middle * 10 ** ((step - 10) / 15)))
        fits.append(took)
        for figure in job["result"]["figures"]:
            took, _ = milliseconds(page.ask, f"api/figure/{job['job']}/{figure['name']}")
            figures.setdefault(figure["name"], []).append(took)
        if job["result"]["can_invert"]:
            place = {"job": job["job"], "scores": [0.1] * job["result"]["components"]}
            back.append(milliseconds(page.ask, "api/preimage", place)[0])
    said(name, fits)
    for figure, times in figures.items():
        said(f"    {figure}", times)
    if back:
        said("    pre-image", back)


def main():
    program = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        for name, rows, file in (("moons", 2000, "moons.csv"), ("swiss-roll", 2000, "roll.csv")):
            subprocess.run([program, "data", name, "--rows", str(rows), "--out", file], cwd=folder, check=True)
        page = Page(program, folder)
        try:
            for case in CASES:
                measure(page, *case)
        finally:
            page.process.terminate()
            page.process.wait()


if __name__ == "__main__":
    main()
