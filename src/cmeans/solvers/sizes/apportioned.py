"""Centres in proportion to the rows about them: starts for clusters of bounded sizes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...data.arrays import Float64, IntArray
from ...spaces.centres import Centres
from ...sweeps.problem import Problem
from ...sweeps.state import State
from .near import NearestClusters, NearSearch, are_many, near_prices
from .prices import SizeBounds


@dataclass(frozen=True)
class PlacingStart:
    """Centres, and the clusters that rows know there."""

    centres: Centres
    rows: NearestClusters

    @classmethod
    def of(cls, problem: Problem, centres: Centres) -> PlacingStart:
        """Find the clusters by a pass."""
        return cls(centres, NearSearch()(problem, State(centres, np.zeros(len(centres)))))

    def priced(self, problem: Problem, bounds: SizeBounds) -> tuple[State, float]:
        """Return the centres with prices for the bounds, and what placements cost at least by
        them."""
        prices = near_prices(problem, self.rows, bounds, np.zeros(len(self.centres)))
        return State(self.centres, prices), self.rows.dual(prices, bounds)


def better_start(problem: Problem, centres: Centres, bounds: SizeBounds) -> State:
    """Return the centres, or some in proportion to their rows where these cost less by prices for
    the bounds, and these prices. Bounds are the same for all clusters."""
    start = PlacingStart.of(problem, centres)
    other = apportioned(problem, start, bounds)
    starts = [start] if other is None else [start, other]
    return min((one.priced(problem, bounds) for one in starts), key=lambda found: found[1])[0]


def apportioned(problem: Problem, start: PlacingStart, bounds: SizeBounds) -> PlacingStart | None:
    """Return as many centres, of which clusters of too many rows have several, and the lightest
    none; None where that changes nothing, or too few rows differ.

    Where there are several they are rows of the cluster, at evenly spaced ranks of their distances
    to the old centre.
    """
    centres, nearest = start.centres, start.rows
    c = len(centres)
    labels, d2 = nearest.clusters[:, 0], nearest.d2[:, 0]
    sizes = np.bincount(labels, nearest.weight, c).astype(np.float64)
    numbers = seats(sizes, float(bounds.high[0]))
    # rows at one distance are mostly equal: one of them is enough
    weighs = np.flatnonzero((nearest.weight > 0) & (numbers[labels] > 1))
    _, first = np.unique(np.stack([labels[weighs], d2[weighs]]), axis=1, return_index=True)
    rows = weighs[first]
    counts = np.bincount(labels[rows], minlength=c)
    ends = np.cumsum(counts)
    several = np.flatnonzero(numbers > 1)
    if not len(several) or (counts < numbers)[several].any():
        return None
    chosen = [
        rows[ends[j] - counts[j] + (2 * np.arange(numbers[j]) + 1) * counts[j] // (2 * numbers[j])]
        for j in several
    ]
    drawn = np.concatenate(chosen)
    new = problem.space.embed(problem.rows.blocks.take(drawn), drawn)
    kept = np.flatnonzero(numbers == 1)
    replaced = Centres.stack([centres[kept], new])
    if are_many(problem, c):
        return PlacingStart.of(problem, replaced)
    return PlacingStart(replaced, nearest.replaced(problem, kept, new, c))


def seats(sizes: Float64, most: float) -> IntArray:
    """Return numbers of centres (c,), c of them together: as long as a centre has more than `most`
    rows, those of the cluster with most for each go from the lightest cluster to it, if one more
    leaves each of them more rows than the lightest has (D'Hondt's highest averages)."""
    numbers, lightest = np.ones(len(sizes), np.intp), iter(np.argsort(sizes, kind="stable"))
    for light in lightest:
        heavy = int(np.argmax(sizes / np.maximum(numbers, 1) * (numbers > 0)))
        if sizes[heavy] <= most * numbers[heavy] or numbers[light] > 1:
            break
        if sizes[heavy] <= sizes[light] * (numbers[heavy] + 1):
            break
        numbers[heavy] += 1
        numbers[light] = 0
    return numbers
