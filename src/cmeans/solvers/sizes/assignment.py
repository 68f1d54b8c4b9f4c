"""The cheapest assignment of rows to centres within bounds: by prices, then by moves of the rows that lie near a border."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...data.arrays import Float64, IntArray
from ...rules import Rule
from ...spaces import Space
from ...sweeps.final_pass import Moves
from ...sweeps.passes import MarginPass
from ...sweeps.problem import Problem
from ...sweeps.state import State
from ...sweeps.statistics import Margins, Statistics
from .bounds import SizeBounds
from .flow import Flow, Holdings
from .rounding import whole_rows

WIDER = 4.0  # by which the margin of rows to be looked at grows where they are too few


@dataclass(frozen=True)
class Assigned:
    """The cheapest assignment, as it differs from that by the prices of a state."""

    prices: Float64  # (c,) by which every row is where it costs least, in the middle of all such
    rows: IntArray  # (q,) numbers of the rows near a border
    labels: IntArray  # (q,) their clusters by the prices of the state
    d2: Float64  # (q, c)
    weight: Float64  # (q,)
    held: Holdings  # of these rows, after the moves
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

    def moves(self, bounds: SizeBounds) -> Moves:
        """The moves of whole rows: of those that are divided to one of their clusters."""
        labels = np.array(self.labels)
        if bounds.quantum is None:
            labels = whole_rows(self.held, labels, self.weight, self.d2.shape[1])
        else:
            labels[self.held.row] = self.held.cluster
        moved = np.flatnonzero(labels != self.labels)
        order = moved[np.argsort(self.rows[moved], kind="stable")]
        sources, targets = self.labels[order], labels[order]
        return Moves(self.rows[order], sources, targets, np.stack([self.d2[order, sources], self.d2[order, targets]], axis=1))


def assigned(problem: Problem, rule: Rule, bounds: SizeBounds, state: State, width: float, space: Space | None = None) -> Assigned:
    """Assign rows to the centres of a state, starting from its prices; `width`: the margin within which moves are sought at first.

    Rows further from a border need not be looked at, unless prices change by more than that: then it is widened.
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
            beyond = width + prices[None, :] - prices[:, None]  # costs of moves that no other row is below
            held = groups.divided(flow.holdings, near.labels, weight)
            return Assigned(flow.central_prices(beyond), near.rows, near.labels, near.d2, weight, held, visits)
        if width == np.inf:
            raise ValueError("size_min, size_max: no assignment of the rows keeps the bounds, though they do not exclude each other.")
        width = np.inf if len(near.rows) == np.count_nonzero(weights) else max(width, np.finfo(float).tiny) * WIDER


@dataclass(frozen=True)
class _Groups:
    """Rows of equal weight at the same distances, which move together: in data of few values a border may lie in thousands of them."""

    first: IntArray  # (g,) one row of each
    group: IntArray  # (q,) the group of each row

    @classmethod
    def of(cls, near: Margins, bounds: SizeBounds) -> _Groups:
        """Return the groups of some rows; each for itself where weights differ, or few are the same."""
        q, c = near.d2.shape
        alone = cls(np.arange(q), np.arange(q))
        if bounds.quantum is None or q < 2:
            return alone
        keys = near.d2 @ np.sqrt(np.arange(2.0, c + 2.0))  # that only equal rows share, but for rare ones, which stand alone then
        _, first, group = np.unique(keys, return_index=True, return_inverse=True)
        if 2 * len(first) > q:
            return alone
        same = (near.d2 == near.d2[first[group]]).all(axis=1) & (near.labels == near.labels[first[group]])
        others = np.flatnonzero(~same)
        group[others] = len(first) + np.arange(len(others))
        return cls(np.concatenate([first, others]), group)

    def divided(self, held: Holdings, labels: IntArray, weight: Float64) -> Holdings:
        """Shares of each row in the mass of its group, in the order of their numbers, beginning with what stays."""
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
