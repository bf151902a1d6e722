"""Golden files for the kernel PCA tests, from scikit-learn 1.9 and from slow, obvious NumPy formulas.

    python3 -m venv .venv && .venv/bin/pip install numpy==2.4.6 scipy==1.17.1 scikit-learn==1.9.1
    .venv/bin/python make.py            writes *.json beside this file

Run again with the same versions it writes the same files, up to the last bits that another LAPACK build may change.
The versions used are recorded in every file. Nothing here is needed to run the tests, only to renew what they compare with.

kpca-<case>-<dtype>.json, one per kernel and precision
    kernel           specification in the notation of the command line
    dtype            "f64" or "f32": the precision scikit-learn was given. X and X_new are short decimals:
                     read as f64, then round to f32 for "f32", and they are the numbers that scikit-learn saw
    X, X_new         training rows, new rows
    k                components
    eigenvalues      of the centred kernel matrix K_c, not divided by n, largest first
    scores           fit_transform(X), signs by the rule "entry of largest magnitude is positive" (no near-ties: asserted)
    scores_new       transform(X_new)
    trace            of K_c, in f64 from the formula of the kernel
    eigenvalues_f64  all of it in f64 on the same points: for "f64" an independent check, for "f32" the values to approach
    most_negative    smallest eigenvalue of K_c in f64 (about zero for Mercer kernels)

kernels.json         every kernel of the project on 7 x 3 and 4 x 3 nonnegative points: specification -> 7 x 4 matrix
spectra.json         leading eigenvalues of K_c for the digits, Gaussian kernel, n = 1797
"""
import json
import math
import platform
from pathlib import Path

import numpy as np
import scipy
import sklearn
from scipy.linalg import eigh
from sklearn.datasets import load_digits
from sklearn.decomposition import KernelPCA
from sklearn.gaussian_process.kernels import Matern, RationalQuadratic
from sklearn.metrics import pairwise

HERE = Path(__file__).resolve().parent
VERSIONS = {
    "python": platform.python_version(),
    "numpy": np.__version__,
    "scipy": scipy.__version__,
    "scikit-learn": sklearn.__version__,
}


def plain(a):
    """Nested lists of Python floats: json writes them with repr, the shortest text that reads back to the same f64."""
    return np.asarray(a, dtype=np.float64).tolist()


def write(name, value):
    path = HERE / name
    path.write_text(json.dumps(value, separators=(",", ":"), allow_nan=False) + "\n", encoding="utf-8")
    print(f"{name:32s} {path.stat().st_size:7d} bytes")


def centred(k):
    row = k.mean(0)
    return k - row[:, None] - row[None, :] + k.mean()


# ------------------------------------------------------------------------------------------- kernel PCA
def clusters(n, d, seed):
    """Three clusters with one correlated noise covariance, rounded to four decimals so that the files stay short."""
    r = np.random.default_rng(seed)
    centres = 1.5 * r.normal(size=(3, d))
    mix = r.normal(size=(d, d)) * np.linspace(0.9, 0.3, d)
    x = centres[r.choice(3, size=n, p=[0.5, 0.3, 0.2])] + r.normal(size=(n, d)) @ mix
    return np.round(x, 4) + 0.0


def formula(kind, p, x, y):
    """The kernel matrix in f64, without scikit-learn."""
    dot = x @ y.T
    if kind == "rbf":
        return np.exp(-p["gamma"] * ((x[:, None, :] - y[None, :, :]) ** 2).sum(2))
    if kind == "poly":
        return (p["gamma"] * dot + p["coef0"]) ** p["degree"]
    if kind == "sigmoid":
        return np.tanh(p["gamma"] * dot + p["coef0"])
    if kind == "cosine":
        return dot / np.linalg.norm(x, axis=1)[:, None] / np.linalg.norm(y, axis=1)[None, :]
    return dot


SEED = 25                                                  # a draw without near-ties in any case


# name, specification, scikit-learn kernel and parameters, n, d, k. Linear and cosine have rank d = 5 at most, so k = 5.
CASES = [
    ("rbf", "rbf(gamma=0.05)", "rbf", dict(gamma=0.05), 60, 5, 6),
    ("poly3", "polynomial(degree=3,gamma=0.2,coef0=1)", "poly", dict(degree=3, gamma=0.2, coef0=1), 60, 5, 6),
    ("poly2", "polynomial(degree=2,gamma=1,coef0=0)", "poly", dict(degree=2, gamma=1, coef0=0), 60, 5, 6),
    ("sigmoid", "sigmoid(gamma=0.05,coef0=0.1)", "sigmoid", dict(gamma=0.05, coef0=0.1), 60, 5, 6),
    ("cosine", "cosine", "cosine", {}, 60, 5, 5),
    ("linear", "linear", "linear", {}, 60, 5, 5),
    ("rbf300", "rbf(gamma=0.03)", "rbf", dict(gamma=0.03), 300, 8, 10),
]


