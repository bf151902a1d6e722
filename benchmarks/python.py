#!/usr/bin/env python3
"""The Python package against scikit-learn, and what it costs beside the Rust library it calls.

    python3 benchmarks/python.py [--parts kpca,pca,incremental,features,zca,binding] [--sizes 2000,5000,10000] [--repeat 3]

Uses the environment and the helpers of kpca.py beside it, builds the package in release mode and installs it there, prints
tables and writes benchmarks/results/python-<date>.json. README.md beside this file says what is measured and how.
"""

import argparse
import datetime
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import kpca
import pca
import scale
from kpca import COMPONENTS, HERE, MIB, ROOT, run_ours, say

BATCH, LANDMARKS, FEATURE_ROWS, ZCA_SHAPE = 1000, 300, 50_000, (50_000, 200)
SHOWN = 1000  # rows of results that are compared
FITS = 5  # in one process, where a fit takes milliseconds
# Largest relative difference of variances and of rows, in double and single precision, before any time counts.
SAME, SAME_ROWS, SAME_SINGLE = 1e-10, 1e-8, 1e-3


# ------------------------------------------------------------------------------- in processes of their own
def timed(work):
    start = time.perf_counter()
    result = work()
    return result, time.perf_counter() - start


def maker(job):
    """Makes the estimator of a job; its module is imported here, outside the measurement."""
    if job["library"] == "eigenlift":
        import eigenlift as module
    elif job["class"] in ("Nystroem", "RBFSampler"):
        import sklearn.kernel_approximation as module
    else:
        import sklearn.decomposition as module
    return lambda: getattr(module, job["class"])(**job["params"])


def worker_side(job):
    """Fits and transforms of one estimator: seconds of each call, peaks of the first fit and of the transforms, results."""
    import numpy as np
    from threadpoolctl import threadpool_info

    make = maker(job)
    np.linalg.eigh(np.eye(8) @ np.eye(8))  # start the threads of BLAS outside the measurement
    before = kpca.memory()["VmRSS"]
    kpca.forget_peak()
    x = np.load(job["x"])
    model, seconds = timed(lambda: make().fit(x))
    out = {"seconds": [seconds], "peak": kpca.memory()["VmHWM"]}
    out["net"] = out["peak"] - before
    for _ in range(job["fits"] - 1):
        model, seconds = timed(lambda: make().fit(x))
        out["seconds"].append(seconds)
    if hasattr(model, "explained_variance_"):
        out["variances"] = [float(v) for v in model.explained_variance_]
    if "scores" in job:
        np.save(job["scores"], model.eigenvectors_ * np.sqrt(np.abs(model.eigenvalues_)))
    if job["transforms"]:
        new = np.load(job["new"]) if "new" in job else x
        out |= transforms(job, model, new)
    blas = max((p["num_threads"] for p in threadpool_info()), default=1)
    out["threads"] = blas if job["library"] != "eigenlift" else len(os.sched_getaffinity(0))
    out["way"] = way(model)
    return out


def transforms(job, model, new):
    """Several transforms of the same rows, and the first rows of the result in a file."""
    import numpy as np

    # scikit-learn has no ZCA: its users turn the whitened rows back.
    work = (lambda: model.transform(new) @ model.components_) if job.get("back") else (lambda: model.transform(new))
    kpca.forget_peak()
    start, times, y = kpca.memory()["VmRSS"], [], None
    for _ in range(job["transforms"]):
        y = None
        y, seconds = timed(work)
        times.append(seconds)
    np.save(job["out"], y if "scores" in job else y[:SHOWN])
    return {"transform_seconds": times, "transform_net": kpca.memory()["VmHWM"] - start}


def way(model):
    """How the model was fitted, in its own words."""
    plan = getattr(model, "plan_", None)
    if plan is not None:
        words = [str(getattr(plan, name, "")) for name in ("route", "solver", "gram")]
        return ", ".join(word for word in words if word and word != "None")
    return getattr(model, "_fit_svd_solver", None)


