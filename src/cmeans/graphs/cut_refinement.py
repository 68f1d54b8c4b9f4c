"""Weighted kernel k-means on a graph itself, which lowers the normalised cut that its eigenvectors
lead to.

Dhillon, Guan, Kulis 2007, "Weighted graph cuts without eigenvectors": the cut as kernel k-means
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.linalg
from scipy import sparse

from ..data.arrays import Array, Float64, IntArray, is_foreign, is_sparse, to_numpy
from ..kernels import PrecomputedGraphKernel

SWEEPS = 100  # at most; they end where no row moves


def refined_cut(
    kernel: PrecomputedGraphKernel,
    x: Array,  # (n, n) affinities
    labels: IntArray,  # (n,) of a cut to begin with
    n_clusters: int,
) -> tuple[PrecomputedGraphKernel, IntArray] | None:
    """Return a lower cut, with the kernel in whose features it is k-means; None where none is
    found.

    A row joins the cluster for which 2 f_j(x) / v_j - G_jj / v_j^2 is largest: f_j(x) is the share
    of its edges that lead there, G holds the weights of edges between clusters, v their degrees.
    This is kernel k-means of K(x, y) = W(x, y) / (d(x) d(y)) with weights s d, and k-means of f
    C^-T, G = C C^T: their products with the span of the centres. K is not positive, so that a sweep
    may raise the cut; the lowest is kept.
    """
    affinities, weight = to_numpy(x) if is_foreign(x) else x, np.asarray(kernel.weight)
    labels = np.maximum(labels, 0)  # also of rows without edges, which change no sum
    degrees = np.asarray(affinities @ weight, np.float64)
    first = lowest = _cut(affinities, weight, degrees, labels, n_clusters)
    best, now = labels, first
    for _ in range(SWEEPS):
        if now is None:
            break
        moved = np.argmax(
            2.0 * now.shares / now.volumes - np.diag(now.joint) / now.volumes**2, axis=1
        )
        if np.array_equal(moved, labels):
            break
        labels = moved
        now = _cut(affinities, weight, degrees, labels, n_clusters)
        if now is not None and lowest is not None and now.size < lowest.size:
            best, lowest = labels, now
    if first is None or lowest is None or lowest is first:
        return None
    try:
        factor = np.linalg.cholesky(lowest.joint)
    except np.linalg.LinAlgError:  # clusters whose edges mostly leave them
        return None
    axes = np.zeros((len(weight), n_clusters))
    axes[np.arange(len(weight)), best] = weight * np.sqrt(weight @ degrees)
    axes = scipy.linalg.solve_triangular(factor, axes.T, lower=True).T
    return replace(
        kernel, axes=np.ascontiguousarray(axes), n_components=n_clusters, normalized=False
    ), best


@dataclass(frozen=True)
class _Cut:
    """A partition of a graph's rows."""

    shares: Float64  # (n, c) of each row's edges that lead to each cluster
    joint: Float64  # (c, c) weights of edges between clusters
    volumes: Float64  # (c,) degrees of clusters

    @property
    def size(self) -> float:
        """The normalised cut."""
        return float((1.0 - np.diag(self.joint) / self.volumes).sum())


def _cut(
    affinities: Array, weight: Float64, degrees: Float64, labels: IntArray, n_clusters: int
) -> _Cut | None:
    """Return the cut that labels make; None where a cluster has no rows of positive weight."""
    n = len(labels)
    members = sparse.csr_array((weight, labels, np.arange(n + 1)), shape=(n, n_clusters))
    edges: Any = affinities @ members
    edges = np.asarray(edges.toarray() if is_sparse(edges) else edges, np.float64)
    joint = members.T @ edges
    volumes = np.bincount(labels, weight * degrees, n_clusters).astype(np.float64)
    if (volumes > 0).all():
        return _Cut(
            edges / np.where(degrees > 0, degrees, 1.0)[:, None], (joint + joint.T) / 2.0, volumes
        )
    return None
