"""The kind of rows, as far as columns tell: points of a plane, records of a table, or vectors of
many columns such as pictures and embeddings."""

from __future__ import annotations

from ..data.chosen_scaling import RECORDS

PLANE, TABLE, MANY = "plane", "table", "set of many columns"
FLAT = 3  # columns at most of rows that are looked at as points


def kind_of(columns: int) -> str:
    """Return what rows of so many columns are taken for."""
    if columns <= FLAT:
        return PLANE
    return TABLE if columns <= RECORDS else MANY
