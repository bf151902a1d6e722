"""What a fit says of itself: plans and certificates, as values to be read and printed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator


class Account(Mapping[str, Any]):
    """Named values, read as attributes or as a mapping; `print` gives them in words."""

    def __init__(self, values, text=None):
        self._values = dict(values)
        self._text = text

    @classmethod
    def from_json(cls, text, words=None):
        return cls(json.loads(text), words)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            value = self._values[name]
        except KeyError:
            raise AttributeError(f"no {name!r} here; there are {', '.join(self._values)}") from None
        return Account(value) if isinstance(value, dict) else value

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __dir__(self):
        return [*super().__dir__(), *self._values]

    def __str__(self):
        return self._text if self._text is not None else repr(self)

    def __repr__(self):
        return f"{type(self).__name__}({self._values!r})"


class Plan(Account):
    """What was decided, with one reason for each decision."""

    @classmethod
    def of_no_variance(cls, reason, shape, n_components):
        """The plan of a fit that ended before there was anything to plan."""
        values = {
            "n_samples": shape[0],
            "n_features": shape[1],
            "n_components": n_components,
            "route": "none",
            "reasons": [str(reason)],
        }
        text = f"samples      {shape[0]} × {shape[1]}\ncomponents   {n_components}\nroute        none\n  because {reason}\n"
        return cls(values, text)


class Certificate(Account):
    """What is proved about the eigenvalues nλ.

    `residuals` holds ‖K_c v − θv‖/θ for each component, `intervals` bounds between which an eigenvalue lies, `bounds` what is known
    about all together, `ties` components that are determined only as a subspace.
    """

    @classmethod
    def of_no_variance(cls):
        """That of rows without variance, which states nothing: `bounds` is None."""
        return cls({"residuals": [], "intervals": [], "bounds": None, "ties": []})

    @property
    def worst_residual(self) -> float:
        """The largest of the residuals; NaN before a product with the matrix itself was made."""
        return max(self._values["residuals"], default=float("nan"))

    def __str__(self):
        """A line for each component, then what is known about all."""
        residuals, intervals = self._values["residuals"], self._values["intervals"]
        lines = []
        for at in range(max(len(residuals), len(intervals))):
            words = [f"component {at + 1}:"]
            if at < len(intervals):
                words.append(f"eigenvalue between {intervals[at]['low']:.9g} and {intervals[at]['high']:.9g},")
            words.append(f"residual {residuals[at]:.1e}" if at < len(residuals) else "no residual: not certified yet")
            lines.append(" ".join(words))
        bounds = self._values.get("bounds")
        if bounds is None:
            return "nothing to certify: the rows have no variance"
        lines.append(f"grounds: {bounds['grounds']}; {bounds['n_certified']} components certified as leading")
        if bounds.get("missed") is not None:
            lines.append(f"no other eigenvalue exceeds {bounds['missed']:.6g}")
        if bounds.get("sampled_error") is not None:
            lines.append(f"error of kernel values on sampled pairs: {bounds['sampled_error']:.2e} (an estimate)")
        return "\n".join(lines)
