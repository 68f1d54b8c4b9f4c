"""Sweeps over samples that grow fourfold, each from where the one before it ended: near the fixed
point at the price of a few rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..data.arrays import Float64, IntArray
from ..data.limits import Limits
from ..data.precision import first_largest
from ..sampling.population import Population, sample
from ..sweeps.problem import Problem
from ..sweeps.state import State
from .fixed_point import Solver, solve
from .observer import Observer
from .search import Searching, stage_of
from .stopping import rounding_of

# so many samples, each so many times the one before, the last a quarter of the rows
STAGES, GROWTH = 4, 4
LEAST_ROWS = 20  # a cluster, in the smallest sample
# share of a sample's own uncertainty of the centres to which it is worth while to settle them
RESOLVED = 0.2


@dataclass(frozen=True)
class WarmStart:
    """The best of several starts, as far as samples have brought it."""

    state: State
    run: int  # which of the starts it was
    row_visits: int  # of all of them


@dataclass(frozen=True)
class SubsampleSchedule:
    """Fair samples of the rows, from small to large."""

    population: Population
    sizes: list[int]
    rng: np.random.RandomState

    def __call__(
        self,
        states: Sequence[State],
        problem: Problem,
        n_starts: int,
        observer: Observer,
        search: Searching | None = None,
        solver: Solver = solve,
    ) -> WarmStart:
        """Solve from every state on one sample after the other; the lowest objective on the largest
        of them is kept, or on the one that is searched on.

        The centres of n rows' c clusters are known to about sqrt(c / n) of the typical distance,
        whatever the sweeps: a sample is left as soon as no centre moves by more than a fraction of
        that.
        """
        states, visits, stopping, best = list(states), 0, problem.stopping, 0
        searched = -1 if search is None else stage_of(self.sizes, len(states[0].centres))
        for number, (numbers, weights) in enumerate(self.samples()):
            uncertainty = np.sqrt(len(states[0].centres) / len(numbers))
            # Rows kept for a sample are gone before the next is made.
            part = problem.on_sample(
                numbers, weights, replace(stopping, tol=max(stopping.tol, RESOLVED * uncertainty))
            )
            here = observer.without_callbacks().within(f"sample {number}")
            solutions = [  # without what they remember of the sample's rows
                replace(solver(part, state, here.at("sample", run, n_starts)), sweep=None)
                for run, state in enumerate(states)
            ]
            states = [solution.state for solution in solutions]
            visits += sum(solution.row_visits for solution in solutions)
            if len(states) > 1 and number in (searched, len(self.sizes) - 1):
                objectives = np.array([part.sweep(state).objective for state in states])
                best = first_largest(
                    -objectives, rounding_of(part.rows) * float(np.abs(objectives).max())
                )
                visits += len(states) * part.n_rows
                states, solutions = [states[best]], [solutions[best]]
            if search is not None and number == searched:
                found = search.on_sample()(part, solutions[0], here.at("sample"), GROWTH)
                states, visits = [found.solution.state], visits + found.row_visits
        return WarmStart(states[0], best, visits)

    def largest(self, problem: Problem) -> Problem:
        """Return the problem over the largest of the samples."""
        positions, weights = sample(self.population, self.sizes[-1], self.rng)
        return replace(problem, rows=problem.rows.part(self.population.at(positions), weights))

    def samples(self) -> Iterator[tuple[IntArray, Float64]]:
        """Row numbers and weights of one sample after the other, drawn as they are needed."""
        for size in self.sizes:
            positions, weights = sample(self.population, size, self.rng)
            yield self.population.at(positions), weights


def subsample_schedule(
    population: Population, n_clusters: int, rng: np.random.RandomState
) -> SubsampleSchedule | None:
    """The samples for a fit; None where it is too small for them to pay."""
    sizes = sample_sizes(len(population), n_clusters, population.limits)
    return SubsampleSchedule(population, sizes, rng) if sizes else None


def sample_sizes(n_rows: int, n_clusters: int, limits: Limits) -> list[int]:
    """Rows of each sample, from small to large: n/256, n/64, n/16 and n/4 of those that give every
    cluster rows enough; where n/4 are too many, a fixed number of rows in place of n/4."""
    if n_rows <= limits.subsampled_above:
        return []
    last = min(n_rows // GROWTH, limits.last_sample_rows)
    sizes = [last // GROWTH**stage for stage in reversed(range(STAGES))]
    return [size for size in sizes if size >= LEAST_ROWS * n_clusters]
