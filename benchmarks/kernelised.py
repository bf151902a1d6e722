#!/usr/bin/env python3
"""Kernel canonical correlation, discriminants, k-means and novelty against cca-zoo, scikit-learn, tslearn and PyOD.

    python3 benchmarks/kernelised.py [--parts views,classes,clusters,novelty,scale] [--repeat 3] [--binary FILE]
                                     [--mfeat FILE] [--letters FILE]

Uses the environment and the helpers of kpca.py beside it, prints a line for each comparison and writes
benchmarks/results/kernelised-<date>.json. README.md beside this file says what is measured and how.
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

SEED, GAMMA_ROWS = 1, 600


# ------------------------------------------------------------------------------- in processes of their own
def median_gamma(x):
    """1 / median squared distance of some rows."""
    import numpy as np

    few = x[np.random.default_rng(SEED).permutation(len(x))[:GAMMA_ROWS]]
    apart = ((few[:, None, :] - few[None, :, :]) ** 2).sum(2)[np.triu_indices(len(few), 1)]
    return 1 / float(np.median(apart))


def split(arrays, train):
    """The same random rows of each array, to learn from and held out."""
    import numpy as np

    order = np.random.default_rng(SEED).permutation(len(arrays[0]))
    return [a[order[:train]] for a in arrays], [a[order[train:]] for a in arrays]


def standardised(x):
    return (x - x.mean(0)) / x.std(0).clip(1e-9)


def worker_views(job):
    """Two views: those of the handwritten digits of mfeat, or two noisy images of one curve."""
    import numpy as np

    if job["mfeat"]:
        with np.load(job["mfeat"]) as file:
            views = [standardised(file[name].astype(float)) for name in ("fou", "kar")]
    else:
        rng = np.random.default_rng(SEED)
        t = 6 * rng.random(2000)
        first = np.c_[np.cos(t), np.sin(t), np.cos(2 * t)] @ rng.normal(size=(3, 40))
        second = np.c_[t, np.sin(3 * t)] @ rng.normal(size=(2, 30))
        views = [standardised(v + rng.normal(size=v.shape)) for v in (first, second)]
    train, test = split(views, job["rows"])
    for kind, pair in (("train", train), ("test", test)):
        for number, view in enumerate(pair, 1):
            np.save(job[f"{kind}{number}"], view)
    return {"n": len(train[0]), "d": [v.shape[1] for v in views], "held_out": len(test[0]), "gamma": [median_gamma(v) for v in train]}


def worker_cca_zoo(job):
    """KCCA of cca-zoo with the shrinkage that is our κ."""
    import numpy as np
    from cca_zoo.nonparametric import KCCA

    views = [np.load(job[f"train{i}"]) for i in (1, 2)]
    n = len(views[0])
    ratio = job["kappa"] * n / (n - 1)
    c = ratio / (1 + ratio)
    model = KCCA(n_components=job["k"], shrinkage=c, kernel="rbf", gamma=job["gamma"])
    kpca.forget_peak()
    begin = time.perf_counter()
    model.fit(views)
    seconds = time.perf_counter() - begin
    for kind in ("train", "test"):
        scores = model.transform([np.load(job[f"{kind}{i}"]) for i in (1, 2)])
        for number, z in enumerate(scores, 1):
            np.save(job[f"out_{kind}{number}"], z)
    return {"seconds": seconds, "peak": kpca.memory()["VmHWM"]}


def worker_correlations(job):
    """Plain correlations of scores, component by component."""
    import numpy as np

    a, b = np.load(job["first"]), np.load(job["second"])
    return {"values": [float(np.corrcoef(a[:, j], b[:, j])[0, 1]) for j in range(a.shape[1])]}


def worker_classes(job):
    """Labelled rows: letters, or the digits of scikit-learn."""
    import numpy as np

    if job["letters"]:
        with np.load(job["letters"]) as file:
            x, y = standardised(file["X"].astype(float)), file["y"].astype(str)
    else:
        from sklearn.datasets import load_digits

        digits = load_digits()
        x, y = digits.data / 16.0, digits.target.astype(str)
    (train, labels), (test, truth) = split([x, y], len(x) * 2 // 3)
    for name, rows, classes in (("train", train, labels), ("test", test, truth)):
        header = ",".join([f"x{j + 1}" for j in range(x.shape[1])] + ["label"])
        lines = [",".join(map(repr, map(float, row))) + f",c{label}" for row, label in zip(rows, classes)]
        Path(job[name]).write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")
        np.savez(job[name] + ".npz", x=rows, y=np.char.add("c", classes))
    return {"n": len(train), "d": x.shape[1], "classes": len(set(labels)), "held_out": len(test), "gamma": median_gamma(train)}


def worker_sklearn_classes(job):
    """Nyström features and linear discriminants, shrinkage by five folds over the same number of values."""
    import numpy as np
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.kernel_approximation import Nystroem
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline

    with np.load(job["train"] + ".npz") as train, np.load(job["test"] + ".npz") as test:
        x, y, x_test, y_test = train["x"], train["y"], test["x"], test["y"]
    features = Nystroem(gamma=job["gamma"], n_components=job["rank"], random_state=0)
    search = GridSearchCV(
        LinearDiscriminantAnalysis(solver="eigen"), {"shrinkage": np.logspace(-6, 0, 13)[:-1]}, cv=5, n_jobs=-1
    )
    model = make_pipeline(features, search)
    kpca.forget_peak()
    begin = time.perf_counter()
    model.fit(x, y)
    seconds = time.perf_counter() - begin
    return {"seconds": seconds, "peak": kpca.memory()["VmHWM"], "accuracy": float(model.score(x_test, y_test))}


def worker_accuracy(job):
    """Share of rows whose class was predicted, from a table that has both."""
    import csv

    with open(job["table"], newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return {"accuracy": sum(row["label"] == row["class"] for row in rows) / len(rows)}


def worker_rows(job):
    """A mixture of Gaussians, with some rows that belong to none."""
    import numpy as np

    rng = np.random.default_rng(SEED)
    d, strange = job["d"], job.get("strange", 0)
    centres = rng.normal(size=(job["clusters"], d))
    x = centres[rng.integers(0, job["clusters"], job["n"])] + 0.35 * rng.normal(size=(job["n"], d))
    np.save(job["x"], x)
    normal = centres[rng.integers(0, job["clusters"], 1000)] + 0.35 * rng.normal(size=(1000, d))
    np.save(job["new"], np.r_[normal, rng.normal(size=(strange, d)) * 1.2])
    return {"n": job["n"], "d": d, "clusters": job["clusters"], "strange": strange, "gamma": median_gamma(x)}


def worker_labelled(job):
    """The rows with a class each, by the sign of two columns."""
    import numpy as np

    x = np.load(job["x"])
    label = (x[:, 0] > 0).astype(int) * 2 + (x[:, 1] > 0)
    np.savetxt(job["out"], np.c_[x, label], delimiter=",", fmt="%.17g", comments="", header=",".join([f"x{j + 1}" for j in range(x.shape[1])] + ["label"]))


def worker_tslearn(job):
    """Kernel k-means of tslearn, which works on the whole Gram matrix."""
    import numpy as np
    from tslearn.clustering import KernelKMeans

    x = np.load(job["x"])
    model = KernelKMeans(
        n_clusters=job["clusters"], kernel="rbf", kernel_params={"gamma": job["gamma"]}, n_init=job["starts"], random_state=0, n_jobs=-1
    )
    kpca.forget_peak()
    begin = time.perf_counter()
    model.fit(x[:, :, None])
    seconds, peak = time.perf_counter() - begin, kpca.memory()["VmHWM"]
    # The inertia of its clusters by definition, whatever it calls so itself.
    gram = np.exp(-job["gamma"] * ((x[:, None, :] - x[None, :, :]) ** 2).sum(2))
    members = [model.labels_ == c for c in np.unique(model.labels_)]
    inertia = np.trace(gram) - sum(gram[np.ix_(m, m)].sum() / m.sum() for m in members)
    return {"seconds": seconds, "peak": peak, "inertia": float(inertia), "told": float(model.inertia_), "clusters": len(members)}


def worker_pyod(job):
    """KPCA detector of PyOD: fit, then scores of new rows, and how well they tell strange rows from others."""
    import numpy as np
    from pyod.models.kpca import KPCA
    from sklearn.metrics import roc_auc_score

    x, new = np.load(job["x"]), np.load(job["new"])
    model = KPCA(n_components=job["k"], kernel="rbf", gamma=job["gamma"], n_jobs=-1, remove_zero_eig=True)
    kpca.forget_peak()
    begin = time.perf_counter()
    model.fit(x)
    middle = time.perf_counter()
    scores = model.decision_function(new)
    end = time.perf_counter()
    truth = np.arange(len(new)) >= 1000
    return {"fit": middle - begin, "score": end - middle, "seconds": end - begin, "peak": kpca.memory()["VmHWM"], "auc": float(roc_auc_score(truth, scores))}


def worker_auc(job):
    import csv

    from sklearn.metrics import roc_auc_score

    with open(job["table"], newline="", encoding="utf-8") as file:
        scores = [float(row["spe"]) for row in csv.DictReader(file)]
    return {"auc": float(roc_auc_score([at >= 1000 for at in range(len(scores))], scores))}


def worker_versions(_):
    from importlib.metadata import version

    return {name: version(name) for name in ("cca-zoo", "numpy", "pyod", "scikit-learn", "scipy", "tslearn")}


WORKERS = {name.removeprefix("worker_"): function for name, function in list(globals().items()) if name.startswith("worker_")}


# ------------------------------------------------------------------------------------------------- the driver
def run_worker(kind, **job):
    command = [sys.executable, __file__, "--worker", kind]
    done = subprocess.run(command, input=json.dumps(job), capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{kind} {job}\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def ours(binary, *words):
    text, peak = run_ours([binary, *words, "--json", "--quiet"])
    account = json.loads(text)
    return {"seconds": account["seconds"]["fit"], "peak": peak, "account": account}


def best(runs):
    return min(runs, key=lambda run: run["seconds"])


def brief(run):
    return {key: value for key, value in run.items() if key != "account"}


def files_in(folder, *names):
    return {name: str(folder / name) for name in names}


def views(binary, options, folder):
    """Exact kernel CCA at the same κ: the same correlations, then time; and landmarks with κ chosen."""
    names = [f"{kind}{i}.npy" for kind in ("train", "test", "ours_train", "ours_test", "out_train", "out_test") for i in (1, 2)]
    files = {name.removesuffix(".npy"): str(folder / name) for name in names}
    data = run_worker("views", mfeat=options.mfeat, rows=1000, **files)
    k, kappa, gamma = 4, 0.02, data["gamma"][0]
    kernels = ["--kernel", f"rbf(gamma={gamma!r})"]
    model = str(folder / "kcca.safetensors")
    fit = ["fit", "kcca", files["train1"], files["train2"], "-k", k, *kernels, "--model", model]
    mine, theirs, chosen = [], [], []
    for _ in range(options.repeat):
        mine.append(ours(binary, *fit, "--exact", "--regularization", kappa, "--folds", 0))
        theirs.append(run_worker("cca_zoo", k=k, kappa=kappa, gamma=gamma, **files))
    for kind in ("train", "test"):
        for i in (1, 2):
            run_ours([binary, "transform", model, files[f"{kind}{i}"], "--view", i, "--out", files[f"ours_{kind}{i}"], "--quiet"])
    told = {
        side: run_worker("correlations", first=files[f"{side}1"], second=files[f"{side}2"])["values"]
        for side in ("ours_train", "ours_test", "out_train", "out_test")
    }
    apart = max(abs(a - b) for a, b in zip(told["ours_train"] + told["ours_test"], told["out_train"] + told["out_test"]))
    if apart > 1e-6:
        raise SystemExit(f"correlations differ by {apart}: {told}")
    for _ in range(options.repeat):
        chosen.append(ours(binary, *fit))
    a, b, c = best(mine), best(theirs), best(chosen)
    say(f"views {data['n']} × {data['d']}: correlations agree to {apart:.1e}; exact {a['seconds']:.2f} s against {b['seconds']:.2f} s of "
        f"cca-zoo, {b['seconds'] / a['seconds']:.1f}×, peak {a['peak'] / MIB:.0f} against {b['peak'] / MIB:.0f} MiB; κ of 13 by 5 folds "
        f"{c['seconds']:.2f} s")
    return {**data, "k": k, "kappa": kappa, "correlations": told, "ours": brief(a), "cca_zoo": b, "chosen": c, "ratio": b["seconds"] / a["seconds"]}


def classes(binary, options, folder):
    """Discriminants on so many landmarks with κ chosen among 13: accuracy on held-out rows, and time."""
    files = files_in(folder, "train.csv", "test.csv", "scores.csv", "kda.safetensors")
    data = run_worker("classes", letters=options.letters, train=files["train.csv"], test=files["test.csv"])
    rank = 500
    kernel = f"rbf(gamma={data['gamma']!r})"
    fit = ["fit", "kda", files["train.csv"], "--target", "label", "--kernel", kernel, "--rank", rank, "--model", files["kda.safetensors"]]
    mine, theirs = [], []
    for _ in range(options.repeat):
        mine.append(ours(binary, *fit))
        theirs.append(run_worker("sklearn_classes", train=files["train.csv"], test=files["test.csv"], gamma=data["gamma"], rank=rank))
    run_ours([binary, "transform", files["kda.safetensors"], files["test.csv"], "--target", "label", "--out", files["scores.csv"], "--quiet"])
    accuracy = run_worker("accuracy", table=files["scores.csv"])["accuracy"]
    a, b = best(mine), best(theirs)
    say(f"classes {data['n']} × {data['d']}, {data['classes']} classes, {rank} landmarks: accuracy {accuracy:.4f} against {b['accuracy']:.4f}; "
        f"{a['seconds']:.2f} s against {b['seconds']:.2f} s of Nystroem and LinearDiscriminantAnalysis, {b['seconds'] / a['seconds']:.1f}×, "
        f"peak {a['peak'] / MIB:.0f} against {b['peak'] / MIB:.0f} MiB")
    return {**data, "rank": rank, "accuracy": accuracy, "ours": a, "sklearn": b, "ratio": b["seconds"] / a["seconds"]}


def clusters(binary, options, folder):
    """Kernel k-means from as many starts: the inertia must not be worse, then time."""
    files = files_in(folder, "x.npy", "new.npy")
    data = run_worker("rows", n=2000, d=16, clusters=8, x=files["x.npy"], new=files["new.npy"])
    kernel, starts = f"rbf(gamma={data['gamma']!r})", 5
    mine, theirs = [], []
    for _ in range(options.repeat):
        words = ["fit", "kkmeans", files["x.npy"], "--clusters", 8, "--kernel", kernel, "--starts", starts]
        mine.append(ours(binary, *words, "--exact"))
        theirs.append(run_worker("tslearn", x=files["x.npy"], clusters=8, gamma=data["gamma"], starts=starts))
    a, b = best(mine), best(theirs)
    a["inertia"] = a["account"]["inertia"]
    say(f"clusters {data['n']} × {data['d']}: inertia {a['inertia']:.3f} against {b['inertia']:.3f}; {a['seconds']:.2f} s against "
        f"{b['seconds']:.2f} s of tslearn, {b['seconds'] / a['seconds']:.1f}×, peak {a['peak'] / MIB:.0f} against {b['peak'] / MIB:.0f} MiB")
    return {**data, "starts": starts, "ours": brief(a), "tslearn": b, "ratio": b["seconds"] / a["seconds"]}


def novelty(binary, options, folder):
    """Rows that belong to no cluster among others that do: how well the squared prediction error tells them apart."""
    files = files_in(folder, "x.npy", "new.npy", "kpca.safetensors", "scores.csv")
    data = run_worker("rows", n=5000, d=16, clusters=8, strange=100, x=files["x.npy"], new=files["new.npy"])
    kernel, k = f"rbf(gamma={data['gamma']!r})", 20
    mine, theirs = [], []
    for _ in range(options.repeat):
        fit = ours(binary, "fit", "kpca", files["x.npy"], "-k", k, "--kernel", kernel, "--model", files["kpca.safetensors"])
        words = [binary, "score", files["kpca.safetensors"], files["new.npy"], "--out", files["scores.csv"], "--json", "--quiet"]
        text, _ = run_ours(words)
        score = json.loads(text)["seconds"]["transform"]
        mine.append({"fit": fit["seconds"], "score": score, "seconds": fit["seconds"] + score, "peak": fit["peak"]})
        theirs.append(run_worker("pyod", x=files["x.npy"], new=files["new.npy"], k=k, gamma=data["gamma"]))
    a, b = best(mine), best(theirs)
    a["auc"] = run_worker("auc", table=files["scores.csv"])["auc"]
    say(f"novelty {data['n']} × {data['d']}: area under the curve {a['auc']:.4f} against {b['auc']:.4f}; fit and 1100 scores {a['seconds']:.2f} s "
        f"against {b['seconds']:.2f} s of PyOD, {b['seconds'] / a['seconds']:.1f}×, peak {a['peak'] / MIB:.0f} against {b['peak'] / MIB:.0f} MiB")
    return {**data, "k": k, "ours": a, "pyod": b, "ratio": b["seconds"] / a["seconds"]}


def scale(binary, _, folder):
    """50 000 rows by 1000 landmarks: time and peak memory of the process, reading included."""
    files = files_in(folder, "x.npy", "new.npy", "y.npy", "labels.csv")
    found = {}
    for name, d in (("x.npy", 20), ("y.npy", 12)):
        run_worker("rows", n=50_000, d=d, clusters=8, x=files[name], new=files["new.npy"])
    run_worker("labelled", x=files["x.npy"], out=files["labels.csv"])
    jobs = {
        "kcca": ["fit", "kcca", files["x.npy"], files["y.npy"], "-k", 4],
        "kda": ["fit", "kda", files["labels.csv"], "--target", "label"],
        "kkmeans": ["fit", "kkmeans", files["x.npy"], "--clusters", 8],
    }
    for name, words in jobs.items():
        run = ours(binary, *words, "--rank", 1000)
        found[name] = brief(run)
        say(f"scale {name}, 50 000 rows, 1000 landmarks: {run['seconds']:.1f} s, peak {run['peak'] / MIB:.0f} MiB")
    return found


PARTS = {"views": views, "classes": classes, "clusters": clusters, "novelty": novelty, "scale": scale}


def main():
    if sys.argv[1:2] == ["--worker"]:
        print(json.dumps(WORKERS[sys.argv[2]](json.load(sys.stdin)) or {}))
        return
    parser = argparse.ArgumentParser(description="Kernelised linear methods.")
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--mfeat", help="NPZ with the arrays fou and kar, instead of made-up views")
    parser.add_argument("--letters", help="NPZ with the arrays X and y, instead of the digits of scikit-learn")
    parser.add_argument("--binary", type=Path, help="an eigenlift binary to measure instead of building one")
    options = parser.parse_args()
    kpca.enter_environment()
    binary = (options.binary or kpca.build()).resolve()
    result = {
        "benchmark": "kernelised methods", "date": datetime.date.today().isoformat(), "machine": kpca.machine(),
        "versions": {
            "eigenlift": kpca.output_of(binary, "--version"), "commit": kpca.output_of("git", "rev-parse", "HEAD"),
            "rustc": kpca.output_of("rustc", "--version"), "python": platform.python_version(), **run_worker("versions"),
        },
        "data": "views: " + ("mfeat, Fourier and Karhunen-Loève coefficients" if options.mfeat else "two noisy images of a curve")
        + "; classes: " + ("letters" if options.letters else "digits") + f"; otherwise mixtures of 8 Gaussians; seed {SEED}, f64",
    }
    path = HERE / "results" / f"kernelised-{result['date']}.json"
    if path.exists():
        result["parts"] = json.loads(path.read_text(encoding="utf-8")).get("parts", {})
    for name in options.parts.split(","):
        with tempfile.TemporaryDirectory(prefix="eigenlift-bench-") as folder:
            result.setdefault("parts", {})[name] = PARTS[name](binary, options, Path(folder))
        path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(f"written: {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
