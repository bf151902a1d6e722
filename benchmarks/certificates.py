"""Counts false statements of kernel PCA certificates against spectra in 220-bit arithmetic.

    python certificates.py [--first SEED] [--seeds N] [--large] [--most-rows N] [--output FILE]

Each seed is one data set of a difficult kind (clusters, duplicates, offsets up to 1e10, entries of 1e120, ...), fitted with
the kernels that allow its entries by an exact fit, a low-rank fit, a certified low-rank fit and a refined one; by one of
sparse rows, the kernel matrix itself, and a low-rank model that was saved and loaded. Every interval, count and bound of the
certificate is compared with the true eigenvalues: kernel matrix and centering in 220 bits (python-flint), eigenvalues in
long double. Fits that raise and certificates that are missing are counted with their reason. The exit status is 1 if any
statement is false. `--large` takes 300 to `--most-rows` rows with the iterative solver forced. `--output` writes the counts
as JSON.

Needs numpy, scipy, python-flint and eigenlift.
"""

from __future__ import annotations

import argparse
import collections
import datetime
import json
import pathlib
import platform
import subprocess
import sys
import tempfile
import warnings

import eigenlift
import numpy as np
import scipy
import scipy.sparse
from flint import arb, arb_mat, ctx

LD = np.longdouble
KINDS = (
    "gauss clusters simplex tiny dups badscale off6 off8 off10 heavy ints orth near pos huge small year spikes copies "
    "binary circle shares walk few grid"
).split()
KERNELS = "linear poly rbf rbfnarrow rbfwide laplacian cosine sigmoid exponential matern rational_quadratic".split()
NOT_NEGATIVE = ["chi2", "intersection", "tanimoto"]
MODES = "exact lowrank certify refine".split()
FURTHER_MODES = "sparse precomputed loaded".split()
NOTHING = {"grounds": "none", "n_certified": 0, "missed": None, "explained": None}
ctx.prec = 220