def worker_layers(job):
    """Fits through the estimator; how long each was, and how long the calls of the compiled part and the checks of rows in it.

    The first fit of a process meets cold memory, and threads that must be started.
    """
    import numpy as np
    from eigenlift import _base, _native

    make, x, spent = maker(job), np.load(job["x"]), {}

    def watched(owner, name, as_what):
        original = getattr(owner, name)

        def call(*arguments, **named):
            result, seconds = timed(lambda: original(*arguments, **named))
            spent[as_what] = spent.get(as_what, 0.0) + seconds
            return result

        setattr(owner, name, call)

    watched(_native, job["native"], "compiled")
    watched(_base, "validate_data", "checks")
    out = []
    for _ in range(job["fits"]):
        spent.clear()
        _, seconds = timed(lambda: make().fit(x))
        out.append({"seconds": seconds, **spent})
    return {"fits": out}


WORKERS = {
    "side": worker_side,
    "layers": worker_layers,
    "mixture": kpca.worker_data,
    "table": pca.worker_data,
    "raw": pca.worker_raw,
    "features": scale.worker_data,
}


def run_worker(kind, **job):
    command = [sys.executable, str(Path(__file__).resolve()), "--worker", kind]
    done = subprocess.run(command, input=json.dumps(job), capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{kind} failed:\n{done.stderr}")
    return json.loads(done.stdout)


# ------------------------------------------------------------------------------- sides
def side(library, name, /, **params):
    return {"library": library, "class": name, "params": params}


def alternate(sides, repeat, folder, fits=FITS, transforms=0, **job):
    """Every side once in a process of its own, then all again; the lists of runs by name of the side."""
    runs = {name: [] for name in sides}
    for _ in range(repeat):
        for at, (name, what) in enumerate(sides.items()):
            out = str(folder / f"out{at}.npy")
            runs[name].append(run_worker("side", **{"out": out, "fits": fits, "transforms": transforms, **job, **what}))
    return runs


def summary(runs):
    """The best of each, for all sides of a part: seconds of a fit, of the first fit of a process, of a transform; memory."""
    out = {}
    for name, all_runs in runs.items():
        out[name] = {
            "seconds": min(min(r["seconds"]) for r in all_runs),
            "first_fit_seconds": min(r["seconds"][0] for r in all_runs),
            "peak_bytes": min(r["peak"] for r in all_runs),
            "peak_net_bytes": min(r["net"] for r in all_runs),
            "threads": all_runs[0]["threads"],
            "way": all_runs[0]["way"],
            "all_seconds": [r["seconds"] for r in all_runs],
        }
        if "transform_seconds" in all_runs[0]:
            out[name] |= {
                "transform_seconds": min(min(r["transform_seconds"]) for r in all_runs),
                "transform_net_bytes": min(r["transform_net"] for r in all_runs),
                "all_transform_seconds": [r["transform_seconds"] for r in all_runs],
            }
    return out


def apart(a, b, allowed, what):
    """Largest difference of two lists of numbers, each relative to its own; more than `allowed` ends the run."""
    worst = max(abs(x - y) / abs(y) for x, y in zip(a, b, strict=True))
    if allowed is not None and worst > allowed:
        raise SystemExit(f"{what}: variances differ by {worst:.1e}; no timing counts")
    return worst


def rows_apart(sides, folder, allowed, what, factors=None):
    """Largest difference of the rows of each side from those of the first, relative to the largest entry."""
    import numpy as np

    first = np.load(folder / "out0.npy").astype(np.float64)
    found = {}
    for at, name in enumerate(sides):
        y = np.load(folder / f"out{at}.npy").astype(np.float64) * (factors or {}).get(name, 1.0)
        found[name] = float(np.abs(y - first).max() / np.abs(first).max())
        if found[name] > allowed:
            raise SystemExit(f"{what}, {name}: rows differ by {found[name]:.1e}; no timing counts")
    return found


# ------------------------------------------------------------------------------- parts
def kpca_part(options, folder):
    for n in options.sizes.split(","):
        yield kpca_size(int(n), options, folder)


def kpca_size(n, options, folder):
    """Fit of n rows and transform of new ones; the rival is the fastest setting of scikit-learn that reaches our residual."""
    names = ("x", "new", "scores", "scores_new", "reference", "reference_new")
    files = {name: str(folder / f"{name}.npy") for name in names}
    gamma = run_worker("mixture", n=n, **files)["gamma"]
    kernel = {"kernel": "rbf", "gamma": gamma}
    reference = files | {"scores": files["reference"], "scores_new": files["reference_new"]}
    exact = {"eigen_solver": "arpack", "tol": 0}
    kpca.run_worker("sklearn", **reference, k=COMPONENTS + 1, gamma=gamma, settings=exact, transforms=1)

    def fit(what, transforms):
        job = {name: files[name] for name in ("x", "new", "scores")} | {"out": files["scores_new"]}
        return run_worker("side", fits=1, transforms=transforms, **job, **what)

    def check(name, target):
        known = {key: files[key] for key in ("x", "scores", "scores_new", "reference", "reference_new")}
        found = kpca.run_worker("check", gamma=gamma, target=target, **known)
        if not found["agrees"]:
            raise SystemExit(f"n = {n}, {name}: scores disagree with the reference ({found}); no timing counts")
        return found

    own = side("eigenlift", "KernelPCA", n_components=COMPONENTS, **kernel)
    fit(own, 1)
    target = max(1e-6, check("eigenlift", 1e-6)["residual"])
    best, tried = kpca.choose_rival(files, gamma, target, options.repeat)
    rival = {"n_components": COMPONENTS, "random_state": 0} | kernel
    sides = {"eigenlift": own, "fastest": side("sklearn", "KernelPCA", **rival, **best["settings"])}
    if n <= options.default_up_to:
        sides["default"] = side("sklearn", "KernelPCA", n_components=COMPONENTS, **kernel)
    runs, checks = {name: [] for name in sides}, {}
    for _ in range(options.repeat):
        for name, what in sides.items():
            runs[name].append(fit(what, options.repeat))
            if name not in checks:
                checks[name] = check(name, target)
    found = summary(runs)
    for name in sides:
        found[name] |= {"residual": checks[name]["residual"], "score_difference": checks[name]["difference"]}
    found["fastest"]["settings"] = best["settings"]
    shape = {"n": n, "d": kpca.DIM, "k": COMPONENTS, "new_rows": kpca.NEW_ROWS}
    return {"part": "kpca", **shape, "kernel": f"rbf(gamma={gamma!r})", "sides": found, "settings_tried": tried}


def pca_part(options, folder):
    """Fit alone; scikit-learn's default and its full solver, which also says what is right."""
    for name in ("wide", "tall"):
        x, (n, d) = str(folder / "x.npy"), pca.SHAPES[name]
        run_worker("table", shape=(n, d), x=x)
        sides = {
            "eigenlift": side("eigenlift", "PCA", n_components=COMPONENTS),
            "default": side("sklearn", "PCA", n_components=COMPONENTS, random_state=0),
            "full": side("sklearn", "PCA", n_components=COMPONENTS, svd_solver="full"),
        }
        runs = alternate(sides, options.repeat, folder, x=x)
        right = runs["full"][0]["variances"]
        off = {s: apart(runs[s][0]["variances"], right, SAME if s == "eigenlift" else None, name) for s in sides}
        row = {"part": f"pca {name}", "n": n, "d": d, "k": COMPONENTS}
        yield {**row, "variances_apart": off, "sides": summary(runs)}


def incremental_part(options, folder):
    """Rows in batches; scikit-learn's class forgets what its components leave out, ours does not."""
    x, (n, d) = str(folder / "x.npy"), pca.SHAPES["tall"]
    run_worker("table", shape=(n, d), x=x)
    params = {"n_components": COMPONENTS, "batch_size": BATCH}
    sides = {name: side(name, "IncrementalPCA", **params) for name in ("eigenlift", "sklearn")}
    full = side("sklearn", "PCA", n_components=COMPONENTS, svd_solver="full")
    right = run_worker("side", x=x, fits=1, transforms=0, **full)["variances"]
    runs = alternate(sides, options.repeat, folder, fits=2, x=x)
    off = {s: apart(runs[s][0]["variances"], right, SAME if s == "eigenlift" else None, s) for s in sides}
    row = {"part": "incremental", "n": n, "d": d, "k": COMPONENTS, "batch": BATCH}
    yield {**row, "variances_apart": off, "sides": summary(runs)}


def features_part(options, folder):
    """Nystroem and random features, fit and transform of the same rows, in double and single precision."""
    import numpy as np

    x = str(folder / "x.npy")
    gamma = run_worker("features", n=FEATURE_ROWS, sd=0.5, x=x)["gamma"]
    single = str(folder / "single.npy")
    np.save(single, np.load(x).astype(np.float32))
    params = {"gamma": gamma, "n_components": LANDMARKS, "random_state": 0}
    both = {
        "Nystroem": {
            "eigenlift": side("eigenlift", "Nystroem", **params),
            "default": side("sklearn", "Nystroem", **params),
            "all cores": side("sklearn", "Nystroem", **params, n_jobs=-1),
        },
        "RBFSampler": {
            "eigenlift": side("eigenlift", "RBFSampler", **params),
            "default": side("sklearn", "RBFSampler", **params),
        },
    }
    for name, sides in both.items():
        for precision, file, allowed in (("f64", x, SAME_ROWS), ("f32", single, SAME_SINGLE)):
            runs = alternate(sides, options.repeat, folder, fits=2, transforms=3, x=file)
            off = rows_apart(sides, folder, allowed, f"{name} {precision}")
            row = {"part": f"{name} {precision}", "n": FEATURE_ROWS, "d": 32, "components": LANDMARKS}
            yield {**row, "kernel": f"rbf(gamma={gamma!r})", "rows_apart": off, "sides": summary(runs)}


def zca_part(options, folder):
    """ZCA against PCA(whiten=True) and a product that turns the rows back."""
    x, (n, d) = str(folder / "x.npy"), ZCA_SHAPE
    run_worker("table", shape=ZCA_SHAPE, x=x)
    sides = {
        "eigenlift": side("eigenlift", "Whitening", method="zca"),
        "PCA(whiten) and a product": side("sklearn", "PCA", whiten=True) | {"back": True},
    }
    runs = alternate(sides, options.repeat, folder, fits=FITS, transforms=3, x=x)
    # scikit-learn divides by n - 1.
    factors = {"PCA(whiten) and a product": (n / (n - 1)) ** 0.5}
    off = rows_apart(sides, folder, SAME_ROWS, "zca", factors)
    yield {"part": "zca", "n": n, "d": d, "rows_apart": off, "sides": summary(runs)}


def binding_part(options, folder):
    """The same fits by the estimator and by the Rust library without Python, processes alternated.

    Kernel PCA: the command line's own account of its fit and scores, against the first fit of a Python process. PCA: fits in
    one process by the bench program, against as many by the estimator.
    """
    files = {name: str(folder / f"{name}.npy") for name in ("x", "new", "ours")}
    files |= {"model": str(folder / "model.safetensors"), "raw": str(folder / "x.bin")}
    for n in map(int, options.sizes.split(",")):
        gamma = run_worker("mixture", n=n, **files)["gamma"]
        own = side("eigenlift", "KernelPCA", n_components=COMPONENTS, kernel="rbf", gamma=gamma)
        library, python = [], []
        for _ in range(options.turns):
            library.append(kpca.ours_fit(options.binary, files, gamma, 1e-6, 0)["seconds"])
            python.append(run_worker("layers", x=files["x"], fits=3, native="fit_kernel_pca", **own)["fits"])
        cold = [fits[0]["seconds"] for fits in python]
        yield cost({"part": "binding kpca", "n": n, "d": kpca.DIM}, library, cold, python)
    program = pca.bench_program() if options.bench is None else options.bench
    for name in ("wide", "tall"):
        n, d = pca.SHAPES[name]
        run_worker("table", shape=(n, d), x=files["x"])
        run_worker("raw", **files)
        own, library, python = side("eigenlift", "PCA", n_components=COMPONENTS), [], []
        for _ in range(options.turns):
            library.append(json.loads(run_ours([program, files["raw"], n, d, COMPONENTS, FITS])[0])["seconds"])
            python.append(run_worker("layers", x=files["x"], fits=FITS, native="fit_pca", **own)["fits"])
        flat = [seconds for fits in library for seconds in fits]
        warm = [fit["seconds"] for fits in python for fit in fits]
        yield cost({"part": f"binding pca {name}", "n": n, "d": d}, flat, warm, python)


def cost(row, library, python, layers):
    """What Python adds: the best against the best, and the middle against the middle; and where it is spent, from single calls."""
    fits = [fit for fits in layers for fit in fits]
    outside = [fit["seconds"] - fit["compiled"] for fit in fits]
    return row | {
        "k": COMPONENTS,
        "library_seconds": min(library),
        "python_seconds": min(python),
        "cost": min(python) / min(library) - 1,
        "cost_of_medians": statistics.median(python) / statistics.median(library) - 1,
        "outside_compiled_seconds": statistics.median(outside),
        "checks_seconds": statistics.median(fit["checks"] for fit in fits),
        "outside_share": statistics.median(o / fit["compiled"] for o, fit in zip(outside, fits, strict=True)),
        "all": {"library": library, "python": layers},
    }


# ------------------------------------------------------------------------------- everything
def show(row):
    where = f"{row['part']} {row['n']} × {row['d']}"
    if "library_seconds" in row:
        say(
            f"  {where}: library {row['library_seconds'] * 1e3:.1f} ms, Python {row['python_seconds'] * 1e3:.1f} ms: "
            f"{row['cost']:+.1%} (medians {row['cost_of_medians']:+.1%}); outside the compiled part "
            f"{row['outside_compiled_seconds'] * 1e3:.2f} ms ({row['outside_share']:.1%}), of which checks of rows "
            f"{row['checks_seconds'] * 1e3:.2f} ms"
        )
        return
    own = row["sides"]["eigenlift"]
    for name, s in row["sides"].items():
        line = f"  {where} {name:28s} fit {s['seconds'] * 1e3:9.1f} ms ({s['seconds'] / own['seconds']:.2f}×)"
        line += f", first {s['first_fit_seconds'] * 1e3:.1f}, net {s['peak_net_bytes'] / MIB:.0f} MiB"
        line += f" ({s['peak_net_bytes'] / max(1, own['peak_net_bytes']):.1f}×)"
        if "transform_seconds" in s:
            ratio = s["transform_seconds"] / own["transform_seconds"]
            line += f"; transform {s['transform_seconds'] * 1e3:.1f} ms ({ratio:.2f}×), net {s['transform_net_bytes'] / MIB:.0f} MiB"
        if "residual" in s:
            line += f"; residual {s['residual']:.1e}"
        say(line)


def install(wheel):
    """Puts the package into the environment; pip builds it in release mode unless a wheel is given."""
    what = str(wheel or ROOT / "python")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "--force-reinstall", "--no-deps", what], check=True)


