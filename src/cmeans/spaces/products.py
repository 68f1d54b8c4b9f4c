"""Rows that are given by their products with the basis of a space: any mean of rows is such a
row."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..data.arrays import Array, Float64, IntArray, host_float64
from ..data.blocks import Block
from ..kernels import Kernel
from .base import Space
from .centres import Centres
from .member_scatter import MemberScatter
from .metrics import Metrics
from .rows import ProductRows, Rows


@dataclass(frozen=True)
class ProductSpace(Space):
    """A space whose rows x are g, products with its basis, and come with k(x, x).

    Rows of weights w_i that are one row have the weighted means of g and of k(x, x): its squared
    distance to a centre is the mean of theirs, not that of the mean of the rows.
    """

    of: Space
    scatter: MemberScatter | None = None
    keeps_rows_cheaply = False
    in_coordinates = True
    represents_by_views = True
    is_portable = False

    @property
    def kernel(self) -> Kernel:  # type: ignore[override]
        return self.of.kernel

    @property
    def size(self) -> int:
        return self.of.size

    @property
    def factored_size(self) -> int:
        return self.of.factored_size

    @property
    def jitter(self) -> float:
        return self.of.jitter

    @property
    def is_metric(self) -> bool:
        return self.of.is_metric

    @property
    def may_hold_empty_rows(self) -> bool:
        return self.of.may_hold_empty_rows

    def empty_rows(self, rows: Rows) -> IntArray:
        return self.of.empty_rows(rows)

    def in_scale(self) -> ProductSpace:
        of = self.of.in_scale()
        return self if of is self.of else ProductSpace(of, self.scatter)

    @property
    def spherical(self) -> bool:  # type: ignore[override]
        return self.of.spherical

    @property
    def norms_are_offsets(self) -> bool:
        return self.of.norms_are_offsets

    def rows(self, block: Block, room: Array | None = None) -> Rows:
        assert block.kxx is not None, "rows of products come with k(x, x)"
        return ProductRows(block.x, block.kxx)

    def training_rows(self, block: Block, room: Array | None = None) -> Rows:
        if self.scatter is None:
            return self.rows(block, room)
        assert block.kxx is not None, "rows of products come with k(x, x)"
        numbers = np.arange(block.start, block.start + len(block.weight))
        return ProductRows(block.x, block.kxx, scatter=self.scatter.of_rows(numbers))

    def of_part(self, numbers: IntArray) -> ProductSpace:
        if self.scatter is None:
            return self
        return replace(self, scatter=self.scatter.of_rows(numbers))

    @property
    def takes_metrics(self) -> bool:
        return self.of.takes_metrics

    @property
    def sweeps_products(self) -> bool:
        return self.scatter is None

    def first_metric(self, *, diagonal: bool) -> Metrics:
        return self.of.first_metric(diagonal=diagonal)

    def as_points(self, centres: Centres) -> Float64 | None:
        return self.of.as_points(centres)

    def means(self, mass: Float64, moment: Float64) -> Centres:
        return self.of.means(mass, moment)

    def next_centres(self, mass: Float64, moment: Float64, former: Centres) -> Centres:
        return self.of.next_centres(mass, moment, former)

    def coefficients(self, centres: Centres) -> Float64:
        return self.of.coefficients(centres)

    def offsets(self, centres: Centres) -> Float64:
        return self.of.offsets(centres)

    def embed(self, block: Block, numbers: IntArray | None = None) -> Centres:
        g = host_float64(block.x)
        return self.of.means(np.ones(len(g)), g)

    def inner_products(self, centres: Centres, block: Block) -> Float64:
        return self.of.inner_products(centres, block)

    def norms(self, centres: Centres) -> Float64:
        return self.of.norms(centres)

    def as_rows(self, centres: Centres) -> Rows:
        return self.of.as_rows(centres)

    def project(self, centres: Centres, origin: Space, basis: Block | None = None) -> Centres:
        return self.of.project(centres, origin, basis)

    def portable(self, centres: Centres, columns: IntArray | None = None) -> tuple[Space, Centres]:
        return self.of.portable(centres, columns)

    @property
    def n_coordinates(self) -> int:
        return self.of.n_coordinates
