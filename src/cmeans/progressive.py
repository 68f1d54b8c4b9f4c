"""Near the fixed point at the price of a few rows: samples that grow fourfold, each starting where the one before it ended."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from .arrays import Float64, IntArray
from .chance import Population, sample
from .engines import Engine
from .progress import Place
from .rules import Rule
from .solver import Stopping, fold, solve
from .sweep import State
from .table import Table

ABOVE = 50_000  # rows above which it pays
STAGES, GROWTH = 4, 4  # so many samples, each so many times the one before, the last a quarter of the rows
LARGEST = 2**22  # rows of the last one at most: what they leave open is a few sweeps' work
LEAST_ROWS = 20  # a cluster, in the smallest sample
RESOLVED = 0.2  # share of a sample's own uncertainty of the centres to which it is worth while to settle them


@dataclass(frozen=True)
class Nearby:
    """Where the best of several starts has come to on samples."""

    state: State
    run: int  # which of the starts it was
    row_visits: int  # of all of them


@dataclass(frozen=True)
class Approach:
    """Fair samples of the rows, from small to large."""

    people: Population
    sizes: Sequence[int]
    rng: np.random.RandomState

    def __call__(self, states: Sequence[State], table: Table, rule: Rule, engine: Engine, stopping: Stopping, n_starts: int) -> Nearby:
        """Solve from every state on one sample after the other; the lowest objective on the largest of them is kept.

        The centres of n rows' c clusters are known to about sqrt(c / n) of the typical distance, whatever the sweeps: a
        sample is left as soon as no centre moves by more than a fraction of that.
        """
        states, visits = list(states), 0
        for rows, weights in self.samples():
            part = table.part(rows, weights)  # rows kept for it are gone before the next is made
            uncertainty = np.sqrt(len(states[0].centres) / len(rows))
            enough = replace(stopping, tol=max(stopping.tol, RESOLVED * uncertainty))
            for run, state in enumerate(states):
                solution = solve(part, rule, state, engine, enough, Place("sample", run, n_starts))
                states[run] = solution.state
                visits += solution.row_visits
        if len(states) == 1:
            return Nearby(states[0], 0, visits)
        reached = [fold(part, rule, state, engine).objective for state in states]
        best = int(np.argmin(reached))
        return Nearby(states[best], best, visits + len(states) * part.n_rows)

    def samples(self) -> Iterator[tuple[IntArray, Float64]]:
        """Row numbers and weights of one sample after the other, drawn as they are asked for."""
        for size in self.sizes:
            positions, weights = sample(self.people, size, self.rng)
            yield self.people.at(positions), weights


def approach_for(people: Population, n_clusters: int, rng: np.random.RandomState) -> Approach | None:
    """The samples for a fit; None where it is too small for them to pay."""
    sizes = sample_sizes(len(people), n_clusters)
    return Approach(people, sizes, rng) if sizes else None


def sample_sizes(n_rows: int, n_clusters: int) -> list[int]:
    """Rows of each sample, from small to large: n/256, n/64, n/16 and n/4 of those that give every cluster rows enough; where n/4 are
    too many, a fixed number of rows in place of n/4."""
    if n_rows <= ABOVE:
        return []
    last = min(n_rows // GROWTH, LARGEST)
    sizes = [last // GROWTH**stage for stage in reversed(range(STAGES))]
    return [size for size in sizes if size >= LEAST_ROWS * n_clusters]
