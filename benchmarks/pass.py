#!/usr/bin/env python3
"""One pass K·V over a kernel matrix that is never stored, against the two matrix products it contains.

    python3 benchmarks/pass.py [--rows 8192] [--dim 32] [--columns 32] [--threads 1,2] [--rounds 5] [--repeat 8]

Creates benchmarks/.venv with the versions of requirements.txt, builds the benchmark `pass`, prints a table and writes
benchmarks/results/pass-<date>.json. README.md beside this file says what is measured and how.
"""
import argparse
import datetime
import json
import os
import platform
import subprocess
import sys
import time

from kpca import HERE, ROOT, enter_environment, machine, output_of

PRODUCT_ROWS = 4096


def worker(job):
    """Best seconds of half of X·Xᵀ and all of K·V by NumPy's BLAS, in shapes that suit it, as often as n² needs."""
    import numpy as np
    from threadpoolctl import threadpool_info

    out, r = {}, np.random.default_rng(0)
    n, d, b = job["rows"], job["dim"], job["columns"]
    rows = min(n, PRODUCT_ROWS)
    times = (n // rows) ** 2
    for name in ("f32", "f64"):
        kind = np.float32 if name == "f32" else np.float64
        x, v, k = (r.normal(size=(rows, c)).astype(kind) for c in (d, b, rows))
        turned, upper = np.ascontiguousarray(x.T), x[: rows // 2]
        gram, product = np.empty((rows // 2, rows), kind), np.empty((rows, b), kind)
        best = float("inf")
        for _ in range(job["repeat"]):
            start = time.perf_counter()
            for _ in range(times):
                np.dot(upper, turned, out=gram)
                np.dot(k, v, out=product)
            best = min(best, time.perf_counter() - start)
        out[name] = best * n * n / (times * rows * rows)
    out["blas"] = sorted({f"{p.get('internal_api')} {p.get('version')} {p.get('architecture')}" for p in threadpool_info()})
    return out


def build():
    done = subprocess.run(
        ["cargo", "bench", "-p", "eigenlift", "--bench", "pass", "--no-run", "--message-format=json-render-diagnostics"],
        cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True,
    )
    return [m["executable"] for m in map(json.loads, done.stdout.splitlines()) if m.get("executable")][-1]


def run(command, threads, **options):
    """Runs a command on as many cores as it has threads, the last ones: the first is the busiest."""
    cores = sorted(os.sched_getaffinity(0))[-threads:]
    limit = {"OPENBLAS_NUM_THREADS": str(threads)}
    done = subprocess.run(
        [str(c) for c in command], capture_output=True, text=True, check=True, env=os.environ | limit,
        preexec_fn=lambda: os.sched_setaffinity(0, cores), **options,
    )
    return json.loads(done.stdout)


def one(binary, threads, options):
    job = {key: getattr(options, key) for key in ("rows", "dim", "columns", "repeat")}
    best = {name: {"pass_seconds": [], "gemm_seconds": [], "openblas_seconds": []} for name in ("f32", "f64")}
    for _ in range(options.rounds):
        ours = run([binary, options.rows, options.dim, options.columns, threads, options.repeat], threads)
        theirs = run([sys.executable, __file__, "--worker"], threads, input=json.dumps(job))
        for name, figures in best.items():
            figures["pass_seconds"].append(ours[name]["pass_seconds"])
            figures["gemm_seconds"].append(ours[name]["gemm_seconds"])
            figures["openblas_seconds"].append(theirs[name])
    rows = []
    for name, figures in best.items():
        row = {"precision": name, "threads": threads} | {key: min(values) for key, values in figures.items()}
        row["products_seconds"] = min(row["gemm_seconds"], row["openblas_seconds"])
        row["ratio"] = row["pass_seconds"] / row["products_seconds"]
        rows.append(row | {"runs": figures})
    return rows, theirs["blas"]


def main():
    if sys.argv[1:2] == ["--worker"]:
        print(json.dumps(worker(json.load(sys.stdin))))
        return
    parser = argparse.ArgumentParser(description="One pass against the two matrix products it contains.")
    parser.add_argument("--rows", type=int, default=8192, help="n; above 4096 a multiple of it")
    parser.add_argument("--dim", type=int, default=32, help="columns of X")
    parser.add_argument("--columns", type=int, default=32, help="columns of V")
    parser.add_argument("--threads", default="1,2", help="numbers of threads, comma-separated")
    parser.add_argument("--rounds", type=int, default=5, help="turns of either side; the best counts")
    parser.add_argument("--repeat", type=int, default=8, help="repetitions within a turn")
    parser.add_argument("--binary", help="the benchmark `pass`, already built")
    options = parser.parse_args()
    enter_environment()

    binary = options.binary or build()
    about, rows, blas = machine(), [], None
    print(f"{'':4s} {'threads':>7s} {'pass ms':>9s} {'gemm ms':>9s} {'OpenBLAS ms':>12s} {'ratio':>6s}")
    for threads in map(int, options.threads.split(",")):
        more, blas = one(binary, threads, options)
        rows += more
        for r in more:
            print(f"{r['precision']:4s} {threads:7d} {1e3 * r['pass_seconds']:9.2f} {1e3 * r['gemm_seconds']:9.2f}"
                  f" {1e3 * r['openblas_seconds']:12.2f} {r['ratio']:6.2f}", flush=True)
    result = {
        "benchmark": "one pass", "date": datetime.date.today().isoformat(), "machine": about,
        "versions": {
            "commit": output_of("git", "rev-parse", "HEAD"),
            "changed_since_commit": bool(output_of("git", "status", "--porcelain", "--untracked-files=no")),
            "rustc": output_of("rustc", "--version"), "python": platform.python_version(), "blas": blas,
        },
        "sizes": {"n": options.rows, "d": options.dim, "b": options.columns, "kernel": "rbf(gamma=1/(2d))"},
        "rounds": options.rounds, "repeat": options.repeat, "rows": rows,
    }
    path = HERE / "results" / f"pass-{result['date']}.json"
    path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(f"written: {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
