"""Checks of estimator parameters, with errors worded as scikit-learn words them."""

from __future__ import annotations

import math
import numbers
import re

from ._errors import InvalidParameterError


def of_function(name, given):
    """Parameters of a function, by name, in the form that checks of estimators take."""
    asked = type(name, (), {})()
    asked.__dict__.update(given)
    return asked


def refuse(estimator, name, required):
    """Raises the error for parameter `name`, which must be `required`."""
    value = getattr(estimator, name)
    raise InvalidParameterError(
        f"The {name!r} parameter of {type(estimator).__name__} must be {required}. Got {value!r} instead."
    )


def is_integer(value):
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def is_real(value):
    return isinstance(value, numbers.Real) and not isinstance(value, bool) and not math.isnan(value)


def integer(estimator, name, low, *, none=False):
    """An integer of at least `low`, or None where that is allowed."""
    value = getattr(estimator, name)
    if (none and value is None) or (is_integer(value) and value >= low):
        return
    refuse(estimator, name, f"an int in the range [{low}, inf)" + (" or None" if none else ""))


def real(estimator, name, low, *, none=False, open_low=False):
    """A number of at least `low` (above it, if `open_low`), or None where that is allowed."""
    value = getattr(estimator, name)
    if none and value is None:
        return
    if is_real(value) and math.isfinite(value) and (value > low if open_low else value >= low):
        return
    bracket = "(" if open_low or low == -math.inf else "["
    refuse(estimator, name, f"a float in the range {bracket}{low}, inf)" + (" or None" if none else ""))


def choice(estimator, name, options, *, none=False):
    """One of some words."""
    value = getattr(estimator, name)
    if (none and value is None) or (isinstance(value, str) and value in options):
        return
    words = ", ".join(repr(option) for option in sorted(options))
    refuse(estimator, name, f"a str among {{{words}}}" + (" or None" if none else ""))


def instance(estimator, name, kind, *, none=False):
    """An object of a class."""
    value = getattr(estimator, name)
    if (none and value is None) or isinstance(value, kind):
        return
    refuse(estimator, name, f"an instance of {kind.__name__!r}" + (" or None" if none else ""))


def boolean(estimator, name):
    """True or False."""
    value = getattr(estimator, name)
    if isinstance(value, bool) or type(value).__name__ == "bool":
        return
    refuse(estimator, name, "an instance of 'bool'")


_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_UNITS |= {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}


def memory(estimator, name="memory"):
    """Bytes from a number or a text such as "400MB"; None when none was given."""
    value = getattr(estimator, name)
    if value is None:
        return None
    if is_integer(value) and value > 0:
        return int(value)
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*", value) if isinstance(value, str) else None
    if match and match[2].upper() in _UNITS and float(match[1]) > 0:
        return max(1, int(float(match[1]) * _UNITS[match[2].upper()]))
    refuse(estimator, name, "a number of bytes, a text such as '400MB' or '2GiB', or None")
