"""Draws keyed by row number: the same for a row wherever it lies, whoever draws, and however rows are divided."""

from __future__ import annotations

import numpy as np

from ..data.arrays import Float64, IntArray

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


def balanced_labels(key: int, span: int, count: int, start: int, stop: int) -> IntArray:
    """Return random labels 0 ... count - 1 of rows start ... stop - 1, each as often as any other in every `span` consecutive rows."""
    parts = []
    for number in range(start // span, -(-stop // span)):
        labels = np.random.Generator(np.random.PCG64([key, number])).permutation(span) % count
        first = number * span
        parts.append(labels[max(start - first, 0) : stop - first])
    return np.concatenate(parts)
