"""Rows without clusters: as many as are given, with their mean and covariance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.arrays import Float64, host_float64, numpy_dtype

SHAPES = ("normal", "uniform")  # of the draws along each principal axis: soft and hard edges
WIDTH = 2 * 3**0.5  # of a uniform distribution of variance 1


@dataclass(frozen=True)
class Null:
    """One cloud with the mean and covariance of some rows, in the space where its principal axes
    are."""

    mean: Float64  # (d,)
    axes: Float64  # (r, d) principal axes, each as long as its standard deviation
    n_rows: int
    dtype: np.dtype[Any]
    as_products: bool  # rows come as the matrix of their inner products
    holes: NDArray[np.bool_] | None = None  # (n, d) where values are missing, here as there

    def draw(self, shape: str, rng: np.random.Generator) -> Any:
        """Return rows (n, d), or their inner products (n, n)."""
        size = self.n_rows, len(self.axes)
        scores = (
            rng.standard_normal(size)
            if shape == "normal"
            else rng.uniform(-WIDTH / 2, WIDTH / 2, size)
        )
        rows = scores @ self.axes + self.mean
        if self.holes is not None:
            rows[self.holes] = np.nan
        return (rows @ rows.T if self.as_products else rows).astype(self.dtype)


def null_of_rows(x: Any, weights: Float64) -> Null:
    """Return the cloud of rows (n, d), dense or CSR. Of missing values, those that are there stand
    in: they have no part in the mean, and the column keeps its variance."""
    rows, share = host_float64(x), weights / weights.sum()
    holes, there = np.isnan(rows), 1.0
    if holes.any():
        there = np.maximum(share @ ~holes, np.finfo(np.float64).tiny)
    mean = share @ np.where(holes, 0.0, rows) / there
    away = np.where(holes, 0.0, rows - mean)
    scaled = np.sqrt(share)[:, None] * away / np.sqrt(there)
    if rows.shape[1] <= rows.shape[0]:
        variances, directions = np.linalg.eigh(scaled.T @ scaled)
        axes = np.sqrt(np.maximum(variances, 0.0))[:, None] * directions.T
    else:
        variances, combinations = np.linalg.eigh(scaled @ scaled.T)
        axes = combinations.T @ scaled  # of length sqrt(variance) by themselves
    return Null(
        mean,
        axes[variances > 0],
        len(rows),
        numpy_dtype(x),
        False,
        holes if holes.any() else None,
    )


def null_of_products(gram: Float64, weights: Float64) -> Null:
    """Return the cloud of rows that are known by their kernel matrix (n, n)."""
    share = weights / weights.sum()
    means = gram @ share
    centred = gram - means[:, None] - means[None, :] + share @ means
    root = np.sqrt(share)
    variances = np.linalg.eigvalsh(root[:, None] * centred * root[None, :])
    variances = variances[variances > 1e-12 * variances[-1]]
    return Null(
        np.zeros(len(variances)), np.diag(np.sqrt(variances)), len(gram), numpy_dtype(gram), True
    )
