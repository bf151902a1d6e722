"""Golden file minka.json for the rule of Minka, from scikit-learn 1.9.

    .venv/bin/python make_minka.py      in the environment of make.py

For each data set: n, d, the eigenvalues of the covariance divided by n - 1 (`explained_variance_`), the log evidence of
m = 1 ... d - 1 (`_assess_dimension`; null for minus infinity) and the number that PCA(n_components="mle") chooses.
"""
import json
import math
from pathlib import Path

import numpy as np
import sklearn
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.decomposition import PCA
from sklearn.decomposition._pca import _assess_dimension

random = np.random.default_rng(7)
planted = random.normal(size=(500, 5)) * 3 @ random.normal(size=(5, 40)) + random.normal(size=(500, 40))
SETS = {
    "iris": load_iris().data,
    "wine": load_wine().data,
    "breast-cancer": load_breast_cancer().data,
    "digits": load_digits().data,
    "digits-varying": load_digits().data[:, load_digits().data.std(axis=0) > 0],
    "planted": planted,
    "noise": random.normal(size=(300, 12)),
}

cases = []
for name, x in SETS.items():
    n, d = x.shape
    values = PCA(svd_solver="full").fit(x).explained_variance_
    evidences = [float(_assess_dimension(values, m, n)) for m in range(1, d)]
    chosen = int(PCA(n_components="mle", svd_solver="full").fit(x).n_components_)
    print(name, n, d, chosen)
    cases.append({
        "name": name, "n": n, "d": d, "chosen": chosen, "values": values.tolist(),
        "evidences": [e if math.isfinite(e) else None for e in evidences],
    })
out = {"sklearn": sklearn.__version__, "numpy": np.__version__, "cases": cases}
Path(__file__).with_name("minka.json").write_text(json.dumps(out, indent=None) + "\n")
