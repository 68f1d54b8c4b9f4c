"""Plans are promises: a fit in a process of its own takes no more than it was told to take, and at
least half of that where it is much."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.memory_plans import CASES, LEAST, Case, case, measured

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(), reason="Linux tells the largest resident memory"
)
SMALL = case("FuzzyCMeans", "array", (60_000, 4), kernel="linear", n_clusters=100, max_iter=2)


@pytest.mark.slow  # a process that imports the package and makes its rows
def test_a_small_fit_takes_no_more_than_is_told() -> None:
    found = measured(SMALL, SMALL.sizes[0])
    memberships = 60_000 * 8 * 100
    assert memberships < found["peak"] <= found["plan"] < 3 * memberships


@pytest.mark.minutes
@pytest.mark.parametrize(
    ("one", "size"),
    [(one, size) for one in CASES for size in one.sizes],
    ids=lambda value: f"{value.estimator}-{value.kind}" if isinstance(value, Case) else str(value),
)
def test_a_fit_takes_what_is_told(one: Case, size: tuple[int, int]) -> None:
    found = measured(one, size)
    assert found["plan"] > LEAST
    assert found["plan"] / 2 <= found["peak"] <= found["plan"]
