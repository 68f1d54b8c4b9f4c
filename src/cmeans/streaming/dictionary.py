"""Landmarks of a stream: chosen on its first chunks, and more of them where later rows are badly
represented."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..data.arrays import Array, Float64, stacked
from ..data.blocks import Blocks, rows_between
from ..kernels import Kernel
from ..landmarks.select import rpcholesky
from ..runtime.stored_classes import stored
from ..sampling.pairwise import affinity
from ..sampling.population import Population, sample
from ..solvers.fixed_point import Carried
from ..solvers.solution import Solution
from ..spaces import LandmarkSpace, Space, landmark_space

LOOKED_AT = 256  # rows of a chunk that test the landmarks
# mean residual, as a share of the rows' variance in feature space, at which further landmarks would
# gain nothing
WELL = 1e-4
BADLY = 0.9  # the same share, from which on rows are badly represented whatever is usual
WORSE = 2.0  # multiple of the usual residual from which on landmarks are taken from the reserve


@stored
@dataclass(frozen=True)
class LandmarkCandidates:
    """Number of landmarks that a stream may still choose.

    The first chunk takes up to half of them and those after it up to three quarters, as long as
    rows are not represented well; the rest is held back for rows that are worse represented than
    usual, half of what is left at a time.
    """

    limit: int  # landmarks at most
    # mean residual of the first rows that came after three quarters were taken
    usual: float | None = None

    def seeing(self, count: int, residual: float) -> LandmarkCandidates:
        """Record the mean residual of rows over `count` landmarks."""
        if self.usual is None and 4 * count >= 3 * self.limit:
            return replace(self, usual=residual)
        return self

    def room(self, count: int, residual: float) -> int:
        """Return the number of landmarks beyond `count` that rows of that mean residual may add."""
        if residual <= WELL or count >= self.limit:
            return 0
        if 4 * count < 3 * self.limit:
            return -(-3 * self.limit // 4) - count
        badly = self.usual is not None and residual > min(WORSE * self.usual, BADLY)
        return -(-(self.limit - count) // 2) if badly else 0


def first_landmarks(
    kernel: Kernel,
    blocks: Blocks,
    population: Population,
    reserve: LandmarkCandidates,
    rng: np.random.RandomState,
) -> LandmarkSpace:
    """Return the space over landmarks of a first chunk."""
    points = _chosen(kernel, blocks, population, -(-reserve.limit // 2), rng, None)
    if not points.shape[0]:  # a kernel that is zero on all rows: any row will do
        points = blocks.take(population.at(np.arange(1))).x
    return landmark_space(kernel, points, None, blocks.x.dtype)


def further_landmarks(
    space: LandmarkSpace,
    blocks: Blocks,
    population: Population,
    reserve: LandmarkCandidates,
    rng: np.random.RandomState,
) -> tuple[LandmarkSpace, LandmarkCandidates]:
    """Return the same space, or one with further landmarks from a chunk that it represents
    badly."""
    kernel, count = space.kernel, int(space.points.shape[0])
    if count >= reserve.limit:
        return space, reserve
    positions, weights = sample(population, LOOKED_AT, rng)
    residuals = space.residuals(blocks.take(population.at(positions)))
    variance = _variance(kernel, blocks, population, rng)
    residual = float(weights @ residuals / weights.sum()) / variance if variance > 0 else 0.0
    reserve = reserve.seeing(count, residual)
    room = reserve.room(count, residual)
    if room:
        points = _chosen(kernel, blocks, population, room, rng, space)
    else:
        points = rows_between(space.points, 0, 0)
    if not points.shape[0]:
        return space, reserve
    return landmark_space(kernel, stacked(space.points, points), None, blocks.x.dtype), reserve


def unknown_share(former: Space, space: Space, solution: Solution, carried: Carried) -> Float64:
    """Share of the centres that the former landmarks do not represent, from the last chunk's sums
    after further landmarks joined.

    It is the share (c,) of the squared norm of each of that chunk's centres outside the former
    span. Centres of earlier rows lack as much if those rows are like these.
    """
    assert solution.last is not None
    before, sums = solution.last
    past = carried(before)
    centres = space.centres(sums.mass - past.mass, sums.moment - past.moment)
    whole, known = space.norms(centres), former.norms(former.project(centres, space))
    return np.clip(1.0 - known / np.where(whole > 0, whole, 1.0), 0.0, 1.0) * (
        sums.mass > past.mass
    )


def _chosen(
    kernel: Kernel,
    blocks: Blocks,
    population: Population,
    count: int,
    rng: np.random.RandomState,
    space: LandmarkSpace | None,
) -> Array:
    positions, weights = sample(population, population.limits.seeding_rows, rng)
    rows = population.at(positions)
    known: Float64 | None = None if space is None else space.coordinates(blocks.take(rows))
    enough = WELL * _variance(kernel, blocks, population, rng)
    picked = rpcholesky(
        affinity(kernel, blocks, rows), weights, count, rng, known=known, enough=enough
    )
    return blocks.take(rows[picked]).x


def _variance(
    kernel: Kernel, blocks: Blocks, population: Population, rng: np.random.RandomState
) -> float:
    """Mean squared distance of a few rows from their mean in feature space."""
    positions, weights = sample(population, LOOKED_AT, rng)
    known, p = affinity(kernel, blocks, population.at(positions)), weights / weights.sum()
    return max(float(p @ known.diag() - p @ known.between(np.arange(len(p))) @ p), 0.0)
