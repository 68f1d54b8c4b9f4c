"""A step of a stream: its rows are given to the clusters, which move and forget. In native code,
and the same in NumPy where there is none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import native
from ..data.arrays import Float64, IntArray
from ..native.calls import (
    ADDRESS,
    REAL,
    WHOLE,
    Structure,
    address,
    aligned_zeros,
    byref,
    pointer_to,
)
from . import steps_in_numpy
from .living_clusters import (
    FULL,
    HORIZONS,
    LATE,
    MEMORY,
    OF_DEVIATION,
    OF_HEARING,
    OF_ITS_OWN,
    OF_MEDIAN,
    OF_SHARES,
    LivingClusters,
    Shapes,
)
from .metrics import TILE, MetricsArgument

FAR = 4.5  # deviations beyond the median from which on a row is outlying
OF_STEP = (  # struct step
    *("log_weight", "median", "far", "nearest", "order"),
    *("ends", "facts", "came", "first", "second"),
)
CHANGED = (  # struct living
    *("means", "errors", "moments", "mass", "rows", "share", "median", "deviation"),
    *("heard", "time", "silence", "seen", "rung", "awake"),
)
OF_PACES = ("own", "late", "memory", "shares", "hearing", "median", "deviation")  # struct paces


class _StepArgument(Structure):
    """struct step"""

    _fields_ = [(name, ADDRESS) for name in OF_STEP]


class _LivingArgument(Structure):
    """struct living"""

    _fields_ = [(name, ADDRESS) for name in (*CHANGED, "left")]


class _PacesArgument(Structure):
    """struct paces"""

    _fields_ = [
        ("horizons", ADDRESS),
        ("count", WHOLE),
        *((name, REAL) for name in OF_PACES),
    ]


_PACES = _PacesArgument(
    address(HORIZONS),
    len(HORIZONS),
    *(OF_ITS_OWN, LATE, MEMORY, OF_SHARES, OF_HEARING, OF_MEDIAN, OF_DEVIATION),
)
_ARGUMENTS = (
    *map(pointer_to, (MetricsArgument, _StepArgument, _PacesArgument, _LivingArgument)),
    *(ADDRESS, WHOLE, WHOLE, ADDRESS, ADDRESS),
)


@dataclass(frozen=True)
class AbsorbedStep:
    """A step's rows, and the clusters that they make."""

    nearest: IntArray  # (b,) the likeliest cluster
    order: IntArray  # (b,) rows by their clusters, outlying ones last
    ends: IntArray  # (c + 2,) where those of each end, 0 first
    came: Float64  # (c,) rows of its own, in parts
    left: Float64  # (c, 2) shares of masses, and of late ones, that its cells keep
    clusters: dict[str, Any]  # `CHANGED`, by name


def step_of(x: Float64, shapes: Shapes, c: LivingClusters, now: int) -> AbsorbedStep:
    """Return the step of rows (b, d), the last of which is number `now` of the stream."""
    far = c.median + FAR * c.deviation
    if native.is_available():
        return _natively(x, shapes, c, far, now)
    sums = steps_in_numpy.sums_of_step(x, shapes, c.median, far)
    clusters, left = steps_in_numpy.moved(c, shapes, sums, len(x), now)
    return AbsorbedStep(sums.nearest, sums.order, sums.ends, sums.came, left, clusters)


def _natively(
    x: Float64, shapes: Shapes, c: LivingClusters, far: Float64, now: int
) -> AbsorbedStep:
    (b, d), k = x.shape, len(far)
    nearest, order, ends = (np.empty(count, np.int64) for count in (b, b, k + 2))
    sums = np.zeros(k * (6 + d + (d * d if d <= FULL else d)))  # of rows, differences and squares
    begin = address(sums) or 0
    came, facts, first, second = (begin + 8 * k * before for before in (0, 1, 6, 6 + d))
    clusters = {name: getattr(c, name).copy() for name in CHANGED}
    left, outlying = np.empty((k, 2)), np.empty(b, np.int8)
    room = aligned_zeros((2 * d + k + 1) * TILE, np.float64)
    rows, mean, factors = (np.ascontiguousarray(part) for part in (x, shapes.mean, shapes.factors))
    arrays = shapes.log_weight, c.median, far, nearest, order, ends
    step = _StepArgument(*map(address, arrays), facts, came, first, second)
    metrics = MetricsArgument(address(mean), address(factors), k, d, d <= FULL)
    living = _LivingArgument(*map(address, clusters.values()), address(left))
    call = native.function("absorb_step", np.float64, _ARGUMENTS)
    given = byref(metrics), byref(step), byref(_PACES), byref(living), address(rows)
    call(*given, b, now, address(room), address(outlying))
    return AbsorbedStep(nearest, order, ends, sums[:k], left, clusters)
