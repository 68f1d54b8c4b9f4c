"""Cluster centres as elements of an inner-product space, the same for all spaces."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..data.arrays import Float64, IntArray
from ..runtime.stored_classes import stored

ONE = 64 * 2.0**-52  # difference of a squared length from 1 that is rounding


@stored
@dataclass(frozen=True)
class Centres:
    """c centres as two arrays whose rows pair to inner products: <v_i, v_j> = coordinates_i .
    duals_j.

    In orthonormal coordinates both are the same array; where no factor of the Gram matrix exists
    they are coefficients a over the basis and products t = G a with it. Both parts are linear in
    the centres, so sums, differences and multiples are taken part by part.
    """

    coordinates: Float64  # (c, k)
    duals: Float64  # (c, k)

    def __post_init__(self) -> None:
        if self.coordinates.ndim != 2 or self.coordinates.shape != self.duals.shape:
            raise ValueError(
                f"Centres: coordinates {self.coordinates.shape} and duals {self.duals.shape} must "
                "both be (c, k)"
            )

    @classmethod
    def orthonormal(cls, coordinates: Float64) -> Centres:
        """Return centres with these coordinates over an orthonormal basis."""
        return cls(coordinates, coordinates)

    @classmethod
    def stack(cls, parts: list[Centres]) -> Centres:
        """Concatenate several sets of centres of one space."""
        coordinates = np.concatenate([part.coordinates for part in parts])
        if all(part.duals is part.coordinates for part in parts):
            return cls.orthonormal(coordinates)
        return cls(coordinates, np.concatenate([part.duals for part in parts]))

    @classmethod
    def combined(cls, parts: Sequence[Centres], factors: Sequence[float]) -> Centres:
        """sum_l factor_l part_l, cluster by cluster."""

        def total(arrays: list[Float64]) -> Float64:
            result = factors[0] * arrays[0]
            for factor, array in zip(factors[1:], arrays[1:], strict=True):
                result += factor * array
            return result

        coordinates = total([part.coordinates for part in parts])
        if all(part.duals is part.coordinates for part in parts):
            return cls.orthonormal(coordinates)
        return cls(coordinates, total([part.duals for part in parts]))

    def __len__(self) -> int:
        return len(self.coordinates)

    def __getitem__(self, which: slice | IntArray | list[int]) -> Centres:
        return self._map(lambda part: part[which])

    def __sub__(self, other: Centres) -> Centres:
        if self.coordinates is self.duals and other.coordinates is other.duals:
            return Centres.orthonormal(self.coordinates - other.coordinates)
        return Centres(self.coordinates - other.coordinates, self.duals - other.duals)

    def towards(self, other: Centres, share: Float64) -> Centres:
        """Return the points (1 - share_j) v_j + share_j w_j."""
        far, near = share[:, None], 1.0 - share[:, None]
        coordinates = near * self.coordinates + far * other.coordinates
        if self.coordinates is self.duals and other.coordinates is other.duals:
            return Centres.orthonormal(coordinates)
        return Centres(coordinates, near * self.duals + far * other.duals)

    def of_length_one(self) -> Centres:
        """Return v_j / |v_j|; zero where v_j is."""
        squares = self.squared_norms()
        # those of length one stay what they are, to the bit
        off = (np.abs(squares - 1.0) > ONE) & (squares > 0)
        factors = np.where(off, 1.0 / np.sqrt(np.where(off, squares, 1.0)), 1.0)[:, None]
        return self._map(lambda part: factors * part)

    def inner(self, other: Centres) -> Float64:
        """<v_i, w_j> (c, c')."""
        return self.coordinates @ other.duals.T

    def coordinates_times(self, matrix: Float64) -> Float64:
        """Return the product of the coordinates (c, k) with a matrix. It is the same for equal
        centres, where that of BLAS depends on the place of a row: rows that are as near to both
        go to the first of them on every machine."""
        product: Float64 = self.coordinates @ matrix
        if (np.diff(np.sort(self.coordinates[:, :1], axis=0), axis=0) > 0).all():
            return product
        found = np.unique(self.coordinates, axis=0, return_index=True, return_inverse=True)
        return product[found[1][found[2].ravel()]]

    def pairing(self, other: Centres, weights: Float64) -> float:
        """sum_j weight_j <v_j, w_j>."""
        return float(weights @ np.einsum("ij,ij->i", self.coordinates, other.duals))

    def squared_norms(self) -> Float64:
        """|v_j|^2 (c,), never below zero."""
        norms: Float64 = np.einsum("ij,ij->i", self.coordinates, self.duals)
        return norms if self.duals is self.coordinates else np.maximum(norms, 0.0)

    def squared_distances(self, others: Centres | None = None) -> Float64:
        """|v_i - v_j|^2 (c, k) to other centres, or among these."""
        others = self if others is None else others
        both = self.squared_norms()[:, None] + others.squared_norms()[None, :]
        return np.maximum(both - self.inner(others) - others.inner(self).T, 0.0)

    def squared_distances_from_mean(self, weights: Float64) -> Float64:
        """|v_j - v|^2 (c,) for v = sum_k weight_k v_k / sum_k weight_k; v is the plain mean where
        no weight is positive."""
        shares = weights / weights.sum() if weights.any() else np.full(len(self), 1.0 / len(self))
        mean = self._map(lambda part: np.broadcast_to(shares @ part, part.shape))
        return (self - mean).squared_norms()

    def replaced(self, which: IntArray, others: Centres) -> Centres:
        """Return these centres with those at the indices `which` replaced by `others`."""

        def put(part: Float64, new: Float64) -> Float64:
            part = part.copy()
            part[which] = new
            return part

        if self.coordinates is self.duals and others.coordinates is others.duals:
            return Centres.orthonormal(put(self.coordinates, others.coordinates))
        return Centres(put(self.coordinates, others.coordinates), put(self.duals, others.duals))

    def _map(self, function: Callable[[Float64], Float64]) -> Centres:
        coordinates = function(self.coordinates)
        return Centres(
            coordinates, coordinates if self.duals is self.coordinates else function(self.duals)
        )
