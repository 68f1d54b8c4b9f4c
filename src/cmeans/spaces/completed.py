"""Rows with missing values as clusters with metrics see them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..data.arrays import Array, Float64, IntArray, as_like, host_float64, to_numpy
from .base import ProductRows, Rows, View
from .metrics import Metrics

LOG_CIRCLE = math.log(2.0 * math.pi)
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
    uncertain: Float64  # (c, p, r, r) the covariances of patterns of holes, or (c, p, r) diagonals
    pattern: IntArray  # (b,)

    @classmethod
    def of(cls, rows: ProductRows, metrics: Metrics, centres: Float64) -> CompletedRows:
        """Return rows with holes as clusters of these metrics and centres (c, r) see them."""
        holes, g = to_numpy(rows.holes), host_float64(rows.g)
        patterns, number = np.unique(holes, axis=0, return_inverse=True)
        number = number.reshape(-1)
        live = np.zeros(holes.shape[1], bool)
        live[metrics.live] = True
        count = (patterns & live).sum(axis=1)
        conditional = _of_diagonals if metrics.are_diagonal else _of_triangles
        found, x, d2, surplus = [], np.empty((len(centres), *g.shape)), [], []
        for j, (factor, centre) in enumerate(zip(metrics.factors, centres, strict=True)):
            away = np.where(holes, 0.0, g - centre)
            uncertain, logs = conditional(factor, patterns & live)
            if metrics.are_diagonal:
                stretched = away * factor
            else:
                slope = (away @ factor.T) @ factor
                away -= np.matmul(uncertain[number], slope[:, :, None])[:, :, 0]
                stretched = away @ factor.T
            x[j] = centre + away
            d2.append(np.einsum("ir,ir->i", stretched, stretched))
            surplus.append((logs - count * LOG_CIRCLE)[number])
            found.append(uncertain)
        return cls(rows, x, np.array(d2).T, np.array(surplus).T, np.array(found), number)

    @property
    def kxx(self) -> Array:
        return self.given.kxx

    def inner(self, view: View) -> Array:
        return self.given.inner(view)

    def plain(self) -> ProductRows:
        return self.given

    def distances_in(self, metrics: Metrics, centres: Float64) -> Array:
        return as_like(self.d2, self.given.g)

    def costs(self, d2: Array) -> Array:
        return d2 + as_like(self.surplus, d2)

    def add_moment(self, w: Array, total: Array) -> None:
        total += as_like(np.einsum("ij,jir->jr", host_float64(w), self.x), total)

    def add_second_moments(self, w: Array, points: Float64, total: Float64) -> None:
        for j, weight in enumerate(host_float64(w).T):
            away = self.x[j] - points[j]
            weighted = away * weight[:, None]
            total[j] += (weighted * away).sum(axis=0) if total.ndim == 2 else weighted.T @ away
            mass = np.bincount(self.pattern, weight, minlength=self.uncertain.shape[1])
            total[j] += np.tensordot(mass, self.uncertain[j], axes=1)

    def mean(self, u: Array) -> Float64:
        """Return the rows (b, r) completed in the mean over clusters of shares u (b, c)."""
        found: Float64 = np.einsum("ij,jir->ir", host_float64(u), self.x)
        return found


def _of_triangles(factor: Float64, holes: Mask) -> tuple[Float64, Float64]:
    """Return A_mm^-1 (p, r, r) of patterns of holes (p, r), 0 elsewhere, and ln |A_mm| (p,)."""
    matrix = factor.T @ factor
    units = np.sqrt(np.diagonal(matrix))
    units = np.where(units > 0, units, 1.0)  # so that no column is small beside another
    both = holes[:, :, None] & holes[:, None, :]
    lower = np.linalg.cholesky(np.where(both, matrix / np.outer(units, units), np.eye(len(units))))
    inverse = np.linalg.inv(lower) / units
    logs = np.log(np.diagonal(lower, axis1=1, axis2=2)) + np.where(holes, np.log(units), 0.0)
    return np.where(both, np.swapaxes(inverse, 1, 2) @ inverse, 0.0), 2.0 * logs.sum(axis=1)


def _of_diagonals(factor: Float64, holes: Mask) -> tuple[Float64, Float64]:
    """Return the same of diagonals: 1 / A_m (p, r), and their logarithms."""
    there = np.where(holes, factor, 1.0)
    return np.where(holes, there**-2.0, 0.0), 2.0 * np.log(there).sum(axis=1)
