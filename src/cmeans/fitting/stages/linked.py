"""Rows that must share a cluster joined to one, with the weighted means of their products with the
basis and of k(x, x)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from ...data.arrays import (
    Float64,
    IntArray,
    as_like,
    dense_like,
    host_float64,
    is_sparse,
    take,
    to_numpy,
)
from ...data.blocks import KXX, Blocks
from ...data.known_labels import GROUP
from ...engines import Engine, Pass, brought
from ...solvers.fit_identity import digest_of
from ...spaces import MemberScatter, ProductSpace, Space
from ...sweeps.problem import Problem
from ...sweeps.represented_rows import RepresentedRows
from ..geometry import Geometry
from ..memory import require
from ..procedure import FitContext, Outcome, Stage, Swept
from ..validation import host_array
from .joined import GroupedRows


@dataclass(frozen=True)
class LinkedRows(Stage):
    """Must-links: rows that are linked are swept as one row, so that they end in one cluster. Its
    squared distance to a centre is the weighted mean of theirs."""

    must_link: Any  # as the user gives it
    groups: Any = None  # (n,) the group of each row, once the rows are known

    name = "must_link"

    def settle(self, context: FitContext) -> FitContext:
        name, blocks = context.estimator_name, context.blocks
        groups = _groups(self.must_link, blocks.n_rows, name)
        if groups is None:
            return context
        context = context.with_stage(replace(self, groups=groups))
        blocks = loaded_rows(blocks, context.settings.budget, name)
        return replace(context, blocks=blocks.with_columns(**{GROUP: groups}))

    @property
    def identity(self) -> Mapping[str, Any]:
        return {"linked rows": digest_of(self.groups)}

    def place(self, geometry: Geometry) -> Geometry:
        """Means of rows must be rows of the space."""
        space = geometry.space.factored()
        return geometry if space is geometry.space else geometry.over(space, geometry.landmark_rows)

    def prepare(self, swept: Swept) -> Swept:
        geometry, engine = swept.geometry, swept.problem.engine
        space, blocks = linked_rows(geometry.space, geometry.blocks, self.groups, engine)
        return replace(
            swept, problem=replace(swept.problem, rows=RepresentedRows(space, blocks, 0))
        )

    def restore(self, outcome: Outcome) -> Outcome:
        given, result = outcome.geometry.blocks, outcome.result
        rows = GroupedRows(given, self.groups.astype(np.int32))
        assignment = rows.everywhere(result.assignment, given, None, is_soft=result.rule.is_soft)
        return replace(outcome, result=replace(result, assignment=assignment))


@dataclass(frozen=True)
class MeansPass(Pass[list[tuple[IntArray, Any, Float64]]]):
    """Additions of the blocks of a task to groups of rows: numbers of groups, and sums of share
    times g and k(x, x) over their rows."""

    groups: IntArray  # (n,)
    share: Float64  # (n,) of a row in its group; a group's shares sum to one

    def work(
        self, rows: RepresentedRows, task: int, prepared: None
    ) -> list[tuple[IntArray, Any, Float64]]:
        added = []
        for block in rows.task(task):
            plain = block.rows.plain()
            g, kxx = plain.g if is_sparse(plain.g) else to_numpy(plain.g), to_numpy(plain.kxx)
            here = slice(block.start, block.start + len(kxx))
            groups, place = np.unique(self.groups[here], return_inverse=True)
            shares = sparse.csr_array(
                (self.share[here], (place, np.arange(len(kxx)))), shape=(len(groups), len(kxx))
            )
            added.append((groups, shares @ g, shares @ kxx))
        return added


def linked_rows(
    space: Space, blocks: Blocks, groups: IntArray, engine: Engine
) -> tuple[ProductSpace, Blocks]:
    """Return the rows of a fit with those of each group (n,) as one, and the space that they lie
    in."""
    first = np.unique(groups, return_index=True)[1]
    weight: Float64 = np.bincount(groups, weights=blocks.weight).astype(np.float64)
    share = _shares(blocks.weight, groups)
    parts = [
        part
        for task in engine.map(RepresentedRows(space, blocks, 0), MeansPass(groups, share))
        for part in task
    ]
    kxx = np.zeros(len(weight))
    for numbers, _, squares in parts:
        kxx[numbers] += squares
    g: Any
    if is_sparse(parts[0][1]):
        numbers = np.concatenate([part[0] for part in parts])
        rows = sparse.vstack([part[1] for part in parts], format="csr")
        g = (
            sparse.csr_array(
                (np.ones(len(numbers)), (numbers, np.arange(len(numbers)))),
                shape=(len(weight), len(numbers)),
            )
            @ rows
        )
    else:
        g = np.zeros((len(weight), space.size))
        for numbers, products, _ in parts:
            g[numbers] += products
    like = dense_like(blocks.x)
    columns = {name: column[first] for name, column in blocks.columns.items() if name != GROUP}
    means = as_like(kxx, like)
    g = g.astype(blocks.x.dtype) if is_sparse(g) else as_like(g, like)
    return ProductSpace(space), replace(blocks, x=g, weight=weight, columns=columns | {KXX: means})


def with_members(swept: Swept) -> Swept:
    """Return a problem that knows how the members of its rows differ, as clusters with metrics must
    where rows stand for several; `counted_as_one` says how these count."""
    groups, problem = swept.geometry.blocks.columns.get(GROUP), swept.problem
    if groups is None or problem.space.scatter is not None:
        return swept
    space, blocks = swept.geometry.space, swept.geometry.blocks
    weight, several = np.bincount(groups, weights=blocks.weight), np.bincount(groups) > 1
    numbers = np.argsort(groups, kind="stable")
    numbers = numbers[several[groups[numbers]]]
    row = groups[numbers]
    away = space.embed(blocks.take(numbers), numbers).coordinates
    away = away - host_float64(take(problem.whole.rows.blocks.x, row))
    count = np.where(several & (weight > 0), weight * blocks.unit, 1.0)
    scatter = MemberScatter(away, row, _shares(blocks.weight, groups)[numbers], count)
    return replace(swept, problem=_in_space(problem, scatter))


def counted_as_one(problem: Problem) -> Problem:
    """Return the problem of a mixture, in which rows that stand for several count as one in the
    components' shares, and the densities of their members are multiplied (Shental et al. 2004)."""
    scatter = problem.space.scatter
    if scatter is None:
        return problem
    problem, count = _in_space(problem, scatter.multiplied()), scatter.count

    def counted(rows: RepresentedRows) -> RepresentedRows:
        return rows.over(replace(rows.blocks, weight=rows.blocks.weight / count))

    known = problem.known
    known = None if known is None else replace(known, rows=counted(known.rows))
    return replace(problem, rows=counted(problem.rows), known=known)


