"""FCM and PCM with all kernel values of MNIST's 70,000 rows, twenty runs together."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from cmeans.kernels import Polynomial
from cmeans.metrics import purity
from cmeans.rules import Fuzzy, Possibilistic, Rule

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
    rows, rule = starts(len(x)), Fuzzy(M)
    u = np.stack([tiles.first_memberships(blocks, rule, first) for first in rows])
    solve = partial(tiles.solve, blocks, tol=EPSILON, max_sweeps=MOST_SWEEPS)

    first = solve(rule, u, standing=run.exact_folder / "havens2011-FCM.standing.npz")
    spent = blocks.seconds + first.sweeps * tiles.seconds_of_one(blocks, rule, u)
    cell = {**_cell(blocks, rule, first, classes, spent), "rows": [chosen.tolist() for chosen in rows]}
    run.once(EXACT_FCM, lambda: cell)

    typical = Possibilistic(M)
    second = solve(typical, first.u, standing=run.exact_folder / "havens2011-PCM.standing.npz", scales=first.scales)
    spent = spent + second.sweeps * tiles.seconds_of_one(blocks, typical, first.u, first.scales)
    both = second._replace(sweeps=first.sweeps + second.sweeps)  # PCM begins with FCM
    run.once(EXACT_PCM, lambda: _cell(blocks, typical, both, classes, spent))


def _cell(blocks: tiles.Tiles, rule: Rule, found: tiles.Solved, classes: np.ndarray, seconds: np.ndarray) -> dict[str, Any]:
    return {
        "objective": found.objective.tolist(),
        "purity": [float(purity(classes, labels)) for labels in found.labels],
        "sweeps": found.sweeps.tolist(),
        "seconds": seconds.tolist(),
        "kernel_seconds": blocks.seconds,
        "peak": [float(u.max(axis=1).mean()) for u in found.u],
        "separation": tiles.separation(blocks, rule, found.u).tolist(),
    }
