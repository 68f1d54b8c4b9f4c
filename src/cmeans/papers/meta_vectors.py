"""The past of a stream as weighted rows, whose memberships are found anew with those of each chunk
(Zhang 2013 eq. 8-9)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ..data.arrays import Float64
from ..rules import Rule
from ..streaming import StreamSummary
from ..sweeps.generic import sweep
from ..sweeps.represented_rows import RepresentedBlock
from ..sweeps.state import State
from ..sweeps.statistics import Statistics


class MetaVectors:
    """The past as c weighted rows at its centres, whose memberships are updated in every sweep
    (Zhang 2013 eq. 8-9)."""

    def __init__(self, past: StreamSummary, rule: Rule) -> None:
        self.space = past.space
        self._past, self._rule = past, rule
        self._piece = RepresentedBlock(past.space.as_rows(past.centres), past.mass, 0)

    def task(self, task: int) -> Iterator[RepresentedBlock]:
        """Yield the meta-vectors as a single block."""
        yield self._piece

    def __call__(self, state: State) -> Statistics:
        sums = sweep(self, self._rule, state, 0)
        return replace(
            sums,
            weight=self._past.weight,
            spread=sums.spread + self._past.spread,
            penalty=sums.penalty + self._past.penalty,
        )

    def belonging(self, state: State) -> Float64:
        """Weight (c,) of the past in each cluster."""
        rows = self._piece.rows
        u = self._rule.memberships(
            rows.squared_distances(self.space.view(state.centres, rows.kxx)), state.scales
        )
        belonging: Float64 = self._past.mass @ u
        return belonging
