"""Draws keyed by row number: the same for a row wherever it lies, whoever draws, and however rows are divided."""

from __future__ import annotations

import numpy as np

from ..data.arrays import Float64

MOST_SEED = 2**31


def new_key(rng: np.random.RandomState) -> int:
    """Draw the key of a set of draws."""
    return int(rng.randint(MOST_SEED))


def uniforms(key: int, start: int, stop: int) -> Float64:
    """Return the numbers in [0, 1) of rows start ... stop - 1: a generator is moved to each row's place in one stream."""
    return np.random.Generator(np.random.PCG64(key).advance(start)).random(stop - start)


def exponentials(key: int, start: int, stop: int) -> Float64:
    """Return exponential numbers of rows start ... stop - 1, of mean 1."""
    return -np.log1p(-uniforms(key, start, stop))
