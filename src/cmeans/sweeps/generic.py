"""The generic sweep: one pass over the rows of a task, for any space, rule and array library."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from ..data.arrays import (
    Array,
    Float64,
    IntArray,
    as_like,
    device,
    host_float64,
    is_foreign,
    is_sparse,
    namespace,
    to_numpy,
)
from ..data.outputs import RowOutputs
from ..data.partitions import Partition
from ..rules import Rule
from ..spaces import Rows, Space
from .represented_rows import RepresentedBlock, RepresentedRows, RowsInSpace
from .second_moments import SecondMoments
from .state import State
from .statistics import (
    FinalSums,
    HardStatistics,
    Statistics,
)

SUMMED_BY_LABEL = 64  # clusters from which on rows are summed by their labels


def sweep(
    rows: RowsInSpace, rule: Rule, state: State, task: int, labels: IntArray | None = None
) -> Statistics:
    """Statistics of the rows of one task.

    With `labels` (n,), the number of the cluster of each row's largest membership (-1: none) is
    written to it, and the sums over each cluster's own rows come too.
    """
    sums = _Sums(len(state.centres), rows.space.moment_width)
    second, errors = SecondMoments.asked_by(state), state.expected_errors
    scatter = rows.space.scatter
    joint = scatter is not None and scatter.are_multiplied
    if second is not None and (rule.has_tails or joint):
        second = replace(second, mass=np.zeros(len(state.centres)), holds_members=joint)
    for block, block_rows, distances in measured(rows, rows.space, state, task, plain=False):
        d2, more = _costs(rule, block_rows, distances, state)
        d2, pull = rule.tails(d2, errors)
        if (members := block_rows.members) is not None:
            pull = as_like(members, d2)[:, None]
        u = rule.memberships(d2, state.scales)
        weight = as_like(block.weight, d2)
        w = rule.weights(u) * weight[:, None]
        pulling = w if pull is None else w * pull
        block_rows.add_moment(pulling, sums.moment(d2))
        if second is not None:
            block_rows.add_second_moments(pulling, second.points, second.values)
            if second.mass is not None:
                second.mass[...] += host_float64(namespace(w).sum(pulling, axis=0))
        sums.add(w, d2, _penalty(rule, u, state, more), block.weight, weight)
        if labels is not None:
            here = argmax_labels(rule, u, d2)
            labels[block.start : block.start + len(here)] = here
            sums.add_hard(
                block_rows,
                as_like(here[:, None] == np.arange(len(state.centres))[None, :], d2)
                * weight[:, None],
            )
    return sums.statistics(second)


def gather(
    rows: RepresentedRows,
    rule: Rule,
    memberships: Array | Partition,
    task: int,
    about: State | None = None,
) -> Statistics:
    """The same sums from given memberships (n, c): how a run starts from a partition. Distances are
    those from the space's origin; second moments those that the state `about` asks for."""
    if isinstance(memberships, Partition) and about is None and sums_by_label(rows, memberships):
        return _of_labels(rows, memberships, task)
    sums = _Sums(memberships.shape[1], rows.space.moment_width)
    second = None if about is None else SecondMoments.asked_by(about)
    for block in rows.task(task):
        block_rows = block.rows.prepared()
        kxx = block_rows.kxx
        u = as_like(memberships[block.start : block.start + kxx.shape[0], ...], kxx)
        weight = as_like(block.weight, kxx)
        w = rule.weights(u)
        w = w if (block.weight == 1.0).all() else w * weight[:, None]
        block_rows.add_moment(w, sums.moment(w))
        sums.add(w, kxx[:, None], None, block.weight, weight)
        if second is not None:
            block_rows.add_second_moments(w, second.points, second.values)
    return sums.statistics(second)


def sums_by_label(rows: RepresentedRows, partition: Partition) -> bool:
    """True where rows are added each to its own cluster's sums, in place of a product with
    memberships of which almost all are zero."""
    x = rows.blocks.x
    return (
        partition.shape[1] >= SUMMED_BY_LABEL
        and rows.space.sweeps_products
        and not (is_foreign(x) or is_sparse(x))
    )


def _of_labels(rows: RepresentedRows, partition: Partition, task: int) -> Statistics:
    c, weight = partition.shape[1], 0.0
    mass, spread, moment = np.zeros(c), np.zeros(c), np.zeros((c, rows.space.moment_width))
    for block in rows.task(task):
        block_rows = block.rows.prepared()
        labels, own = partition.labels(block.start, len(block.weight)), block.weight[:]
        met, places = np.unique(labels, return_inverse=True)
        part = np.zeros((len(met), moment.shape[1]))
        memberships = csr_array((own, places, np.arange(len(own) + 1)), (len(own), len(met)))
        block_rows.add_moment(memberships, part)
        moment[met] += part
        mass += np.bincount(labels, own, c)
        spread += np.bincount(labels, own * host_float64(block_rows.kxx), c)
        weight += float(own.sum())
    return Statistics(weight, mass, moment, spread, 0.0)


