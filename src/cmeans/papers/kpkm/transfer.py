"""Single rows of a partition moved to other clusters until no move lowers the objective (Hartigan's
test, Telgarsky & Vattani 2010).

A row of weight w in cluster a of mass s_a, at the squared distances d_a and d_b within the span of
the centres, moves to b where

    s_a w / (s_a - w) d_a > s_b w / (s_b + w) d_b,

exactly the change of the objective. Where no row moves, every row is at its nearest centre too.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...data.arrays import Float64, IntArray, as_like, device, host_float64, namespace, to_numpy
from ...data.outputs import label_type
from ...data.precision import ascending, rounding_of_sums
from ...engines import Chain, Engine
from ...solvers.checkpoints import Beside, CheckpointSection, Packed
from ...sweeps.problem import Problem
from ...sweeps.represented_rows import RepresentedBlock, RepresentedRows
from ...sweeps.state import State
from .distributions import KeptLabels, LabelPass, SumsPass
from .grams import Gram

ROUNDS = 50  # looks at one block before the next


@dataclass(frozen=True)
class Transferred:
    """A partition from which no single move leads down, unless the passes ran out."""

    kept: Any  # `KeptLabels`, wherever the rows are
    row_visits: int


@dataclass(frozen=True)
class _Moving:
    """Sums of a partition, and how many of its rows have moved in this pass."""

    mass: Float64  # (c,)
    moment: Float64  # (c, moment_width)
    moves: int = 0


@dataclass(frozen=True)
class _MovingChain(Chain[_Moving]):
    """Rows moved block after block, each by the sums that those before it have left."""

    def work(
        self, rows: RepresentedRows, task: int, kept: KeptLabels, state: _Moving, engine: Engine
    ) -> _Moving:
        clusters = _Clusters(rows, state.mass, state.moment)
        moves = sum(_settle(clusters, block, kept.labels) for block in rows.task(task))
        return _Moving(clusters.mass, clusters.moment, state.moves + moves)


@dataclass
class _Clusters:
    rows: RepresentedRows
    mass: Float64
    moment: Float64

    def __post_init__(self) -> None:
        self.renew()

    def renew(self) -> None:
        self.centres = self.rows.space.centres(self.mass, self.moment)

    def move(
        self, block: RepresentedBlock, labels: IntArray, targets: IntArray, which: IntArray
    ) -> None:
        """The named rows of a block to their targets, no cluster more than once."""
        like = block.rows.kxx
        change = np.zeros((like.shape[0], len(self.mass)))
        change[which, labels[which]] -= block.weight[which]
        change[which, targets[which]] += block.weight[which]
        xp = namespace(like)
        total = xp.zeros(self.moment.shape, dtype=xp.float64, device=device(like))
        block.rows.add_moment(as_like(change, like), total)
        self.moment = self.moment + to_numpy(total)
        self.mass = self.mass + change.sum(axis=0)
        self.renew()


def transfer(
    problem: Problem,
    state: State,
    kept: Any,
    max_passes: int,
    section: CheckpointSection | None = None,
) -> Transferred:
    """Pass over the rows until no move lowers the objective, `max_passes` times at most; `kept`:
    the partition made by `state`."""
    section, rows, engine = section or CheckpointSection(), problem.rows, problem.engine
    found, passes, last = section.found, 0, 1
    if found is None:
        sums = engine.fold(rows, SumsPass(problem.rule), kept=kept)
        moving = _Moving(sums.mass, sums.moment)
    else:
        labels = rows.blocks.by_row(label_type(len(state.centres)))
        found["labels"].read_into(labels)
        _, kept = engine.keep(rows, LabelPass(problem.rule, state, labels))
        moving = _Moving(found["mass"], found["moment"])
        passes = found["passes"]
        last = found["last"]

    def packed() -> Packed:
        sums = {"mass": moving.mass, "moment": moving.moment}
        return {"labels": Beside(kept.column("labels")), **sums, "passes": passes, "last": last}

    while passes < max_passes and last:
        ((moving, kept),) = deque(
            engine.follow(rows, _MovingChain(), replace(moving, moves=0), kept), maxlen=1
        )
        passes, last = passes + 1, moving.moves
        # an interrupt in the middle of a pass leaves what was written before it
        section.note(packed)
    section.end(packed)
    return Transferred(kept, (1 + passes) * rows.n_rows)


def transfer_in_memory(
    gram: Gram, weight: Float64, labels: IntArray, n_clusters: int, max_passes: int
) -> IntArray:
    """The same for rows whose inner products are at hand: row after row, each move one column of
    their matrix."""
    labels = labels.copy()
    member = weight[:, None] * (labels[:, None] == np.arange(n_clusters)[None, :])
    products, mass = gram.product(member), member.sum(axis=0)
    squares = np.einsum("lk,lk->k", member, products)
    for _ in range(max_passes):
        moved = False
        for row in map(int, np.flatnonzero(weight > 0)):
            known = np.where(mass > 0, mass, 1.0)
            size = (gram.diag[row] + squares / known**2)[None, :]
            d2, here = np.maximum(size - 2.0 * products[row] / known, 0.0), slice(row, row + 1)
            gain, target = _best_moves(
                *_costs(mass, weight[here], labels[here], d2), weight[here], size, np.float64
            )
            if gain[0] == 0:
                continue
            change = np.zeros(n_clusters)
            change[labels[row]], change[target[0]] = -weight[row], weight[row]
            squares += change * (2.0 * products[row] + change * gram.diag[row])
            products += np.outer(gram.column(row), change)
            mass += change
            labels[row], moved = target[0], True
        if not moved:
            break
    return labels


def _settle(clusters: _Clusters, block: RepresentedBlock, labels: IntArray) -> int:
    """Moves within one block; gives how many."""
    space, moved = clusters.rows.space, 0
    own = labels[block.start : block.start + block.rows.kxx.shape[0]]
    for _ in range(ROUNDS):
        view = space.view(clusters.centres, block.rows.kxx)
        gain, targets = _gains(
            clusters, block, own, host_float64(block.rows.squared_distances(view))
        )
        which = _disjoint(np.flatnonzero(gain > 0)[ascending(-gain[gain > 0])], own, targets)
        if len(which) == 0:
            break
        clusters.move(block, own, targets, which)
        own[which] = targets[which]
        moved += len(which)
    return moved


def _gains(
    clusters: _Clusters, block: RepresentedBlock, own: IntArray, d2: Float64
) -> tuple[Float64, IntArray]:
    """By how much (b,) the best move of each row lowers the objective, and where to; 0 for what
    rounding could account for."""
    mass, gain, targets = clusters.mass, np.zeros(len(own)), np.zeros(len(own), np.intp)
    leaving, entering = _costs(mass, block.weight, own, d2)
    likely = np.flatnonzero(leaving > entering.min(axis=1))
    if len(likely):  # what the centres' span leaves out of a row goes with it wherever it goes
        named = clusters.rows.blocks.take(block.start + likely)
        inside = clusters.rows.space.embed(named, block.start + likely).squared_norms()
        kxx, weight = host_float64(block.rows.kxx)[likely], block.weight[likely]
        left_out = np.maximum(kxx - inside, 0.0)[:, None]
        costs = _costs(mass, weight, own[likely], np.maximum(d2[likely] - left_out, 0.0))
        size = kxx[:, None] + clusters.centres.squared_norms()
        gain[likely], targets[likely] = _best_moves(*costs, weight, size, block.rows.kxx.dtype)
    return gain, targets


def _costs(mass: Float64, weight: Float64, own: IntArray, d2: Float64) -> tuple[Float64, Float64]:
    """Return what a row's cluster would cost less without it (b,), 0 where it is the only row, and
    other clusters more with it (b, c)."""
    rows = np.arange(len(own))
    rest = mass[own] - weight
    alone = rest <= 1e-9 * mass[own]
    leaving = np.where(alone, 0.0, mass[own] * weight / np.where(alone, 1.0, rest) * d2[rows, own])
    entering = mass[None, :] * weight[:, None] / (mass[None, :] + weight[:, None]) * d2
    entering[rows, own] = np.inf
    return leaving, entering


def _best_moves(
    leaving: Float64, entering: Float64, weight: Float64, size: Float64, dtype: Any
) -> tuple[Float64, IntArray]:
    """The gains (b,) of the best moves, of equal ones to the first cluster; 0 for what rounding
    could account for, of which distances have a share of k(x, x) + |v|^2, `size` (b, c)."""
    noise = rounding_of_sums(dtype) * weight[:, None] * size
    rows = np.arange(len(size))
    targets = (entering <= (entering + noise).min(axis=1, keepdims=True)).argmax(axis=1)
    gain = leaving - entering[rows, targets]
    return np.where(gain > 2.0 * noise[rows, targets], gain, 0.0), targets


def _disjoint(order: IntArray, own: IntArray, targets: IntArray) -> IntArray:
    """Of the rows in that order those that touch no cluster touched before, so that every gain is
    what it was."""
    touched: set[int] = set()
    chosen = []
    for row in order:
        pair = {int(own[row]), int(targets[row])}
        if not pair & touched:
            touched |= pair
            chosen.append(int(row))
    return np.array(chosen, dtype=np.intp)
