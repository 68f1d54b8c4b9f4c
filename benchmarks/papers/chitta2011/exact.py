"""Kernel k-means on all 70,000 rows of MNIST, from the random memberships that the approximations
start from too."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from cmeans.rules import Hard

from .. import tiles
from ..paper import Run
from .problem import CLUSTERS, KERNELS, MOST_SWEEPS, RUNS, rows, starts


def measure(run: Run) -> None:
    """Labels go to NPZ files beside the results, which need no kernel matrix to be read."""
    for kernel in KERNELS:
        run.stage(
            f"exact, {kernel} kernel",
            partial(run.once, f"exact | {kernel}", partial(solved, run, kernel)),
        )
        run.stage(
            f"exact, {kernel} kernel, times",
            partial(run.once, times_key(kernel), partial(times, kernel)),
        )


def times_key(kernel: str) -> str:
    return f"exact times | {kernel}"


def first_partitions(count: int, n: int) -> np.ndarray:
    return np.stack(
        [starts(number, n)[:, None] == np.arange(CLUSTERS) for number in range(count)]
    ).astype(np.float64)


def solved(run: Run, kernel: str) -> dict[str, Any]:
    x, _ = rows()
    blocks = tiles.Tiles(x, KERNELS[kernel])
    print(f"      all kernel values: {blocks.seconds:.0f} s", flush=True)
    path = run.exact_folder / f"chitta2011-{kernel}.npz"
    standing = path.with_suffix(".standing.npz")
    found = tiles.solve(
        blocks,
        Hard(),
        first_partitions(RUNS, len(x)),
        tol=0.0,
        max_sweeps=MOST_SWEEPS,
        standing=standing,
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(path, labels=found.labels.astype(np.uint8))
    return {
        "objective": found.objective.tolist(),
        "start": found.start.tolist(),
        "sweeps": found.sweeps.tolist(),
    }


def times(kernel: str) -> dict[str, Any]:
    """Seconds of all kernel values, and of one sweep of one run: runs together share tiles, and a
    run's own time can not be seen."""
    x, _ = rows()
    blocks = tiles.Tiles(x, KERNELS[kernel])
    return {
        "kernel_seconds": blocks.seconds,
        "sweep_seconds": tiles.seconds_of_one(blocks, Hard(), first_partitions(1, len(x))),
    }
