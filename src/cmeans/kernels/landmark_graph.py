"""The graph of rows that share near landmarks, as a kernel: c-means of its features is a relaxed normalised cut."""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from scipy import sparse

from ..data.arrays import Array, Float64, as_like, numpy_dtype
from .base import FeatureKernel, of_length_one
from .nearest_points import NearestColumns, NearestPoints

LOCAL = "local mean"  # the width that is each row's own


@dataclass(frozen=True)
class GraphParameters:
    """Parameters of a landmark graph, as `kernel_params` gives them."""

    n_neighbors: int = 5
    width: float | Literal["local mean"] = "local mean"
    n_components: int | Literal["auto"] = "auto"
    normalized: bool = False
    falloff: float = 4.0
    metric: Literal["euclidean", "precomputed"] = "euclidean"
    refine: bool = True  # of given graphs alone

    def __post_init__(self) -> None:
        _check_whole("n_neighbors", self.n_neighbors)
        if self.n_components != "auto":
            _check_whole("n_components", self.n_components, ', or "auto"')
        if self.width != LOCAL and not (_is_real(self.width) and 0 < float(self.width) < np.inf):
            raise ValueError(f'width={self.width!r}: give a positive number, or "{LOCAL}".')
        if not isinstance(self.normalized, (bool, np.bool_)):
            raise ValueError(f"normalized={self.normalized!r}: give True or False.")
        if not isinstance(self.refine, (bool, np.bool_)):
            raise ValueError(f"refine={self.refine!r}: give True or False.")
        if self.metric not in ("euclidean", "precomputed"):
            raise ValueError(f'metric={self.metric!r}: give "euclidean", or "precomputed" where X holds distances to landmarks.')
        if not (_is_real(self.falloff) and 0 <= float(self.falloff) < np.inf):
            raise ValueError(f"falloff={self.falloff!r}: give a number of at least 0, at which all rows count alike.")


def _is_real(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def _check_whole(name: str, value: Any, others: str = "") -> None:
    if not isinstance(value, numbers.Integral) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name}={value!r}: give a whole number of at least 1{others}.")


@dataclass(frozen=True)
class LandmarkWeights:
    """z(x) (s,): exp(-|x - l|^2 / (2 sigma^2)) for the nearest landmarks l, zero for others, divided by their sum.

    (Cai & Chen 2015.) `width` is sigma; None: the mean distance of each row to these landmarks.
    """

    points: Float64 | None  # (s, d); None: rows are their distances (b, s) to landmarks
    n_neighbors: int
    width: float | None

    def __call__(self, x: Array) -> Array:
        """Return z of rows as CSR (b, s), in float64."""
        return self.with_distances(x)[0]

    def with_distances(self, x: Array) -> tuple[sparse.csr_array, Float64]:
        """Return z of rows, and their mean distances (b,) to these landmarks."""
        numbers, d2 = self._nearest(x)
        d2 = d2.astype(np.float64)
        distances: Float64 = np.sqrt(d2).mean(axis=1)
        width = np.where(distances > 0, distances, np.inf)[:, None] if self.width is None else self.width  # at all: all weigh the same
        with np.errstate(over="ignore"):
            z = np.exp((d2[:, :1] - d2) / width / width / 2.0)  # the nearest weighs 1, so that the sum is not 0
        z /= z.sum(axis=1, keepdims=True)
        starts = np.arange(0, z.size + 1, self.n_neighbors, dtype=np.int32)
        return sparse.csr_array((z.ravel(), numbers.ravel(), starts), shape=(len(z), self._count(x))), distances

    def _count(self, x: Array) -> int:
        return int(x.shape[1]) if self.points is None else len(self.points)

    @cached_property
    def _nearest(self) -> NearestPoints | NearestColumns:
        return NearestColumns(self.n_neighbors) if self.points is None else NearestPoints(self.points, self.n_neighbors)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_nearest"}  # prepared again where it is needed


@dataclass(frozen=True, eq=False)
class LandmarkGraphKernel(FeatureKernel):
    """k(x, y) = e(x).e(y),  e(x) = T^T S^-1 V^T Lambda^-1/2 z(x), the leading eigenvectors of a graph, for any rows.

    z(x) holds a row's weights at its nearest landmarks (`LandmarkWeights`). Over the rows that the graph is made of, with their weights
    v in it (sample weights w, less for rows far from all landmarks: `graphs.landmark_graph.Falloff`), Lambda is the diagonal matrix of sums
    of v z, and V S^2 V^T are the leading eigenpairs of Lambda^-1/2 Z^T diag(v) Z Lambda^-1/2. The graph joins rows by
    z(x)^T Lambda^-1 z(y), in which the sum over all rows of v is 1; k-means of e is its normalised cut, relaxed. T, upper triangular, makes
    features orthonormal over the rows with weights w / sum(w). `normalized`: e(x) / |e(x)| (Ng, Jordan & Weiss 2001).

    A fit with kernel="landmark_graph" makes it, and has it as `kernel_`.

    Parameters
    ----------
    points : (s, d) landmarks; None: rows are their distances (b, s) to landmarks.
    axes : (s, k) Lambda^-1/2 V S^-1 T.
    eigenvalues : of the graph, S^2, the largest first; more than k of them.
    n_neighbors : int, default=5
        Number of landmarks that a row has weights at.
    width : sigma, default=None: each row's own.
    normalized : bool, default=False
    """

    points: Float64 | None
    axes: Float64
    eigenvalues: Float64
    n_neighbors: int = 5
    width: float | None = None
    normalized: bool = False

    def __post_init__(self) -> None:
        shape, s = self.axes.shape if self.points is None else self.points.shape, len(self.axes)
        if len(shape) != 2 or self.axes.ndim != 2 or shape[0] != s or not 0 < self.n_neighbors <= s:
            raise ValueError(f"LandmarkGraphKernel: {shape} landmarks do not fit axes {self.axes.shape}")

    @property
    def n_components(self) -> int:
        return int(self.axes.shape[1])

    @property
    def n_features_in(self) -> int:
        return self.n_landmarks if self.points is None else int(self.points.shape[1])

    @property
    def landmarks(self) -> Float64 | None:
        return self.points

    @property
    def n_landmarks(self) -> int:
        return len(self.axes)

    def features(self, x: Array) -> Array:
        return as_like(self.features_of(self._weights(x)).astype(numpy_dtype(x), copy=False), x)

    def features_of(self, z: Array) -> Float64:
        """e(x) (b, k) of rows with the given weights z (b, s), as CSR."""
        e: Float64 = z @ self.axes
        return of_length_one(e) if self.normalized else e

    @cached_property
    def _weights(self) -> LandmarkWeights:
        return LandmarkWeights(self.points, self.n_neighbors, self.width)
