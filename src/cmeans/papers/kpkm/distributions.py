"""Distributions of rows over clusters, P, kept beside the rows wherever they are: where they begin,
their sums, and partitions."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ...data.arrays import Array, Float64, IntArray, dense_like
from ...data.outputs import RowOutputs, label_type
from ...data.partitions import Partition
from ...data.precision import numpy_dtype
from ...engines import NumberedPass, Pass
from ...rules import Rule
from ...sampling.drawing import exponentials
from ...sweeps.choice import assign_for
from ...sweeps.generic import gather
from ...sweeps.represented_rows import RepresentedRows
from ...sweeps.state import State
from ...sweeps.statistics import Statistics


@dataclass
class Distributions:
    """Distributions of rows on their way to a partition, and the next step of each."""

    p: Array  # (n, c) in the rows' dtype
    direction: Array  # (n, c) where to
    reach: Float64  # (n,) how long a step the row can make; infinite where no way leads down
    # (n,) the cluster that it would lose there; at the end, that of its largest membership
    labels: npt.NDArray[Any]
    active: npt.NDArray[np.bool_]  # (n,) rows with more than one cluster left

    def memberships(self, rows: RepresentedRows) -> Array:
        """P (n, c)."""
        return self.p

    def find_active(self, weight: Float64, here: slice) -> int:
        """Find the rows that have more than one cluster left, and return their number."""
        self.active[here] = (weight > 0) & ((self.p[here] > 0).sum(axis=1) > 1)
        return int(np.count_nonzero(self.active[here]))


@dataclass
class KeptLabels:
    """A partition of rows."""

    labels: npt.NDArray[Any]  # (n,)
    n_clusters: int

    def memberships(self, rows: RepresentedRows) -> Partition:
        """The memberships (n, c) that it makes."""
        return Partition(self.labels, self.n_clusters, rows.blocks.x)


@dataclass(frozen=True)
class PathSums:
    """Sums of distributions, or by how much a step has changed the moment."""

    mass: Float64  # (c,)
    moment: Float64  # (c, moment_width)
    n_active: int
    least: float = np.inf  # the smallest positive weight

    def __add__(self, other: PathSums) -> PathSums:
        least = min(self.least, other.least)
        return PathSums(
            self.mass + other.mass,
            self.moment + other.moment,
            self.n_active + other.n_active,
            least,
        )


@dataclass(frozen=True)
class Start(Pass[PathSums]):
    """Distributions to begin with."""

    rule: Rule  # hard
    n_clusters: int

    def begin(self, rows: RepresentedRows) -> Distributions:
        blocks, dtype = rows.blocks, numpy_dtype(rows.blocks.x)
        p, direction = (blocks.by_row(dtype, self.n_clusters) for _ in range(2))
        labels = blocks.by_row(label_type(self.n_clusters))
        return Distributions(
            p, direction, blocks.by_row(np.float64), labels, blocks.by_row(np.bool_)
        )

    def work(self, rows: RepresentedRows, task: int, kept: Distributions) -> PathSums:
        first, last = rows.task_range(task)
        here, weight = slice(first, last), rows.blocks.weight[first:last]
        self.write(kept.p[here], rows, task, weight)
        active, sums = kept.find_active(weight, here), gather(rows, self.rule, kept.p, task)
        return PathSums(
            sums.mass, sums.moment, active, float(np.min(weight, where=weight > 0, initial=np.inf))
        )

    @abstractmethod
    def write(self, p: Array, rows: RepresentedRows, task: int, weight: Float64) -> None:
        """Write the distributions (b, c) of the rows of one task."""


@dataclass(frozen=True)
class DrawnStart(Start, NumberedPass[PathSums]):
    """Random distributions, uniform, and the same for a row wherever it lies; equal shares for rows
    of zero weight."""

    key: int

    def write(self, p: Array, rows: RepresentedRows, task: int, weight: Float64) -> None:
        start, c = self.first + rows.task_range(task)[0], self.n_clusters
        drawn = exponentials(self.key, start * c, (start + len(p)) * c).reshape(-1, c)
        p[:] = drawn / drawn.sum(axis=1, keepdims=True)
        p[weight == 0] = 1.0 / c


@dataclass(frozen=True)
class GivenStart(Start):
    """Distributions that are here."""

    memberships: Array  # (n, c) on the host

    def write(self, p: Array, rows: RepresentedRows, task: int, weight: Float64) -> None:
        p[:] = self.memberships[slice(*rows.task_range(task))]

    def part(self, start: int, stop: int) -> GivenStart:
        return replace(self, memberships=self.memberships[start:stop])


@dataclass(frozen=True)
class NearestStart(Start):
    """Every row in the cluster of its nearest centre."""

    state: State

    def write(self, p: Array, rows: RepresentedRows, task: int, weight: Float64) -> None:
        p[:] = _labels(rows, self.rule, self.state, task)[:, None] == np.arange(self.n_clusters)


@dataclass(frozen=True)
class OntoPartition(Pass[int]):
    """Rows of any weight put wholly into their clusters."""

    labels: npt.NDArray[Any]  # (n,)

    def work(self, rows: RepresentedRows, task: int, kept: Distributions) -> int:
        here = slice(*rows.task_range(task))
        counted = rows.blocks.weight[here] > 0
        kept.p[here][counted] = self.labels[here][counted, None] == np.arange(kept.p.shape[1])
        return kept.find_active(rows.blocks.weight[here], here)

    def part(self, start: int, stop: int) -> OntoPartition:
        return replace(self, labels=self.labels[start:stop])


@dataclass(frozen=True)
class LargestPass(Pass[int]):
    """The number of each row's largest membership, ties to the lowest, written down."""

    def work(self, rows: RepresentedRows, task: int, kept: Distributions) -> int:
        here = slice(*rows.task_range(task))
        kept.labels[here] = kept.p[here].argmax(axis=1)
        return 0


@dataclass(frozen=True)
class LabelPass(Pass[int]):
    """The partition of the nearest centres, or a given one, written down."""

    rule: Rule
    state: State
    given: npt.NDArray[Any] | None = None  # (n,) labels

    def begin(self, rows: RepresentedRows) -> KeptLabels:
        c = len(self.state.centres)
        return KeptLabels(rows.blocks.by_row(label_type(c)), c)

    def work(self, rows: RepresentedRows, task: int, kept: KeptLabels) -> int:
        here = slice(*rows.task_range(task))
        kept.labels[here] = (
            _labels(rows, self.rule, self.state, task) if self.given is None else self.given[here]
        )
        return 0

    def part(self, start: int, stop: int) -> LabelPass:
        return self if self.given is None else replace(self, given=self.given[start:stop])


@dataclass(frozen=True)
class SumsPass(Pass[Statistics]):
    """The sums of the memberships that are kept, without distances."""

    rule: Rule

    def work(
        self, rows: RepresentedRows, task: int, kept: Distributions | KeptLabels
    ) -> Statistics:
        return gather(rows, self.rule, kept.memberships(rows), task)


def _labels(rows: RepresentedRows, rule: Rule, state: State, task: int) -> IntArray:
    """Return the clusters (b,) of the rows of one task, as the last pass says."""
    (first, last), c = rows.task_range(task), len(state.centres)
    out = RowOutputs.empty(last - first, c, dense_like(rows.blocks.x), first)
    assign_for(rows, rows.space, rule, c)(rows, rows.space, rule, state, task, out)
    return out.labels
