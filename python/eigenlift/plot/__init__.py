"""Pictures of models and of what was found about them, as matplotlib figures.

Every function returns a matplotlib `Figure`; those that draw into one axes take it as `ax`. Figures are made by pyplot, so
`matplotlib.pyplot.show()` shows them and `close()` frees them. matplotlib is imported when the first picture is drawn; the extra
`eigenlift[plot]` installs it. Colours are those of Okabe and Ito, and at the width of a column, 3.4 inches, no letter is smaller
than 7 points.
"""

from ._canonical import canonical, correlations, regularization
from ._choices import choice, doctor, sensitivity
from ._components import contours, curves
from ._images import preimages
from ._matrices import gram, whitening
from ._path import path
from ._scores import graph, scatter
from ._spectrum import scree

__all__ = [
    "canonical",
    "choice",
    "contours",
    "correlations",
    "curves",
    "doctor",
    "gram",
    "graph",
    "path",
    "preimages",
    "regularization",
    "scatter",
    "scree",
    "sensitivity",
    "whitening",
]
