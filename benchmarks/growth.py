"""Time of a fuzzy sweep a row, from 10^4 to 10^7 rows: 16 columns, 200 landmarks, 10 clusters.

    python -m benchmarks.growth [--quick] [--json FILE]

Two lines: kernel values made anew in every sweep, as where memory is short, and kept between
sweeps, as far as half of the free memory goes. And a whole fit of 10 sweeps, which at few rows is
mostly what does not grow with them (landmarks, start, results).
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from cmeans import FuzzyCMeans, Search
from cmeans.data.blocks import Block, Blocks
from cmeans.engines import ThreadEngine
from cmeans.kernels import RBF
from cmeans.rules import Fuzzy
from cmeans.runtime.free_memory import free_memory
from cmeans.spaces import landmark_space
from cmeans.sweeps.choice import sweep_for
from cmeans.sweeps.problem import Problem
from cmeans.sweeps.represented_rows import RepresentedRows
from cmeans.sweeps.state import State

from .contest import judged
from .harness import finish, quiet

SIZES, QUICK_SIZES = (10**4, 10**5, 10**6, 10**7), (10**4, 10**5)
FEATURES, LANDMARKS, CLUSTERS, M, SWEEPS = 16, 200, 10, 2.0, 10
GAMMA = 1 / 32
ANEW, KEPT, FIT = "made anew", "kept", "whole fit"
LEAST = 0.2  # seconds that one timing should last
WANTED = 1.5


def generated(n: int) -> np.ndarray:
    """Rows of ten blobs."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((n, FEATURES), dtype=np.float32)
    middles = 2 * rng.standard_normal((CLUSTERS, FEATURES), dtype=np.float32)
    for start in range(0, n, 10**6):
        part = x[start : start + 10**6]
        part += middles[rng.integers(CLUSTERS, size=len(part))]
    return x


def sweep_of(
    x: np.ndarray, landmarks: np.ndarray, keep: int, engine: ThreadEngine
) -> Callable[[], object]:
    """A sweep over these rows, after one that makes ready what is kept."""
    space, rule, blocks = (
        landmark_space(RBF(GAMMA), landmarks, None, x.dtype),
        Fuzzy(M),
        Blocks(x, np.ones(len(x))),
    )
    problem = Problem(RepresentedRows(space, blocks, keep), rule, engine)
    state = State(space.embed(Block(x[:CLUSTERS], np.ones(CLUSTERS), 0)))
    sweep = sweep_for(problem.rows, rule, CLUSTERS)

    def run() -> object:
        return problem.sweep(state, sweep)

    run()
    return run


def fit_of(x: np.ndarray, threads: int) -> Callable[[], object]:
    """A whole fit of a fixed number of sweeps."""
    words = {
        "kernel": "rbf",
        "search": Search(None, acceleration=None, progressive=False),
        "gamma": GAMMA,
        "landmarks": LANDMARKS,
        "max_iter": SWEEPS,
        "tol": 0,
        "random_state": 0,
        "n_jobs": threads,
    }
    model = FuzzyCMeans(CLUSTERS, m=M, **words)
    return lambda: model.fit(x)


def per_call(run: Callable[[], object], least: float) -> float:
    """Seconds of a call, from as many as last long enough."""
    calls, start = 0, time.perf_counter()
    while calls == 0 or time.perf_counter() - start < least:
        run()
        calls += 1
    return (time.perf_counter() - start) / calls


def measure(sizes: tuple[int, ...], rounds: int, threads: int) -> dict[str, dict[int, list[float]]]:
    """Nanoseconds a row and sweep of every line at every size, sizes in turn."""
    x = generated(max(sizes))
    landmarks = x[np.random.default_rng(1).choice(min(sizes), LANDMARKS, replace=False)]
    times: dict[str, dict[int, list[float]]] = {ANEW: {}, KEPT: {}, FIT: {}}
    with ThreadEngine(threads).opened() as engine:
        runs = {(ANEW, n): sweep_of(x[:n], landmarks, 0, engine) for n in sizes}
        room = free_memory() // 2
        for n in sizes:
            needed = 4 * n * (LANDMARKS + 2)
            if needed <= room:
                runs[KEPT, n], room = sweep_of(x[:n], landmarks, needed, engine), room - needed
        for _ in range(rounds):
            for (line, n), run in runs.items():
                times[line].setdefault(n, []).append(per_call(run, LEAST) / n * 1e9)
        runs.clear()
    for n in sizes:
        run = fit_of(x[:n], threads)
        for _ in range(1 if n >= 10**7 else 3):
            times[FIT].setdefault(n, []).append(per_call(run, 0.0) / n / SWEEPS * 1e9)
    return times


def report(times: dict[str, dict[int, list[float]]]) -> dict[str, Any]:
    """The table, and how much more a row costs at its worst size than at its best."""
    medians = {
        line: {n: statistics.median(taken) for n, taken in of.items()} for line, of in times.items()
    }
    lines = [[f"{n:,}", *(medians[line].get(n) for line in (ANEW, KEPT, FIT))] for n in times[ANEW]]
    checks = []
    for line in (ANEW, KEPT):
        ratio = max(medians[line].values()) / min(medians[line].values())
        text = (
            f"time a row and sweep, worst over best of {len(medians[line])} sizes up to "
            f"{max(medians[line]):,} rows, kernel values {line}"
        )
        checks.append(judged(text, f"at most {WANTED:g}", [ratio], most=WANTED))
    columns = ["rows", f"ns a row and sweep, {ANEW}", f"{KEPT}", f"{FIT} of {SWEEPS} sweeps"]
    caption = (
        f"fuzzy c-means, m = {M:g}, {FEATURES} columns, s = {LANDMARKS}, c = {CLUSTERS}, float32"
    )
    title = "Cost grows with the number of rows"
    table = {"caption": caption, "columns": columns, "rows": lines}
    return {
        "title": title,
        "tables": [table],
        "checks": checks,
        "lines": {line: sorted(of.items()) for line, of in medians.items()},
    }


def figure(result: dict[str, Any], path: Path) -> bool:
    """Draw the lines; False without matplotlib."""
    try:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot
    except ImportError:
        return False
    figure, axes = pyplot.subplots(figsize=(6, 3.6), layout="constrained")
    for (line, points), mark in zip(result["lines"].items(), ("o-", "s-", "^:"), strict=True):
        sizes, values = zip(*points, strict=True)
        axes.plot(
            sizes,
            values,
            mark,
            label=f"kernel values {line}" if line != FIT else f"{FIT} of {SWEEPS} sweeps",
        )
    axes.set(
        xscale="log",
        yscale="log",
        xlabel="rows",
        ylabel="ns a row and sweep",
        title=result["tables"][0]["caption"],
    )
    axes.title.set_fontsize(9)
    axes.grid(visible=True, which="both", alpha=0.3)
    axes.legend()
    figure.savefig(path, dpi=120)
    pyplot.close(figure)
    return True


def main() -> None:
    quiet()
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    sizes, rounds = (QUICK_SIZES, 2) if arguments.quick else (SIZES, arguments.rounds)
    finish(report(measure(sizes, rounds, arguments.threads)), arguments.json)


if __name__ == "__main__":
    main()
