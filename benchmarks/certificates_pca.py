"""Counts false statements in the certificates of PCA, Whitening and IncrementalPCA.

    python benchmarks/certificates_pca.py [--first 0] [--seeds 500] [--large]

Each seed makes a table of one of sixteen kinds that are hard for floating point, fits it along every route, with weights and with sparse rows, and compares
what the certificates say with the spectrum of the exact centered products in 400-bit arithmetic (python-flint). A
statement counts as false only where it is so beyond 300 bits. Fits that raise and certificates that
are missing are counted by reason. Ends with status 1 if a statement was false.
"""

from __future__ import annotations

import argparse
import collections
import math
import sys
import warnings

import eigenlift as el
import numpy as np
import scipy.sparse
from flint import acb_mat, arb, arb_mat, ctx

PRECISION = 400
ROUTES = [None, "covariance", "dual", "tsqr", "krylov", "directions"]
METHODS = ["pca", "zca", "cholesky", "pca-cor", "zca-cor"]
KINDS = [
    "gauss",
    "clusters",
    "simplex",
    "tiny",
    "dups",
    "badscale",
    "off6",
    "off8",
    "off10",
    "heavy",
    "ints",
    "orth",
    "near",
    "pos",
    "huge",
    "small",
]


def table(kind, rng, n, d):
    """Rows of one kind."""
    noise = rng.normal(size=(n, d))
    if kind == "clusters":
        return (10 * rng.normal(size=(4, d)))[rng.integers(0, 4, n)] + 1e-6 * noise
    if kind == "simplex":
        return np.vstack([np.eye(d) * 3] * (-(-n // d)))[:n] + 1e-9 * noise
    if kind == "tiny":
        return rng.normal(size=(n, 2)) @ rng.normal(size=(2, d)) + 1e-9 * noise
    if kind == "dups":
        few = rng.normal(size=(max(n // 4, 3), d))
        return few[rng.integers(0, len(few), n)]
    if kind == "heavy":
        return rng.standard_t(1.2, size=(n, d))
    if kind == "ints":
        return rng.integers(0, 4, size=(n, d)).astype(float)
    if kind == "orth":
        return np.linalg.qr(noise)[0] * 5 if n >= d else np.linalg.qr(noise.T)[0].T * 5
    if kind == "near":
        return rng.normal(size=d) * 100 + 1e-7 * noise
    if kind == "pos":
        return rng.gamma(0.5, size=(n, d))
    changed = {
        "gauss": noise,
        "badscale": noise * 10.0 ** np.linspace(-8, 8, d),
        "off6": noise + 1e6,
        "off8": noise + 1e8 * rng.normal(size=d),
        "off10": noise + 1e10,
        "huge": noise * 1e120,
        "small": noise * 1e-120,
    }
    return changed[kind]


class Reference:
    """Eigenvalues of the centered products of a table, largest first, as enclosures."""

    def __init__(self, X, *, scale=None, weights=None):
        """`scale` says which columns are divided by their standard deviation: those where it is not 1."""
        ctx.prec = PRECISION
        n, d = X.shape
        weights = [arb(float(w)) for w in (np.ones(n) if weights is None else weights)]
        weight, roots = sum(weights, arb(0)), [w.sqrt() for w in weights]
        columns = [[arb(float(x)) for x in column] for column in X.T]
        for j, column in enumerate(columns):
            mean = sum((w * x for w, x in zip(weights, column)), arb(0)) / weight
            column = [root * (x - mean) for root, x in zip(roots, column)]
            if scale is not None and scale[j] != 1:
                deviation = (sum((x * x for x in column), arb(0)) / weight).sqrt()
                column = [x / deviation for x in column]
            columns[j] = column
        rows = arb_mat(columns)
        products = rows * rows.transpose() if d <= n else rows.transpose() * rows
        size = products.nrows()
        # Enclosures of the products that hold zero alone would stop the solver: the unit is that of the largest.
        largest = max(float_exponent(products[i, i]) for i in range(size))
        unit = arb(2) ** (-largest)
        balanced = acb_mat([[products[i, j] * unit for j in range(size)] for i in range(size)])
        # The QR iteration is backward stable: at 400 bits it is right to far more than 300 bits of the largest.
        values = balanced.eig(algorithm="approx", maxiter=size * 1000)
        slack = arb(0, arb(2) ** -300)
        values = sorted(((value.real.mid() + slack) / unit for value in values), key=middle, reverse=True)
        self.values = values + [arb(0)] * (min(n, d) - size)
        self.total = sum(values, arb(0))


def middle(value):
    """The middle of an enclosure, for sorting."""
    return value.mid()


def float_exponent(value):
    """The power of two near the size of a number."""
    middle = value.mid()
    return 0 if middle == 0 else int(math.floor(float((abs(middle).log() / arb(2).log()).mid())))


def falsehoods(certificate, reference):
    """Statements of a certificate that the reference disproves."""
    values, intervals, bounds = reference.values, certificate["intervals"], certificate["bounds"]
    found = []
    numbers = [number for interval in intervals for number in interval.values()]
    if not all(math.isfinite(number) for number in numbers):
        return [("not finite", intervals)]
    k = len(intervals)
    by_index = k if bounds["grounds"] != "residuals" else bounds["n_certified"]
    for i, interval in enumerate(intervals):
        low, high = arb(interval["low"]), arb(interval["high"])
        if i < by_index and (values[i] < low or values[i] > high):
            found.append(("index", i, interval, str(values[i].str(20))))
        elif all(value < low or value > high for value in values):
            found.append(("interval", i, interval, str(values[i].str(20))))
    missed = bounds.get("missed")
    if missed is not None:
        above = sum(1 for value in values if value > arb(missed))
        if above > k:
            found.append(("missed", missed, above, k, str(values[k].str(20))))
    explained = bounds.get("explained")
    if explained is not None:
        share = sum(values[:k], arb(0)) / reference.total
        if share < arb(explained["low"]) or share > arb(explained["high"]):
            found.append(("explained", explained, str(share.str(20))))
    return found


def fits(X, weights, rng):
    """Name, estimator and how it is fitted, for every route; with what it standardizes."""
    most = min(X.shape) - 1
    route = [None, "covariance", "dual", "tsqr", "krylov"][int(rng.integers(5))]
    k = int(rng.integers(1, max(2, min(most, 8))))
    yield f"PCA weighted {route}", el.PCA(k, route=route), lambda e: e.fit(X, sample_weight=weights)
    yield "Whitening weighted", el.Whitening(), lambda e: e.fit(X, sample_weight=weights)
    sparse = scipy.sparse.csr_array(X)
    yield "PCA sparse", el.PCA(k), lambda e: e.fit(sparse)
    yield "PCA sparse weighted", el.PCA(k), lambda e: e.fit(sparse, sample_weight=weights)
    for route in ROUTES:
        k = int(rng.integers(1, max(2, min(most, 8))))
        standardize = bool(rng.random() < 0.25)
        rows = {"sketch_rows": 2 * X.shape[1]} if route == "directions" and rng.random() < 0.5 else {}
        yield f"PCA {route}", el.PCA(k, route=route, standardize=standardize, **rows), lambda e: e.fit(X)
    method = METHODS[int(rng.integers(len(METHODS)))]
    yield f"Whitening {method}", el.Whitening(method=method), lambda e: e.fit(X)
    route = ["covariance", "tsqr", "directions"][int(rng.integers(3))]
    # Each piece must have as many rows as there are components.
    k = int(rng.integers(1, max(2, min(most, X.shape[0] // 3, 8))))

    def in_pieces(estimator):
        for piece in np.array_split(X, 3):
            estimator.partial_fit(piece)
        return estimator

    yield f"IncrementalPCA {route}", el.IncrementalPCA(k, route=route), in_pieces


def scale_of(estimator):
    """What columns were divided by, where they were; None elsewhere."""
    scale = getattr(estimator, "scale_", None)
    return None if scale is None else np.asarray(scale)


class Study:
    """Counts over many seeds."""

    def __init__(self):
        self.fits = collections.Counter()
        self.false = []
        self.raised = collections.Counter()
        self.missing = collections.Counter()
        self.certified = [0, 0]

    def run(self, seed, *, large=False):
        """All fits of one seed."""
        rng = np.random.default_rng(seed)
        kind = KINDS[seed % len(KINDS)]
        n, d = (int(rng.integers(300, 1200)), int(rng.integers(2, 12))) if large else self._small(rng)
        X = table(kind, rng, n, d)
        if rng.random() < 0.35 and kind not in ("huge", "small"):
            X = X.astype(np.float32)
        weights = [rng.random(n) + 0.1, 10.0 ** rng.uniform(-6, 6, n), rng.integers(1, 4, n).astype(float)][seed // len(KINDS) % 3]
        known = {}
        for name, estimator, fit in fits(X, weights, rng):
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    estimator = fit(estimator)
                    certificate = dict(estimator.certificate_)
            except Exception as error:
                self.raised[kind, name, type(error).__name__, str(error)[:90]] += 1
                continue
            if certificate.get("bounds") is None or not certificate["intervals"]:
                same = "all rows are the same" if (X == X[0]).all() else "the spread is below the rounding of its entries"
                self.missing[kind, X.dtype.name, same, name.split()[0]] += 1
                continue
            scale = scale_of(estimator)
            weighted = weights if "weighted" in name else None
            key = (None if scale is None else tuple(scale == 1), weighted is None)
            if key not in known:
                known[key] = Reference(X, scale=scale, weights=weighted)
            self.fits[name.split()[0]] += 1
            self.certified[0] += certificate["bounds"]["n_certified"]
            self.certified[1] += len(certificate["intervals"])
            wrong = falsehoods(certificate, known[key])
            if wrong:
                self.false.append((seed, kind, name, X.dtype.name, X.shape, scale is not None, wrong[:2]))

    @staticmethod
    def _small(rng):
        if rng.random() < 0.3:
            return int(rng.integers(6, 14)), int(rng.integers(14, 40))
        return int(rng.integers(12, 60)), int(rng.integers(2, 12))

    def report(self):
        """The counts in words."""
        lines = [f"fits checked: {sum(self.fits.values())} ({dict(self.fits)})"]
        lines.append(f"components certified as leading: {self.certified[0]} of {self.certified[1]}")
        lines.append(f"false statements: {len(self.false)}")
        lines += [f"  {case}" for case in self.false[:40]]
        lines.append(f"fits that raised: {sum(self.raised.values())}")
        lines += [f"  {count} x {reason}" for reason, count in self.raised.most_common(40)]
        lines.append(f"certificates that are missing: {sum(self.missing.values())}")
        lines += [f"  {count} x {reason}" for reason, count in self.missing.most_common(20)]
        return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seeds", type=int, default=500)
    parser.add_argument("--large", action="store_true", help="tables of 300 to 1200 rows")
    asked = parser.parse_args()
    study = Study()
    for seed in range(asked.first, asked.first + asked.seeds):
        study.run(seed, large=asked.large)
    print(study.report())
    return len(study.false) > 0


if __name__ == "__main__":
    sys.exit(main())
