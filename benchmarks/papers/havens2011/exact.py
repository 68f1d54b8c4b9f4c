"""FCM and PCM with all kernel values of MNIST's 70,000 rows, twenty runs together."""

from __future__ import annotations

from typing import Any

import numpy as np

from cmeans.kernels import Polynomial
from cmeans.metrics import purity
from cmeans.rules import Fuzzy, Possibilistic

from .. import tiles
from ..paper import Run
from .settings import EPSILON, EXACT_FCM, EXACT_PCM, MNIST_KERNEL, M, mnist, starts

MOST_SWEEPS = 300
KERNEL = Polynomial(**{name: value for name, value in MNIST_KERNEL.items() if name != "kernel"})


def measure(run: Run) -> None:
    """One pass of FCM for all runs, whose memberships and scales PCM goes on from (Algorithm 3)."""
    run.stage("exact FCM and PCM on 70,000 rows of MNIST", lambda: _measure(run))


def _measure(run: Run) -> None:
    if EXACT_PCM in run.results.read():
        return
    x, classes = mnist()[:2]
    blocks = tiles.Tiles(x, KERNEL)
    print(f"      all kernel values: {blocks.seconds:.0f} s", flush=True)
    rows, rule, typical = starts(len(x)), Fuzzy(M), Possibilistic(M)
    u = np.stack([tiles.first_memberships(blocks, rule, first) for first in rows])

    first = tiles.solve(blocks, rule, u, tol=EPSILON, max_sweeps=MOST_SWEEPS, standing=run.exact_folder / "havens2011-FCM.standing.npz")
    spent = blocks.seconds + first.sweeps * tiles.seconds_of_one(blocks, rule, u)
    run.once(EXACT_FCM, lambda: {**_cell(first, classes, spent), "rows": [chosen.tolist() for chosen in rows], "kernel": blocks.seconds})

    standing = run.exact_folder / "havens2011-PCM.standing.npz"
    second = tiles.solve(blocks, typical, first.u, scales=first.scales, tol=EPSILON, max_sweeps=MOST_SWEEPS, standing=standing)
    spent = spent + second.sweeps * tiles.seconds_of_one(blocks, typical, first.u, first.scales)
    run.once(EXACT_PCM, lambda: {**_cell(second, classes, spent), "kernel": blocks.seconds})


def _cell(found: tiles.Solved, classes: np.ndarray, seconds: np.ndarray) -> dict[str, Any]:
    return {
        "objective": found.objective.tolist(),
        "purity": [float(purity(classes, labels)) for labels in found.labels],
        "sweeps": found.sweeps.tolist(),
        "seconds": seconds.tolist(),
        "largest": [float(u.max(axis=1).mean()) for u in found.u],
    }
