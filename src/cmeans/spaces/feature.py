"""The Euclidean space of features that a kernel gives in so many words."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..data.arrays import Array, Float64, IntArray, host_float64, squared_norms
from ..data.blocks import Block
from ..kernels import FeatureKernel, LandmarkGraphKernel
from ..runtime.stored_classes import stored
from .base import ProductRows, Rows, Space, mean_products
from .centres import Centres


@stored
@dataclass(frozen=True)
class FeatureSpace(Space):
    """Basis = the axes of the features e(x); a row is represented by them."""

    kernel: FeatureKernel
    known: Array | None = None  # (n, k) features of the training rows, where they were found with the kernel
    spherical: bool = False
    empty_row_has = "no edge to a row of positive weight"

    @property
    def size(self) -> int:
        return int(self.kernel.n_components)

    @property
    def may_hold_empty_rows(self) -> bool:
        return self.spherical or self.kernel.shows_all_parts

    @property
    def factored_size(self) -> int:
        return self.kernel.n_landmarks if isinstance(self.kernel, LandmarkGraphKernel) else self.size

    def empty_rows_of(self, block: Block) -> IntArray:
        return self.empty_rows(self.training_rows(block))

    def rows(self, block: Block, room: Array | None = None) -> Rows:
        e = self.kernel.features(block.x)
        return ProductRows(e, squared_norms(e))

    def training_rows(self, block: Block, room: Array | None = None) -> Rows:
        if self.known is None:
            return self.rows(block, room)
        e = self.known[block.start : block.stop]
        return ProductRows(e, squared_norms(e))

    @property
    def bytes_of_rows(self) -> int:
        return 0 if self.known is None else int(self.known.nbytes)

    def of_part(self, numbers: IntArray) -> Space:
        return self if self.known is None else replace(self, known=self.known[numbers])

    def means(self, mass: Float64, moment: Float64) -> Centres:
        return Centres.orthonormal(mean_products(mass, moment))

    def coefficients(self, centres: Centres) -> Float64:
        return centres.coordinates

    def embed(self, block: Block, numbers: IntArray | None = None) -> Centres:
        known = None if self.known is None or numbers is None else self.known[numbers]
        return Centres.orthonormal(host_float64(self.kernel.features(block.x) if known is None else known))

    def inner_products(self, centres: Centres, block: Block) -> Float64:
        products: Float64 = centres.coordinates @ host_float64(self.kernel.features(block.x)).T
        return products

    def norms(self, centres: Centres) -> Float64:
        return centres.squared_norms()

    def as_rows(self, centres: Centres) -> Rows:
        return ProductRows(centres.coordinates, centres.squared_norms())

    def project(self, centres: Centres, origin: Space, basis: Block | None = None) -> Centres:
        """Project centres of this kernel's span of some rows, or of the same features."""
        if isinstance(origin, FeatureSpace):
            return centres
        points = self.kernel.points if isinstance(self.kernel, LandmarkGraphKernel) else None
        if points is None:
            raise ValueError("the centres of another space have no place in a graph that is given by affinities or distances.")
        rows = Block(points, np.ones(len(points)), 0)
        e = host_float64(self.kernel.features(rows.x))  # of the landmarks, which span all features unless some of these are theirs alone
        return Centres.orthonormal(np.asarray(np.linalg.lstsq(e, origin.inner_products(centres, rows).T, rcond=None)[0].T, np.float64))

    def portable(self, centres: Centres) -> tuple[Space, Centres]:
        return replace(self, known=None), centres
