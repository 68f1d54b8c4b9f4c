"""Initial centres drawn among rows: k-means++ and Max-Min. Where very many are drawn, proposals are
made ahead, so that their kernel values come from products of matrices."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .. import native
from ..data.arrays import Float64, IntArray
from ..data.blocks import spans
from ..data.precision import first_largest
from ..native.calls import ADDRESS, INT, REAL, WHOLE, Structure, address, members, pointer_to
from ..runtime.user_warnings import NOT_FINITE, OutOfRangeError
from .drawing import one_drawn
from .pairwise import Affinity

VERY_MANY = 256  # rows to be drawn from which on proposals are made ahead
# of each draw: six of them lead, after 25 sweeps, to up to two percent more (benchmarks/seeding.py)
CANDIDATES = 8
# along which rows of very many columns are drawn: no worse, in a sixth of the time
# (benchmarks/seeding.py)
DIRECTIONS = 64
TRIED = 4  # of each draw in rounds
AHEAD = 16  # rows taken so far for each draw that is made ahead: few proposals are rejected then
VALUES = 2**22  # kernel values that are there at a time


def seeds(
    affinity: Affinity,
    weights: Float64,  # (p,)
    count: int,
    rng: np.random.RandomState,
    *,
    nearest: Float64 | None = None,  # (p,) squared distances from what is taken already
) -> IntArray:
    """Return up to `count` rows far from each other: those of `kmeans_plus_plus`, or very many,
    drawn ahead.

    Candidates of several draws are proposed at once, in proportion to weight and squared distance
    D_i from the rows taken before all of them, and accepted with probability D_i now / D_i then, so
    that each is drawn in proportion to what D_i is when it is its turn (as Cohen-Addad et al. 2020
    reject proposals from a bound). Of eight that are accepted the best is taken. Distances are
    computed in the precision of the rows, in plain space along a few directions alone, unless too
    few rows differ along these.
    """
    if count < VERY_MANY:
        return kmeans_plus_plus(affinity, weights, count, rng, nearest=nearest)
    affinity = affinity.in_given_precision()
    few = affinity.along(DIRECTIONS) if nearest is None else affinity
    chosen = _drawn_ahead(few, weights, count, rng, nearest)
    if few is affinity or len(chosen) == count:
        return chosen
    return _drawn_ahead(affinity, weights, count, rng, nearest)


def _drawn_ahead(
    affinity: Affinity,
    weights: Float64,
    count: int,
    rng: np.random.RandomState,
    nearest: Float64 | None,
) -> IntArray:
    chosen, nearest = begun(affinity, weights, rng, nearest)
    noise = potential_noise(affinity, weights)
    while len(chosen) < count:
        ahead = min(
            max(len(chosen) // AHEAD, 1),
            max(VALUES // (CANDIDATES * len(weights)), 1),
            count - len(chosen),
        )
        draws = proposals(weights * nearest, CANDIDATES * ahead, rng)
        if not len(draws):
            break
        measured, least = _Measured(affinity, draws), rng.uniform(size=len(draws)) * nearest[draws]
        left = list(range(len(draws)))
        while left and len(chosen) < count:
            tried, left = _accepted(left, draws, nearest, least)
            if tried:
                after, potentials = lowered(measured, draws[tried], nearest, weights)
                best = first_largest(-potentials, noise)
                chosen.append(int(draws[tried[best]]))
                nearest = after[best]
    return np.array(chosen, dtype=np.intp)


def _accepted(
    left: list[int], draws: IntArray, nearest: Float64, least: Float64
) -> tuple[list[int], list[int]]:
    """Return the candidates of the next draw, and the proposals after them."""
    tried: list[int] = []
    for at, number in enumerate(left):
        if nearest[draws[number]] > least[number]:
            tried.append(number)
        if len(tried) == CANDIDATES:
            return tried, left[at + 1 :]
    return tried, []


@dataclass(frozen=True)
class _Measured(Affinity):
    """Rows of which the kernel values of some with all are known."""

    affinity: Affinity
    known: IntArray  # (q,)

    @cached_property
    def _values(self) -> Float64:
        return self.affinity.between(self.known)

    @cached_property
    def _places(self) -> dict[int, int]:
        return {int(row): place for place, row in enumerate(self.known)}

    def between(self, rows: IntArray) -> Float64:
        return self._values[[self._places[int(row)] for row in rows]]

    @property
    def rounding(self) -> float:
        return self.affinity.rounding

    def diag(self) -> Float64:
        return self.affinity.diag()


def kmeans_plus_plus(
    affinity: Affinity,
    weights: Float64,  # (p,)
    count: int,
    rng: np.random.RandomState,
    *,
    candidates: int | None = None,
    nearest: Float64 | None = None,  # (p,) squared distances from what is taken already
) -> IntArray:
    """Return up to `count` rows far from each other: each is drawn in proportion to its squared
    distance from those before it.

    Distances are the kernel's own. Of 2 + ln(count) candidates the one that lowers the sum of
    distances most is taken (greedy k-means++, Arthur & Vassilvitskii 2007). Fewer rows are returned
    when no further row differs from those taken.
    """
    tries = 2 + int(math.log(max(count, 1))) if candidates is None else candidates
    chosen, nearest = begun(affinity, weights, rng, nearest)
    noise = potential_noise(affinity, weights)
    while len(chosen) < count:
        draws = proposals(weights * nearest, tries, rng)
        if not len(draws):
            break
        after, potentials = lowered(affinity, draws, nearest, weights)
        best = first_largest(-potentials, noise)
        chosen.append(int(draws[best]))
        nearest = after[best]
    return np.array(chosen, dtype=np.intp)


def drawn_in_rounds(
    affinity: Affinity,
    weights: Float64,  # (p,)
    count: int,
    rng: np.random.RandomState,
) -> IntArray:
    """Return up to `count` rows far from each other, in few steps: as `seeds` draws very many, with
    half as many tries, in rounds of as many draws as are taken already."""
    chosen, nearest = begun(affinity, weights, rng, None)
    noise = potential_noise(affinity, weights)
    while len(chosen) < count:
        room = max(VALUES // (TRIED * len(weights)), 1)
        ahead = min(len(chosen), room, count - len(chosen))
        draws = proposals(weights * nearest, TRIED * ahead, rng)
        if not len(draws):
            break
        least = rng.uniform(size=len(draws)) * nearest[draws]
        after = lowered(affinity, draws, nearest, weights)[0]
        taken, nearest = _taken(after, nearest, weights, draws, least, noise)
        chosen.extend(taken.tolist())
    return np.array(chosen, dtype=np.intp)


class _DrawnArgument(Structure):
    """struct drawn"""

    _fields_ = [
        *members("lowered nearest weight least rows potentials taken", ADDRESS),
        *members("proposed count tried", WHOLE),
        *members("noise", REAL),
    ]


def _taken(
    after: Float64,  # (t, p) squared distances to the nearest row, were a proposed one taken
    nearest: Float64,  # (p,) and to what is taken
    weights: Float64,  # (p,)
    draws: IntArray,  # (t,)
    least: Float64,  # (t,)
    noise: float,
) -> tuple[IntArray, Float64]:
    """Return the rows that are taken, of each few the best one whose distance is still above the
    least, and the squared distances then."""
    if native.is_available():
        nearest, weights, least = (np.array(one, after.dtype) for one in (nearest, weights, least))
        potentials, taken = np.empty_like(least), np.empty(len(draws), np.int64)
        kept = after, nearest, weights, least, draws.astype(np.int64), potentials, taken
        argument = _DrawnArgument(*map(address, kept), *after.shape, TRIED, noise)
        count = native.function("take_proposed", after.dtype, (DRAWN,), WHOLE)(argument)
        return taken[:count], nearest
    rows = []
    for a, b in spans(len(draws), TRIED):
        accepted = a + np.flatnonzero(nearest[draws[a:b]] > least[a:b])
        if len(accepted):
            left = np.minimum(after[accepted], nearest)
            best = first_largest(-(left @ weights), noise)
            rows.append(draws[accepted[best]])
            nearest = left[best]
    return np.array(rows, np.intp), nearest


DRAWN = pointer_to(_DrawnArgument)


def max_min(
    affinity: Affinity,
    weights: Float64,  # (p,)
    count: int,
    rng: np.random.RandomState,
    *,
    nearest: Float64 | None = None,  # (p,) squared distances from what is taken already
) -> IntArray:
    """Return up to `count` rows far apart: after a drawn row, always the one that is farthest from
    those taken so far.

    (Gonzalez 1985; Max-Min in Xenaki, Koutroumbas, Rontogiannis 2014.) Fewer are returned when no
    further row differs.
    """
    chosen, nearest = begun(affinity, weights, rng, nearest)
    noise = 2.0 * affinity.rounding * float(affinity.diag().max())
    while len(chosen) < count and nearest.max() > 0:
        chosen.append(first_largest(nearest, noise))
        nearest = lowered(affinity, np.array(chosen[-1:]), nearest, weights)[0][0]
    return np.array(chosen, dtype=np.intp)


def proposals(masses: Float64, count: int, rng: np.random.RandomState) -> IntArray:
    """Draw so many rows (repetitions are possible) in proportion to their masses (p,); none where
    these are zero."""
    mass = np.cumsum(masses, dtype=np.float64)
    if not mass[-1] > 0:
        return np.empty(0, dtype=np.intp)
    draws = np.searchsorted(mass, rng.uniform(size=count) * mass[-1], side="right")
    # never a row of no mass after the last possible one
    possible: IntArray = np.minimum(draws, np.searchsorted(mass, mass[-1]))
    return possible


def potential_noise(affinity: Affinity, weights: Float64) -> float:
    """Return what rounding may make of a weighted sum of squared distances."""
    return 2.0 * affinity.rounding * float(weights @ affinity.diag())


def begun(
    affinity: Affinity, weights: Float64, rng: np.random.RandomState, nearest: Float64 | None
) -> tuple[list[int], Float64]:
    """Draw the first row, unless distances from what is taken are given; return it with the squared
    distances (p,) from it."""
    if nearest is not None:
        return [], nearest
    row = one_drawn(weights, rng)
    return [row], _distances_to(affinity, row, weights)


def _distances_to(affinity: Affinity, row: int, weights: Float64) -> Float64:
    """Squared distances (p,) of all rows to the first one taken."""
    distances: Float64 = lowered(affinity, np.array([row]), np.full(len(weights), np.inf), weights)[
        0
    ][0]
    return distances


class _ProposalsArgument(Structure):
    """struct proposals"""

    _fields_ = [
        *members("products kxx nearest weight rows lowered potentials", ADDRESS),
        *members("proposed count", WHOLE),
        *members("rounding", REAL),
    ]


PROPOSALS = pointer_to(_ProposalsArgument)


def lowered(
    affinity: Affinity,
    proposed: IntArray,  # (t,)
    nearest: Float64,  # (p,) squared distances to the nearest row taken so far
    weights: Float64,  # (p,)
) -> tuple[Float64, Float64]:
    """Return the squared distances (t, p) to the nearest row once each of the proposed ones is
    taken, and their weighted sums (t,)."""
    if not native.is_available():
        after = np.minimum(nearest, affinity.squared_distances(proposed).T)
        return after, after @ weights
    products = np.ascontiguousarray(affinity.between(proposed))
    dtype = products.dtype  # in which all is computed
    arrays = (np.ascontiguousarray(values, dtype) for values in (affinity.diag(), nearest, weights))
    numbers = np.ascontiguousarray(proposed, dtype=np.int64)
    after, potentials = np.empty(products.shape, dtype), np.empty(len(proposed), dtype)
    kept = products, *arrays, numbers, after, potentials  # while their addresses are in use
    argument = _ProposalsArgument(*map(address, kept), *products.shape, affinity.rounding)
    if native.function("propose", dtype, (PROPOSALS,), INT)(argument):
        raise OutOfRangeError(NOT_FINITE)
    return after, potentials
