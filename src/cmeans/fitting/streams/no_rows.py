"""Chunks of a stream that have no rows, and rows that are in no cluster yet."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...data.arrays import foreign_like
from ..validation import refuse_width


def has_no_rows(X: Any) -> bool:
    """True of rows that are none, such as a chunk in which nothing came."""
    shape: Any = getattr(X, "shape", None)
    if shape is None:
        return isinstance(X, (list, tuple)) and len(X) == 0
    return len(shape) == 2 and shape[0] == 0


def refuse_other_width(model: Any, X: Any) -> None:
    """Refuse no rows of other columns than those of the fit."""
    known = vars(model).get("n_features_in_")
    if known is not None and hasattr(X, "shape"):
        refuse_width(model, X.shape[1])


def of_no_cluster(X: Any, n_rows: int, n_clusters: int, dtype: Any) -> dict[str, Any]:
    """Return the attributes of rows that are in no cluster yet, or are none, in the array library
    of X."""
    u = np.zeros((n_rows, n_clusters), dtype)
    found = {
        "labels_": np.full(n_rows, -1, np.int64),
        "memberships_": u,
        "noise_membership_": np.zeros(n_rows, dtype),
    }
    return {
        **{name: foreign_like(value, X) for name, value in found.items()},
        "_nearest": np.full(n_rows, np.nan),
    }
