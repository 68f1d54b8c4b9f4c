"""The Euclidean space of features that a kernel gives in so many words."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..data.arrays import Array, IntArray, host_float64, squared_norms
from ..data.blocks import Block
from ..kernels import FeatureKernel
from ..runtime.stored_classes import stored
from .base import Space
from .centres import Centres
from .rows import ProductRows, Rows


@stored
@dataclass(frozen=True)
class FeatureSpace(Space):
    """Basis = the axes of the features e(x); a row is represented by them."""

    kernel: FeatureKernel
    # (n, k) features of the training rows, where they were found with the kernel
    known: Array | None = None
    spherical: bool = False
    empty_row_has = "no edge to a row of positive weight"

    @property
    def size(self) -> int:
        return int(self.kernel.n_components)

    @property
    def takes_metrics(self) -> bool:
        return not self.spherical

    @property
    def may_hold_empty_rows(self) -> bool:
        return self.spherical or self.kernel.shows_all_parts

    @property
    def factored_size(self) -> int:
        return self.n_landmarks or self.size

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

    def embed(self, block: Block, numbers: IntArray | None = None) -> Centres:
        known = None if self.known is None or numbers is None else self.known[numbers]
        return Centres.orthonormal(
            host_float64(self.kernel.features(block.x) if known is None else known)
        )

    def project(self, centres: Centres, origin: Space, basis: Block | None = None) -> Centres:
        """Project centres of this kernel's span of some rows, or of the same features."""
        if isinstance(origin, FeatureSpace):
            return centres
        points = self.kernel.landmarks
        if points is None:
            raise ValueError(
                "the centres of another space have no place in a graph that is given by affinities "
                "or distances."
            )
        rows = Block(points, np.ones(points.shape[0]), 0)
        # of the landmarks, which span all features unless some of these are theirs alone
        e = host_float64(self.kernel.features(rows.x))
        return Centres.orthonormal(
            np.asarray(
                np.linalg.lstsq(e, origin.inner_products(centres, rows).T, rcond=None)[0].T,
                np.float64,
            )
        )

    def portable(self, centres: Centres, columns: IntArray | None = None) -> tuple[Space, Centres]:
        return replace(self, known=None), centres

    @property
    def n_landmarks(self) -> int | None:
        return self.kernel.n_landmarks

    def attributes(self, centres: Centres, landmark_rows: IntArray | None) -> dict[str, Any]:
        found, points = super().attributes(centres, landmark_rows), self.kernel.landmarks
        if points is None:
            return found
        return {**found, "landmarks_": points, "landmark_indices_": landmark_rows}

    def check(self, n_features: int, diag: Any) -> None:
        width = self.kernel.n_features_in
        if width != n_features:
            raise ValueError(f"a graph of {width} columns does not fit {n_features} features")
