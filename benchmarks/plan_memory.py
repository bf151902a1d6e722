#!/usr/bin/env python3
"""Whether plans hold: memory that was planned beside the peak that a fit took, and readings of the file, for every route.

    python3 benchmarks/plan_memory.py PATH/TO/eigenlift [--only "WORD;..."] [--folder DIR] [--output RESULT.json]

Makes tables with NumPy and pyarrow, plans and fits each setting in a process of its own, and prints planned and measured MB,
their ratio, the fraction of --memory that was taken, passes and readings of the file. What the program itself takes, with a tiny
table, is not counted. Exits with 1 when a plan is off by more than 30 % and 4 MB (up to what it states at most), --memory is exceeded
by more than 10 %, the table is read more or less often than planned, or passes are outside the stated range; such rows have a star.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

MB = 1e6
SLACK, SLACK_BYTES = 0.3, 4 * MB
COUNTED = [("planned_passes", "passes"), ("planned_readings", "readings")]

# Each method and route with samples in memory: name, rows, columns, kind of table, format, arguments.
WHOLE = [
    ("kpca stored", 8000, 20, "gauss", "npy", "kpca -k 5"),
    ("kpca stored, k 50", 6000, 20, "gauss", "npy", "kpca -k 50"),
    ("kpca stored, k 200", 6000, 20, "noise", "npy", "kpca -k 200"),
    ("kpca stored, single", 8000, 20, "gauss", "npy", "kpca -k 5 --precision f32"),
    ("kpca stored, no draft", 6000, 20, "gauss", "npy", "kpca -k 5 --tol 1e-10"),
    ("kpca dense", 2000, 10, "gauss", "npy", "kpca -k 5 --solver dense"),
    ("kpca noise 1000 x 1000", 1000, 1000, "noise", "npy", "kpca -k 5"),
    ("kpca noise 2000 x 500", 2000, 500, "noise", "npy", "kpca -k 5"),
    ("kpca sigmoid, flat", 2000, 2000, "noise", "npy", "kpca -k 10 --kernel sigmoid"),
    ("kpca sigmoid, flat, 100MB", 2000, 2000, "noise", "npy", "kpca -k 10 --kernel sigmoid --memory 100MB"),
    ("kpca matrix-free 20k", 20000, 32, "gauss", "npy", "kpca -k 5 --rank exact --memory 300MB"),
    ("kpca matrix-free 40k", 40000, 32, "gauss", "npy", "kpca -k 5 --rank exact"),
    ("kpca matrix-free 40k, 100MB", 40000, 32, "gauss", "npy", "kpca -k 5 --memory 100MB"),
    ("kpca rank 300", 100000, 32, "gauss", "npy", "kpca -k 5 --rank 300"),
    ("kpca rank 300, 3000 rows", 3000, 10, "gauss", "npy", "kpca -k 5 --rank 300"),
    ("kpca rank auto", 50000, 16, "gauss", "npy", "kpca -k 5 --rank auto"),
    ("kpca rank auto, 6000 rows", 6000, 20, "gauss", "npy", "kpca -k 5 --rank auto"),
    ("kpca rank auto, noise", 6000, 20, "noise", "npy", "kpca -k 5 --rank auto"),
    ("kpca uniform", 50000, 20, "gauss", "npy", "kpca -k 5 --low-rank uniform --rank 400"),
    ("kpca k-means", 50000, 20, "gauss", "npy", "kpca -k 5 --low-rank kmeans --rank 400"),
    ("kpca fourier", 50000, 20, "gauss", "npy", "kpca -k 5 --low-rank fourier --rank 400"),
    ("kpca sketch", 50000, 20, "gauss", "npy", "kpca -k 5 --kernel polynomial(degree=2) --low-rank tensorsketch --rank 512"),
    ("kpca primal", 100000, 20, "gauss", "npy", "kpca -k 5 --kernel linear"),
    ("kpca primal, quadratic", 30000, 20, "gauss", "npy", "kpca -k 5 --kernel polynomial(degree=2)"),
    ("pca covariance", 500000, 50, "gauss", "npy", "pca -k 5"),
    ("pca covariance, 600 columns", 20000, 600, "gauss", "npy", "pca -k 5"),
    ("pca -k 50 with scores", 300000, 50, "gauss", "npy", "pca -k 50"),
    ("pca single", 500000, 50, "gauss", "npy", "pca -k 5 --precision f32"),
    ("pca CSV", 100000, 20, "gauss", "csv", "pca -k 5"),
    ("pca Parquet", 300000, 50, "gauss", "parquet", "pca -k 5"),
    ("pca auto", 100000, 30, "gauss", "npy", "pca -k auto"),
    ("pca auto, 6000 rows", 6000, 20, "gauss", "npy", "pca -k auto"),
    ("pca auto, 400 columns", 6000, 400, "gauss", "npy", "pca -k auto"),
    ("pca all of 600 columns", 9000, 600, "gauss", "npy", "pca -k 600"),
    ("pca -k 900 of 1000 columns", 3000, 1000, "gauss", "npy", "pca -k 900"),
    ("pca dual", 500, 20000, "gauss", "npy", "pca -k 5"),
    ("pca dual, 2000 rows", 2000, 8000, "gauss", "npy", "pca -k 5"),
    ("pca tsqr", 300000, 50, "gauss", "npy", "pca -k 5 --route tsqr"),
    ("pca tsqr, 400 columns", 20000, 400, "gauss", "npy", "pca -k 5 --route tsqr"),
    ("pca krylov", 2000, 20000, "gauss", "npy", "pca -k 5 --route krylov"),
    ("pca krylov, tall", 100000, 100, "gauss", "npy", "pca -k 5 --route krylov"),
    ("pca krylov, flat", 1000, 8000, "noise", "npy", "pca -k 5 --route krylov"),
    ("pca krylov, decaying", 1000, 8000, "decay", "npy", "pca -k 5 --route krylov"),
    ("pca krylov, 30 columns", 100000, 30, "noise", "npy", "pca -k 5 --route krylov"),
    ("pca krylov, 3000 x 2000, 100MB", 3000, 2000, "gauss", "npy", "pca -k 5 --route krylov --memory 100MB"),
    ("pca second look", 20000, 400, "faint", "npy", "pca -k 8"),
    ("pca directions", 100000, 100, "gauss", "npy", "pca -k 5 --route directions"),
    ("whiten with scores", 300000, 50, "gauss", "npy", "whiten"),
    ("whiten zca", 300000, 30, "gauss", "npy", "whiten --method zca"),
    ("whiten 1000 columns", 3000, 1000, "gauss", "npy", "whiten"),
    ("whiten 2000 columns", 3000, 2000, "gauss", "npy", "whiten"),
    ("whiten zca, 1000 columns", 3000, 1000, "gauss", "npy", "whiten --method zca"),
    ("whiten cholesky, 1000 columns", 3000, 1000, "gauss", "npy", "whiten --method cholesky"),
    ("isomap exact", 4000, 3, "roll", "npy", "isomap"),
    ("isomap exact, k 10", 4000, 10, "gauss", "npy", "isomap --exact -k 10"),
    ("isomap landmarks", 40000, 3, "roll", "npy", "isomap"),
    ("isomap, 60MB", 40000, 3, "roll", "npy", "isomap --memory 60MB"),
    ("mds exact", 3000, 32, "gauss", "npy", "mds"),
    ("mds landmarks", 40000, 32, "gauss", "npy", "mds"),
    ("mds, 200MB", 40000, 32, "gauss", "npy", "mds --memory 200MB"),
    ("laplacian 20k x 32", 20000, 32, "gauss", "npy", "laplacian"),
    ("laplacian 6k x 6", 6000, 6, "gauss", "npy", "laplacian"),
    ("laplacian roll", 40000, 3, "roll", "npy", "laplacian"),
    ("laplacian 40k x 10", 40000, 10, "gauss", "npy", "laplacian"),
    ("laplacian 80k x 10", 80000, 10, "gauss", "npy", "laplacian"),
    ("laplacian 40k x 10, 200MB", 40000, 10, "gauss", "npy", "laplacian --memory 200MB"),
    ("laplacian kernel", 5000, 10, "gauss", "npy", "laplacian --kernel rbf(gamma=median)"),
    ("diffusion", 6000, 10, "gauss", "npy", "diffusion"),
    ("diffusion, 80MB", 6000, 10, "gauss", "npy", "diffusion --memory 80MB"),
    ("lle roll", 20000, 3, "roll", "npy", "lle"),
    ("lle 6k x 6", 6000, 6, "gauss", "npy", "lle"),
    ("lle 20k x 32", 20000, 32, "gauss", "npy", "lle"),
    ("lle 20k x 32, 200MB", 20000, 32, "gauss", "npy", "lle --memory 200MB"),
    ("lle modified", 10000, 3, "roll", "npy", "lle --variant modified --neighbors 12"),
    ("lle hessian", 10000, 3, "roll", "npy", "lle --variant hessian --neighbors 12"),
    ("lle ltsa", 10000, 3, "roll", "npy", "lle --variant ltsa --neighbors 12"),
    ("kkmeans", 30000, 20, "gauss", "npy", "kkmeans --clusters 10"),
    ("kkmeans, 6000 rows", 6000, 20, "gauss", "npy", "kkmeans --clusters 10"),
    ("kkmeans, 6000 rows, 50MB", 6000, 20, "gauss", "npy", "kkmeans --clusters 10 --memory 50MB"),
    ("kkmeans, 300MB", 100000, 20, "gauss", "npy", "kkmeans --clusters 10 --memory 300MB"),
    ("kkmeans along components", 30000, 20, "gauss", "npy", "kkmeans --clusters 10 --spectral 5"),
    ("kda", 16000, 10, "classes", "npy", "kda --target 11"),
    ("kda, 100MB", 16000, 10, "classes", "npy", "kda --target 11 --memory 100MB"),
    ("kcca", 20000, 10, "gauss", "npy", "kcca --view 1-5 --view 6-10"),
    ("kcca, 300MB", 40000, 10, "gauss", "npy", "kcca --view 1-5 --view 6-10 --memory 300MB"),
]
# Each route that reads a table in chunks: name and arguments. It is measured with every format that is read in chunks.
CHUNKED = [
    ("kpca rank 300", "kpca -k 5 --rank 300"),
    ("kpca rank auto", "kpca -k 5 --rank auto --kernel rbf(gamma=0.002)"),
    ("kpca gamma given", "kpca -k 5 --rank 200 --kernel rbf(gamma=0.05)"),
    ("kpca k-means", "kpca -k 5 --low-rank kmeans --rank 200"),
    ("kpca fourier", "kpca -k 5 --low-rank fourier --rank 200"),
    ("kpca primal", "kpca -k 5 --kernel linear"),
    ("pca covariance", "pca -k 5"),
    ("pca tsqr", "pca -k 5 --route tsqr"),
    ("pca krylov", "pca -k 5 --route krylov"),
    ("pca directions", "pca -k 5 --route directions"),
    ("whiten", "whiten"),
]
CHUNKED_ROWS, CHUNKED_COLUMNS, CHUNKED_MEMORY = 250000, 20, 48
FURTHER = [
    ("kpca rank 300 in chunks, 40MB", 500000, 32, "gauss", "npy", "kpca -k 5 --rank 300 --memory 40MB"),
    ("pca krylov in chunks, 100 columns", 100000, 100, "noise", "npy", "pca -k 5 --route krylov --memory 40MB"),
    ("pca krylov in chunks, decaying", 20000, 400, "decay", "npy", "pca -k 5 --route krylov --memory 40MB"),
    ("pca NPY in chunks, 200MB", 1000000, 50, "gauss", "npy", "pca -k 5 --memory 200MB"),
    ("pca Parquet in chunks, 100MB", 500000, 50, "gauss", "parquet", "pca -k 5 --memory 100MB"),
    ("pca Parquet in chunks, 30MB", 500000, 50, "gauss", "parquet", "pca -k 5 --memory 30MB"),
    ("pca CSV in chunks, drop", 300000, 20, "gauss", "csv", "pca -k 5 --missing drop --memory 40MB"),
]
SETTINGS = (
    WHOLE
    + [
        (f"{name} {extension} in chunks", CHUNKED_ROWS, CHUNKED_COLUMNS, "gauss", extension, f"{words} --memory {CHUNKED_MEMORY}MB")
        for name, words in CHUNKED
        for extension in ("npy", "csv", "parquet")
    ]
    + FURTHER
)


# Standard deviations of the columns.
SPREADS = {
    "gauss": lambda columns: np.linspace(3, 0.5, columns),
    "classes": lambda columns: np.linspace(3, 0.5, columns),
    "noise": np.ones,
    "decay": lambda columns: 1 / np.arange(1, columns + 1),
    "faint": lambda columns: np.where(np.arange(columns) < 4, 1, 1e-6),
}


def table(folder, rows, columns, kind, extension):
    """A table of its own seed, made once."""
    path = folder / f"{kind}-{rows}x{columns}.{extension}"
    if path.exists():
        return path
    draw = np.random.default_rng(0)
    if kind == "roll":
        t, height = 1.5 * np.pi * (1 + 2 * draw.random(rows)), 21 * draw.random(rows)
        x = np.column_stack([t * np.cos(t), height, t * np.sin(t)])
    else:
        x = draw.standard_normal((rows, columns)) * SPREADS[kind](columns)
    if kind == "classes":
        x = np.column_stack([x, draw.integers(0, 3, rows)])
    if extension == "csv":
        np.savetxt(path, x, delimiter=",", fmt="%.12g")
    elif extension == "npy":
        np.save(path, x)
    else:
        whole = table(folder, rows, columns, kind, "npy")
        import pyarrow as pa
        import pyarrow.parquet as pq

        x = np.load(whole, mmap_mode="r")
        names = [f"x{j + 1}" for j in range(columns)]
        pq.write_table(pa.Table.from_arrays([pa.array(np.ascontiguousarray(x[:, j])) for j in range(columns)], names), path)
    return path


def run(words):
    """Standard output, standard error, exit status and bytes read of a process."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = subprocess.Popen(words, stdout=out, stderr=err)
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        try:
            facts = dict(line.split(": ") for line in Path(f"/proc/{child.pid}/io").read_text().splitlines())
        except OSError:
            facts = {}
        child.wait()
        out.seek(0), err.seek(0)
        return out.read(), err.read().decode(), child.returncode, int(facts.get("rchar", 0))


