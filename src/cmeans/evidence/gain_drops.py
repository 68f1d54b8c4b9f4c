"""Drops of the gains of connected pieces: the numbers of clusters that stand out in a tree.

The cost of the best k pieces falls with k by gains g_1 >= g_2 >= ...; where clusters stand apart
g_(k-1), of the last one that does, is many times g_k, of a part of one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..data.arrays import Float64, IntArray

MOST = 60  # clusters up to which drops are looked for, or one of so many rows:
ROWS_OF_ONE = 20
CLEAR = 3.0  # times that gains drop: without clusters less happens, 19 times in 20
AS_CLEAR = 0.5  # of the largest drop, that one inside its clusters needs to count as clear as it


@dataclass(frozen=True)
class GainDrops:
    """Ratios of gains that follow one another: each one is so many times smaller than the last."""

    numbers: IntArray  # (q,) of clusters, rising from 2
    ratios: Float64  # (q,)

    def within(self, least: int, most: int) -> GainDrops:
        """Return the drops after numbers of clusters from the least to the most."""
        inside = (self.numbers >= least) & (self.numbers <= most)
        return GainDrops(self.numbers[inside], self.ratios[inside])

    def ratio_at(self, number: int) -> float:
        """Return the drop after so many clusters; 1 where there is none."""
        return float(self.ratios[self.numbers == number].max(initial=1.0))

    @property
    def ratio(self) -> float:
        return float(self.ratios.max(initial=1.0))

    @property
    def number(self) -> int:
        """The finest number of clusters before a drop as clear as any; 1 where there are none."""
        if not len(self.ratios):
            return 1
        least = max(min(CLEAR, self.ratio), AS_CLEAR * self.ratio)
        return int(self.numbers[self.ratios >= least].max())

    @property
    def stable(self) -> list[int]:
        """All numbers of clusters before clear drops, coarse to fine."""
        return [int(number) for number in self.numbers[self.ratios >= CLEAR]]


def gain_drops(costs: Float64) -> GainDrops:
    """Return the drops of the costs (q,) of 1, 2, ... pieces, which fall."""
    gains, most = -np.diff(costs), max(MOST, len(costs) // ROWS_OF_ONE)
    # those that are rounding errors beside the cost of one piece are no gains
    gains = gains[gains > 1e-12 * costs[0]] if len(gains) else gains
    count = max(min(len(gains) - 1, most), 0)
    numbers = np.arange(2, count + 2)
    return GainDrops(numbers, gains[:count] / gains[1 : count + 1])
