"""One partition of a tree of pieces: the clusters of points and of rows near them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..data.arrays import Float64, IntArray
from ..runtime.stored_classes import stored
from .piece_choice import crumb_weight
from .piece_depth import FAR, are_light, depths, quantiles
from .pieces import Flags, Pieces

LEAST_NOISE = 5.0  # lighter pieces may be noise, whatever clusters must weigh


@stored
@dataclass(frozen=True)
class PieceNoise:
    """The choice of noise: of the points that hang on their clusters by pieces lighter than
    `lighter` those that are far out; or the share of all rows that is farthest out."""

    lighter: float = LEAST_NOISE
    share: float | None = None


@dataclass(frozen=True)
class PiecePartition:
    """The clusters of the chosen paths, their numbers in the order of the paths."""

    pieces: Pieces
    chosen: Flags  # (u,) of the paths
    noise: PieceNoise | None = None

    @property
    def n_clusters(self) -> int:
        return int(self.chosen.sum())

    @property
    def centres(self) -> IntArray:
        """The points (k,) at the centres of the clusters."""
        return self.pieces.centre[self.chosen]

    @cached_property
    def own(self) -> IntArray:
        """The cluster (u,) of each point, noise too."""
        return self.pieces.labels(self.chosen)

    @cached_property
    def distances(self) -> Float64:
        """The distance (u,) of each point to the centre of its cluster."""
        return self.pieces.distances(self.chosen)

    @cached_property
    def scales(self) -> Float64:
        """The median distance (k,) of each cluster's points to its centre, itself left out."""
        weights = self.pieces.tree.weight[: len(self.own)]
        return quantiles(self.distances, weights, self.own, self.n_clusters, 0.5)

    @cached_property
    def depths(self) -> Float64:
        """The depth of each point in its cluster (u,): 1 in its nearer half, and towards 0 far
        from its centre."""
        return depths(self.distances, self.scales, self.own)

    @cached_property
    def far(self) -> Float64:
        """The distance (k,) from the centre of each cluster beyond which is noise."""
        if self.noise is None:
            return np.full(self.n_clusters, np.inf)
        if self.noise.share is None:
            return np.where(self.scales > 0, FAR * self.scales, np.inf)
        weights = self.pieces.tree.weight[: len(self.own)]
        order = np.argsort(self.depths, kind="stable")
        count = np.searchsorted(np.cumsum(weights[order]), self.noise.share * weights.sum())
        with np.errstate(divide="ignore"):
            far: Float64 = self.scales / self.depths[order[min(count, len(order) - 1)]]
        return np.where(self.scales > 0, far, np.inf)

    @cached_property
    def labels(self) -> IntArray:
        """The cluster (u,) of each point; -1 for noise."""
        if self.noise is None:
            return self.own
        far = self.distances > self.far[self.own]
        if self.noise.share is None:
            crumbs = crumb_weight(self.pieces.tree, self.n_clusters)
            far &= are_light(self.pieces, self.chosen, max(crumbs, self.noise.lighter))
        return np.where(far, -1, self.own)

    def depths_of(self, points: IntArray, away: Float64) -> Float64:
        """Return how deep rows (n,) at some points lie in their clusters; 0 at none."""
        scales = self.scales[self.own[points]]
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            there = np.where(away > 0, np.minimum(scales / away, 1.0), 1.0)
        return np.where(points < 0, 0.0, np.minimum(self.depths[points], there))

    def labels_of(self, points: IntArray, away: Float64) -> IntArray:
        """Return the cluster (n,) of rows at some points (-1: none), and how far they are away from
        these; -1 for noise."""
        labels = self.labels[points]
        return np.where((points < 0) | (away > self.far[labels]), -1, labels)

    def distances_of(self, points: IntArray, away: Float64) -> Float64:
        """Return the distances (n, k) of rows at some points to the centres; NaN at none."""
        distances = self.pieces.tree.distances(self.centres)[points]
        distances = np.maximum(distances, away[:, None])
        distances[points < 0] = np.nan
        return distances

    def memberships(self, points: IntArray, away: Float64, z: float) -> Float64:
        """Return memberships (n, k) of rows at some points: as 1 / d^z, and so largest in their
        clusters; 0 for noise."""
        distances = self.distances_of(points, away)
        labels = self.labels_of(points, away)
        own = distances[np.arange(len(labels)), self.own[points]][:, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            u = np.where(distances == own, 1.0, (own / distances) ** z)
        u[(own == 0)[:, 0]] = 0.0
        u[np.arange(len(labels)), self.own[points]] = 1.0
        u /= u.sum(axis=1, keepdims=True)
        # where rounding makes one of two memberships equal, a row's own cluster stays ahead
        wrong = np.flatnonzero(u.argmax(axis=1) != self.own[points])
        u[wrong, self.own[points[wrong]]] = np.nextafter(u[wrong].max(axis=1), 2.0)
        u[labels < 0] = 0.0
        return u
