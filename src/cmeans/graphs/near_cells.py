"""Nearest neighbours of very many rows, sought in the cells of k-means around each row."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import native
from ..data.arrays import Float64, IntArray, central_point
from ..data.blocks import spans
from ..engines import Engine
from ..kernels.nearest_points import NearestPoints
from .all_pairs import AllPairs
from .landmark_graph import ROWS, refined_centres
from .row_tree import RowTree

NEAR = 8  # cells of about sqrt(n) in which a row's neighbours are sought
JUDGED = 1000  # rows of which recall is measured
POINTS = 2**16  # that find their cells together


def neighbours_in_cells(points: Float64, k: int, engine: Engine) -> tuple[Float64, IntArray, float]:
    """Return squared distances (n, k) to near rows, the numbers of these, the nearest first, and
    the share of the true k nearest that are among them, of a fixed sample of rows."""
    n = len(points)
    cells = _near_cells(points, NEAR, engine)
    order = np.argsort(cells[:, 0], kind="stable")
    cells = cells[order]
    count = int(cells.max()) + 1
    first = np.append(0, np.cumsum(np.bincount(cells[:, 0], minlength=count)))
    rows = (RowTree if native.is_available() else AllPairs).in_order(points, order)

    def found(some: IntArray, cells: npt.NDArray[np.int32]) -> tuple[Float64, npt.NDArray[Any]]:
        return rows.nearest_in_cells(k, engine, some, cells, first)

    squares, numbers = found(np.arange(n), cells)
    every = np.arange(count, dtype=np.int32)
    lacking = np.flatnonzero(np.isinf(squares[:, -1]))  # rows whose cells are too small
    squares[lacking], numbers[lacking] = found(lacking, np.tile(every, (len(lacking), 1)))
    judged = ((np.arange(JUDGED) + 0.5) * n / JUDGED).astype(np.int64)
    last = found(judged, np.tile(every, (JUDGED, 1)))[0][:, -1:]
    recall = float(np.mean(squares[judged] <= last))
    given = np.empty_like(squares), np.empty((n, k), np.int64)
    given[0][order], given[1][order] = squares, order[numbers]
    return *given, recall


def _near_cells(points: Float64, near: int, engine: Engine) -> npt.NDArray[np.int32]:
    """Return the numbers (n, near) of the cells nearest to each row, its own first; their centres
    are found on a sample of rows."""
    n, count, centre = len(points), math.isqrt(len(points)), central_point(points)

    def moved(some: Float64) -> Any:
        return (some - centre).astype(np.float32)

    sample = moved(points[np.linspace(0, n - 1, min(n, ROWS * count)).astype(np.int64)])
    first = np.float64(sample[:: len(sample) // count])
    nearest = NearestPoints(refined_centres(sample, np.ones(len(sample)), first), near)
    tasks = list(spans(n, POINTS))
    parts = engine.run(lambda task: nearest(moved(points[slice(*tasks[task])]))[0], len(tasks))
    return np.concatenate(list(parts))
