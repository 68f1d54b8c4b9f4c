"""Summary of the past rows of a stream: a weighted mean in feature space for each cluster."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..data.arrays import Float64, IntArray
from ..runtime.stored_classes import stored
from ..runtime.user_warnings import OutOfRangeError
from ..solvers.fixed_point import Carried, solve
from ..solvers.observer import Observer
from ..solvers.solution import Solution
from ..spaces import Space
from ..spaces.centres import Centres
from ..sweeps.problem import Problem
from ..sweeps.state import State
from ..sweeps.statistics import Statistics
from .scatter import Scatter

# By how much less than the largest number of their type the means of a stream must be, so that sums
# over all rows to come are numbers too: of float32 rows those of a block, else of all.
ROOM = {"float32": 2.0**10, "float64": 2.0**20}
NO_ROOM = (
    "X and the kernel give values so large that sums over further rows would overflow: scale the "
    "features, use float64, or use a normalised kernel."
)


@stored
@dataclass(frozen=True)
class StreamSummary:
    """The sums over all rows so far, sum_i w_ij phi(x_i) = mass_j v_j, as masses and centres."""

    space: Space
    centres: Centres  # v in that space
    mass: Float64  # (c,) sum_i w_ij: the denominators of Zhang 2013 eq. 9b
    spread: Float64  # (c,) sum_i w_ij |phi(x_i) - v_j|^2
    weight: float  # sum of the rows' sample weights
    penalty: float = 0.0  # what the objective holds beside the spread, such as the cost of noise
    scatter: Scatter | None = None  # where clusters have metrics, which are made of it

    def __post_init__(self) -> None:
        c, width = self.centres.coordinates.shape
        if width != self.space.n_coordinates:
            raise ValueError(
                f"StreamSummary: centres of {width} coordinates do not lie in the space"
            )
        if (
            self.mass.shape != (c,)
            or self.spread.shape != (c,)
            or (self.mass < 0).any()
            or (self.spread < 0).any()
            or not np.isfinite(self.penalty)
        ):
            raise ValueError(f"StreamSummary: the sums do not fit {c} centres, or are negative")
        if self.scatter is not None and self.scatter.values.shape[:2] != (c, width):
            raise ValueError(f"StreamSummary: the scatter does not fit {c} centres")

    @classmethod
    def of(cls, space: Space, solution: Solution) -> StreamSummary:
        """Return the sums of a run's last sweep, with the centres that they determine."""
        assert solution.last is not None
        before, sums = solution.last
        centres = solution.state.centres
        if sums.second is not None:
            scatter = Scatter.of(solution, sums.second.about(centres, sums.mass, sums.moment))
            penalty = sums.penalty if sums.rule_penalty is None else sums.rule_penalty
            spread = scatter.traces
            return cls(space, centres, sums.mass, spread, sums.weight, penalty, scatter)
        # Distances were measured from the centres one sweep ago; about the means they are smaller
        # by how far these have moved.
        spread = sums.spread - sums.mass * (centres - before.centres).squared_norms()
        return cls(space, centres, sums.mass, np.maximum(spread, 0.0), sums.weight, sums.penalty)

    def __mul__(self, factor: float) -> StreamSummary:
        scaled = {
            name: getattr(self, name) * factor for name in ("mass", "spread", "weight", "penalty")
        }
        scatter = None if self.scatter is None else self.scatter * factor
        return replace(self, **scaled, scatter=scatter)

    def __add__(self, other: StreamSummary) -> StreamSummary:
        """Return the sums of both, which lie in one space."""
        mass = self.mass + other.mass
        centres = self.centres.towards(other.centres, other.mass / np.where(mass > 0, mass, 1.0))
        spread = self.spread + self.mass * (self.centres - centres).squared_norms()
        spread += other.spread + other.mass * (other.centres - centres).squared_norms()
        scatter = None
        if self.scatter is not None and other.scatter is not None:
            second = (self.sums.about(centres) + other.sums.about(centres)).second
            assert second is not None, "both have some"
            share = other.weight / (self.weight + other.weight)
            scatter = self.scatter.joined(other.scatter, second.values, share)
        return StreamSummary(
            self.space,
            centres,
            mass,
            spread,
            self.weight + other.weight,
            self.penalty + other.penalty,
            scatter,
        )

    def __getitem__(self, which: IntArray) -> StreamSummary:
        parts: dict[str, Any] = {
            name: getattr(self, name)[which] for name in ("centres", "mass", "spread")
        }
        scatter = None if self.scatter is None else self.scatter[which]
        return replace(self, **parts, scatter=scatter)

    @property
    def sums(self) -> Statistics:
        """The sums of the rows, as a sweep from their means would have made them."""
        moment = np.zeros((len(self.mass), self.space.moment_width))
        self.space.as_rows(self.centres).add_moment(np.diag(self.mass), moment)
        second = None if self.scatter is None else self.scatter.about(self.centres)
        return Statistics(self.weight, self.mass, moment, self.spread, self.penalty, second=second)

    @property
    def state(self) -> State:
        """The clusters of the rows, from which further ones are swept."""
        if self.scatter is None:
            return State(self.centres)
        return self.scatter.step.clusters(self.centres, self.sums)

    @property
    def portable_state(self) -> tuple[Space, State]:
        """The same clusters, and the space that a model keeps."""
        space, centres = self.space.portable(self.centres)
        return space, self.state.at(centres)

    def followed(
        self, problem: Problem, observer: Observer, carried: Carried | None
    ) -> tuple[Problem, Solution]:
        """Cluster further rows from these clusters, with the sums over those before."""
        if self.scatter is None:
            return problem, solve(problem, self.state, observer, carried=carried)
        step, weight = self.scatter.step, float(problem.whole.rows.blocks.weight.sum())
        problem = step.until_it_stands(problem, self.weight + weight)
        return problem, solve(problem, self.state, observer, step, carried)

    def refuse_overflow(self, dtype: str) -> None:
        """Refuse sums after which no further rows of that type could be added."""
        mean = self.centres.squared_norms() + self.spread / np.where(self.mass > 0, self.mass, 1.0)
        if not (mean <= np.finfo(dtype).max / ROOM[dtype]).all():
            raise OutOfRangeError(NO_ROOM)

    def portable(self) -> StreamSummary:
        """Return the same in a space without factors."""
        space, centres = self.space.portable(self.centres)
        return replace(self, space=space, centres=centres)

    def weighing(self, mass: Float64) -> StreamSummary:
        """Return the same means with other masses."""
        per_mass = self.spread / np.where(self.mass > 0, self.mass, 1.0)
        return replace(self, mass=mass, spread=per_mass * mass)

    def moved(self, space: Space, centres: Centres) -> tuple[StreamSummary, Float64]:
        """Return this summary of the rows seen so far with its centres carried into another space,
        and the share (c,) of each centre's squared norm that is lost on the way."""
        before, after = self.space.norms(self.centres), space.norms(centres)
        lost = np.maximum(before - after, 0.0)
        moved = replace(self, space=space, centres=centres, spread=self.spread + self.mass * lost)
        return moved, lost / np.where(before > 0, before, 1.0)


class SettledSums:
    """The past as fixed sums: memberships of past rows are not updated."""

    def __init__(self, past: StreamSummary) -> None:
        self._past, self._sums = past, past.sums

    def __call__(self, state: State) -> Statistics:
        past = self._past
        if state.metrics is not None:
            sums = self._sums.about(state.centres)
            assert sums.second is not None, "the clusters have metrics"
            return replace(sums, spread=state.metrics.traces(sums.second.values))
        away = (state.centres - past.centres).squared_norms()
        return replace(self._sums, spread=past.spread + past.mass * away)
