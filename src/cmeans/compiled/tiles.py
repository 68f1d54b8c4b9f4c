"""What a tile is: TILE rows at a time, seen by every rule as arrays (clusters, TILE) with the rows along the vector."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..arrays import Array, as_like
from ..spaces import View
from .door import inlined
from .elementary import Scratch

TILE = 64
GROUP = 4  # centres that distances are computed for at a time: views of centres are filled up to whole groups
LINE = 64  # bytes of a cache line


class Tile(NamedTuple):
    """Room for what a pass knows of TILE rows."""

    d2: Array  # (whole groups, TILE)
    low: Array  # (TILE,) smallest squared distance
    u: Array  # (clusters, TILE) memberships but for the row's factor; then weights
    w: Array  # (whole groups, TILE) the same memory, filled up with zeros
    factor: Array  # (TILE,) what u is to be multiplied by
    label: Array  # (TILE,) number of a cluster
    kxx: Array  # (TILE,)
    weight: Array  # (TILE,) sample weights; 0 for the filling of the last tile, so that it counts for nothing
    row: Array  # (TILE,) for anything
    more: Array  # (3, TILE) for anything
    work: Scratch


def read_only(x: Array) -> Array:
    """The same numbers, not to be written to: Numba would compile anew for the other kind, of which memory maps may be either."""
    view = x.view()
    view.flags.writeable = False
    return view


def centres_in_groups(view: View) -> tuple[Array, Array]:
    """-2 a and |v|^2 for whole groups of centres, filled up with ones infinitely far away; each centre begins a cache line."""
    a = view.coefficients
    c, r = a.shape
    line = LINE // a.itemsize
    count, pitch = c + -c % GROUP, r + -r % line
    room = np.zeros(count * pitch + line, dtype=a.dtype)
    first = -room.ctypes.data % LINE // a.itemsize
    centres = room[first : first + count * pitch].reshape(count, pitch)
    centres[:c, :r] = -2.0 * a
    norms = np.full(count, np.inf, dtype=a.dtype)
    norms[:c] = as_like(view.norms, a)
    return centres, norms


@inlined
def new_tile(groups: int, clusters: int, like: Array, bits: Array) -> Tile:
    """An empty tile for rows of `like`'s dtype; `bits` is an integer array of the same size of numbers."""
    real = like.dtype
    w = np.zeros((groups, TILE), real)
    return Tile(
        np.empty((groups, TILE), real),
        np.empty(TILE, real),
        w[:clusters],
        w,
        np.ones(TILE, real),
        np.empty(TILE, np.int32),
        np.empty(TILE, real),
        np.empty(TILE, real),
        np.empty(TILE, real),
        np.empty((3, TILE), real),
        Scratch(np.empty(TILE, bits.dtype), np.empty(TILE, real)),
    )


@inlined
def load(tile: Tile, number: int, kxx: Array, weight: Array) -> None:
    """k(x, x) (b,) and the sample weights (b,) of one tile's rows, the last row's filling it up."""
    start, last, infinity = number * TILE, kxx.shape[0] - 1, kxx.dtype.type(np.inf)
    for t in range(TILE):
        tile.low[t] = infinity
        i = min(start + t, last)
        tile.kxx[t] = kxx[i]
        tile.weight[t] = weight[i] if start + t <= last else 0.0


@inlined
def label_nearest(tile: Tile) -> None:
    """The nearest centre of each row, ties to the lowest number."""
    d2, low, label = tile.d2, tile.low, tile.label
    for t in range(TILE):
        label[t] = 0
    for j in range(tile.u.shape[0] - 1, -1, -1):
        number = np.int32(j)
        for t in range(TILE):
            label[t] = number if d2[j, t] == low[t] else label[t]


@inlined
def some_may_be_zero(tile: Tile, norms: Array, rounding: float) -> bool:
    """Whether rounding cannot tell some smallest distance from zero."""
    kxx, low, real = tile.kxx, tile.low, tile.low.dtype.type
    share, largest = real(rounding), real(0)
    for j in range(tile.u.shape[0]):
        largest = norms[j] if norms[j] > largest else largest
    suspects = 0
    for t in range(TILE):
        suspects += not low[t] >= share * (kxx[t] + largest)
    return suspects > 0


@inlined
def set_to_zero(tile: Tile, norms: Array, rounding: float) -> None:
    """What rounding cannot tell from zero is zero, NaN stays. Most tiles have no such distance, and are only asked."""
    d2, kxx, low, real = tile.d2, tile.kxx, tile.low, tile.low.dtype.type
    if not some_may_be_zero(tile, norms, rounding):
        return
    zero, share = real(0), real(rounding)
    for j in range(tile.u.shape[0]):
        for t in range(TILE):
            d2[j, t] = zero if d2[j, t] < share * (kxx[t] + norms[j]) else d2[j, t]
            low[t] = d2[j, t] if d2[j, t] < low[t] or j == 0 else low[t]
