"""Annealing: a solution followed from the temperature at which all centres coincide down to the
rule's own (Rose 1990)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..sampling.drawing import weights_at
from ..sampling.population import Population
from ..spaces.centres import Centres
from ..sweeps.problem import Problem
from ..sweeps.state import State
from .fixed_point import solve
from .observer import Observer
from .search import Searched, better
from .solution import Solution

COOLING = 0.9  # each temperature, as a multiple of the one before
SWEEPS = 20  # at each of them, at most
TOLERANCE = 1e-3  # movement of the centres, relative to the typical distance, at which they end
# squared distance, in multiples of the temperature, from which on two centres have parted
APART = 0.5
# share of the way to a drawn row that each centre is moved by: those that coincide would never part
PUSH = 1e-2


@dataclass(frozen=True)
class Annealing:
    """Search by temperature: from a single cluster on, each divides when its rows no longer bear
    one centre, the widest first.

    Each cluster has two centres, which part below its own critical temperature and coincide above
    (Rose 1998).
    """

    population: Population | None  # that rows are drawn from; None: all rows
    rng: np.random.RandomState
    critical: float  # the temperature above which all centres coincide

    def on_sample(self) -> Annealing:
        """As of `Searching`."""
        return replace(self, population=None)

    def __call__(
        self, problem: Problem, solution: Solution, observer: Observer, reach: int = 1
    ) -> Searched:
        """As of `Searching`."""
        rng, wanted = np.random.RandomState(self.rng.randint(2**31)), len(solution.state.centres)
        centres, temperature, visits = solution.state.centres[:1], self.critical, 0
        if (
            not solution.converged
            or solution.ended
            or wanted < 2
            or problem.rule.temperature >= temperature
        ):
            return Searched(solution, 0)
        stopping = replace(
            problem.stopping,
            tol=max(problem.stopping.tol, TOLERANCE),
            max_iter=min(SWEEPS, problem.stopping.max_iter),
        )
        while temperature > problem.rule.temperature:
            trial = replace(
                problem, rule=problem.rule.at_temperature(temperature), stopping=stopping
            )
            here = observer.within(f"at {temperature:.6g}").without_callbacks().at("search")
            pairs = Centres.stack([centres, centres]) if len(centres) < wanted else centres
            found = solve(trial, State(self._pushed(problem, pairs, rng)), here)
            if len(centres) < wanted:
                centres = parted(found.state.centres, temperature, wanted)
            else:
                centres = found.state.centres
            visits, temperature = visits + found.row_visits, COOLING * temperature
        if len(centres) == wanted:
            return better(problem, solution, centres, visits, observer)
        return Searched(solution, visits)

    def _pushed(self, problem: Problem, centres: Centres, rng: np.random.RandomState) -> Centres:
        """Return centres a little nearer to rows that are drawn in proportion to weight."""
        weight = problem.rows.blocks.weight if self.population is None else self.population.weights
        drawn = weights_at(weight).hit(rng.uniform(size=len(centres)) * weight.sum())
        rows = drawn if self.population is None else self.population.at(drawn)
        there = problem.space.embed(problem.rows.blocks.take(rows), rows)
        return centres.towards(there, np.full(len(centres), PUSH))


def parted(pairs: Centres, temperature: float, wanted: int) -> Centres:
    """Return one centre of each pair, (j, c + j), and both of those that have parted, the farthest
    first, `wanted` centres at most."""
    half = len(pairs) // 2
    apart = (pairs[half:] - pairs[:half]).squared_norms()
    farthest = np.argsort(-apart, kind="stable")[: wanted - half]
    return Centres.stack(
        [pairs[:half], pairs[half + farthest[apart[farthest] > APART * temperature]]]
    )
