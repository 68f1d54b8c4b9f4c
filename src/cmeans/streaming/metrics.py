"""Squared distances of rows in the own metric of each cluster of a stream, in native code, and the
same in Python where there is none."""

from __future__ import annotations

import numpy as np

from .. import native
from ..data.arrays import Float64
from ..native.calls import ADDRESS, WHOLE, Structure, address, byref, pointer_to

TILE = 64  # as in the C file


class MetricsArgument(Structure):
    """struct metrics"""

    _fields_ = [
        ("mean", ADDRESS),
        ("factor", ADDRESS),
        ("clusters", WHOLE),
        ("columns", WHOLE),
        ("full", WHOLE),
    ]


_ARGUMENTS = (pointer_to(MetricsArgument), ADDRESS, WHOLE, ADDRESS, ADDRESS)


def metric_distances(
    x: Float64,  # (b, d)
    means: Float64,  # (c, d)
    factors: Float64,  # (c, d, d) lower triangles, or (c, d): |factor (x - mean)|^2
) -> Float64:
    """Return squared distances (b, c); those of a row do not depend on the others."""
    (b, d), c = x.shape, len(means)
    full = factors.ndim == 3
    if not native.is_available():
        return _distances(x, means, factors)
    rows, means, factors = (np.ascontiguousarray(part) for part in (x, means, factors))
    d2, room = np.empty((b, c)), np.empty((2 * d, TILE))
    argument = MetricsArgument(address(means), address(factors), c, d, full)
    call = native.function("metric_distances", np.float64, _ARGUMENTS)
    call(byref(argument), address(rows), b, address(room), address(d2))
    return d2


def _distances(x: Float64, means: Float64, factors: Float64) -> Float64:
    """The C function `metric_distances`."""
    d2 = np.zeros((len(means), len(x)))
    for j, (mean, factor) in enumerate(zip(means, factors, strict=True)):
        e = (x - mean).T
        for k in range(len(mean)):
            if factor.ndim == 1:
                y = factor[k] * e[k]
            else:
                y = np.zeros(len(x))
                for m in range(k + 1):
                    y += factor[k, m] * e[m]
            d2[j] += y * y
    return d2.T
