"""Nanoseconds a row of one sweep, one thread: the generic sweep, the native one, and the one that
keeps bounds, on its first sweep."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import numpy as np
import threadpoolctl

from cmeans.data.blocks import Blocks
from cmeans.rules import Fuzzy, Hard, Possibilistic, Rule
from cmeans.spaces import EuclideanSpace
from cmeans.sweeps.bounded import BoundedSweep
from cmeans.sweeps.generic import sweep
from cmeans.sweeps.native import NativeSweep
from cmeans.sweeps.represented_rows import RepresentedRows
from cmeans.sweeps.state import State

from .harness import header

RULES: dict[str, Rule] = {
    "hard": Hard(),
    "fuzzy, m = 2": Fuzzy(2.0),
    "fuzzy, m = 1.3": Fuzzy(1.3),
    "possibilistic, m = 2": Possibilistic(2.0),
    "possibilistic, m = 1.7": Possibilistic(1.7),
}
KINDS = ("generic", "native", "bounded")


def new_sweep(kind: str, rule: Rule, dtype: type) -> Callable[..., object]:
    """A new one each time: the bounded sweep would remember the last and leave rows out."""
    return (
        sweep
        if kind == "generic"
        else NativeSweep(rule, dtype)
        if kind == "native"
        else BoundedSweep(rule, dtype)
    )


def nanoseconds(kind: str, rule: Rule, x: np.ndarray, clusters: int) -> float:
    """Median time a row; not a number for bounds of soft clusters."""
    if kind == "bounded" and rule.is_soft:
        return float("nan")
    space = EuclideanSpace(np.zeros(x.shape[1]))
    scales = np.full(clusters, 0.5 * x.shape[1])
    state = State(space.at(x[:clusters].astype(np.float64) + 0.1), scales)
    rows = RepresentedRows(space, Blocks(x, np.ones(len(x))), 10**10)
    times = []
    for _ in range(4):
        run = new_sweep(kind, rule, x.dtype.type)
        start = time.perf_counter()
        for task in range(rows.n_tasks):
            run(rows, rule, state, task)
        times.append(time.perf_counter() - start)
    return statistics.median(times[1:]) / len(x) * 1e9


def main() -> None:
    print(header())
    rng = np.random.default_rng(0)
    with threadpoolctl.threadpool_limits(1):
        for dtype in (np.float32, np.float64):
            for name, rule in RULES.items():
                print(
                    f"\n{name}, {np.dtype(dtype).name}\n{'columns':>9s}{'clusters':>10s}"
                    + "".join(f"{kind:>10s}" for kind in KINDS)
                )
                for columns in (2, 16, 54, 128, 256, 582):
                    for clusters in (2, 7, 32, 100):
                        x = rng.normal(
                            size=(16_384 if columns * clusters < 8_000 else 4_096, columns)
                        ).astype(dtype)
                        cells = [nanoseconds(kind, rule, x, clusters) for kind in KINDS]
                        print(
                            f"{columns:9d}{clusters:10d}"
                            + "".join(f"{cell:10.0f}" for cell in cells),
                            flush=True,
                        )


if __name__ == "__main__":
    main()
