"""The plan of a fit: what it will take, told before it begins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..solvers.search import is_enough, stage_of, usual_visits_of_search
from ..solvers.subsampling import GROWTH
from ..sweeps.problem import Stopping
from .procedure import FitSettings

# sweeps of a fit from drawn centres: about as many as most take (benchmarks/memory_plans.py)
USUAL_SWEEPS, SWEEPS_AFTER_SAMPLES = 20, 5
RUNS = 12  # from drawn centres, that looking for the number of clusters takes about as long as


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
    n_rows: int, settings: FitSettings, samples: list[int], *, searched: bool
) -> tuple[int, int]:
    """Return the usual passes over all rows of a fit, with the last, and the usual row visits;
    `searched`: a better solution is looked for."""
    c, sweeps = settings.n_clusters, min(USUAL_SWEEPS, settings.stopping.max_iter)
    further = usual_visits_of_search(c, sweeps) if searched else 0
    if not samples:
        passes = settings.n_init * sweeps + further + 1
        return passes, passes * n_rows
    passes = min(SWEEPS_AFTER_SAMPLES, settings.stopping.max_iter) + 1
    passes += 0 if is_enough(samples, c) else further
    # of all starts on the samples, of the best of them on all rows
    sampled = settings.n_init * sum(sweeps * size // GROWTH for size in samples)
    sampled += further * samples[stage_of(samples, c)]
    return passes, passes * n_rows + sampled


def visits_of_runs(n_rows: int, settings: FitSettings, runs: Sequence[int]) -> tuple[int, int]:
    """Return the same of runs over so many of the rows each, without a last pass."""
    sweeps = min(USUAL_SWEEPS, settings.stopping.max_iter)
    return sweeps * sum(size == n_rows for size in runs), sweeps * sum(runs)


def adaptive_visits(n_rows: int, stopping: Stopping, sample: int) -> tuple[int, int]:
    """Return the same of a fit that finds the number of clusters: of many rows on a sample."""
    sought = RUNS * min(USUAL_SWEEPS, stopping.max_iter)
    if n_rows <= sample:
        return sought + 1, (sought + 1) * n_rows
    passes = min(SWEEPS_AFTER_SAMPLES, stopping.max_iter) + 1
    return passes, passes * n_rows + sought * sample
