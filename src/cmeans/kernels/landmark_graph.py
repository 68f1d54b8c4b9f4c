"""The graph of rows that share near landmarks, as a kernel: c-means of its features is a relaxed
normalised cut."""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from scipy import sparse

from ..data.arrays import Array, Float64, as_like
from ..data.precision import numpy_dtype
from ..runtime.checks import ParameterError
from .base import FeatureKernel, of_length_one
from .nearest_points import NearestColumns, NearestPoints

LOCAL = "local mean"  # the width that is each row's own


@dataclass(frozen=True)
class LandmarkWeights:
    """z(x) (s,): exp(-|x - l|^2 / (2 sigma^2)) for the nearest landmarks l, zero for others,
    divided by their sum.

    (Cai & Chen 2015.) `width` is sigma; None: the mean distance of each row to these landmarks.
    """

    # (s, d) in float64, dense or CSR; None: rows are their distances (b, s) to landmarks
    points: Array | None
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
        # at all: all weigh the same
        width = (
            np.where(distances > 0, distances, np.inf)[:, None]
            if self.width is None
            else self.width
        )
        with np.errstate(over="ignore"):
            # the nearest weighs 1, so that the sum is not 0
            z = np.exp((d2[:, :1] - d2) / width / width / 2.0)
        z /= z.sum(axis=1, keepdims=True)
        starts = np.arange(0, z.size + 1, self.n_neighbors, dtype=np.int32)
        return sparse.csr_array(
            (z.ravel(), numbers.ravel(), starts), shape=(len(z), self._count(x))
        ), distances

    def _count(self, x: Array) -> int:
        return int((x if self.points is None else self.points.T).shape[1])

    @cached_property
    def _nearest(self) -> NearestPoints | NearestColumns:
        if self.points is None:
            return NearestColumns(self.n_neighbors)
        return NearestPoints(self.points, self.n_neighbors)

    def __getstate__(self) -> dict[str, Any]:
        # prepared again where it is needed
        return {name: value for name, value in self.__dict__.items() if name != "_nearest"}