def data(kind: str, rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    """A table of the kind named."""
    normal = rng.normal(size=(n, d))
    if kind == "gauss":
        return normal
    if kind == "clusters":
        return (rng.normal(size=(4, d)) * 10)[rng.integers(0, 4, n)] + 1e-6 * normal
    if kind == "simplex":  # nearly equal eigenvalues
        return np.vstack([np.eye(d) * 3] * -(-n // d))[:n] + 1e-9 * normal
    if kind == "tiny":
        return rng.normal(size=(n, 2)) @ rng.normal(size=(2, d)) + 1e-9 * normal
    if kind == "dups":
        few = rng.normal(size=(max(n // 4, 3), d))
        return few[rng.integers(0, len(few), n)]
    if kind == "badscale":
        return normal * 10.0 ** np.linspace(-8, 8, d)
    if kind == "off6":
        return normal + 1e6
    if kind == "off8":
        return normal + 1e8 * rng.normal(size=d)
    if kind == "off10":
        return normal + 1e10
    if kind == "heavy":
        return rng.standard_t(1.2, size=(n, d))
    if kind == "ints":
        return rng.integers(0, 4, size=(n, d)).astype(float)
    if kind == "orth":  # equal eigenvalues
        return np.linalg.qr(normal)[0] * 5
    if kind == "huge":
        return normal * 1e120
    if kind == "small":
        return normal * 1e-120
    if kind == "near":
        return rng.normal(size=d) * 100 + 1e-7 * normal
    if kind == "pos":
        return rng.gamma(0.5, size=(n, d))
    if kind == "year":  # one column far from zero beside columns in [0, 1]
        table = rng.random((n, d))
        table[:, 0] = 2000 + rng.integers(0, 25, n)
        return table
    if kind == "spikes":  # a few rows far away
        normal[rng.integers(0, n, 2)] *= 1e4
        return normal
    if kind == "binary":  # mostly zeros
        return (rng.random((n, d)) < 0.2).astype(float)
    if kind == "circle":  # pairs of equal eigenvalues
        angle = 2 * np.pi * np.arange(n) / n
        return np.column_stack([f((j // 2 + 1) * angle) for j, f in zip(range(d), [np.cos, np.sin] * d)])
    if kind == "shares":  # rows that add up to 1
        return rng.dirichlet(np.full(d, 0.3), n)
    if kind == "walk":
        return normal.cumsum(axis=0)
    if kind == "few":  # fewer rows than there are usually
        return normal[: 2 + n % 5]
    if kind == "grid":  # equal distances, zero rows
        return np.stack(np.unravel_index(np.arange(n), (-(-n // 4), 4)), axis=1).astype(float)
    if kind == "copies":  # columns that repeat each other
        return np.repeat(normal[:, :1], d, axis=1) + 1e-12 * normal
    raise ValueError(kind)


def parameters(name: str, x: np.ndarray) -> tuple[str, dict[str, float]]:
    """The kernel and its parameters for a table."""
    head = x[:20].astype(float)
    scale = float(np.median(((head[:, None] - head[None]) ** 2).sum(-1)) + 1e-300)
    largest = float(np.abs(x.astype(float)).max())
    d = x.shape[1]
    return {
        "linear": ("linear", {}),
        "cosine": ("cosine", {}),
        "rbf": ("rbf", {"gamma": 1 / scale}),
        "rbfnarrow": ("rbf", {"gamma": 100 / scale}),
        "rbfwide": ("rbf", {"gamma": 1e-4 / scale}),
        "laplacian": ("laplacian", {"gamma": 1 / np.sqrt(scale) / d**0.5}),
        "poly": ("poly", {"gamma": 1 / max(largest**2, 1e-250), "coef0": 1, "degree": 2}),
        "sigmoid": ("sigmoid", {"gamma": 0.3 / max(largest**2 * d, 1e-250), "coef0": 0.0}),
        "exponential": ("exponential", {"gamma": 1 / np.sqrt(scale)}),
        "matern": ("matern", {"nu": 1.5, "length": 2 * np.sqrt(scale)}),
        "rational_quadratic": ("rational_quadratic", {"alpha": 0.7, "length": np.sqrt(scale)}),
        "chi2": ("chi2", {"gamma": 0.5 / max(largest, 1e-250)}),
        "intersection": ("intersection", {}),
        "tanimoto": ("tanimoto", {}),
    }[name]


def long_double(a: arb) -> np.longdouble:
    """The middle of a ball in long double."""
    middle = a.mid()
    high = float(middle)
    low = float(middle - arb(high))
    return LD(high) + LD(low) + LD(float(middle - arb(high) - arb(low)))


def centered(kernel: str, x: np.ndarray, p: dict[str, float]) -> np.ndarray | None:
    """The centered kernel matrix, correct to long double; None where an entry is not finite."""
    n, d = x.shape
    m = arb_mat([[arb(float(v)) for v in row] for row in x])
    gamma, coef0 = arb(float(p.get("gamma", 0))), arb(float(p.get("coef0", 1)))
    g = m * m.transpose()
    roots = [g[i, i].sqrt() for i in range(n)]
    if kernel == "cosine" and any(float(r.mid()) == 0 for r in roots):
        return None

    def entry(i: int, j: int) -> arb:
        if kernel == "linear":
            return g[i, j]
        if kernel == "poly":
            return (gamma * g[i, j] + coef0) ** int(p["degree"])
        if kernel == "sigmoid":
            return (gamma * g[i, j] + coef0).tanh()
        if kernel == "cosine":
            return g[i, j] / (roots[i] * roots[j])
        if kernel == "laplacian":
            return (-gamma * sum((abs(m[i, c] - m[j, c]) for c in range(d)), arb(0))).exp()
        if kernel == "intersection":
            return sum((arb(float(min(x[i, c], x[j, c]))) for c in range(d)), arb(0))
        if kernel == "tanimoto":
            whole = g[i, i] + g[j, j] - g[i, j]
            return g[i, j] / whole if float(whole.mid()) > 0 else arb(1)
        if kernel == "chi2":
            together = [(m[i, c] - m[j, c], m[i, c] + m[j, c]) for c in range(d) if x[i, c] + x[j, c] > 0]
            return (-gamma * sum((a * a / b for a, b in together), arb(0))).exp()
        # The middle, so that a root of what rounding left of zero is one.
        squared = abs((g[i, i] + g[j, j] - 2 * g[i, j]).mid()) if i != j else arb(0)
        if kernel == "rbf":
            return (-gamma * squared).exp()
        if kernel == "exponential":
            return (-gamma * squared.sqrt()).exp()
        length = arb(float(p["length"]))
        if kernel == "matern":
            root = arb(3).sqrt() * squared.sqrt() / length
            return (1 + root) * (-root).exp()
        alpha = arb(float(p["alpha"]))
        return (1 + squared / (2 * alpha * length**2)) ** (-alpha)

    k = [[arb(0)] * n for _ in range(n)]
    for i in range(n):
        for j in range(i + 1):
            k[i][j] = k[j][i] = entry(i, j)
    if not all(np.isfinite(float(k[i][i].mid())) for i in range(n)):
        return None
    return center(k)


def center(k: list[list[arb]]) -> np.ndarray:
    """A symmetric matrix in 220 bits, centered, in long double."""
    n = len(k)
    means = [sum(row, arb(0)) / n for row in k]
    grand = sum(means, arb(0)) / n
    out = np.empty((n, n), LD)
    for i in range(n):
        for j in range(i + 1):
            out[i, j] = out[j, i] = long_double(k[i][j] - means[i] - means[j] + grand)
    return out


def eigenvalues(a: np.ndarray) -> tuple[np.ndarray, np.longdouble]:
    """Eigenvalues of a long double matrix, largest first, and how far each may be off."""
    scale = np.abs(a).max()
    if scale == 0:
        return np.zeros(len(a), LD), LD(0)
    a = (a + a.T) / (2 * scale)
    n = len(a)
    for _ in range(2):
        v = np.linalg.eigh(a.astype(float))[1].astype(LD)
        for _ in range(2):
            v = v @ (LD(1.5) * np.eye(n, dtype=LD) - LD(0.5) * (v.T @ v))
        a = v.T @ a @ v
        a = (a + a.T) / 2
    values = np.diag(a).copy()
    off = np.sqrt(((a - np.diag(values)) ** 2).sum()) + LD(1e-18) * n
    return np.sort(values)[::-1] * scale, off * scale


def false_statements(certificate, w: np.ndarray, trace, error) -> list[tuple]:
    """Statements of a certificate that the true eigenvalues `w`, largest first, contradict."""
    bounds, found = certificate["bounds"], []
    intervals = certificate["intervals"]
    k = len(intervals)
    slack = error + LD(4e-18) * abs(w[0])
    by_index = bounds["grounds"] not in ("residuals", "none")
    for i, interval in enumerate(intervals):
        low, high = LD(interval["low"]), LD(interval["high"])
        if not (np.isfinite(float(low)) and np.isfinite(float(high))):
            found.append(("not finite", i, float(low), float(high)))
        elif not ((w >= low - slack) & (w <= high + slack)).any():
            found.append(("interval", i, float(low), float(high), float(w[np.argmin(abs(w - (low + high) / 2))])))
        elif (i < bounds["n_certified"] or by_index) and not low - slack <= w[i] <= high + slack:
            found.append(("by index", i, float(low), float(high), float(w[i])))
    missed = bounds.get("missed")
    if missed is not None and (w > LD(missed) + slack).sum() > k:
        found.append(("missed", float(missed), float(w[k])))
    explained = bounds.get("explained")
    if explained is not None and trace is not None and (bounds["n_certified"] >= k or by_index):
        share = w[:k].sum() / trace
        if not LD(explained["low"]) - LD(1e-17) <= share <= LD(explained["high"]) + LD(1e-17):
            found.append(("explained", explained["low"], explained["high"], float(share)))
    return found


def text(kernel: str, p: dict) -> dict:
    """The kernel as parameters of the estimator."""
    if kernel in ("exponential", "matern", "rational_quadratic"):
        return {"kernel": f"{kernel}({','.join(f'{name}={float(value)!r}' for name, value in p.items())})"}
    return {"kernel": kernel, **p}


def fit(x: np.ndarray, k: int, kernel: str, p: dict, mode: str, large: bool):
    """A fitted model of the mode named."""
    n = len(x)
    if mode == "sparse":
        return eigenlift.KernelPCA(k, **text(kernel, p)).fit(scipy.sparse.csr_array(x))
    if mode == "precomputed":
        return eigenlift.KernelPCA(k, kernel="precomputed").fit(x)
    if mode == "loaded":
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "model.safetensors"
            eigenlift.KernelPCA(k, **text(kernel, p), rank=min(n, k + 5)).fit(x).save(path)
            model = eigenlift.load(path)
        model.certify(x)
        return model
    solver = {"eigen_solver": "arpack"} if large else {}
    rank = {"exact": {}, "refine": {"rank": min(n, k + 3)}}.get(mode, {"rank": min(n, max(k + 2, n // 3))})
    model = eigenlift.KernelPCA(k, **text(kernel, p), **rank, **(solver if mode == "exact" else {})).fit(x)
    if mode == "certify":
        model.certify(x)
    if mode == "refine":
        model.refine(x)
    return model


class Tally:
    """What was seen."""

    def __init__(self) -> None:
        self.fits = self.certified = self.components = 0
        self.violations: list[tuple] = []
        self.raised: collections.Counter = collections.Counter()
        self.missing: collections.Counter = collections.Counter()
        self.short: collections.Counter = collections.Counter()

    def seed(self, seed: int, large: bool, most_rows: int) -> None:
        """All kernels and modes on the data of one seed."""
        rng = np.random.default_rng(seed)
        kind = KINDS[seed % len(KINDS)]
        n = int(rng.integers(300, most_rows + 1)) if large else int(rng.integers(12, 60))
        d = int(rng.integers(2, min(11, n - 1) if kind == "orth" else 12))
        x = data(kind, rng, n, d)
        n, d = x.shape
        single = bool(rng.random() < 0.35) and kind not in ("huge", "small")
        x = x.astype(np.float32) if single else x
        names = KERNELS + (NOT_NEGATIVE if (x >= 0).all() else [])
        for name in [names[int(rng.integers(len(names)))]] if large else names:
            kernel, p = parameters(name, x)
            with np.errstate(all="ignore"):
                matrix = centered(kernel, x, p)
            k = int(rng.integers(1, max(2, min(n - 1, 8))))
            if matrix is None:
                continue
            true = eigenvalues(matrix)
            further = FURTHER_MODES[int(rng.integers(len(FURTHER_MODES)))]
            for mode in [*MODES, further]:
                where = (seed, kind, name, "f32" if single else "f64", n, d, k, mode)
                if mode == "precomputed":
                    # The matrix as it is given is the one that statements are about.
                    given = (matrix / (np.abs(matrix).max() or 1)).astype(float)
                    self.check(where, given, kernel, p, eigenvalues(center([[arb(float(v)) for v in row] for row in given])), large)
                else:
                    self.check(where, x, kernel, p, true, large)

    def check(self, where: tuple, x: np.ndarray, kernel: str, p: dict, true: tuple, large: bool) -> None:
        """One fit against the true eigenvalues."""
        (_, kind, name, *_, k, mode), (w, error) = where, true
        try:
            model = fit(x, k, kernel, p, mode, large)
        except Exception as failure:  # counted and shown
            self.raised[(kind, name, mode, type(failure).__name__, str(failure)[:90])] += 1
            return
        self.fits += 1
        # Rows that all look the same to the kernel have no component, and a certificate that states nothing.
        if model.certificate_ is None or len(model.certificate_["intervals"]) == 0 and mode != "lowrank":
            self.missing[(kind, name, mode)] += 1
            return
        certificate = {**model.certificate_, "bounds": model.certificate_.get("bounds") or NOTHING}
        self.certified += certificate["bounds"]["n_certified"]
        self.components += len(certificate["intervals"])
        if certificate["bounds"]["n_certified"] < len(certificate["intervals"]):
            self.short[(kind, name, mode)] += 1
        # Of a kernel that is not known to be valid, the variance is that of the positive part.
        trace = np.maximum(w, 0).sum() if name == "sigmoid" or mode == "precomputed" else w.sum()
        found = false_statements(certificate, w, trace, error)
        if found:
            self.violations.append((*where, float(w[0]), found[:2]))

    def summary(self) -> dict:
        """The counts as they are kept."""
        kinds = collections.Counter(f"{v[7]}: {f[0]}" for v in self.violations for f in v[9])
        return {
            "fits": self.fits,
            "false": len(self.violations),
            "false_by_kind": dict(kinds),
            "raised": sum(self.raised.values()),
            "raised_by_reason": by_group(self.raised, lambda key: f"{key[1]}: {key[3]}"),
            "missing": sum(self.missing.values()),
            "missing_by_mode": by_group(self.missing, lambda key: key[2]),
            "components": self.components,
            "certified_as_leading": self.certified,
        }

    def show(self) -> None:
        """Prints the counts."""
        for violation in self.violations[:60]:
            print(violation)
        for title, counts in (
            ("raised", self.raised),
            ("without a certificate", self.missing),
            ("not all components certified", self.short),
        ):
            print(f"{title}: {sum(counts.values())}")
            for reason, count in counts.most_common(40):
                print(f"  {count} × {reason}")
        print(
            "false statements by kind:", dict(collections.Counter((v[7], f[0]) for v in self.violations for f in v[9]))
        )
        print(f"{self.certified} of {self.components} components certified as leading")
        print(f"{self.fits} fits checked, {len(self.violations)} with a false statement")


def by_group(counts: collections.Counter, group) -> dict[str, int]:
    """Counts of keys added up by a function of these, largest first."""
    sums: collections.Counter = collections.Counter()
    for key, count in counts.items():
        sums[group(key)] += count
    return dict(sums.most_common())


def versions() -> dict[str, str | None]:
    """What was run."""
    here = pathlib.Path(__file__).parent
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=here, capture_output=True, text=True, check=False)
    return {
        "eigenlift": eigenlift.__version__,
        "commit": commit.stdout.strip() or None,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
    }


def main() -> int:
    """Runs the seeds named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--most-rows", type=int, default=1200)
    parser.add_argument("--output", type=pathlib.Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    tally = Tally()
    for seed in range(options.first, options.first + options.seeds):
        tally.seed(seed, options.large, options.most_rows)
    tally.show()
    if options.output is not None:
        settings = {"first": options.first, "seeds": options.seeds, "large": options.large, "most_rows": options.most_rows}
        report = {
            "benchmark": "certificates of kernel PCA against exact spectra",
            "date": datetime.date.today().isoformat(),
            "versions": versions(),
            **settings,
            "kernels": KERNELS + NOT_NEGATIVE,
            **tally.summary(),
        }
        options.output.write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n")
    return int(bool(tally.violations))


if __name__ == "__main__":
    sys.exit(main())
