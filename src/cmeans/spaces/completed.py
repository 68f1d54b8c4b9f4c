"""Rows with missing values as clusters with metrics see them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..data.arrays import Array, Float64, IntArray, as_like, host_float64, to_numpy
from .metrics import LOG_CIRCLE, Metrics
from .rows import ProductRows, Rows, View

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class CompletedRows(Rows):
    """Rows completed where each cluster expects them (Ghahramani & Jordan 1994).

    Of a row with the values o and without m, the cluster j of the centre v and the metric A = S^-1
    expects  x_m = v_m - A_mm^-1 A_mo (x_o - v_o),  with the covariance A_mm^-1. The distance of the
    completed row is that of the values that are there,  (x_o - v_o)^T S_oo^-1 (x_o - v_o).  Sums
    are of completed rows; second moments hold the covariances besides.
    """

    given: ProductRows  # 0 in place of what is missing
    x: Float64  # (c, b, r)
    d2: Float64  # (b, c)
    # (b, c) ln |A_mm| - |m| ln 2 pi: what a density of the values that are there has beside one of
    # all values, in squared distances
    surplus: Float64
    groups: tuple[HoleGroup, ...]

    @classmethod
    def of(cls, rows: ProductRows, metrics: Metrics, centres: Float64) -> CompletedRows:
        """Return rows with holes as clusters of these metrics and centres (c, r) see them."""
        holes, g = to_numpy(rows.holes), host_float64(rows.g)
        c, (n, r) = len(centres), g.shape
        live = np.zeros(r, bool)
        live[metrics.live] = True
        x, d2, surplus = np.empty((c, n, r)), np.empty((n, c)), np.zeros((n, c))
        groups = tuple(HoleGroup.among(holes & live, c, diagonal=metrics.are_diagonal))
        for j, (factor, centre) in enumerate(zip(metrics.factors, centres, strict=True)):
            away = np.where(holes, 0.0, g - centre)
            slope = away if metrics.are_diagonal else (away @ factor.T) @ factor
            for group in groups:
                here, where = group.rows, group.columns[group.pattern]
                surplus[here, j] = group.settle(j, factor)[group.pattern]
                if not metrics.are_diagonal:
                    shift = group.covariances[j][group.pattern] @ slope[here[:, None], where, None]
                    away[here[:, None], where] = -shift[:, :, 0]
            stretched = away * factor if metrics.are_diagonal else away @ factor.T
            x[j], d2[:, j] = centre + away, np.einsum("ir,ir->i", stretched, stretched)
        return cls(rows, x, d2, surplus, groups)

    @property
    def kxx(self) -> Array:
        return self.given.kxx

    def inner(self, view: View) -> Array:
        return self.given.inner(view)

    def plain(self) -> ProductRows:
        return self.given

    def distances_in(self, metrics: Metrics, centres: Float64) -> Array:
        return as_like(self.d2, self.given.g)

    def costs(self, d2: Array, metrics: Metrics | None) -> Array:
        return d2 + as_like(self.surplus, d2)

    def add_moment(self, w: Array, total: Array) -> None:
        total += as_like(np.einsum("ij,jir->jr", host_float64(w), self.x), total)

    def add_second_moments(self, w: Array, points: Float64, total: Float64) -> None:
        for j, weight in enumerate(host_float64(w).T):
            away = self.x[j] - points[j]
            weighted = away * weight[:, None]
            total[j] += (weighted * away).sum(axis=0) if total.ndim == 2 else weighted.T @ away
            for group in self.groups:
                group.add(j, weight, total[j])

    def mean(self, u: Array) -> Float64:
        """Return the rows (b, r) completed in the mean over clusters of shares u (b, c)."""
        found: Float64 = np.einsum("ij,jir->ir", host_float64(u), self.x)
        return found


@dataclass(frozen=True)
class HoleGroup:
    """Rows that lack as many values, by the patterns in which they lack them."""

    rows: IntArray  # (q,) their numbers
    pattern: IntArray  # (q,) of each
    columns: IntArray  # (p, k) that a pattern lacks
    covariances: Float64  # (c, p, k, k) A_mm^-1, or (c, p, k) of diagonals

    @classmethod
    def among(cls, holes: Mask, n_clusters: int, *, diagonal: bool) -> Iterator[HoleGroup]:
        """Yield the groups of the rows of holes (b, r) that lack anything, covariances empty."""
        counts = holes.sum(axis=1)
        for k in np.unique(counts[counts > 0]):
            rows = np.flatnonzero(counts == k)
            first, pattern = _patterns(holes[rows])
            columns = np.nonzero(holes[rows[first]])[1].reshape(-1, k)
            shape = (n_clusters, *columns.shape) if diagonal else (n_clusters, *columns.shape, k)
            yield cls(rows, pattern, columns, np.empty(shape))

    def settle(self, j: int, factor: Float64) -> Float64:
        """Write the covariances under the factor of a cluster's metric, and return ln |A_mm| - |m|
        ln 2 pi (p,)."""
        m = self.columns
        if factor.ndim == 1:
            self.covariances[j] = factor[m] ** -2.0
            logs = np.log(factor[m])
        else:
            matrix = factor.T @ factor
            units = np.sqrt(np.diagonal(matrix))[m]  # so that no column is small beside another
            scaled = matrix[m[:, :, None], m[:, None, :]] / (units[:, :, None] * units[:, None, :])
            lower = np.linalg.cholesky(scaled)
            inverse = np.linalg.inv(lower) / units[:, None, :]
            self.covariances[j] = np.swapaxes(inverse, 1, 2) @ inverse
            logs = np.log(np.diagonal(lower, axis1=1, axis2=2)) + np.log(units)
        found: Float64 = 2.0 * logs.sum(axis=1) - m.shape[1] * LOG_CIRCLE
        return found

    def add(self, j: int, weight: Float64, total: Float64) -> None:
        """total (r, r), or (r,), += sum_i w_i A_mm^-1, for weights (b,) of all rows in the cluster
        j."""
        mass = np.bincount(self.pattern, weight[self.rows], minlength=len(self.columns))
        m, covariances = self.columns, self.covariances[j]
        where = (m,) if total.ndim == 1 else (m[:, :, None], m[:, None, :])
        np.add.at(total, where, mass.reshape((-1,) + (1,) * total.ndim) * covariances)


def _patterns(holes: Mask) -> tuple[IntArray, IntArray]:
    """Return the first row of each pattern (p,), the patterns in order, and the pattern of each row
    (q,). Bits of a pattern are packed and compared as one, which takes a tenth of the time that
    rows of truths take, or less."""
    bits = np.packbits(holes, axis=1)
    keys = bits.view(np.dtype((np.void, bits.shape[1]))).ravel()
    _, first, pattern = np.unique(keys, return_index=True, return_inverse=True)
    return first, pattern