def memory_of(words):
    """Bytes of --memory, where it is given."""
    words = words.split()
    return float(words[words.index("--memory") + 1][:-2]) * MB if "--memory" in words else None


def refused(plan, fit):
    """Whether plan and fit both end with the same error: more memory is needed than is allowed."""
    return plan[2] == fit[2] == 1 and "error: " in plan[1] and "error: " in fit[1]


def measured(program, setting, folder, base):
    """One row of the result."""
    name, rows, columns, kind, extension, words = setting
    path = table(folder, rows, columns, kind, extension)
    method, *rest = words.split()
    command = [method, str(path), *rest, "--quiet", "--json"]
    plan = run([program, "plan", *command])
    fit = run([program, "fit", *command, "--out", str(folder / "scores.npy")])
    row = {"setting": name, "rows": rows, "columns": columns, "format": extension, "arguments": words}
    if plan[2] or fit[2]:
        error = (plan[1] + fit[1]).strip()
        return row | {"error": error, "ok": refused(plan, fit)}
    plan_, summary = json.loads(plan[0]), json.loads(fit[0])
    peak, planned = summary["peak_memory_bytes"] - base, plan_["bytes_in_all"]
    # A phase that may follow takes more than planned, and no more than this.
    most_bytes = plan_.get("most_bytes_in_all")
    limit = memory_of(words)
    off = peak > max((most_bytes or planned) * (1 + SLACK), planned + SLACK_BYTES) or peak < min(planned / (1 + SLACK), planned - SLACK_BYTES)
    exceeds = limit is not None and peak > 1.1 * limit
    passes, readings = summary.get("stats", {}).get("passes"), summary.get("data", {}).get("readings")
    row |= {"planned_bytes": planned, "peak_bytes": peak, "ratio": round(peak / planned, 3), "memory_bytes": limit}
    row |= {"most_bytes": most_bytes} if most_bytes else {}
    row |= {"planned_passes": plan_.get("expected_passes"), "passes": passes}
    row |= {name: plan_[name] for name in ("likely_passes", "most_passes") if name in plan_}
    row |= {"planned_readings": plan_["readings"], "readings": readings, "file_sizes_read": round(fit[3] / path.stat().st_size, 1)}
    # The number of readings of a table in chunks is part of the plan; a table that is read as a whole is read once.
    most = plan_.get("most_readings")
    wrong_readings = readings is not None and (readings > most if most else readings != plan_["readings"])
    return row | {"ok": not (off or exceeds or wrong_readings or wrong_passes(plan_, passes))}


