#!/usr/bin/env python3
"""Kernel PCA: eigenlift against scikit-learn, same arrays, same run, same residual first.

    python3 benchmarks/kpca.py [--sizes 2000,5000,10000] [--repeat 3] [--tol 1e-6] [--skip-ours]

Creates benchmarks/.venv with the versions of requirements.txt, builds the release binary, prints a table and writes
benchmarks/results/kpca-<date>.json. README.md beside this file says what is measured and how.

This process imports nothing outside the standard library and stays small: every measurement, the making of the data and
the checking of results run in processes of their own, so that each peak of memory belongs to one run.
"""
import argparse
import datetime
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
VENV = HERE / ".venv"
NEW_ROWS, DIM, COMPONENTS, CLUSTERS, SEED = 5000, 64, 16, 20, 0
ARPACK = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 0)     # loosest first; 0 is machine precision
POWERS = (2, 3, 4, 5, "auto", 10, 15, 20, 30, 40, 60, 80, 120)   # iterated_power of the randomized solver; auto is 7 or 4
MIB = 2**20


# ------------------------------------------------------------------------------- in processes of their own
def memory():
    """VmRSS and VmHWM of this process in bytes."""
    lines = dict(line.split(":", 1) for line in open("/proc/self/status", encoding="ascii"))
    return {key: int(lines[key].split()[0]) * 1024 for key in ("VmRSS", "VmHWM")}


def forget_peak():
    """Makes VmHWM start again from the present VmRSS, where the system allows it."""
    try:
        with open("/proc/self/clear_refs", "w", encoding="ascii") as f:
            f.write("5")
        return True
    except OSError:
        return False


def worker_data(job):
    """Training and new rows from one mixture of Gaussians, and gamma = 1 / median squared distance."""
    import numpy as np
    r = np.random.default_rng(SEED)
    centres = r.normal(size=(CLUSTERS, DIM))
    rows = job["n"] + NEW_ROWS
    x = centres[r.integers(0, CLUSTERS, rows)] + 0.7 * r.normal(size=(rows, DIM))
    train, new = np.ascontiguousarray(x[: job["n"]]), np.ascontiguousarray(x[job["n"] :])
    i, j = np.random.default_rng(SEED).integers(job["n"], size=(2, 200_000))
    median = float(np.median(((train[i] - train[j]) ** 2).sum(1)[i != j]))
    np.save(job["x"], train)
    np.save(job["new"], new)
    return {"gamma": 1 / median}


def worker_sklearn(job):
    """One fit, its peak of memory, then transforms of the new rows on the fitted object."""
    import numpy as np
    from sklearn.decomposition import KernelPCA
    from threadpoolctl import threadpool_info

    np.linalg.eigh(np.eye(8) @ np.eye(8))                        # start the threads of BLAS outside the measurement
    before, cleared = memory()["VmRSS"], forget_peak()
    x, new = np.load(job["x"]), np.load(job["new"])
    model = KernelPCA(n_components=job["k"], kernel="rbf", gamma=job["gamma"], random_state=0, **job["settings"])
    start = time.perf_counter()
    scores = model.fit_transform(x)
    seconds = time.perf_counter() - start
    peak = memory()["VmHWM"]
    out = {"seconds": seconds, "peak": peak, "net": peak - before, "peak_exact": cleared}
    np.save(job["scores"], scores)

    times, start_rss = [], memory()["VmRSS"]
    forget_peak()
    for _ in range(job["transforms"]):
        start = time.perf_counter()
        y = model.transform(new)
        times.append(time.perf_counter() - start)
    if times:
        np.save(job["scores_new"], y)
        out |= {"transform_seconds": min(times), "transform_peak": memory()["VmHWM"], "transform_net": memory()["VmHWM"] - start_rss}
    out["threads"] = max((p["num_threads"] for p in threadpool_info()), default=1)
    out["blas"] = sorted({f"{p.get('internal_api')} {p.get('version')}" for p in threadpool_info()})
    return out


