#!/usr/bin/env python3
"""Whether plans hold: memory that was planned beside the peak that a fit took, and readings of the file, for every route.

    python3 benchmarks/plan_memory.py PATH/TO/eigenlift [--only WORDS] [--folder DIR]

Makes tables with NumPy, plans and fits each setting in a process of its own, and prints planned and measured MB, their ratio,
the share of --memory that was taken, passes and readings of the file. What the program itself takes, with a
tiny table, is not counted. Ends with 1 when a plan is off by more than 30 % and 4 MB, or more than --memory is taken.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

MB = 1e6
SLACK, SLACK_BYTES = 0.3, 4 * MB

# Name, rows, columns, kind of table, extension, words of the command line.
SETTINGS = [
    ("kpca stored", 8000, 20, "gauss", "npy", "kpca -k 5"),
    ("kpca stored, k 50", 6000, 20, "gauss", "npy", "kpca -k 50"),
    ("kpca dense", 2000, 10, "gauss", "npy", "kpca -k 5 --solver dense"),
    ("kpca matrix-free 20k", 20000, 32, "gauss", "npy", "kpca -k 5 --rank exact --memory 300MB"),
    ("kpca matrix-free 40k", 40000, 32, "gauss", "npy", "kpca -k 5 --rank exact"),
    ("kpca 40k, 100MB", 40000, 32, "gauss", "npy", "kpca -k 5 --memory 100MB"),
    ("kpca rank 300", 100000, 32, "gauss", "npy", "kpca -k 5 --rank 300"),
    ("kpca rank 300 in chunks", 500000, 32, "gauss", "npy", "kpca -k 5 --rank 300 --memory 100MB"),
    ("kpca rank 300 in chunks, 40MB", 500000, 32, "gauss", "npy", "kpca -k 5 --rank 300 --memory 40MB"),
    ("kpca rank auto in chunks", 500000, 32, "gauss", "npy", "kpca -k 5 --rank auto --memory 200MB"),
    ("kpca CSV in chunks", 300000, 10, "gauss", "csv", "kpca -k 5 --rank 100 --memory 40MB"),
    ("kpca fourier", 50000, 20, "gauss", "npy", "kpca -k 5 --low-rank fourier --rank 400"),
    ("kpca primal", 100000, 20, "gauss", "npy", "kpca -k 5 --kernel linear"),
    ("pca whole", 500000, 50, "gauss", "npy", "pca -k 5"),
    ("pca -k 50 with scores", 300000, 50, "gauss", "npy", "pca -k 50"),
    ("pca chunks NPY", 1000000, 50, "gauss", "npy", "pca -k 5 --memory 200MB"),
    ("pca chunks CSV", 300000, 20, "gauss", "csv", "pca -k 5 --memory 40MB"),
    ("pca chunks Parquet", 500000, 50, "gauss", "parquet", "pca -k 5 --memory 100MB"),
    ("pca chunks Parquet, 30MB", 500000, 50, "gauss", "parquet", "pca -k 5 --memory 30MB"),
    ("pca dual", 500, 20000, "gauss", "npy", "pca -k 5"),
    ("pca tsqr", 300000, 50, "gauss", "npy", "pca -k 5 --route tsqr"),
    ("pca krylov", 2000, 20000, "gauss", "npy", "pca -k 5 --route krylov"),
    ("whiten with scores", 300000, 50, "gauss", "npy", "whiten"),
    ("isomap exact", 4000, 3, "roll", "npy", "isomap"),
    ("isomap landmarks", 40000, 3, "roll", "npy", "isomap"),
    ("mds", 40000, 32, "gauss", "npy", "mds"),
    ("mds, 200MB", 40000, 32, "gauss", "npy", "mds --memory 200MB"),
    ("laplacian 20k x 32", 20000, 32, "gauss", "npy", "laplacian"),
    ("laplacian 40k x 10", 40000, 10, "gauss", "npy", "laplacian"),
    ("laplacian 40k x 10, 200MB", 40000, 10, "gauss", "npy", "laplacian --memory 200MB"),
    ("diffusion", 6000, 10, "gauss", "npy", "diffusion"),
    ("lle roll", 20000, 3, "roll", "npy", "lle"),
    ("lle 20k x 32", 20000, 32, "gauss", "npy", "lle"),
    ("kkmeans", 100000, 20, "gauss", "npy", "kkmeans --clusters 10 --memory 300MB"),
    ("kda", 16000, 10, "classes", "npy", "kda --target 11 --memory 100MB"),
    ("kcca", 40000, 10, "gauss", "npy", "kcca --view 1-5 --view 6-10 --memory 300MB"),
]


def table(folder, rows, columns, kind, extension, program):
    """A table of its own seed, made once."""
    path = folder / f"{kind}-{rows}x{columns}.{extension}"
    if path.exists():
        return path
    draw = np.random.default_rng(0)
    if kind == "roll":
        t, height = 1.5 * np.pi * (1 + 2 * draw.random(rows)), 21 * draw.random(rows)
        x = np.column_stack([t * np.cos(t), height, t * np.sin(t)])
    else:
        x = draw.standard_normal((rows, columns)) * np.linspace(3, 0.5, columns)
    if kind == "classes":
        x = np.column_stack([x, draw.integers(0, 3, rows)])
    if extension == "csv":
        np.savetxt(path, x, delimiter=",", fmt="%.12g")
    elif extension == "npy":
        np.save(path, x)
    else:
        whole = table(folder, rows, columns, kind, "npy", program)
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


def main():
    parse = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parse.add_argument("program")
    parse.add_argument("--only", default="")
    parse.add_argument("--folder", default=None)
    args = parse.parse_args()
    folder = Path(args.folder or tempfile.mkdtemp())
    # The process tells its peak itself: what the system tells of a child counts this script before it became the program.
    tiny = str(table(folder, 20, 2, "gauss", "npy", args.program))
    words = ["fit", "pca", tiny, "--json", "--quiet", "--out", str(folder / "scores.npy")]
    base = json.loads(run([args.program, *words])[0])["peak_memory_bytes"]
    print(f"{'setting':32}{'planned':>9}{'measured':>10}{'ratio':>7}{'of --memory':>12}{'passes':>14}{'readings':>14}")
    bad = 0
    for name, rows, columns, kind, extension, words in SETTINGS:
        if args.only not in name:
            continue
        try:
            path = table(folder, rows, columns, kind, extension, args.program)
        except ImportError as missing:
            print(f"{name:32}skipped: {missing}")
            continue
        method, *rest = words.split()
        command = [method, str(path), *rest, "--quiet", "--json"]
        plan = run([args.program, "plan", *command])
        fit = run([args.program, "fit", *command, "--out", str(folder / "scores.npy")])
        if plan[2] or fit[2]:
            print(f"{name:32}{(plan[1] + fit[1]).strip()}")
            bad += 1
            continue
        plan_, account = json.loads(plan[0]), json.loads(fit[0])
        peak = account["peak_memory_bytes"] - base
        planned = plan_.get("bytes_in_all", plan_["bytes_needed"] + (0 if plan_.get("chunk_rows") else rows * columns * 8))
        limit, ratio = memory_of(words), peak / planned
        share = f"{peak / limit:.2f}" if limit else ""
        off = abs(peak - planned) > SLACK_BYTES and not 1 / (1 + SLACK) <= ratio <= 1 + SLACK
        wrong = off or (limit is not None and peak > 1.02 * limit + 1e6)
        passes = f"{plan_.get('expected_passes', '')} / {account.get('stats', {}).get('passes', '')}"
        readings = f"{plan_.get('readings', '')} / {fit[3] / path.stat().st_size:.1f}"
        mark = " *" if wrong else ""
        print(f"{name:32}{planned / MB:9.0f}{peak / MB:10.0f}{ratio:7.2f}{share:>12}{passes:>14}{readings:>14}{mark}", flush=True)
        bad += wrong
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
