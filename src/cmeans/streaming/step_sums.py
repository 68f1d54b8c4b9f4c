"""Sums of a step's rows by cluster: the E-step of a mixture whose clusters have metrics of their
own, in native code, and the same in NumPy where there is none."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .. import native
from ..data.arrays import Float64, IntArray
from ..native.calls import (
    ADDRESS,
    WHOLE,
    Structure,
    address,
    aligned_zeros,
    byref,
    pointer_to,
)
from .living_clusters import FULL, LivingClusters, Shapes, scatter
from .metrics import TILE, MetricsArgument

FAR = 4.5  # deviations beyond the median from which on a row is outlying


class _StepArgument(Structure):
    """struct step"""

    _fields_ = [
        (name, ADDRESS)
        for name in (
            "log_weight",
            "median",
            "far",
            "nearest",
            "order",
            "ends",
            "facts",
            "came",
            "first",
            "second",
        )
    ]


_ARGUMENTS = (
    pointer_to(MetricsArgument),
    pointer_to(_StepArgument),
    ADDRESS,
    WHOLE,
    ADDRESS,
    ADDRESS,
)


@dataclass(frozen=True)
class StepSums:
    """Sums over a step's rows; u are posterior probabilities, 0 of outlying rows, and e differences
    from the means that clusters had before."""

    nearest: IntArray  # (b,) the likeliest cluster
    order: IntArray  # (b,) rows by their clusters, outlying ones last
    ends: IntArray  # (c + 2,) where those of each end, 0 first
    facts: Float64  # (c, 5) numbers of rows that are nearest to it, of those above its median, of
    # those that are not outlying; of these the sum of roots less the median, and of their squares
    came: Float64  # (c,) of u
    first: Float64  # (c, d) of u e
    second: Float64  # (c, d, d) of u e e', or (c, d) of u e^2


def sums_of_step(x: Float64, shapes: Shapes, c: LivingClusters) -> StepSums:
    """Return the sums over rows (b, d)."""
    far = c.median + FAR * c.deviation
    sums = _natively if native.is_available() else _in_numpy
    return sums(x, shapes, c.median, far)


def _natively(x: Float64, shapes: Shapes, median: Float64, far: Float64) -> StepSums:
    (b, d), c = x.shape, len(far)
    found = StepSums(
        np.empty(b, np.int64),
        np.empty(b, np.int64),
        np.empty(c + 2, np.int64),
        np.zeros((c, 5)),
        np.zeros(c),
        np.zeros((c, d)),
        np.zeros((c, d, d) if d <= FULL else (c, d)),
    )
    rows, mean, factors = (np.ascontiguousarray(part) for part in (x, shapes.mean, shapes.factors))
    room, outlying = aligned_zeros((2 * d + c + 1) * TILE, np.float64), np.empty(b, np.int8)
    metrics = MetricsArgument(address(mean), address(factors), c, d, d <= FULL)
    arrays = shapes.log_weight, median, far, *vars(found).values()
    step = _StepArgument(*map(address, arrays))
    call = native.function("sum_step", np.float64, _ARGUMENTS)
    call(byref(metrics), byref(step), address(rows), b, address(room), address(outlying))
    return found


def _in_numpy(x: Float64, shapes: Shapes, median: Float64, far: Float64) -> StepSums:
    """The C function `sum_step`."""
    b, c = len(x), len(far)
    d2 = shapes.distances(x)
    log_shares = shapes.log_shares(d2)
    nearest = log_shares.argmax(axis=1)
    root = np.cbrt(d2[np.arange(b), nearest])
    inside = root <= far[nearest]
    u = np.exp(log_shares - log_shares.max(axis=1, keepdims=True))
    u = np.where(inside[:, None], u / u.sum(axis=1, keepdims=True), 0.0)
    owner = np.where(inside, nearest, c)
    over = root - median[nearest]
    facts = [
        np.bincount(nearest, weights, c)
        for weights in (np.ones(b), over > 0, inside, inside * over, inside * over * over)
    ]
    e = [x - mean for mean in shapes.mean]
    return StepSums(
        nearest,
        np.argsort(owner, kind="stable"),
        np.cumsum(np.bincount(owner + 1, minlength=c + 2)),
        np.stack(facts, axis=1),
        u.sum(axis=0),
        np.array([u[:, j] @ e[j] for j in range(c)]),
        np.array([scatter(e[j], u[:, j]) for j in range(c)]),
    )
