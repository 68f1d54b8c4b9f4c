"""Kernel k-means on all 70,000 rows of MNIST, from the random memberships that the approximations start from too."""

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
        run.stage(f"exact, {kernel} kernel", partial(run.once, f"exact | {kernel}", partial(solved, run, kernel)))


def solved(run: Run, kernel: str) -> dict[str, Any]:
    x, _ = rows()
    blocks = tiles.Tiles(x, KERNELS[kernel])
    print(f"      all kernel values: {blocks.seconds:.0f} s", flush=True)
    u = np.stack([starts(number, len(x))[:, None] == np.arange(CLUSTERS) for number in range(RUNS)]).astype(np.float64)
    one = tiles.seconds_of_one(blocks, Hard(), u)
    path = run.exact_folder / f"chitta2011-{kernel}.npz"
    found = tiles.solve(blocks, Hard(), u, tol=0.0, max_sweeps=MOST_SWEEPS, standing=path.with_suffix(".standing.npz"))
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(path, labels=found.labels.astype(np.uint8))
    return {
        "objective": found.objective.tolist(),
        "start": found.start.tolist(),
        "sweeps": found.sweeps.tolist(),
        "seconds": (found.sweeps * one).tolist(),
        "kernel_seconds": blocks.seconds,
    }
