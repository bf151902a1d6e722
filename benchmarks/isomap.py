#!/usr/bin/env python3
"""Isomap: exact against scikit-learn, and by landmarks where scikit-learn's matrix does not fit.

    python3 benchmarks/isomap.py [--parts exact,landmarks] [--sizes 2000,5000] [--repeat 3] [--binary FILE]

Uses the environment and the helpers of kpca.py beside it, prints a table and writes benchmarks/results/isomap-<date>.json.
README.md beside this file says what is measured and how.
"""

import argparse
import datetime
import json
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import kpca
from kpca import HERE, MIB, ROOT, run_ours, say

NEIGHBORS, COMPONENTS, SEED = 10, 2, 1
LARGE_ROWS = 100_000


# ------------------------------------------------------------------------------- in processes of their own
def roll(n):
    """A swiss roll and its own coordinates: arc length and height."""
    import numpy as np

    rng = np.random.default_rng(SEED)
    t = 1.5 * np.pi * (1 + 2 * rng.random(n))
    height = 21 * rng.random(n)
    arc = 0.5 * (t * np.sqrt(1 + t * t) + np.arcsinh(t))
    return np.c_[t * np.cos(t), height, t * np.sin(t)], np.c_[arc, height]


def worker_data(job):
    import numpy as np

    x, flat = roll(job["n"])
    np.save(job["x"], x)
    np.save(job["flat"], flat)


def worker_sklearn(job):
    """One fit with all cores, its peak of memory, and the embedding in a file."""
    import numpy as np
    from sklearn.manifold import Isomap

    x = np.load(job["x"])
    np.linalg.eigh(np.eye(8) @ np.eye(8))  # start the threads of BLAS outside the measurement
    kpca.forget_peak()
    model = Isomap(n_neighbors=NEIGHBORS, n_components=COMPONENTS, n_jobs=-1)
    start = time.perf_counter()
    y = model.fit_transform(x)
    seconds = time.perf_counter() - start
    np.save(job["scores"], y)
    return {"seconds": seconds, "peak": kpca.memory()["VmHWM"]}


def worker_compare(job):
    """Largest difference of two embeddings up to sign, and each one's error after the best similarity with the sheet."""
    import numpy as np

    def procrustes(y, flat):
        y, flat = y - y.mean(0), flat - flat.mean(0)
        y, flat = y / np.linalg.norm(y), flat / np.linalg.norm(flat)
        return float(1 - np.linalg.svd(y.T @ flat, compute_uv=False).sum() ** 2)

    flat = np.load(job["flat"])
    found = [np.load(path) for path in job["scores"]]
    out = {"procrustes": [procrustes(y, flat) for y in found]}
    if len(found) == 2:
        a, b = found
        signs = np.sign((a * b).sum(0))
        out["difference"] = float(np.abs(a - b * signs).max() / np.abs(b).max())
    return out


def worker_versions(_):
    import numpy
    import scipy
    import sklearn

    return {module.__name__: module.__version__ for module in (numpy, scipy, sklearn)}


WORKERS = {"versions": worker_versions, "data": worker_data, "sklearn": worker_sklearn, "compare": worker_compare}


