"""Clusters of a stream that come and go: Gaussians that forget by their own rows, with cells of
those rows to see whether one of them is two.

Horizons: a cluster's mean is kept at seven of them, and the one is followed that foresees the next
rows best; so how fast a cluster forgets is read off its rows.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, TypeVar

import numpy as np

from .. import native
from ..data.arrays import Float64, IntArray
from ..native.calls import ADDRESS, REAL, WHOLE, Structure, address, byref, pointer_to
from ..runtime.stored_classes import stored
from .cells import Cells
from .metrics import metric_distances

HORIZONS: Float64 = 2 ** np.arange(4.0, 11.0)  # rows of a cluster's own
FULL = 64  # columns at most for covariances with all entries
CELLS = 48  # of a cluster
TOO_FEW = 1e-6  # share of a pooled variance that is added to it
LATE = 200.0  # rows of a cluster's own in which masses of late rows are forgotten
MEMORY = 8.0  # horizons in which moments and cells are forgotten
OF_SHARES, OF_HEARING = 500.0, 8000.0  # rows in which they are forgotten
OF_MEDIAN, OF_DEVIATION = 64.0, 200.0
OF_ITS_OWN = 0.5  # rows of a step by which a cluster is heard of


class _ShapingArgument(Structure):
    """struct shaping"""

    _fields_ = [
        *((name, ADDRESS) for name in ("moments", "mass", "share", "awake")),
        *((name, WHOLE) for name in ("clusters", "columns", "full")),
        *((name, REAL) for name in ("prior", "few", "least")),
        *((name, ADDRESS) for name in ("factor", "log_weight")),
    ]


_ARGUMENTS = pointer_to(_ShapingArgument), ADDRESS


@stored
@dataclass(frozen=True)
class LivingClusters:
    """Clusters, one after the other in each array."""

    cells: tuple[Cells, ...]
    number: IntArray  # (c,) never given to another cluster
    means: Float64  # (c, h, d) at each horizon
    errors: Float64  # (c, h) squared errors of the means, in the cluster's metric
    moments: Float64  # (c, d, d) second moments about the means, (c, d) beyond `FULL` columns
    mass: Float64  # (c,) of the moments
    rows: Float64  # (c,) so far
    share: Float64  # (c,) of late rows
    median: Float64  # (c,) of the cubic root of squared distances of rows that are nearest to it
    deviation: Float64  # (c,) of the same, without outlying rows
    heard: Float64  # (c,) late rows, and the time in which they came
    time: Float64
    silence: Float64  # (c,) rows of others since the last of its own
    born: IntArray  # (c,) rows of the stream before its first one, and before its last one
    seen: IntArray
    rung: IntArray  # (c,) which horizon is followed
    awake: IntArray  # (c,) 0: it is silent
    tested: Float64  # (c,) its rows when it was last looked at for a valley

    def __post_init__(self) -> None:
        c = len(self.cells)
        for field in fields(self)[1:]:
            if getattr(self, field.name).shape[:1] != (c,):
                raise ValueError(f"LivingClusters: {field.name} is not of {c} clusters")
        d, h = self.means.shape[-1], len(HORIZONS)
        square = (d, d) if d <= FULL else (d,)
        shapes = self.means.shape, self.moments.shape, self.errors.shape
        if shapes != ((c, h, d), (c, *square), (c, h)):
            raise ValueError(f"LivingClusters: arrays of {shapes} do not fit {c} clusters")
        if c and not 0 <= self.rung.min() <= self.rung.max() < h:
            raise ValueError("LivingClusters: a horizon is none")

    @classmethod
    def of_none(cls, d: int) -> LivingClusters:
        """Return no clusters of d columns."""
        h, numbers = len(HORIZONS), np.empty(0, np.intp)
        square = (0, d, d) if d <= FULL else (0, d)
        shapes = {"means": (0, h, d), "errors": (0, h), "moments": square}
        whole = {"number", "born", "seen", "rung", "awake"}
        arrays: dict[str, Any] = {
            field.name: numbers if field.name in whole else np.empty(shapes.get(field.name, 0))
            for field in fields(cls)[1:]
        }
        return cls((), **arrays)

    @classmethod
    def of(cls, cells: Cells, number: int, now: int, share: float) -> LivingClusters:
        """Return one cluster of these cells."""
        d = int(cells.x.shape[1])
        mean, moments = _moments(cells)
        # of the cubic root of chi squared (Wilson & Hilferty)
        median, deviation = d ** (1 / 3) * (1 - 2 / (9 * d)), d ** (1 / 3) * (2 / (9 * d)) ** 0.5
        mass, zero = np.array([cells.mass]), np.zeros(1)
        return cls(
            (cells,),
            number=np.array([number], np.intp),
            means=np.repeat(mean[None, None], len(HORIZONS), 1),
            errors=np.zeros((1, len(HORIZONS))),
            moments=moments[None],
            mass=mass,
            rows=mass,
            share=np.array([share]),
            median=np.array([median]),
            deviation=np.array([deviation]),
            heard=zero,
            time=np.ones(1),
            silence=zero,
            born=np.array([now], np.intp),
            seen=np.array([now], np.intp),
            rung=np.array([len(HORIZONS) - 1], np.intp),
            awake=np.ones(1, np.intp),
            tested=zero,
        )

    def __len__(self) -> int:
        return len(self.cells)

    @property
    def horizon(self) -> Float64:
        """Rows (c,) of its own after which a cluster's mean has forgotten."""
        rows: Float64 = HORIZONS[self.rung]
        return rows

    @property
    def mean(self) -> Float64:
        """Means (c, d)."""
        mean: Float64 = self.means[np.arange(len(self)), self.rung]
        return mean

    def part(self, some: IntArray) -> LivingClusters:
        """Return some of the clusters."""
        arrays = {field.name: getattr(self, field.name)[some] for field in fields(self)[1:]}
        return LivingClusters(tuple(self.cells[j] for j in some), **arrays)

    def without(self, j: int) -> LivingClusters:
        """Return the others."""
        return self.part(np.delete(np.arange(len(self)), j))

    def __add__(self, other: LivingClusters) -> LivingClusters:
        pairs = {
            field.name: np.concatenate([getattr(part, field.name) for part in (self, other)])
            for field in fields(self)[1:]
        }
        return LivingClusters(self.cells + other.cells, **pairs)

    def changed(self, j: int, **values: Any) -> LivingClusters:
        """Return the clusters with other values of one of them."""
        arrays = {name: getattr(self, name).copy() for name in values}
        for name, value in values.items():
            arrays[name][j] = value
        return renewed(self, **arrays)

    def with_cells(self, j: int, cells: Cells) -> LivingClusters:
        """Return the clusters with other cells of one of them."""
        return renewed(self, cells=(*self.cells[:j], cells, *self.cells[j + 1 :]))

    def fitted_anew(self, j: int, cells: Cells, rows: float, share: float) -> LivingClusters:
        """Return the clusters with one of them as its cells are now."""
        mean, moments = _moments(cells)
        values = {"means": mean, "errors": 0.0, "moments": moments, "mass": cells.mass}
        return self.with_cells(j, cells).changed(j, rows=rows, share=share, **values)


