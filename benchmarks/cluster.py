#!/usr/bin/env python3
"""PCA and kernel PCA on a Dask cluster of this machine, against dask-ml, and the rates of one core.

    python3 benchmarks/cluster.py [--parts pca,kpca,rates] [--rows 10000000] [--kernel-rows 1000000] [--repeat 3] [--wheel FILE]

Uses the environment and the helpers of kpca.py beside it, builds the package in release mode and installs it there, prints tables
and writes benchmarks/results/cluster-<date>.json. README.md beside this file says what is measured and how.
"""

import argparse
import datetime
import json
import os
import pickle
import platform
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import kpca
from kpca import HERE, MIB, ROOT, say

DIM, BLOCK_ROWS, COMPONENTS, SEED = 20, 250_000, 5, 0
KERNEL_COMPONENTS, RANK, CLUSTERS, SMALL = 10, 200, 20, 400
WIDE, RANKS, PRODUCT, PAIR_ROWS = 100, (500, 1000), 16, 4096
# Largest difference of variances, as a share, and of axes, from plain sums of NumPy, before any time counts.
SAME = 1e-8
SIDES = {
    "eigenlift.dask": {"library": "eigenlift"},
    "eigenlift.dask, given the path": {"library": "eigenlift", "path": True},
    "dask-ml, full": {"library": "dask_ml", "settings": {"svd_solver": "full"}},
    "dask-ml, randomized": {"library": "dask_ml", "settings": {"svd_solver": "randomized", "random_state": SEED}},
    "eigenlift.PCA, no cluster": {"library": "alone"},
}


# ------------------------------------------------------------------------------- in processes of their own
def read_rows(path, first, stop):
    """Runs on workers: some rows of the file."""
    import numpy as np

    return np.array(np.load(path, mmap_mode="r")[first:stop])


def lazy_rows(path, block_rows):
    """The file as a Dask array; nothing is read before a task does."""
    import dask
    import dask.array as da
    import numpy as np

    n, d = np.load(path, mmap_mode="r").shape
    read = dask.delayed(read_rows)
    cuts = [(first, min(first + block_rows, n)) for first in range(0, n, block_rows)]
    parts = [da.from_delayed(read(path, *cut), shape=(cut[1] - cut[0], d), dtype=np.float64) for cut in cuts]
    return da.concatenate(parts)


def worker_data(job):
    """An NPY file, written a block at a time: variances that fall, columns mixed, an offset; or a mixture of Gaussians."""
    import numpy as np

    r = np.random.default_rng(SEED)
    n, d = job["n"], job["d"]
    centres, step = r.normal(size=(CLUSTERS, d)), job["block_rows"]
    out = np.lib.format.open_memmap(job["x"], mode="w+", dtype=np.float64, shape=(n, d))
    for a in range(0, n, step):
        x = r.normal(size=(min(step, n - a), d))
        if job["mixture"]:
            x = centres[r.integers(0, CLUSTERS, len(x))] + 0.7 * x
        else:
            x /= np.sqrt(1 + np.arange(d))
            x[:, 1:] += 0.5 * x[:, :-1]
            x += 3.0
        out[a : a + len(x)] = x
    out.flush()
    i, j = np.random.default_rng(SEED).integers(min(n, step), size=(2, 200_000))
    head = np.asarray(out[:step])
    return {"gamma": 1 / float(np.median(((head[i] - head[j]) ** 2).sum(1)[i != j])), "bytes": os.path.getsize(job["x"])}


def worker_reference(job):
    """Variances and axes by two readings of plain sums in NumPy."""
    import numpy as np

    x = np.load(job["x"], mmap_mode="r")
    n, step = len(x), job["block_rows"]
    mean = sum(np.asarray(x[a : a + step]).sum(axis=0) for a in range(0, n, step)) / n
    scatter = 0.0
    for a in range(0, n, step):
        rows = np.asarray(x[a : a + step]) - mean
        scatter = scatter + rows.T @ rows
    values, vectors = np.linalg.eigh(scatter / (n - 1))
    return {"variances": values[::-1][:COMPONENTS].tolist(), "axes": vectors.T[::-1][:COMPONENTS].tolist()}


