"""What is told of rows that differ from those of the fit: more than chance would have."""

from __future__ import annotations

import numpy as np
import pytest

from cmeans.cli import drift
from cmeans.data.recipe.table_recipe import TableRecipe

HALF, MORE = np.array([0.5, 0.5, 0.0]), np.array([0.62, 0.38, 0.0])


def test_shares_that_few_rows_have_by_chance_are_not_told() -> None:
    assert drift._of_shares(HALF, MORE, 50, ()).endswith("those of the fit, within 21%")
    assert drift._of_shares(HALF, MORE, 5_000, ()) == (
        "shares since the fit: cluster 0 50% -> 62%, cluster 1 50% -> 38%"
    )


@pytest.mark.parametrize(("rows", "told"), [(20, "within 20%"), (3_000, "10% -> 22%")])
def test_rows_far_from_all_clusters(rows: int, told: str) -> None:
    assert told in drift._of_far(0.1, 0.22, rows)


def test_means_of_few_rows_lie_apart_by_chance() -> None:
    recipe = TableRecipe(columns=("age",))
    parts = recipe, np.array([40.0]), np.array([10.0]), np.array([44.0])
    assert drift._of_columns(*parts, 25).endswith("within 0.6 deviations")
    assert "'age' 40 -> 44 (+0.4 deviations)" in drift._of_columns(*parts, 400)


def test_nothing_is_told_of_a_handful() -> None:
    stored = {"shares": [1.0, 0.0]}
    assert drift.changes(stored, None, TableRecipe(), np.eye(2), [2], 0, ()) is None
