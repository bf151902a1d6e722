"""Golden file for the PCA and whitening tests, from scikit-learn 1.9 and from plain NumPy.

    python3 -m venv .venv && .venv/bin/pip install numpy scipy scikit-learn==1.9.1
    .venv/bin/python make_pca.py            writes pca.json beside this file

The versions used are recorded in the file. Nothing here is needed to run the tests, only to renew what they compare with.

cases            name -> one fit of PCA(svd_solver="full"), after StandardScaler where "standardized"
    X            training rows (short decimals); absent for "iris", which both sides have
    X_new        5 new rows
    weights      of the rows, or null. With weights the numbers come from numpy.linalg.eigh of the weighted covariance
    mean, components (largest entry of each positive), variances (explained_variance_, divided by n - 1; by the sum of weights
    with weights), ratios, singular_values, scores_new, back_new (inverse_transform), white_new (whiten=True)
pieces           PCA(5) of 1000 x 30 rows that `uniform` below makes, the same on both sides: variances, components
"""
import json
import platform
from pathlib import Path

import numpy as np
import sklearn
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

HERE = Path(__file__).resolve().parent
MASK = (1 << 64) - 1


class Uniform:
    """The generator of eigenlift-testkit: splitmix64, 53 bits."""

    def __init__(self, seed):
        self.state = (seed * 0x9E3779B97F4A7C15 & MASK) ^ 0xD1B54A32D192ED03

    def __call__(self):
        self.state = self.state + 0x9E3779B97F4A7C15 & MASK
        z = self.state
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
        z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
        return ((z ^ z >> 31) >> 11) / (1 << 53)


def signed(components):
    rows = np.arange(len(components))
    largest = np.abs(components).argmax(1)
    ordered = np.sort(np.abs(components), 1)
    assert (ordered[:, -1] - ordered[:, -2] > 1e-6).all(), "no near-ties in the rule of signs"
    return np.sign(components[rows, largest])


def plain(a):
    return np.asarray(a, dtype=np.float64).tolist()


def gaps(values):
    assert (values[:-1] - values[1:] > 2e-4 * values[0]).all(), values


def case(x, new, k, standardized=False, keep=True):
    scaler = StandardScaler().fit(x)
    view = scaler.transform if standardized else lambda rows: rows
    back = scaler.inverse_transform if standardized else lambda rows: rows
    model = PCA(k, svd_solver="full").fit(view(x))
    white = PCA(k, svd_solver="full", whiten=True).fit(view(x))
    sign = signed(model.components_)
    scores = model.transform(view(new))
    return {
        "X": plain(x) if keep else None,
        "X_new": plain(new),
        "k": k,
        "standardized": standardized,
        "weights": None,
        "mean": plain(scaler.mean_ if standardized else model.mean_),
        "components": plain(model.components_ * sign[:, None]),
        "variances": plain(model.explained_variance_),
        "ratios": plain(model.explained_variance_ratio_),
        "singular_values": plain(model.singular_values_),
        "scores_new": plain(scores * sign),
        "back_new": plain(back(model.inverse_transform(scores))),
        "white_new": plain(white.transform(view(new)) * sign),
    }


def weighted(x, new, k, weights, standardized):
    """The definition, without scikit-learn."""
    n = weights.sum()
    mean = weights @ x / n
    z, z_new = x - mean, new - mean
    scale = np.sqrt(weights @ z**2 / n) if standardized else np.ones(x.shape[1])
    z, z_new = z / scale, z_new / scale
    values, vectors = np.linalg.eigh((z.T * weights) @ z / n)
    values, u = values[::-1][:k], vectors[:, ::-1][:, :k].T
    u = u * signed(u)[:, None]
    scores = z_new @ u.T
    return {
        "X": plain(x),
        "X_new": plain(new),
        "k": k,
        "standardized": standardized,
        "weights": plain(weights),
        "mean": plain(mean),
        "components": plain(u),
        "variances": plain(values),
        "ratios": plain(values / ((z.T * weights) @ z / n).trace()),
        "singular_values": plain(np.sqrt(n * values)),
        "scores_new": plain(scores),
        "back_new": plain(mean + scale * (scores @ u)),
        "white_new": plain(scores / np.sqrt(values)),
    }


def table(rng, n, d, factors, offset):
    sizes = 1.6 ** -np.arange(factors)
    x = rng.normal(size=(n, factors)) * sizes @ rng.normal(size=(factors, d)) + 0.05 * rng.normal(size=(n, d))
    return np.round(x + offset * rng.normal(size=d), 3)


def pieces():
    draw = Uniform(11)
    mix = np.array([[draw() - 0.5 for _ in range(30)] for _ in range(5)])
    x = np.zeros((1000, 30))
    for i in range(1000):
        latent = [(draw() - 0.5) * (8 - l) for l in range(5)]
        for j in range(30):
            x[i, j] = sum(latent[l] * mix[l, j] for l in range(5)) + 0.2 * draw() + 0.5 * j
    model = PCA(5, svd_solver="full").fit(x)
    return {
        "variances": plain(model.explained_variance_),
        "components": plain(model.components_ * signed(model.components_)[:, None]),
    }


rng = np.random.default_rng(8)
lines = (HERE / "../../data/iris.csv").resolve().read_text().splitlines()[1:]
iris = np.array([[float(v) for v in line.split(",")[:4]] for line in lines])
assert iris.shape == (150, 4)
iris_new = np.round(iris[::30] + rng.normal(size=(5, 4)), 2)
tall = table(rng, 65, 12, 8, 20)
wide = table(rng, 25, 50, 9, 3)
weights = np.round(rng.uniform(0, 3, 60), 2)
weights[7] = 0
value = {
    "versions": {"python": platform.python_version(), "numpy": np.__version__, "scikit-learn": sklearn.__version__},
    "cases": {
        "iris": case(iris, iris_new, 4, keep=False),
        "tall": case(tall[:60], tall[60:], 8),
        "wide": case(wide[:20], wide[20:], 8),
        "tall standardized": case(tall[:60], tall[60:], 6, standardized=True),
        "tall weighted": weighted(tall[:60], tall[60:], 6, weights, False),
        "tall weighted standardized": weighted(tall[:60], tall[60:], 6, weights, True),
    },
    "pieces": pieces(),
}
for one in value["cases"].values():
    gaps(np.array(one["variances"]))
path = HERE / "pca.json"
path.write_text(json.dumps(value, separators=(",", ":"), allow_nan=False) + "\n", encoding="utf-8")
print(path.stat().st_size, "bytes", value["versions"])
