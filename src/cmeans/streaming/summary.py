"""Summary of the past rows of a stream: a weighted mean in feature space for each cluster."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..data.arrays import Float64, IntArray
from ..runtime.stored_classes import stored
from ..runtime.user_warnings import OutOfRangeError
from ..solvers.solution import Solution
from ..spaces import Space
from ..spaces.centres import Centres
from ..sweeps.state import State
from ..sweeps.statistics import Statistics

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

    @classmethod
    def of(cls, space: Space, solution: Solution) -> StreamSummary:
        """Return the sums of a run's last sweep, with the centres that they determine."""
        assert solution.last is not None
        before, sums = solution.last
        centres = solution.state.centres
        # Distances were measured from the centres one sweep ago; about the means they are smaller
        # by how far these have moved.
        spread = sums.spread - sums.mass * (centres - before.centres).squared_norms()
        return cls(space, centres, sums.mass, np.maximum(spread, 0.0), sums.weight, sums.penalty)

    def __mul__(self, factor: float) -> StreamSummary:
        scaled = {
            name: getattr(self, name) * factor for name in ("mass", "spread", "weight", "penalty")
        }
        return replace(self, **scaled)

    def __add__(self, other: StreamSummary) -> StreamSummary:
        """Return the sums of both, which lie in one space."""
        mass = self.mass + other.mass
        centres = self.centres.towards(other.centres, other.mass / np.where(mass > 0, mass, 1.0))
        spread = self.spread + self.mass * (self.centres - centres).squared_norms()
        spread += other.spread + other.mass * (other.centres - centres).squared_norms()
        return StreamSummary(
            self.space,
            centres,
            mass,
            spread,
            self.weight + other.weight,
            self.penalty + other.penalty,
        )

    def __getitem__(self, which: IntArray) -> StreamSummary:
        return replace(
            self, centres=self.centres[which], mass=self.mass[which], spread=self.spread[which]
        )

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
        self._past = past
        self._moment = np.zeros((len(past.mass), past.space.moment_width))
        past.space.as_rows(past.centres).add_moment(np.diag(past.mass), self._moment)

    def __call__(self, state: State) -> Statistics:
        past = self._past
        away = (state.centres - past.centres).squared_norms()
        return Statistics(
            past.weight, past.mass, self._moment, past.spread + past.mass * away, past.penalty
        )
