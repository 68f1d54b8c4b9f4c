"""The initial scale of a cluster that starts at a single row, from distances between neighbouring
rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..data.arrays import Float64, IntArray
from ..data.blocks import Blocks, spans
from ..kernels import Kernel
from ..sampling.pairwise import affinity
from ..spaces import Space

COLUMNS = 512  # of all pairs' distances that are computed at a time
EQUAL = 1e-7  # of the largest distance: distances that differ by less are equal


@dataclass(frozen=True)
class Spacing:
    """Distances among a sample of rows, in a kernel's own geometry (SeqSAPCM of Xenaki et al. 2014,
    initialization of eta)."""

    kernel: Kernel
    blocks: Blocks
    rows: IntArray  # (p,) the sample
    space: Space | None = None  # set where a precomputed kernel has only its landmarks' columns

    @cached_property
    def largest_gap(self) -> float:
        """d_max: the largest distance of a row to the nearest row that differs from it; 0 where all
        are equal."""
        among = affinity(self.kernel, self.blocks, self.rows, self.space)
        largest = 0.0
        for start, stop in spans(len(self.rows), COLUMNS):
            d2 = among.squared_distances(np.arange(start, stop))
            gaps = np.where(d2 > 0, d2, np.inf).min(axis=0)
            largest = max(largest, float(np.where(np.isfinite(gaps), gaps, 0.0).max()))
        return float(np.sqrt(largest))

    def slope(self, row: int, n_neighbors: int) -> float:
        """d_slope: among the sorted different distances to the nearest rows, the one behind the
        largest step."""
        among = affinity(self.kernel, self.blocks, np.append(self.rows, row), self.space)
        distances = np.sort(np.sqrt(among.squared_distances(np.array([len(self.rows)]))[:, 0]))
        # equal distances may differ by rounding
        other = np.diff(distances, prepend=0.0) > EQUAL * distances[-1]
        nearest: Float64 = distances[other][:n_neighbors]
        if len(nearest) < 2:
            return float(nearest[0]) if len(nearest) else 0.0
        return float(nearest[1 + int(np.argmax(np.diff(nearest)))])

    def scale(self, row: int, n_neighbors: int) -> float:
        """max(d_max, d_slope)^2, in squared units; 1 where all rows are equal."""
        size = max(self.largest_gap, self.slope(row, n_neighbors))
        return size**2 if size > 0 else 1.0