def forget_peak():
    """Resident size, with the peak starting again from it. Runs on workers too."""
    import gc

    gc.collect()
    kpca.forget_peak()
    return kpca.memory()


def start(n_workers):
    """A cluster of fresh processes of one thread each."""
    from distributed import Client, LocalCluster

    cluster = LocalCluster(n_workers=n_workers, threads_per_worker=1, processes=True, dashboard_address=":0")
    return cluster, Client(cluster)


def estimator(job, client):
    """What makes an estimator of a side."""
    if job["library"] == "dask_ml":
        from dask_ml.decomposition import PCA

        return lambda: PCA(n_components=COMPONENTS, **job["settings"])
    if job["library"] == "eigenlift":
        from eigenlift.dask import PCA

        return lambda: PCA(n_components=COMPONENTS, client=client)
    from eigenlift import PCA

    return lambda: PCA(n_components=COMPONENTS)


def worker_pca(job):
    """Fits of one side on a cluster of its own: seconds of each, peaks of the first, and what was found."""
    import numpy as np

    alone = job["library"] == "alone"
    cluster, client = (None, None) if alone else start(job["workers"])
    make, block_rows = estimator(job, client), job["block_rows"]
    if alone:
        x = np.load(job["x"], mmap_mode="r")
        make().fit(np.array(x[:10_000]))
    else:
        x = job["x"] if job.get("path") else lazy_rows(job["x"], block_rows)
        make().fit(lazy_rows(job["x"], block_rows)[:10_000].rechunk((5000, -1)))  # modules are imported, on workers too
    before = [] if alone else list(client.run(forget_peak).values())
    own, times, peaks = forget_peak(), [], None
    for _ in range(job["fits"]):
        begin = time.perf_counter()
        model = make().fit(x)
        times.append(time.perf_counter() - begin)
        if peaks is None:
            peaks = {"workers": [] if alone else list(client.run(kpca.memory).values()), "driver": kpca.memory()}
    out = {
        "seconds": times,
        "variances": np.asarray(model.explained_variance_).tolist(),
        "axes": np.asarray(model.components_).tolist(),
        "worker_peaks": [p["VmHWM"] for p in peaks["workers"]],
        "worker_net": [p["VmHWM"] - b["VmRSS"] for p, b in zip(peaks["workers"], before)],
        "driver_peak": peaks["driver"]["VmHWM"],
        "driver_net": peaks["driver"]["VmHWM"] - own["VmRSS"],
    }
    if not alone:
        client.close()
        cluster.close()
    return out


def counting(client):
    """A backend that counts tasks by their names, and bytes of results that came to this process."""
    from eigenlift._cluster._dask import Dask

    class Counting(Dask):
        def __init__(self, client):
            super().__init__(client)
            self.tasks, self.received, self.gathers = {}, 0, 0

        def _start(self, name, handles):
            self.tasks[name] = self.tasks.get(name, 0) + len(handles)
            super()._start(name, handles)

        def _collect(self, handles):
            found = super()._collect(handles)
            self.gathers += 1
            self.received += sum(len(pickle.dumps(value, protocol=5)) for value in found)
            return found

    return Counting(client)


