"""A graph of rows that is given by its affinities, as a kernel: c-means of its features is a
relaxed normalised cut."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..data.arrays import Array, Float64, as_like, is_foreign, to_numpy
from ..data.precision import numpy_dtype
from ..runtime.checks import ParameterError
from .base import FeatureKernel, of_length_one
from .landmark_graph import check_graph


@dataclass(frozen=True, repr=False, eq=False)
class PrecomputedGraphKernel(FeatureKernel):
    """k(x, y) = e(x).e(y),  e(x) = W(x, .) S E Lambda^-1 / d(x),  the leading eigenvectors of a
    graph given by its affinities W.

    S holds the sample weights of the n rows that the graph is made of, d(x) = sum_j s_j W(x, j) is
    a row's degree, and E are those rows' own features: D E = W S E / lambda, with weights s_i d_i
    orthonormal up to their sum. k-means of e with these weights is the graph's normalised cut,
    relaxed. A new row is its affinities to those n rows (Bengio et al. 2004). `normalized`: e(x) /
    |e(x)| (Ng, Jordan & Weiss 2001). After hard fits features are those of the cut itself, where it
    is lower than that of the eigenvectors: axes S L C^-T, L the clusters of the n rows, C C^T = L^T
    S W S L (`graphs.cut_refinement`).

    A fit with kernel="precomputed_graph", or an object without axes, makes the graph, and has it as
    `kernel_`. X is the square, symmetric matrix of affinities between rows, most of them 0 and not
    stored, as of a graph of nearest neighbours; rows weigh as much as their degree times their
    sample weight.

    Parameters
    ----------
    axes : (n, k) S E Lambda^-1, or of a cut; None, as all else that is found: there is no graph
        yet.
    eigenvalues : of the graph, the largest first; more than k of them.
    weight : (n,) the sample weights s.
    mean_degree : sum_i s_i d_i / sum_i s_i over rows with edges, by which weights are divided so
        that their sum stays.
    normalized : bool, default=False
        Whether features of a row are divided by their length.
    n_components : "auto" or int, default="auto"
        Number of features; "auto": the number of clusters, tied eigenvectors whole.
    refine : bool, default=True
        Whether a hard fit goes on to a lower cut of the graph itself.

    Raises
    ------
    ValueError
        If a parameter is out of its range, or parts of a graph do not fit together.
    """

    axes: Float64 | None = None
    eigenvalues: Float64 | None = None
    weight: Float64 | None = None
    mean_degree: float = 1.0
    normalized: bool = False
    n_components: Literal["auto"] | int = "auto"
    refine: bool = True
    name = "precomputed_graph"
    takes_affinities = True

    def __post_init__(self) -> None:
        check_graph(self)
        if not isinstance(self.refine, (bool, np.bool_)):
            raise ParameterError(type(self).__name__, "refine", self.refine, "give True or False.")
        if self.axes is None:
            return
        shape = None if self.weight is None else self.weight.shape
        if self.axes.ndim != 2 or shape != self.axes.shape[:1] or not 0 < self.mean_degree < np.inf:
            raise ValueError(
                f"PrecomputedGraphKernel: weights {shape} do not fit axes {self.axes.shape}"
            )

    @property
    def n_features_in(self) -> int:
        return len(self._made()[0])

    @property
    def refines_cut(self) -> bool:
        return self.refine and not self.is_made

    def _made(self) -> tuple[Float64, Float64]:
        """Return the axes of the graph's Laplacian and the weights of the rows, which exist once a
        fit has made the graph."""
        if self.axes is None or self.weight is None:
            raise ValueError(
                f"{self!r}: the graph is made of rows, by the fit of an estimator; this needs "
                "values of any two rows."
            )
        return self.axes, self.weight

    def features(self, x: Array) -> Array:
        x_here = to_numpy(x) if is_foreign(x) else x
        axes, weight = self._made()
        degrees = np.asarray(x_here @ weight)
        e = x_here @ axes / np.where(degrees > 0, degrees, 1.0)[:, None]
        return as_like(
            (of_length_one(e) if self.normalized else e).astype(numpy_dtype(x), copy=False), x
        )

    def row_weights(self, x: Array, weight: Float64) -> Float64:
        """Weights (b,) of rows `x` in the cut: their sample weights, `weight`, times their degrees,
        over the mean degree of the graph."""
        x = to_numpy(x) if is_foreign(x) else x
        if x.min() < 0:
            raise ValueError(NEGATIVE)
        degrees: Float64 = np.asarray(x @ self._made()[1], np.float64)
        return weight * (degrees / self.mean_degree)


NEGATIVE = (
    'X holds negative numbers; kernel="precomputed_graph" takes affinities, 0 for rows that '
    "no edge joins and larger for nearer rows."
)
