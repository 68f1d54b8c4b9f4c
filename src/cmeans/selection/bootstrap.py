"""Bootstrap weights that depend on a seed, a replicate and a row's number alone, wherever the row
lies and whoever draws them."""

from __future__ import annotations

import numpy as np
from scipy.stats import poisson

from ..data.arrays import Float64
from ..data.blocks import spans
from ..data.limits import DEFAULT

WORDS = 4  # random words of each of Philox's counters
ONE = poisson.cdf(np.arange(20), 1.0)  # of more, 2^-53 knows nothing


def bootstrap_weights(weight: Float64, seed: int, replicate: int, first: int = 0) -> Float64:
    """Return weights (n,) of one replicate: Poisson draws with the rows' weights as means; `first`:
    number of the first row.

    n rows drawn with replacement from n come as often as multinomial numbers say; Poisson numbers
    are nearly the same, and those of rows do not depend on each other. k copies of a row come in
    all as often as a row of weight k.
    """
    drawn = np.empty(len(weight))
    for start, stop in spans(len(weight), DEFAULT.rows_at_once):
        drawn[start:stop] = _drawn(weight[start:stop], seed, replicate, first + start)
    return drawn


def _drawn(weight: Float64, seed: int, replicate: int, first: int) -> Float64:
    """Return the draws of consecutive rows, of which `first` is the number of the first."""
    skipped = first % WORDS
    # The first words of a generator are those of its counter and one.
    generator = np.random.Philox(
        key=np.array([seed, replicate], dtype=np.uint64), counter=first // WORDS
    )
    uniform = (generator.random_raw(skipped + len(weight))[skipped:] >> np.uint64(11)) * 2.0**-53
    counts: Float64 = np.searchsorted(ONE, uniform, side="right").astype(np.float64)
    others = np.flatnonzero(weight != 1.0)
    if len(others):
        mean, at = weight[others], uniform[others]
        counts[others] = np.where(mean > 0, np.maximum(poisson.ppf(at, mean), 0.0), 0.0)
    return counts
