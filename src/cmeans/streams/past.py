"""What a stream keeps of the rows that have gone by: a weighted mean for each cluster, wherever in feature space it lies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Float64, IntArray
from ..centres import Centres
from ..rules import Rule
from ..solver import Solution
from ..spaces import Space
from ..statistics import Statistics
from ..sweep import State, sweep
from ..table import Piece


@dataclass(frozen=True)
class Past:
    """The sums over all rows so far, sum_i w_ij phi(x_i) = mass_j v_j, as masses and centres."""

    space: Space
    centres: Centres  # v in that space
    mass: Float64  # (c,) sum_i w_ij: the denominators of Zhang 2013 eq. 9b
    spread: Float64  # (c,) sum_i w_ij |phi(x_i) - v_j|^2
    weight: float  # sum of the rows' sample weights

    @classmethod
    def of(cls, space: Space, solution: Solution) -> Past:
        """What a run's last sweep has summed, with the centres that these sums make."""
        assert solution.last is not None
        before, sums = solution.last
        centres = solution.state.centres
        # Distances were measured from the centres one sweep ago; about the means they are smaller by how far these have moved.
        spread = sums.spread - sums.mass * (centres - before.centres).squared_norms()
        return cls(space, centres, sums.mass, np.maximum(spread, 0.0), sums.weight)

    def __mul__(self, factor: float) -> Past:
        return replace(self, mass=self.mass * factor, spread=self.spread * factor, weight=self.weight * factor)

    def __add__(self, other: Past) -> Past:
        """The sums of both, which lie in one space."""
        mass = self.mass + other.mass
        centres = self.centres.towards(other.centres, other.mass / np.where(mass > 0, mass, 1.0))
        spread = self.spread + self.mass * (self.centres - centres).squared_norms()
        spread += other.spread + other.mass * (other.centres - centres).squared_norms()
        return Past(self.space, centres, mass, spread, self.weight + other.weight)

    def __getitem__(self, which: IntArray) -> Past:
        return replace(self, centres=self.centres[which], mass=self.mass[which], spread=self.spread[which])

    def portable(self) -> Past:
        """The same in a space without factors."""
        space, centres = self.space.portable(self.centres)
        return replace(self, space=space, centres=centres)

    def weighing(self, mass: Float64) -> Past:
        """The same means with other masses."""
        per_mass = self.spread / np.where(self.mass > 0, self.mass, 1.0)
        return replace(self, mass=mass, spread=per_mass * mass)

    def moved(self, space: Space, centres: Centres) -> tuple[Past, Float64]:
        """The past with its centres brought to another space, and the share (c,) of each one's squared norm that this has lost."""
        before, after = self.space.norms(self.centres), space.norms(centres)
        lost = np.maximum(before - after, 0.0)
        moved = replace(self, space=space, centres=centres, spread=self.spread + self.mass * lost)
        return moved, lost / np.where(before > 0, before, 1.0)


class SettledSums:
    """The past as fixed sums: which rows belonged where is not asked again."""

    def __init__(self, past: Past) -> None:
        self._past = past
        self._moment = np.zeros((len(past.mass), past.space.moment_width))
        past.space.as_rows(past.centres).add_moment(np.diag(past.mass), self._moment)

    def __call__(self, state: State) -> Statistics:
        past = self._past
        away = (state.centres - past.centres).squared_norms()
        return Statistics(past.weight, past.mass, self._moment, past.spread + past.mass * away)

    def belonging(self, state: State) -> Float64:
        """(c,) how much of the past belongs to each cluster."""
        return self._past.mass


class MetaVectors:
    """The past as c weighted rows in the places of its centres, whose memberships are found anew in every sweep (Zhang 2013 eq. 8-9)."""

    def __init__(self, past: Past, rule: Rule) -> None:
        self.space = past.space
        self._past, self._rule = past, rule
        self._piece = Piece(past.space.as_rows(past.centres), past.mass, 0)

    def pieces(self, task: int) -> Iterator[Piece]:
        """The meta-vectors as the one block of a table."""
        yield self._piece

    def __call__(self, state: State) -> Statistics:
        sums = sweep(self, self._rule, state, 0)
        return replace(sums, weight=self._past.weight, spread=sums.spread + self._past.spread)

    def belonging(self, state: State) -> Float64:
        """(c,) how much of the past belongs to each cluster."""
        rows = self._piece.rows
        u = self._rule.memberships(rows.squared_distances(self.space.view(state.centres, rows.kxx)), state.scales)
        belonging: Float64 = self._past.mass @ u
        return belonging
