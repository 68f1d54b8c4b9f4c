"""Rows that are given by their products with the basis of a space: any mean of rows is such a
row."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..data.arrays import Array, IntArray, host_float64
from ..data.blocks import Block
from ..runtime.forwarding import forwards
from .base import Space
from .centres import Centres
from .member_scatter import MemberScatter
from .rows import ProductRows, Rows


@forwards("of", "kernel", "spherical", "factored_size", "jitter", "n_coordinates")
@forwards("of", "is_metric", "is_orthonormal", "norms_are_offsets", "takes_metrics", "first_metric")
@forwards("of", "may_hold_empty_rows", "empty_rows", "as_rows", "as_points", "project", "portable")
@forwards("of", "means", "next_centres", "coefficients", "offsets", "inner_products", "norms")
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
    def size(self) -> int:
        return self.of.size

    def in_scale(self) -> ProductSpace:
        of = self.of.in_scale()
        return self if of is self.of else ProductSpace(of, self.scatter)

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
    def sweeps_products(self) -> bool:
        return self.scatter is None

    def embed(self, block: Block, numbers: IntArray | None = None) -> Centres:
        g = host_float64(block.x)
        return self.of.means(np.ones(len(g)), g)
