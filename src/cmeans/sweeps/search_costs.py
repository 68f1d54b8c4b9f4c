"""Times of a search for the nearest of very many centres, through all of them or through groups of
them, as a few rows tell."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..data.arrays import Float64
from ..spaces.centres import Centres
from .centre_groups import CentreGroups
from .represented_rows import RepresentedRows

# centres from which on groups of them can save time, and where bounds along directions save most
LEAST_GROUPED, LEAST_BOUNDED = 2048, 16_384
# rows for each centre from which on groups take little time against what they save: of full
# products, and of bounds along directions
ROWS_OF_PRODUCTS, ROWS_OF_BOUNDS = 2, 8
SAMPLE = 32  # rows that say what bounds leave open
JUDGING = 150  # times as long as they take at least, a search is where they are asked
GAIN = 0.9  # share of the time of a search through all centres that one by groups may take at most
# Time of a pair of a row and a centre, in multiplications of the fast products of two_levels.c
OF_A_BOUND, OF_A_GROUPED_BOUND = 12, 20  # beside those of each direction
OF_A_PRODUCT, OF_A_COLUMN = 105, 0.75  # of search.h, and for each column
OF_VERY_MANY, VERY_MANY = 2.2, 16_384  # times as long where there are more centres than that
DEAR = 6  # of a product by itself, in products


@dataclass(frozen=True)
class SearchSample:
    """Rows that say what bounds along directions leave open."""

    x: Float64  # (b, r)
    d2: Float64  # (b,) to their nearest centres
    open_share: float  # of the centres

    @classmethod
    def of(cls, rows: RepresentedRows, centres: Centres, directions: Centres) -> SearchSample:
        """Ask some rows, evenly spaced."""
        numbers = np.unique(np.linspace(0, rows.n_rows - 1, SAMPLE).astype(np.int64))
        known = numbers if rows.training else None
        x = rows.space.embed(rows.blocks.take(numbers), known).coordinates
        x = x[np.isfinite(x).all(axis=1)]
        if not len(x):
            return cls(x, np.zeros(0), 1.0)
        kxx, norms = np.einsum("ij,ij->i", x, x), centres.squared_norms()
        d2 = np.maximum(kxx[:, None] + norms - 2.0 * x @ centres.duals.T, 0.0).min(axis=1)
        z, p = x @ directions.duals.T, centres.coordinates @ directions.duals.T
        rests = np.sqrt(np.maximum(kxx - (z**2).sum(axis=1), 0.0))[:, None] * np.sqrt(
            np.maximum(norms - (p**2).sum(axis=1), 0.0)
        )
        low = kxx[:, None] + norms - 2.0 * (z @ p.T + rests)
        return cls(x, d2, float((low <= d2[:, None]).mean()))


@dataclass(frozen=True)
class SearchCosts:
    """The size of a search, from which its times follow beside a sample."""

    n: int
    c: int
    columns: int
    directions: int  # along which there are bounds

    @property
    def are_worth_asking(self) -> bool:
        """False where groups cannot save the time that it takes to know their times."""
        is_short = self.n * (OF_A_BOUND + self.directions) < JUDGING * SAMPLE * self.columns
        many = self.c >= LEAST_GROUPED and self.n >= ROWS_OF_PRODUCTS * self.c
        return many and self.directions > 0 and not is_short

    def through_all(self, sample: SearchSample) -> tuple[float, float]:
        """Return the times of a search through all centres, by products and by bounds."""
        full = self._product * (OF_VERY_MANY if self.c > VERY_MANY else 1.0)
        return full, OF_A_BOUND + self.directions + self._left_open(sample)

    def are_worth_groups(self, sample: SearchSample) -> bool:
        """False where groups cannot save the time that it takes to make them."""
        full, bounded = self.through_all(sample)
        many = self.c >= LEAST_BOUNDED and self.n >= ROWS_OF_BOUNDS * self.c
        return len(sample.x) > 0 and (bounded >= full or many)

    def through_groups(self, sample: SearchSample, groups: CentreGroups) -> tuple[float, float]:
        """Return the times of a search through groups, by products and by bounds."""
        reached = groups.reached(sample.x, sample.d2)
        by_bounds = reached * (OF_A_GROUPED_BOUND + self.directions) + self._left_open(sample)
        middles = self.columns * len(groups) / self.c
        return middles + reached * self.columns, middles + by_bounds

    def fall_to(self, times: tuple[float, float], sample: SearchSample) -> bool:
        """False where groups save too little."""
        return min(times) <= GAIN * min(self.through_all(sample))

    @property
    def _product(self) -> float:
        return OF_A_PRODUCT + OF_A_COLUMN * self.columns

    def _left_open(self, sample: SearchSample) -> float:
        return sample.open_share * DEAR * self._product
