"""The fuzzifier: a number, or determined by the rows."""

from __future__ import annotations

import numbers
from typing import Any

from .space import Geometry
from .validation import real


def settled_m(value: Any, name: str, estimator_name: str, geometry: Geometry) -> float:
    """Return the fuzzifier as given, or half-way to the critical one."""
    return geometry.fuzzifier.automatic if check_m(value, name, estimator_name) is None else float(value)


def check_m(value: Any, name: str, estimator_name: str) -> float | None:
    """Return the fuzzifier as a number; None for "auto"."""
    if isinstance(value, str) and value == "auto":
        return None
    if isinstance(value, numbers.Real) and value == 1:
        raise ValueError(
            f"{estimator_name}({name}={value!r}): {name} must be greater than 1; for m = 1, hard memberships, use KernelKMeans."
        )
    return real(value, name, estimator_name, least=1.0, above=True, others='"auto" or ')
