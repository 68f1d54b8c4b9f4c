"""Very many initial centres, for little more than one sweep: twice as many rows are drawn by
k-means++ in few passes over a sample, and their clusters are merged two by two."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.sparse import csc_array

from .. import native
from ..data.arrays import Array, Float64, IntArray, is_sparse
from ..data.blocks import Blocks, spans
from ..data.precision import itemsize, rounding
from ..native.calls import ADDRESS, WHOLE, Structure, address, members, pointer_to
from ..rules import Hard
from ..spaces import EuclideanSpace
from ..spaces.centres import Centres
from ..sweeps.nearest import Directions
from ..sweeps.passes import FewNearestPass, NearestRowsPass
from ..sweeps.problem import Problem
from ..sweeps.represented_rows import RepresentedRows
from ..sweeps.state import State
from .drawing import one_drawn
from .kmeanspp import DIRECTIONS, proposals
from .pairwise import WIDE
from .population import Population, sample

SAMPLED = 8  # rows of the sample for each centre, and at least
LEAST_SAMPLED = 8_000
DRAWN = 2  # rows drawn for each centre: of half as many more, 2 percent are lost
NEAR = 16  # others that a cluster may be merged with: FEW in native/merging.c
TOGETHER = 4096  # rows whose coordinates are made together
# proposals of a draw ahead: at first, and at most, as their distances from each other are known
FIRST_AHEAD, MOST_AHEAD = 32, 2048


def merged_draws(
    problem: Problem, population: Population, count: int, rng: np.random.RandomState
) -> Centres | None:
    """Return `count` centres; None where not so many rows differ, or there is no native code.

    Of a sample of 8 rows for each centre twice as many as centres are drawn, each in proportion to
    weight and squared distance D_i from those before it (k-means++, Arthur & Vassilvitskii 2007).
    Many are proposed at once, by the D_i from the rows taken before all of them, and accepted with
    probability D_i now / D_i then, so that none is drawn otherwise than by its turn (as
    Cohen-Addad et al. 2020 reject proposals from a bound); of a proposal only its distances from
    the others must be known for that. The clusters of the drawn rows are then merged, always the
    pair that costs least (Ward 1963), of the 16 that are nearest to each: where rows are dense two
    draws become one centre, which greedy draws reach by trying eight rows for each.
    """
    if not native.is_available() or is_sparse(problem.rows.blocks.x):
        return None
    size = max(LEAST_SAMPLED, SAMPLED * count)
    positions, weights = sample(population, size, rng)
    numbers = population.at(positions)
    parts = list(_coordinates(problem, numbers))
    if not parts:
        return None
    x = np.concatenate(parts)
    shift = x.mean(axis=0, dtype=np.float64)
    rows = RepresentedRows(EuclideanSpace(shift), Blocks(x, weights), 0)
    low = Problem(rows, Hard(), problem.engine)
    drawn, labels = _drawn(low, weights, min(DRAWN * count, len(x)), rng)
    if len(drawn) < count:
        return None
    mass = np.bincount(labels, weights, len(drawn)).astype(np.float64)
    sums = _members(labels, weights, len(drawn)) @ x
    means = Centres.orthonormal(sums / mass[:, None] - shift)
    labels = _merged(means, mass, _neighbours(low, drawn, means), count)[labels]
    mass = np.bincount(labels, weights, count).astype(np.float64)
    moment = np.zeros((count, problem.space.size))
    for start, stop in spans(len(numbers), TOGETHER):
        members = _members(labels[start:stop], weights[start:stop], count)
        moment += members @ _rows_at(problem, numbers[start:stop]).coordinates
    return Centres.orthonormal(moment / mass[:, None])


def _members(labels: IntArray, weights: Float64, count: int) -> Any:
    """Return the weights (count, s) of rows in the clusters of their labels, as a sparse array."""
    return csc_array((weights, labels, np.arange(len(labels) + 1)), shape=(count, len(labels)))


def _coordinates(problem: Problem, numbers: IntArray) -> Iterator[Array]:
    """Yield the coordinates (s, r) of some rows, or those along the directions in which rows
    differ most where they have many more; nothing in spaces without orthonormal ones."""
    if not problem.space.is_orthonormal:
        return
    dtype = np.float32 if itemsize(problem.rows.blocks.x) == 4 else np.float64
    is_wide = problem.space.size >= WIDE * DIRECTIONS
    along = problem.rows.beside(Directions).most(DIRECTIONS) if is_wide else None
    for start, stop in spans(len(numbers), TOGETHER):
        x = _rows_at(problem, numbers[start:stop]).coordinates.astype(dtype)
        yield x if along is None else x @ along.coordinates.T.astype(dtype)


def _rows_at(problem: Problem, numbers: IntArray) -> Centres:
    return problem.space.embed(problem.rows.blocks.take(numbers), numbers)


def _drawn(
    problem: Problem, weights: Float64, most: int, rng: np.random.RandomState
) -> tuple[IntArray, IntArray]:
    """Return the numbers (k,) of at most so many rows, and which of them each row (s,) is nearest
    to."""
    space, blocks = problem.space, problem.rows.blocks
    taken, new = np.empty(0, np.intp), np.array([one_drawn(weights, rng)])
    labels, d2 = np.zeros(len(weights), np.intp), np.full(len(weights), np.inf)
    while len(new):
        centres = space.embed(blocks.take(new), new)
        found = problem.map(NearestRowsPass(problem.rule, State(centres)))
        nearest, distances = (np.concatenate(parts) for parts in zip(*found, strict=True))
        noise = 2.0 * rounding(blocks.x.dtype) * centres.squared_norms()
        distances[distances <= noise[nearest]] = 0.0
        closer = distances < d2
        labels[closer], d2[closer] = len(taken) + nearest[closer], distances[closer]
        labels[new], d2[new] = len(taken) + np.arange(len(new)), 0.0
        taken = np.concatenate([taken, new])
        ahead = min(max(len(taken), FIRST_AHEAD), MOST_AHEAD, 2 * (most - len(taken)))
        draws = proposals(weights * d2, ahead, rng)
        new = draws[_accepted(problem, draws, d2, rng)][: most - len(taken)]
    return taken, labels


def _accepted(
    problem: Problem, draws: IntArray, d2: Float64, rng: np.random.RandomState
) -> IntArray:
    """Return which proposals are taken, as each is where its distance from the rows before it,
    those before it among the proposals too, is still large enough."""
    among = _squared_distances(problem.space.embed(problem.rows.blocks.take(draws), draws))
    least, now = rng.uniform(size=len(draws)) * d2[draws], d2[draws]
    now[_are_repeated(draws)] = 0.0
    taken = []
    for place in range(len(draws)):
        if now[place] > least[place]:
            taken.append(place)
            np.minimum(now, among[place], out=now)
    return np.array(taken, np.intp)


def _squared_distances(rows: Centres) -> Float64:
    """Squared distances (q, q), with less care than those of centres: where rounding leaves one,
    a row is drawn that is no further from the others."""
    norms, d2 = rows.squared_norms(), rows.inner(rows)
    d2 *= -2.0
    d2 += norms
    d2 += norms[:, None]
    return d2


def _are_repeated(draws: IntArray) -> IntArray:
    """Return the places of draws that came before: rounding may leave them a distance."""
    return np.setdiff1d(np.arange(len(draws)), np.unique(draws, return_index=True)[1])


def _neighbours(problem: Problem, drawn: IntArray, means: Centres) -> IntArray:
    """Return the numbers (k, NEAR) of the clusters whose means are nearest to each drawn row."""
    rows = problem.on_sample(drawn, np.ones(len(drawn)), problem.stopping)
    state = State(means, np.zeros(len(means)))
    found = rows.map(FewNearestPass(rows.rule, state, min(NEAR, len(means))))
    return np.concatenate([clusters for clusters, _ in found])


class _MergingArgument(Structure):
    """struct merging"""

    _fields_ = [
        *members("means duals mass known root partner stamp met tree", ADDRESS),
        *members("clusters columns few leaves wanted", WHOLE),
    ]


MERGING = pointer_to(_MergingArgument)


def _merged(means: Centres, mass: Float64, known: IntArray, wanted: int) -> IntArray:
    """Return the cluster (k,) of the `wanted` ones that each becomes a part of."""
    k, columns = means.coordinates.shape
    leaves = 1 << (k - 1).bit_length()
    coordinates = np.array(means.coordinates, np.float64, order="C")
    is_dual = means.duals is not means.coordinates
    duals = np.array(means.duals, np.float64, order="C") if is_dual else coordinates
    known, root = np.ascontiguousarray(known, np.int32), np.empty(k, np.int64)
    partner, stamp, met = np.empty((3, k), np.int32)
    tree, mass = np.empty(2 * leaves), mass.copy()
    arrays = (coordinates, duals, mass, known, root, partner, stamp, met, tree)
    addresses = [address(array) for array in arrays]
    argument = _MergingArgument(*addresses, k, columns, known.shape[1], leaves, wanted)
    found = native.function("merge_clusters", np.float64, (MERGING,), WHOLE)(argument)
    assert found == wanted, "every cluster knows others until few are left"
    return np.unique(root, return_inverse=True)[1].astype(np.intp)
