"""The points of a tree of pieces, and the one that a row belongs to."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from ..data.arrays import Float64, IntArray, is_sparse, to_numpy
from ..data.blocks import Blocks, GivenRows
from ..engines import Engine, Pass
from ..kernels.nearest_points import NearestPoints
from ..runtime.stored_classes import stored
from .row_keys import KeyPlaces, row_keys

Distances = tuple[IntArray, Float64]


@runtime_checkable
class Points(Protocol):
    """Points of a tree, by which rows are known."""

    take_distances: ClassVar[bool]  # rows to these points, in place of their coordinates

    @property
    def step_error(self) -> float | None:
        """By how much the longest step between two rows may differ from that between their points;
        None where points are rows."""

    def nearest(self, x: Any) -> Distances:
        """Return the numbers (b,) of the points that rows belong to, -1 for none, and how far these
        are; 0 for rows that are points."""
        ...


@stored
@dataclass(frozen=True)
class GivenPoints:
    """Points by their coordinates: a row belongs to the nearest one, of equally near ones to the
    first."""

    points: Float64  # (u, d)
    have_unit_length: bool = False  # rows are compared by their directions
    # how far the rows of the fit are from their points at most, which counts as no distance; None:
    # points are rows
    radius: float | None = None
    take_distances: ClassVar = False

    def nearest(self, x: Any) -> Distances:
        rows = self.rows(x)
        places, distances = np.full(len(rows), -1), np.zeros(len(rows))
        if self.radius is None:  # else no row is a point
            places = self._known(row_keys(rows))
            places[(self.points[places] != rows).any(axis=1)] = -1
        new = np.flatnonzero((places < 0) & (rows.any(axis=1) | (not self.have_unit_length)))
        if len(new):
            with np.errstate(over="ignore", invalid="ignore"):
                numbers, squares = self._search(rows[new])
            places[new], distances[new] = numbers[:, 0], np.sqrt(squares[:, 0])
            for row in new[~np.isfinite(distances[new])]:
                places[row], distances[row] = self._nearest_far_away(rows[row])
            distances[new] = np.maximum(distances[new] - (self.radius or 0.0), 0.0)
        return places, distances

    def _nearest_far_away(self, row: Float64) -> tuple[int, float]:
        """Return the nearest point of a row, and its distance, where squares are no numbers."""
        unit = max(np.abs(row).max(), np.abs(self.points).max())
        steps = np.linalg.norm(self.points / unit - row / unit, axis=1)
        with np.errstate(over="ignore"):
            distance = unit * steps.min()
        return int(steps.argmin()), min(float(distance), np.finfo(float).max)

    @property
    def step_error(self) -> float | None:
        return None if self.radius is None else 2 * self.radius

    def rows(self, x: Any) -> Float64:
        """Return rows in float64, of length one where only directions count; those without any stay
        0."""
        dense = x.toarray() if is_sparse(x) else to_numpy(x)
        rows: Float64 = np.ascontiguousarray(dense, np.float64) + 0.0
        if not self.have_unit_length:
            return rows
        rows = rows / np.maximum(np.abs(rows).max(axis=1), np.finfo(float).tiny)[:, None]
        lengths = np.sqrt((rows * rows).sum(axis=1))
        unit: Float64 = rows / np.where(lengths == 0, 1.0, lengths)[:, None]
        return unit

    @cached_property
    def _search(self) -> NearestPoints:
        return NearestPoints(self.points, 1)

    @cached_property
    def _known(self) -> KeyPlaces:
        return KeyPlaces(row_keys(self.points))


@stored
@dataclass(frozen=True)
class GivenDistances:
    """Points of which a row holds its distances to them: it belongs to the nearest one."""

    keys: npt.NDArray[np.int64]  # (n,) of the rows of the fit
    columns: IntArray  # (v,) that hold distances to points
    point: IntArray  # (n,) of the rows of the fit; -1 for those of no weight
    take_distances: ClassVar = True

    def nearest(self, x: Any) -> Distances:
        keys, known = row_keys(x), self.keys.view(np.uint64)
        found = self._known(keys)
        if len(keys) == len(known):  # the matrix of the fit itself, whose rows may be equal
            found = np.where(keys == known, np.arange(len(keys)), found)
        places, distances = least(x[:, self.columns])
        is_new = (found < 0) | (self.point[found] < 0)
        return np.where(is_new, places, self.point[found]), np.where(is_new, distances, 0.0)

    @property
    def step_error(self) -> None:
        return None

    @cached_property
    def _known(self) -> KeyPlaces:
        return KeyPlaces(self.keys.view(np.uint64))


def least(x: Any) -> Distances:
    """Return the column (b,) of the least number of each row, -1 where none is finite, and it."""
    if not is_sparse(x):
        places, least = x.argmin(axis=1), x.min(axis=1)
        return np.where(np.isfinite(least), places, -1), least
    places, least = np.full(x.shape[0], -1), np.full(x.shape[0], np.inf)
    rows = np.repeat(np.arange(x.shape[0]), np.diff(x.indptr))
    order = np.lexsort((x.indices, x.data, rows))
    first = order[np.flatnonzero(np.diff(rows[order], prepend=-1))]
    first = first[np.isfinite(x.data[first])]
    places[rows[first]], least[rows[first]] = x.indices[first], x.data[first]
    return places, least


@dataclass(frozen=True)
class NearestPointsPass(Pass[Distances]):
    """The points that rows belong to, and how far these are."""

    points: Points

    def work(self, rows: GivenRows, task: int, prepared: None) -> Distances:
        parts = [self.points.nearest(block.x) for block in rows.task(task)]
        numbers, distances = zip(*parts, strict=True)
        return np.concatenate(numbers), np.concatenate(distances)


def nearest_of_rows(points: Points, blocks: Blocks, engine: Engine) -> Distances:
    """Return the points that all rows belong to, and how far these are."""
    rows = GivenRows(blocks, blocks.numbers_of_a_row)
    numbers, distances = zip(*engine.map(rows, NearestPointsPass(points)), strict=True)
    return np.concatenate(numbers), np.concatenate(distances)
