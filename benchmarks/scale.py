#!/usr/bin/env python3
"""Kernel PCA at scale: growth of exact fits, low rank against scikit-learn, and a file larger than memory.

    python3 benchmarks/scale.py [--parts growth,low-rank,stream] [--sizes 2000,...,200000] [--repeat 3] [--binary FILE]

Uses the environment and the helpers of kpca.py beside it, prints tables, writes benchmarks/results/scale-<date>.json and,
with the part growth, docs/images/growth.png. README.md beside this file says what is measured and how.
"""
import argparse
import datetime
import json
import platform
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import kpca
from kpca import HERE, MIB, ROOT, run_ours, say

DIM, COMPONENTS, CLUSTERS, SEED = 32, 16, 20, 0
RANK, LOW_RANK_ROWS = 1000, 100_000
STREAM_ROWS, STREAM_RANK, STREAM_MEMORY = 12_000_000, 300, "900MB"


# ------------------------------------------------------------------------------- in processes of their own
def mixture(n, sd, seed=SEED):
    import numpy as np
    r = np.random.default_rng(seed)
    centres = r.normal(size=(CLUSTERS, DIM))
    return centres[r.integers(0, CLUSTERS, n)] + sd * r.normal(size=(n, DIM))


def gamma_of(x):
    import numpy as np
    i, j = np.random.default_rng(SEED).integers(len(x), size=(2, 200_000))
    return float(1 / np.median(((x[i] - x[j]) ** 2).sum(1)[i != j]))


def worker_data(job):
    import numpy as np
    x = mixture(job["n"], job["sd"])
    np.save(job["x"], x)
    return {"gamma": gamma_of(x)}


def worker_exact(job):
    """scikit-learn's ARPACK at the loosest tolerance that kpca.py found to reach 1e-6, all cores."""
    import numpy as np
    from sklearn.decomposition import KernelPCA
    x = np.load(job["x"])
    before = kpca.memory()["VmRSS"]
    kpca.forget_peak()
    model = KernelPCA(COMPONENTS, kernel="rbf", gamma=job["gamma"], eigen_solver="arpack", tol=1e-3, random_state=0, n_jobs=-1)
    start = time.perf_counter()
    scores = model.fit_transform(x)
    seconds = time.perf_counter() - start
    np.save(job["scores"], scores)
    return {"seconds": seconds, "net": kpca.memory()["VmHWM"] - before}


def worker_nystroem(job):
    """scikit-learn's Nystroem and PCA, and the share of the trace that the features leave out."""
    import numpy as np
    from sklearn.decomposition import PCA
    from sklearn.kernel_approximation import Nystroem
    x = np.load(job["x"])
    np.linalg.eigh(np.eye(8) @ np.eye(8))
    before = kpca.memory()["VmRSS"]
    kpca.forget_peak()
    start = time.perf_counter()
    features = Nystroem(kernel="rbf", gamma=job["gamma"], n_components=RANK, random_state=0, n_jobs=-1).fit_transform(x)
    PCA(COMPONENTS, random_state=0).fit_transform(features)
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "net": kpca.memory()["VmHWM"] - before, "left": float(1 - (features**2).sum() / len(x))}


def worker_left(job):
    """The share of the trace that a model's landmarks leave out, by NumPy, on every 20th row."""
    import numpy as np
    from scipy.linalg import cholesky, solve_triangular
    with open(job["model"], "rb") as f:
        (size,) = struct.unpack("<Q", f.read(8))
        entry = json.loads(f.read(size))["samples"]
        f.seek(8 + size + entry["data_offsets"][0])
        z = np.frombuffer(f.read(entry["data_offsets"][1] - entry["data_offsets"][0])).reshape(entry["shape"])
    x = np.load(job["x"])[::20]

    def k(a, b):
        return np.exp(-job["gamma"] * np.maximum((a * a).sum(1)[:, None] + (b * b).sum(1) - 2 * a @ b.T, 0))

    f = solve_triangular(cholesky(k(z, z), lower=True), k(z, x), lower=True)
    return {"left": float(1 - (f * f).sum() / len(x))}


def worker_stream_data(job):
    """An NPY file written a piece at a time."""
    import numpy as np
    r = np.random.default_rng(SEED)
    centres = r.normal(size=(CLUSTERS, DIM))
    out = np.lib.format.open_memmap(job["x"], mode="w+", dtype=np.float64, shape=(job["n"], DIM))
    for a in range(0, job["n"], 500_000):
        m = min(500_000, job["n"] - a)
        out[a : a + m] = centres[r.integers(0, CLUSTERS, m)] + 0.5 * r.normal(size=(m, DIM))
    out.flush()
    return {"gamma": gamma_of(np.asarray(out[:200_000]))}


WORKERS = {
    "data": worker_data, "exact": worker_exact, "nystroem": worker_nystroem, "left": worker_left, "stream-data": worker_stream_data,
    "check": kpca.worker_check,
}


