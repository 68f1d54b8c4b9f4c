"""Kernel values between rows by their numbers: what drawing landmarks and first centres asks for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from .arrays import Array, Float64, IntArray, host_float64, in_float64, is_sparse, namespace, rounding, take
from .blocks import Blocks
from .complaints import NOT_FINITE
from .kernels import Kernel, Precomputed
from .spaces import LandmarkSpace


class Affinity(ABC):
    """k(x_i, x_j) within a fixed set of p rows, which are numbered 0 ... p - 1 here."""

    @abstractmethod
    def between(self, columns: IntArray) -> Float64:
        """k(x_i, x_j) for all i and the named j: (p, len(columns)) float64."""

    @abstractmethod
    def diag(self) -> Float64:
        """k(x_i, x_i) (p,)."""

    def squared_distances(self, columns: IntArray) -> Float64:
        """|phi(x_i) - phi(x_j)|^2 (p, len(columns)); what rounding cannot tell from zero is zero."""
        diag = self.diag()
        size = diag[:, None] + diag[columns][None, :]
        d2 = size - 2.0 * self.between(columns)
        d2[columns, np.arange(len(columns))] = 0.0
        if not np.isfinite(d2).all():
            raise ValueError(NOT_FINITE)
        return np.where(d2 > rounding(np.float64) * size, d2, 0.0)


@dataclass(frozen=True)
class KernelAffinity(Affinity):
    """Rows of data with a kernel."""

    kernel: Kernel
    x: Array  # (p, d) float64

    def between(self, columns: IntArray) -> Float64:
        return host_float64(self.kernel.prepare(take(self.x, columns))(self.x))

    def diag(self) -> Float64:
        return host_float64(self.kernel.diag(self.x))


@dataclass(frozen=True)
class MatrixAffinity(Affinity):
    """Rows and columns of a square precomputed kernel matrix, picked out as they are asked for."""

    gram: Array  # (n, n)
    kxx: Float64  # (p,)
    rows: IntArray  # (p,) which of the n

    def between(self, columns: IntArray) -> Float64:
        if isinstance(self.gram, np.ndarray):
            return host_float64(self.gram[np.ix_(self.rows, self.rows[columns])])
        return host_float64(take(self.gram, self.rows[columns])).T[self.rows]  # it is symmetric

    def diag(self) -> Float64:
        return self.kxx


@dataclass(frozen=True)
class LandmarkAffinity(Affinity):
    """Rows known only by a kernel's landmark columns: k between their projections, and the true k(x, x)."""

    z: Float64  # (p, k) orthonormal coordinates of the projections
    kxx: Float64  # (p,)

    def between(self, columns: IntArray) -> Float64:
        values: Float64 = self.z @ self.z[columns].T
        values[columns, np.arange(len(columns))] = self.kxx[columns]
        return values

    def diag(self) -> Float64:
        return self.kxx


def affinity(kernel: Kernel, blocks: Blocks, rows: IntArray, space: LandmarkSpace | None = None) -> Affinity:
    """The affinity among the named rows; `space` where a precomputed kernel has only its landmarks' columns.

    Values are taken in float64 whatever the rows are: few rows are asked about, and chance must not hang on rounding.
    """
    if space is not None:
        represented = space.rows(blocks.take(rows)).plain()
        assert space.whitener is not None
        return LandmarkAffinity(host_float64(represented.g) @ space.whitener, host_float64(represented.kxx))
    if isinstance(kernel, Precomputed):
        return MatrixAffinity(blocks.x, host_float64(take(blocks.kxx, rows)), rows)
    x = in_float64(blocks.take(rows).x)
    if kernel.distances_ignore_shifts and not is_sparse(x):
        x = x - namespace(x).mean(x, axis=0)[None, :]  # time stamps near 1e9 would lose all their digits in products
    return KernelAffinity(kernel, x)
