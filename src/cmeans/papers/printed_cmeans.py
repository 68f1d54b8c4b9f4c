"""c-means that stops as the papers print it: when memberships stand still."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..data.arrays import Array, namespace
from ..engines import Pass
from ..estimators.cmeans import CMeans
from ..fitting.procedure import Procedure
from ..rules import Rule
from ..runtime.docstrings import shares_parameters
from ..spaces import Rows
from ..sweeps.problem import Problem
from ..sweeps.represented_rows import RepresentedRows
from ..sweeps.state import State


@dataclass(frozen=True)
class Largest:
    """The largest of some numbers, which adds like a sum."""

    value: float

    def __add__(self, other: Largest) -> Largest:
        return self if self.value >= other.value else other


@dataclass(frozen=True)
class ChangePass(Pass[Largest]):
    """The largest change of a membership between two states, max |u - u'|."""

    rule: Rule
    before: State
    at: State

    def work(self, rows: RepresentedRows, task: int, prepared: None) -> Largest:
        largest = 0.0
        for block in rows.task(task):
            now, then = (
                self._memberships(rows, block.rows.prepared(), state)
                for state in (self.at, self.before)
            )
            largest = max(largest, float(namespace(now).max(namespace(now).abs(now - then))))
        return Largest(largest)

    def _memberships(self, rows: RepresentedRows, block_rows: Rows, state: State) -> Array:
        d2 = block_rows.squared_distances(rows.space.view(state.centres, block_rows.kxx))
        return self.rule.memberships(d2, state.scales)


@dataclass(frozen=True)
class MembershipsStandStill:
    """The end of a run where max |u - u'| <= tol, as the papers print it. It looks at all rows once
    more in every sweep."""

    name: str = "memberships"

    def __call__(
        self, problem: Problem, before: State | None, at: State, history: Sequence[float]
    ) -> tuple[bool, float]:
        if before is None:
            return False, 0.0
        change = problem.engine.fold(problem.rows, ChangePass(problem.rule, before, at)).value
        return change <= problem.stopping.tol, change


@shares_parameters(CMeans)
class PrintedCMeans(CMeans):
    """c-means as the papers print it: as `cmeans.CMeans`, but sweeps end when memberships stand
    still, max |u - u'| <= tol.

    It minimises  sum_ij w_i weight(u_ij) |phi(x_i) - v_j|^2 + penalty(u)  by alternating. Use it to
    reproduce published numbers of sweeps: each takes two passes over the rows, `CMeans` needs one
    and mixes centres on the way, which takes fewer sweeps.

    Attributes, methods and errors are those of `cmeans.CMeans`; it never accelerates.

    Parameters
    ----------

    References
    ----------
    Havens, Chitta, Jain, Jin: Speedup of fuzzy and possibilistic kernel c-means for large-scale
    clustering. FUZZ-IEEE 2011, Table I.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from cmeans.papers import PrintedCMeans, PrintedFuzzy
    >>> X = load_iris().data
    >>> PrintedCMeans(3, rule=PrintedFuzzy(2.0), tol=1e-3, random_state=0).fit(X).converged_
    True
    """

    def _procedure(self) -> Procedure:
        return replace(super()._procedure(), criterion=MembershipsStandStill())
