#!/usr/bin/env python3
"""Selection of features: mutual information and forward steps against scikit-learn.

    python3 benchmarks/selection.py [--parts information,neighbours,linear,filters] [--repeat 3] [--wheel FILE]

Uses the environment and the helpers of kpca.py beside it, builds the package in release mode and installs it there, prints a line
for each comparison and writes benchmarks/results/selection-<date>.json. README.md beside this file says what is measured and how.
"""

import argparse
import datetime
import json
import os
import platform
import subprocess
import sys
import time
from pathlib import Path

import kpca
from kpca import HERE, MIB, ROOT, say

SEED, FOLDS = 1, 5


# ------------------------------------------------------------------------------- in processes of their own
def data(job):
    """Rows whose first ten columns matter, with three classes or numbers."""
    import numpy as np

    n, d = job["shape"]
    rng = np.random.default_rng(SEED)
    x = rng.normal(size=(n, d))
    along = x[:, :10] @ np.linspace(1.0, 0.2, 10) + 0.5 * x[:, 0] * x[:, 1] + rng.normal(size=n)
    y = along if job["numbers"] else np.digitize(along, np.quantile(along, [1 / 3, 2 / 3]))
    return x, y


def sequential(job):
    """The class of either side, with five folds that do not shuffle, so that both see the same rows."""
    if job["library"] == "eigenlift":
        from eigenlift import SequentialFeatureSelector

        return lambda: SequentialFeatureSelector(job["scorer"], n_features_to_select=job["steps"], cv=FOLDS)
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.feature_selection import SequentialFeatureSelector
    from sklearn.linear_model import LogisticRegression, RidgeClassifier
    from sklearn.neighbors import KNeighborsClassifier

    estimator = {
        "knn": lambda: KNeighborsClassifier(5),
        "lda": LinearDiscriminantAnalysis,
        "ridge": RidgeClassifier,
        "logistic": LogisticRegression,
    }[job["scorer"]]
    return lambda: SequentialFeatureSelector(estimator(), n_features_to_select=job["steps"], cv=FOLDS, n_jobs=-1)


def scores(job):
    """The function of either side that gives a number for each column."""
    if job["library"] == "eigenlift":
        import eigenlift as module
    else:
        import sklearn.feature_selection as module
    name = job["function"]
    if not name.startswith("mutual"):
        if job["library"] == "eigenlift":
            return lambda x, y: module.FeatureFilter(name, n_features_to_select=10).fit(x, y).scores_
        return lambda x, y: getattr(module, {"f": "f_classif", "chi2": "chi2"}[name])(x, y)[0]
    more = {"n_jobs": -1, "random_state": 0} if job["library"] == "sklearn" else {}
    return lambda x, y: getattr(module, name)(x, y, **more)


def worker_side(job):
    """Seconds of each call, the peak of the first above what the data took, and the result."""
    import numpy as np

    x, y = data(job)
    if job.get("function") == "chi2":
        x = np.abs(x)
    what = scores(job) if "function" in job else sequential(job)
    before, times = kpca.memory()["VmRSS"], []
    kpca.forget_peak()
    for _ in range(job["calls"]):
        start = time.perf_counter()
        result = what(x, y) if "function" in job else what().fit(x, y)
        times.append(time.perf_counter() - start)
    result = [float(v) for v in result] if "function" in job else [int(j) for j in result.get_support(indices=True)]
    return {"seconds": times, "net": kpca.memory()["VmHWM"] - before, "result": result}


def run_worker(**job):
    command = [sys.executable, str(Path(__file__).resolve()), "--worker"]
    done = subprocess.run(command, input=json.dumps(job), capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{job} failed:\n{done.stderr}")
    return json.loads(done.stdout)


# ------------------------------------------------------------------------------- parts
def compare(what, repeat, calls=2, **job):
    """Both sides, each in processes of their own that alternate; the best of each."""
    runs = {"eigenlift": [], "sklearn": []}
    for _ in range(repeat):
        for library in runs:
            runs[library].append(run_worker(library=library, calls=calls, **job))
    best = {name: min(min(r["seconds"]) for r in all_runs) for name, all_runs in runs.items()}
    first = {name: min(r["seconds"][0] for r in all_runs) for name, all_runs in runs.items()}
    row = {
        "what": what,
        **job,
        "seconds": best,
        "first_call_seconds": first,
        "ratio": best["sklearn"] / best["eigenlift"],
        "net_bytes": {name: min(r["net"] for r in all_runs) for name, all_runs in runs.items()},
        "results": {name: all_runs[0]["result"] for name, all_runs in runs.items()},
        "runs": {name: [r["seconds"] for r in all_runs] for name, all_runs in runs.items()},
    }
    row["agreement"] = agreement(row["results"], "function" in job)
    return row


def agreement(results, numbers):
    """The largest difference of numbers, or the share of features that both chose."""
    ours, theirs = results["eigenlift"], results["sklearn"]
    if numbers:
        return {"largest_difference": max(abs(a - b) for a, b in zip(ours, theirs)), "largest_value": max(map(abs, theirs))}
    return {"same_features": len(set(ours) & set(theirs)) / len(theirs)}


def information_part(options):
    for function, numbers in (("mutual_info_classif", False), ("mutual_info_regression", True)):
        yield compare(function, options.repeat, function=function, numbers=numbers, shape=[5000, 100])


def neighbours_part(options):
    yield compare("forward knn", options.repeat, scorer="knn", steps=5, numbers=False, shape=[2000, 60])


def linear_part(options):
    for scorer in ("lda", "ridge", "logistic"):
        yield compare(f"forward {scorer}", options.repeat, scorer=scorer, steps=5, numbers=False, shape=[2000, 60])


def filters_part(options):
    for function in ("f", "chi2"):
        yield compare(function, options.repeat, function=function, numbers=False, shape=[5000, 100])


PARTS = {"information": information_part, "neighbours": neighbours_part, "linear": linear_part, "filters": filters_part}


def show(row):
    seconds, net = row["seconds"], row["net_bytes"]
    found = ", ".join(f"{name} {value:.3g}" for name, value in row["agreement"].items())
    print(
        f"{row['what']:24s} {row['shape'][0]} × {row['shape'][1]}: eigenlift {seconds['eigenlift']:.4f} s, "
        f"scikit-learn {seconds['sklearn']:.3f} s, {row['ratio']:.1f}x; memory above the data "
        f"{net['eigenlift'] / MIB:.0f} and {net['sklearn'] / MIB:.0f} MiB; {found}"
    )


def main():
    if sys.argv[1:2] == ["--worker"]:
        print(json.dumps(worker_side(json.load(sys.stdin))))
        return
    parser = argparse.ArgumentParser(description="Selection of features: eigenlift against scikit-learn.")
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--repeat", type=int, default=3, help="runs of each; the best counts")
    parser.add_argument("--wheel", type=Path, help="a release wheel to measure instead of building one")
    options = parser.parse_args()
    kpca.enter_environment()
    import python
    from importlib.metadata import version

    python.install(options.wheel)
    names = ("numpy", "scipy", "scikit-learn", "joblib")
    result = {
        "benchmark": "selection of features",
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
        load = os.getloadavg()[0]
        for row in PARTS[name](options):
            show(row)
            result["rows"].append(row | {"load_before": load})
    path = HERE / "results" / f"selection-{result['date']}.json"
    path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(f"written: {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
