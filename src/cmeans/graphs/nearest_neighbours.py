"""The nearest neighbours of all rows among themselves."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .. import native
from ..data.arrays import Float64, IntArray
from ..data.precision import binary_exponent
from ..engines import Engine, ThreadEngine
from .all_pairs import AllPairs
from .near_cells import neighbours_in_cells
from .row_tree import RowTree

EXACT = 5e11  # differences of numbers, were all pairs compared, up to which the nearest are found
SAFE = 20  # exponents of numbers whose squares neither overflow nor vanish in any precision
FLAT = 4  # columns up to which a tree of boxes leaves out nearly all pairs


class NearestNeighbours(NamedTuple):
    """The nearest neighbours of rows, without the rows themselves."""

    distances: Float64  # (n, k) ascending
    numbers: IntArray  # (n, k) of the rows there; of equally near ones the smaller first
    recall: float  # share of the true neighbours that are among them, 1 where all are


def searchable(points: Float64) -> RowTree | AllPairs:
    """Return rows (n, d) as searches for near ones take them."""
    return (RowTree if native.is_available() else AllPairs).of(points)


def in_range(points: npt.NDArray[Any]) -> tuple[Float64, int]:
    """Return points in float64, times 2^-e where squares of their differences might not be numbers,
    and e."""
    exponent = binary_exponent(points)
    exponent = exponent if abs(exponent) > SAFE else 0
    given = np.asarray(points, np.float64)
    return (np.ldexp(given, -exponent) if exponent else given), exponent


def nearest_neighbours(
    points: npt.NDArray[Any],  # (n, d)
    k: int,
    engine: Engine | None = None,
    exact: float = EXACT,
) -> NearestNeighbours:
    """Return the `k` nearest others of each row, at most n - 1.

    They are the nearest where n^2 d is at most `exact`, or the columns are few. Of more rows they
    are sought in the cells of k-means that are near each row's, and their recall is measured.
    """
    n, d = points.shape
    k = min(k, n - 1)
    engine = ThreadEngine() if engine is None else engine
    scaled, exponent = in_range(points)
    if float(n) * n * d <= exact or d <= FLAT:
        rows = searchable(scaled)
        squares, numbers = rows.nearest(k, engine)
        distances, names = np.empty((n, k)), np.empty((n, k), np.int64)
        distances[rows.order] = np.ldexp(np.sqrt(squares), exponent)
        names[rows.order] = rows.order[numbers]
        return NearestNeighbours(distances, names, 1.0)
    squares, names, recall = neighbours_in_cells(scaled, k, engine)
    return NearestNeighbours(np.ldexp(np.sqrt(squares), exponent), names, recall)