Record = TypeVar("Record")


def renewed(record: Record, **changes: Any) -> Record:
    """Return a record with other values of some fields. Unlike those that come from files they are
    not checked, and what was computed of the others is kept."""
    other = object.__new__(type(record))
    vars(other).update(vars(record), **changes)
    return other


def _moments(cells: Cells) -> tuple[Float64, Float64]:
    """Return the mean (d,) of some cells and their second moments about it."""
    d = cells.x.shape[1]
    mean = cells.mean
    within = float(cells.s.sum()) / d
    e = cells.x - mean
    return mean, scatter(e, cells.w) + (within * np.eye(d) if d <= FULL else within)


def scatter(e: Float64, w: Float64) -> Float64:
    """Return second moments of rows (b, d) of weights (b,)."""
    result: Float64 = (w[:, None] * e).T @ e if e.shape[1] <= FULL else w @ (e * e)
    return result


@dataclass(frozen=True)
class Shapes:
    """The metric of each cluster: its own covariance, shrunk towards the pooled one."""

    mean: Float64  # (c, d)
    factors: Float64  # (c, d, d) lower triangles, or (c, d): |factor (x - mean)|^2 is the distance
    pooled: Float64  # (d, d) or (d,) the factor of the pooled covariance
    log_weight: Float64  # (c,) of each cluster's density at its mean

    @classmethod
    def of(cls, clusters: LivingClusters, now: int) -> Shapes:
        """Return the metrics after so many rows."""
        if native.is_available():
            return cls(clusters.mean, *_shaped(clusters, now))
        return cls(clusters.mean, *_shaped_in_numpy(clusters, now))

    def distances(self, x: Float64) -> Float64:
        """Return squared distances (b, c) of rows."""
        return metric_distances(x, self.mean, self.factors)

    @property
    def covariances(self) -> Float64:
        """Covariances (c, d, d), or their diagonals (c, d)."""
        if self.factors.ndim == 2:
            return 1.0 / (self.factors * self.factors)
        roots = np.linalg.inv(self.factors)
        covariances: Float64 = roots @ roots.transpose(0, 2, 1)
        return covariances

    def log_shares(self, d2: Float64) -> Float64:
        """Return the logarithms (b, c) of what clusters have of rows at squared distances, up to a
        number of each row."""
        return self.log_weight - d2 / 2