def _in_space(problem: Problem, scatter: MemberScatter) -> Problem:
    """Return the problem of linked rows that know of their members."""
    space = replace(cast(ProductSpace, problem.space), scatter=scatter)
    known = problem.known
    if known is not None:
        known = replace(known, rows=RepresentedRows(space, known.rows.blocks, 0))
    return replace(problem, rows=RepresentedRows(space, problem.rows.blocks, 0), known=known)


def _shares(weight: Float64, groups: IntArray) -> Float64:
    """Return the share (n,) that a row has of the weight of its group; of groups without weight of
    their rows."""
    total = np.bincount(groups, weights=weight)[groups]
    number = np.bincount(groups)[groups]
    return np.where(total > 0, weight / np.where(total > 0, total, 1.0), 1.0 / number)


def loaded_rows(blocks: Blocks, budget: int | None, estimator_name: str) -> Blocks:
    """Return the same rows in memory, where those that are linked become one."""

    def ask(where: str, nbytes: int | None) -> None:
        if nbytes is None:
            raise ValueError(
                f"{estimator_name}: must_link needs rows in memory; load {where} and pass the "
                "array, or leave it out."
            )
        advice = "linked rows are read into memory; allow for more, or leave out must_link"
        require(budget, estimator_name, nbytes, f"all rows of {where}", advice)

    return blocks.in_memory(ask)


def _groups(value: Any, n_rows: int, estimator_name: str) -> IntArray | None:
    """Return the number of its group (n,) for each row, of groups in the order of their first rows;
    None where no rows are linked."""
    if value is None:
        return None
    try:
        numbers = host_array(brought(value), "must_link", estimator_name)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{estimator_name}: must_link must be pairs of row numbers, or a group for each row "
            f"({error})."
        ) from None
    pairs = numbers.ndim == 2 and numbers.shape[1] == 2
    if not pairs and numbers.shape not in ((n_rows,), (0,)):
        raise ValueError(
            f"{estimator_name}: must_link has shape {numbers.shape}; give (k, 2) row numbers of "
            f"pairs, or ({n_rows},) numbers of groups."
        )
    if numbers.size and numbers.dtype.kind not in "iu":
        raise ValueError(
            f"{estimator_name}: must_link are {numbers.dtype}; give whole numbers: rows of pairs, "
            "or groups, -1 for none."
        )
    numbers = numbers.astype(np.intp)
    if pairs:
        wrong = numbers[(numbers < 0) | (numbers >= n_rows)]
        if len(wrong):
            raise ValueError(
                f"{estimator_name}: must_link names row {wrong[0]}, which does not exist; there "
                f"are {n_rows} rows, from 0."
            )
        graph = sparse.coo_array(
            (np.ones(len(numbers)), (numbers[:, 0], numbers[:, 1])), shape=(n_rows, n_rows)
        )
        numbers = connected_components(graph, directed=False)[1]
    elif numbers.size and numbers.min() < -1:
        raise ValueError(
            f"{estimator_name}: must_link holds the group {numbers.min()}; groups are numbered "
            "from 0, -1 for rows in none."
        )
    elif not numbers.size:
        return None
    own = np.where(numbers < 0, numbers.max() + 1 + np.arange(n_rows), numbers)
    first, place = np.unique(own, return_index=True, return_inverse=True)[1:]
    if len(first) == n_rows:
        return None
    rank = np.empty(len(first), np.intp)
    rank[np.argsort(first)] = np.arange(len(first))
    return np.asarray(rank[place], np.intp)
