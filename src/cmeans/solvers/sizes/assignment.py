"""The cheapest assignment of rows to centres within bounds: by prices, then by moves of the rows
that lie near a border."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...data.arrays import Float64, IntArray
from ...data.column_facts import asked
from ...rules import Rule
from ...spaces import Space
from ...sweeps.final_pass import Moves
from ...sweeps.passes import MarginPass
from ...sweeps.problem import Problem
from ...sweeps.state import State
from ...sweeps.statistics import Margins, Statistics
from .flow import FEW, Flow, Holdings, whole_rows, within_bounds
from .prices import SizeBounds

WIDER = 4.0  # by which the margin of rows to be looked at grows where they are too few


@dataclass(frozen=True)
class Assigned:
    """The cheapest assignment, as it differs from that by the prices of a state."""

    prices: Float64  # (c,) by which every row is where it costs least, in the middle of all such
    rows: IntArray  # (q,) numbers of the rows near a border
    labels: IntArray  # (q,) their clusters by the prices of the state
    d2: Float64  # (q, c)
    weight: Float64  # (q,)
    mass: Float64  # (c,) of all rows by the prices of the state
    held: Holdings  # of these rows, after the moves
    width: float  # of the border
    row_visits: int

    def corrected(self, problem: Problem, sums: Statistics) -> Statistics:
        """The sums of a sweep by the prices of the state, after the moves."""
        change = np.zeros(self.d2.shape)
        np.add.at(change, (self.held.row, self.held.cluster), self.held.weight)
        change[np.arange(len(self.rows)), self.labels] -= self.weight
        moved = np.flatnonzero(np.abs(change).max(axis=1, initial=0.0) > 0)
        if not len(moved):
            return sums
        part = change[moved]
        moment = problem.moment_of(self.rows[moved], part)
        return sums + Statistics(0.0, part.sum(axis=0), moment, (part * self.d2[moved]).sum(axis=0))

    def whole(self, bounds: SizeBounds) -> IntArray:
        """Return one cluster (q,) for each row; a row that is divided among clusters goes whole to
        one of these."""
        labels = np.array(self.labels)
        if bounds.quantum is None:
            return whole_rows(self.held, labels, self.weight, self.d2.shape[1])
        labels[self.held.row] = self.held.cluster
        return labels

    def mass_of(self, labels: IntArray) -> Float64:
        """(c,) the masses of all rows, where these belong to other clusters (q,) than by the prices
        of the state."""
        mass = self.mass.copy()
        np.subtract.at(mass, self.labels, self.weight)
        np.add.at(mass, labels, self.weight)
        return mass


def assigned(
    problem: Problem,
    rule: Rule,
    bounds: SizeBounds,
    state: State,
    width: float,
    space: Space | None = None,
) -> Assigned:
    """Assign rows to the centres of a state, starting from its prices; `width`: the margin within
    which moves are sought at first.

    Rows further from a border need not be looked at, unless prices change by more than that: then
    it is widened.
    """
    prices, weights, visits = state.known_scales(), problem.rows.blocks.weight, 0
    while True:
        near = problem.engine.fold(problem.rows, MarginPass(rule, state, width, space))
        visits += problem.n_rows
        weight = weights[near.rows]
        groups = _Groups.of(near, bounds)
        first, mass = groups.first, np.zeros(len(groups.first))
        np.add.at(mass, groups.group, weight)
        flow = Flow(near.d2[first], near.labels[first], mass, near.mass, prices, bounds)
        if flow.settle() and np.ptp(flow.prices - np.append(prices, 0.0)) <= width:
            # costs of moves that no other row is below
            beyond = width + prices[None, :] - prices[:, None]
            held = groups.divided(flow.holdings, near.labels, weight)
            return Assigned(
                flow.central_prices(beyond),
                near.rows,
                near.labels,
                near.d2,
                weight,
                near.mass,
                held,
                width,
                visits,
            )
        if width == np.inf:
            raise ValueError(
                "sizes: no assignment of the rows keeps the bounds, though they do not exclude "
                "each other."
            )
        width = (
            np.inf
            if len(near.rows) == _count_positive(weights)
            else max(width, np.finfo(float).tiny) * WIDER
        )


def _count_positive(weight: Any) -> int:
    """Return the number of rows of positive weight, wherever they are."""
    return int(sum(asked(weight, _count_nonzero)))


def _count_nonzero(weight: Float64, first: int) -> int:
    return int(np.count_nonzero(weight))


@dataclass(frozen=True)
class WholeRows:
    """Rows near a border, each in one cluster, so that bounds are kept, or missed as little as may
    be."""

    rows: IntArray  # (q,)
    labels: IntArray  # (q,) their clusters
    mass: Float64  # (c,) of all rows
    width: float  # of the border
    row_visits: int

    @classmethod
    def of(
        cls,
        problem: Problem,
        rule: Rule,
        bounds: SizeBounds,
        state: State,
        width: float,
        space: Space,
    ) -> WholeRows:
        """Assign each row whole to one cluster, as `assigned` does.

        Where rows differ in weight, bounds that held for divided rows may be missed by whole ones;
        then light rows further from the border between two clusters may move too.
        """
        blocks, visits = problem.rows.blocks, 0
        n_rows, most = _count_positive(blocks.weight), blocks.most_gathered
        while True:
            found = assigned(problem, rule, bounds, state, width, space)
            labels, visits = found.whole(bounds), visits + found.row_visits
            settled = bounds.are_kept(found.mass_of(labels))
            if not settled:
                labels = within_bounds(
                    labels, found.d2, found.weight, found.mass_of(labels), bounds
                )
                enough = bounds.are_kept(found.mass_of(labels)) and len(found.rows) >= FEW
                settled = enough or len(found.rows) in (0, n_rows) or len(found.rows) > most
            if settled:
                return cls(found.rows, labels, found.mass_of(labels), found.width, visits)
            width = found.width * WIDER**2

    @classmethod
    def of_equal(cls, found: Assigned, bounds: SizeBounds) -> WholeRows:
        """Return rows of equal weight as they are assigned, none of them in part."""
        labels = found.whole(bounds)
        return cls(found.rows, labels, found.mass_of(labels), found.width, found.row_visits)

    def numbered(self, order: IntArray) -> WholeRows:
        """Return the same with the clusters in another order (c,)."""
        return replace(self, labels=np.argsort(order)[self.labels], mass=self.mass[order])

    def moves(self, problem: Problem, state: State, space: Space) -> Moves:
        """The moves from where a state has the rows by price. Of clusters that cost a row the same
        it is in the first, so that this hangs on their order."""
        near = problem.engine.fold(problem.rows, MarginPass(problem.rule, state, self.width, space))
        labels = np.array(near.labels)
        _, here, there = np.intersect1d(near.rows, self.rows, return_indices=True)
        labels[here] = self.labels[there]
        moved = here[labels[here] != near.labels[here]]  # in the order of the rows
        sources, targets = near.labels[moved], labels[moved]
        return Moves(
            near.rows[moved],
            sources,
            targets,
            np.stack([near.d2[moved, sources], near.d2[moved, targets]], axis=1),
        )


@dataclass(frozen=True)
class _Groups:
    """Rows of equal weight at the same distances, which move together: in data of few values a
    border may lie in thousands of them."""

    first: IntArray  # (g,) one row of each
    group: IntArray  # (q,) the group of each row

    @classmethod
    def of(cls, near: Margins, bounds: SizeBounds) -> _Groups:
        """Return the groups of some rows; each for itself where weights differ, or few are the
        same."""
        q, c = near.d2.shape
        alone = cls(np.arange(q), np.arange(q))
        if bounds.quantum is None or q < 2:
            return alone
        # that only equal rows share, but for rare ones, which stand alone then
        keys = near.d2 @ np.sqrt(np.arange(2.0, c + 2.0))
        _, first, group = np.unique(keys, return_index=True, return_inverse=True)
        if 2 * len(first) > q:
            return alone
        same = (near.d2 == near.d2[first[group]]).all(axis=1) & (
            near.labels == near.labels[first[group]]
        )
        others = np.flatnonzero(~same)
        group[others] = len(first) + np.arange(len(others))
        return cls(np.concatenate([first, others]), group)

    def divided(self, held: Holdings, labels: IntArray, weight: Float64) -> Holdings:
        """Shares of each row in the mass of its group, in the order of their numbers, beginning
        with what stays."""
        if len(self.first) == len(self.group):
            return held
        clusters, rows = np.array(labels), np.argsort(self.group, kind="stable")
        starts = np.searchsorted(self.group[rows], np.arange(len(self.first)))
        next_row = starts.copy()
        stays = held.cluster == labels[self.first[held.row]]
        for part in np.concatenate([np.flatnonzero(stays), np.flatnonzero(~stays)]):
            group = held.row[part]
            count = round(held.weight[part] / weight[self.first[group]])
            here = rows[next_row[group] : next_row[group] + count]
            clusters[here] = held.cluster[part]
            next_row[group] += count
        return Holdings(np.arange(len(labels)), clusters, weight)
