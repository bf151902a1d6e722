"""What a fitted model, of whichever method, has to show: scores, eigenvalues, shares, intervals, names."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._errors import EigenliftError


def is_model(value):
    return hasattr(value, "fit") and hasattr(value, "get_params")


def has_embedding(model):
    """Whether the model has coordinates of the rows of its fit, as manifold methods have."""
    return getattr(model, "embedding_", None) is not None


def scores_of(model, X=None):
    """Scores of rows, or of the rows of the fit where the model holds them.

    Raises
    ------
    ValueError
        When the model holds no scores and no rows were given.
    """
    check_is_fitted(model)
    if X is not None:
        return _in_plane(model, X) if method_of(model) == "kkmeans" else _transformed(model, X)
    if method_of(model) == "kcca" and hasattr(model, "scores_"):
        return np.asarray(model.scores_[0], dtype=np.float64)
    if has_embedding(model):
        return np.asarray(model.embedding_, dtype=np.float64)
    vectors = getattr(model, "eigenvectors_", None)
    if vectors is not None:
        return np.asarray(vectors * np.sqrt(np.abs(model.eigenvalues_)), dtype=np.float64)
    raise EigenliftError(
        f"{type(model).__name__} does not hold the scores of its rows; rows are required. Give them as X=..., or give scores."
    )


def _transformed(model, X):
    """Scores of rows; coordinates of the fit where these rows cannot be placed as new ones, such as distances."""
    try:
        return placed(model, X)
    except (AttributeError, NotImplementedError, TypeError, ValueError):
        n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
        if not has_embedding(model) or len(model.embedding_) != n_rows or not _is_pairwise(model):
            raise
        return np.asarray(model.embedding_, dtype=np.float64)


def _in_plane(model, X):
    """Places of rows in the plane in which clusters are drawn: their own scores are distances."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*valid feature names")
        return np.asarray(model.plane(X), dtype=np.float64)


def clusters_of(model, X):
    """The cluster of each row, counted from 0, of a model that has clusters; None otherwise."""
    if X is None or not is_model(model) or method_of(model) != "kkmeans":
        return None
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*valid feature names")
        return model.predict(X)


def _is_pairwise(model):
    return any(getattr(model, name, None) == "precomputed" for name in ("metric", "affinity", "kernel"))


def placed(model, X):
    """`transform` as an array of numbers, of rows with or without names of columns."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*valid feature names")
        return np.asarray(model.transform(X), dtype=np.float64)


def eigenvalues_of(model):
    """Eigenvalues of the components, in the units of the model's own attribute; empty where there are none."""
    values = getattr(model, "explained_variance_", None)
    if values is None:
        values = getattr(model, "eigenvalues_", None)
    if values is None and hasattr(model, "kernel_pca_"):
        values = model.kernel_pca_.eigenvalues_
    return np.asarray([] if values is None else values, dtype=np.float64)


def is_variance(model):
    """Whether eigenvalues are variances of columns, not nλ of a matrix of all pairs."""
    return hasattr(model, "explained_variance_")


def symbol(model):
    """The letter of an eigenvalue: λ for variances and for graphs, nλ for eigenvalues of a matrix of all pairs."""
    return "λ" if is_variance(model) or method_of(model) in ("laplacian", "lle", "diffusion", "kda") else "nλ"


def method_of(model):
    """The short name that the command line has for the method."""
    name = getattr(model, "_method", None)
    return name or {"KernelPCA": "kpca"}.get(type(model).__name__, type(model).__name__.lower())


def ratios_of(model):
    """The share of the variance that each component holds; empty where that has no meaning."""
    if method_of(model) == "kda":
        # Shares of ratios, not of a variance.
        return np.empty(0)
    values = getattr(model, "explained_variance_ratio_", None)
    if values is None and is_variance(model) and getattr(model, "_model", None) is not None:
        # Of whitening: variances divide by the weight of all rows.
        values = model.explained_variance_ * (model._model.weight / model._model.total)
    values = np.asarray([] if values is None else values, dtype=np.float64)
    return values if np.isfinite(values).all() else np.empty(0)


def intervals_of(model):
    """Lower and upper bounds of the eigenvalues, a row for each, in the units of `eigenvalues_of`; None without any."""
    account, inner = getattr(model, "certificate_", None), getattr(model, "_model", None)
    if account is None or inner is None or not account.get("intervals"):
        return None
    ends = np.array([[interval["low"], interval["high"]] for interval in account["intervals"]])
    if is_variance(model):
        values = eigenvalues_of(model)
        if not len(values):
            return None
        ends *= values[0] / inner.eigenvalues[0]
    return ends


