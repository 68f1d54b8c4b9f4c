"""Blocks of rows in a space, and centres as they read them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import NamedTuple

from ..data.arrays import (
    Array,
    Float64,
    IntArray,
    as_like,
    host_float64,
    in_float64,
    is_sparse,
    namespace,
    take,
)
from ..data.blocks import LARGEST_SUM, rows_between, spans
from ..data.csr import with_values
from ..data.precision import rounding
from .member_scatter import MemberScatter
from .metrics import Metrics


@dataclass(frozen=True)
class View:
    """Centres for a sweep, in the rows' array library and dtype."""

    coefficients: Array  # (c, r) a_j over the basis
    norms: Array  # (c,) |v_j|^2, or in its place what the space adds to distances
    # (c, n) t_j = K a_j, where the rows' products with the centres are computed beforehand
    duals: Array | None = None


class RowValues(NamedTuple):
    """Rows as native code reads them."""

    x: Array  # (b, r)
    shift: Array | None  # (r,) to be taken from every row
    kxx: Array | None  # (b,) k(x, x); None: the sum of squares of what is left


class Rows(ABC):
    """A block of rows represented in a space."""

    kxx: Array  # (b,) k(x, x)
    holes: Array | None = None  # (b, r) True where a coordinate is missing; None: nowhere
    scatter: MemberScatter | None = None  # of rows that stand for several; None: for themselves

    @abstractmethod
    def inner(self, view: View) -> Array:
        """<phi(x_i), v_j> (b, c)."""

    @abstractmethod
    def add_moment(
        self,
        w: Array,  # (b, c)
        total: Array,  # (c, moment_width) float64, added to in place
    ) -> None:
        """total_j += sum_i w_ij g(x_i)."""

    @abstractmethod
    def plain(self) -> ProductRows:
        """Return the same rows without what only training rows have."""

    def some(self, which: IntArray) -> Rows | None:
        """Return some of the rows alone; None where they cannot be picked out."""
        return None

    def prepared(self) -> Rows:
        """Return the same rows in the form in which several things are asked of them."""
        return self

    def values(self) -> RowValues:
        """Return what native code reads of the plain rows."""
        return self.plain().values()

    def distances_in(self, metrics: Metrics, centres: Float64) -> Array:
        """d2 (b, c) to centres (c, r) in metrics of their own."""
        d2 = metrics.squared_distances(self.plain().g, centres)
        return d2 if self.scatter is None else d2 + self.scatter.squared_distances(metrics, d2)

    def costs(self, d2: Array, metrics: Metrics | None) -> Array:
        """Return what memberships are made of (b, c): squared distances, and what missing values
        add, or several rows that one stands for."""
        if self.scatter is None or metrics is None:
            return d2
        return self.scatter.costs(d2, metrics)

    @property
    def members(self) -> Float64 | None:
        """(b,) how many rows, of which clusters with metrics multiply the densities, each stands
        for; None: itself."""
        if self.scatter is None or not self.scatter.are_multiplied:
            return None
        return self.scatter.count

    def add_second_moments(
        self,
        w: Array,  # (b, c)
        points: Float64,  # (c, r) b_j
        total: Float64,  # (c, r, r), or (c, r) of the diagonals, added to in place
    ) -> None:
        """total_j += sum_i w_ij (x_i - b_j)(x_i - b_j)^T."""
        x, xp = self.plain().g, namespace(w)
        if self.scatter is not None:
            self.scatter.add_second_moments(host_float64(w), total)
        if is_sparse(x):  # of which the diagonals are asked
            x, w = in_float64(x), in_float64(w)
            total += (with_values(x, x.data**2).T @ w - 2.0 * points.T * (x.T @ w)).T
            total += w.sum(axis=0)[:, None] * points * points
            return
        x, w = xp.astype(x, xp.float64), xp.astype(w, xp.float64)
        for j, point in enumerate(points):
            away = x - as_like(point, x)[None, :]
            weighted = away * w[:, j][:, None]
            total[j] += host_float64(
                xp.sum(weighted * away, axis=0) if total.ndim == 2 else weighted.T @ away
            )

    def squared_distances(self, view: View) -> Array:
        """d2 (b, c) = k(x, x) - 2 <phi(x), v> + |v|^2; 0 where it is below rounding."""
        xp = namespace(self.kxx)
        d2 = self.inner(view)
        d2 *= -2.0
        size = self.kxx[:, None] + view.norms[None, :]
        d2 += size
        size *= rounding(d2.dtype)
        # a comparison that keeps NaN and infinity, which are reported later
        return xp.where(d2 < size, xp.zeros_like(d2), d2)


@dataclass(frozen=True)
class ProductRows(Rows):
    """Rows given by their inner products with a basis."""

    g: Array  # (b, r), dense or CSR
    kxx: Array
    holes: Array | None = None  # where g is 0
    scatter: MemberScatter | None = None

    def inner(self, view: View) -> Array:
        return self.g @ view.coefficients.T

    def add_moment(self, w: Array, total: Array) -> None:
        xp = namespace(total)
        if is_sparse(self.g):  # whose sums of a few rows would be as large as the total
            total += (in_float64(self.g).T @ in_float64(w)).T
            return
        for start, stop in spans(w.shape[0], LARGEST_SUM):
            moment = w[start:stop, ...].T @ rows_between(self.g, start, stop)
            total += xp.astype(moment, total.dtype)

    def plain(self) -> ProductRows:
        return self

    def some(self, which: IntArray) -> ProductRows:
        holes = None if self.holes is None else take(self.holes, which)
        return ProductRows(take(self.g, which), take(self.kxx, which), holes)

    def values(self) -> RowValues:
        return RowValues(self.g, None, self.kxx)
