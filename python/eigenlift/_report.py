"""A report: one HTML file that tells what was done, shows it and says how to do it again."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import secrets
from typing import TYPE_CHECKING, Any

import numpy as np
import sklearn
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from . import _native, kernels
from ._base import Estimator
from ._errors import EigenliftError, InvalidParameterError
from ._report_kernelised import correlations_table, fit_words, pictures, svg_of, words_of
from .plot import _model as known

if TYPE_CHECKING:
    from collections.abc import Iterable
    from os import PathLike

    from numpy.typing import ArrayLike

    from ._types import Rows

# Numbers of the table that a report holds at most, so that it opens at once; scores are always there.
_MOST_NUMBERS = 400_000
# Points, components, lines of a table and points of a picture that are told one by one.
_MOST_POINTS, _MOST_AXES, _MOST_LINES, _MOST_IN_PICTURE = 1_000_000, 12, 40, 2000


def report(
    model: Any,
    X: Rows,
    y: ArrayLike | None = None,
    path: str | PathLike[str] = "report.html",
    title: str | None = None,
    *,
    feature_names: Iterable[str] | None = None,
    image: tuple[int, int] | None = None,
) -> str:
    """Writes one self-contained HTML file about a fitted model: warnings, scores to explore, numbers, pictures, plan, data.

    The file needs no network and no server. It appears under its name only when it is complete.

    Parameters
    ----------
    model : fitted estimator
        Of any class of this package with scores.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Rows to show, usually those of the fit; for a `KernelCCA` those of the first table.
    y : array-like of shape (n_samples,), default=None
        What points are coloured by, as in `plot.scatter`.
    path : str or path-like, default="report.html"
        Where to.
    title : str, default=None
        Of the page; None says the method and the size of the table.
    feature_names : sequence of str, default=None
        Names of the columns; None takes those of a table or of the fit.
    image : tuple of int, default=None
        Height and width where rows are images, which are then shown.

    Returns
    -------
    str
        The path.

    Examples
    --------
    >>> import tempfile
    >>> import eigenlift
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = eigenlift.KernelPCA(n_components=3, kernel="rbf", gamma=0.2).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = eigenlift.report(model, X, y, folder + "/iris.html")
    ...     text = open(path, encoding="utf-8").read()
    >>> "KernelPCA(gamma=0.2" in text
    True
    """
    if not isinstance(model, Estimator):
        raise InvalidParameterError(
            f"model is {type(model).__name__}; a fitted estimator of eigenlift is required. Fit one, and give it."
        )
    check_is_fitted(model)
    path = os.fspath(path)
    story = _Story(model, X, y, feature_names, image)
    page = _native.report_html(json.dumps(story.told(title, path), ensure_ascii=False, allow_nan=False))
    _write(path, page)
    return path


def _write(path, text):
    """Writes beside the name first, so that nobody reads half a file."""
    folder, name = os.path.split(path)
    unfinished = os.path.join(folder, f".{name}.{secrets.token_hex(4)}.part")
    try:
        with open(unfinished, "x", encoding="utf-8", newline="\n") as file:
            file.write(text)
        os.replace(unfinished, path)
    except BaseException:
        if os.path.exists(unfinished):
            os.unlink(unfinished)
        raise


class _Story:
    """A model and its rows, to be told."""

    def __init__(self, model, X, y, feature_names, image):
        self.model, self.given = model, X
        self.scores = known.scores_of(model, X)
        self.rows = X if sparse.issparse(X) else np.asarray(X)
        self.n_rows, self.n_columns = self.rows.shape
        self.labels = None if y is None else known.Labels(y, self.n_rows)
        self.names = known.column_names(model, X, self.n_columns)
        if feature_names is not None:
            self.names = [str(name) for name in feature_names]
        if len(self.names) != self.n_columns:
            raise EigenliftError(
                f"{len(self.names)} feature_names, {self.n_columns} columns; one for each is required. Give as many."
            )
        self.image = None if image is None else [int(size) for size in image]
        if self.image is not None and (len(self.image) != 2 or np.prod(self.image) != self.n_columns):
            raise EigenliftError(
                f"image={image!r} for rows with {self.n_columns} columns; height times width must be that. Give the size of an image."
            )

    def told(self, title, path):
        """The report as the compiled part takes it."""
        sections = [
            ("The embedding", [self._points()] if self.scores.shape[1] else []),
            ("The numbers", self._numbers()),
            ("How far they can be trusted", self._trust()),
            ("Pictures", self._pictures()),
            ("What was decided, and why", self._plan()),
            ("The data", self._data()),
            ("How to do it again", self._again(path)),
        ]
        size = f"{_counted(self.n_rows, 'row')}, {_counted(self.n_columns, 'data column')}"
        return {
            "title": str(title)
            if title is not None
            else f"{type(self.model).__name__} of {_counted(self.n_rows, 'row')}",
            "subtitle": size,
            "warnings": self._warnings(),
            "sections": [{"heading": heading, "blocks": blocks} for heading, blocks in sections if blocks],
        }

    def _warnings(self):
        """What the fit warned of, and what a choice warned of."""
        inner, choice = getattr(self.model, "_model", None), getattr(self.model, "choice_", None)
        told = [] if inner is None else list(inner.warnings)
        told += [] if choice is None else [text for text in choice.get("warnings", ()) if text not in told]
        return told

    def _points(self):
        step = -(-self.n_rows // _MOST_POINTS)
        scores = self.scores[::step, :_MOST_AXES]
        shown = self.n_rows if step == 1 else len(scores)
        caption = "Hover to see a row, click to keep it, drag to select."
        points = {
            "kind": "points",
            "name": "embedding",
            "axes": known.component_names(self.model, scores.shape[1]),
            "scores": _numbers(scores),
            "equal_aspect": known.has_embedding(self.model)
            and known.symbol(self.model) == "nλ"
            and scores.shape[1] > 1,
            "image": self.image,
            "row_numbers": list(range(1, self.n_rows + 1, step)) if step > 1 else [],
        }
        if self.labels is not None:
            points["color"] = self._color(step)
        if shown * self.n_columns <= _MOST_NUMBERS and self.rows.dtype.kind in "biuf":
            rows = self.rows[::step]
            points["rows"] = {
                "names": self.names,
                "values": _numbers(rows.toarray() if sparse.issparse(rows) else rows),
            }
        else:
            caption += " The table is too large for its rows to be in this file; row numbers are."
        if step > 1:
            caption += f" One row in {step} is shown."
        if self.scores.shape[1] > _MOST_AXES:
            caption += f" The first {_MOST_AXES} of {self.scores.shape[1]} components are here."
        return points | {"caption": caption}

    def _color(self, step):
        if self.labels.values is not None:
            return {"kind": "values", "name": self.labels.name, "values": _numbers(self.labels.values[::step])}
        return {
            "kind": "classes",
            "name": self.labels.name,
            "labels": [str(text) for text in self.labels.texts[::step]],
        }

    def _numbers(self):
        """Eigenvalues with what is known of each, and what the method found beside them."""
        values, ratios, ends = (
            known.eigenvalues_of(self.model),
            known.ratios_of(self.model),
            known.intervals_of(self.model),
        )
        residuals = (getattr(self.model, "certificate_", None) or {}).get("residuals", [])
        blocks = []
        if len(values):
            columns = [("component", [str(j + 1) for j in range(len(values))])]
            columns.append((f"eigenvalue {known.symbol(self.model)}", [f"{value:.6g}" for value in values]))
            if len(ratios):
                columns.append(("share %", [f"{100 * share:.2f}" for share in ratios]))
                columns.append(("sum %", [f"{100 * share:.2f}" for share in np.cumsum(ratios)]))
            if ends is not None:
                columns.append(("at least", [f"{low:.9g}" for low in ends[:, 0]]))
                columns.append(("at most", [f"{high:.9g}" for high in ends[:, 1]]))
            if len(residuals):
                columns.append(("residual", [f"{residual:.1e}" for residual in residuals]))
            n_lines = min(_MOST_LINES, len(values))
            rows = [[cells[j] if j < len(cells) else "" for _, cells in columns] for j in range(n_lines)]
            caption = "" if n_lines == len(values) else f"The first {n_lines} of {len(values)} components."
            blocks.append({"kind": "table", "heading": [name for name, _ in columns], "rows": rows, "caption": caption})
        if hasattr(self.model, "training_correlations_"):
            blocks.append(correlations_table(self.model))
        facts = _found(self.model)
        return [*blocks, {"kind": "facts", "rows": facts}] if facts else blocks

    def _trust(self):
        """The certificate in words, less its lines for single components, which the table has; and how choices were made."""
        lines, blocks = [], []
        account, choice = getattr(self.model, "certificate_", None), getattr(self.model, "choice_", None)
        if account is not None:
            lines += [line for line in str(account).split("\n") if not line.startswith("component ")]
            if account.get("intervals"):
                lines.insert(0, _interval_words(account))
            if account.get("ties"):
                lines.append("some eigenvalues are tied: their components are determined only as a subspace")
        lines += [self.model.statement_] if hasattr(self.model, "statement_") else []
        if choice is not None and "sentence" in choice:
            lines.append(choice["sentence"])
        if choice is not None and "rules" in choice:
            rules = [[rule["name"], _shown(rule["n_components"]), rule["note"]] for rule in choice["rules"]]
            if choice["consensus"] == 0:
                caption = "No component stands out from noise; 1 is kept."
            else:
                agreed = f"{choice['agreement']} of the four rules before the last lie within one of it"
                caption = f"{choice['consensus']} kept: {agreed}."
            blocks.append(
                {"kind": "table", "heading": ["rule", "components", "why"], "rows": rules, "caption": caption}
            )
        lines = [_sentence(line) for line in lines if line.strip()]
        return [{"kind": "text", "lines": lines}, *blocks] if lines else blocks

    def _pictures(self):
        values = known.eigenvalues_of(self.model)
        blocks = []
        if len(values):
            ends = known.intervals_of(self.model)
            ends = (
                None if ends is None or len(ends) != len(values) else [(float(low), float(high)) for low, high in ends]
            )
            svg = _native.scree_svg(
                values.tolist(), known.ratios_of(self.model).tolist(), ends, known.residual_of(self.model).tolist(), ""
            )
            words = "Eigenvalues." if ends is None else "Eigenvalues, with the intervals that are proved for them."
            blocks.append(_figure("scree", svg, words))
        blocks += pictures(self.model, _figure)
        return blocks + (self._contours() if self.n_columns == 2 and len(self.rows.shape) == 2 else [])

    def _contours(self):
        """A figure, where matplotlib is there and new rows can be placed; where it fails, the reason."""
        try:
            import matplotlib.pyplot as plt
        except ImportError:
            return []
        from . import plot

        # Every point is an element of the picture.
        step = -(-self.n_rows // _MOST_IN_PICTURE)
        labels = None if self.labels is None else self.labels.texts_or_values[::step]
        try:
            drawn = plot.contours(self.model, self.rows[::step], labels)
        except (AttributeError, NotImplementedError):
            return []
        except ValueError as error:
            return [{"kind": "text", "lines": [f"The contour lines could not be drawn: {error}"]}]
        try:
            svg = svg_of(drawn)
        finally:
            plt.close(drawn)
        return [_figure("contours", svg, "Contour lines of each component over the plane of the rows.")]

    def _plan(self):
        plan = getattr(self.model, "plan_", None)
        return [] if plan is None else [{"kind": "preformatted", "text": str(plan).rstrip()}]

    def _data(self):
        facts = [["rows", str(self.n_rows)], ["data columns", str(self.n_columns)]]
        shown = ", ".join(self.names[:_MOST_LINES]) + (", …" if len(self.names) > _MOST_LINES else "")
        facts.append(["names", shown])
        kind = (
            f"{self.rows.dtype}, sparse with {self.rows.nnz} entries"
            if sparse.issparse(self.rows)
            else str(self.rows.dtype)
        )
        facts.append(["numbers", kind])
        if self.labels is not None:
            facts.append(["labels", self._label_words()])
        if not sparse.issparse(self.rows) and self.rows.dtype.kind in "iuf":
            digest = hashlib.sha256(np.ascontiguousarray(self.rows).tobytes()).hexdigest()
            facts.append(["SHA-256 of the rows", digest])
        blocks = [{"kind": "facts", "rows": facts}]
        if self.n_columns <= _MOST_LINES and not sparse.issparse(self.rows) and self.rows.dtype.kind in "biuf":
            rows = self.rows.astype(np.float64)
            measures = np.stack([rows.mean(axis=0), rows.std(axis=0), rows.min(axis=0), rows.max(axis=0)], axis=1)
            lines = [[name, *(f"{value:.5g}" for value in line)] for name, line in zip(self.names, measures)]
            heading = ["column", "mean", "deviation", "least", "largest"]
            blocks.append({"kind": "table", "heading": heading, "rows": lines, "caption": "Deviations divide by n."})
        return blocks

    def _label_words(self):
        if self.labels.values is not None:
            return f"{self.labels.name}: numbers"
        count = len(set(self.labels.texts))
        return f"{self.labels.name}: {_counted(count, 'class', 'classes')}"

    def _again(self, path):
        model, name = self.model, type(self.model).__name__
        written = re.sub(r"\s*\n\s*", " ", model.__repr__(N_CHAR_MAX=10**6))
        used = [kind for kind in kernels.__all__ if re.search(rf"\b{kind}\(", written) and kind != name]
        lines = ["import eigenlift", f"from eigenlift import {name}"]
        lines += [f"from eigenlift.kernels import {', '.join(used)}"] if used else []
        rest = "" if self.labels is None else ", y"
        lines += [f"model = {written}.fit({fit_words(model)})", f"eigenlift.report(model, X{rest}, path={path!r})"]
        versions = [
            ["eigenlift", _native.__version__],
            ["Python", platform.python_version()],
            ["NumPy", np.__version__],
            ["scikit-learn", sklearn.__version__],
            ["system", f"{platform.system()} on {platform.machine()}"],
        ]
        words = ["The same program on the same rows gives the same numbers, for any number of threads."]
        return [
            {"kind": "command", "text": "\n".join(lines)},
            {"kind": "facts", "rows": versions},
            {"kind": "text", "lines": words},
        ]


def _sentence(words):
    """With a capital and a full stop; names of kernels stay as they are."""
    first = words[:1].upper() if words.split()[0].rstrip(":,").isalpha() else words[:1]
    return first + words[1:].rstrip(".") + "."


def _shown(count):
    return "-" if count is None else str(count)


def _counted(count, word, several=None):
    return f"{count} {word}" if count == 1 else f"{count} {several or word + 's'}"


def _numbers(values):
    """Numbers in a list, None for those that are not finite."""
    flat = np.asarray(values, dtype=np.float64).ravel()
    if np.isfinite(flat).all():
        return flat.tolist()
    return [value if np.isfinite(value) else None for value in flat.tolist()]


def _figure(name, svg, caption):
    return {"kind": "figure", "name": name, "svg": svg, "caption": caption}


def _interval_words(account):
    """How wide the widest interval is, beside its eigenvalue."""
    ends = np.array([[interval["low"], interval["high"]] for interval in account["intervals"]])
    width = float(np.max((ends[:, 1] - ends[:, 0]) / np.maximum(np.abs(ends).max(axis=1), np.finfo(float).tiny)))
    apart = f"{100 * width:.2g} %" if width > 1e-3 else f"a part of {width:.1e}"
    return f"an eigenvalue lies between the bounds beside each component, which are at most {apart} of it apart"


_FOUND = {
    "rank_": "directions that are whitened",
    "distance_": "mean squared distance by which rows are moved",
    "noise_variance_": "mean variance left out",
    "component_sizes_": "rows in each part of the graph",
    "residual_variance_": "residual variance of distances",
    "negative_share_": "share of negative eigenvalues",
    "trustworthiness_": "trustworthiness",
    "continuity_": "continuity",
    "reconstruction_error_": "reconstruction error",
    "kernel_": "kernel",
    "kernels_": "kernels",
    "regularization_": "regularisation κ",
    "training_accuracy_": "accuracy on the rows of the fit",
    "held_out_accuracy_": "accuracy on held-out rows, and its standard error",
    "inertia_": "sum of squared distances to the nearest mean",
    "cluster_sizes_": "rows in each cluster",
    "left_out_": "share that features leave out of the kernel",
}


def _found(model):
    """What a fit found beside its components, as names and values."""
    facts = []
    for name, words in _FOUND.items():
        value = getattr(model, name, None)
        if value is None or (isinstance(value, list) and not [entry for entry in value if entry is not None]):
            continue
        facts.append([words, words_of(value)])
    return facts
