"""From rows to the tree of their connected pieces: all of them, landmarks of many, or given
distances."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from ..data.arrays import Float64, IntArray, in_order, is_sparse
from ..data.blocks import Blocks, mapped
from ..engines import Engine
from ..graphs.landmark_graph import landmark_centres
from ..graphs.piece_points import GivenDistances, GivenPoints, Points, nearest_of_rows
from ..graphs.piece_tree import PieceTree, piece_tree
from ..graphs.row_keys import row_keys
from ..graphs.spanning_tree import spanning_tree, spanning_tree_of_graph
from ..runtime.numerals import parse_budget
from ..runtime.user_warnings import warn
from ..sampling.population import distinct_rows, population_of
from .landmark_choice import Landmarks
from .memory import require
from .validation import host_matrix

LANDMARKS = 10_000  # where their number is not given
COPIES = 4  # of all rows in float64 that a tree of all of them takes
AS_THEY_ARE = GivenPoints(np.empty((0, 0)))  # for dense rows in float64


@dataclass(frozen=True)
class ConnectedRows:
    """The tree of the pieces of rows."""

    tree: PieceTree
    points: Points
    point_of_row: IntArray  # (n,) of the points that were given to the tree; -1 for none
    # (n,) how far rows of no weight are from these; None where all have some
    away_of_row: Float64 | None = None


def connected_rows(
    blocks: Blocks,
    min_samples: float,
    landmarks: Landmarks,
    engine: Engine,
    rng: np.random.RandomState,
    *,
    by_direction: bool,
    estimator_name: str,
) -> ConnectedRows:
    """Return the tree of rows by their Euclidean distances; those without weight are in no piece
    that would not be there without them. `by_direction`: of rows made of length one."""
    if by_direction:
        whole = GivenPoints(np.empty((0, 0)), have_unit_length=True)
        blocks = replace(blocks, x=mapped(blocks.x, whole.rows))
    if landmarks.number == "auto" and landmarks.points is None:
        exact = blocks.n_rows <= blocks.limits.tree_rows
    else:
        exact = landmarks.is_exact
    if exact:
        budget = parse_budget(engine.memory_budget, type(engine).__name__)
        needed, what = 8 * COPIES * blocks.n_rows * int(blocks.x.shape[1]), "all rows in one tree"
        require(budget, estimator_name, needed, what, "give landmarks, fewer than rows")
        return _of_all(blocks, min_samples, engine, by_direction)
    return _of_landmarks(blocks, min_samples, landmarks, engine, rng, by_direction)


def _of_all(
    blocks: Blocks, min_samples: float, engine: Engine, by_direction: bool
) -> ConnectedRows:
    x, weight = AS_THEY_ARE.rows(blocks.in_memory().x), blocks.weight[:]
    counts = weight > 0
    if by_direction:
        counts &= x.any(axis=1)
    heavy = np.flatnonzero(counts)
    first, member = distinct_rows(x if len(heavy) == len(x) else x[heavy])
    points = GivenPoints(x[heavy[first]], have_unit_length=by_direction)
    weights: Float64 = np.bincount(member, weight[heavy]).astype(np.float64) * blocks.unit
    found = spanning_tree(points.points, weights, min_samples, engine)
    numbers = np.full(len(x), -1)
    numbers[heavy] = member
    tree = piece_tree(found.edges, found.lengths, weights)
    return _with_others(ConnectedRows(tree, points, numbers), np.flatnonzero(~counts), x)


def _with_others(found: ConnectedRows, others: IntArray, x: Any) -> ConnectedRows:
    """Return what is found with the nearest points of `others`, rows of x that are none."""
    if not len(others):
        return found
    numbers, away = found.point_of_row, np.zeros(len(found.point_of_row))
    numbers[others], away[others] = found.points.nearest(x[others])
    return replace(found, away_of_row=away)


def _of_landmarks(
    blocks: Blocks,
    min_samples: float,
    landmarks: Landmarks,
    engine: Engine,
    rng: np.random.RandomState,
    by_direction: bool,
) -> ConnectedRows:
    count = landmarks.count or LANDMARKS
    centres = landmark_centres(blocks, population_of(blocks), count, rng, engine)
    centres = AS_THEY_ARE.rows(centres)
    centres = centres[distinct_rows(centres)[0]]
    cells = GivenPoints(centres, by_direction, 0.0)
    numbers, distances = nearest_of_rows(cells, blocks, engine)
    weight = blocks.weight[:]
    counts = (numbers >= 0) & (weight > 0)
    cells_of, n_cells = numbers[counts], len(centres)
    weights = blocks.unit * np.bincount(cells_of, weight[counts], n_cells).astype(np.float64)
    used = weights > 0
    if not used.all():
        cells, weights = replace(cells, points=centres[used]), weights[used]
        numbers, distances = nearest_of_rows(cells, blocks, engine)
    cells = replace(cells, radius=float(distances[numbers >= 0].max()))
    found = spanning_tree(cells.points, weights, min_samples, engine)
    return ConnectedRows(piece_tree(found.edges, found.lengths, weights), cells, numbers)


def connected_graph(distances: Any, weight: Float64, min_samples: float) -> ConnectedRows:
    """Return the tree of rows whose distances (n, n) are given; rows without weight belong to the
    nearest others, and connect none."""
    columns, keys = np.flatnonzero(weight > 0), row_keys(distances).view(np.int64)
    found = spanning_tree_of_graph(distances[columns][:, columns], weight[columns], min_samples)
    point, others = np.full(len(keys), -1), np.flatnonzero(~(weight > 0))
    point[columns] = np.arange(len(columns))
    tree = piece_tree(found.edges, found.lengths, weight[columns])
    points = GivenDistances(keys, columns, point)
    return _with_others(ConnectedRows(tree, points, point.copy()), others, distances)


def given_distances(X: Any, estimator_name: str, n_points: int | None = None) -> Any:
    """Return distances of rows to all rows of a fit, CSR or dense, checked: between all pairs of
    rows where `n_points` is not given."""
    asked = f'{estimator_name}(metric="precomputed")'
    x = host_matrix(X, estimator_name)
    if x.ndim != 2 or x.shape[1] != (x.shape[0] if n_points is None else n_points):
        wanted = "one for each pair of rows" if n_points is None else f"{n_points} columns"
        raise ValueError(
            f"{asked}: X has shape {tuple(x.shape)}; give distances, {wanted}, dense or sparse."
        )
    try:
        x = sparse.csr_array(x, dtype=np.float64) if is_sparse(x) else in_order(x.astype(float))
    except (TypeError, ValueError) as error:
        raise ValueError(f"{asked}: X must be numbers: {error}.") from None
    values: Any = x.data if is_sparse(x) else x
    if not (values >= 0).all():
        what = "NaN" if np.isnan(values).any() else f"{values.min():g}"
        raise ValueError(
            f"{asked}: X holds {what}; distances are 0 or more, and infinite, or absent from a "
            "sparse matrix, where rows are not connected."
        )
    return x


def warn_of_no_direction(count: int, n_rows: int, estimator_name: str) -> None:
    """Warn of rows of length 0, which have no angle to others."""
    if count:
        has, are = ("has", "is") if count == 1 else ("have", "are")
        warn(
            f"{estimator_name}: {count:,} of {n_rows:,} rows of X {has} length 0, and {are} in no "
            'cluster, with the label -1; metric="cosine" compares directions.'
        )
