"""Clusters that are two along a line: a second look inside each cluster of a table.

Of few rows in many columns even the nearest are far away, and valleys between them shallow. Along
the line on which two halves are farthest apart for their spread, a valley is as deep as one column
would have it. The line, and three intervals of one width on it, a thin one between two dense ones,
are chosen by half of the rows, and the other half is counted in them. Where a density has one peak,
an interval between two others holds as much as the emptier of these, wherever they lie, so that

    z = (beside - between) / sqrt(beside + between)

is no larger than a standard normal deviate, for weights of 1. Columns of which one value holds much
are left out: the valley beside it tells nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..data.arrays import Float64, IntArray

CERTAIN = 4.0  # deviates
DEEP = 0.5  # of what is beside it, that a valley holds at most
TRIES, NEEDED = 3, 2  # of halving, and those that find the valley
FEWEST = 40  # rows of a cluster
ATOM = 0.05  # of the weight, which no value holds in a column of many
AXES = 4  # principal axes from which halves start
TAIL = 1.0  # deviation from the mean, beyond which rows are in a tail
SWEEPS = 20
SMALL = 0.02  # of the weight, which a half has at least
RIDGE = 0.02  # of the mean variance, and half of columns / rows
WIDTHS = (0.25, 0.4)  # of intervals, between means of halves
COST = 2500.0  # row visits a row, of all clusters together
PLACES = 61  # at which these may lie, from half a distance before the means to half a one after

Mask = npt.NDArray[np.bool_]


def parted_along_lines(
    labels: IntArray, x: Float64, weights: Float64, seed: int, most: float = np.inf
) -> IntArray:
    """Return the partition (n,) in which clusters of rows (n, d) that are two along a line are
    these two, and so on within them, up to a number of clusters; the earliest by number first."""
    found, number = labels.copy(), int(labels.max()) + 1
    waiting = list(range(number))
    while waiting and number < most:
        cluster = waiting.pop(0)
        members = np.flatnonzero(found == cluster)
        half = half_along_a_line(x[members], weights[members], seed)
        if half is not None:
            found[members[half]] = number
            waiting += [cluster, number]
            number += 1
    return found


def half_along_a_line(x: Float64, weights: Float64, seed: int) -> Mask | None:
    """Return which rows (n, d) lie beyond a valley of a line; None where none is certain."""
    columns = [k for k in range(x.shape[1]) if _has_no_atom(x[:, k], weights)]
    if len(x) < FEWEST or not columns:
        return None
    x = (x[:, columns] - x[:, columns].mean(axis=0)) / x[:, columns].std(axis=0)
    rng, found = np.random.RandomState(seed), 0
    for left in range(TRIES, 0, -1):
        if found == NEEDED or found + left < NEEDED:
            break
        found += _is_found(x, weights, rng.permutation(len(x)) % 2 == 0)
    if found < NEEDED or (line := _best_line(x, weights)) is None:
        return None
    beyond: Mask = line.along(x) > line.places[1]
    return beyond


def _has_no_atom(column: Float64, weights: Float64) -> bool:
    _, members = np.unique(column, return_inverse=True)
    return bool(np.bincount(members, weights).max() <= ATOM * weights.sum())


def _is_found(x: Float64, weights: Float64, half: Mask) -> bool:
    """Return whether the valleys of lines through either half are certain by the rows of the
    other."""
    between = beside = 0.0
    for chosen in (half, ~half):
        line = _best_line(x[chosen], weights[chosen])
        if line is not None:
            left, middle, right = line.counts(x[~chosen], weights[~chosen])
            between += middle
            beside += min(left, right)
    unit = float(weights @ weights / weights.sum())  # of rows that count as one
    certain = beside - between >= CERTAIN * np.sqrt((beside + between) * unit)
    return bool(certain and beside > 0.0 and between <= DEEP * beside)


@dataclass(frozen=True)
class Line:
    """A line, and places on it at which intervals of one width lie, a thin one in the middle."""

    axis: Float64  # (d,)
    places: tuple[float, float, float]
    width: float
    contrast: float  # z of the rows that it is chosen by

    def along(self, x: Float64) -> Float64:
        """Return the coordinates (n,) of rows (n, d) on the line."""
        coordinates: Float64 = x @ self.axis
        return coordinates

    def counts(self, x: Float64, weights: Float64) -> tuple[float, float, float]:
        """Return the weights of the rows in the intervals."""
        along = self.along(x)
        inside = [np.abs(along - place) < 0.5 * self.width for place in self.places]
        left, middle, right = (float(weights[some].sum()) for some in inside)
        return left, middle, right


def _best_line(x: Float64, weights: Float64) -> Line | None:
    """Return the line with the clearest valley, of those that some halves end in; None where no
    halves are heavy enough."""
    mean = weights @ x / weights.sum()
    x = x - mean
    squares = (x.T * weights) @ x
    lines = [
        line
        for start in _starts(x, weights, squares)
        if (axis := _discriminant(x, weights, squares, start)) is not None
        and (line := _with_a_valley(x, weights, axis)) is not None
    ]
    if not lines:
        return None
    best = max(lines, key=lambda line: line.contrast)
    shift = float(mean @ best.axis)
    left, middle, right = best.places
    return Line(best.axis, (left + shift, middle + shift, right + shift), best.width, best.contrast)


def _starts(x: Float64, weights: Float64, squares: Float64) -> Iterator[Mask]:
    """Yield halves of rows (n, d) about 0, of which `squares` (d, d) are the products: along each
    principal axis the sides of the mean, those that two means end in, and either tail."""
    _, axes = np.linalg.eigh(squares)
    for axis in axes.T[::-1][:AXES]:
        along = x @ axis
        yield along > 0
        yield _of_two_means(x, weights, along > 0)
        deviation = float(np.sqrt(weights @ along**2 / weights.sum()))
        yield along > TAIL * deviation
        yield along < -TAIL * deviation


def _of_two_means(x: Float64, weights: Float64, half: Mask) -> Mask:
    for _ in range(SWEEPS):
        if half.all() or not half.any():
            break
        first, second = _means(x, weights, half)
        before, half = half, x @ (first - second) > 0.5 * (first @ first - second @ second)
        if np.array_equal(before, half):
            break
    return half


def _discriminant(
    x: Float64, weights: Float64, squares: Float64, half: Mask
) -> tuple[Float64, Mask] | None:
    """Return the axis (d,) along which halves of rows about 0 are farthest apart for their spread,
    of deviation 1 within them, and the halves, once rows are in the half of the nearer mean on it;
    None where one becomes light."""
    (n, d), whole = x.shape, float(weights.sum())
    ridge = (RIDGE + 0.5 * min(1.0, d / n)) / d
    for _ in range(SWEEPS):
        mass = float(weights[half].sum())
        if min(mass, whole - mass) < SMALL * whole:
            return None
        first, second = _means(x, weights, half)
        apart = mass * np.outer(first, first) + (whole - mass) * np.outer(second, second)
        within = (squares - apart) / whole
        ridged = within + (ridge * np.trace(within) + 1e-300) * np.eye(d)
        axis = np.linalg.solve(ridged, first - second)
        before, half = half, x @ axis > 0.5 * float((first + second) @ axis)
        if np.array_equal(before, half):
            break
    spread = float(np.sqrt(np.maximum(axis @ within @ axis, 0.0)))
    return None if spread == 0 else (axis / spread, half)


def _means(x: Float64, weights: Float64, half: Mask) -> tuple[Float64, Float64]:
    sides = (half, ~half)
    first, second = (weights[side] @ x[side] / weights[side].sum() for side in sides)
    return first, second


def _with_a_valley(x: Float64, weights: Float64, found: tuple[Float64, Mask]) -> Line | None:
    """Return the line along an axis with the intervals whose contrast is the largest, the one in
    the middle between the means of two halves; None where one of these is empty."""
    axis, half = found
    if half.all() or not half.any():
        return None
    along = x @ axis
    low, high = sorted(
        float(weights[side] @ along[side] / weights[side].sum()) for side in (half, ~half)
    )
    gap, order = high - low, np.argsort(along, kind="stable")
    sums = np.append(0.0, np.cumsum(weights[order]))
    places = np.linspace(low - 0.5 * gap, high + 0.5 * gap, PLACES)
    lines = []
    for width in (share * gap for share in WIDTHS):
        first, last = (np.searchsorted(along[order], places + k * width) for k in (-0.5, 0.5))
        counts = sums[last] - sums[first]
        three, contrast = _clearest(counts, places, (low, high), width)
        lines.append(Line(axis, three, width, contrast))
    return max(lines, key=lambda line: line.contrast)


def _clearest(
    counts: Float64, places: Float64, bounds: tuple[float, float], width: float
) -> tuple[tuple[float, float, float], float]:
    """Return the places of three intervals that do not overlap, the middle one within bounds, with
    the largest contrast of their counts (p,), and this."""
    away = round(width / float(places[1] - places[0]))
    middle = slice(away, len(places) - away)
    left = np.maximum.accumulate(counts)[: -2 * away]
    right = np.maximum.accumulate(counts[::-1])[::-1][2 * away :]
    beside = np.minimum(left, right)
    contrasts = beside - counts[middle]
    contrasts /= np.sqrt(np.maximum(beside + counts[middle], 1e-300))
    outside = (places[middle] < bounds[0]) | (places[middle] > bounds[1])
    contrasts[outside] = -np.inf
    best = int(contrasts.argmax())
    three = (
        int(counts[: best + 1].argmax()),
        best + away,
        best + 2 * away + int(counts[best + 2 * away :].argmax()),
    )
    first, second, third = (float(places[place]) for place in three)
    return (first, second, third), float(contrasts[best])
