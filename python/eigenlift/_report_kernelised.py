"""What a report tells of kernelised methods: canonical correlations, discriminants and clusters."""

from __future__ import annotations

import io

import numpy as np

# Lines of a table.
_MOST_LINES = 40


def correlations_table(model):
    """The canonical correlations of a model, as a table of the report."""
    count = min(_MOST_LINES, len(model.correlations_))
    columns = [
        ("component", [str(j + 1) for j in range(count)]),
        ("correlation, held back by κ", [f"{value:.4f}" for value in model.correlations_[:count]]),
        ("of the rows of the fit", [f"{value:.4f}" for value in model.training_correlations_[:count]]),
    ]
    if len(model.held_out_correlations_):
        pairs = zip(model.held_out_correlations_[:count], model.held_out_errors_[:count])
        columns.append(("of held-out rows", [f"{mean:.4f} ± {error:.4f}" for mean, error in pairs]))
    if model.p_values_ is not None:
        columns.append(("p", [f"{value:.3g}" for value in model.p_values_[:count]]))
    rows = [[cells[j] if j < len(cells) else "" for _, cells in columns] for j in range(count)]
    caption = "Correlations of held-out rows are what new rows may be expected to have."
    if model.null_95_ is not None:
        caption += f" 95 % of permutations have no correlation above {model.null_95_:.4f}."
    return {"kind": "table", "heading": [name for name, _ in columns], "rows": rows, "caption": caption}


def pictures(model, figure):
    """The pictures of plot that a kernelised model has, by `figure(name, svg, caption)`; none without matplotlib."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        return []
    from . import plot

    drawn = []
    if hasattr(model, "training_correlations_"):
        words = "Correlation of each component on the rows of the fit and on held-out rows."
        drawn.append(("correlations", plot.correlations(model), words))
        if hasattr(model, "scores_"):
            words = "Scores of the first table against those of the second, first component."
            drawn.append(("canonical", plot.canonical(model), words))
    if getattr(model, "regularization_curve_", None) is not None:
        words = "What held-out rows say of each regularisation that was tried."
        drawn.append(("regularization", plot.regularization(model), words))
    blocks = []
    for name, picture, words in drawn:
        blocks.append(figure(name, svg_of(picture), words))
        plt.close(picture)
    return blocks


def svg_of(drawn):
    """A figure as SVG; the same figure twice is the same text."""
    import matplotlib.pyplot as plt

    file = io.StringIO()
    with plt.rc_context({"svg.hashsalt": "eigenlift", "svg.fonttype": "path"}):
        drawn.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    return file.getvalue()


def fit_words(model):
    """What `fit` was given, in the words of a program."""
    if hasattr(model, "n_views_"):
        return ", ".join(["X", "Y", *(f"view{place + 1}" for place in range(2, model.n_views_))])
    return "X, y" if hasattr(model, "classes_") else "X"


def words_of(value):
    """A number, a text, or some of them."""
    if value is None:
        return "none"
    if isinstance(value, (list, tuple, np.ndarray)):
        return ", ".join(words_of(entry) for entry in value[:12]) + (", …" if len(value) > 12 else "")
    return str(value) if isinstance(value, (str, int, np.integer)) else f"{value:.6g}"