def assign(
    rows: RepresentedRows,
    space: Space,
    rule: Rule,
    state: State,
    task: int,
    out: RowOutputs,
    *,
    plain: bool = True,
) -> FinalSums:
    """Memberships and labels of one task's rows: as any rows (what `predict` would say of them, to
    the last bit), or not `plain`, by what sweeps know of them."""
    objective = total_distance = 0.0
    mass = np.zeros(len(state.centres))
    for block, block_rows, distances in measured(rows, space, state, task, plain=plain):
        (d2, more), xp = _costs(rule, block_rows, distances, state), namespace(distances)
        weight = as_like(block.weight, d2, xp.float64)
        total_distance += float(xp.sum(xp.sum(d2, axis=1, dtype=xp.float64) * weight))
        d2, _ = rule.tails(d2, state.expected_errors)
        here = out.place(block.start, d2.shape[0])
        u = rule.memberships(d2, state.scales)
        out.labels[here] = labels = argmax_labels(rule, u, d2)
        if out.clusters is None:
            if out.memberships.shape[1]:  # else labels tell them
                out.memberships[here, ...] = u
        else:
            out.clusters[here], out.memberships[here, ...] = _largest(u, out.clusters.shape[1])
        out.nearest[here] = label_column(distances, labels)
        costs = xp.sum(rule.weights(u) * d2, axis=1)
        penalty = _penalty(rule, u, state, more)
        costs = costs if penalty is None else costs + penalty
        objective += float(xp.sum(xp.astype(costs, xp.float64) * weight))
        mass += to_numpy(xp.sum(xp.astype(u, xp.float64) * weight[:, None], axis=0))
    return FinalSums(objective, total_distance, mass)


def argmax_labels(rule: Rule, u: Array, d2: Array) -> IntArray:
    """The cluster of the largest membership, ties to the lowest number; -1 where the rule leaves
    the row out."""
    labels: IntArray = to_numpy(namespace(u).argmax(u, axis=1)).astype(np.intp)
    if rule.leaves_rows_out:
        labels[to_numpy(rule.left_out(u, d2))] = -1
    return labels


def _largest(u: Array, most: int) -> tuple[IntArray, Array]:
    """The clusters (b, k) of the largest memberships of rows, and these in falling order, equal
    ones by number."""
    values = to_numpy(u)
    order: IntArray = np.argsort(-values, axis=1, kind="stable")[:, :most]
    return order, as_like(np.take_along_axis(values, order, axis=1), u)


def label_column(d2: Array, labels: IntArray) -> Float64:
    """(b,) squared distance to the centre of the label, to the nearest where there is none."""
    distances = to_numpy(d2)
    own: Float64 = distances[np.arange(len(labels)), labels].astype(np.float64)
    nowhere = labels < 0
    own[nowhere] = distances[nowhere].min(axis=1)
    return own


def measured(
    rows: RowsInSpace, space: Space, state: State, task: int, *, plain: bool
) -> Iterator[tuple[RepresentedBlock, Rows, Array]]:
    """The blocks of one task with their squared distances to the centres, which are moved to the
    rows' library and dtype once.

    `plain` rows are measured as anybody's rows, others by what training rows know.
    """
    distances_of = None
    for block in rows.task(task):
        block_rows = state.completed(block.rows.plain() if plain else block.rows.prepared())
        if distances_of is None:
            distances_of = state.distances_in(space, block_rows.kxx)
        yield block, block_rows, distances_of(block_rows)


def _costs(rule: Rule, rows: Rows, distances: Array, state: State) -> tuple[Array, Array | None]:
    """Return what memberships are made of (b, c), and what of it rows have (b,) as they lack values
    that noise spreads over, or stand for several rows of which each may be noise."""
    d2, more = rows.costs(distances, state.metrics), rule.of_holes(rows.plain().holes)
    more = rule.of_members(rows.members) if more is None else more
    return (d2, None) if more is None else (d2 + as_like(more, d2)[:, None], as_like(more, d2))


def _penalty(rule: Rule, u: Array, state: State, more: Array | None) -> Array | None:
    """Return what the rule adds to the objective of each row, without what rows have `more` in all
    of their distances."""
    penalty = rule.penalty(u, state.scales)
    return penalty if more is None or penalty is None else penalty - more


class _Sums:
    """The sums of one task while they grow: float64, in the rows' own library, moved to the host
    once."""

    def __init__(self, n_clusters: int, width: int) -> None:
        self._shape = (n_clusters, width)
        self._moment: Array = None
        self._mass: Array = None
        self._spread: Array = None
        self._penalty: Any = 0.0
        self._weight = 0.0
        self._hard_mass: Array = None
        self._hard_moment: Array = None

    def moment(self, like: Array) -> Array:
        """The array that moments are added to."""
        if self._moment is None:
            xp = namespace(like)
            self._moment = xp.zeros(self._shape, dtype=xp.float64, device=device(like))
            self._mass = xp.zeros(self._shape[0], dtype=xp.float64, device=device(like))
            self._spread = xp.zeros(self._shape[0], dtype=xp.float64, device=device(like))
        return self._moment

    def add(
        self, w: Array, d2: Array, penalty: Array | None, weight: Float64, weight_like: Array
    ) -> None:
        xp = namespace(w)
        self._mass += xp.sum(w, axis=0, dtype=xp.float64)
        self._spread += xp.sum(w * d2, axis=0, dtype=xp.float64)
        self._weight += float(weight.sum())
        if penalty is not None:
            self._penalty = self._penalty + xp.sum(penalty * weight_like, dtype=xp.float64)

    def add_hard(self, rows: Rows, w: Array) -> None:
        """`w` (b, c): the sample weight of each row, in the column of the cluster it belongs to."""
        xp = namespace(w)
        if self._hard_moment is None:
            self._hard_moment = xp.zeros(self._shape, dtype=xp.float64, device=device(w))
            self._hard_mass = xp.zeros(self._shape[0], dtype=xp.float64, device=device(w))
        self._hard_mass += xp.sum(w, axis=0, dtype=xp.float64)
        rows.add_moment(w, self._hard_moment)

    def statistics(self, second: SecondMoments | None = None) -> Statistics:
        return Statistics(
            self._weight,
            to_numpy(self._mass),
            to_numpy(self._moment),
            to_numpy(self._spread),
            float(self._penalty),
            None
            if self._hard_moment is None
            else HardStatistics(to_numpy(self._hard_mass), to_numpy(self._hard_moment)),
            second,
        )
