#!/usr/bin/env python3
"""Principal components and whitening against scikit-learn, and a file larger than the memory allowed.

    python3 benchmarks/pca.py [--parts wide,tall,zca,stream] [--repeat 5] [--binary FILE]

Uses the environment and the helpers of kpca.py beside it, prints a table and writes benchmarks/results/pca-<date>.json.
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
from kpca import HERE, ROOT, run_ours, say

COMPONENTS, SEED = 16, 0
SHAPES = {"wide": (200, 20_000), "tall": (100_000, 100), "zca": (50_000, 784)}
STREAM_SHAPE, STREAM_MEMORY = (2_500_000, 100), "400MB"
# Largest difference of variances, relative, and of directions beyond rounding, before any time counts.
SAME = 1e-10
# Fits in one process.
FITS = 5


# ------------------------------------------------------------------------------- in processes of their own
def worker_data(job):
    """Standard normal rows with variances that fall like 1/(1 + j), neighbouring columns mixed, and an offset."""
    import numpy as np
    r = np.random.default_rng(SEED)
    n, d = job["shape"]
    scale, offset = 1 / np.sqrt(1 + np.arange(d)), r.normal(size=d)
    out = np.lib.format.open_memmap(job["x"], mode="w+", dtype=np.float64, shape=(n, d))
    for a in range(0, n, 100_000):
        z = r.normal(size=(min(100_000, n - a), d)) * scale
        out[a : a + len(z)] = z + np.roll(z, 1, axis=1) / 2 + offset
    out.flush()


def timed(work):
    start = time.perf_counter()
    result = work()
    return result, time.perf_counter() - start


def worker_raw(job):
    """The numbers of an NPY file alone."""
    import numpy as np
    np.load(job["x"]).tofile(job["raw"])


def worker_pca(job):
    """Several fits of the same array in one process; variances divided by n."""
    import numpy as np
    from sklearn.decomposition import PCA
    x = np.load(job["x"])
    runs = [timed(lambda: PCA(COMPONENTS, svd_solver=job["solver"], random_state=0).fit(x)) for _ in range(job["fits"])]
    model, n = runs[-1][0], len(x)
    return {"seconds": [seconds for _, seconds in runs], "variances": list(model.explained_variance_ * (n - 1) / n),
            "solver": model._fit_svd_solver, "peak": kpca.memory()["VmHWM"]}


def worker_zca(job):
    """ZCA as users of scikit-learn write it: PCA of all components, then the rows turned back."""
    import numpy as np
    from sklearn.decomposition import PCA
    x = np.load(job["x"])
    np.linalg.eigh(np.ones((64, 64)) @ np.eye(64))

    def fit():
        model = PCA(x.shape[1]).fit(x)
        return model, (model.components_.T / np.sqrt(model.explained_variance_ * (len(x) - 1) / len(x))) @ model.components_

    (model, w), fit_seconds = timed(fit)
    z, seconds = timed(lambda: (x - model.mean_) @ w)
    np.save(job["z"], z[:1000])
    return {"seconds": fit_seconds, "transform_seconds": seconds, "solver": model._fit_svd_solver, "peak": kpca.memory()["VmHWM"]}


def worker_stream_check(job):
    """The covariance of the file by NumPy, a piece at a time, and its eigenvalues."""
    import numpy as np
    x = np.load(job["x"], mmap_mode="r")
    mean = sum(x[a : a + 100_000].sum(0) for a in range(0, len(x), 100_000)) / len(x)
    c = sum((x[a : a + 100_000] - mean).T @ (x[a : a + 100_000] - mean) for a in range(0, len(x), 100_000)) / len(x)
    return {"variances": list(np.linalg.eigvalsh(c)[::-1][:COMPONENTS])}


WORKERS = {"data": worker_data, "raw": worker_raw, "pca": worker_pca, "zca": worker_zca, "stream-check": worker_stream_check}


def run_worker(kind, **job):
    command = [sys.executable, str(Path(__file__).resolve()), "--worker", kind]
    done = subprocess.run(command, input=json.dumps(job), capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{kind} failed:\n{done.stderr}")
    return json.loads(done.stdout)


# ------------------------------------------------------------------------------- parts
def ours(binary, *words):
    text, peak = run_ours([binary, *words, "--json", "--quiet"])
    return json.loads(text), peak


def same(a, b, what):
    worst = max(abs(x - y) / abs(y) for x, y in zip(a, b, strict=True))
    if worst > SAME:
        raise SystemExit(f"{what}: variances differ by {worst:.1e}")
    return worst


def bench_program():
    """The program that fits several times in one process; builds it."""
    command = ["cargo", "bench", "-q", "-p", "eigenlift", "--bench", "pca", "--no-run", "--message-format=json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    found = [line["executable"] for line in lines if line.get("executable") and line["target"]["name"] == "pca"]
    if done.returncode or not found:
        raise SystemExit(f"the bench program could not be built:\n{done.stderr}")
    return found[-1]


def fit_part(name, binary, options, folder):
    """Fit alone, sides alternated, several fits in each process, the best counts; scikit-learn's default and its full solver."""
    files = {"x": str(folder / "x.npy"), "raw": str(folder / "x.bin")}
    n, d = SHAPES[name]
    run_worker("data", shape=SHAPES[name], **files)
    run_worker("raw", **files)
    program = bench_program()
    runs = {"ours": [], "default": [], "full": []}
    for turn in range(options.repeat):
        text, peak = run_ours([program, files["raw"], n, d, COMPONENTS, FITS])
        runs["ours"].append({**json.loads(text), "peak": peak})
        runs["default"].append(run_worker("pca", solver="auto", fits=FITS, **files))
        if turn == 0:
            runs["full"].append(run_worker("pca", solver="full", fits=2, **files))
    account, cold_peak = ours(binary, "fit", "pca", files["x"], "-k", COMPONENTS)
    apart = max(same(r["variances"], runs["full"][0]["variances"], name) for r in [*runs["ours"], account])
    best = {side: min(min(r["seconds"]) for r in all_runs) for side, all_runs in runs.items()}
    first = {side: min(r["seconds"][0] for r in all_runs) for side, all_runs in runs.items()}
    row = {
        "part": name, "n": n, "d": d, "k": COMPONENTS, "route": runs["ours"][0]["route"], "seconds": best, "first_fit_seconds": first,
        "ratio_default": best["default"] / best["ours"], "ratio_full": best["full"] / best["ours"],
        "ratio_default_first_fit": first["default"] / first["ours"],
        "default_solver": runs["default"][0]["solver"], "variances_apart": apart,
        "all_seconds": {side: [r["seconds"] for r in all_runs] for side, all_runs in runs.items()},
        "peak_bytes": {side: min(r["peak"] for r in all_runs) for side, all_runs in runs.items()},
        "command_line": {"fit": account["seconds"]["fit"], "peak": cold_peak},
    }
    say(f"  {n} × {d} ({row['route']}): {best['ours'] * 1e3:.1f} ms; scikit-learn {row['default_solver']} {best['default'] * 1e3:.1f} ms: "
        f"{row['ratio_default']:.1f}×; full {best['full'] * 1e3:.0f} ms: {row['ratio_full']:.1f}×; first fit of a process "
        f"{first['ours'] * 1e3:.1f} and {first['default'] * 1e3:.1f} ms: {row['ratio_default_first_fit']:.1f}×; variances apart {apart:.1e}")
    return row