def worker_kpca(job):
    """Kernel PCA on a cluster: seconds and peaks, then tasks and bytes of one more fit, then the same on one machine."""
    import dask.array as da
    import eigenlift
    import numpy as np
    from eigenlift.dask import PCA, KernelPCA

    settings = {"kernel": "rbf", "gamma": job["gamma"], "rank": RANK, "random_state": SEED, "n_components": KERNEL_COMPONENTS}
    cluster, client = start(job["workers"])
    x = lazy_rows(job["x"], job["block_rows"])
    KernelPCA(**settings, client=client).fit(x[:4000].rechunk((2000, -1)))
    before, own, times, peaks = list(client.run(forget_peak).values()), forget_peak(), [], None
    for _ in range(job["fits"]):
        begin = time.perf_counter()
        model = KernelPCA(**settings, client=client).fit(x)
        times.append(time.perf_counter() - begin)
        if peaks is None:
            peaks = {"workers": list(client.run(kpca.memory).values()), "driver": kpca.memory()}
    begin = time.perf_counter()
    deviations = np.asarray(model.transform(x).std(axis=0).compute())
    transform = time.perf_counter() - begin
    backend = counting(client)
    KernelPCA(**settings, client=backend).fit(x)
    small = da.from_array(np.random.default_rng(SEED).normal(size=(10 * SMALL, DIM)), chunks=(10, DIM))
    begin = time.perf_counter()
    PCA(COMPONENTS, client=client).fit(small)
    small_seconds = time.perf_counter() - begin
    client.close()
    cluster.close()
    rows = np.load(job["x"])
    begin, expected = time.perf_counter(), np.sqrt(model.eigenvalues_ / len(rows))
    single = eigenlift.KernelPCA(**settings, n_jobs=-1).fit(rows)  # a LocalCluster sets OMP_NUM_THREADS=1
    alone = time.perf_counter() - begin
    return {
        "seconds": times,
        "transform_seconds": transform,
        "seconds_for_a_block": small_seconds / SMALL,
        "rounds": backend.tasks["left-out"] // (backend.tasks["sample"] - backend.tasks["moments-of-features"]) - 1,
        "tasks": backend.tasks,
        "driver_received_bytes": backend.received,
        "left_out_share": model.certificate_.bounds.residual_share,
        "worker_peaks": [p["VmHWM"] for p in peaks["workers"]],
        "worker_net": [p["VmHWM"] - b["VmRSS"] for p, b in zip(peaks["workers"], before)],
        "driver_net": peaks["driver"]["VmHWM"] - own["VmRSS"],
        "one_machine_seconds": alone,
        "same_landmarks": bool((model.landmarks_ == single.landmarks_).all()),
        "eigenvalue_difference": float(np.abs(model.eigenvalues_ / single.eigenvalues_ - 1).max()),
        "deviation_difference": float(np.abs(deviations / expected - 1).max()),
    }


# ------------------------------------------------------------------------------- rates of one core
def timing():
    """A backend of one thread that notes what each task took, (name, rows, seconds of the processor). Reading and checking come before."""
    from eigenlift.dask import Threads

    class Timing(Threads):
        def __init__(self):
            super().__init__(1)
            self.notes = []

        def map_blocks(self, function, blocks, *arguments, each=None, name):
            work = self._timed(function, name, lambda rows, place, *rest: place.n_rows)
            return super().map_blocks(work, blocks, *arguments, each=each, name=name)

        def submit(self, function, *arguments, name):
            if name == "left-out":
                function = self._timed(function, name, lambda sample, *rest: len(sample[1]))
            return super().submit(function, *arguments, name=name)

        def _timed(self, function, name, count):
            def work(*arguments):
                begin = time.process_time()
                result = function(*arguments)
                self.notes.append((name, count(*arguments), time.process_time() - begin))
                return result

            return work

        def rate(self, name, last):
            """Rows a second in the best of the last few tasks of this name."""
            return max(rows / seconds for what, rows, seconds in [n for n in self.notes if n[0] == name][-last:])

    return Timing()


def rate(work, count, seconds=1.5):
    """How many of what `work` does `count` of are done in a second of the processor, at best."""
    best, until = float("inf"), time.process_time() + seconds
    while time.process_time() < until:
        begin = time.process_time()
        work()
        best = min(best, time.process_time() - begin)
    return count / best


