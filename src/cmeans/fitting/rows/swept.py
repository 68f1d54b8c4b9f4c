"""The problem that the sweeps of a fit solve: what is known of rows taken out of their weights, linked rows as one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from ...data.blocks import Blocks
from ...engines import Engine
from ...rules import Hard
from ...sampling.joined_rows import GroupedRows
from ...sampling.linked_rows import linked_rows
from ...sampling.population import Population, population_of
from ...solvers.multistart import FitResult, Pilot
from ...spaces import Space
from ...sweeps.passes import KnownPass
from ...sweeps.problem import Problem
from ...sweeps.represented_rows import RepresentedRows
from ...sweeps.statistics import KnownSums
from ..geometry import Geometry


@dataclass(frozen=True)
class SweptRows:
    """A problem, and what stands between it and the rows of the geometry."""

    problem: Problem
    given: RepresentedRows  # of the geometry, of which starts are made
    geometry: Geometry
    linked: GroupedRows | None

    @property
    def blocks(self) -> Blocks:
        """The given rows."""
        return self.geometry.blocks

    @cached_property
    def population(self) -> Population:
        """The problem's rows, to be drawn from; found when they are asked for, as it takes longer than a sweep over few rows."""
        free = self.blocks.free if self.linked is None else self.linked.blocks.free
        if free is self.blocks:
            return self.geometry.population
        return population_of(free, comparable=self.linked is None and not self.geometry.is_precomputed)

    def starting(self, pilot: Pilot | None) -> Problem:
        """Return the problem whose rule turns partitions of the given rows into centres."""
        return replace(self.problem, rows=self.given, rule=self.problem.rule if pilot is None else pilot.rule)

    def of_all_rows(self, result: FitResult) -> FitResult:
        """Return the result with labels and memberships of the given rows."""
        if self.linked is None:
            return result
        given = self.given.blocks
        return replace(result, assignment=self.linked.everywhere(result.assignment, given, None, is_soft=result.rule.is_soft))


def for_linked_rows(geometry: Geometry) -> Geometry:
    """Return the geometry in a space in which means of rows are rows."""
    if geometry.blocks.groups is None:
        return geometry
    space = geometry.space.factored()
    return geometry if space is geometry.space else geometry.over(space, geometry.landmark_rows)


def sums_of_known(space: Space, blocks: Blocks, n_clusters: int, engine: Engine) -> KnownSums | None:
    """Return the sums of the part of some rows that belongs to known clusters, by one pass over them; None where nothing is known."""
    if blocks.known is None:
        return None
    fixed = replace(blocks, weight=blocks.known.fixed(blocks.weight))
    sums = engine.fold(RepresentedRows(space, fixed, 0), KnownPass(Hard(), n_clusters))
    return KnownSums(space, sums.weight, sums.mass, sums.moment, sums.spread)


def swept_rows(geometry: Geometry, given: RepresentedRows, problem: Problem, n_clusters: int) -> SweptRows:
    """Return `problem`, over the given rows, with what is known of them, and with linked rows as one."""
    space, blocks, engine, linked = geometry.space, geometry.blocks, problem.engine, None
    if blocks.groups is not None:
        space, linked = linked_rows(space, blocks, engine)
        blocks = linked.blocks
    known = sums_of_known(space, blocks, n_clusters, engine)
    rows = given if linked is None else RepresentedRows(space, blocks.free, 0)
    return SweptRows(replace(problem, rows=rows, known=known), given, geometry, linked)
