"""Few points whose hard partition is made better by points that change clusters one by one, and by
clusters that begin anew elsewhere.

A point changes clusters where that lowers the sum of squared distances to means that move with it
(Hartigan 1975), which leads on from where sweeps stand still; from there one cluster after the
other begins anew at some point, and what is better is kept.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .. import native
from ..data.arrays import Float64, IntArray
from ..native.calls import ADDRESS, REAL, WHOLE, Structure, address, byref, members, pointer_to

TOGETHER = 8  # clusters that are measured together


@dataclass(frozen=True)
class Exchanged:
    """A partition, and its sum of weighted squared distances."""

    labels: IntArray  # (p,)
    objective: float
    before: float  # the sum where sweeps end


class _ExchangeArgument(Structure):
    """struct exchange"""

    _fields_ = [
        *members("x weight label trial count near mass sums centres d2 joining", ADDRESS),
        *members("points columns clusters pitch", WHOLE),
        *members("before", REAL),
    ]


def exchanged(
    points: Float64, weight: Float64, labels: IntArray, n_clusters: int, draws: Float64
) -> Exchanged | None:
    """Return a partition of points (p, d) of positive weights that is no worse than that by
    `labels`; None where that has a cluster without points. By native code alone, as a thousand
    tries take milliseconds there and seconds without.

    `draws` (t, 2): uniform numbers, two for each cluster that begins anew.
    """
    (p, d), c, pitch = points.shape, n_clusters, -(-n_clusters // TOGETHER) * TOGETHER
    x, draws, weight = (
        np.ascontiguousarray(values, np.float64) for values in (points, draws, weight)
    )
    best, trial, count = labels.astype(np.int64), np.empty(p, np.int64), np.empty(c, np.int64)
    near, mass, d2, joining = np.empty(p), np.ones(pitch), np.empty(pitch), np.empty(pitch)
    arrays = (
        x,
        weight,
        best,
        trial,
        count,
        near,
        mass,
        np.empty((d, pitch)),
        np.zeros((d, pitch)),
        d2,
        joining,
    )
    exchange = native.function(
        "exchange", np.float64, (pointer_to(_ExchangeArgument), ADDRESS, WHOLE), REAL
    )
    argument = _ExchangeArgument(*map(address, arrays), p, d, c, pitch)
    objective = exchange(byref(argument), address(draws), len(draws))
    return None if objective < 0 else Exchanged(best, objective, argument.before)