def zca_part(name, binary, options, folder):
    import numpy as np
    files = {"x": str(folder / "x.npy"), "z": str(folder / "z.npy")}
    run_worker("data", shape=SHAPES[name], **files)
    own, rival = [], []
    for _ in range(max(2, options.repeat // 2)):
        account, peak = ours(binary, "fit", "whiten", files["x"], "--method", "zca", "--out", folder / "own.npy")
        own.append({"fit": account["seconds"]["fit"], "transform": account["seconds"]["project"], "peak": peak})
        rival.append(run_worker("zca", **files))
    apart = float(np.abs(np.load(folder / "own.npy", mmap_mode="r")[:1000] - np.load(files["z"])).max())
    if apart > 1e-8:
        raise SystemExit(f"zca: rows differ by {apart:.1e}")
    n, d = SHAPES[name]
    row = {
        "part": name, "n": n, "d": d, "fit": min(r["fit"] for r in own), "transform": min(r["transform"] for r in own),
        "rival_fit": min(r["seconds"] for r in rival), "rival_transform": min(r["transform_seconds"] for r in rival),
        "peak_bytes": {"ours": min(r["peak"] for r in own), "rival": min(r["peak"] for r in rival)}, "rows_apart": apart,
        "all": {"ours": own, "rival": rival},
    }
    say(f"  ZCA {n} × {d}: fit {row['fit']:.2f} s, rows {row['transform']:.2f} s; scikit-learn's PCA and a product {row['rival_fit']:.2f} s, "
        f"{row['rival_transform']:.2f} s: {row['rival_fit'] / row['fit']:.1f}×, {row['rival_transform'] / row['transform']:.1f}×")
    return row


def stream_part(name, binary, options, folder):
    files = {"x": str(folder / "x.npy")}
    run_worker("data", shape=STREAM_SHAPE, **files)
    account, peak = ours(binary, "fit", "pca", files["x"], "-k", COMPONENTS, "--memory", STREAM_MEMORY, "--model", folder / "m.safetensors")
    apart = same(account["variances"], run_worker("stream-check", **files)["variances"], name)
    size = Path(files["x"]).stat().st_size
    row = {"part": name, "file_bytes": size, "n": STREAM_SHAPE[0], "d": STREAM_SHAPE[1], "memory": STREAM_MEMORY,
           "fit": account["seconds"]["fit"], "peak_bytes": peak, "variances_apart": apart, "route": account["plan"]["route"]}
    say(f"  {size / 1e9:.2f} GB file: fit {row['fit']:.2f} s, peak {peak / 1e6:.0f} MB, variances apart {apart:.1e}")
    return row


def main():
    if sys.argv[1:2] == ["--worker"]:
        print(json.dumps(WORKERS[sys.argv[2]](json.load(sys.stdin)) or {}))
        return
    parser = argparse.ArgumentParser(description="PCA and whitening: eigenlift against scikit-learn.")
    parser.add_argument("--parts", default="wide,tall,zca,stream")
    parser.add_argument("--repeat", type=int, default=5, help="runs of each; the best counts")
    parser.add_argument("--binary", type=Path, help="an eigenlift binary to measure instead of building one")
    options = parser.parse_args()
    kpca.enter_environment()
    binary = (options.binary or kpca.build()).resolve()
    versions = dict(line.split("==") for line in (HERE / "requirements.txt").read_text(encoding="utf-8").split())
    result = {
        "benchmark": "PCA", "date": datetime.date.today().isoformat(), "machine": kpca.machine(),
        "versions": {
            "eigenlift": kpca.output_of(binary, "--version"), "commit": kpca.output_of("git", "rev-parse", "HEAD"),
            "rustc": kpca.output_of("rustc", "--version"), "python": platform.python_version(), **versions,
        },
        "repeat": options.repeat, "rows": [],
    }
    parts = {"wide": fit_part, "tall": fit_part, "zca": zca_part, "stream": stream_part}
    for name in options.parts.split(","):
        say(name)
        with tempfile.TemporaryDirectory(prefix="eigenlift-bench-") as folder:
            result["rows"].append(parts[name](name, binary, options, Path(folder)))
    path = HERE / "results" / f"pca-{result['date']}.json"
    path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(f"written: {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
