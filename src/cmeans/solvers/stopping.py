"""The end of a run: centres or memberships at rest, movements that are rounding only; and the
reason as a message."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np

from ..data.precision import rounding_of_sums
from ..runtime.numerals import in_digits
from ..sweeps.problem import Problem, Stopping
from ..sweeps.represented_rows import RepresentedRows
from ..sweeps.state import State
from ..sweeps.statistics import Statistics
from .solution import Solution, Verdict

LONGEST_CYCLE = 100  # sweeps of a cycle that is seen
SAME = 1e-10  # relative difference of objectives that are the same
# sweeps that must look like the ten before them, until it is rounding that moves the centres
PATIENCE = 10


def is_at_rest(
    problem: Problem,
    before: State | None,
    at: State,
    new: State,
    sums: Statistics,
    history: Sequence[float],
) -> tuple[bool, float]:
    """Return True where the step from `at` to `new` ends a run, and the movement relative to the
    stopping rule's scale.

    `before` is where the last sweep but one started; `history` ends with the last sweep's
    objective. Clusters with metrics may change while their centres do not.
    """
    stopping, moved = problem.stopping, _movement(at, new)
    if stopping.criterion is not None:
        ends, change = stopping.criterion(problem, before, at, history)
        return ends or (moved == 0 and new.metrics is None), change
    scale = sums.scale / sums.weight if sums.weight > 0 else 0.0
    # prices rest where centres do
    rests = problem.rule.has_prices or _widening(at, new) <= stopping.tol
    return ends_by_centres(stopping, moved, scale) and rests, relative_movement(moved, scale)


def ends_by_centres(stopping: Stopping, moved: float, scale: float) -> bool:
    """True where the largest squared movement of a centre ends a run; `scale`: the typical squared
    distance."""
    # a square of Python overflows with an error
    return moved <= stopping.tol * stopping.tol * scale


def relative_movement(moved: float, scale: float) -> float:
    """Return the largest movement of a centre relative to the typical distance."""
    return math.sqrt(moved / scale) if scale > 0 else 0.0


def is_rounding_only(
    stopping: Stopping,
    movements: Sequence[float],
    history: Sequence[float],
    rows: RepresentedRows,
    magnitude: float,
) -> float | None:
    """Return the movement below which rounding lets no centre come, where that ends a run; None
    where it goes on."""
    if stopping.tol == 0 or stopping.criterion is not None or len(movements) < 2 * PATIENCE:
        return None
    if only_rounds(movements, history, rounding_of(rows), magnitude):
        return max(movements[-PATIENCE:])
    return None


def only_rounds(
    movements: Sequence[float], history: Sequence[float], rounding: float, magnitude: float
) -> bool:
    """True where the last sweeps have shown rounding only: small movements that go up and down but
    no lower, and an objective, the sum of numbers of this magnitude, that stands. Slow convergence
    falls from sweep to sweep."""
    if len(movements) < 2 * PATIENCE or movements[-1] > math.sqrt(rounding):
        return False
    earlier, late = movements[-2 * PATIENCE : -PATIENCE], movements[-PATIENCE:]
    rises = sum(after > before for before, after in itertools.pairwise(movements[-2 * PATIENCE :]))
    if (
        rises < PATIENCE // 2
        or max(late) > math.sqrt(rounding)
        or min(late) < 0.7 * min(earlier)
        or max(late) > 2 * max(earlier)
    ):
        return False
    values = history[-2 * PATIENCE :]
    return max(values) - min(values) <= 2.0 * rounding * magnitude  # each may be off either way


def cycle_length(history: Sequence[float]) -> int | None:
    """Return the length of the cycle in which the objective has gone twice, through different
    values; None where there is none."""
    values = np.array(history[-2 * LONGEST_CYCLE :])
    near = SAME * abs(float(values[-1]))
    for length in range(2, len(values) // 2 + 1):
        late, before = values[-length:], values[-2 * length : -length]
        if abs(late[-1] - before[-1]) <= near and np.abs(late - before).max() <= near < np.ptp(
            late
        ):
            return length
    return None


def rounding_of(rows: RepresentedRows) -> float:
    """Return the share by which sums over these rows may differ without meaning anything."""
    return rows.space.jitter * rounding_of_sums(rows.blocks.x.dtype)


def _movement(old: State, new: State) -> float:
    """max_j |dv_j|^2; infinite where a cluster went."""
    if len(new.centres) == len(old.centres):
        return float((new.centres - old.centres).squared_norms().max())
    return math.inf


def _widening(old: State, new: State) -> float:
    """max_j |d scale_j| / scale_j."""
    if old.scales is None or new.scales is None or new.scales is old.scales:
        return 0.0
    if len(new.scales) == len(old.scales):
        return float(np.abs(new.scales / old.scales - 1.0).max())
    return math.inf


def reason(solution: Solution, stopping: Stopping, last: float) -> str:
    """Return the reason why a run ended, in words, with advice where it fell short; `last` is the
    objective of the last pass."""
    after = f"after {solution.n_iter} sweep{'' if solution.n_iter == 1 else 's'}"
    if solution.floor is not None:
        return (
            f"converged: centres move by {solution.floor:.2g} of the typical distance, above "
            f"tol={stopping.tol:g}, but that is rounding ({after})"
        )
    if solution.verdict is Verdict.CYCLE:
        values = np.array(solution.history[-(cycle_length(solution.history) or 1) :])
        least, most = in_digits(values.min(), 6), in_digits(values.max(), 6)
        return (
            f"ended in a cycle of {len(values)} sweeps after {solution.n_iter}: rows go to and fro "
            "between clusters whose scales follow "
            f"them, and the objective between {least} and {most}; nothing is gained by more sweeps"
        )
    if stopping.ends_as_planned and solution.n_iter == stopping.max_iter and not solution.ended:
        return f"ended as planned {after} over all rows"
    if solution.converged:
        what = "centres" if stopping.criterion is None else stopping.criterion.name
        return f"converged: {what} stand still to tol={stopping.tol:g} {after}"
    if solution.ended:
        return f"ended by a callback {after}"
    before = solution.history[-1]
    fall = 100 * max(before - last, 0.0) / abs(before) if before else 0.0
    return (
        f"stopped at max_iter={stopping.max_iter} with the objective still falling "
        f"{in_digits(fall, 2)}% a sweep; raise max_iter or loosen tol={stopping.tol:g}"
    )
