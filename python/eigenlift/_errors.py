"""Exceptions of the package beside those of the compiled part. All are `EigenliftError`s, and so `ValueError`s."""

from ._native import EigenliftError

__all__ = ["EigenliftError", "InvalidParameterError", "UnsupportedError"]


class InvalidParameterError(EigenliftError, TypeError):
    """A parameter of an estimator or function that has the wrong type or a value out of range."""


class UnsupportedError(EigenliftError, NotImplementedError):
    """Something that is not there for this model or these data, such as an export of a kernel that cannot be exported."""
