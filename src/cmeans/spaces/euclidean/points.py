"""The Euclidean geometry of the rows' own coordinates: what the spaces have in common whose centres
are points."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...data.arrays import Float64, IntArray, host_float64, namespace, squared_norms, to_numpy
from ...data.blocks import Block, Blocks, spans
from ...data.csr import diagonal_csr
from ...kernels import Kernel, Linear
from ..base import Space
from ..centres import Centres


class PointSpace(Space):
    """A space whose centres are points of the rows' own coordinates, about `shift`, a point among
    the rows that keeps rounding small."""

    shift: Float64  # (d,)
    in_coordinates = True
    pairs_by_kernel = True

    @property
    def kernel(self) -> Kernel:  # type: ignore[override]
        return Linear()

    def empty_rows_of(self, block: Block) -> IntArray:
        xp = namespace(block.x)
        return np.flatnonzero(to_numpy(xp.all(xp.isnan(block.x), axis=1)))

    def at(self, points: Float64) -> Centres:
        """Return centres at given points (c, d) in the rows' own coordinates."""
        return Centres.orthonormal(points - self.shift)

    def as_points(self, centres: Centres) -> Float64:
        return centres.coordinates + self.shift

    def inner_products(self, centres: Centres, block: Block) -> Float64:
        products: Float64 = np.asarray(host_float64(block.x) @ self.as_points(centres).T).T
        return products

    def norms(self, centres: Centres) -> Float64:
        norms: Float64 = squared_norms(self.as_points(centres))
        return norms

    def project(self, centres: Centres, origin: Space, basis: Block | None = None) -> Centres:
        if isinstance(origin, PointSpace):
            return self.at(origin.as_points(centres))
        d = len(self.shift)
        axes = Blocks(diagonal_csr(np.ones(d)), np.ones(d))
        along = [
            origin.inner_products(centres, axes.cut(start, stop))
            for start, stop in spans(d, axes.block_rows(d))
        ]
        return self.at(np.concatenate(along, axis=1))

    @property
    def n_coordinates(self) -> int:
        return len(self.shift)

    def check(self, n_features: int, diag: Any) -> None:
        if self.shift.shape != (n_features,):
            raise ValueError(f"a space of {self.shift.shape} does not fit {n_features} features")