def wrong_passes(plan, passes):
    """Whether the number of passes is neither near the one that was planned nor in the range that the plan states."""
    expected = plan.get("expected_passes")
    # Methods that read rows in place of passing over a matrix have no passes to report.
    if not passes or expected is None or abs(passes - expected) <= max(1, SLACK * expected):
        return False
    low, high = plan.get("likely_passes", (0, plan.get("most_passes", 0)))
    return not low <= passes <= high


def line(row):
    """A row of the result as text."""
    if "error" in row:
        return f"{row['setting']:36}{'refused' if row['ok'] else 'FAILED'}: {row['error'].splitlines()[0][:150]}"
    share = f"{row['peak_bytes'] / row['memory_bytes']:.2f}" if row["memory_bytes"] else ""
    pairs = [f"{'' if row[a] is None else row[a]} / {'' if row[b] is None else row[b]}" for a, b in COUNTED]
    numbers = f"{row['planned_bytes'] / MB:9.0f}{row['peak_bytes'] / MB:10.0f}{row['ratio']:7.2f}{share:>12}"
    return f"{row['setting']:36}{numbers}{pairs[0]:>12}{pairs[1]:>12}{'' if row['ok'] else ' *'}"


def main():
    parse = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parse.add_argument("program")
    parse.add_argument("--only", default="", help="settings whose name contains one of these words, separated by semicolons")
    parse.add_argument("--folder", type=Path, help="where tables are kept")
    parse.add_argument("--output", type=Path, help="where the result goes (.json)")
    args = parse.parse_args()
    folder = args.folder or Path(tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    # The process reports its peak itself: what the system reports of a child counts this script before it became the program.
    tiny = str(table(folder, 20, 2, "gauss", "npy"))
    words = ["fit", "pca", tiny, "--json", "--quiet", "--out", str(folder / "scores.npy")]
    base = json.loads(run([args.program, *words])[0])["peak_memory_bytes"]
    print(f"{'setting':36}{'planned':>9}{'measured':>10}{'ratio':>7}{'of --memory':>12}{'passes':>12}{'readings':>12}")
    rows = []
    for setting in SETTINGS:
        if any(word in setting[0] for word in args.only.split(";")):
            rows.append(measured(args.program, setting, folder, base))
            print(line(rows[-1]), flush=True)
            if args.output:
                facts = {"machine": platform.machine(), "cores": os.cpu_count(), "base_bytes": base, "rows": rows}
                args.output.write_text(json.dumps(facts, indent=1) + "\n")
    sys.exit(0 if all(row["ok"] for row in rows) else 1)


if __name__ == "__main__":
    main()
