"""What engines are asked to do with every task of a table: the passes of `sweep.py`, as objects that travel."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias, TypeVar

from .arrays import Array, Float64, IntArray, Partition, to_numpy
from .choice import Sweep, deviations_for, measure_for, sweep_for
from .engines import Job
from .rules import Rule
from .spaces import Space
from .statistics import Statistics
from .sweep import State, fuzzy_deviations, gather, nearest, own_distances
from .table import Table

Result = TypeVar("Result")
Work: TypeAlias = Callable[[Table, int], Result]

_numbers = itertools.count()


@dataclass(frozen=True)
class Sweeping(Job[Statistics]):
    """One sweep from a state; `owned` sweeps note each row's cluster in the table."""

    rule: Rule
    state: State
    before: State | None = None  # against which memberships are compared
    owned: bool = False
    known: Sweep | None = None  # what swept before and remembers it; it stays at home
    number: int = field(default_factory=_numbers.__next__)

    def over(self, table: Table) -> Work[Statistics]:
        sweep = self.known or sweep_for(table, self.rule, owned=self.owned)

        def work(table: Table, task: int) -> Statistics:
            owners = table.owners if self.owned else None
            sums = sweep(table, self.rule, self.state, task, self.before, owners)
            if self.owned:
                table.noted[task] = self.number
            return sums

        return work

    def __reduce__(self) -> Any:
        return type(self), (self.rule, self.state, self.before, self.owned, None, self.number)


@dataclass(frozen=True)
class Deviating(Job[Float64]):
    """(c,) sums of weight |x - mean|^power over each cluster's own rows, which a sweep has noted."""

    noted: Sweeping
    means: State
    power: int

    def over(self, table: Table) -> Work[Float64]:
        deviations = deviations_for(table, self.power)

        def work(table: Table, task: int) -> Float64:
            if table.noted.get(task) != self.noted.number:  # the table was made again since, after a loss
                self.noted.over(table)(table, task)
            return deviations(table, self.means, table.owners, self.power, task)

        return work


@dataclass(frozen=True)
class FuzzyDeviating(Job[Float64]):
    """(2, c) sums of  weight u_ij |x_i - v_j|  and of  weight u_ij."""

    rule: Rule
    state: State

    def over(self, table: Table) -> Work[Float64]:
        return lambda table, task: fuzzy_deviations(table, self.rule, self.state, task)


@dataclass(frozen=True)
class Gathering(Job[Statistics]):
    """The sums that given memberships (n, c) make, without distances."""

    rule: Rule
    memberships: Array | Partition

    def over(self, table: Table) -> Work[Statistics]:
        return lambda table, task: gather(table, self.rule, self.memberships, task)

    def part(self, start: int, stop: int) -> Gathering:
        given = self.memberships
        here = given.part(start, stop) if isinstance(given, Partition) else given[start:stop, ...]
        return replace(self, memberships=here)


@dataclass(frozen=True)
class OwnDistances(Job[Float64]):
    """(b,) squared distance of each row to its nearest centre."""

    state: State

    def over(self, table: Table) -> Work[Float64]:
        return lambda table, task: own_distances(table, self.state, task)


@dataclass(frozen=True)
class Distances(Job[Array]):
    """(b, c) distances to every centre, square roots taken, by the arithmetic of the last pass."""

    rule: Rule
    state: State
    space: Space | None = None  # of the centres, where it is not the table's own

    def over(self, table: Table) -> Work[Array]:
        space = table.space if self.space is None else self.space
        measure = measure_for(table, space, self.rule, len(self.state.centres))
        return lambda table, task: measure(table, space, self.state, task)


@dataclass(frozen=True)
class Nearest(Job[IntArray]):
    """(b,) numbers of the nearest centres, without k(x, x)."""

    state: State

    def over(self, table: Table) -> Work[IntArray]:
        return lambda table, task: nearest(table, table.space, self.state, task)


@dataclass(frozen=True)
class WholeNorm(Job[float]):
    """sum_l w_l k(x_l, x_l)."""

    def over(self, table: Table) -> Work[float]:
        return lambda table, task: sum(float(to_numpy(p.rows.kxx).astype("float64") @ p.weight) for p in table.pieces(task))
