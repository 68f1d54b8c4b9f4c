"""FCM and PCM with all kernel values of MNIST's rows: tiles of the kernel matrix serve all runs
together."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from cmeans.metrics import purity
from cmeans.papers import PrintedPossibilistic
from cmeans.rules import Possibilistic, Rule

from .. import tiles
from ..paper import Run
from .fits import FCM, MAX_ITER, PCM, PRINTED, fuzzy_rule
from .settings import EPSILON, M, Problem, kernel_of, starts


def measure(
    run: Run,
    problem: Problem,
    m: float,
    counts: dict[str, int],
    keys: dict[tuple[str, str], str],
    standing: Path,
) -> None:
    """`counts` runs of each variant of the exponent, kept under `keys`; FCM first, whose
    memberships and scales PCM goes on from."""
    cells = run.results.read()
    missing = [variant for variant in counts if keys[PCM, variant] not in cells]
    if not missing:
        return
    blocks = tiles.Tiles(problem.x, kernel_of(problem.kernel))
    print(f"      all kernel values: {blocks.seconds:.0f} s", flush=True)
    for variant in missing:
        rows = starts(len(problem.x), counts[variant], problem.clusters)
        rule, typical = (
            fuzzy_rule(variant, m),
            PrintedPossibilistic(M) if variant == PRINTED else Possibilistic(M),
        )
        u = np.stack([tiles.first_memberships(blocks, rule, first) for first in rows])
        solve = partial(tiles.solve, blocks, tol=EPSILON, max_sweeps=MAX_ITER)

        first = solve(
            rule, u, standing=standing / f"havens2011-{len(problem.x)}-FCM-{variant}.standing.npz"
        )
        spent = first.sweeps * tiles.seconds_of_one(blocks, rule, u)
        cell = {
            **_cell(blocks, rule, first, problem.classes, spent),
            "rows": [chosen.tolist() for chosen in rows],
        }
        run.once(keys[FCM, variant], lambda cell=cell: cell)

        second = solve(
            typical,
            first.u,
            standing=standing / f"havens2011-{len(problem.x)}-PCM-{variant}.standing.npz",
            scales=first.scales,
        )
        spent = spent + second.sweeps * tiles.seconds_of_one(blocks, typical, first.u, first.scales)
        both = second._replace(sweeps=first.sweeps + second.sweeps)  # PCM begins with FCM
        cell = _cell(blocks, typical, both, problem.classes, spent)
        run.once(keys[PCM, variant], lambda cell=cell: cell)


def _cell(
    blocks: tiles.Tiles, rule: Rule, found: tiles.Solved, classes: np.ndarray, seconds: np.ndarray
) -> dict[str, Any]:
    return {
        "objective": found.objective.tolist(),
        "purity": [float(purity(classes, labels)) for labels in found.labels],
        "sweeps": found.sweeps.tolist(),
        "seconds": seconds.tolist(),
        "kernel_seconds": [blocks.seconds] * len(seconds),
        "peak": [float(u.max(axis=1).mean()) for u in found.u],
        "separation": tiles.separation(blocks, rule, found.u).tolist(),
    }
