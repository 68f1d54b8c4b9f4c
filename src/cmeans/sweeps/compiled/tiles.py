"""Tiles: TILE rows at a time, for the rules as arrays (clusters, TILE) with vectors along the rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...data.arrays import Array, as_like
from ...spaces import View
from .door import inlined
from .elementary import TileScratch

TILE = 64
GROUP = 4  # centres for which distances are computed at a time; centres are padded to a multiple
LINE = 64  # bytes of a cache line


class Tile(NamedTuple):
    """Memory of a pass for TILE rows."""

    d2: Array  # (padded clusters, TILE)
    low: Array  # (TILE,) smallest squared distance
    u: Array  # (clusters, TILE) memberships up to the row's factor; then weights
    w: Array  # (padded clusters, TILE) the same memory, padded with zeros
    factor: Array  # (TILE,) by which u is to be multiplied
    label: Array  # (TILE,) number of a cluster
    kxx: Array  # (TILE,)
    weight: Array  # (TILE,) sample weights; 0 for the padding of the last tile
    row: Array  # (TILE,) scratch
    more: Array  # (3, TILE) scratch
    work: TileScratch


def read_only(x: Array) -> Array:
    """Return a read-only view: Numba compiles read-only and writable arrays separately, and memory maps may be either."""
    view = x.view()
    view.flags.writeable = False
    return view


def centres_in_groups(view: View) -> tuple[Array, Array]:
    """Return -2 a and |v|^2, padded to whole groups by centres at infinite distance; each centre begins a cache line."""
    a = view.coefficients
    c, r = a.shape
    line = LINE // a.itemsize
    count, pitch = c + -c % GROUP, r + -r % line
    memory = np.zeros(count * pitch + line, dtype=a.dtype)
    first = -memory.ctypes.data % LINE // a.itemsize
    centres = memory[first : first + count * pitch].reshape(count, pitch)
    centres[:c, :r] = -2.0 * a
    norms = np.full(count, np.inf, dtype=a.dtype)
    norms[:c] = as_like(view.norms, a)
    return centres, norms


@inlined
def new_tile(groups: int, clusters: int, like: Array, bits: Array) -> Tile:
    """Return an empty tile for rows of `like`'s dtype; `bits` is an integer array of the same item size."""
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
        TileScratch(np.empty(TILE, bits.dtype), np.empty(TILE, real)),
    )


@inlined
def load(tile: Tile, number: int, kxx: Array, weight: Array) -> None:
    """Load k(x, x) (b,) and the sample weights (b,) of one tile's rows; the last row pads it."""
    start, last, infinity = number * TILE, kxx.shape[0] - 1, kxx.dtype.type(np.inf)
    for t in range(TILE):
        tile.low[t] = infinity
        i = min(start + t, last)
        tile.kxx[t] = kxx[i]
        tile.weight[t] = weight[i] if start + t <= last else 0.0


@inlined
def label_nearest(tile: Tile) -> None:
    """Set the label of each row to its nearest centre, ties to the lowest number."""
    d2, low, label = tile.d2, tile.low, tile.label
    for t in range(TILE):
        label[t] = 0
    for j in range(tile.u.shape[0] - 1, -1, -1):
        number = np.int32(j)
        for t in range(TILE):
            label[t] = number if d2[j, t] == low[t] else label[t]


@inlined
def some_may_be_zero(tile: Tile, norms: Array, rounding: float) -> bool:
    """True where some smallest distance is below rounding."""
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
    """Set distances below rounding to zero; NaN stays. Most tiles have none, and only the test runs."""
    d2, kxx, low, real = tile.d2, tile.kxx, tile.low, tile.low.dtype.type
    if not some_may_be_zero(tile, norms, rounding):
        return
    zero, share = real(0), real(rounding)
    for j in range(tile.u.shape[0]):
        for t in range(TILE):
            d2[j, t] = zero if d2[j, t] < share * (kxx[t] + norms[j]) else d2[j, t]
            low[t] = d2[j, t] if d2[j, t] < low[t] or j == 0 else low[t]
