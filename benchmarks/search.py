"""What search finds, and in what time: objectives over the best known, beside scikit-learn's KMeans
with more and more starts.

    python -m benchmarks.search                              5 seeds of every set; most of an hour
    python -m benchmarks.search --seeds 2 --only s2 birch1 --kinds hard
    python -m benchmarks.search --pages                      the page again, from what is stored

Features are scaled to [0, 1]; the number of clusters is that of the data. "Best known" is the
lowest objective that anything here has reached. Results are stored after every set; what is stored
is not measured again, but with --fresh.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from cmeans import CMeans, FuzzyCMeans, KernelKMeans

from .harness import header, load, quiet, unit_interval

CLUSTERS = {
    "s1": 15,
    "s2": 15,
    "s3": 15,
    "s4": 15,
    "a1": 20,
    "a2": 35,
    "a3": 50,
    "d31": 31,
    "r15": 15,
    "unbalance": 8,
    "birch1": 100,
    "birch2": 100,
    "birch3": 100,
}
Fit = Callable[[np.ndarray, int, int], float]  # the objective of rows, number of clusters, seed
ORDER = [
    *(f"KMeans, n_init={count}" for count in (1, 10, 100)),
    "bkmeans",
    *(f"n_init={count}, search=None" for count in (1, 10, 20)),
    *(f'search="{search}"' for search in ("auto", "breathing", "annealing")),
]  # of columns
LARGE = 50_000  # rows above which the slowest ways are left out: they take minutes a fit
SLOW = ("KMeans, n_init=100", "n_init=20, search=None", 'search="annealing"')
WITHIN = 1.001  # times the best known: found
DOCS = Path(__file__).resolve().parents[1] / "docs"
KINDS = {
    "hard": "Hard clusters, plain space",
    "rbf": 'Hard clusters, RBF space (`gamma="median"`, 300 landmarks)',
    "fuzzy": 'Fuzzy clusters, plain space (`m="auto"`)',
    "fuzzy-rbf": 'Fuzzy clusters, RBF space (`gamma="median"`, 300 landmarks)',
    "entropy": 'Maximum entropy, plain space (`CMeans(rule="entropy")`)',
}


def own(kind: str, **words: Any) -> Fit:
    """A fit by this library."""
    kernel = (
        {"kernel": "rbf", "gamma": "median", "landmarks": 300}
        if "rbf" in kind
        else {"kernel": "linear"}
    )
    estimator = FuzzyCMeans if "fuzzy" in kind else KernelKMeans

    def fit(x: np.ndarray, n_clusters: int, seed: int) -> float:
        return float(estimator(n_clusters, random_state=seed, **kernel, **words).fit(x).objective_)

    return fit


def entropic(**words: Any) -> Fit:
    """Maximum entropy c-means: the objective plus n T ln c, so that none is below zero."""

    def fit(x: np.ndarray, n_clusters: int, seed: int) -> float:
        model = CMeans(n_clusters, rule="entropy", random_state=seed, **words).fit(x)
        return float(model.objective_ + len(x) * model.rule_.T * np.log(n_clusters))

    return fit


def theirs(n_init: int) -> Fit:
    """scikit-learn's k-means, in the plain space."""

    def fit(x: np.ndarray, n_clusters: int, seed: int) -> float:
        from sklearn.cluster import KMeans

        return float(KMeans(n_clusters, n_init=n_init, random_state=seed).fit(x).inertia_)

    return fit


def breathing(x: np.ndarray, n_clusters: int, seed: int) -> float:
    """Breathing k-means by its author."""
    from bkmeans import BKMeans

    return float(BKMeans(n_clusters=n_clusters, random_state=seed).fit(x).inertia_)


def ways(kind: str) -> dict[str, Fit]:
    """What is compared."""
    if kind == "entropy":
        ways_out: dict[str, Fit] = {
            f"n_init={count}, search=None": entropic(search=None, n_init=count) for count in (1, 10)
        }
        return ways_out | {
            f'search="{search}"': entropic(search=search)
            for search in ("auto", "breathing", "annealing")
        }
    peers = (
        {f"KMeans, n_init={count}": theirs(count) for count in (1, 10, 100)}
        if kind == "hard"
        else {}
    )
    if kind == "hard" and find_spec("bkmeans") is not None:
        peers["bkmeans"] = breathing
    starts = {
        f"n_init={count}, search=None": own(kind, search=None, n_init=count)
        for count in (1, 10, 20)
    }
    return {
        **starts,
        'search="auto"': own(kind),
        'search="breathing"': own(kind, search="breathing"),
        **peers,
    }


