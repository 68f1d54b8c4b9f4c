"""Factors that bring all features to one range inside a fit, by a pass over the rows. No few rows
decide a range alone."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..data.arrays import Array, Float64, host_float64, is_foreign, is_sparse, take, to_numpy
from ..data.blocks import Blocks, GivenRows, mapped, spans
from ..data.precision import numpy_dtype
from ..data.scaling import FeatureUnits, extremes
from ..engines import Engine, Pass
from ..kernels import Linear
from ..runtime.user_warnings import NOT_FINITE, OutOfRangeError
from ..sampling.pairwise import Metric
from ..sampling.population import population_of
from .isolation import isolated_rows

RANGE = 10.0  # of each scaled feature, as in the papers
TAIL = 0.05  # share of the weight on either side of a feature's middle
WIDE = 3.0  # widths of the middle: a longer range may be that of a few rows
REACH = 2.0  # widths of the middle, beyond it on either side, that values count within
STRETCH = 0.25  # of the range of a sample: beyond it lie values of rows that it has not got
CELLS = 1_000_000  # numbers whose quantiles are sought together


@dataclass(frozen=True)
class Extremes:
    """The smallest and largest values (d,) of each feature."""

    low: Float64
    high: Float64

    @property
    def width(self) -> Float64:
        """The range of each feature."""
        return self.high - self.low

    def stretched(self, share: float | Float64) -> Extremes:
        """Return wider ones, by a share of the width on either side."""
        more = share * np.where(self.width > 0, self.width, 1.0)
        return Extremes(self.low - more, self.high + more)

    def within(self, other: Extremes) -> Extremes:
        """Return what lies within others."""
        return Extremes(np.maximum(self.low, other.low), np.minimum(self.high, other.high))

    def __add__(self, other: Extremes) -> Extremes:
        return Extremes(np.minimum(self.low, other.low), np.maximum(self.high, other.high))


class _ExtremesPass(Pass[Extremes]):
    """Extremes of the rows of positive weight."""

    def work(self, rows: GivenRows, task: int, prepared: None) -> Extremes:
        found = [Extremes(*extremes(block.x, block.weight)) for block in rows.task(task)]
        return Extremes(
            np.min([one.low for one in found], axis=0), np.max([one.high for one in found], axis=0)
        )


def factors_to_ten(blocks: Blocks, engine: Engine, estimator_name: str) -> Float64:
    """Return the factors (d,) that give every feature of the rows of positive weight the range 10;
    1 for constant features.

    Rows that lie apart from all others have no part in it: one of them would press all others
    together.
    """
    found = engine.fold(GivenRows(blocks, blocks.numbers_of_a_row), _ExtremesPass())
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        if not np.isfinite(found.width).all():
            raise OutOfRangeError(f"{estimator_name}: {NOT_FINITE}")
        return _factors(blocks, _usual(blocks, found).width)


def _factors(blocks: Blocks, width: Float64) -> Float64:
    factors = RANGE / width
    return np.where((width > 0) & (factors < np.finfo(numpy_dtype(blocks.x)).max), factors, 1.0)


def _usual(blocks: Blocks, found: Extremes) -> Extremes:
    """Return the extremes without what a few rows of a sample make of them."""
    population = population_of(blocks)
    positions, weight = population.fixed_sample
    rows = population.at(positions)
    x = blocks.take(rows).x
    x = to_numpy(x) if is_foreign(x) else x
    middle = _middle(x, weight)
    varied = middle.width > 0  # else nearly all values are one
    if not (varied & (found.width > WIDE * middle.width)).any():
        return found
    near = found.within(middle.stretched(np.where(varied, REACH, np.inf)))
    scaled = Metric(
        Linear(), replace(blocks, x=mapped(blocks.x, FeatureUnits(_factors(blocks, near.width))))
    )
    others = np.flatnonzero(~isolated_rows(scaled, rows, weight))
    usual = Extremes(*extremes(take(x, others), None))
    return near.within(usual if len(rows) == len(population) else usual.stretched(STRETCH))


def _middle(x: Array, weight: Float64) -> Extremes:
    """Return the ends of the features' middle values, beyond which a `TAIL` of the weight lies on
    either side."""
    columns = (x[:, start:stop] for start, stop in spans(x.shape[1], max(1, CELLS // x.shape[0])))
    parts = [_middle_of(some.toarray() if is_sparse(some) else some, weight) for some in columns]
    return Extremes(*(np.concatenate(ends) for ends in zip(*parts, strict=True)))


def _middle_of(x: Array, weight: Float64) -> tuple[Float64, Float64]:
    order = np.argsort(x, axis=0, kind="stable")
    values = np.take_along_axis(host_float64(x), order, axis=0)
    reached = np.cumsum(weight[order], axis=0)
    low, high = ((reached < share * reached[-1]).sum(axis=0)[None] for share in (TAIL, 1.0 - TAIL))
    return np.take_along_axis(values, low, axis=0)[0], np.take_along_axis(values, high, axis=0)[0]
