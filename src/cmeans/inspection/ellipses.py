"""Ellipses of clusters with covariances, and contours of their density."""

from __future__ import annotations

import numpy as np

from ..data.arrays import Float64
from ..spaces.metrics import Metrics
from .rows import InspectedRows

POINTS = 73  # of an ellipse


def mean_variances(metrics: Metrics, mean_d2: Float64) -> Float64:
    """Return the variances (c, r) of clusters over the axes of the space, of rows whose mean
    squared distances to their centres in these metrics are known (c,)."""
    return metrics.variances * (mean_d2 / len(metrics.live))[:, None]


def cluster_covariances(seen: InspectedRows) -> Float64:
    """Return the covariances (c, r, r) of clusters with metrics. Metrics of determinant 1 tell
    their shapes alone, and their sizes come from the distances of the rows."""
    metrics = seen.state.metrics
    assert metrics is not None, "clusters with covariances have metrics"
    found = metrics.covariances
    if found.ndim == 2:
        found = found[:, :, None] * np.eye(found.shape[1])
    if np.abs(metrics.log_volumes).max() < 1e-6:
        sums = np.bincount(
            np.maximum(seen.labels, 0),
            weights=seen.own_distances**2 * seen.weight * (seen.labels >= 0),
            minlength=seen.n_clusters,
        )
        size = sums / np.maximum(seen.masses, np.finfo(float).tiny)
        found = found * (size / len(metrics.live))[:, None, None]
    return found


def ellipse(centre: Float64, covariance: Float64, deviations: float) -> Float64:
    """Return points (k, 2) around a centre (2,) that are so many deviations away from it, for a
    covariance (2, 2)."""
    values, vectors = np.linalg.eigh(covariance)
    turn = np.linspace(0.0, 2.0 * np.pi, POINTS)
    circle = np.column_stack([np.cos(turn), np.sin(turn)])
    around: Float64 = deviations * (circle * np.sqrt(values.clip(min=0))) @ vectors.T
    return centre + around


def density(
    points: Float64,  # (k, 2)
    weights: Float64,  # (c,)
    centres: Float64,  # (c, 2)
    covariances: Float64,  # (c, 2, 2)
) -> Float64:
    """Return the density (k,) of a mixture of Gaussians in a plane."""
    found = np.zeros(len(points))
    for weight, centre, covariance in zip(weights, centres, covariances, strict=True):
        away = points - centre
        d2 = np.einsum("ia,ia->i", away, np.linalg.solve(covariance, away.T).T)
        found += weight * np.exp(-d2 / 2.0) / (2.0 * np.pi * np.sqrt(np.linalg.det(covariance)))
    return found
