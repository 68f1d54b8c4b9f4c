"""Evidence of a valley between two sides of some cells: whether they are one heap or two."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .. import native
from ..data.arrays import Float64
from ..native.calls import ADDRESS, WHOLE, Structure, address, byref, pointer_to
from .cells import Cells

STEPS = 16  # of the grid between two means, as in the C file
GRID = (np.arange(3 * STEPS + 1) - STEPS) / STEPS
PEAKS, VALLEYS = (2, 4, 8), (2, 4, 8, 12)  # widths of windows in steps
TURNS = 10  # of 2-means
Side = npt.NDArray[np.int8]
K, M = np.array(PEAKS)[:, None, None], np.array(VALLEYS)[None, :, None]
P_SHARE, Q_SHARE = (K + M) / K, (K + M) / M
Windows = tuple[Float64, Float64]  # (t, 3, 4, STEPS) masses of the smaller peak, and of the valley


class _CutArgument(Structure):
    """struct cut"""

    _fields_ = [
        *((name, ADDRESS) for name in ("x", "w", "s2", "back", "ends", "room", "side", "mass")),
        ("evidence", ADDRESS),
        ("draw", ADDRESS),
        ("cells", WHOLE),
        ("columns", WHOLE),
        ("turns", WHOLE),
        ("plain", WHOLE),
    ]


_ARGUMENTS = (pointer_to(_CutArgument), ADDRESS, ADDRESS, WHOLE)


def evidence(windows: Windows) -> Float64:
    """Return how much likelier the counts of two peaks and a valley are than one heap, for each of
    several cuts (t,): the largest logarithm of a ratio of Poisson likelihoods. Where rows have one
    peak alone, no window between two others is thinner than both."""
    p, q = (np.maximum(part, 1e-12) for part in windows)
    both = p + q
    ratio = p * np.log(p * P_SHARE / both) + q * np.log(q * Q_SHARE / both)
    most: Float64 = np.where(p * M > q * K, ratio, 0.0).max(axis=(1, 2, 3))
    return most


@dataclass(frozen=True)
class Cuts:
    """Several ways in which cells are cut in two."""

    side: Side  # (t, k) 1: nearer to the second mean
    smaller: Float64  # (t,) mass of the smaller side
    evidence: Float64  # (t,) of a valley between the sides; 0 where there are no two


class Cut:
    """Cells that are cut in two, in the space of rows and in one where `to_space` (d, d) takes
    them, (d,) where it is diagonal."""

    def __init__(self, cells: Cells, to_space: Float64 | None, *, plain: bool) -> None:
        k, d = cells.x.shape
        spaces = [None] * plain + [to_space] * (to_space is not None)
        self.x, self.back = np.empty((len(spaces), k, d)), None
        for place, space in zip(self.x, spaces, strict=True):
            place[:] = in_space(cells.x, space)
        if to_space is not None:
            full = to_space.ndim == 2
            self.back = np.ascontiguousarray(to_space.T if full else np.diag(to_space))
        self.s2 = cells.s / cells.w / d

    def by_two_means(self, w: Float64, draws: Float64, plain: int) -> Cuts:
        """Return cuts of cells of masses w by 2-means, each from two cells that are drawn as
        k-means++ does, by two numbers (t, 2) between 0 and 1; the first ones in the space of
        rows."""
        side, draws = np.zeros((len(draws), len(w)), np.int8), np.ascontiguousarray(draws)
        return self._cut(w, side, draws, TURNS, plain)

    def between(self, w: Float64, side: Side) -> float:
        """Return the evidence of a valley between these sides (k,)."""
        plain = int(self.back is None)
        return float(self._cut(w, side[None].copy(), None, 0, plain).evidence[0])

    def _cut(self, w: Float64, side: Side, draws: Float64 | None, turns: int, plain: int) -> Cuts:
        (t, k), d = side.shape, self.x.shape[2]
        mass, ends, found = np.zeros((t, 2)), np.empty((t, 2, d)), np.zeros(t)
        if native.is_available():
            room, following, total = np.empty(2 * d), np.empty(k, np.int8), np.empty(k)
            arrays = self.x, w, self.s2, self.back, ends, room, side, mass, found, draws
            argument = _CutArgument(*map(address, arrays), k, d, turns, plain)
            call = native.function("cut_cells", np.float64, _ARGUMENTS)
            call(byref(argument), address(following), address(total), t)
        else:
            shape = (t, len(PEAKS), len(VALLEYS), STEPS)
            windows = np.zeros(shape), np.zeros(shape)
            for i in range(t):
                x, back = (self.x[0], None) if i < plain else (self.x[-1], self.back)
                placed = _Placed(x, w, self.s2, back)
                if draws is None or placed.draw_ends(draws[i], ends[i]):
                    some = windows[0][i], windows[1][i]
                    found[i] = placed.cut_in_two(side[i], ends[i], turns, mass[i], some)
            found = np.where(found, evidence(windows), 0.0)
        return Cuts(side, mass.min(axis=1), found)


@dataclass(frozen=True)
class _Placed:
    """Cells in one space, of some masses: the C file in Python."""

    x: Float64  # (k, d)
    w: Float64  # (k,)
    s2: Float64  # (k,)
    back: Float64 | None

    def draw_ends(self, draws: Float64, ends: Float64) -> bool:
        """The C function `draw_ends`."""
        ends[0] = self.x[drawn(self.w, draws[0])]
        apart = self.w * _in_order((self.x - ends[0]) ** 2, axis=1)
        ends[1] = self.x[drawn(apart, draws[1])]
        return bool(apart.any())

    def cut_in_two(
        self, side: Side, ends: Float64, turns: int, mass: Float64, windows: Windows
    ) -> bool:
        """The C function `cut_in_two`."""
        found = turns == 0
        for _ in range(turns):
            middle = (ends[0] + ends[1]) / 2
            following = _in_order((self.x - middle) * (ends[1] - ends[0]), axis=1) > 0
            following &= self.w > 0
            if following[self.w > 0].all() or not following.any():
                break
            if found and (following == side).all():
                break
            side[:], found = following, True
            self._means(side, ends, mass)
        if not found:
            return False
        self._means(side, ends, mass)
        before = self._masses_on_line(side, ends, mass)
        if before is None:
            return False
        for p, k in enumerate(PEAKS):
            counts = before[k:] - before[:-k]
            left, right = (
                np.maximum.accumulate(counts),
                np.maximum.accumulate(counts[::-1])[::-1],
            )
            for v, m in enumerate(VALLEYS):
                at = np.arange(STEPS, 2 * STEPS - m + 1)[:STEPS]
                windows[0][p, v, : len(at)] = np.minimum(left[at - k], right[at + m])
                windows[1][p, v, : len(at)] = before[at + m] - before[at]
        return True

    def _means(self, side: Side, ends: Float64, mass: Float64) -> None:
        """The C function `means_of_sides`."""
        for j in range(2):
            w = np.where(side == j, self.w, 0.0)
            mass[j] = _in_order(w)
            ends[j] = _in_order(w[:, None] * self.x) / mass[j]

    def _masses_on_line(self, side: Side, ends: Float64, mass: Float64) -> Float64 | None:
        """The C function `masses_on_line`."""
        u = ends[1] - ends[0]
        length = _in_order(u * u)
        if not length > 0:
            return None
        spread = length if self.back is None else _in_order(_in_order(self.back * u, axis=1) ** 2)
        y = self.x - (ends[0] + ends[1]) / 2
        share = np.minimum(self.w / np.maximum(mass[side] - self.w, 1e-9), 1)
        own = _in_order(y * (self.x - ends[side]), axis=1) * share
        z = (_in_order(y * u, axis=1) - np.where(side, own, -own)) / length + 0.5
        reach = np.maximum(np.sqrt(7 * self.s2 * spread) / length, 1e-6)
        t = np.clip((GRID - z[:, None]) / reach[:, None], -1, 1)
        t2 = t * t
        result: Float64 = _in_order(
            self.w[:, None] * (0.5 + t * (15 - t2 * (10 - 3 * t2)) / 16), axis=0
        )
        return result


def in_space(x: Float64, to_space: Float64 | None) -> Float64:
    """Return rows in the space that a factor of a covariance leads to."""
    if to_space is None:
        return x
    return x @ to_space.T if to_space.ndim == 2 else x * to_space


def drawn(w: Float64, u: float) -> int:
    """Return a place drawn with probabilities proportional to w, by a number between 0 and 1."""
    total = np.cumsum(w)
    return min(int(np.searchsorted(total, u * total[-1], side="right")), len(w) - 1)


def _in_order(terms: Float64, axis: int = 0) -> Float64:
    """Return sums in the order in which the C file takes them."""
    result: Float64 = np.add.accumulate(terms, axis=axis).take(-1, axis=axis)
    return result
