"""Kernel values and distances between rows given by number, for drawing landmarks and initial
centres."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ..data.arrays import (
    Array,
    Float64,
    IntArray,
    central_point,
    host_float64,
    in_float64,
    is_sparse,
    squared_norms,
    take,
)
from ..data.blocks import Block, Blocks
from ..data.precision import itemsize, rounding
from ..kernels import Columns, Kernel, Linear
from ..runtime.user_warnings import NOT_FINITE, OutOfRangeError
from ..spaces import Pairing, Space
from ..spaces.spectrum import directing_rows, leading_directions

WIDE = 4  # columns for each of a few directions, from which on these take less time


class Affinity(ABC):
    """Kernel values k(x_i, x_j) within a fixed set of p rows, numbered 0 ... p - 1."""

    @abstractmethod
    def between(self, rows: IntArray) -> Float64:
        """k(x_i, x_j) for the given i and all j: a new array (len(rows), p) float64."""

    def among(self, rows: IntArray) -> Float64:
        """k(x_i, x_j) for the given rows alone: a new array (len(rows), len(rows)) float64."""
        return self.between(rows)[:, rows]

    @abstractmethod
    def diag(self) -> Float64:
        """k(x_i, x_i) (p,)."""

    @property
    def rounding(self) -> float:
        """Share of k(x, x) + k(y, y) below which a squared distance is 0."""
        return rounding(np.float64)

    def in_given_precision(self) -> Affinity:
        """Return the same with values in the precision of the rows as they were given, where that
        takes less time; itself elsewhere."""
        return self

    def along(self, count: int) -> Affinity:
        """Return the rows along the directions, so many, in which some of them differ most, where
        they have many more columns; itself elsewhere."""
        return self

    def squared_distances(self, columns: IntArray) -> Float64:
        """|phi(x_i) - phi(x_j)|^2 (p, len(columns)), in memory column by column; 0 where it is
        below rounding."""
        diag = self.diag()
        size = diag[columns][:, None] + diag[None, :]
        d2 = size - 2.0 * self.between(columns)
        d2[np.arange(len(columns)), columns] = 0.0
        if not np.isfinite(d2).all():
            raise OutOfRangeError(NOT_FINITE)
        size *= self.rounding
        d2[d2 <= size] = 0.0
        return d2.T


@dataclass(frozen=True)
class KernelAffinity(Affinity):
    """Rows of data with a kernel."""

    kernel: Kernel
    x: Array  # (p, d) float64
    given_in_single: bool = False  # precision, by the user

    def between(self, rows: IntArray) -> Float64:
        points = take(self.x, rows)
        if self._prepared is not None:
            return host_float64(self._prepared(points))
        # a kernel is symmetric
        return np.ascontiguousarray(host_float64(self.kernel.prepare(points)(self.x)).T)

    def in_given_precision(self) -> Affinity:
        if not self.given_in_single or not isinstance(self.x, np.ndarray):
            return self
        return SingleAffinity(self.kernel, self.x.astype(np.float32))

    def along(self, count: int) -> Affinity:
        return replace(self, x=_along(self.x, count)) if _is_wide(self, count) else self

    def among(self, rows: IntArray) -> Float64:
        points = take(self.x, rows)
        return host_float64(self.kernel(points, points))

    def diag(self) -> Float64:
        return self._diag

    @cached_property
    def _diag(self) -> Float64:
        return host_float64(self.kernel.diag(self.x))

    @cached_property
    def _prepared(self) -> Columns | None:
        """All rows prepared by the kernel once, for all calls; None where that would take much
        memory."""
        return self.kernel.prepare(self.x) if self.kernel.prepares_lightly else None


@dataclass(frozen=True)
class SingleAffinity(Affinity):
    """Rows of data with a kernel, in single precision, as its values are."""

    kernel: Kernel
    x: npt.NDArray[np.float32]  # (p, d)

    @property
    def rounding(self) -> float:
        """That of sums of d products too, which grows as a walk of d random steps: equal rows are
        at distance 0."""
        return max(rounding(np.float32), 1.5 * 2.0**-24 * math.sqrt(self.x.shape[1]))

    def along(self, count: int) -> Affinity:
        return replace(self, x=_along(self.x, count)) if _is_wide(self, count) else self

    def between(self, rows: IntArray) -> Array:
        return np.asarray(self._prepared(self.x[rows]))

    def diag(self) -> Array:
        return self._diag

    @cached_property
    def _diag(self) -> Array:
        return np.asarray(self.kernel.diag(self.x))

    @cached_property
    def _prepared(self) -> Columns:
        return self.kernel.prepare(self.x)


def _is_wide(rows: KernelAffinity | SingleAffinity, count: int) -> bool:
    """True where rows in plain space have many more columns than that."""
    return (
        type(rows.kernel) is Linear
        and isinstance(rows.x, np.ndarray)
        and rows.x.shape[1] >= WIDE * count
    )


def _along(x: npt.NDArray[Any], count: int) -> npt.NDArray[Any]:
    some = x[directing_rows(len(x))].astype(np.float64)
    some = some[np.isfinite(some).all(axis=1)]
    return (
        x @ leading_directions(some - some.mean(axis=0), count).T.astype(x.dtype)
        if len(some)
        else x
    )


@dataclass(frozen=True)
class MatrixAffinity(Affinity):
    """Rows and columns of a square precomputed kernel matrix, selected on demand."""

    gram: Array  # (n, n)
    kxx: Float64  # (p,)
    rows: IntArray  # (p,) their numbers among the n

    def between(self, rows: IntArray) -> Float64:
        if isinstance(self.gram, np.ndarray):
            return host_float64(self.gram[np.ix_(self.rows[rows], self.rows)])
        return host_float64(take(self.gram, self.rows[rows]))[:, self.rows]

    def diag(self) -> Float64:
        return self.kxx


@dataclass(frozen=True)
class PairedAffinity(Affinity):
    """Rows as a space of them pairs them: products with row i are those with a centre at row i, and
    need not be symmetric."""

    rows: Pairing
    kxx: Float64  # (p,)

    def between(self, rows: IntArray) -> Float64:
        values = paired(self.rows, self.rows.g, rows)
        values[np.arange(len(rows)), rows] = self.kxx[rows]
        return values

    def diag(self) -> Float64:
        return self.kxx


def paired(
    chosen: Pairing,
    g: Float64,  # (b, r) any rows
    which: IntArray | slice = slice(None),  # of the chosen
) -> Float64:
    """Return products (k, b) of some of the chosen rows, as centres, with any rows."""
    products: Float64 = (chosen.g if chosen.a is None else chosen.a)[which] @ g.T
    if chosen.lack is not None:
        products += chosen.lack[which][:, None]
    return products


@dataclass(frozen=True)
class Metric:
    """Distances between the rows of an input in feature space.

    Values are computed in float64 for rows of any dtype, so that draws do not depend on rounding.
    """

    kernel: Kernel
    blocks: Blocks
    space: Space | None = None  # where its `pairing` says how far rows are from each other

    def among(self, rows: IntArray) -> Affinity:
        """Return the affinity among the given rows."""
        if self.space is not None:
            found = self.space.pairing(self.blocks.take(rows), rows)
            if found.kxx is None:
                return KernelAffinity(Linear(), found.g)
            return PairedAffinity(found, found.kxx)
        if self.kernel.takes_kernel_values:
            return MatrixAffinity(self.blocks.x, host_float64(take(self.blocks.kxx, rows)), rows)
        x = in_float64(self.blocks.take(rows).x)
        shift = self._shift(x)
        return KernelAffinity(
            self.kernel, x if shift is None else x - shift, itemsize(self.blocks.x) == 4
        )

    def nearest_of(self, rows: IntArray) -> NearestOf:
        """Return what tells the nearest of some rows to others."""
        return NearestOf(self.kernel, self.blocks.take(rows), rows, self.space, self.shifted)

    @property
    def shifted(self) -> bool:
        """True where rows are centred first: time stamps near 1e9 would lose all their digits in
        products."""
        return self.kernel.distances_ignore_shifts and not is_sparse(self.blocks.x)

    def _shift(self, x: Array) -> Array | None:
        return central_point(x)[None, :] if self.shifted else None


@dataclass(frozen=True)
class NearestOf:
    """Some rows of an input, of which the nearest to any others is sought, wherever these lie."""

    kernel: Kernel
    chosen: Block  # the rows themselves
    rows: IntArray  # (k,) their numbers
    space: Space | None  # whose `pairing` says how far rows are from each other
    shifted: bool  # rows are centred first

    @cached_property
    def nearest(self) -> Callable[[Block, int], tuple[IntArray, Float64]]:
        """A function of a block and the number of the first row of all: the index (b,) of the row
        nearest to each of the block's, and the squared distance (b,). Each of the rows is nearest
        to itself, at zero; so are rows that differ from it by rounding only."""
        products_with, rows = self._products(), self.rows
        _, norms = products_with(self.chosen)

        def nearest(block: Block, first: int = 0) -> tuple[IntArray, Float64]:
            products, kxx = products_with(block)
            score = products - 0.5 * norms  # (b, k) half of k(x, x) - d2
            best = np.argmax(score, axis=1)
            d2 = kxx - 2.0 * score[np.arange(len(best)), best]
            if not np.isfinite(d2).all():
                raise OutOfRangeError(NOT_FINITE)
            d2[d2 <= rounding(np.float64) * (kxx + norms[best])] = 0.0
            here = np.flatnonzero((rows >= first + block.start) & (rows < first + block.stop))
            best[rows[here] - first - block.start] = here
            d2[rows[here] - first - block.start] = 0.0
            return best, d2

        return nearest

    def __getstate__(self) -> dict[str, Any]:
        # made again where it is needed
        return {name: value for name, value in vars(self).items() if name != "nearest"}

    def _products(self) -> Callable[[Block], tuple[Float64, Float64]]:
        """Return a function of a block: its kernel values (b, k) with the rows, and k(x, x)
        (b,)."""
        if self.space is not None:
            return _products_in(self.space, self.chosen)
        if self.kernel.takes_kernel_values:
            prepared = self.kernel.prepare(self.rows)
            return lambda block: (host_float64(prepared(block.x)), host_float64(block.kxx))
        points = in_float64(self.chosen.x)
        shift = central_point(points)[None, :] if self.shifted else None
        columns = self.kernel.prepare(points if shift is None else points - shift)

        def by_kernel(block: Block) -> tuple[Float64, Float64]:
            x = in_float64(block.x)
            x = x if shift is None else x - shift
            return host_float64(columns(x)), host_float64(self.kernel.diag(x))

        return by_kernel


def affinity(
    kernel: Kernel, blocks: Blocks, rows: IntArray, space: Space | None = None
) -> Affinity:
    """Return the affinity among the given rows; `space`: as of a `Metric`."""
    return Metric(kernel, blocks, space).among(rows)


def _products_in(space: Space, chosen: Block) -> Callable[[Block], tuple[Float64, Float64]]:
    """Return a function of a block: its products (b, k) with the chosen rows, and k(x, x) (b,)."""
    pairing = space.pairing(_in_float64(chosen))

    def products(block: Block) -> tuple[Float64, Float64]:
        rows = space.pairing(_in_float64(block))
        return paired(pairing, rows.g).T, squared_norms(rows.g) if rows.kxx is None else rows.kxx

    return products


def _in_float64(block: Block) -> Block:
    return replace(block, x=in_float64(block.x))
