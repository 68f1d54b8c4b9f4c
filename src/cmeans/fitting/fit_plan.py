"""What a fit will take, told before it begins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..solvers.subsampling import GROWTH

# sweeps of a fit from drawn centres: about as many as most take (benchmarks/memory_plans.py)
USUAL_SWEEPS, SWEEPS_AFTER_SAMPLES = 20, 5


@dataclass(frozen=True)
class FitPlan:
    """The memory and the passes that a fit will take, from the shape of the rows and the
    estimator's parameters.

    Memory is a promise: a fit takes no more beside the rows that it was given, the interpreter and
    its libraries, and hardly less than half of it where it is large. Passes and row visits are what
    fits usually take: how many sweeps it will be, the rows decide.

    Attributes
    ----------
    n_rows, n_columns : shape of the rows.
    memory : bytes at most, with what is kept between sweeps because there is room for it.
    least_memory : bytes without which the fit is refused: the smallest `memory_budget`.
    kept_share : share of the rows that are kept, as the space sees them, between sweeps.
    passes : passes over all rows.
    row_visits : rows that passes visit in all, on samples too.
    """

    n_rows: int
    n_columns: int
    memory: int
    least_memory: int
    kept_share: float
    passes: int
    row_visits: int


def usual_visits(
    n_rows: int, n_init: int, most_sweeps: int, samples: Sequence[int], further_runs: int = 0
) -> tuple[int, int]:
    """Return the usual passes over all rows of a fit, with the last, and the usual row visits;
    `further_runs` are over all rows."""
    sweeps = min(USUAL_SWEEPS, most_sweeps)
    if further_runs:
        passes, visits = usual_visits(n_rows, n_init, most_sweeps, samples)
        return passes + further_runs * sweeps, visits + further_runs * sweeps * n_rows
    if not samples:
        passes = n_init * sweeps + 1
        return passes, passes * n_rows
    after = min(SWEEPS_AFTER_SAMPLES, most_sweeps)
    # of all starts on the samples, of the best of them on all rows
    sampled = n_init * sum(sweeps * size // GROWTH for size in samples)
    return after + 1, (after + 1) * n_rows + sampled
