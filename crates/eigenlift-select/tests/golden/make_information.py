"""Golden file for the tests of mutual information, from scikit-learn 1.9.

    python3 -m venv .venv && .venv/bin/pip install numpy scipy scikit-learn==1.9.1
    .venv/bin/python make_information.py        writes information.json beside this file

The versions used are recorded in the file. Nothing here is needed to run the tests, only to renew what they compare with.

Rows are made on both sides by the generator of eigenlift-testkit, by sums and products alone, so that none are stored: `table`
and `jittered` here and in the test are the same. No values are tied, where scikit-learn's noise would decide, and no discrete
value has fewer than 2k + 2 rows, where it takes distances from squares whose rounding moves counts by one.

cases       a list
    data        "table" (column 4 discrete) or "iris" (150 rows, ties broken)
    labels      "classes" or "numbers"; numbers of iris are its last column, which is then left out
    neighbors   k
    values      of each column
"""
import json
import platform
from pathlib import Path

import numpy as np
import scipy
import sklearn
from sklearn.datasets import load_iris
from sklearn.feature_selection import mutual_info_classif, mutual_info_regression

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


def table(n, seed):
    draw, rows, numbers, classes = Uniform(seed), [], [], []
    for _ in range(n):
        z = draw() + draw() + draw() - 1.5
        row = [z + 0.5 * draw(), draw(), z * z + 0.1 * draw(), z * draw(), np.floor(2 * z + 2 * draw())]
        rows.append(row[:4] + [min(max(row[4], -2.0), 3.0)])
        numbers.append(z + 0.2 * draw())
        classes.append(0 if z < -0.4 else 1 if z < 0.3 else 2)
    return np.array(rows), np.array(numbers), np.array(classes)


def jittered(seed):
    draw, iris = Uniform(seed), load_iris()
    rows = [[value + 0.01 * draw() for value in row] for row in iris.data]
    return np.array(rows), iris.target


def case(data, labels, k, x, y, discrete):
    measure = mutual_info_classif if labels == "classes" else mutual_info_regression
    values = measure(x, y, discrete_features=discrete, n_neighbors=k, random_state=0)
    print(data, labels, k, values)
    return {"data": data, "labels": labels, "neighbors": k, "values": values.tolist()}


x, numbers, classes = table(400, 1)
assert np.unique(x[:, 4], return_counts=True)[1].min() >= 12
iris, species = jittered(2)
cases = []
for k in (3, 5):
    cases.append(case("table", "classes", k, x, classes, [4]))
    cases.append(case("table", "numbers", k, x, numbers, [4]))
    cases.append(case("iris", "classes", k, iris, species, False))
    cases.append(case("iris", "numbers", k, iris[:, :3], iris[:, 3], False))
out = {
    "versions": {
        "python": platform.python_version(), "numpy": np.__version__, "scipy": scipy.__version__,
        "sklearn": sklearn.__version__,
    },
    "cases": cases,
}
Path(__file__).with_name("information.json").write_text(json.dumps(out) + "\n")
