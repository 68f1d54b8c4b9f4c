"""Products with a kernel matrix in memory: all that projected gradients ask of a space."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from ...data.arrays import Float64, IntArray
from ...data.blocks import spans
from ...spaces.centres import Centres
from ...sweeps.represented_rows import RepresentedRows


class Gram(ABC):
    """K (n, n), the inner products of n rows as a space sees them."""

    diag: Float64  # (n,)

    def __len__(self) -> int:
        return len(self.diag)

    @abstractmethod
    def product(self, d: Float64) -> Float64:
        """K d (n, c)."""

    @abstractmethod
    def column(self, row: int) -> Float64:
        """K[:, row] (n,)."""

    @abstractmethod
    def among(self, rows: IntArray) -> Gram:
        """The named rows alone."""


@dataclass(frozen=True)
class DenseGram(Gram):
    """The matrix itself."""

    matrix: Float64  # (n, n)
    diag: Float64

    def product(self, d: Float64) -> Float64:
        return self.matrix @ d

    def column(self, row: int) -> Float64:
        column: Float64 = self.matrix[:, row]
        return column

    def among(self, rows: IntArray) -> DenseGram:
        return DenseGram(self.matrix[np.ix_(rows, rows)], self.diag[rows])


@dataclass(frozen=True)
class FeatureGram(Gram):
    """K = Z Z^T by coordinates Z of the rows."""

    z: Float64  # (n, r)
    diag: Float64

    def product(self, d: Float64) -> Float64:
        return self.z @ (self.z.T @ d)

    def column(self, row: int) -> Float64:
        column: Float64 = self.z @ self.z[row]
        return column

    def among(self, rows: IntArray) -> FeatureGram:
        return FeatureGram(self.z[rows], self.diag[rows])


def gram_of(table: RepresentedRows, rows: IntArray) -> Gram:
    """Rows of a table, in memory and float64: their coordinates where the space has orthonormal
    ones, else their kernel matrix."""
    space, blocks = table.space, table.blocks
    parts = [
        space.embed(blocks.take(rows[a:b]), rows[a:b])
        for a, b in spans(len(rows), blocks.limits.block_rows)
    ]
    points = Centres.stack(parts)
    if points.coordinates is points.duals:
        return FeatureGram(points.coordinates, points.squared_norms())
    matrix = points.inner(points)
    matrix = (matrix + matrix.T) / 2.0
    return DenseGram(matrix, np.diagonal(matrix).copy())