def measure(
    kind: str, name: str, seeds: int, only: list[str] | None
) -> dict[str, list[list[float]]]:
    """Objective and processor seconds of every seed, by way."""
    x, c = unit_interval(load(name), np.float64), CLUSTERS[name]
    found: dict[str, list[list[float]]] = {}
    for way, fit in ways(kind).items():
        if only and way not in only:
            continue
        if len(x) > LARGE and way in SLOW:
            continue
        found[way] = []
        for seed in range(seeds):
            started = time.process_time()
            objective = fit(x, c, seed)
            found[way].append([objective, time.process_time() - started])
    return found


def page(results: dict[str, Any]) -> str:
    """The page, from what is stored: a table for each kind, and for each machine and version that
    sets of it were measured with."""
    lines = [
        "# Better optima",
        "",
        "How far objectives end above the best known, and the processor seconds that takes, of all "
        "threads together: mean over",
        "seeds, of sets with known clusters and features in [0, 1]. Written by "
        "`python -m benchmarks.search`. `found` counts the fits",
        "within .1% of the best known.",
    ]
    for kind, title in KINDS.items():
        if kind not in results:
            continue
        lines += ["", f"## {title}"]
        machines = {name: results["machines"][f"{kind} {name}"] for name in results[kind]}
        for machine in dict.fromkeys(machines.values()):
            sets = {
                name: found for name, found in results[kind].items() if machines[name] == machine
            }
            lines += ["", "    " + machine.replace("\n", "\n    "), "", *_table(sets)]
    return "\n".join(lines) + "\n"


def _table(sets: dict[str, dict[str, list[list[float]]]]) -> list[str]:
    measured = {way for found in sets.values() for way in found}
    columns = [way for way in ORDER if way in measured]
    lines = [f"| set (clusters) | {' | '.join(columns)} |", "|---" * (len(columns) + 1) + "|"]
    counts = dict.fromkeys(columns, (0, 0))
    for name, found in sets.items():
        best, cells = min(run[0] for runs in found.values() for run in runs), []
        for way in columns:
            runs = found.get(way, [])
            if not runs:
                cells.append("-")
                continue
            above, seconds = (
                statistics.mean(run[0] for run in runs) / best - 1.0,
                statistics.mean(run[1] for run in runs),
            )
            cells.append(f"{100 * above:.2f}%, {seconds:.2g} s")
            good, all_of_them = counts[way]
            counts[way] = (
                good + sum(run[0] <= WITHIN * best for run in runs),
                all_of_them + len(runs),
            )
        lines.append(f"| {name} ({CLUSTERS[name]}) | {' | '.join(cells)} |")
    return [
        *lines,
        f"| found | {' | '.join(f'{good} of {of}' for good, of in counts.values())} |",
    ]


def main() -> None:
    quiet()
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument(
        "--only", nargs="+", choices=list(CLUSTERS), default=list(CLUSTERS), metavar="SET"
    )
    parser.add_argument(
        "--kinds", nargs="+", choices=list(KINDS), default=list(KINDS), metavar="KIND"
    )
    parser.add_argument(
        "--ways", nargs="+", metavar="WAY", help="what is compared; all of it, unless given"
    )
    parser.add_argument("--results", type=Path, default=DOCS / "better_optima.json", metavar="FILE")
    parser.add_argument("--fresh", action="store_true", help="measure what is stored, too, anew")
    parser.add_argument("--pages", action="store_true", help="measure nothing")
    arguments = parser.parse_args()
    results = (
        json.loads(arguments.results.read_text(encoding="utf-8"))
        if arguments.results.exists()
        else {"machines": {}}
    )
    for kind in [] if arguments.pages else arguments.kinds:
        for name in arguments.only:
            before = results.setdefault(kind, {}).get(name, {})
            wanted = [
                way for way in arguments.ways or ways(kind) if arguments.fresh or way not in before
            ]
            if wanted:
                results[kind][name] = {**before, **measure(kind, name, arguments.seeds, wanted)}
                results["machines"][f"{kind} {name}"] = header()
                arguments.results.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
                print(kind, name, flush=True)
    (DOCS / "better_optima.md").write_text(page(results), encoding="utf-8")


if __name__ == "__main__":
    main()
