"""Golden file for the tests of canonical correlation, from cca-zoo 4.

    python3 -m venv .venv && .venv/bin/pip install cca-zoo==4.0.1
    .venv/bin/python make_kcca.py       writes kcca.json beside this file

The versions used are recorded in the file. Nothing here is needed to run the tests, only to renew what they compare with.

views       three tables of 40 rows, rounded to 4 decimals
cases       name -> one fit of the first `views` of them
    kernel          as eigenlift writes it
    shrinkage       c of cca-zoo; regularization = c/(1 - c)·(n - 1)/n is eigenlift's
    correlations    of the scores of each component, mean over pairs of views
    scores          of the first 5 rows in each view, divided by their standard deviation over all rows
    new             of the first 2 rows plus 0.1, divided by the same
"""
import json
import platform
from itertools import combinations
from pathlib import Path

import cca_zoo
import numpy as np
import scipy
import sklearn
from cca_zoo.linear import CCA, MCCA
from cca_zoo.nonparametric import KCCA

N = 40


def view(number, width):
    i, j = np.arange(N)[:, None].astype(float), np.arange(width)[None, :].astype(float)
    own = np.sin((1.7 + 0.61 * number) * (i + 1) * (j + 1) + 0.4 * j + number)
    first, second = np.sin(0.9 * i + 0.3), np.cos(0.23 * i * i + 0.5)
    return np.round(own + first * np.cos(j + number) + 0.6 * second * np.sin(2 * j + number), 4)


VIEWS = [view(0, 3), view(1, 4), view(2, 3)]


def case(model, n_views, kernel, shrinkage):
    views = VIEWS[:n_views]
    model.fit(views)
    scores, new = model.transform(views), model.transform([v[:2] + 0.1 for v in views])
    pairs = list(combinations(scores, 2))
    mean = [np.mean([np.corrcoef(a[:, j], b[:, j])[0, 1] for a, b in pairs]) for j in range(scores[0].shape[1])]
    return {
        "views": n_views,
        "kernel": kernel,
        "shrinkage": shrinkage,
        "regularization": shrinkage / (1 - shrinkage) * (N - 1) / N,
        "correlations": mean,
        "scores": [(s[:5] / s.std(axis=0)).tolist() for s in scores],
        "new": [(t / s.std(axis=0)).tolist() for s, t in zip(scores, new)],
    }


CASES = {
    "cca": case(CCA(3), 2, "linear", 0.0),
    "mcca": case(MCCA(3, shrinkage=0.2), 3, "linear", 0.2),
    "kcca-linear": case(KCCA(3, kernel="linear", shrinkage=0.1), 2, "linear", 0.1),
    "kcca-rbf": case(KCCA(4, kernel="rbf", gamma=0.4, shrinkage=0.1), 2, "rbf(gamma=0.4)", 0.1),
    "kcca-rbf-weak": case(KCCA(4, kernel="rbf", gamma=0.4, shrinkage=0.01), 2, "rbf(gamma=0.4)", 0.01),
    "kcca-rbf-three": case(KCCA(4, kernel="rbf", gamma=0.4, shrinkage=0.1), 3, "rbf(gamma=0.4)", 0.1),
}

if __name__ == "__main__":
    modules = {"numpy": np, "scipy": scipy, "scikit-learn": sklearn, "cca-zoo": cca_zoo}
    made = {"python": platform.python_version()} | {name: module.__version__ for name, module in modules.items()}
    text = json.dumps({"versions": made, "views": [v.tolist() for v in VIEWS], "cases": CASES})
    (Path(__file__).parent / "kcca.json").write_text(text + "\n")
