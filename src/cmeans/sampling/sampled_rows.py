"""A few rows in feature space by their inner products: as a matrix, or by coordinates where there
are fewer of those."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from scipy.sparse import csr_array

from ..data.arrays import Float64, IntArray
from .pairwise import Affinity

# clusters from which on it pays to sum rows by cluster, in place of a product of matrices
MANY = 64


class SampledRows(Affinity):
    """Rows of which every inner product is known, and points that are linear combinations of
    them."""

    # of the largest <x, x>: what rounding may leave of a squared distance of 0
    noise: ClassVar[float]

    @abstractmethod
    def products(
        self,
        coefficients: Float64,  # (r, k)
        rows: IntArray,  # (r,)
    ) -> Float64:
        """<x_i, sum_l a_lj x_l> (p, k), the sum over the given rows."""

    @abstractmethod
    def scatter_of_directions(self, rows: IntArray, share: Float64) -> tuple[Float64, float]:
        """Return a matrix with the eigenvalues of  sum_i share_i y_i y_i^T / |y_i|^2,  y_i = x_i -
        sum_l share_l x_l, and the sum of the shares of rows that differ from their mean: others
        have no direction and no term."""

    @abstractmethod
    def covariance(self, rows: IntArray, share: Float64) -> Float64:
        """Return a matrix with the eigenvalues of  sum_i share_i y_i y_i^T,  y_i = x_i - sum_l
        share_l x_l."""

    def distances_to_means(
        self,
        members: Float64,  # (p, c) weights of rows in clusters
        products: Float64,  # (p, c) of rows with  sum_l members_lj x_l
    ) -> Float64:
        """Squared distances (p, c) of rows to the means of clusters."""
        mass = members.sum(axis=0)
        norms = np.einsum("ij,ij->j", members, products) / mass**2
        distances: Float64 = np.maximum(
            products * (-2.0 / mass) + (self.diag()[:, None] + norms), 0.0
        )
        return distances

    def _directions(self, norms: Float64, share: Float64) -> tuple[Float64, float]:
        """Return the roots of share_i / |y_i|^2, 0 for rows without a direction, and the sum of the
        shares of the others."""
        visible = norms > self.noise * max(float(np.abs(self.diag()).max()), np.finfo(float).tiny)
        return np.sqrt(np.where(visible, share / np.where(visible, norms, 1.0), 0.0)), float(
            share[visible].sum()
        )


@dataclass(frozen=True)
class GramRows(SampledRows):
    """Rows by the matrix of their inner products."""

    gram: Float64  # (p, p)
    noise = 1e-12

    def between(self, rows: IntArray) -> Float64:
        return self.gram[rows]

    def diag(self) -> Float64:
        return self._diag

    @cached_property
    def _diag(self) -> Float64:
        return np.diag(self.gram).copy()

    def products(self, coefficients: Float64, rows: IntArray) -> Float64:
        if coefficients.shape[1] < MANY:
            return self.gram[rows].T @ coefficients  # it is symmetric
        # of a row in clusters all but one or two are zero
        products: Float64 = np.asarray(csr_array(coefficients.T) @ self.gram[rows])
        return products.T

    def covariance(self, rows: IntArray, share: Float64) -> Float64:
        root = np.sqrt(share)
        return root[:, None] * self._centred(rows, share) * root[None, :]

    def _centred(self, rows: IntArray, share: Float64) -> Float64:
        gram = self.gram if len(rows) == len(self.gram) else self.gram[np.ix_(rows, rows)]
        means = gram @ share
        return gram - means[:, None] - (means - share @ means)[None, :]

    def scatter_of_directions(self, rows: IntArray, share: Float64) -> tuple[Float64, float]:
        centred = self._centred(rows, share)
        scale, visible = self._directions(np.diag(centred).copy(), share)
        return scale[:, None] * centred * scale[None, :], visible


@dataclass(frozen=True)
class CoordinateRows(SampledRows):
    """Rows by coordinates, which are fewer than the rows."""

    x: Float64  # (p, d), best about their mean
    noise = 1e-28

    def between(self, rows: IntArray) -> Float64:
        return self.x[rows] @ self.x.T

    def diag(self) -> Float64:
        return self._diag

    @cached_property
    def _diag(self) -> Float64:
        norms: Float64 = np.einsum("ij,ij->i", self.x, self.x)
        return norms

    def products(self, coefficients: Float64, rows: IntArray) -> Float64:
        return self.x @ (self.x[rows].T @ coefficients)

    def scatter_of_directions(self, rows: IntArray, share: Float64) -> tuple[Float64, float]:
        y = self.x[rows] - share @ self.x[rows]
        scale, visible = self._directions(np.einsum("ij,ij->i", y, y), share)
        return _scatter(scale[:, None] * y), visible

    def covariance(self, rows: IntArray, share: Float64) -> Float64:
        return _scatter(np.sqrt(share)[:, None] * (self.x[rows] - share @ self.x[rows]))


def _scatter(y: Float64) -> Float64:
    """Return y^T y, or the smaller y y^T, which has the same eigenvalues but for zeros."""
    return y.T @ y if y.shape[1] <= len(y) else y @ y.T
