"""Clusters of any shape: kernel="landmark_graph" on labelled sets and made shapes, beside kernel
k-means and scikit-learn.

    python -m benchmarks.shapes                         3 seeds of every set, some minutes:
                                                        docs/shapes.md
    python -m benchmarks.shapes --only moons digits     these alone, printed

Sets are cut to 5,000 rows by a fixed draw, then features are scaled to [0, 1].
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.cluster import HDBSCAN, KMeans, SpectralClustering
from sklearn.datasets import make_circles, make_moons
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from cmeans import KernelKMeans
from cmeans.kernels import LandmarkGraphKernel

from .defaults import MADE, REAL, labelled
from .harness import header, quiet, unit_interval
from .markdown import short

ROWS = 5_000
# rows and sets whose time is compared
MANY, TIMED = 10_000, ("moons", "circles", "spirals", "birch1", "covtype", "mnist")
CLOSE = 0.02  # NMI below SpectralClustering's that still counts as as good
OURS, PEER = "landmark graph", "SpectralClustering"
DOCS = Path(__file__).resolve().parents[1] / "docs"

Rows = tuple[np.ndarray, np.ndarray]


def graph(**params: Any) -> Callable[[int, int], Any]:
    return lambda c, seed: KernelKMeans(c, kernel=LandmarkGraphKernel(**params), random_state=seed)


WAYS: dict[str, Callable[[int, int], Any]] = {
    OURS: graph(),
    "no falloff": graph(falloff=0),
    "normalized": graph(normalized=True),
    "3 neighbours": graph(n_neighbors=3),
    "10 neighbours": graph(n_neighbors=10),
    "KernelKMeans": lambda c, seed: KernelKMeans(c, random_state=seed),
    "KMeans": lambda c, seed: KMeans(c, n_init=10, random_state=seed),
    PEER: lambda c, seed: SpectralClustering(c, affinity="nearest_neighbors", random_state=seed),
    "HDBSCAN": lambda *_: HDBSCAN(copy=True),
}


def spirals(n: int, begin: float) -> Rows:
    """Two arms of two turns to a radius of 12.6, that begin at 12.6 sqrt(begin) from the middle."""
    rng = np.random.default_rng(0)
    angle, arm = 4 * np.pi * np.sqrt(rng.uniform(begin, 1.0, n)), rng.integers(2, size=n)
    radius = angle * np.where(arm == 1, 1.0, -1.0)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]) + rng.normal(
        scale=0.3, size=(n, 2)
    ), arm


SHAPES: dict[str, Callable[[int], Rows]] = {
    "moons": lambda n: make_moons(n, noise=0.06, random_state=0),
    "circles": lambda n: make_circles(n, factor=0.4, noise=0.05, random_state=0),
    "near circles": lambda n: make_circles(n, factor=0.6, noise=0.06, random_state=0),
    "spirals": lambda n: spirals(n, 0.01),
    "touching spirals": lambda n: spirals(n, 0.0),
}


def rows_of(name: str, most: int = ROWS) -> Rows:
    if name not in SHAPES:
        return labelled(name, most)
    x, y = SHAPES[name](most)
    return unit_interval(x, np.float64), y


def measure(x: np.ndarray, y: np.ndarray, seeds: int) -> dict[str, list[float]]:
    """Means over the seeds by way: NMI, ARI, seconds of CPU."""
    c, found = int(y.max()) + 1, {}
    for way, build in WAYS.items():
        runs = []
        for seed in range(seeds):
            started = time.process_time()
            labels = build(c, seed).fit_predict(x)
            seconds = time.process_time() - started
            runs.append(
                (normalized_mutual_info_score(y, labels), adjusted_rand_score(y, labels), seconds)
            )
        found[way] = [statistics.mean(column) for column in zip(*runs, strict=True)]
    return found


def seconds_of(names: tuple[str, ...]) -> dict[str, list[float]]:
    """CPU seconds of the graph and of SpectralClustering by set: the medians of three alternating
    runs."""
    found = {}
    for name in names:
        x, y = rows_of(name, MANY)
        runs: dict[str, list[float]] = {OURS: [], PEER: []}
        for seed in range(3):
            for way, seconds in runs.items():
                started = time.process_time()
                WAYS[way](int(y.max()) + 1, seed).fit(x)
                seconds.append(time.process_time() - started)
        found[name] = [statistics.median(seconds) for seconds in runs.values()]
    return found


def table(title: str, sets: dict[str, dict[str, list[float]]]) -> list[str]:
    lines = ["", f"## {title}", "", f"| set | {' | '.join(WAYS)} |", "|---" * (len(WAYS) + 1) + "|"]
    means = {
        way: [statistics.mean(found[way][i] for found in sets.values()) for i in range(3)]
        for way in WAYS
    }
    for name, found in {**sets, "**mean**": means}.items():
        cells = (
            f"{short(nmi, 2)} / {short(ari, 2)}, {seconds:.2g} s"
            for nmi, ari, seconds in (found[way] for way in WAYS)
        )
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


def page(sets: dict[str, dict[str, list[float]]], times: dict[str, list[float]], seeds: int) -> str:
    """The page, from what was measured: a table for every group of sets that was measured whole."""
    good = sum(found[OURS][0] >= found[PEER][0] - CLOSE for found in sets.values())
    worse = [
        name for name, found in sets.items() if found[OURS][0] < found["KernelKMeans"][0] - CLOSE
    ]
    lines = [
        "# Shapes",
        "",
        'What `KernelKMeans(c, kernel="landmark_graph")` finds, with the defaults of the graph (5 '
        "neighbours, 1,000 landmarks or 30 a cluster, rows",
        "not normalised, a falloff of 6, for the reasons [here](algorithms/landmark_graph.md)) and "
        "with one of them changed, beside",
        "`KernelKMeans(c)`, `KMeans(c, n_init=10)`,",
        '`SpectralClustering(c, affinity="nearest_neighbors")` and `HDBSCAN()`: normalised mutual '
        "information / adjusted Rand index,",
        f"processor seconds as an indication; means of {seeds} seeds, true number of clusters, "
        "features in [0, 1], at most",
        f"{ROWS:,} rows by a fixed draw. Written by `python -m benchmarks.shapes`.",
        "",
        "    " + header().replace("\n", "\n    "),
        "",
        f"The graph's NMI is at least SpectralClustering's, within {short(CLOSE, 2)}, on {good} of "
        f"{len(sets)} sets. Plain kernel k-means",
        f"is better by more than that on {', '.join(worse) if worse else 'none'}.",
        "",
        "`falloff`: a row at a mean distance t from its landmarks counts (median / t)^6 in the "
        "graph beyond the median. Landmarks reach",
        "further where rows are few, so that with all rows counting alike a few stray ones join "
        "what is apart: near circles, spirals that",
        "touch. With none, or with a larger one, a cluster of few rows of unbalance joins another, "
        "and one of many is cut in its place. Thin lines of",
        "few rows want more neighbours instead ([questions](faq.md)).",
    ]
    for title, names in (("Made shapes", [*SHAPES]), ("Real sets", REAL), ("Made sets", MADE)):
        lines += (
            table(title, {name: sets[name] for name in names}) if sets.keys() >= {*names} else []
        )
    lines += [
        "",
        "## Time",
        "",
        f"Sets of {MANY:,} rows at most; CPU seconds, medians of three alternating runs. "
        "birch1 has 3,000 landmarks, the others 1,000.",
        "",
    ]
    lines += [f"| set | {OURS} | {PEER} | times as fast |", "|---|---|---|---|"]
    lines += [
        f"| {name} | {ours:.2g} | {peers:.2g} | {peers / ours:.2g} |"
        for name, (ours, peers) in times.items()
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    quiet()
    names = [*SHAPES, *REAL, *MADE]
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only", nargs="+", choices=names, metavar="SET")
    arguments = parser.parse_args()
    sets = {}
    for name in arguments.only or names:
        sets[name] = measure(*rows_of(name), arguments.seeds)
        print(
            name,
            {way: f"{nmi:.2f} {seconds:.2g} s" for way, (nmi, _, seconds) in sets[name].items()},
            flush=True,
        )
    if arguments.only is None:
        (DOCS / "shapes.md").write_text(
            page(sets, seconds_of(TIMED), arguments.seeds), encoding="utf-8"
        )


if __name__ == "__main__":
    main()
