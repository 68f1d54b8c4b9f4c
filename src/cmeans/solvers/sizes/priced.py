"""Sweeps of few clusters of bounded sizes: prices for the next centres, and rows at borders that
move until the bounds hold exactly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...data.arrays import Float64
from ...sweeps.passes import SweepPass
from ...sweeps.problem import Problem
from ...sweeps.state import State
from ...sweeps.statistics import Statistics
from ..solution import NEXT_CENTRES, StepResult
from .assignment import assigned
from .prices import SizeBounds, solve_prices

MARGIN = 5.0  # temperatures from a border within which moves are sought


@dataclass(frozen=True)
class Pricing:
    """A way to prices for the rows of a problem."""

    bounds: SizeBounds
    temperature: float  # of the smooth form of a rule whose memberships jump
    reach: float  # of the first step
    tolerance: float  # weight by which a size may miss what its price asks for

    def prices(self, problem: Problem, state: State) -> tuple[Float64, int]:
        """Prices for the centres of a state, from those of the state on, and rows visited."""
        if not problem.rule.is_soft and self.temperature == 0:
            return state.known_scales(), 0
        rule = problem.rule.smoothed(self.temperature)
        found = solve_prices(problem, rule, self.bounds, state, self.reach, self.tolerance)
        return found.prices, found.row_visits

    @property
    def margin(self) -> float:
        """Margin of the rows that may have to move."""
        return MARGIN * self.temperature if self.temperature > 0 else np.inf


@dataclass(frozen=True)
class PricedStep:
    """New centres, and prices for them. Hard memberships are first moved until they keep the bounds
    exactly."""

    pricing: Pricing
    needs_labels: bool = False
    keeps_clusters: bool = True
    needs_sums: ClassVar[bool] = True

    def __call__(
        self,
        problem: Problem,
        swept: SweepPass,
        sums: Statistics,
        last: tuple[State, Statistics] | None,
    ) -> StepResult:
        sums, visits = _exact(problem, self.pricing, swept.state, sums)
        new = NEXT_CENTRES(problem, swept, sums, last)
        prices, visited = self.pricing.prices(problem, State(new.state.centres, swept.state.scales))
        return StepResult(
            State(new.state.centres, prices), visits + new.row_visits + visited, sums=sums
        )


def _exact(
    problem: Problem, pricing: Pricing, state: State, sums: Statistics
) -> tuple[Statistics, int]:
    """The sums of the cheapest assignment within the bounds, and rows visited to find it."""
    if problem.rule.is_soft:
        return sums, 0
    found = assigned(problem, problem.rule, pricing.bounds, state, pricing.margin)
    return found.corrected(problem, sums), found.row_visits


def mean_distance(problem: Problem, state: State) -> float:
    """The mean squared distance of rows to their clusters, or between centres where rows lie at
    them."""
    sums = problem.sweep(state)
    mean = float(sums.spread.sum() / sums.mass.sum())
    return mean if mean > 0 else float(state.centres.squared_distances().mean())
