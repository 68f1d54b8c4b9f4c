"""Rows along their principal axes, which are found by passes over blocks of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.linalg

from ..data.additive import Additive
from ..data.arrays import Float64
from ..data.blocks import Block, Blocks, GivenRows
from ..engines import Engine, Pass
from .community_points import Keys, projected
from .piece_points import GivenPoints
from .row_keys import row_keys

WIDE = 512  # columns of a matrix from which its last eigenvectors alone take less than all


class ReducedRows(NamedTuple):
    """Rows (n, p) along axes, and what they are known by."""

    rows: Float64
    keys: Keys  # (n,) of the rows as they were
    are_nodes: npt.NDArray[np.bool_]  # (n,) all but those without a direction


@dataclass(frozen=True)
class Moments(Additive):
    """Sums of weights, of rows, and of products of their columns."""

    weight: float
    first: Float64  # (d,)
    second: Float64  # (d, d), or nothing


@dataclass(frozen=True)
class MomentsPass(Pass[Moments]):
    """Moments of rows about a point; the second ones where it is known."""

    points: GivenPoints
    about: Float64 | None = None
    total: float = 1.0  # weight of all rows

    def work(self, rows: GivenRows, task: int, prepared: None) -> Moments:
        parts = [self._moments(block) for block in rows.task(task)]
        return sum(parts[1:], parts[0])

    def _moments(self, block: Block) -> Moments:
        x = self.points.rows(block.x)
        weight = block.weight * x.any(axis=1) if self.points.have_unit_length else block.weight
        if self.about is None:
            return Moments(float(weight.sum()), weight @ x, np.zeros((0, 0)))
        x -= self.about
        weighed = x * np.sqrt(weight / self.total)[:, None]
        return Moments(float(weight.sum()), weight @ x, weighed.T @ weighed)


@dataclass(frozen=True)
class ReducePass(Pass[ReducedRows]):
    """Rows along axes."""

    points: GivenPoints
    centre: Float64
    axes: Float64

    def work(self, rows: GivenRows, task: int, prepared: None) -> ReducedRows:
        return _stacked([self._reduced(block) for block in rows.task(task)])

    def _reduced(self, block: Block) -> ReducedRows:
        x = self.points.rows(block.x)
        are_nodes = np.ones(len(x), np.bool_)
        if self.points.have_unit_length:
            are_nodes = np.asarray(x.any(axis=1))
        keys = row_keys(x).view(np.int64)
        return ReducedRows(projected(x, self.centre, self.axes), keys, are_nodes)


def _stacked(parts: list[ReducedRows]) -> ReducedRows:
    return ReducedRows(*map(np.concatenate, zip(*parts, strict=True)))


def principal_axes(
    blocks: Blocks, points: GivenPoints, most: int, engine: Engine
) -> tuple[Float64, Float64]:
    """Return the mean (d,) of rows and their first principal axes (d, most)."""
    rows = GivenRows(blocks, blocks.numbers_of_a_row)
    sums = engine.fold(rows, MomentsPass(points))
    total = max(sums.weight, np.finfo(float).tiny)
    mean = sums.first / total
    second = engine.fold(rows, MomentsPass(points, mean, total)).second
    return mean, np.ascontiguousarray(last_eigenvectors(second, most)[1])


def last_eigenvectors(matrix: Float64, most: int) -> tuple[Float64, Float64]:
    """Return the largest eigenvalues (most,) of a symmetric matrix (d, d), ascending, and their
    eigenvectors (d, most); all where there are no more."""
    d = len(matrix)
    if d < WIDE:
        values, vectors = np.linalg.eigh(matrix)
        return values[-most:], vectors[:, -most:]
    wanted = max(d - most, 0), d - 1
    values, vectors = scipy.linalg.eigh(matrix, subset_by_index=wanted, check_finite=False)
    return values, vectors


def reduced_rows(
    blocks: Blocks, points: GivenPoints, centre: Float64, axes: Float64, engine: Engine
) -> ReducedRows:
    """Return all rows along axes."""
    rows = GivenRows(blocks, blocks.numbers_of_a_row)
    n, p = blocks.n_rows, axes.shape[1] if axes.size else len(centre)
    found = ReducedRows(np.empty((n, p)), np.empty(n, np.int64), np.empty(n, np.bool_))
    start = 0
    for part in engine.map(rows, ReducePass(points, centre, axes)):
        stop = start + len(part.keys)
        for whole, some in zip(found, part, strict=True):
            whole[start:stop] = some
        start = stop
    return found
