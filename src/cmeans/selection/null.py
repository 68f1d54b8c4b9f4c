"""Rows without clusters: as many as are given, with their mean and covariance, and with the skew,
the steps and the categories of their columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.arrays import Float64, IntArray, host_float64
from ..data.powers import PowerUnits
from ..data.precision import numpy_dtype, resolution
from ..tuning.power import power_units
from ..tuning.steps import steps_of

SHAPES = ("normal", "uniform")  # of the draws along each principal axis: soft and hard edges
Mask = NDArray[np.bool_]
SKEWED = 1.0  # skewness of a column from which on a cloud would be another kind of rows
EVEN = 0.5  # that of one whose power makes a cloud, at most
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
        if shape == "normal":
            scores = rng.standard_normal(size)
        else:
            scores = rng.uniform(-WIDTH / 2, WIDTH / 2, size)
        rows = scores @ self.axes + self.mean
        if self.holes is not None:
            rows[self.holes] = np.nan
        return (rows @ rows.T if self.as_products else rows).astype(self.dtype)


@dataclass(frozen=True)
class TableNull:
    """Rows whose columns are not those of a cloud: skewed ones, such as incomes, come from a cloud
    of their powers; values told in steps are rounded to these; and categories, columns of two
    values, come by themselves, those together of which each row has one."""

    cloud: Null  # of the other columns
    powers: PowerUnits | None
    powered: Mask  # (q,) columns that come from the cloud of their powers
    steps: Float64  # (d,) 0 where values have none
    low: Float64  # (d,) the least and the largest values
    high: Float64  # (d,)
    columns: IntArray  # (q,) numbers of the columns that come from the cloud
    groups: tuple[IntArray, ...]  # numbers of the columns of each category
    rows: Float64  # (n, d)
    share: Float64  # (n,)

    def draw(self, shape: str, rng: np.random.Generator) -> Any:
        """Return rows (n, d)."""
        found = np.empty_like(self.rows)
        if len(self.columns):
            values = host_float64(self.cloud.draw(shape, rng))
            if self.powers is not None:
                ends = self.low[self.columns], self.high[self.columns]
                values = np.where(self.powered, self.powers.inverse(values).clip(*ends), values)
            found[:, self.columns] = self._in_steps(values)
        for group in self.groups:
            drawn = rng.choice(len(found), len(found), p=self.share)
            found[:, group] = self.rows[drawn[:, None], group]
        return found.astype(self.cloud.dtype)

    def _in_steps(self, values: Float64) -> Float64:
        steps, low = self.steps[self.columns], self.low[self.columns]
        told = steps > 0
        unit = np.where(told, steps, 1.0)
        rounded = low + np.round((values - low) / unit) * unit
        rounded = np.clip(rounded, low, self.high[self.columns])
        return np.where(told, rounded, values)


def null_of_rows(x: Any, weights: Float64) -> Null | TableNull:
    """Return rows without clusters of the kind of rows (n, d), dense or CSR."""
    rows, share = host_float64(x), weights / weights.sum()
    if np.isnan(rows).any():
        return _cloud(rows, share, numpy_dtype(x))
    dtype, groups = numpy_dtype(x), categories(rows)
    columns = np.setdiff1d(np.arange(rows.shape[1]), np.concatenate([[], *groups]).astype(np.intp))
    steps = steps_of(rows, np.ones(len(rows)), resolution(dtype))
    some, powers = rows[:, columns], None
    skewed = np.abs(_skewness(some, share)) > SKEWED
    if skewed.any():
        powers = power_units(some, share)
        # of two heaps powers make no cloud
        skewed &= np.abs(_skewness(powers(some), share)) < EVEN
        powers = powers.where(skewed)
    if not (len(groups) or skewed.any() or steps.any()):
        return _cloud(rows, share, dtype)
    some = some if powers is None else powers(some)
    cloud = _cloud(some, share, dtype)
    ends = rows.min(axis=0), rows.max(axis=0)
    return TableNull(cloud, powers, skewed, steps, *ends, columns, groups, rows, share)


def _skewness(rows: Float64, share: Float64) -> Float64:
    """(d,) of columns; 0 of those of one value."""
    away = rows - share @ rows
    deviations = np.sqrt(share @ away**2)
    found: Float64 = share @ away**3 / np.where(deviations > 0, deviations, 1.0) ** 3
    return found


def categories(rows: Float64) -> tuple[IntArray, ...]:
    """Return the numbers of the columns of each category: columns of two values, together where
    neighbours hold a one in each row, and no more."""
    two = np.array([len(np.unique(column)) == 2 for column in rows.T], bool)
    first = np.flatnonzero(two)
    groups, taken = list[IntArray](), -1
    for start in first:
        if start <= taken:
            continue
        group = _one_of_each(rows, two, int(start))
        groups.append(group)
        taken = int(group[-1])
    return tuple(groups)


def _one_of_each(rows: Float64, two: Any, start: int) -> IntArray:
    """Return the numbers of the columns from one on that hold a one in each row together; its own
    number alone where there are none."""
    total = np.zeros(len(rows))
    for column in range(start, rows.shape[1]):
        if not two[column] or set(np.unique(rows[:, column])) != {0.0, 1.0}:
            break
        total += rows[:, column]
        if (total > 1).any():
            break
        if (total == 1).all():
            return np.arange(start, column + 1)
    return np.array([start])


def _cloud(rows: Float64, share: Float64, dtype: np.dtype[Any]) -> Null:
    """Return the cloud of rows (n, d). Of missing values, those that are there stand in: they have
    no part in the mean, and the column keeps its variance."""
    holes = np.isnan(rows)
    there: Any = 1.0
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
    whole = None if not holes.any() else holes
    return Null(mean, axes[variances > 0], len(rows), dtype, False, whole)


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
