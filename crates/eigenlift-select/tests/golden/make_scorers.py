"""Golden file scorers.json for the scorers of feature selection, from scikit-learn 1.9.

    .venv/bin/python make_scorers.py      in the environment of crates/eigenlift/tests/golden/make.py

Rows whose number divides by 5 are held out. Each case is a set of columns of a built-in data set (`goal`: the label's
classes; their later half against the others, "halves"; or the number of the column that is predicted), a scorer with its parameter, and its score on the rows held out: accuracy or R².

On two sets of digits, [10, 34, 46] and [2, 7, 27, 29, 46], covariances with divisors n and n less the number of classes give other accuracies.
"""
import csv
import json
from pathlib import Path

import numpy as np
import sklearn
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier


def read(name):
    lines = list(csv.reader((Path(__file__).parents[3] / "eigenlift/data" / f"{name}.csv").open()))[1:]
    return np.array([line[:-1] for line in lines], dtype=float), np.array([line[-1] for line in lines])


MAKE = {
    "ridge": lambda value, classes: (RidgeClassifier if classes else Ridge)(alpha=value, solver="svd"),
    "lda": lambda value, classes: LinearDiscriminantAnalysis(solver="svd"),
    "logistic": lambda value, classes: LogisticRegression(C=value, solver="newton-cholesky", tol=1e-10, max_iter=10_000),
}
SETS = {
    "iris": [[0], [0, 1], [2, 3], [1, 3], [0, 1, 2, 3]],
    "digits": [[21], [21, 42], [10, 34, 46], [2, 7, 27, 29, 46], [10, 20, 30, 36, 43, 51], [2, 5, 10, 13, 18, 21, 26, 28, 33, 36, 42, 43, 46, 53, 58, 61]],
}

cases = []
for name, sets in SETS.items():
    x, labels = read(name)
    names = np.unique(labels)
    halves = 2 * np.searchsorted(names, labels) >= len(names)
    held_out = np.arange(len(x)) % 5 == 0
    for columns in sets:
        for scorer, value in [("ridge", 0.1), ("ridge", 50.0), ("lda", 0.0), ("logistic", 0.05), ("logistic", 1.0), ("logistic", 100.0)]:
            goals = ["classes", "halves"] + ([3 if name == "iris" else 35] if scorer == "ridge" else [])
            for goal in goals:
                if goal in columns:
                    continue
                named = goal in ("classes", "halves")
                y = (labels if goal == "classes" else halves) if named else x[:, goal]
                model = MAKE[scorer](value, named).fit(x[~held_out][:, columns], y[~held_out])
                score = float(model.score(x[held_out][:, columns], y[held_out]))
                cases.append({"data": name, "columns": columns, "goal": goal, "scorer": scorer, "value": value, "score": score})

out = {"sklearn": sklearn.__version__, "numpy": np.__version__, "cases": cases}
Path(__file__).with_name("scorers.json").write_text(json.dumps(out, indent=None) + "\n")
