"""c-means that stops as the papers print it: when memberships stand still."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..data.arrays import Array, dense_like, namespace
from ..data.outputs import RowOutputs
from ..engines import Pass
from ..estimators.cmeans import CMeans
from ..fitting.procedure import Procedure
from ..rules import Rule
from ..runtime.docstrings import shares_parameters
from ..sweeps.choice import AssignFunction, assign_for
from ..sweeps.problem import Problem
from ..sweeps.represented_rows import RepresentedRows
from ..sweeps.state import State


@dataclass(frozen=True)
class Largest:
    """The largest of some numbers, which adds like a sum."""

    value: float

    def __add__(self, other: Largest) -> Largest:
        return self if self.value >= other.value else other


class LastMemberships:
    """The memberships of the rows of each task as a pass over them found them last, with the rule
    and the state that made them."""

    def __init__(self, rows: RepresentedRows) -> None:
        self.by_task: dict[int, tuple[Rule, State, Array]] = {}


@dataclass(frozen=True)
class ChangePass(Pass[Largest]):
    """The largest change of a membership between two states, max |u - u'|."""

    rule: Rule
    before: State
    at: State

    def prepare(self, rows: RepresentedRows) -> dict[int, AssignFunction]:
        # each has its own, which keeps the centres of a state as they meet the rows
        c = len(self.at.centres)
        return {
            id(state): assign_for(rows, rows.space, self.rule, c, plain=False)
            for state in (self.before, self.at)
        }

    def work(
        self, rows: RepresentedRows, task: int, prepared: dict[int, AssignFunction]
    ) -> Largest:
        first, last = rows.task_range(task)
        c, like, most = len(self.at.centres), dense_like(rows.blocks.x), self.rule.most_clusters

        def memberships(state: State) -> Array:
            out = RowOutputs.empty(last - first, c, like, first, most)
            prepared[id(state)](rows, rows.space, self.rule, state, task, out)
            return out.dense_memberships(c)

        kept = rows.beside(LastMemberships).by_task
        rule, state, then = kept.get(task, (None, None, None))
        if rule is not self.rule or state is not self.before:
            then = memberships(self.before)
        now = memberships(self.at)
        if rows.stay_in_memory:  # where memory is short it is not for this
            kept[task] = self.rule, self.at, now
        change = abs(now - then)
        return Largest(float(namespace(change).max(change)))


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