def residual_of(model):
    """J(m) for m = 0, 1, …: what m components leave of the variance, in its units; empty where that has no meaning."""
    ratios, values = ratios_of(model), eigenvalues_of(model)
    if not len(ratios) or not is_variance(model) or not ratios[0] > 0:
        return np.empty(0)
    total = values[0] / ratios[0]
    return np.maximum(total - np.concatenate([[0.0], np.cumsum(values)]), 0.0)


# Outputs of most whitenings are columns, not components; clusters are drawn in a plane of kernel principal components.
_WORDS = {"whiten": "output", "kda": "discriminant", "kkmeans": "kernel component"}


def component_names(model, count):
    """Names of axes: the component, and its share of the variance where that is known."""
    ratios = ratios_of(model) if is_model(model) else []
    word = "coordinate" if is_model(model) and has_embedding(model) else "component"
    if is_model(model) and method_of(model) in _WORDS:
        word, ratios = _WORDS[method_of(model)], []
    return [
        f"{word} {j + 1}" + (f" ({100 * ratios[j]:.1f} % of variance)" if j < len(ratios) else "") for j in range(count)
    ]


def column_names(model, X, count):
    """Names of the columns of rows: of a table, of the fit, or x1, x2, …"""
    # A table of pyarrow calls its data columns.
    names = getattr(X, "column_names", getattr(X, "columns", None))
    if names is None or len(names) != count:
        names = getattr(model, "feature_names_in_", None)
    if names is None or len(names) != count:
        return [f"x{j + 1}" for j in range(count)]
    return [str(name) for name in names]


class Labels:
    """What points are coloured by: classes with codes and names, or numbers.

    Text, truth values, categories and whole numbers of at most 20 values are classes, all else numbers.
    """

    LIMIT = 20

    def __init__(self, y, n_rows):
        name = getattr(y, "name", None)
        self.name = str(name) if name is not None else "y"
        values = np.asarray(y)
        if values.ndim == 2 and values.shape[1] == 1:
            values = values[:, 0]
        if values.shape != (n_rows,):
            raise EigenliftError(
                f"y has the shape {values.shape}; one label for each of the {n_rows} rows is required. Give y of that length."
            )
        self.values = self.codes = None
        self.classes, self.left_out = [], 0
        if values.dtype.kind == "f" and not self._are_classes(values):
            self.values = values.astype(np.float64)
        elif values.dtype.kind in "iu" and len(np.unique(values)) > self.LIMIT:
            self.values = values.astype(np.float64)
        else:
            self._group(values)

    @staticmethod
    def _are_classes(values):
        known = np.unique(values[np.isfinite(values)])
        return 0 < len(known) <= Labels.LIMIT and bool((known == np.round(known)).all())

    def _group(self, values):
        """The most frequent classes by name, and the rest as one without a look of its own."""
        self.texts = np.array([_text(value) for value in values], dtype=object)
        names, codes, counts = np.unique(self.texts.astype(str), return_inverse=True, return_counts=True)
        kept = np.argsort(-counts, kind="stable")[: self.LIMIT]
        kept = sorted(kept, key=lambda k: _natural(names[k]))
        place = np.full(len(names), len(kept))
        place[kept] = np.arange(len(kept))
        self.codes, self.classes = place[codes.ravel()], [str(names[k]) for k in kept]
        self.left_out = len(names) - len(kept)

    @property
    def texts_or_values(self):
        """The labels again, one for each row."""
        return self.values if self.codes is None else self.texts

    @property
    def legend(self):
        """Names of the classes, the last for all that have none of their own."""
        return [*self.classes, f"other ({self.left_out})"] if self.left_out else self.classes


def _text(value):
    """A class as text; 1.0 is 1, and what is missing has a name too."""
    if value is None or (isinstance(value, (float, np.floating)) and np.isnan(value)):
        return "(missing)"
    return str(int(value)) if isinstance(value, (float, np.floating)) and float(value).is_integer() else str(value)


def _natural(name):
    """Numbers by value, before other names by alphabet."""
    try:
        return 0, float(name), name
    except ValueError:
        return 1, 0.0, name
