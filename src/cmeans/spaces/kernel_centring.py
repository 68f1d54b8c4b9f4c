"""Centring in feature space, for kernels whose large constant part leaves the clusters only the
last digits of their values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..data.arrays import Array, Float64, as_like, namespace
from ..runtime.stored_classes import stored

LARGEST_SCALE = 1e150  # beyond, its square overflows


@stored
@dataclass(frozen=True)
class Centring:
    """The origin moved to mu = mean of phi over s basis points, which itself joins the basis as
    element s + 1.

    Without that element the span of the centres would shrink to an affine hull; with it only
    rounding changes. It is scaled to the size of the others: otherwise its eigenvalue would
    dominate theirs as the constant part did.
    """

    row_means: Float64  # (s,) mean_i k(b_i, b_l)
    mean: float  # |mu|^2
    scale: float  # element s + 1 is scale * mu

    def __post_init__(self) -> None:
        if self.row_means.ndim != 1 or self.scale < 0 or self.scale >= LARGEST_SCALE:
            raise ValueError(
                f"Centring: row means {self.row_means.shape} and a scale of {self.scale} are no "
                "centring"
            )

    @classmethod
    def of(cls, gram: Float64) -> Centring:
        """Return the centring about the mean of points with this Gram matrix (s, s)."""
        row_means, mean = gram.mean(axis=0), float(gram.mean())
        size = float(np.mean(np.diag(gram) - 2.0 * row_means + mean))
        return cls(row_means, mean, float(np.sqrt(size / mean)) if size > 0 and mean > 0 else 1.0)

    def gram(self, gram: Float64) -> Float64:
        """Gram matrix (s + 1, s + 1) of phi(b_l) - mu and scale * mu."""
        s = len(gram)
        out = np.empty((s + 1, s + 1))
        out[:s, :s] = gram - self.row_means[None, :] - self.row_means[:, None] + self.mean
        out[s, :s] = out[:s, s] = self.scale * (self.row_means - self.mean)
        out[s, s] = self.scale**2 * self.mean
        return out

    def whitener(self, w: Float64) -> Float64:
        """Return W (s + 1, k) for the new basis from that of the raw one (s, k), as phi(b_l) is
        phi(b_l) - mu plus mu."""
        return np.vstack([w, w.sum(axis=0) / self.scale])

    def products(self, g: Array, room: Array | None = None) -> Array:
        """Return the products (b, s + 1) of phi(x) - mu with the new basis, from the raw products g
        (b, s); in `room`, of which g may be the first columns."""
        return self._centred_products(g, namespace(g).mean(g, axis=1, keepdims=True), room)

    def rows(self, g: Array, kxx: Array, room: Array | None = None) -> tuple[Array, Array]:
        """Return the same products and |phi(x) - mu|^2 (b,)."""
        mean = namespace(g).mean(g, axis=1, keepdims=True)
        return self._centred_products(g, mean, room), kxx - 2.0 * mean[:, 0] + self.mean

    def _centred_products(self, g: Array, mean: Array, room: Array | None) -> Array:
        rest = as_like(self.row_means - self.mean, g)[None, :]
        outer = self.scale * (mean - self.mean)
        if room is None:
            return namespace(g).concat([g - mean - rest, outer], axis=1)
        body = room[:, :-1]
        np.subtract(g, mean, out=body)
        np.subtract(body, rest, out=body)
        room[:, -1:] = outer
        return room

    def mean_products(self) -> Float64:
        """Products (s + 1,) of mu with the new basis."""
        return np.append(self.row_means - self.mean, self.scale * self.mean)

    def raw_squared_norms(self, a: Float64, norms: Float64) -> Float64:
        """|v|^2 (c,) about the origin, from the coefficients over the new basis and |v - mu|^2."""
        squares: Float64 = norms + 2.0 * (a @ self.mean_products()) + self.mean
        return np.maximum(squares, 0.0)

    def raw_coefficients(self, a: Float64) -> Float64:
        """Coefficients (c, s) of the centres over the raw basis, from those over the new one (c, s
        + 1)."""
        inner, outer = a[:, :-1], self.scale * a[:, -1:]
        raw: Float64 = inner + (1.0 - inner.sum(axis=1, keepdims=True) + outer) / inner.shape[1]
        return raw