def worker_check(job):
    """Fresh residuals max ||K_c v - l v|| / l from scores alone (v = s/||s||, l = ||s||^2), and distance from a reference.

    K is never stored: rows of it are made 500 at a time, in f64, from data shifted to mean zero.
    """
    import numpy as np
    x = np.load(job["x"])
    x -= x.mean(0)
    s = np.load(job["scores"]).astype(np.float64)
    lam = (s * s).sum(0)
    v = s / np.sqrt(lam)
    half, n = (x * x).sum(1), len(x)
    kv, row = np.empty_like(v), np.empty(n)
    for a in range(0, n, 500):
        k = x[a : a + 500] @ x.T
        k *= 2
        k -= half
        k -= half[a : a + 500, None]
        np.minimum(k, 0, out=k)
        k *= job["gamma"]
        np.exp(k, out=k)
        kv[a : a + 500] = k @ v
        row[a : a + 500] = k.mean(1)
    sums = v.sum(0)                                              # zero up to rounding; the general formula all the same
    kc = kv - row @ v - np.outer(row, sums) + row.mean() * sums
    residuals = np.linalg.norm(kc - v * lam, axis=0) / lam
    out = {"residual": float(residuals.max()), "eigenvalues": lam.tolist()}
    if "reference" in job:
        # ||s - r|| / ||r|| of unit vectors is at most about sqrt(2) * residual * l / gap: ten times that is allowed.
        r = np.load(job["reference"])
        ell = (r * r).sum(0)
        k = s.shape[1]
        sign = np.sign((s * r[:, :k]).sum(0))
        off = np.linalg.norm(s * sign - r[:, :k], axis=0) / np.sqrt(ell[:k])
        down = ell[:-1] - ell[1:]
        gap = np.minimum(down[:k], np.append(np.inf, down[: k - 1]))
        allowed = 10 * max(job["target"], out["residual"]) * ell[:k] / gap + 1e-8
        out |= {
            "difference": float(off.max()),
            "difference_max_abs": float(np.abs(s * sign - r[:, :k]).max() / np.abs(r).max()),
            "agrees": bool((off <= allowed).all()),
        }
        if "scores_new" in job:
            y, z = np.load(job["scores_new"]), np.load(job["reference_new"])[:, :k]
            off_new = np.linalg.norm(y * sign - z, axis=0) / np.linalg.norm(z, axis=0)
            out["difference_new"] = float(off_new.max())
            out["agrees"] &= bool((off_new <= 10 * allowed).all())
    return out


def run_worker(kind, **job):
    done = subprocess.run(
        [sys.executable, str(Path(__file__).resolve()), "--worker", kind],
        input=json.dumps(job), capture_output=True, text=True,
    )
    if done.returncode:
        raise SystemExit(f"the {kind} process failed:\n{done.stderr}")
    return json.loads(done.stdout)


