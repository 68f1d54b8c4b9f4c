"""What Anderson mixing and growing samples save: rows visited until the centres stand still, and
the objective they stand at.

    python -m benchmarks.acceleration                    20 seeds of every problem; about an hour
    python -m benchmarks.acceleration --seeds 3 --only S2 birch1

Each problem is solved from the same start, without search, by the plain loop, with
`Search.acceleration`, with `Search.progressive`, and with both, the default of soft rules. A visit
is one row looked at in one sweep, those of samples included; seconds are the processor's, in one
thread; "objective" is the mean over seeds of its difference from the plain loop's. Progressive
starts are the same rows, but their way leads over samples, so that they may end in another local
minimum.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from cmeans import FuzzyCMeans, KernelKMeans, Search

from .harness import grow, header, load, quiet, unit_interval

WAYS = {
    "plain": Search(None, acceleration=None, progressive=False),
    "anderson": Search(None, acceleration="anderson", progressive=False),
    "progressive": Search(None, acceleration=None, progressive=True),
    "both": Search(None, acceleration="anderson", progressive=True),
}
Maker = Callable[..., Any]


def problems() -> dict[str, tuple[str, Maker, dict[str, Any]]]:
    """Name -> data set, estimator and words; features scaled to [0, 1], float32."""
    kernel = {"kernel": "rbf", "landmarks": 300}
    return {
        "birch1, m = 1.3": (
            "birch1",
            FuzzyCMeans,
            {"n_clusters": 100, "m": 1.3, "kernel": "linear"},
        ),
        "birch1, m = 1.7": (
            "birch1",
            FuzzyCMeans,
            {"n_clusters": 100, "m": 1.7, "kernel": "linear"},
        ),
        "birch1, m = 2": ("birch1", FuzzyCMeans, {"n_clusters": 100, "m": 2.0, "kernel": "linear"}),
        "S2, m = 1.7": ("s2", FuzzyCMeans, {"n_clusters": 15, "m": 1.7, "kernel": "linear"}),
        "covtype, RBF": ("covtype", FuzzyCMeans, {"n_clusters": 7, "gamma": 1.0, **kernel}),
        "covtype, linear": ("covtype", FuzzyCMeans, {"n_clusters": 7, "kernel": "linear"}),
        "MNIST, RBF": ("mnist", FuzzyCMeans, {"n_clusters": 10, "gamma": "median", **kernel}),
        "covtype, RBF, hard": ("covtype", KernelKMeans, {"n_clusters": 7, "gamma": 1.0, **kernel}),
        "birch1, hard": ("birch1", KernelKMeans, {"n_clusters": 100, "kernel": "linear"}),
        "MNIST, RBF, hard": (
            "mnist",
            KernelKMeans,
            {"n_clusters": 10, "gamma": "median", **kernel},
        ),
    }


def measure(name: str, seeds: int) -> str:
    """One row of the table."""
    data, maker, words = problems()[name]
    x = unit_interval(load(data), np.float32)
    runs: dict[str, list[tuple[float, float, float]]] = {way: [] for way in WAYS}
    for seed in range(seeds):
        for way, search in WAYS.items():
            if (maker is KernelKMeans and search.acceleration) or (
                search.progressive and len(x) <= 50_000
            ):
                continue
            started = time.process_time()
            model = maker(random_state=seed, max_iter=1000, search=search, n_jobs=1, **words).fit(x)
            runs[way].append(
                (model.row_visits_ / len(x), model.objective_, time.process_time() - started)
            )
    cells = [f"{name} ({len(x):,} rows)"]
    plain = runs["plain"]
    cells.append(
        f"{statistics.median(run[0] for run in plain):.0f}, "
        f"{statistics.median(run[2] for run in plain):.2f} s"
    )
    for way in list(WAYS)[1:]:
        if not runs[way]:
            cells.append("-")
            continue
        pairs = list(zip(plain, runs[way], strict=True))
        fewer = statistics.median(before[0] / after[0] for before, after in pairs)
        faster = statistics.median(before[2] / after[2] for before, after in pairs)
        change = statistics.mean(after[1] / before[1] - 1.0 for before, after in pairs)
        cells.append(f"{fewer:.1f} x, {faster:.1f} x, {100 * change:+.3f}%")
    return f"| {' | '.join(cells)} |"


def main() -> None:
    quiet()
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument(
        "--only", nargs="+", metavar="WORD", help="problems whose names hold one of these words"
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="the table as Markdown")
    arguments = parser.parse_args()
    names = [
        name
        for name in problems()
        if not arguments.only or any(word in name for word in arguments.only)
    ]
    lines = [
        "# Fewer sweeps",
        "",
        f"Medians over {arguments.seeds} seeds: visits per row and processor seconds of the plain "
        "loop; then how many times fewer",
        "visits, how many times faster, and the mean change of the objective.",
        "",
        "    " + header().replace("\n", "\n    "),
        "",
        "| problem | plain | anderson | progressive | both |",
        "|---|---|---|---|---|",
    ]
    grow(lines, (measure(name, arguments.seeds) for name in names), arguments.out)


if __name__ == "__main__":
    main()