def kernel_pca(name, spec, kind, params, n, d, k, dtype):
    both = clusters(n + 10, d, seed=SEED + d)
    x, new = both[:n], both[n:]
    given, given_new = (x, new) if dtype == "f64" else (x.astype(np.float32), new.astype(np.float32))

    # Only the k largest eigenvalues are computed by the dense solver, so an indefinite kernel (sigmoid) is accepted
    # as long as those are positive.
    model = KernelPCA(n_components=k, kernel=kind, eigen_solver="dense", **params)
    scores = model.fit_transform(given)
    scores_new = model.transform(given_new)
    assert scores.dtype == given.dtype and scores_new.dtype == given.dtype

    exact, exact_new = given.astype(np.float64), given_new.astype(np.float64)
    gram = formula(kind, params, exact, exact)
    kc = centred(gram)
    w, u = eigh(kc)
    w, u = w[::-1], u[:, ::-1]
    top, vectors = w[:k], u[:, :k]

    # What makes a good golden case: positive, separated eigenvalues, and no near-tie in the sign rule.
    assert top[-1] > 1e-3 * top[0], (name, w[: k + 1])
    gaps = -np.diff(np.append(top, w[k]))
    assert gaps.min() > 1e-3 * top[0] or (gaps / top).min() > 0.04, (name, w[: k + 1])
    magnitude = np.sort(np.abs(vectors), axis=0)
    assert (magnitude[-2] < 0.999 * magnitude[-1]).all(), (name, magnitude[-2] / magnitude[-1])

    # Agreement of the two computations, signs fixed by the same rule.
    vectors = vectors * np.sign(vectors[np.abs(vectors).argmax(0), range(k)])
    a = vectors / np.sqrt(top)
    mine = vectors * np.sqrt(top)
    mine_new = (formula(kind, params, exact_new, exact) - gram.mean(0)) @ a
    off = max(
        np.abs(model.eigenvalues_ / top - 1).max(),
        np.abs(scores - mine).max() / np.abs(mine).max(),
        np.abs(scores_new - mine_new).max() / np.abs(mine_new).max(),
    )
    assert off < (1e-12 if dtype == "f64" else 2e-4), (name, dtype, off)
    print(f"{name} {dtype}: two ways agree to {off:.1e}; top {np.round(top, 4)}, next {w[k]:.4g}, last {w[-1]:.4g}")

    write(f"kpca-{name}-{dtype}.json", {
        "kernel": spec, "dtype": dtype, "n": n, "d": d, "k": k, "solver": "dense",
        "source": "sklearn.decomposition.KernelPCA", "versions": VERSIONS,
        "eigenvalues": plain(model.eigenvalues_), "eigenvalues_f64": plain(top),
        "trace": float(np.trace(gram) - n * gram.mean()), "most_negative": float(w[-1]),
        "X": plain(x), "X_new": plain(new), "scores": plain(scores), "scores_new": plain(scores_new),
    })


# ---------------------------------------------------------------------------------------------- kernels
def each(f):
    """The matrix of f(x, y) over two lists of points, one pair at a time."""
    return lambda xs, ys: np.array([[f([float(v) for v in x], [float(v) for v in y]) for y in ys] for x in xs])


def dot(x, y):
    return sum(a * b for a, b in zip(x, y))


def dist2(x, y):
    return sum((a - b) ** 2 for a, b in zip(x, y))


def dist1(x, y):
    return sum(abs(a - b) for a, b in zip(x, y))


def poly(p, g, c):
    return lambda x, y: (g * dot(x, y) + c) ** p


def rbf(g):
    return lambda x, y: math.exp(-g * dist2(x, y))


def cosine(x, y):
    return dot(x, y) / math.sqrt(dot(x, x) * dot(y, y))


