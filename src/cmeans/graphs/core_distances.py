"""Core distances: the least radius within which rows of a given weight lie."""

from __future__ import annotations

import numpy as np

from ..data.arrays import Float64, IntArray
from ..runtime.numerals import in_digits

ROUNDING = 1e-12  # of sums of weights, by which they may fall short


def refuse_light(weights: Float64, min_samples: float) -> None:
    """Refuse more weight than all rows have."""
    if not weights.sum() * (1 + ROUNDING) >= min_samples:
        alone = " (1 sample)" if len(weights) == 1 else ""
        raise ValueError(
            f"min_samples={min_samples}: all rows together weigh {in_digits(weights.sum())}"
            f"{alone}; give at most that."
        )


def core_distances(
    own: Float64,  # (m,) weights of rows
    lengths: Float64,  # (arcs,) to others, ascending for each row
    weights: Float64,  # (arcs,) of those others
    start: IntArray,  # (m,) first arc of each row
    stop: IntArray,  # (m,) one past its last
    min_samples: float,
) -> Float64:
    """Return the core distances (m,) of rows, which count themselves; infinite where they and those
    others weigh too little."""
    core = np.zeros(len(own))
    left = np.flatnonzero(own * (1 + ROUNDING) < min_samples)
    at, total = start[left], own[left]
    while len(left):
        ended = at == stop[left]
        core[left[ended]] = np.inf
        left, at, total = left[~ended], at[~ended], total[~ended]
        total = total + weights[at]
        enough = total * (1 + ROUNDING) >= min_samples
        core[left[enough]] = lengths[at[enough]]
        left, at, total = left[~enough], at[~enough] + 1, total[~enough]
    return core


def listed_cores(
    squares: Float64,  # (m, k) ascending
    own: Float64,  # (m,)
    weights: Float64,  # (m, k)
    min_samples: float,
) -> Float64:
    """Return the same of rows with lists of their nearest others."""
    start = np.arange(len(squares)) * squares.shape[1]
    arcs = squares.ravel(), weights.ravel(), start, start + squares.shape[1]
    return core_distances(own, *arcs, min_samples)
