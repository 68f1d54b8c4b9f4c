"""Columns with a long upper tail, such as incomes, and their logarithms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .arrays import Array, Float64, namespace

LONG_TAIL = 2.0  # the skewness from which on a logarithm is taken
MIDDLE, SHARE = 1.0, 0.01  # the skewness without so many of the largest values, which may be errors
LEVEL = 1.0  # the skewness that a logarithm leaves at most, where it is chosen
Offsets = tuple[float | None, ...]  # what is added before a logarithm; none of a column as it is


def skewness(x: npt.NDArray[Any]) -> Float64:
    """Return the skewness of each column (d,), 0 of a constant one; what is missing has no part."""
    there = ~np.isnan(x)
    counts = np.maximum(there.sum(axis=0), 1)
    with np.errstate(all="ignore"):
        mean = np.where(there, x, 0.0).sum(axis=0, dtype=np.float64) / counts
        away = np.where(there, x - mean, 0.0)
        # in a unit whose cubes are numbers; a power of two, which rounds nothing
        exponent = np.frexp(np.abs(away).max(axis=0, initial=0.0))[1]
        away = away / np.exp2(np.clip(exponent - 1.0, -1000, 1000))
        found = (away**3).sum(axis=0) / counts / ((away**2).sum(axis=0) / counts) ** 1.5
    return np.asarray(np.nan_to_num(found, posinf=0.0, neginf=0.0))


def have_long_tails(x: npt.NDArray[Any], low: Float64 | None = None) -> npt.NDArray[np.bool_]:
    """Return which columns (d,) have a long tail and no negative values; `low` (d,): the least
    values, where there are more rows than these."""
    return (skewness(x) > LONG_TAIL) & (_least(x, low) >= 0)


def are_levelled(x: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Return which columns (d,) have a long tail, of more than a few values, that logarithms
    level."""
    found = have_long_tails(x)
    tails = x[:, found]
    if tails.size:
        middle = np.minimum(tails, np.nanquantile(tails, 1 - SHARE, axis=0))
        found[found] = skewness(middle) > MIDDLE
        tails = x[:, found]
    found[found] = np.abs(skewness(logarithms(tails, *offsets_of(tails)))) <= LEVEL
    return found


def offsets_of(x: npt.NDArray[Any], low: Float64 | None = None) -> tuple[Offsets, Float64]:
    """Return what is added to columns without negative values before logarithms are taken, 0 where
    all are positive, else the smallest positive value that is seen; and what stands in place of
    what has no logarithm (d,)."""
    with np.errstate(invalid="ignore"):
        positive = np.where(x > 0, x, np.inf).min(axis=0, initial=np.inf)
    low = _least(x, low)
    return tuple(np.where(low > 0, 0.0, positive).tolist()), np.where(low > 0, low, positive)


def logarithms(x: npt.NDArray[Any], offsets: Offsets, least: Sequence[float] | Float64) -> Float64:
    """Return rows (b, d) in float64 with logarithms of the columns that have an offset."""
    found: Float64 = x.astype(np.float64)
    for at, offset in enumerate(offsets):
        if offset is not None:
            found[:, at] = np.log(np.maximum(found[:, at] + offset, least[at]))
    return found


def logarithms_in_library(x: Array, offsets: Offsets, least: Sequence[float]) -> Array:
    """Return the same of rows (b, d) of any array library, in its precision."""
    xp, columns = namespace(x), [x[:, at] for at in range(len(offsets))]
    for at, offset in enumerate(offsets):
        if offset is not None:
            floor = xp.full_like(columns[at], least[at])
            columns[at] = xp.log(xp.maximum(columns[at] + offset, floor))
    return xp.stack(columns, axis=1)


def _least(x: npt.NDArray[Any], low: Float64 | None) -> Float64:
    """Return the least values (d,), infinity of columns without any."""
    found: Float64 = np.fmin.reduce(x, axis=0, initial=np.inf) if low is None else low
    return found