Shaped = tuple[Float64, Float64, Float64]  # factors, pooled, log_weight


def _shaped(clusters: LivingClusters, now: int) -> Shaped:
    c, _, d = clusters.means.shape
    full, square = d <= FULL, clusters.moments.shape[1:]
    factors, log_weight = np.zeros((c + 1, *square)), np.empty(c + 1)
    room = np.empty(2 * d * d + d)
    given = clusters.moments, clusters.mass, clusters.share, clusters.awake
    numbers = c, d, full, _prior(d), TOO_FEW, 1 / (now + 1)
    argument = _ShapingArgument(
        *map(address, given), *numbers, address(factors), address(log_weight)
    )
    call = native.function("shape_clusters", np.float64, _ARGUMENTS)
    call(byref(argument), address(room))
    return factors[:-1], factors[-1], log_weight[:-1]


def _prior(d: int) -> int:
    return d + 1 if d <= FULL else 2


def _shaped_in_numpy(clusters: LivingClusters, now: int) -> Shaped:
    """The C function `shape_clusters`."""
    awake = clusters.awake > 0 if clusters.awake.any() else np.ones(len(clusters), bool)
    d, mass = clusters.means.shape[2], clusters.mass[awake].sum()
    pooled, prior = clusters.moments[awake].sum(axis=0), _prior(d)
    if d <= FULL:
        pooled = (pooled + prior * np.diag(np.diag(pooled)) / mass) / (mass + prior)
        variances = np.diag(pooled)
    else:
        variances = pooled = pooled / mass
    least = TOO_FEW * np.where(variances > 0, variances, max(variances.max(), 1e-100))
    pooled = pooled + (np.diag(least) if d <= FULL else least)
    many = clusters.mass.reshape(-1, *[1] * pooled.ndim)
    own = (clusters.moments + prior * pooled) / (many + prior)
    factors, log_det = _factors(np.concatenate([own, pooled[None]]))
    likely = np.log(np.maximum(clusters.share, 1 / (now + 1)))
    return factors[:-1], factors[-1], likely - log_det[:-1] / 2


def _factors(covariances: Float64) -> tuple[Float64, Float64]:
    """Return lower triangles that whiten, and logarithms of determinants; in columns of deviation
    1, so that units do not matter."""
    if covariances.ndim == 2:
        return covariances**-0.5, np.log(covariances).sum(axis=1)
    g = np.sqrt(np.diagonal(covariances, axis1=1, axis2=2))
    alike = covariances / (g[:, :, None] * g[:, None, :])
    lower = np.linalg.cholesky(alike + 1e-9 * np.eye(g.shape[1]))
    log_det = 2 * np.log(np.diagonal(lower, axis1=1, axis2=2) * g).sum(axis=1)
    return np.tril(np.linalg.inv(lower)) / g[:, None, :], log_det