@dataclass(frozen=True, repr=False, eq=False)
class LandmarkGraphKernel(FeatureKernel):
    """k(x, y) = e(x).e(y),  e(x) = T^T S^-1 V^T Lambda^-1/2 z(x), the leading eigenvectors of a
    graph, for any rows.

    z(x) holds a row's weights at its nearest landmarks (`LandmarkWeights`). Over the rows that the
    graph is made of, with their weights v in it (sample weights w, less for rows far from all
    landmarks: `graphs.landmark_graph.Falloff`), Lambda is the diagonal matrix of sums of v z, and V
    S^2 V^T are the leading eigenpairs of Lambda^-1/2 Z^T diag(v) Z Lambda^-1/2. The graph joins
    rows by z(x)^T Lambda^-1 z(y), in which the sum over all rows of v is 1; k-means of e is its
    normalised cut, relaxed. T, upper triangular, makes features orthonormal over the rows with
    weights w / sum(w). `normalized`: e(x) / |e(x)| (Ng, Jordan & Weiss 2001).

    A fit with kernel="landmark_graph", or an object without points, makes the graph, and has it as
    `kernel_`. It finds clusters of any shape, of new rows too; there is no `gamma`, and no
    certificate (`approximation_`).

    Parameters
    ----------
    points : (s, d) landmarks, dense or CSR; None: rows are their distances (b, s) to landmarks, or
        there is no graph yet.
    axes : (s, k) Lambda^-1/2 V S^-1 T; None: there is no graph yet.
    eigenvalues : of the graph, S^2, the largest first; more than k of them; None: there is no graph
        yet.
    n_neighbors : int, default=5
        Number of landmarks that a row is joined to.
    width : "local mean" or float > 0, default="local mean"
        sigma of the weights; "local mean": the mean distance of each row to these landmarks.
    normalized : bool, default=False
        Whether features of a row are divided by their length.
    n_components : "auto" or int, default="auto"
        Number of features; "auto": the number of clusters, tied eigenvectors whole.
    falloff : float >= 0, default=6
        How fast rows farther than usual from their landmarks lose weight in the graph, so that
        stray rows do not join clusters. 0: all rows count alike.
    metric : "euclidean" or "precomputed", default="euclidean"
        "precomputed": rows hold their distances to landmarks, by any measure.

    Raises
    ------
    ValueError
        If a parameter is out of its range, or parts of a graph do not fit together.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from cmeans import KernelKMeans
    >>> from cmeans.kernels import LandmarkGraphKernel
    >>> X, moons = make_moons(400, noise=0.05, random_state=0)
    >>> model = KernelKMeans(2, kernel=LandmarkGraphKernel(n_neighbors=6), random_state=0).fit(X)
    >>> model.kernel_.n_neighbors, model.kernel_.n_components
    (6, 2)
    """

    points: Array | None = None
    axes: Float64 | None = None
    eigenvalues: Float64 | None = None
    n_neighbors: int = 5
    width: Literal["local mean"] | float = "local mean"
    normalized: bool = False
    n_components: Literal["auto"] | int = "auto"
    falloff: float = 6.0
    metric: Literal["euclidean", "precomputed"] = "euclidean"
    name = "landmark_graph"
    over_landmarks = True
    is_for_tables = True

    def __post_init__(self) -> None:
        owner = type(self).__name__
        _check_whole(self, "n_neighbors")
        check_graph(self)
        if self.width != LOCAL and not (is_real(self.width) and 0 < float(self.width) < np.inf):
            raise ParameterError(
                owner, "width", self.width, f'give a positive number, or "{LOCAL}".'
            )
        if self.metric not in ("euclidean", "precomputed"):
            wanted = 'give "euclidean", or "precomputed" where X holds distances to landmarks.'
            raise ParameterError(owner, "metric", self.metric, wanted)
        if not (is_real(self.falloff) and 0 <= float(self.falloff) < np.inf):
            raise ParameterError(
                owner,
                "falloff",
                self.falloff,
                "give a number of at least 0, at which all rows count alike.",
            )
        if self.axes is None:
            return
        shape, s = self.axes.shape if self.points is None else self.points.shape, len(self.axes)
        if len(shape) != 2 or self.axes.ndim != 2 or shape[0] != s or self.n_neighbors > s:
            raise ValueError(
                f"LandmarkGraphKernel: {shape} landmarks do not fit axes {self.axes.shape}"
            )

    @property
    def n_features_in(self) -> int:
        return self.n_landmarks if self.points is None else int(self.points.shape[1])

    @property
    def landmarks(self) -> Array | None:
        return self.points

    @property
    def n_landmarks(self) -> int:
        assert self.axes is not None
        return len(self.axes)

    def features(self, x: Array) -> Array:
        if self.axes is None:
            raise ValueError(
                f"{self!r}: the graph is made of rows, by the fit of an estimator; this needs "
                "values of any two rows."
            )
        return as_like(self.features_of(self._weights(x)).astype(numpy_dtype(x), copy=False), x)

    def features_of(self, z: Array) -> Float64:
        """e(x) (b, k) of rows with the given weights z (b, s), as CSR."""
        assert self.axes is not None
        e: Float64 = z @ self.axes
        return of_length_one(e) if self.normalized else e

    @cached_property
    def _weights(self) -> LandmarkWeights:
        return LandmarkWeights(
            self.points,
            self.n_neighbors,
            None if isinstance(self.width, str) else float(self.width),
        )


def check_graph(kernel: FeatureKernel) -> None:
    """Raise ValueError for what graphs of all kinds have, where it is out of its range."""
    normalized: Any = kernel.normalized
    if not isinstance(normalized, (bool, np.bool_)):
        raise ParameterError(type(kernel).__name__, "normalized", normalized, "give True or False.")
    if kernel.n_components != "auto":
        _check_whole(kernel, "n_components", ', or "auto"')


def is_real(value: Any) -> bool:
    """Return True for a number that is no truth value."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def _check_whole(kernel: FeatureKernel, name: str, others: str = "") -> None:
    value = getattr(kernel, name)
    if not isinstance(value, numbers.Integral) or isinstance(value, bool) or value < 1:
        raise ParameterError(
            type(kernel).__name__, name, value, f"give a whole number of at least 1{others}."
        )
