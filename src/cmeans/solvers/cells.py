"""Clusters in two levels: k-means into about sqrt(c) cells, and in each into its share of the c
clusters, so that a row is compared with twice the square root of their number."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, replace

import numpy as np

from ..data.arrays import Float64, IntArray
from ..sampling.kmeanspp import drawn_in_rounds, seeds
from ..sampling.pairwise import Metric
from ..spaces.centres import Centres
from ..sweeps.passes import CostPass, NearestRowsPass
from ..sweeps.problem import Problem
from ..sweeps.state import State
from ..sweeps.statistics import ClusterCosts
from .fixed_point import solve
from .search import kept_clusters

SEEDED = 16  # sampled rows for each centre that is drawn
IN_CELLS = 256  # rows for each cell, of which there are as many as clusters in each
SPLIT = 16  # of so many clusters one, those of the largest errors, is tried to be split in two
ROUNDS = 3  # of these at most, while one gains a share of the objective that is worth another
WORTH = 0.01


def centres_in_cells(sampled: RowsForCells, count: int, *, rounds: int = ROUNDS) -> Centres:
    """Return `count` centres, or as many as the sampled rows differ.

    Shares follow the sums of distances, so that cells get more clusters that hold more rows, or
    rows further apart. Where a cell has no more different rows than clusters, others get what it
    leaves over. Then, in some rounds, heavy clusters are split in two, and as many go that are of
    less use.
    """
    cells = _filled(sampled, *_divided(sampled, round(count**0.5)), count)
    for _ in range(rounds):
        if not _exchange(sampled, cells):
            break
    return Centres.stack([cell.centres for cell in cells])


@dataclass(frozen=True)
class RowsForCells:
    """The sampled rows, of which those of one cell are clustered at a time."""

    metric: Metric
    numbers: IntArray  # (s,) of the rows among all
    weights: Float64  # (s,)
    problem: Problem
    rng: np.random.RandomState

    def of(self, rows: IntArray) -> Problem:
        """Return the problem over some of them, in order."""
        if len(rows) == len(self.numbers):
            return self.problem
        return self.problem.on_sample(rows, self.weights[rows], self.problem.stopping)

    def some(self, rows: IntArray, most: int) -> IntArray:
        """Return at most so many of some rows, all equally likely."""
        if len(rows) <= most:
            return rows
        return np.sort(rows[self.rng.permutation(len(rows))[:most]])

    def trained(self, rows: IntArray, count: int) -> Centres:
        """Return the centres of k-means on some rows, `count` or as many as there are different
        ones."""
        some = self.some(rows, SEEDED * count)
        among = self.metric.among(self.numbers[some]).in_given_precision()
        drawn = some[drawn_in_rounds(among, self.weights[some], count, self.rng)]
        if len(drawn) < count:  # others may differ
            among = self.metric.among(self.numbers[rows])
            drawn = rows[seeds(among, self.weights[rows], count, self.rng)]
        first = self.problem.space.embed(self.problem.rows.blocks.take(drawn), drawn)
        return self.settled(rows, first)

    def trained_beside(self, cells: list[IntArray], counts: list[int]) -> list[Centres]:
        """Return the same of the rows of several cells, which threads share."""
        keys = self.rng.randint(2**32, size=len(cells), dtype=np.uint32)
        engine = self.problem.engine

        def of(cell: int) -> Centres:
            own = replace(self, rng=np.random.RandomState(keys[cell]))
            return own.trained(cells[cell], counts[cell])

        return list(engine.run(of, len(cells)))

    def settled(self, rows: IntArray, centres: Centres) -> Centres:
        """Return centres among some rows after sweeps over these."""
        return solve(self.of(rows), State(centres)).state.centres

    def nearest(self, rows: IntArray, centres: Centres) -> tuple[IntArray, Float64]:
        """Return the numbers of the nearest centres of some rows, and the squared distances."""
        problem = self.of(rows)
        found = list(problem.map(NearestRowsPass(problem.rule, State(centres))))
        labels, d2 = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return labels, np.maximum(d2, 0.0)

    def costs(self, cell: _Cell) -> ClusterCosts:
        """Return the errors of the clusters of a cell, and of what use each is within it."""
        problem = self.of(cell.rows)
        pass_ = CostPass(problem.rule, State(cell.centres))
        return problem.engine.fold(problem.rows, pass_)


@dataclass
class _Cell:
    """Some of the sampled rows, and the centres among them."""

    rows: IntArray  # their places in the sample
    centres: Centres


def _divided(sampled: RowsForCells, size: int) -> tuple[list[IntArray], Float64]:
    """Divide the sampled rows among so many cells; return the rows of each that has any, and the
    sums of their distances from its centre."""
    everyone = np.arange(len(sampled.numbers))
    centres = sampled.trained(sampled.some(everyone, IN_CELLS * size), size)
    labels, d2 = sampled.nearest(everyone, centres)
    held = np.bincount(labels, minlength=size)
    members = np.split(np.argsort(labels, kind="stable"), np.cumsum(held)[:-1])
    spread = np.bincount(labels, sampled.weights * np.sqrt(d2), minlength=size)
    return [rows for rows in members if len(rows)], spread[held > 0].astype(np.float64)


def _filled(
    sampled: RowsForCells, members: list[IntArray], spread: Float64, count: int
) -> list[_Cell]:
    """Return the cells with their shares of the clusters; those that have no more different rows
    leave the rest to others."""
    cells: dict[int, _Cell] = {}
    most = np.array([len(rows) for rows in members])
    while True:
        wanted = shares(spread, most, count)
        open_cells = [
            number
            for number in range(len(members))
            if number not in cells or len(cells[number].centres) != wanted[number]
        ]
        new = sampled.trained_beside(
            [members[number] for number in open_cells], wanted[open_cells].tolist()
        )
        for number, centres in zip(open_cells, new, strict=True):
            cells[number] = _Cell(members[number], centres)
        made = np.array([len(cells[number].centres) for number in range(len(members))])
        if (made == wanted).all():
            return list(cells.values())
        most = np.where(made < wanted, made, most)


def _exchange(sampled: RowsForCells, cells: list[_Cell]) -> bool:
    """Split clusters of large errors in two, and let as many of little use go, as long as the
    former gains more than the latter loses; return whether that is worth a further round."""
    costs = [sampled.costs(cell) for cell in cells]
    error, utility = (
        np.concatenate([getattr(one, name) for one in costs]) for name in ("error", "utility")
    )
    owner = np.repeat(np.arange(len(cells)), [len(cell.centres) for cell in cells])
    first = np.searchsorted(owner, np.arange(len(cells)))
    tried = np.argsort(-error, kind="stable")[: max(len(error) // SPLIT, 1)]
    labels = {
        cell: sampled.nearest(cells[cell].rows, cells[cell].centres)[0]
        for cell in np.unique(owner[tried])
    }
    halves, gains = {}, []
    for number in tried:
        rows = cells[owner[number]].rows[labels[owner[number]] == number - first[owner[number]]]
        halves[number] = sampled.trained(rows, 2)
        _, d2 = sampled.nearest(rows, halves[number])
        gains.append(error[number] - sampled.weights[rows] @ d2)
    utility[tried] = np.inf
    for one, start in zip(costs, first, strict=True):  # a cell keeps one cluster at least
        utility[start + np.argmax(one.utility)] = np.inf
    best, least = np.argsort(-np.array(gains), kind="stable"), np.argsort(utility, kind="stable")
    pays = np.array(gains)[best] > utility[least[: len(best)]]
    split, gone = tried[best[pays]], least[: len(best)][pays]
    for number in np.union1d(owner[split], owner[gone]):
        cell, here = cells[number], slice(first[number], first[number] + len(cells[number].centres))
        kept = kept_clusters(utility[here], cell.centres, int((owner[gone] == number).sum()))
        kept = np.setdiff1d(kept.astype(np.intp), split - first[number])
        new = [halves[other] for other in split if owner[other] == number]
        cell.centres = sampled.settled(cell.rows, Centres.stack([cell.centres[kept], *new]))
    gained = np.array(gains)[best[pays]].sum() - utility[gone].sum()
    return bool(gained > WORTH * error.sum())


def shares(spread: Float64, most: IntArray, count: int) -> IntArray:
    """Divide `count` clusters among cells (k,) in proportion to `spread`, at least one and at most
    `most` to each that has rows; by Sainte-Lague's method."""
    given = np.minimum(most, 1)
    open_cells = [(-spread[cell] / 3.0, int(cell)) for cell in np.flatnonzero(most > 1)]
    heapq.heapify(open_cells)
    for _ in range(count - int(given.sum())):
        if not open_cells:
            break
        cell = open_cells[0][1]
        given[cell] += 1
        if given[cell] < most[cell]:
            heapq.heapreplace(open_cells, (-spread[cell] / (2.0 * given[cell] + 1.0), cell))
        else:
            heapq.heappop(open_cells)
    return given
