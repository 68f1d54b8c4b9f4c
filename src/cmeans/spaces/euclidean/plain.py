"""The Euclidean space of the rows themselves, for c-means without a kernel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...data.arrays import Array, Float64, IntArray, as_like, host_float64, is_sparse, squared_norms
from ...data.blocks import Block
from ..base import ProductRows, Rows, RowValues, View, mean_products
from ..centres import Centres
from .points import PointSpace


@dataclass(frozen=True)
class ShiftedRows(Rows):
    """Dense rows about a point, which native code takes from them as it reads them."""

    x: Array  # (b, d)
    shift: Array  # (d,)

    @property
    def kxx(self) -> Array:
        return self.plain().kxx

    def inner(self, view: View) -> Array:
        return self.plain().inner(view)

    def add_moment(self, w: Array, total: Array) -> None:
        self.plain().add_moment(w, total)

    def plain(self) -> ProductRows:
        x = self.x - self.shift[None, :]
        return ProductRows(x, squared_norms(x))

    def prepared(self) -> ProductRows:
        return self.plain()

    def values(self) -> RowValues:
        return RowValues(self.x, self.shift, None)


@dataclass(frozen=True)
class EuclideanSpace(PointSpace):
    """Basis = the coordinate axes about `shift`, a point among the rows that keeps rounding small (CSR rows: the origin)."""

    shift: Float64  # (d,)

    def __post_init__(self) -> None:
        if self.shift.ndim != 1:
            raise ValueError(f"EuclideanSpace: a shift of shape {self.shift.shape} is no point")

    @classmethod
    def about(cls, rows: Array, weights: Float64) -> EuclideanSpace:
        """Return the space about the mean of a fair sample of the rows."""
        if is_sparse(rows):
            return cls(np.zeros(rows.shape[1]))
        return cls(np.asarray(weights @ host_float64(rows) / weights.sum()))

    @property
    def size(self) -> int:
        return len(self.shift)

    @property
    def keeps_rows_cheaply(self) -> bool:
        return False

    @property
    def represents_by_views(self) -> bool:
        return True

    def rows(self, block: Block, room: Array | None = None) -> Rows:
        if is_sparse(block.x):
            x = block.x if not self.shift.any() else block.x.toarray() - self.shift.astype(block.x.dtype)
            return ProductRows(x, squared_norms(x))
        return ShiftedRows(block.x, as_like(self.shift, block.x))

    def centres(self, mass: Float64, moment: Float64) -> Centres:
        return Centres.orthonormal(mean_products(mass, moment))

    def coefficients(self, centres: Centres) -> Float64:
        return centres.coordinates

    def embed(self, block: Block, numbers: IntArray | None = None) -> Centres:
        return self.at(host_float64(block.x))

    def as_rows(self, centres: Centres) -> Rows:
        return ProductRows(centres.coordinates, centres.squared_norms())