# ----------------------------------------------------------------------------------------------- our side
def run_ours(command):
    """Runs the binary; returns its JSON account and the peak resident size that the system saw."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        process = subprocess.Popen([str(c) for c in command], stdout=out, stderr=err)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0), err.seek(0)
        if process.returncode:
            raise SystemExit(f"{' '.join(map(str, command))}\nfailed with {process.returncode}:\n{err.read()}")
        text = out.read()
    return text, usage.ru_maxrss * 1024


def build():
    done = subprocess.run(
        ["cargo", "build", "--release", "-p", "eigenlift-cli", "--message-format=json-render-diagnostics"],
        cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True,
    )
    found = [m["executable"] for m in map(json.loads, done.stdout.splitlines()) if m.get("executable")]
    if not found:
        raise SystemExit("cargo built no executable")
    return Path(found[-1])


def ours_fit(binary, files, gamma, tol, base):
    text, peak = run_ours([
        binary, "fit", "kpca", files["x"], "--kernel", f"rbf(gamma={gamma!r})", "-k", COMPONENTS, "--tol", repr(tol),
        "--model", files["model"], "--out", files["ours"], "--json",
    ])
    account = json.loads(text)
    return {
        "seconds": account["seconds"]["fit"] + account["seconds"].get("project", 0.0), "seconds_all": account["seconds"], "peak": peak, "net": peak - base,
        "peak_reported": account.get("peak_memory_bytes"), "residual_reported": max(account["residuals"]),
        "solver": account.get("solver"), "threads": account.get("threads"),
    }


def ours_transform(binary, files, base):
    text, peak = run_ours([binary, "transform", files["model"], files["new"], "--out", files["ours_new"], "--json"])
    return {"transform_seconds": json.loads(text)["seconds"]["transform"], "transform_peak": peak, "transform_net": peak - base}


# ---------------------------------------------------------------------------------------------- one size
def words(settings):
    return ", ".join(f"{k}={v}" for k, v in settings.items()) or "default"


def say(text):
    print(text, file=sys.stderr, flush=True)


def choose_rival(files, gamma, target, repeat):
    """The fastest setting of scikit-learn whose residual is at most `target`, and everything that was tried.

    For either solver: from the loosest setting on until one reaches the target, that one also with n_jobs=-1.
    """
    tried = []

    def attempt(settings):
        def fit():
            return run_worker("sklearn", **files, k=COMPONENTS, gamma=gamma, settings=settings, transforms=0)

        runs = [fit()]
        residual = run_worker("check", x=files["x"], scores=files["scores"], gamma=gamma)["residual"]
        if residual <= target:                                   # a candidate: the best of several counts
            runs += [fit() for _ in range(repeat - 1)]
        best = min(runs, key=lambda r: r["seconds"])
        tried.append({"settings": settings, "residual": residual, "reaches": residual <= target, **best})
        say(f"  tried {words(settings):58s} {best['seconds']:8.3f} s  residual {residual:.1e}  net {best['net'] / MIB:6.0f} MiB")
        return tried[-1]

    def reaching():
        return [t for t in tried if t["reaches"]]

    for ladder in ([{"eigen_solver": "arpack", "tol": t} for t in ARPACK], [{"eigen_solver": "randomized", "iterated_power": p} for p in POWERS]):
        limit = 3 * min((t["seconds"] for t in reaching()), default=float("inf"))
        for settings in ladder:
            entry = attempt(settings)
            if entry["reaches"]:
                attempt(settings | {"n_jobs": -1})
            if entry["reaches"] or entry["seconds"] > limit:     # hopeless: further steps only cost more
                break
    if not reaching():
        raise SystemExit(f"no setting of scikit-learn reaches the residual {target:.1e}")
    return min(reaching(), key=lambda t: t["seconds"]), tried


def one_size(n, options, binary, base, folder):
    files = {name: str(folder / f"{name}.npy") for name in ("x", "new", "scores", "scores_new", "ours", "ours_new", "reference", "reference_new")}
    files["model"] = str(folder / "model.safetensors")
    gamma = run_worker("data", n=n, **files)["gamma"]
    say(f"n = {n}, gamma = {gamma:.6g}")

    reference = files | {"scores": files["reference"], "scores_new": files["reference_new"]}
    run_worker("sklearn", **reference, k=COMPONENTS + 1, gamma=gamma, settings={"eigen_solver": "arpack", "tol": 0}, transforms=1)
    reference = {"reference": files["reference"], "reference_new": files["reference_new"]}

    # Accuracy first: what ours reached decides what the rival must reach (never less than was asked of ours).
    target = options.tol
    if binary:
        ours_fit(binary, files, gamma, options.tol, base)
        ours_transform(binary, files, base)
        checked = run_worker("check", x=files["x"], scores=files["ours"], scores_new=files["ours_new"], gamma=gamma, target=target, **reference)
        say(f"  ours: residual {checked['residual']:.1e}, scores off by {checked['difference']:.1e}")
        if not checked["agrees"]:
            raise SystemExit(f"scores disagree with the reference ({checked}): no timing counts")
        target = max(target, checked["residual"])
    best, tried = choose_rival(files, gamma, target, options.repeat)

    rivals = {"scikit-learn, fastest at this residual": best["settings"]}
    if n <= options.default_up_to:
        rivals["scikit-learn, default"] = {}
    runs = {name: [] for name in (["eigenlift"] if binary else []) + list(rivals)}
    checks = {"eigenlift": checked} if binary else {}
    for _ in range(options.repeat):
        if binary:
            runs["eigenlift"].append(ours_fit(binary, files, gamma, options.tol, base) | ours_transform(binary, files, base))
        for name, settings in rivals.items():
            runs[name].append(run_worker("sklearn", **files, k=COMPONENTS, gamma=gamma, settings=settings, transforms=options.repeat))
            if name not in checks:
                checks[name] = run_worker("check", x=files["x"], scores=files["scores"], scores_new=files["scores_new"], gamma=gamma, target=target, **reference)
                if not checks[name]["agrees"]:
                    raise SystemExit(f"{name}: scores disagree with the reference ({checks[name]}): no timing counts")

    rows = []
    for name, list_of_runs in runs.items():
        first = list_of_runs[0]
        rows.append({
            "who": name, "n": n, "d": DIM, "k": COMPONENTS, "kernel": f"rbf(gamma={gamma!r})", "new_rows": NEW_ROWS,
            "solver": first.get("solver") if name == "eigenlift" else words(rivals[name]),
            "threads": first["threads"] or len(os.sched_getaffinity(0)),
            "residual": checks[name]["residual"], "residual_target": target,
            "score_difference": checks[name]["difference"], "score_difference_new": checks[name].get("difference_new"),
            "seconds": min(r["seconds"] for r in list_of_runs),
            "transform_seconds": min(r["transform_seconds"] for r in list_of_runs),
            "peak_bytes": min(r["peak"] for r in list_of_runs), "peak_net_bytes": min(r["net"] for r in list_of_runs),
            "transform_peak_bytes": min(r["transform_peak"] for r in list_of_runs),
            "transform_net_bytes": min(r["transform_net"] for r in list_of_runs),
            "runs": list_of_runs,
        })
    return rows, tried


# --------------------------------------------------------------------------------------------- everything
def output_of(*command):
    try:
        return subprocess.run([str(c) for c in command], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None


def machine():
    info = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    model = next((line.split(":", 1)[1].strip() for line in info.splitlines() if line.startswith("model name")), platform.machine())
    flags = next((line.split(":", 1)[1].split() for line in info.splitlines() if line.startswith("flags")), [])
    return {
        "cpu": model, "cores": len(os.sched_getaffinity(0)), "system": platform.system(),
        "vector": [f for f in ("avx2", "fma", "avx512f") if f in flags],
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"), "load_before": os.getloadavg()[0],
    }


def table(rows):
    print(f"{'':42s} {'n':>6s} {'fit s':>9s} {'transform s':>12s} {'residual':>9s} {'peak MiB':>9s} {'net MiB':>8s}   against eigenlift")
    ours = {r["n"]: r for r in rows if r["who"] == "eigenlift"}
    for r in rows:
        line = (f"{r['who']:42s} {r['n']:6d} {r['seconds']:9.3f} {r['transform_seconds']:12.4f} {r['residual']:9.1e}"
                f" {r['peak_bytes'] / MIB:9.0f} {r['peak_net_bytes'] / MIB:8.0f}")
        o = ours.get(r["n"])
        if o and o is not r:
            line += (f"   fit {r['seconds'] / o['seconds']:.1f}x, transform {r['transform_seconds'] / o['transform_seconds']:.1f}x,"
                     f" net memory {r['peak_net_bytes'] / o['peak_net_bytes']:.1f}x")
        print(line)
    for r in rows:
        print(f"    n = {r['n']}, {r['who']}: {r['solver']}")


def enter_environment():
    """Creates the virtual environment once, then runs this script inside it."""
    python = VENV / "bin" / "python"
    wanted = (HERE / "requirements.txt").read_text(encoding="utf-8")
    stamp = VENV / "requirements.installed"
    if not stamp.exists() or stamp.read_text(encoding="utf-8") != wanted:
        say("setting up benchmarks/.venv")
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(VENV)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", "-r", str(HERE / "requirements.txt")], check=True)
        stamp.write_text(wanted, encoding="utf-8")
    if Path(sys.prefix).resolve() != VENV.resolve():
        os.execv(python, [str(python), *sys.argv])


def main():
    if sys.argv[1:2] == ["--worker"]:
        kind = {"data": worker_data, "sklearn": worker_sklearn, "check": worker_check}[sys.argv[2]]
        print(json.dumps(kind(json.load(sys.stdin)) or {}))
        return
    parser = argparse.ArgumentParser(description="Kernel PCA: eigenlift against scikit-learn.")
    parser.add_argument("--sizes", default="2000,5000,10000", help="training rows, comma-separated")
    parser.add_argument("--repeat", type=int, default=3, help="runs of each; the best counts")
    parser.add_argument("--tol", type=float, default=1e-6, help="relative residual asked of eigenlift and required of the rival")
    parser.add_argument("--default-up-to", type=int, default=5000, help="largest n for scikit-learn's default solver")
    parser.add_argument("--binary", type=Path, help="an eigenlift binary to measure instead of building one")
    parser.add_argument("--skip-ours", action="store_true", help="only the scikit-learn half; no result file")
    options = parser.parse_args()
    sizes = [int(s) for s in options.sizes.split(",")]
    if options.repeat < 1 or min(sizes) <= COMPONENTS:
        parser.error("sizes must exceed the number of components and repeat must be at least 1")
    enter_environment()

    binary = None if options.skip_ours else (options.binary or build()).resolve()
    base = run_ours([binary, "--version"])[1] if binary else 0   # resident size before any data is read
    about, rows, tried = machine(), [], {}
    with tempfile.TemporaryDirectory(prefix="eigenlift-bench-") as folder:
        for n in sizes:
            new_rows, tried[n] = one_size(n, options, binary, base, Path(folder))
            rows += new_rows
    table(rows)
    if not binary:
        return
    from importlib.metadata import version
    names = [line.split("==")[0] for line in (HERE / "requirements.txt").read_text(encoding="utf-8").split()]
    result = {
        "benchmark": "kernel PCA", "date": datetime.date.today().isoformat(), "machine": about,
        "versions": {
            "eigenlift": output_of(binary, "--version"), "commit": output_of("git", "rev-parse", "HEAD"),
            "changed_since_commit": bool(output_of("git", "status", "--porcelain", "--untracked-files=no")),
            "rustc": output_of("rustc", "--version"), "python": platform.python_version(),
            "blas": next(r["runs"][0]["blas"] for r in rows if "blas" in r["runs"][0]),
            **{name: version(name) for name in names},
        },
        "data": {"what": f"mixture of {CLUSTERS} Gaussians, sd 0.7, centres standard normal", "d": DIM, "seed": SEED, "dtype": "f64"},
        "tol": options.tol, "repeat": options.repeat, "rows": rows, "settings_tried": tried,
    }
    folder = HERE / "results"
    folder.mkdir(exist_ok=True)
    path = folder / f"kpca-{result['date']}.json"
    path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(f"written: {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
