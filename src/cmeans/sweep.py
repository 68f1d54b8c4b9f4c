"""The generic sweep: one pass over the rows of a task, for any space, rule and array library."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .arrays import Array, Float64, IntArray, as_like, device, namespace, to_numpy
from .centres import Centres
from .complaints import NOT_FINITE
from .rules import Rule
from .spaces import Rows, Space
from .statistics import Own, Statistics
from .table import Piece, Represented, Table


@dataclass(frozen=True)
class State:
    """Where a run stands: the centres, and the clusters' scales where the rule has any."""

    centres: Centres
    scales: Float64 | None = None


def sweep(
    table: Represented, rule: Rule, state: State, task: int, before: State | None = None, owners: IntArray | None = None
) -> Statistics:
    """What the rows of one task say about all clusters.

    `before` asks for the largest change of a membership since that state; `owners` (n,) for the sums over each cluster's own
    rows, whose numbers of clusters (-1: none) are written to it.
    """
    sums = _Sums(len(state.centres), table.space.moment_width)
    before_view = None
    for piece, rows, d2 in _measured(table, table.space, state, task, plain=False):
        u = rule.memberships(d2, state.scales)
        weight = as_like(piece.weight, d2)
        w = rule.weights(u) * weight[:, None]
        rows.add_moment(w, sums.moment(d2))
        sums.add(w, d2, rule.penalty(u, state.scales), piece.weight, weight)
        if owners is not None:
            labels = _largest(u, leaves_rows_out=True)
            owners[piece.start : piece.start + len(labels)] = labels
            sums.add_own(rows, as_like(labels[:, None] == np.arange(len(state.centres))[None, :], d2) * weight[:, None])
        if before is not None:
            if before_view is None:
                before_view = table.space.view(before.centres, rows.kxx)
            u_before = rule.memberships(rows.squared_distances(before_view), before.scales)
            sums.change = max(sums.change, float(namespace(u).max(namespace(u).abs(u - u_before))))
    return sums.statistics()


def gather(table: Table, rule: Rule, memberships: Array, task: int) -> Statistics:
    """The same sums from given memberships (n, c): how a run starts from a partition."""
    sums = _Sums(memberships.shape[1], table.space.moment_width)
    for piece in table.pieces(task):
        kxx = piece.rows.kxx
        u = as_like(memberships[piece.start : piece.start + kxx.shape[0], ...], kxx)
        weight = as_like(piece.weight, kxx)
        w = rule.weights(u)
        w = w if (piece.weight == 1.0).all() else w * weight[:, None]
        piece.rows.add_moment(w, sums.moment(w))
        sums.add(w, None, None, piece.weight, weight)
    return sums.statistics()


@dataclass(frozen=True)
class Outputs:
    """Where the last pass writes what it says of each row: of all of them, each task its own, or of the rows of one task alone."""

    labels: IntArray  # (n,)
    memberships: Array  # (n, c) in the rows' library and dtype
    nearest: Float64  # (n,) squared distance to the centre of the row's own label
    start: int = 0  # number of the first of them

    @classmethod
    def empty(cls, n_rows: int, n_clusters: int, like: Array, start: int = 0) -> Outputs:
        """Room for rows of the library and dtype of `like`."""
        xp = namespace(like)
        memberships = xp.empty((n_rows, n_clusters), dtype=like.dtype, device=device(like))
        return cls(np.empty(n_rows, dtype=np.intp), memberships, np.empty(n_rows), start)

    def place(self, start: int, n_rows: int) -> slice:
        """Where rows are written that begin with number `start`."""
        return slice(start - self.start, start - self.start + n_rows)


@dataclass(frozen=True)
class Tally:
    """What the last pass sums over rows."""

    objective: float
    total_distance: float  # sum_ij weight_i d2_ij
    mass: Float64  # (c,) sum_i weight_i u_ij

    def __add__(self, other: Tally) -> Tally:
        return Tally(self.objective + other.objective, self.total_distance + other.total_distance, self.mass + other.mass)


def assign(table: Table, space: Space, rule: Rule, state: State, task: int, out: Outputs) -> Tally:
    """Memberships and labels of one task's rows, as any rows (what `predict` would say of them, to the last bit)."""
    objective = total_distance = 0.0
    mass = np.zeros(len(state.centres))
    for piece, _, d2 in _measured(table, space, state, task, plain=True):
        xp = namespace(d2)
        here = out.place(piece.start, d2.shape[0])
        u = rule.memberships(d2, state.scales)
        out.labels[here] = labels = _largest(u, leaves_rows_out=rule.leaves_rows_out)
        out.memberships[here, ...] = u
        out.nearest[here] = _own_column(d2, labels)
        weight = as_like(piece.weight, d2, xp.float64)
        costs = xp.sum(rule.weights(u) * d2, axis=1)
        penalty = rule.penalty(u, state.scales)
        costs = costs if penalty is None else costs + penalty
        objective += float(xp.sum(xp.astype(costs, xp.float64) * weight))
        total_distance += float(xp.sum(xp.sum(d2, axis=1, dtype=xp.float64) * weight))
        mass += to_numpy(xp.sum(xp.astype(u, xp.float64) * weight[:, None], axis=0))
    return Tally(objective, total_distance, mass)


def _largest(u: Array, *, leaves_rows_out: bool) -> IntArray:
    """The cluster of the largest membership, ties to the lowest number; -1 where all are zero and that may be."""
    xp = namespace(u)
    labels: IntArray = to_numpy(xp.argmax(u, axis=1)).astype(np.intp)
    if leaves_rows_out:
        labels[to_numpy(xp.max(u, axis=1)) == 0] = -1
    return labels