def matern(nu, length):
    def k(x, y):
        r = math.sqrt(dist2(x, y)) / length
        if nu == 0.5:
            return math.exp(-r)
        if nu == 1.5:
            return (1 + math.sqrt(3) * r) * math.exp(-math.sqrt(3) * r)
        return (1 + math.sqrt(5) * r + 5 * r * r / 3) * math.exp(-math.sqrt(5) * r)
    return k


def rational(alpha, length):
    return lambda x, y: (1 + dist2(x, y) / (2 * alpha * length**2)) ** -alpha


def chi2(g):
    return lambda x, y: math.exp(-g * sum((a - b) ** 2 / (a + b) for a, b in zip(x, y) if a + b > 0))


def phi(*maps):
    return lambda x, y: sum(f(*x) * f(*y) for f in maps)


R2 = math.sqrt(2)
KERNELS = {
    "linear": dot,
    "polynomial": poly(3, 1, 1),
    "poly(degree=2)": poly(2, 1, 1),
    "polynomial(degree=3,gamma=0.2,coef0=1)": poly(3, 0.2, 1),
    "polynomial(degree=2,gamma=1,coef0=0)": poly(2, 1, 0),
    "polynomial(degree=5,gamma=0.5,coef0=-0.25)": poly(5, 0.5, -0.25),
    "rbf(gamma=0.7)": rbf(0.7),
    "gaussian(gamma=0.7)": rbf(0.7),
    "rbf(sigma=0.8)": rbf(1 / (2 * 0.8**2)),
    "rbf(c=0.1)": rbf(1 / 0.1),
    "rbf(gamma=1/d)": rbf(1 / 3),
    "laplacian(gamma=0.4)": lambda x, y: math.exp(-0.4 * dist1(x, y)),
    "exponential(gamma=0.9)": lambda x, y: math.exp(-0.9 * math.sqrt(dist2(x, y))),
    "matern(nu=0.5,length=1.3)": matern(0.5, 1.3),
    "matern(nu=1.5,length=1.3)": matern(1.5, 1.3),
    "matern(nu=2.5,length=0.6)": matern(2.5, 0.6),
    "rational_quadratic(alpha=1,length=0.9)": rational(1, 0.9),
    "rational_quadratic(alpha=2.5,length=1.1)": rational(2.5, 1.1),
    "sigmoid(gamma=0.3,coef0=-0.5)": lambda x, y: math.tanh(0.3 * dot(x, y) - 0.5),
    "sigmoid": lambda x, y: math.tanh(dot(x, y) / 3 + 1),
    "cosine": cosine,
    "chi2": chi2(1),
    "chi2(gamma=0.35)": chi2(0.35),
    "intersection": lambda x, y: sum(min(a, b) for a, b in zip(x, y)),
    "map(1, sqrt(2)*x1^2, sqrt(2)*x2^2)": phi(lambda a, b, c: 1, lambda a, b, c: R2 * a * a, lambda a, b, c: R2 * b * b),
    "expr(1 + 2*x1^2*y1^2 + 2*x2^2*y2^2)": lambda x, y: 1 + 2 * x[0] ** 2 * y[0] ** 2 + 2 * x[1] ** 2 * y[1] ** 2,
    "map(x1*x2, exp(x3), sin(x1) + 0.5)": phi(lambda a, b, c: a * b, lambda a, b, c: math.exp(c), lambda a, b, c: math.sin(a) + 0.5),
    "expr(exp(0 - 0.5*((x1-y1)^2 + (x2-y2)^2 + (x3-y3)^2)))": rbf(0.5),
    "expr((x1*y1 + x2*y2 + x3*y3 + 1)^2)": poly(2, 1, 1),
    "2.5*rbf(gamma=0.7)": lambda x, y: 2.5 * rbf(0.7)(x, y),
    "linear + rbf(gamma=0.7)": lambda x, y: dot(x, y) + rbf(0.7)(x, y),
    "linear * cosine": lambda x, y: dot(x, y) * cosine(x, y),
    "0.5*linear + 0.25*polynomial(degree=2,gamma=1,coef0=1)": lambda x, y: 0.5 * dot(x, y) + 0.25 * poly(2, 1, 1)(x, y),
    "rbf(gamma=0.2) * cosine + 3*chi2(gamma=0.35)": lambda x, y: rbf(0.2)(x, y) * cosine(x, y) + 3 * chi2(0.35)(x, y),
    "(linear + cosine) * laplacian(gamma=0.4)": lambda x, y: (dot(x, y) + cosine(x, y)) * math.exp(-0.4 * dist1(x, y)),
}

