"""The doctor of Isomap: which number of neighbours, which edges are short circuits, how many dimensions."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_array

from . import _native
from . import _parameters as parameters
from ._account import Account
from ._manifold import dense, edges, known_metric
from ._progress import watching
from ._rows import native
from ._threads import thread_count

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ._types import Progress, Rows


class IsomapReport:
    """What `isomap_doctor` found; `print` gives it in words.

    Attributes
    ----------
    recommended_ : int
        Neighbours to use.
    sentence_ : str
        Why, in plain words.
    sweep_ : list of dict
        For each number of neighbours that was tried: `n_neighbors`, `n_components` of the graph, `giant_share` of the rows in the
        largest, `residual_variance`, `mean_geodesic`, its relative `drop` from the line before and `fall` from the recommended graph,
        `n_suspects` (beyond the first sign of short circuits, edges whose ends are far apart in the last graph before it), and `too_many`: whether none
        was found although the mean distance fell by more than a quarter, so that there are too many short circuits to tell apart.
    examined_ : int
        Neighbours of the graph that was looked at for short circuits.
    suspects_ : ndarray with the fields from, to and length
        Edges of that graph that look like short circuits, the most suspicious first. Give them to `Isomap(cut=...)`.
    evidence_ : list of dict
        For each of them `flow`, `detour`, `angle`, and a `sentence`.
    after_cut_ : Account or None
        The graph without them, with `cut=True`.
    dimensions_ : list of tuple
        Residual variance with 1, 2, … coordinates at the recommended number of neighbours.
    sampled_rows_ : int or None
        Rows that the sweep looked at, when these are not all.
    """

    recommended_: int
    sentence_: str
    sweep_: list[dict[str, Any]]
    examined_: int
    suspects_: NDArray[np.void]
    evidence_: list[dict[str, Any]]
    after_cut_: Any
    dimensions_: list[tuple[int, float]]
    sampled_rows_: int | None

    def __init__(self, values: dict[str, Any], sentences: list[str]) -> None:
        suspects = values["suspects"]
        self.recommended_ = values["recommended"]
        self.sentence_ = values["sentence"]
        self.sweep_ = values["sweep"]
        self.examined_ = values["examined"]
        self.suspects_ = edges([suspect["edge"] for suspect in suspects])
        self.evidence_ = [
            {name: suspect.get(name) for name in ("flow", "detour", "angle")} | {"sentence": sentence}
            for suspect, sentence in zip(suspects, sentences)
        ]
        after = values.get("after_cut")
        self.after_cut_ = None if after is None else Account(after)
        self.dimensions_ = [(count, share) for count, share in values["dimension"]]
        self.sampled_rows_ = values.get("sampled_rows")

    @property
    def cuts(self) -> list[tuple[int, int]]:
        """Ends of the suspected edges, as `Isomap(cut=...)` takes them."""
        return [(int(edge["from"]), int(edge["to"])) for edge in self.suspects_]

    def __str__(self):
        lines = ["neighbors  components  residual variance  mean distance    fall  suspects"]
        for row in self.sweep_:
            shown = [
                "-" if value is None else format(value, style)
                for value, style in (
                    (row["residual_variance"], ".4f"),
                    (row["mean_geodesic"], ".4g"),
                    (row["fall"], ".1%"),
                    (row["n_suspects"], "d"),
                )
            ]
            shown[3] = "too many" if row["too_many"] else shown[3]
            lines.append(
                f"{row['n_neighbors']:>9}  {row['n_components']:>10}  {shown[0]:>17}  {shown[1]:>13}  {shown[2]:>6}  {shown[3]:>8}"
            )
        lines.append(self.sentence_)
        lines += [evidence["sentence"] for evidence in self.evidence_]
        return "\n".join(lines)

    def __repr__(self):
        return f"IsomapReport(recommended_={self.recommended_}, {len(self.suspects_)} suspects in the graph of {self.examined_} neighbours)"


def isomap_doctor(
    X: Rows,
    n_components: int = 2,
    *,
    n_neighbors: int | None = None,
    cut: bool = False,
    metric: str = "euclidean",
    search: str = "auto",
    random_state: int = 0,
    n_jobs: int | None = None,
    verbose: int = 0,
    progress: Progress = None,
) -> IsomapReport:
    """Looks for what goes wrong with Isomap: graphs in parts, short circuits, no single right number of neighbours.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Rows, or distances between all of them with `metric="precomputed"`. The sweep looks at 5000 of them at most.
    n_components : int, default=2
        Coordinates.
    n_neighbors : int or None, default=None
        Looks for short circuits in the graph of so many neighbours; None takes the number that is recommended.
    cut : bool, default=False
        Whether to tell what changes without the edges that look like short circuits.
    metric : {"euclidean", "manhattan", "cosine", "correlation", "precomputed"}, default="euclidean"
        Between rows.
    search : {"auto", "brute", "tree"}, default="auto"
        How neighbours are found.
    random_state : int, default=0
        Of what is sampled.
    n_jobs : int or None, default=None
        Threads; None for the environment's OMP_NUM_THREADS or all processors. Results do not depend on it.
    verbose : int, default=0
        Above 0, it tells how far it has come.
    progress : callable or None, default=None
        Called with (stage, done, total), or a class of bars such as `tqdm.tqdm`.

    Returns
    -------
    IsomapReport
        With `recommended_`, `sentence_`, `sweep_`, `suspects_` and more; print it.

    Examples
    --------
    >>> from sklearn.datasets import make_swiss_roll
    >>> from eigenlift import Isomap, isomap_doctor
    >>> X, _ = make_swiss_roll(600, random_state=0)
    >>> report = isomap_doctor(X)
    >>> isomap = Isomap(n_neighbors=report.recommended_, cut=report.cuts or None).fit(X)
    """
    asked = parameters.of_function("isomap_doctor", locals())
    parameters.integer(asked, "n_components", 1)
    parameters.integer(asked, "n_neighbors", 1, none=True)
    parameters.boolean(asked, "cut")
    parameters.choice(asked, "search", {"auto", "brute", "tree"})
    parameters.integer(asked, "random_state", 0)
    given = "distances" if metric == "precomputed" else "rows"
    if given == "rows" and known_metric(metric) is None:
        parameters.refuse(asked, "metric", "'euclidean', 'manhattan', 'cosine', 'correlation' or 'precomputed'")
    X = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32], order="C", ensure_min_samples=2)
    settings = {
        "n_components": int(n_components),
        "given": given,
        "metric": known_metric(metric) or "euclidean",
        "n_neighbors": None if n_neighbors is None else int(n_neighbors),
        "search": search,
        "seed": int(random_state),
        "cut": bool(cut),
    }
    with watching(asked) as told:
        rows = native(dense(X) if given == "distances" else X)
        text, sentences = _native.examine_isomap(rows, settings, thread_count(n_jobs), told)
    return IsomapReport(json.loads(text), sentences)
