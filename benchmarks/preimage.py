#!/usr/bin/env python3
"""Denoising by kernel PCA and back: error and time against scikit-learn's ridge regression.

    python3 benchmarks/preimage.py [--parts digits,sine] [--sizes 2000,5000] [--repeat 3] [--binary FILE]

Uses the environment and the helpers of kpca.py beside it, prints a table and writes benchmarks/results/preimage-<date>.json.
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

SEED, TEST_ROWS = 1, 1000


# ------------------------------------------------------------------------------- in processes of their own
def worker_data(job):
    """Noisy rows to learn from, noisy rows to denoise, and what they were before."""
    import numpy as np

    rng = np.random.default_rng(SEED)
    if job["name"] == "digits":
        from sklearn.datasets import load_digits

        digits = load_digits().data / 16.0
        order = rng.permutation(len(digits))
        train, clean = digits[order[:600]], digits[order[600:800]]
        train = train + 0.3 * rng.normal(size=train.shape)
        noisy = clean + 0.3 * rng.normal(size=clean.shape)
    else:
        n, d = job["n"] + TEST_ROWS, 20
        t = 4 * rng.random(n) - 2
        flat = np.zeros((n, d))
        flat[:, 0], flat[:, 1] = t, np.sin(2.5 * t)
        whole = flat @ np.linalg.qr(rng.normal(size=(d, d)))[0]
        rows = whole + 0.15 * rng.normal(size=whole.shape)
        train, clean, noisy = rows[: job["n"]], whole[job["n"] :], rows[job["n"] :]
    few = train[rng.permutation(len(train))[:600]]
    apart = ((few[:, None, :] - few[None, :, :]) ** 2).sum(2)[np.triu_indices(len(few), 1)]
    for name, rows in (("train", train), ("clean", clean), ("noisy", noisy)):
        np.save(job[name], rows)
    return {"gamma": job["width"] / float(np.median(apart)), "n": len(train), "d": train.shape[1], "rows": len(noisy)}


def worker_sklearn(job):
    """Fit with the way back, then denoise; alpha as given."""
    import numpy as np
    from sklearn.decomposition import KernelPCA

    train, noisy = np.load(job["train"]), np.load(job["noisy"])
    np.linalg.eigh(np.eye(8) @ np.eye(8))  # start the threads of BLAS outside the measurement
    kpca.forget_peak()
    model = KernelPCA(
        n_components=job["k"], kernel="rbf", gamma=job["gamma"], alpha=job["alpha"], fit_inverse_transform=True, n_jobs=-1
    )
    start = time.perf_counter()
    model.fit(train)
    fitted = time.perf_counter()
    back = model.inverse_transform(model.transform(noisy))
    done = time.perf_counter()
    np.save(job["out"], back)
    return {"fit": fitted - start, "back": done - fitted, "seconds": done - start, "peak": kpca.memory()["VmHWM"]}


def worker_error(job):
    import numpy as np

    clean = np.load(job["clean"])
    return {name: float(((np.load(path) - clean) ** 2).sum(1).mean()) for name, path in job["found"].items()}


def worker_versions(_):
    import numpy
    import scipy
    import sklearn

    return {module.__name__: module.__version__ for module in (numpy, scipy, sklearn)}


WORKERS = {"versions": worker_versions, "data": worker_data, "sklearn": worker_sklearn, "error": worker_error}


# ------------------------------------------------------------------------------------------------- the driver
def run_worker(kind, **job):
    command = [sys.executable, __file__, "--worker", kind]
    done = subprocess.run(command, input=json.dumps(job), capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{kind} {job}\n{done.stderr}")
    return json.loads(done.stdout)


def ours(binary, files, gamma, k, *more):
    """Fit, then denoise, by the command; seconds of the work as it tells them, reading and writing left out."""
    kernel = f"rbf(gamma={gamma!r})"
    fit = [binary, "fit", "kpca", files["train"], "--kernel", kernel, "-k", k, "--model", files["model"], "--json", "--quiet"]
    text, fit_peak = run_ours([*fit, *more])
    account = json.loads(text)
    text, peak = run_ours([binary, "denoise", files["model"], files["noisy"], "--out", files["ours"], "--json", "--quiet"])
    back = json.loads(text)
    seconds = {"fit": account["seconds"]["fit"], "back": back["seconds"]["transform"]}
    return {**seconds, "seconds": sum(seconds.values()), "peak": max(peak, fit_peak), "account": back}


def best(runs):
    return min(runs, key=lambda run: run["seconds"])


def compare(binary, options, folder, name, n, width, k):
    """Alternated, best of the repeats; scikit-learn with its default alpha and with a small one."""
    names = ("train", "clean", "noisy", "ours", "landmarks", "ridge", "small")
    files = {name: str(folder / f"{name}.npy") for name in names} | {"model": str(folder / "model.safetensors")}
    data = run_worker("data", name=name, n=n, width=width, **{key: files[key] for key in ("train", "clean", "noisy")})
    mine, low, theirs = [], [], []
    for _ in range(options.repeat):
        mine.append(ours(binary, files, data["gamma"], k))
        low.append(ours(binary, {**files, "ours": files["landmarks"]}, data["gamma"], k, "--rank", 4 * k))
        job = {key: files[key] for key in ("train", "noisy")} | {"k": k, "gamma": data["gamma"]}
        theirs.append(run_worker("sklearn", alpha=1.0, out=files["ridge"], **job))
    run_worker("sklearn", alpha=0.01, out=files["small"], **job)
    found = {key: files[key] for key in ("noisy", "ours", "landmarks", "ridge", "small")}
    errors = run_worker("error", clean=files["clean"], found=found)
    a, b, c = best(mine), best(low), best(theirs)
    row = {
        "name": name, **data, "k": k, "errors": errors, "ours": a, "landmarks": b, "sklearn": c,
        "ratio": c["seconds"] / a["seconds"], "ratio_landmarks": c["seconds"] / b["seconds"],
        "better": 1 - errors["ours"] / min(errors["ridge"], errors["small"]),
    }
    say(f"{name}, n = {data['n']}: error {errors['ours']:.4f} (landmarks {errors['landmarks']:.4f}) against {errors['ridge']:.4f} "
        f"(alpha 0.01: {errors['small']:.4f}, noisy: {errors['noisy']:.4f}), {100 * row['better']:.0f} % less; {a['seconds']:.2f} s "
        f"({b['seconds']:.2f} s) against {c['seconds']:.2f} s, {row['ratio']:.1f}× ({row['ratio_landmarks']:.1f}×), "
        f"peak {a['peak'] / MIB:.0f} against {c['peak'] / MIB:.0f} MiB")
    return row


def digits(binary, options, folder):
    return [compare(binary, options, folder, "digits", 600, 4.0, 128)]


def sine(binary, options, folder):
    return [compare(binary, options, folder, "sine", n, 4.0, 8) for n in options.sizes]


def main():
    if sys.argv[1:2] == ["--worker"]:
        print(json.dumps(WORKERS[sys.argv[2]](json.load(sys.stdin)) or {}))
        return
    parser = argparse.ArgumentParser(description="Denoising by kernel PCA.")
    parser.add_argument("--parts", default="digits,sine")
    parser.add_argument("--sizes", default="2000,5000")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--binary", type=Path, help="an eigenlift binary to measure instead of building one")
    options = parser.parse_args()
    options.sizes = [int(s) for s in options.sizes.split(",")]
    kpca.enter_environment()
    binary = (options.binary or kpca.build()).resolve()
    result = {
        "benchmark": "pre-images", "date": datetime.date.today().isoformat(), "machine": kpca.machine(),
        "versions": {
            "eigenlift": kpca.output_of(binary, "--version"), "commit": kpca.output_of("git", "rev-parse", "HEAD"),
            "rustc": kpca.output_of("rustc", "--version"), "python": platform.python_version(), **run_worker("versions"),
        },
        "data": "digits with noise 0.3, 600 to learn from, 200 to denoise; a sine in 20 dimensions with noise 0.15, 1000 to "
        f"denoise; gamma 4 over the median squared distance, seed {SEED}, f64",
    }
    path = HERE / "results" / f"preimage-{result['date']}.json"
    if path.exists():
        result["parts"] = json.loads(path.read_text(encoding="utf-8")).get("parts", {})
    for name in options.parts.split(","):
        with tempfile.TemporaryDirectory(prefix="eigenlift-bench-") as folder:
            result.setdefault("parts", {})[name] = {"digits": digits, "sine": sine}[name](binary, options, Path(folder))
        path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(f"written: {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
