"""Bounds of the clusters' sizes, as they are for some rows."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...data.arrays import Float64, IntArray
from ...data.column_facts import ColumnFacts

SLACK = 1e-9  # share by which a bound may be off for rounding


@dataclass(frozen=True)
class SizeBounds:
    """Bounds for some rows, in their unit of weight."""

    low: Float64  # (c,)
    high: Float64  # (c,)
    total: float  # weight of all rows
    quantum: float | None  # the weight of every row that has any, of which the bounds are multiples; None where weights differ
    largest: float  # weight of a row

    def dual_part(self, prices: Float64) -> float:
        """sum_j low_j max(g_j, 0) - high_j max(-g_j, 0): the bounds' part of the dual."""
        return float(self.low @ np.maximum(prices, 0.0) - self.high @ np.maximum(-prices, 0.0))

    def excess(self, mass: Float64, clusters: slice | IntArray = slice(None)) -> Float64:
        """By how much each mass, of all clusters or of some, lies below its lower bound or above its upper one."""
        beyond: Float64 = np.maximum(np.maximum(self.low[clusters] - mass, mass - self.high[clusters]), 0.0)
        return beyond

    def are_kept(self, mass: Float64, slack: float = SLACK) -> bool:
        """True where no mass misses its bounds by more than so small a share of all."""
        return bool((self.excess(mass) <= slack * self.total).all())

    def missed(self, prices: Float64, mass: Float64) -> Float64:
        """(c,) by how much each mass misses what its price asks for: the lower bound of prices above zero, the upper one below."""
        within = self.excess(mass)
        return np.where(prices > 0, np.abs(mass - self.low), np.where(prices < 0, np.abs(mass - self.high), within))


@dataclass(frozen=True)
class SizeLimits:
    """Bounds of sizes as they were given, each as a share of the weight of all rows."""

    given: str  # the estimator and its arguments, for messages
    low: Float64  # (c,)
    high: Float64  # (c,)
    low_is_share: npt.NDArray[np.bool_]  # (c,) rounded down to whole rows where all weigh the same: a third of ten rows is no whole number
    high_is_share: npt.NDArray[np.bool_]  # (c,) rounded up

    def over(self, weight: ColumnFacts, *, soft: bool, sampled: bool = False) -> SizeBounds:
        """Bounds for rows of these weights; of a sample, wide enough for whole rows."""
        largest, smallest, total = weight.largest, weight.least_positive, weight.total
        low, high = self.low * total, self.high * total
        if soft or smallest < largest:
            return SizeBounds(low, high, total, None, largest)
        rows, most = low / largest, high / largest
        down, up = self.low_is_share | sampled, self.high_is_share | sampled
        low = np.where(down, np.floor(rows * (1 + SLACK)), np.ceil(rows * (1 - SLACK)))
        high = np.where(up, np.ceil(most * (1 - SLACK)), np.floor(most * (1 + SLACK)))
        return SizeBounds(low * largest, high * largest, total, largest, largest)

    def complaint(self, bounds: SizeBounds, unit: float, what: str) -> str | None:
        """Say what makes bounds impossible, in the user's unit of weight, which is of `what`; None where they can be met."""

        def said(value: float) -> str:
            return f"{value * unit:.6g} {what}"

        if (worst := np.flatnonzero(bounds.low > bounds.high * (1 + SLACK))).size:
            j = int(worst[0])
            return f"cluster {j} would hold at least {said(bounds.low[j])} and at most {said(bounds.high[j])}"
        least, most, total = math.fsum(bounds.low), math.fsum(bounds.high), bounds.total
        if least > total * (1 + SLACK):
            return f"the clusters would hold at least {said(least)} together, and there are {said(total)}"
        if most < total * (1 - SLACK):
            return f"the clusters could hold at most {said(most)} together, and there are {said(total)}"
        return None