def run_worker(kind, **job):
    done = subprocess.run(
        [sys.executable, str(Path(__file__).resolve()), "--worker", kind], input=json.dumps(job), capture_output=True, text=True,
    )
    if done.returncode:
        raise SystemExit(f"the {kind} process failed:\n{done.stderr}")
    return json.loads(done.stdout)


# --------------------------------------------------------------------------------------------------- parts
def ours(binary, *args):
    text, peak = run_ours([binary, *args, "--json"])
    return json.loads(text), peak


def growth(binary, options, folder):
    """Exact fits from small to large; scikit-learn as far as its matrix fits."""
    rows = []
    for n in options.sizes:
        files = {"x": str(folder / "x.npy"), "scores": str(folder / "s.npy")}
        gamma = run_worker("data", n=n, sd=0.7, **files)["gamma"]
        ask = ["fit", "kpca", files["x"], "--kernel", f"rbf(gamma={gamma!r})", "-k", COMPONENTS, "--out", files["scores"]]
        best = None
        for _ in range(options.repeat if n <= 20_000 else 1):
            account, peak = ours(binary, *ask)
            if best is None or account["seconds"]["fit"] < best["seconds"]:
                best = {
                    "who": "eigenlift", "n": n, "d": DIM, "k": COMPONENTS, "seconds": account["seconds"]["fit"], "peak_bytes": peak,
                    "passes": account["stats"]["passes"], "products": account["stats"]["products"],
                    "residual": max(account["residuals"]), "n_certified": account["bounds"]["n_certified"],
                    "stored": account["plan"]["storage"], "threads": account["threads"],
                }
        rows.append(best)
        say(f"  n = {n:7d}  eigenlift {best['seconds']:8.2f} s  {best['peak_bytes'] / MIB:7.0f} MiB  {best['passes']} passes, residual {best['residual']:.1e}")
        if n <= options.rival_up_to:
            runs = [run_worker("exact", gamma=gamma, **files) for _ in range(options.repeat if n <= 10_000 else 1)]
            rival = min(runs, key=lambda r: r["seconds"])
            residual = run_worker("check", x=files["x"], scores=files["scores"], gamma=gamma)["residual"]
            rows.append({"who": "scikit-learn", "n": n, "d": DIM, "k": COMPONENTS, "seconds": rival["seconds"], "net_bytes": rival["net"], "residual": residual})
            say(f"  n = {n:7d}  scikit-learn {rival['seconds']:6.2f} s  {rival['net'] / MIB:7.0f} MiB net, residual {residual:.1e}")
    rival = [r for r in rows if r["who"] == "scikit-learn"]
    if rival:
        last = rival[-1]
        for n in [m for m in options.sizes if m > last["n"]]:
            scale = (n / last["n"]) ** 2
            say(f"  n = {n:7d}  scikit-learn would need about {last['seconds'] * scale:6.0f} s and {last['net_bytes'] * scale / 2**30:5.0f} GiB (from n = {last['n']}, as n²)")
            rows.append({"who": "scikit-learn, estimated", "n": n, "seconds": last["seconds"] * scale, "net_bytes": last["net_bytes"] * scale})
    return rows


def low_rank(binary, options, folder):
    files = {"x": str(folder / "x.npy"), "model": str(folder / "m.safetensors")}
    gamma = run_worker("data", n=LOW_RANK_ROWS, sd=0.5, **files)["gamma"]
    ways = [("kmeans", RANK), ("pivoted", RANK), ("uniform", RANK), ("kmeans", 700)]
    rows = {way: [] for way in ways} | {"scikit-learn": []}
    for _ in range(options.repeat):
        for how, rank in ways:
            account, peak = ours(
                binary, "fit", "kpca", files["x"], "--kernel", f"rbf(gamma={gamma!r})", "-k", COMPONENTS, "--low-rank", how,
                "--rank", rank, "--model", files["model"],
            )
            left = run_worker("left", gamma=gamma, **files)["left"] if not rows[how, rank] else rows[how, rank][0]["left_on_sample"]
            rows[how, rank].append({
                "seconds": account["seconds"]["fit"], "peak": peak, "left": account["bounds"]["residual_share"], "left_on_sample": left,
            })
        rows["scikit-learn"].append(run_worker("nystroem", gamma=gamma, **files))
    rival = min(rows.pop("scikit-learn"), key=lambda r: r["seconds"])
    say(f"  scikit-learn Nystroem {RANK} + PCA  {rival['seconds']:6.2f} s, {100 * rival['left']:.3f} % of the trace left out")
    out = [{"who": f"scikit-learn Nystroem({RANK}) + PCA({COMPONENTS})", "n": LOW_RANK_ROWS, "d": DIM, **rival}]
    for (how, rank), runs in rows.items():
        best = min(runs, key=lambda r: r["seconds"])
        ratio = rival["seconds"] / best["seconds"]
        say(f"  {how:8s} {rank:5d}                   {best['seconds']:6.2f} s, {100 * best['left']:.3f} % (by NumPy on a sample {100 * best['left_on_sample']:.3f} %), {ratio:.1f}x")
        out.append({"who": f"eigenlift --low-rank {how} --rank {rank}", "n": LOW_RANK_ROWS, "d": DIM, "ratio": ratio, **best})
    return out


