"""The sums over rows that all validity indices are made of, from one pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import entr
from sklearn.utils.validation import check_is_fitted

from ..data.additive import Additive
from ..data.arrays import Float64, host_float64, ratios
from ..data.blocks import spans
from ..engines import Pass
from ..fitting.prediction import Predicting
from ..rules import Rule
from ..spaces.centres import Centres
from ..sweeps.passes import DistancePass
from ..sweeps.represented_rows import RepresentedRows
from ..sweeps.state import State

CELLS = 2**18  # rows times clusters that are worked on together


@dataclass(frozen=True)
class ValiditySums(Additive):
    """Sums over rows i of weight w_i, with memberships u_ij (u1 and u2 the two largest of a row),
    w_ij = w_i u_ij^m, distances d_ij to the centres, and the silhouette s_i = (d2 - d1) / d2 of the
    two smallest of them."""

    weight: float  # sum_i w_i
    silhouette: float  # sum_i w_i s_i
    clearness: float  # sum_i w_i (u1 - u2)
    clear_silhouette: float  # sum_i w_i (u1 - u2) s_i
    squares: float  # sum_ij w_i u_ij^2
    entropy: float  # - sum_ij w_i u_ij ln u_ij
    mass: Float64  # (c,) sum_i w_ij
    deviation: Float64  # (c,) sum_i w_ij d_ij
    spread: Float64  # (c,) sum_i w_ij d_ij^2

    @classmethod
    def of_memberships(cls, u: Float64, weight: Float64) -> ValiditySums:
        """Return the sums (b, c) memberships alone make; distances are taken as zero."""
        return cls.of(u, u, np.zeros_like(u), weight)

    @classmethod
    def of(cls, u: Float64, powers: Float64, distances: Float64, weight: Float64) -> ValiditySums:
        """Return the sums of some rows: memberships, their powers u^m, and distances (b, c),
        weights (b,)."""
        nearest, second = _ends(distances, smallest=True)
        silhouettes = ratios(second - nearest, second)
        largest, next_largest = _ends(u, smallest=False)
        clearness = largest - next_largest
        return cls(
            float(weight.sum()),
            float(weight @ silhouettes),
            float(weight @ clearness),
            float(weight @ (clearness * silhouettes)),
            float(weight @ np.einsum("ij,ij->i", u, u)),
            float(weight @ entr(u).sum(axis=1)),
            weight @ powers,
            weight @ (powers * distances),
            weight @ (powers * distances**2),
        )


def _ends(values: Float64, *, smallest: bool) -> tuple[Float64, Float64]:
    """Return the smallest number (b,) of each row and the next, or the largest and the next; of one
    column the other is 0."""
    c = values.shape[1]
    if c == 1:
        return values[:, 0], np.zeros(len(values))
    first, second = (0, 1) if smallest else (c - 1, c - 2)
    ordered = np.partition(values, [first, second], axis=1)
    return ordered[:, first], ordered[:, second]


@dataclass(frozen=True)
class ValidityPass(Pass[ValiditySums]):
    """The sums of represented rows at the centres of a model."""

    rule: Rule
    state: State

    @property
    def _measuring(self) -> DistancePass:
        return DistancePass(self.rule, self.state)

    def prepare(self, rows: RepresentedRows) -> Any:
        return self._measuring.prepare(rows)

    def work(self, rows: RepresentedRows, task: int, prepared: Any) -> ValiditySums:
        distances = host_float64(self._measuring.work(rows, task, prepared))
        first, last = rows.task_range(task)
        weights, total = rows.blocks.weight[first:last], None
        if len(empty := rows.empty_rows(task) - first):  # rows that say nothing count nowhere
            distances, weights = np.array(distances), np.array(weights)
            distances[empty], weights[empty] = 1.0, 0.0
        for start, stop in spans(last - first, max(1, CELLS // len(self.state.centres))):
            d = distances[start:stop]
            u = host_float64(self.rule.memberships(d * d, self.state.scales))
            part = ValiditySums.of(u, host_float64(self.rule.weights(u)), d, weights[start:stop])
            total = part if total is None else total + part
        assert total is not None, "a task has rows"
        return total


def sums_of_model(
    model: Any, X: Any, sample_weight: Any, diag: Any, function_name: str
) -> tuple[ValiditySums, Centres]:
    """Return the sums of rows at the centres of a fitted model, in the user's unit of weight, and
    the centres, over axes in which these compare with the rows' distances."""
    if not isinstance(model, Predicting):
        raise ValueError(
            f"{function_name}(model={model!r}): pass a fitted estimator of this library, which has "
            "centres."
        )
    check_is_fitted(model)
    table = model._known_table(X, diag, sample_weight, function_name).in_scale()
    with model._engine(table.blocks) as engine:
        sums = engine.fold(table, ValidityPass(model._rule, model._state))
    return sums * table.blocks.unit, model._state.centres_apart(sums.mass)
