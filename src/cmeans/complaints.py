"""Warnings that point at the caller's own line."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

NOT_FINITE = (
    "X and the kernel give values that are not finite (overflow, or a kernel that returns NaN): "
    "scale the features of X, take float64, or take a normalised kernel."
)
OUR_ROOMS = ("cmeans", "sklearn")


@contextmanager
def naming(owner: str) -> Iterator[None]:
    """Errors about values inside the block name the estimator, which those who notice them do not know."""
    try:
        yield
    except ValueError as error:
        if type(error) is not ValueError or owner in str(error):
            raise
        raise ValueError(f"{owner}: {error}") from error


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the first frame outside this package and scikit-learn's wrappers around it."""
    level = 2
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in OUR_ROOMS:
        frame = frame.f_back
        level += 1
    warnings.warn(message, category, stacklevel=level)