def stream(binary, options, folder):
    files = {"x": str(folder / "big.npy"), "model": str(folder / "m.safetensors"), "scores": str(folder / "s.npy")}
    gamma = run_worker("stream-data", n=options.stream_rows, **files)["gamma"]
    size = Path(files["x"]).stat().st_size
    fit, fit_peak = ours(
        binary, "fit", "kpca", files["x"], "--kernel", f"rbf(gamma={gamma!r})", "-k", 8, "--rank", STREAM_RANK, "--memory", STREAM_MEMORY,
        "--model", files["model"],
    )
    transform, transform_peak = ours(binary, "transform", files["model"], files["x"], "--out", files["scores"])
    say(f"  {size / 1e9:.2f} GB, {options.stream_rows} rows: fit {fit['seconds']['fit']:.1f} s, peak {fit_peak / 1e6:.0f} MB; "
        f"transform {sum(transform['seconds'].values()):.1f} s, peak {transform_peak / 1e6:.0f} MB")
    return [{
        "file_bytes": size, "rows": options.stream_rows, "d": DIM, "rank": STREAM_RANK, "memory": STREAM_MEMORY,
        "fit_seconds": fit["seconds"]["fit"], "fit_peak_bytes": fit_peak, "left": fit["bounds"]["residual_share"],
        "transform_seconds": transform["seconds"], "transform_peak_bytes": transform_peak,
    }]


def draw(rows, path):
    """Time against n on logarithmic axes."""
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    plt.rcParams.update({"font.family": "DejaVu Sans", "font.size": 11})
    figure, axes = plt.subplots(figsize=(7.2, 4.4))
    looks = {
        "eigenlift": ("#0b6e99", "o", "-", "eigenlift, exact, residual ≤ 1e-6"),
        "scikit-learn": ("#b5541c", "s", "-", "scikit-learn, ARPACK"),
        "scikit-learn, estimated": ("#b5541c", "", ":", "scikit-learn as n² (does not fit into memory)"),
    }
    measured = [r for r in rows if r["who"] == "scikit-learn"]
    for who, (color, marker, line, label) in looks.items():
        some = [r for r in rows if r["who"] == who]
        if who.endswith("estimated") and some and measured:
            some = measured[-1:] + some
        if some:
            axes.plot([r["n"] for r in some], [r["seconds"] for r in some], color=color, marker=marker, linestyle=line, label=label)
    axes.set(xscale="log", yscale="log", xlabel="samples", ylabel="seconds", title=f"Kernel PCA, {COMPONENTS} components, {DIM} features, 2 cores")
    axes.grid(True, which="both", alpha=0.25)
    axes.legend(frameon=False, loc="upper left")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)


def main():
    if sys.argv[1:2] == ["--worker"]:
        print(json.dumps(WORKERS[sys.argv[2]](json.load(sys.stdin)) or {}))
        return
    parser = argparse.ArgumentParser(description="Kernel PCA at scale.")
    parser.add_argument("--parts", default="growth,low-rank,stream")
    parser.add_argument("--sizes", default="2000,5000,10000,20000,50000,100000,200000")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--rival-up-to", type=int, default=20_000, help="largest n for scikit-learn's exact fit")
    parser.add_argument("--stream-rows", type=int, default=STREAM_ROWS)
    parser.add_argument("--binary", type=Path, help="an eigenlift binary to measure instead of building one")
    options = parser.parse_args()
    options.sizes = [int(s) for s in options.sizes.split(",")]
    kpca.enter_environment()
    binary = (options.binary or kpca.build()).resolve()
    result = {
        "benchmark": "kernel PCA at scale", "date": datetime.date.today().isoformat(), "machine": kpca.machine(),
        "versions": {
            "eigenlift": kpca.output_of(binary, "--version"), "commit": kpca.output_of("git", "rev-parse", "HEAD"),
            "rustc": kpca.output_of("rustc", "--version"), "python": platform.python_version(),
            **{line.split("==")[0]: line.split("==")[1] for line in (HERE / "requirements.txt").read_text(encoding="utf-8").split()},
        },
        "data": f"mixture of {CLUSTERS} Gaussians in {DIM} dimensions, centres standard normal, sd 0.7 (growth) and 0.5, seed {SEED}, f64; rbf, gamma = 1/median",
    }
    path = HERE / "results" / f"scale-{result['date']}.json"
    if path.exists():
        result["parts"] = json.loads(path.read_text(encoding="utf-8")).get("parts", {})
    parts = {"growth": growth, "low-rank": low_rank, "stream": stream}
    for name in options.parts.split(","):
        say(name)
        with tempfile.TemporaryDirectory(prefix="eigenlift-bench-") as folder:
            result.setdefault("parts", {})[name] = parts[name](binary, options, Path(folder))
        path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    if "growth" in options.parts:
        draw(result["parts"]["growth"], ROOT / "docs" / "images" / "growth.png")
    print(f"written: {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