# The same matrices from scikit-learn, where it has the kernel.
CHECKS = {
    "linear": pairwise.linear_kernel,
    "polynomial": lambda x, y: pairwise.polynomial_kernel(x, y, degree=3, gamma=1, coef0=1),
    "polynomial(degree=3,gamma=0.2,coef0=1)": lambda x, y: pairwise.polynomial_kernel(x, y, degree=3, gamma=0.2, coef0=1),
    "polynomial(degree=2,gamma=1,coef0=0)": lambda x, y: pairwise.polynomial_kernel(x, y, degree=2, gamma=1, coef0=0),
    "rbf(gamma=0.7)": lambda x, y: pairwise.rbf_kernel(x, y, gamma=0.7),
    "rbf(gamma=1/d)": pairwise.rbf_kernel,
    "laplacian(gamma=0.4)": lambda x, y: pairwise.laplacian_kernel(x, y, gamma=0.4),
    "matern(nu=0.5,length=1.3)": Matern(1.3, nu=0.5),
    "matern(nu=1.5,length=1.3)": Matern(1.3, nu=1.5),
    "matern(nu=2.5,length=0.6)": Matern(0.6, nu=2.5),
    "rational_quadratic(alpha=1,length=0.9)": RationalQuadratic(0.9, 1),
    "rational_quadratic(alpha=2.5,length=1.1)": RationalQuadratic(1.1, 2.5),
    "sigmoid(gamma=0.3,coef0=-0.5)": lambda x, y: pairwise.sigmoid_kernel(x, y, gamma=0.3, coef0=-0.5),
    "sigmoid": pairwise.sigmoid_kernel,
    "cosine": pairwise.cosine_similarity,
    "chi2": pairwise.chi2_kernel,
    "chi2(gamma=0.35)": lambda x, y: pairwise.chi2_kernel(x, y, gamma=0.35),
}


def kernels():
    r = np.random.default_rng(7)
    x, y = np.round(2 * r.random((7, 3)), 3), np.round(2 * r.random((4, 3)), 3)
    x[2, 1] = y[0, 1] = 0.0                                # chi2 meets 0/0 here: that term is 0
    y[3] = x[5]                                            # a shared point: distance exactly 0
    out = {}
    for spec, f in KERNELS.items():
        out[spec] = each(f)(x, y)
        if spec in CHECKS:
            assert np.allclose(out[spec], CHECKS[spec](x, y), rtol=1e-13, atol=1e-14), spec
    one, other = out["map(1, sqrt(2)*x1^2, sqrt(2)*x2^2)"], out["expr(1 + 2*x1^2*y1^2 + 2*x2^2*y2^2)"]
    assert np.allclose(one, other, rtol=1e-14)
    write("kernels.json", {
        "source": "formulas of make.py, one pair at a time", "versions": VERSIONS,
        "checked_with_scikit_learn": sorted(CHECKS),
        "X": plain(x), "Y": plain(y), "kernels": {spec: plain(m) for spec, m in out.items()},
    })


# ---------------------------------------------------------------------------------------------- spectra
def spectra(count=20):
    x = load_digits().data / 16.0
    i, j = np.random.default_rng(0).integers(len(x), size=(2, 200_000))
    median = float(np.median(((x[i] - x[j]) ** 2).sum(1)[i != j]))
    gamma = 1 / median
    norm = (x * x).sum(1)                                  # integers over 256: the expansion of the distance is exact
    gram = np.exp(-gamma * (norm[:, None] + norm - 2 * x @ x.T))
    kc = centred(gram)
    n = len(x)
    w = eigh(kc, eigvals_only=True, subset_by_index=(n - count, n - 1))[::-1]
    write("spectra.json", {
        "digits": {
            "data": "digits.csv divided by 16", "n": n, "kernel": f"rbf(gamma={gamma!r})",
            "median_squared_distance": median, "gamma": gamma, "solver": "LAPACK, scipy.linalg.eigh",
            "eigenvalues": plain(w), "trace": float(np.trace(gram) - n * gram.mean()),
            "frobenius_squared": float((kc * kc).sum()),
        },
        "versions": VERSIONS,
    })


if __name__ == "__main__":
    for case in CASES:
        for dtype in ("f64",) if case[0] == "rbf300" else ("f64", "f32"):
            kernel_pca(*case, dtype)
    kernels()
    spectra()
    total = sum(p.stat().st_size for p in HERE.glob("*.json"))
    assert total < 400_000, total
    print(f"{total} bytes in all")