def _own_column(d2: Array, labels: IntArray) -> Float64:
    """(b,) squared distance to the centre of the label, to the nearest where there is none."""
    distances = to_numpy(d2)
    own: Float64 = distances[np.arange(len(labels)), labels].astype(np.float64)
    nowhere = labels < 0
    own[nowhere] = distances[nowhere].min(axis=1)
    return own


def deviations(table: Table, means: State, owners: IntArray, power: int, task: int) -> Float64:
    """(c,) sum over each cluster's own rows in one task of  weight |x - mean|^power  for power 1 or 2."""
    total = np.zeros(len(means.centres))
    for piece, _, d2 in _measured(table, table.space, means, task, plain=False):
        labels = owners[piece.start : piece.start + d2.shape[0]]
        distances = _own_column(d2, labels)
        owned = labels >= 0
        values = (distances if power == 2 else np.sqrt(distances)) * piece.weight
        total += np.bincount(labels[owned], weights=values[owned], minlength=len(total))
    return total


def fuzzy_deviations(table: Table, rule: Rule, state: State, task: int) -> Float64:
    """(2, c) sums over the rows of one task of  weight u_ij |x_i - v_j|  and of  weight u_ij."""
    total = np.zeros((2, len(state.centres)))
    for piece, _, d2 in _measured(table, table.space, state, task, plain=False):
        xp = namespace(d2)
        u = rule.memberships(d2, state.scales) * as_like(piece.weight, d2)[:, None]
        total += np.stack([to_numpy(xp.sum(u * xp.sqrt(d2), axis=0)), to_numpy(xp.sum(u, axis=0))])
    return total


def own_distances(table: Table, state: State, task: int) -> Float64:
    """(b,) squared distance of each row of one task to its nearest centre."""
    parts = []
    for _, _, d2 in _measured(table, table.space, state, task, plain=False):
        parts.append(to_numpy(namespace(d2).min(d2, axis=1)).astype(np.float64))
    return np.concatenate(parts)


def distances(table: Table, space: Space, state: State, task: int) -> Array:
    """(b, c) distances, square roots taken, of the rows of one task to every centre, as any rows."""
    parts = []
    for _, _, d2 in _measured(table, space, state, task, plain=True):
        xp = namespace(d2)
        if not bool(xp.all(xp.isfinite(d2))):
            raise ValueError(NOT_FINITE)
        parts.append(xp.sqrt(d2))
    return namespace(parts[0]).concat(parts)


def nearest(table: Table, space: Space, state: State, task: int) -> IntArray:
    """(b,) numbers of the nearest centres, without k(x, x)."""
    parts = []
    for piece in table.pieces(task):
        rows = piece.rows.plain()
        view = space.view(state.centres, rows.kxx)
        parts.append(to_numpy(namespace(rows.kxx).argmax(2.0 * rows.inner(view) - view.norms[None, :], axis=1)))
    return np.concatenate(parts)


def _measured(table: Represented, space: Space, state: State, task: int, *, plain: bool) -> Iterator[tuple[Piece, Rows, Array]]:
    """The blocks of one task with their squared distances to the centres, which are moved to the rows' library and dtype once.

    `plain` rows are measured as anybody's rows, others by what training rows know.
    """
    view = None
    for piece in table.pieces(task):
        rows = piece.rows.plain() if plain else piece.rows
        if view is None:
            view = space.view(state.centres, rows.kxx)
        yield piece, rows, rows.squared_distances(view)


class _Sums:
    """The sums of one task while they grow: float64, in the rows' own library, moved to the host once."""

    def __init__(self, n_clusters: int, width: int) -> None:
        self._shape = (n_clusters, width)
        self._moment: Array = None
        self._mass: Array = None
        self._spread: Array = None
        self._penalty: Any = 0.0
        self._weight = 0.0
        self._own_mass: Array = None
        self._own_moment: Array = None
        self.change = 0.0

    def moment(self, like: Array) -> Array:
        """The array that moments are added to."""
        if self._moment is None:
            xp = namespace(like)
            self._moment = xp.zeros(self._shape, dtype=xp.float64, device=device(like))
            self._mass = xp.zeros(self._shape[0], dtype=xp.float64, device=device(like))
            self._spread = xp.zeros(self._shape[0], dtype=xp.float64, device=device(like))
        return self._moment

    def add(self, w: Array, d2: Array | None, penalty: Array | None, weight: Float64, weight_like: Array) -> None:
        xp = namespace(w)
        self._mass += xp.sum(w, axis=0, dtype=xp.float64)
        if d2 is not None:
            self._spread += xp.sum(w * d2, axis=0, dtype=xp.float64)
        self._weight += float(weight.sum())
        if penalty is not None:
            self._penalty = self._penalty + xp.sum(penalty * weight_like, dtype=xp.float64)

    def add_own(self, rows: Rows, w: Array) -> None:
        """`w` (b, c): the sample weight of each row, in the column of the cluster it belongs to."""
        xp = namespace(w)
        if self._own_moment is None:
            self._own_moment = xp.zeros(self._shape, dtype=xp.float64, device=device(w))
            self._own_mass = xp.zeros(self._shape[0], dtype=xp.float64, device=device(w))
        self._own_mass += xp.sum(w, axis=0, dtype=xp.float64)
        rows.add_moment(w, self._own_moment)

    def statistics(self) -> Statistics:
        return Statistics(
            self._weight,
            to_numpy(self._mass),
            to_numpy(self._moment),
            to_numpy(self._spread),
            float(self._penalty),
            self.change,
            None if self._own_moment is None else Own(to_numpy(self._own_mass), to_numpy(self._own_moment)),
        )
