"""The whole feature space, without approximation: centres are combinations of all rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..data.arrays import Array, Float64, IntArray, as_like, host_float64, namespace
from ..data.blocks import Block, Blocks
from ..kernels import Columns, Kernel
from .base import Space, columns_of, kernel_room, mean_products
from .centres import Centres
from .conjugate_gradients import conjugate_gradients
from .landmark import LARGEST_KEPT_GRAM, LandmarkSpace, landmark_space
from .rows import ProductRows, Rows, View


@dataclass(frozen=True)
class TrainingRows(Rows):
    """Training rows of an exact space, whose products with the centres, t = K a, are part of the
    last pass's moments.

    So a sweep takes one product with K, not two: the moments are [w^T K_B, w_B], from which t and a
    follow by division.
    """

    g: Array  # (b, n) rows of K
    kxx: Array  # (b,)
    start: int

    def inner(self, view: View) -> Array:
        duals = view.duals
        assert duals is not None
        return namespace(duals).asarray(
            duals[:, self.start : self.start + self.kxx.shape[0]].T, copy=True
        )

    def add_moment(self, w: Array, total: Array) -> None:
        xp, n = namespace(total), self.g.shape[1]
        total[:, :n] += xp.astype(w.T @ self.g, total.dtype)
        total[:, n + self.start : n + self.start + w.shape[0]] += xp.astype(w.T, total.dtype)

    def plain(self) -> ProductRows:
        return ProductRows(self.g, self.kxx)


@dataclass(frozen=True)
class CentreRows(Rows):
    """Centres as rows of an exact space; they add their own coefficients and products to the
    moments."""

    centres: Centres
    kxx: Float64  # (c,)

    def inner(self, view: View) -> Array:
        return self.centres.duals @ view.coefficients.T

    def add_moment(self, w: Array, total: Array) -> None:
        total += w.T @ np.concatenate([self.centres.duals, self.centres.coordinates], axis=1)

    def plain(self) -> ProductRows:
        return ProductRows(self.centres.duals, self.kxx)


@dataclass(frozen=True)
class ExactSpace(Space):
    """Basis = every row, G = K (Havens 2011 eq. 8-10). Centres are pairs: coefficients a (c, n) and
    t = K a."""

    kernel: Kernel
    data: Blocks
    solver_tolerance: float = 1e-12
    spherical: bool = False
    sweeps_products = False
    is_portable = False
    is_orthonormal = False
    pairs_by_kernel = True

    @property
    def size(self) -> int:
        return self.data.n_rows

    @property
    def moment_width(self) -> int:
        return 2 * self.size

    def room(self, n_rows: int, like: Array) -> Array | None:
        return kernel_room(n_rows, self.size, like)

    def rows(self, block: Block, room: Array | None = None) -> Rows:
        kxx = self.kernel.diag(block.x) if block.kxx is None else block.kxx
        return ProductRows(self._columns(block.x, room), kxx)

    def training_rows(self, block: Block, room: Array | None = None) -> Rows:
        rows = self.rows(block, room).plain()
        return TrainingRows(rows.g, rows.kxx, block.start)

    def means(self, mass: Float64, moment: Float64) -> Centres:
        parts = mean_products(mass, moment)
        return Centres(parts[:, self.size :], parts[:, : self.size])

    def view(self, centres: Centres, like: Array) -> View:
        norms = as_like(centres.squared_norms(), like)
        return View(as_like(centres.coordinates, like), norms, as_like(centres.duals, like))

    def embed(self, block: Block, numbers: IntArray | None = None) -> Centres:
        duals = host_float64(self._columns(block.x))
        if numbers is None:
            return self._from_products(duals)
        a = np.zeros_like(duals)
        a[np.arange(len(numbers)), numbers] = 1.0
        return Centres(a, duals)

    def inner_products(self, centres: Centres, block: Block) -> Float64:
        return centres.coordinates @ host_float64(self._columns(block.x)).T

    def as_rows(self, centres: Centres) -> Rows:
        return CentreRows(centres, centres.squared_norms())

    def project(self, centres: Centres, origin: Space, basis: Block | None = None) -> Centres:
        tasks = (self.data.task(task, self.size) for task in range(self.data.n_tasks(self.size)))
        return self._from_products(
            np.concatenate(
                [origin.inner_products(centres, block) for task in tasks for block in task], axis=1
            )
        )

    def portable(self, centres: Centres, columns: IntArray | None = None) -> tuple[Space, Centres]:
        points = self._points if columns is None else columns
        return LandmarkSpace(self.kernel, points, spherical=self.spherical), centres

    def factored(self) -> LandmarkSpace:
        given = self.kernel.takes_kernel_values
        gram = host_float64(self._columns(self.data.cut(0, self.size).x)) if given else None
        return landmark_space(
            self.kernel, self._points, gram, self.data.x.dtype, spherical=self.spherical
        )

    def _from_products(self, t: Float64) -> Centres:
        product = self._gram_product
        if self.size <= LARGEST_KEPT_GRAM:  # one pass over K instead of one for every step
            gram = self._gram_product(np.eye(self.size))

            def product(a: Float64) -> Float64:
                return a @ gram

        a = conjugate_gradients(
            product, t, self.solver_tolerance, 1e-14 * self.size * self._mean_square
        )
        return Centres(a, product(a))

    def _gram_product(self, a: Float64) -> Float64:
        tasks = (self.data.task(task, self.size) for task in range(self.data.n_tasks(self.size)))
        return np.concatenate(
            [a @ host_float64(self._columns(block.x)).T for task in tasks for block in task], axis=1
        )

    @cached_property
    def _mean_square(self) -> float:
        kxx = self.kernel.diag(self._points) if self.data.kxx is None else self.data.kxx
        return float(np.abs(host_float64(kxx)).mean())

    @property
    def _points(self) -> Array:
        if self.kernel.takes_kernel_values:
            return np.arange(self.size)
        return self.data.cut(0, self.size).x

    @cached_property
    def _columns(self) -> Columns:
        return columns_of(self.kernel, self._points)

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in self.__dict__.items() if k not in ("_columns", "_mean_square")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