def linear_rates(folder):
    """Reading and checking, sums of the routes, a product and scores, by columns."""
    import dask.array as da
    import numpy as np
    from eigenlift import _native
    from eigenlift._cluster import _blocks
    from eigenlift.dask import PCA

    for d, n in ((DIM, BLOCK_ROWS), (WIDE, BLOCK_ROWS * DIM // WIDE)):
        x = np.random.default_rng(SEED).normal(size=(n, d)) + 3.0
        path = Path(folder) / f"rate-{d}.npy"
        np.save(path, x)
        block = _blocks.blocks_of(path)[0]
        yield f"read and check a block, d = {d}", rate(block.read, block.place.n_rows)
        several = da.concatenate([da.from_array(x, chunks=(n, d))] * 8)
        for route in ("covariance", "tsqr"):
            backend = timing()
            PCA(COMPONENTS, route=route, client=backend).fit(several)
            yield f"moments of rows, {route}, d = {d}", backend.rate("moments-of-rows", 7)
        product = np.zeros(d), np.ones((d, PRODUCT))
        yield f"product with {PRODUCT} columns, d = {d}", rate(partial(_native.centred_product, x, None, *product, 1), n)
        model = PCA(COMPONENTS, n_jobs=1, client=timing()).fit(several)
        yield f"scores of PCA, k = {COMPONENTS}, d = {d}", rate(partial(model.transform, x), n)


def kernel_rates():
    """Moments of features, what landmarks leave out, scores, and values of an exact pass."""
    import dask.array as da
    import numpy as np
    from eigenlift import _native
    from eigenlift.dask import KernelPCA

    n, gamma = 40_000, 0.5 / WIDE
    x = np.random.default_rng(SEED).normal(size=(n, WIDE))
    for rank in RANKS:
        backend, how = timing(), {"kernel": "rbf", "gamma": gamma, "rank": rank, "random_state": SEED, "n_jobs": 1}
        model = KernelPCA(KERNEL_COMPONENTS, **how, client=backend).fit(da.from_array(x, chunks=(n // 4, WIDE)))
        name = f"m = {rank}, d = {WIDE}"
        yield f"moments of features, {name}", backend.rate("moments-of-features", 4)
        yield f"left out, {name}", backend.rate("left-out", 4)
        yield f"scores of kernel PCA, k = {KERNEL_COMPONENTS}, {name}", rate(partial(model.transform, x[:10_000]), 10_000)
    kernel, block = f"rbf(gamma={gamma})", np.ones((PAIR_ROWS, 2 * KERNEL_COMPONENTS))
    for dtype in (np.float64, np.float32):
        a, b = x[:PAIR_ROWS].astype(dtype), x[PAIR_ROWS : 2 * PAIR_ROWS].astype(dtype)
        pair = rate(partial(_native.kernel_pair, kernel, a, b, block, block, 1), PAIR_ROWS**2)
        yield f"kernel values of a pair of blocks, {np.dtype(dtype).name}, d = {WIDE}, b = {block.shape[1]}", pair


def worker_rates(job):
    """Runs on one core; rows (or kernel values) a second of what tasks do."""
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    return {"rates": dict([*linear_rates(job["folder"]), *kernel_rates()])}


WORKERS = {"data": worker_data, "reference": worker_reference, "pca": worker_pca, "kpca": worker_kpca, "rates": worker_rates}


def run_worker(kind, **job):
    command = [sys.executable, str(Path(__file__).resolve()), "--worker", kind]
    done = subprocess.run(command, input=json.dumps(job), capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"the {kind} process failed ({job}):\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


# ------------------------------------------------------------------------------- parts
def differences(found, reference):
    """Largest share by which a variance differs, and largest difference of an entry of an axis, up to signs."""
    variances = max(abs(a / b - 1) for a, b in zip(found["variances"], reference["variances"]))
    axes = 0.0
    for one, other in zip(found["axes"], reference["axes"]):
        sign = 1 if sum(a * b for a, b in zip(one, other)) > 0 else -1
        axes = max(axes, *(abs(sign * a - b) for a, b in zip(one, other)))
    return {"variances": variances, "axes": axes}


def pca_part(options, folder):
    """All sides on the same file, in processes that alternate; no time counts for a side that finds something else."""
    shape = {"x": str(folder / "x.npy"), "block_rows": min(BLOCK_ROWS, options.rows // 4)}
    size = run_worker("data", n=options.rows, d=DIM, mixture=False, **shape)["bytes"]
    reference = run_worker("reference", **shape)
    runs = {name: [] for name in SIDES}
    for _ in range(options.repeat):
        for name, side in SIDES.items():
            runs[name].append(run_worker("pca", workers=options.workers, fits=options.fits, **shape, **side))
            say(f"  {name}: {min(runs[name][-1]['seconds']):.3f} s")
    rows = []
    for name, found in runs.items():
        off = differences(found[0], reference)
        best = min(min(r["seconds"]) for r in found)
        peaks = {key: min(max(r[key]) for r in found) if found[0][key] else None for key in ("worker_peaks", "worker_net")}
        sums = {key: min(sum(r[key]) for r in found) if found[0][key] else None for key in ("worker_peaks", "worker_net")}
        rows.append({
            "who": name, "n": options.rows, "d": DIM, "k": COMPONENTS, "file_bytes": size, "workers": options.workers,
            "blocks": -(-options.rows // shape["block_rows"]), "seconds": best, "rows_per_second": options.rows / best,
            "difference": off, "same": off["variances"] <= SAME and off["axes"] <= SAME,
            "worker_peak_bytes": peaks["worker_peaks"], "worker_net_bytes": peaks["worker_net"],
            "workers_peak_bytes": sums["worker_peaks"], "workers_net_bytes": sums["worker_net"],
            "driver_peak_bytes": min(r["driver_peak"] for r in found), "driver_net_bytes": min(r["driver_net"] for r in found),
            "runs": [{key: r[key] for key in ("seconds", "worker_peaks", "worker_net", "driver_net")} for r in found],
        })  # fmt: skip
    show_pca(rows)
    return rows


def show_pca(rows):
    ours = rows[0]["seconds"]
    print(f"PCA of {rows[0]['n']} × {rows[0]['d']}, {rows[0]['blocks']} blocks, {rows[0]['workers']} workers of one thread")
    head = ("seconds", "against", "variances", "axes", "a worker MiB", "all MiB", "net of all", "driver net")
    print(f"{'':32s}" + "".join(f"{word:>13s}" for word in head))
    for r in rows:
        sizes = [r["worker_peak_bytes"], r["workers_peak_bytes"], r["workers_net_bytes"], r["driver_net_bytes"]]
        off = r["difference"]
        words = [f"{r['seconds']:.3f}", f"{r['seconds'] / ours:.2f}x", f"{off['variances']:.1e}", f"{off['axes']:.1e}"]
        words += ["–" if size is None else f"{size / MIB:.0f}" for size in sizes]
        wrong = "" if r["same"] else "   NOT THE SAME: no time counts"
        print(f"{r['who']:32s}" + "".join(f"{word:>13s}" for word in words) + wrong)


def kpca_part(options, folder):
    """No rival has it; what stands beside it is the ordinary class on the same rows in memory."""
    shape = {"x": str(folder / "k.npy"), "block_rows": max(1000, min(BLOCK_ROWS // 10, options.kernel_rows // 4))}
    gamma = run_worker("data", n=options.kernel_rows, d=DIM, mixture=True, **shape)["gamma"]
    runs = [run_worker("kpca", workers=options.workers, fits=options.fits, gamma=gamma, **shape) for _ in range(options.repeat)]
    best = min(runs, key=lambda r: min(r["seconds"]))
    row = {
        "who": "eigenlift.dask.KernelPCA", "n": options.kernel_rows, "d": DIM, "rank": RANK, "k": KERNEL_COMPONENTS,
        "gamma": gamma, "workers": options.workers, "blocks": -(-options.kernel_rows // shape["block_rows"]),
        **best, "seconds": min(best["seconds"]), "all_seconds": [r["seconds"] for r in runs],
    }  # fmt: skip
    print(f"kernel PCA of {row['n']} × {DIM}, rank {RANK}, {row['blocks']} blocks, {row['workers']} workers")
    print(
        f"  fit {row['seconds']:.2f} s, {row['rounds']} rounds, driver received {row['driver_received_bytes'] / MIB:.2f} MiB in all; "
        f"scores {row['transform_seconds']:.2f} s; one machine, in memory {row['one_machine_seconds']:.2f} s"
    )
    print(
        f"  peak of a worker {max(row['worker_peaks']) / MIB:.0f} MiB (net {max(row['worker_net']) / MIB:.0f}), driver net "
        f"{row['driver_net'] / MIB:.0f} MiB; same landmarks: {row['same_landmarks']}, eigenvalues differ by "
        f"{row['eigenvalue_difference']:.1e}, deviations of scores by {row['deviation_difference']:.1e}; left out {row['left_out_share']:.2e}"
    )
    print(f"  tasks: {', '.join(f'{name} {count}' for name, count in row['tasks'].items())}")
    print(f"  PCA of {SMALL} blocks of ten rows: {1000 * row['seconds_for_a_block']:.2f} ms for a block")
    return [row]


def rates_part(options, folder):
    """Rates of one core, best of the runs, and what they make of a thousand million rows."""
    runs = [run_worker("rates", folder=str(folder))["rates"] for _ in range(options.repeat)]
    best = {name: max(run[name] for run in runs) for name in runs[0]}
    print("one core, a second")
    for name, value in best.items():
        print(f"  {name:72s} {value:14,.0f}")
    n, cores = 10**9, 100
    read, far = n / best[f"read and check a block, d = {WIDE}"], {}
    for route in ("covariance", "tsqr"):
        far[f"PCA, {route}"] = read + n / best[f"moments of rows, {route}, d = {WIDE}"]
    for rank in RANKS:
        # Three readings: for the sample, what follows on it is small; for the moments; and for signs, by all scores.
        scores = n / best[f"scores of kernel PCA, k = {KERNEL_COMPONENTS}, m = {rank}, d = {WIDE}"]
        far[f"kernel PCA, m = {rank}"] = 3 * read + n / best[f"moments of features, m = {rank}, d = {WIDE}"] + scores
        far[f"scores, m = {rank}"] = read + scores
    print(f"n = {n}, d = {WIDE} on {cores} such cores, if all scale and files are read as fast as here")
    for name, seconds in far.items():
        print(f"  {name:72s} {seconds / cores:10.1f} s")
    return [{"rates": best, "runs": runs, "billion_rows_100_cores_seconds": {k: v / cores for k, v in far.items()}}]


PARTS = {"pca": pca_part, "kpca": kpca_part, "rates": rates_part}


def main():
    if sys.argv[1:2] == ["--worker"]:
        print(json.dumps(WORKERS[sys.argv[2]](json.load(sys.stdin))))
        return
    parser = argparse.ArgumentParser(description="PCA and kernel PCA on a Dask cluster: eigenlift against dask-ml.")
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--rows", type=int, default=10_000_000, help="rows of PCA")
    parser.add_argument("--kernel-rows", type=int, default=1_000_000, help="rows of kernel PCA")
    parser.add_argument("--workers", type=int, default=2, help="processes of the cluster, of one thread each")
    parser.add_argument("--fits", type=int, default=2, help="fits in each process")
    parser.add_argument("--repeat", type=int, default=3, help="processes of each side; the best counts")
    parser.add_argument("--wheel", type=Path, help="a release wheel to measure instead of building one")
    options = parser.parse_args()
    kpca.enter_environment()
    from importlib.metadata import version

    import python

    python.install(options.wheel)
    names = ("eigenlift", "numpy", "scipy", "scikit-learn", "dask", "distributed", "dask-ml")
    result = {
        "benchmark": "PCA and kernel PCA on a cluster of this machine",
        "date": datetime.date.today().isoformat(),
        "machine": kpca.machine(),
        "versions": {
            "commit": kpca.output_of("git", "rev-parse", "HEAD"),
            "changed_since_commit": bool(kpca.output_of("git", "status", "--porcelain")),
            "rustc": kpca.output_of("rustc", "--version"),
            "python": platform.python_version(),
            **{name: version(name) for name in names},
        },
        "repeat": options.repeat,
        "parts": {},
    }
    path = HERE / "results" / f"cluster-{result['date']}.json"
    for name in options.parts.split(","):
        say(name)
        load = os.getloadavg()[0]
        with tempfile.TemporaryDirectory(prefix="eigenlift-bench-") as folder:
            result["parts"][name] = [row | {"load_before": load} for row in PARTS[name](options, Path(folder))]
    path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(f"written: {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
