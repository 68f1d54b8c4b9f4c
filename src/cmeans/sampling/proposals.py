"""Distances of all rows to the nearest one taken, were each of some proposed rows taken too."""

from __future__ import annotations

import numpy as np

from .. import native
from ..data.arrays import Float64, IntArray
from ..native.calls import ADDRESS, INT, REAL, WHOLE, Structure, address, pointer_to
from ..runtime.user_warnings import NOT_FINITE, OutOfRangeError
from .pairwise import Affinity


class _ProposalsArgument(Structure):
    """struct proposals"""

    _fields_ = [
        ("products", ADDRESS),
        ("kxx", ADDRESS),
        ("nearest", ADDRESS),
        ("weight", ADDRESS),
        ("rows", ADDRESS),
        ("lowered", ADDRESS),
        ("potentials", ADDRESS),
        ("proposed", WHOLE),
        ("count", WHOLE),
        ("rounding", REAL),
    ]


PROPOSALS = pointer_to(_ProposalsArgument)


def lowered(
    affinity: Affinity,
    proposed: IntArray,  # (t,)
    nearest: Float64,  # (p,) squared distances to the nearest row taken so far
    weights: Float64,  # (p,)
) -> tuple[Float64, Float64]:
    """Return the squared distances (t, p) to the nearest row once each of the proposed ones is taken, and their weighted sums (t,)."""
    if not native.is_available():
        after = np.minimum(nearest, affinity.squared_distances(proposed).T)
        return after, after @ weights
    products = np.ascontiguousarray(affinity.between(proposed))
    dtype = products.dtype  # in which all is computed
    arrays = (np.ascontiguousarray(values, dtype) for values in (affinity.diag(), nearest, weights))
    numbers = np.ascontiguousarray(proposed, dtype=np.int64)
    after, potentials = np.empty(products.shape, dtype), np.empty(len(proposed), dtype)
    kept = products, *arrays, numbers, after, potentials  # while their addresses are in use
    argument = _ProposalsArgument(*map(address, kept), *products.shape, affinity.rounding)
    if native.function("propose", dtype, (PROPOSALS,), INT)(argument):
        raise OutOfRangeError(NOT_FINITE)
    return after, potentials
