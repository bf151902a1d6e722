"""Golden file for the tests of manifold methods, from scikit-learn 1.9.

    python3 -m venv .venv && .venv/bin/pip install numpy scipy scikit-learn==1.9.1
    .venv/bin/python make_manifold.py       writes manifold.json beside this file

The versions used are recorded in the file. Nothing here is needed to run the tests, only to renew what they compare with.

Rows are made on both sides by the generator of eigenlift-testkit and rounded to 4 decimals, so that none are stored: a swiss
roll of 300 rows and 20 new ones, a sheet of 300 rows, a sheet of 700 rows with a little depth, and iris, which both sides have.

cases             name -> one embedding
    every         only each so many rows of it are stored
    scores        those rows, the largest entry of each column positive
    new           coordinates of the 20 new rows, with the same signs, where there are any
    values        eigenvalues, where scikit-learn tells or the matrix was at hand
    gap           least distance of a wanted eigenvalue from the others, relative to the norm of the matrix
trustworthiness   of columns 1 and 2 of the roll for its 7 nearest neighbours, and with the arguments exchanged
"""
import json
import platform
import warnings
from pathlib import Path

import numpy as np
import scipy
import sklearn
import sklearn.manifold._locally_linear as lle_module
from sklearn.manifold import ClassicalMDS, Isomap, LocallyLinearEmbedding, SpectralEmbedding, trustworthiness
from sklearn.metrics import pairwise_distances

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


def roll(n, seed):
    draw, x = Uniform(seed), np.zeros((n, 3))
    for i in range(n):
        t = 1.5 * np.pi * (1 + 2 * draw())
        x[i] = [t * np.cos(t), 21 * draw(), t * np.sin(t)]
    return np.round(x, 4)


def sheet(n, seed, depth):
    draw, x = Uniform(seed), np.zeros((n, 3))
    for i in range(n):
        a, b = 3 * draw(), 2 * draw()
        x[i] = [a, b, depth * np.sin(2 * a) + 0.1 * draw() * depth]
    return np.round(x, 4)


def untied(x, k):
    """No near-tie between the last neighbour and the next one."""
    d = np.sort(pairwise_distances(x), axis=1)
    assert (d[:, k + 1] - d[:, k] > 1e-7).all()
    return x


def short(a):
    return [[float(f"{v:.13e}") for v in row] for row in np.asarray(a)]


def gap_of(values, wanted, norm):
    """Least distance between a wanted eigenvalue and any other, the first (constant) vector left out by the caller."""
    gaps = [np.abs(np.delete(values, at) - values[at]).min() for at in wanted]
    return float(min(gaps) / norm)


def case(scores, every, gap, values=None, new=None):
    largest = np.abs(scores).argmax(0)
    sign = np.sign(scores[largest, range(scores.shape[1])])
    out = {"every": every, "scores": short((scores * sign)[::every]), "gap": gap}
    if values is not None:
        out["values"] = [float(v) for v in values]
    if new is not None:
        out["new"] = short(new * sign)
    return out


def scaled(distances):
    """All eigenvalues of −½HD²H, largest first."""
    k = -0.5 * distances**2
    k = k - k.mean(0) - k.mean(1)[:, None] + k.mean()
    return np.linalg.eigvalsh(k)[::-1]


def isomap(x, every, new=None, **how):
    model = Isomap(n_components=2, eigen_solver="dense", **how).fit(x)
    values = scaled(model.dist_matrix_)
    gap = gap_of(values, [0, 1], values[0])
    placed = None if new is None else model.transform(new)
    return case(model.embedding_, every, gap, values[:2], placed)


def mds(x):
    model = ClassicalMDS(n_components=3).fit(x)
    values = scaled(pairwise_distances(x))
    return case(model.embedding_, 1, gap_of(values, [0, 1, 2], values[0]), values[:3])


def spectral(x, every, **how):
    model = SpectralEmbedding(n_components=2, eigen_solver="arpack", random_state=0, **how)
    scores = model.fit_transform(x)
    w = model.affinity_matrix_
    w = np.array(w.toarray() if hasattr(w, "toarray") else w)
    np.fill_diagonal(w, 0)
    root = np.sqrt(w.sum(0))
    values = np.linalg.eigvalsh(w / root / root[:, None])[::-1]
    return case(scores, every, gap_of(values, [1, 2], 1.0), values[1:3])


def lle(x, every, **how):
    kept = []
    null_space = lle_module.null_space

    def keeping(m, *args, **kwargs):
        kept.append(m.toarray() if hasattr(m, "toarray") else m.copy())
        return null_space(m, *args, **kwargs)

    lle_module.null_space = keeping
    scores = LocallyLinearEmbedding(n_components=2, eigen_solver="dense", **how).fit_transform(x)
    lle_module.null_space = null_space
    values = np.linalg.eigvalsh(kept[0])
    return case(scores, every, gap_of(values, [1, 2], np.abs(kept[0]).sum(0).max()), values[1:3])


rows, new = untied(roll(300, 21), 9), roll(20, 22)
untied(rows[:, :2], 7)
bent = untied(sheet(300, 23, 0.5), 12)
many = untied(sheet(700, 24, 0.3), 10)
lines = (HERE / "../../data/iris.csv").resolve().read_text().splitlines()[1:]
iris = np.array([[float(v) for v in line.split(",")[:4]] for line in lines])
assert iris.shape == (150, 4)
warnings.simplefilter("error")
value = {
    "versions": {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
    },
    "cases": {
        "isomap by neighbours": isomap(rows, 5, new, n_neighbors=8),
        "isomap by radius": isomap(rows, 5, new, n_neighbors=None, radius=6.0),
        "isomap of 700": isomap(many, 20, n_neighbors=9),
        "mds of iris": mds(iris),
        # scikit-learn counts the row itself among its neighbours here.
        "laplacian by neighbours": spectral(bent, 5, affinity="nearest_neighbors", n_neighbors=10),
        "laplacian by rbf": spectral(bent, 5, affinity="rbf", gamma=2.0),
        "laplacian of 700": spectral(many, 20, affinity="nearest_neighbors", n_neighbors=10),
        "lle standard": lle(bent, 5, n_neighbors=6, method="standard", reg=0.1),
        "lle modified": lle(bent, 5, n_neighbors=11, method="modified"),
        # With more than 6 neighbours scikit-learn takes all columns of a full Q, which is ltsa, and not those of second derivatives.
        "lle hessian": lle(bent, 5, n_neighbors=6, method="hessian"),
        "lle ltsa": lle(bent, 5, n_neighbors=11, method="ltsa"),
        "lle of 700": lle(many, 20, n_neighbors=9, method="ltsa"),
    },
    "trustworthiness": [
        float(trustworthiness(rows, rows[:, :2], n_neighbors=7)),
        float(trustworthiness(rows[:, :2], rows, n_neighbors=7)),
    ],
}
for name, one in value["cases"].items():
    print(f"{name:24} gap {one['gap']:.1e} values {one.get('values')}")
    assert one["gap"] > 1e-8, name
path = HERE / "manifold.json"
path.write_text(json.dumps(value, separators=(",", ":"), allow_nan=False) + "\n", encoding="utf-8")
print(path.stat().st_size, "bytes", value["versions"])
