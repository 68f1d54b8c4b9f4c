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
from ...sweeps.statistics import Statistics
from .bounds import SizeBounds
from .flow import Flow
from .rounding import whole_rows

WIDER = 4.0  # by which the margin of rows to be looked at grows where they are too few


@dataclass(frozen=True)
class Assigned:
    """The cheapest assignment, as it differs from that by the prices of a state."""

    flow: Flow
    rows: IntArray  # (q,) numbers of the rows near a border
    labels: IntArray  # (q,) their clusters by price
    d2: Float64  # (q, c)
    weight: Float64  # (q,)
    mass: Float64  # (c,) by price
    beyond: Float64  # (c, c) costs of moves that no other row is below
    row_visits: int

    @property
    def prices(self) -> Float64:
        """Prices by which every row is where it costs least, in the middle of all such."""
        return self.flow.central_prices(self.beyond)

    def corrected(self, problem: Problem, sums: Statistics) -> Statistics:
        """The sums of a sweep by the same prices, after the moves."""
        held = self.flow.holdings
        change = np.zeros((len(self.rows), len(self.mass)))
        np.add.at(change, (held.row, held.cluster), held.weight)
        change[np.arange(len(self.rows)), self.labels] -= self.weight
        moved = np.flatnonzero(np.abs(change).max(axis=1, initial=0.0) > 0)
        if not len(moved):
            return sums
        part = change[moved]
        moment = problem.moment_of(self.rows[moved], part)
        mass, spread = part.sum(axis=0), (part * self.d2[moved]).sum(axis=0)
        return sums + Statistics(0.0, mass, moment, spread)

    def moves(self, bounds: SizeBounds) -> Moves:
        """The moves as far as they are of whole rows."""
        held, c = self.flow.holdings, len(self.mass)
        labels = np.array(self.labels)
        if bounds.quantum is None:
            labels = whole_rows(held, labels, self.weight, c)
        else:
            labels[held.row] = held.cluster
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
        flow = Flow(near.d2, near.labels, weight, near.mass, prices, bounds)
        if flow.settle() and np.ptp(flow.prices - np.append(prices, 0.0)) <= width:
            beyond = width + prices[None, :] - prices[:, None]
            return Assigned(flow, near.rows, near.labels, near.d2, weight, near.mass, beyond, visits)
        if width == np.inf:
            raise ValueError("size_min, size_max: no assignment of the rows keeps the bounds, though they do not exclude each other.")
        width = np.inf if len(near.rows) == np.count_nonzero(weights) else max(width, np.finfo(float).tiny) * WIDER