# ------------------------------------------------------------------------------------------------- the driver
def run_worker(kind, **job):
    command = [sys.executable, __file__, "--worker", kind]
    done = subprocess.run(command, input=json.dumps(job), capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{kind} {job}\n{done.stderr}")
    return json.loads(done.stdout)


def ours(binary, files, *more):
    """One fit by the command; seconds of the fit alone, as it tells them, and the peak that the system saw."""
    command = [binary, "fit", "isomap", files["x"], "--neighbors", NEIGHBORS, "-k", COMPONENTS]
    command += ["--tol", "1e-10", "--out", files["ours"], "--json", "--quiet", *more]
    text, peak = run_ours(command)
    account = json.loads(text)
    return {"seconds": account["seconds"]["fit"], "peak": peak, "account": account}


def files_of(folder, n):
    files = {name: str(folder / f"{name}.npy") for name in ("x", "flat", "ours", "theirs")}
    run_worker("data", n=n, x=files["x"], flat=files["flat"])
    return files


def best(runs):
    return min(runs, key=lambda run: run["seconds"])


def exact(binary, options, folder):
    """Alternated, best of the repeats; the same embedding first."""
    rows = []
    for n in options.sizes:
        files = files_of(folder, n)
        mine, theirs = [], []
        for _ in range(options.repeat):
            mine.append(ours(binary, files, "--exact"))
            theirs.append(run_worker("sklearn", x=files["x"], scores=files["theirs"]))
        same = run_worker("compare", flat=files["flat"], scores=[files["ours"], files["theirs"]])
        a, b = best(mine), best(theirs)
        rows.append({
            "n": n, "d": 3, "k": COMPONENTS, "neighbors": NEIGHBORS, "seconds": a["seconds"], "sklearn": b["seconds"],
            "ratio": b["seconds"] / a["seconds"], "peak": a["peak"], "sklearn_peak": b["peak"],
            "all_seconds": [run["seconds"] for run in mine], "all_sklearn": [run["seconds"] for run in theirs], **same,
        })
        say(f"n = {n}: {a['seconds']:.2f} s against {b['seconds']:.2f} s, {rows[-1]['ratio']:.1f}×, "
            f"difference {same['difference']:.1e}, Procrustes {same['procrustes'][0]:.2e}, "
            f"peak {a['peak'] / MIB:.0f} against {b['peak'] / MIB:.0f} MiB")
    return rows


def landmarks(binary, options, folder):
    """Many rows within 2 GB."""
    n = options.large_rows
    files = files_of(folder, n)
    runs = [ours(binary, files, "--memory", "2GB") for _ in range(options.repeat)]
    a = best(runs)
    same = run_worker("compare", flat=files["flat"], scores=[files["ours"]])
    plan, facts = a["account"]["plan"], a["account"]["facts"]
    row = {
        "n": n, "d": 3, "k": COMPONENTS, "neighbors": NEIGHBORS, "landmarks": plan["n_landmarks"], "seconds": a["seconds"],
        "all_seconds": [run["seconds"] for run in runs], "peak": a["peak"], "facts": facts,
        "sklearn_matrix_bytes": 8 * n * n, **same,
    }
    say(f"n = {n}, {plan['n_landmarks']} landmarks: {a['seconds']:.1f} s, peak {a['peak'] / MIB:.0f} MiB, "
        f"Procrustes {same['procrustes'][0]:.2e}; scikit-learn's distances alone would take {8 * n * n / 1e9:.0f} GB")
    return row


def main():
    if sys.argv[1:2] == ["--worker"]:
        print(json.dumps(WORKERS[sys.argv[2]](json.load(sys.stdin)) or {}))
        return
    parser = argparse.ArgumentParser(description="Isomap, exact and by landmarks.")
    parser.add_argument("--parts", default="exact,landmarks")
    parser.add_argument("--sizes", default="2000,5000")
    parser.add_argument("--large-rows", type=int, default=LARGE_ROWS)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--binary", type=Path, help="an eigenlift binary to measure instead of building one")
    options = parser.parse_args()
    options.sizes = [int(s) for s in options.sizes.split(",")]
    kpca.enter_environment()
    binary = (options.binary or kpca.build()).resolve()
    result = {
        "benchmark": "Isomap", "date": datetime.date.today().isoformat(), "machine": kpca.machine(),
        "versions": {
            "eigenlift": kpca.output_of(binary, "--version"), "commit": kpca.output_of("git", "rev-parse", "HEAD"),
            "rustc": kpca.output_of("rustc", "--version"), "python": platform.python_version(), **run_worker("versions"),
        },
        "data": f"swiss roll, t in 1.5π to 4.5π, height 21, no noise, seed {SEED}, f64; ours to a residual of 1e-10",
    }
    path = HERE / "results" / f"isomap-{result['date']}.json"
    if path.exists():
        result["parts"] = json.loads(path.read_text(encoding="utf-8")).get("parts", {})
    parts = {"exact": exact, "landmarks": landmarks}
    for name in options.parts.split(","):
        with tempfile.TemporaryDirectory(prefix="eigenlift-bench-") as folder:
            result.setdefault("parts", {})[name] = parts[name](binary, options, Path(folder))
        path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(f"written: {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