PARTS = {
    "kpca": kpca_part,
    "pca": pca_part,
    "incremental": incremental_part,
    "features": features_part,
    "zca": zca_part,
    "binding": binding_part,
}


def main():
    if sys.argv[1:2] == ["--worker"]:
        print(json.dumps(WORKERS[sys.argv[2]](json.load(sys.stdin)) or {}))
        return
    parser = argparse.ArgumentParser(description="The Python package of eigenlift against scikit-learn.")
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--sizes", default="2000,5000,10000", help="rows of kernel PCA, comma-separated")
    parser.add_argument("--repeat", type=int, default=3, help="runs of each; the best counts")
    parser.add_argument("--turns", type=int, default=7, help="processes of either side in the part binding")
    parser.add_argument("--default-up-to", type=int, default=5000, help="largest n for scikit-learn's default solver")
    parser.add_argument("--wheel", type=Path, help="a release wheel to measure instead of building one")
    parser.add_argument("--binary", type=Path, help="an eigenlift binary to measure instead of building one")
    parser.add_argument("--bench", type=Path, help="the bench program `pca`, instead of building it")
    options = parser.parse_args()
    kpca.enter_environment()
    install(options.wheel)
    if "binding" in options.parts:
        options.binary = (options.binary or kpca.build()).resolve()
    from importlib.metadata import version

    names = [line.split("==")[0] for line in (HERE / "requirements.txt").read_text(encoding="utf-8").split()]
    result = {
        "benchmark": "Python package",
        "date": datetime.date.today().isoformat(),
        "machine": kpca.machine(),
        "versions": {
            "eigenlift": version("eigenlift"),
            "commit": kpca.output_of("git", "rev-parse", "HEAD"),
            "changed_since_commit": bool(kpca.output_of("git", "status", "--porcelain")),
            "rustc": kpca.output_of("rustc", "--version"),
            "python": platform.python_version(),
            **{name: version(name) for name in names},
        },
        "repeat": options.repeat,
        "rows": [],
    }
    for name in options.parts.split(","):
        say(name)
        with tempfile.TemporaryDirectory(prefix="eigenlift-bench-") as folder:
            load = os.getloadavg()[0]
            for row in PARTS[name](options, Path(folder)):
                show(row)
                result["rows"].append(row | {"load_before": load})
    path = HERE / "results" / f"python-{result['date']}.json"
    path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(f"written: {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
