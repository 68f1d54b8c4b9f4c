"""A stand-in for the small ImageNet of Table 1: images as counts of visual words on a grid, drawn
from 12 classes."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial

import numpy as np

from cmeans.papers import SpatialPyramid

from ..paper import Run
from . import fits
from .problem import Array

CLASSES, WORDS, LEVELS = 12, 8, 4
KEYPOINTS = 3055  # the paper's mean number an image
ROWS, SIZES, RUNS = 20_000, (50, 100, 500, 1000), 3
QUICK_ROWS, QUICK_SIZES, QUICK_RUNS = 400, (50, 100), 1
PIECE = 400  # a tile of kernel values is of so many rows: what it is made from stays in the cache
KERNEL = SpatialPyramid(levels=LEVELS, n_words=WORDS)


def key_of(what: int | str) -> str:
    return f"pyramids | {what}"


def measure(run: Run) -> None:
    n, sizes, count = (QUICK_ROWS, QUICK_SIZES, QUICK_RUNS) if run.quick else (ROWS, SIZES, RUNS)
    run.once(
        key_of("rows"),
        lambda: {
            "rows": n,
            "classes": CLASSES,
            "words": WORDS,
            "levels": LEVELS,
            "keypoints": KEYPOINTS,
        },
    )
    contest = fits.Contest(cache(partial(images, n)), KERNEL, CLASSES, made=all_pairs)
    run.trials(
        key_of("full"),
        count,
        lambda number: {**contest.full_trial(number), "start": contest.start_error(number)},
    )
    for m in sizes:
        run.trials(
            key_of(m),
            count,
            lambda number, m=m: contest.trial(m, number, contest.full(number).labels),
        )


def images(n: int) -> tuple[Array, Array]:
    """Counts (n, 64 cells of 8 words) and classes. A class says how likely each word is in each
    quarter of a quarter of the image, an image strays from that as a whole and cell by cell."""
    rng = np.random.default_rng(2011)
    cells = 1 << (LEVELS - 1)
    regions = rng.normal(0.0, 0.39, (CLASSES, 4, 4, WORDS))
    tastes = np.repeat(np.repeat(regions, cells // 4, axis=1), cells // 4, axis=2).reshape(
        CLASSES, -1
    )
    classes = rng.integers(0, CLASSES, n)
    logits = (
        tastes[classes]
        + np.tile(rng.normal(0.0, 0.36, (n, WORDS)), cells * cells)
        + rng.normal(0.0, 0.6, (n, tastes.shape[1]))
    )
    shares = np.exp(logits, out=logits)
    shares *= KEYPOINTS / shares.sum(axis=1, keepdims=True)
    return rng.poisson(shares).astype(np.float32), classes


def all_pairs(x: Array) -> Array:
    """All kernel values, each pair once."""
    n = len(x)
    gram = np.empty((n, n), dtype=np.float32)

    def fill(first: int, other: int) -> None:
        rows, columns = slice(first, first + PIECE), slice(other, other + PIECE)
        gram[rows, columns] = KERNEL(x[rows], x[columns])
        gram[columns, rows] = gram[rows, columns].T

    with ThreadPoolExecutor(os.cpu_count()) as threads:
        list(
            threads.map(
                lambda pair: fill(*pair),
                [(i, j) for i in range(0, n, PIECE) for j in range(i, n, PIECE)],
            )
        )
    return gram
