"""The Euclidean space of rows with missing values: distances over what is observed, centres column
by column."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...data.arrays import (
    Array,
    Float64,
    IntArray,
    as_like,
    host_float64,
    namespace,
    squared_norms,
    to_numpy,
)
from ...data.blocks import Block
from ...data.missing import MeanFilled
from ...runtime.stored_classes import stored
from ..base import Pairing
from ..centres import Centres
from ..rows import ProductRows, Rows
from .points import PointSpace


@stored
@dataclass(frozen=True)
class PartialSpace(PointSpace):
    """Partial distances (Hathaway & Bezdek 2001):  d2(x, v) = s sum_k o_k (x_k - v_k)^2,  o_k = 1
    where x_k is observed, else 0.

    s is 1, or where distances are `scaled` d / sum_k o_k, so that those of rows with more and with
    fewer values compare. Basis: d columns of values and d of what is observed, g(x) = s (o x, o),
    over which a centre has the coefficients (v, -v^2 / 2):

        d2(x, v) = s sum_k o_k x_k^2 - 2 [sum_k s o_k x_k v_k - sum_k s o_k v_k^2 / 2]

    So moments, sums of g, hold every column's own mass, sum_i w_ij s_i o_ik, and centres are means
    column by column.

    Coordinates are about `shift`, the means of the columns, where a row that becomes a centre has
    its holes filled.
    """

    shift: Float64  # (d,)
    scaled: bool = False
    spherical = False
    empty_row_has = "no value at all, only NaN"
    norms_are_offsets = False
    may_hold_empty_rows = True
    pairs_by_kernel = False

    def __post_init__(self) -> None:
        if self.shift.ndim != 1:
            raise ValueError(f"PartialSpace: a shift of shape {self.shift.shape} is no point")

    @property
    def size(self) -> int:
        return 2 * len(self.shift)

    @property
    def is_metric(self) -> bool:
        return not self.scaled

    @property
    def filling(self) -> MeanFilled:
        return MeanFilled(self.shift)

    def empty_rows(self, rows: Rows) -> IntArray:
        plain = rows.plain()
        blank = np.flatnonzero(to_numpy(plain.kxx == 0))  # or at the shift
        if not len(blank):
            return blank
        return blank[~to_numpy(plain.g)[blank, len(self.shift) :].any(axis=1)]

    def in_scale(self) -> PartialSpace:
        return self if self.scaled else replace(self, scaled=True)

    def rows(self, block: Block, room: Array | None = None) -> Rows:
        values, observed, xp = *self._observed(block), namespace(block.x)
        kxx = squared_norms(values)
        if self.scaled:
            scale = as_like(row_scales(block.x), values)
            kxx, values, observed = kxx * scale, values * scale[:, None], observed * scale[:, None]
        return ProductRows(xp.concat([values, observed], axis=1), kxx)

    def means(self, mass: Float64, moment: Float64) -> Centres:
        return self.next_centres(
            mass, moment, Centres.orthonormal(np.zeros((len(mass), len(self.shift))))
        )

    def next_centres(self, mass: Float64, moment: Float64, former: Centres) -> Centres:
        d = len(self.shift)
        masses = moment[:, d:]
        known = masses > 0
        return Centres.orthonormal(
            np.where(known, moment[:, :d] / np.where(known, masses, 1.0), former.coordinates)
        )

    def coefficients(self, centres: Centres) -> Float64:
        v = centres.coordinates
        return np.concatenate([v, v * v / -2.0], axis=1)

    def offsets(self, centres: Centres) -> Float64:
        return np.zeros(len(centres))

    def embed(self, block: Block, numbers: IntArray | None = None) -> Centres:
        return Centres.orthonormal(
            host_float64(self._observed(replace(block, x=host_float64(block.x)))[0])
        )

    def as_rows(self, centres: Centres) -> Rows:
        return ProductRows(
            np.concatenate([centres.coordinates, np.ones_like(centres.coordinates)], axis=1),
            centres.squared_norms(),
        )

    def pairing(self, block: Block, numbers: IntArray | None = None) -> Pairing:
        """As centres rows have their holes filled, so that distances are not symmetric."""
        block = replace(block, x=host_float64(block.x))
        rows = self.rows(block).plain()
        return Pairing(rows.g, rows.kxx, self.coefficients(self.embed(block)), rows.kxx / 2.0)

    def _observed(self, block: Block) -> tuple[Array, Array]:
        """Return the values (b, d) of rows about the shift, 0 where they are missing, and 1 (b, d)
        where they are not, else 0."""
        xp, x = namespace(block.x), block.x - as_like(self.shift, block.x)[None, :]
        holes = xp.isnan(block.x)
        return xp.where(holes, xp.zeros_like(x), x), xp.astype(~holes, x.dtype)


def row_scales(x: Array) -> Float64:
    """Return d / (number observed) (b,) of rows; 1 for those without any value."""
    counts = to_numpy(namespace(x).count_nonzero(x == x, axis=1)).astype(np.float64)
    return np.where(counts > 0, x.shape[1] / np.maximum(counts, 1.0), 1.0)
