"""What defaults find: ARI of every estimator on all labelled sets, told no more than the number of
clusters, beside scikit-learn's.

    python -m benchmarks.defaults             3 seeds of every set, some ten minutes:
                                              docs/defaults.md
    python -m benchmarks.defaults --only iris wine --fresh     these anew
    python -m benchmarks.defaults --pages     the page again, from what is stored

Sets are cut to 2,000 rows by a fixed draw, then features are scaled to [0, 1]. Results are stored
after every set; what is stored is not measured again.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.cluster import HDBSCAN, KMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture

from cmeans import (
    AdaptivePossibilisticCMeans,
    FuzzyCMeans,
    KernelKMeans,
    KernelPatchClustering,
    PossibilisticCMeans,
    ProbabilisticKMeans,
    SequentialPossibilisticCMeans,
    TwoStepKernelKMeans,
)

from .harness import header, load, quiet, unit_interval
from .markdown import short

REAL = [
    "balance",
    "banknote",
    "covtype",
    "digits",
    "ecoli",
    "glass",
    "ionosphere",
    "iris",
    "mnist",
    "seeds",
    "sonar",
    "vehicle",
    "wdbc",
    "wine",
    "yeast",
]
MADE = [
    "a1",
    "a2",
    "a3",
    "aggregation",
    "birch1",
    "birch2",
    "d31",
    "r15",
    "s1",
    "s2",
    "s3",
    "s4",
    "unbalance",
]
ROWS = 2_000
PEER = "KMeans"
SHORT_BY = 0.05  # ARI below KMeans from which on the page says why
SAME = 1e-3  # relative difference of objectives that are equal
DOCS = Path(__file__).resolve().parents[1] / "docs"

# by set: "rows", "columns", "clusters", "runs" by way, and "why" of those that fall short
Results = dict[str, dict[str, Any]]
Build = Callable[[int, int], Any]  # an estimator, for a number of clusters and a seed

EXPLAINED: dict[str, Callable[..., Any]] = {
    "KernelKMeans": lambda c, seed, **words: KernelKMeans(c, random_state=seed, **words),
    "FuzzyCMeans": lambda c, seed, **words: FuzzyCMeans(c, random_state=seed, **words),
}
WAYS: dict[str, Build] = {
    **EXPLAINED,
    "PossibilisticCMeans": lambda c, seed: PossibilisticCMeans(c, random_state=seed),
    "ProbabilisticKMeans": lambda c, seed: ProbabilisticKMeans(c, random_state=seed),
    "TwoStepKernelKMeans": lambda c, seed: TwoStepKernelKMeans(c, random_state=seed),
    "KernelPatchClustering": lambda c, seed: KernelPatchClustering(c, random_state=seed),
    "AdaptivePossibilisticCMeans": lambda c, seed: AdaptivePossibilisticCMeans(
        (1, max(20, 2 * c)), random_state=seed
    ),
    "SequentialPossibilisticCMeans": lambda _, seed: SequentialPossibilisticCMeans(
        random_state=seed
    ),
    PEER: lambda c, seed: KMeans(c, n_init=10, random_state=seed),
    "GaussianMixture": lambda c, seed: GaussianMixture(c, random_state=seed),
    "HDBSCAN": lambda *_: HDBSCAN(copy=True),
}


def labelled(name: str, rows: int = ROWS) -> tuple[np.ndarray, np.ndarray]:
    """At most so many rows, and their classes as 0, 1, ..."""
    x, y = load(name), load(name, "y")
    kept = np.random.default_rng(0).choice(len(x), min(len(x), rows), replace=False)
    return unit_interval(x[kept], np.float64), np.unique(y[kept], return_inverse=True)[1]


def measure(x: np.ndarray, y: np.ndarray, seeds: int) -> dict[str, Any]:
    """ARI and seconds of every seed, by way; and the reasons of those that fall short."""
    c, runs, labels = int(y.max()) + 1, {}, {}
    for way, build in WAYS.items():
        runs[way] = []
        for seed in range(seeds):
            started = time.process_time()
            labels[way] = build(c, seed).fit_predict(x)
            runs[way].append(
                [float(adjusted_rand_score(y, labels[way])), time.process_time() - started]
            )
    found = {"rows": len(x), "columns": x.shape[1], "clusters": c, "runs": runs}
    below = [way for way in EXPLAINED if ari(found, way) < ari(found, PEER) - SHORT_BY]
    return {**found, "why": {way: optima(way, x, y, labels[PEER], seeds) for way in below}}


def optima(
    way: str, x: np.ndarray, y: np.ndarray, peer_labels: np.ndarray, seeds: int
) -> dict[str, Any]:
    """Objective and ARI at the optima that are reached by default, from the partition of KMeans,
    and from the classes."""
    c, build = int(y.max()) + 1, EXPLAINED[way]
    own = [build(c, seed).fit(x) for seed in range(seeds)]
    best = min(own, key=lambda model: model.objective_)
    same = {"m": best.m_} if hasattr(best, "m_") else {}
    given = {"KMeans": peer_labels, "classes": y}
    models = {
        "default": best,
        **{start: build(c, 0, init=labels, **same).fit(x) for start, labels in given.items()},
    }
    reached = {
        start: [float(model.objective_), float(adjusted_rand_score(y, model.labels_))]
        for start, model in models.items()
    }
    spread = max(model.objective_ for model in own) / best.objective_ - 1.0 if not same else 0.0
    return {**same, "reached": reached, "spread": float(spread)}


def ari(found: dict[str, Any], way: str) -> float:
    return statistics.mean(run[0] for run in found["runs"][way])


def seconds(found: dict[str, Any], way: str) -> float:
    return statistics.mean(run[1] for run in found["runs"][way])


def reason(name: str, way: str, found: dict[str, Any]) -> str:
    """One sentence: whether the objective prefers what was found, or the optimum is a poor one."""
    why = found["why"][way]
    (objective, own), others = (
        why["reached"]["default"],
        {k: v for k, v in why["reached"].items() if k != "default"},
    )
    said = f"{way}{' at m = ' + format(why['m'], '.3g') if 'm' in why else ''}"
    begin = f"- {name}, {said} ({short(ari(found, way), 2)}, KMeans {short(ari(found, PEER), 2)}): "
    starts = {"KMeans": "KMeans' partition", "classes": "the classes"}
    start, (least, score) = min(others.items(), key=lambda item: item[1][0])
    if least < objective * (1.0 - SAME):
        return (
            begin
            + f"a poor optimum, {_percent(objective / least - 1.0)} above the one reached from "
            f"{starts[start]} (ARI {short(score, 2)})."
        )
    ends = [
        f"from {starts[k]} an optimum {_percent(value / objective - 1.0)} higher (ARI "
        f"{short(score, 2)})"
        if value > objective * (1.0 + SAME)
        else f"from {starts[k]} an optimum as low (ARI {short(score, 2)})"
        for k, (value, score) in others.items()
    ]
    text = (
        begin + f"the objective prefers it; its best of the seeds has ARI {short(own, 2)}, "
        f"{' and '.join(ends)} is reached"
    )
    return text + (f"; seeds differ by {_percent(why['spread'])}." if why["spread"] > SAME else ".")


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%"


def page(results: Results, machine: str) -> str:
    """The page, from what is stored."""
    lines = [
        "# Defaults",
        "",
        "Adjusted Rand index of every estimator's defaults with the true number of clusters (the "
        "adaptive and the sequential estimator",
        "find it themselves, the adaptive one from 20 clusters or twice as many as there are), and "
        "processor seconds as an indication: means of",
        f'seeds, features in [0, 1], at most {ROWS:,} rows by a fixed draw. `kernel` is `"linear"` '
        "for estimators without Kernel in",
        "their name. scikit-learn's `KMeans(n_init=10)`, `GaussianMixture` and `HDBSCAN` are "
        "beside them; rows that are left out count",
        "as one cluster. Written by `python -m benchmarks.defaults`.",
        "",
        "    " + machine.replace("\n", "\n    "),
    ]
    for title, names in (("Real sets", REAL), ("Made sets", MADE)):
        there = {name: results[name] for name in names if name in results}
        if there:
            lines += ["", f"## {title}", "", *table(there)]
    reasons = [reason(name, way, found) for name, found in results.items() for way in found["why"]]
    if reasons:
        lines += [
            "",
            "## Where KernelKMeans or FuzzyCMeans fall short of KMeans by more than "
            f"{short(SHORT_BY, 2)}",
            "",
        ]
        lines += [
            "Objectives were compared: the best of the seeds, and those reached from KMeans' "
            "partition and from the classes.",
            "",
            *reasons,
        ]
    else:
        lines += [
            "",
            "On no set does KernelKMeans or FuzzyCMeans fall short of KMeans by more than "
            f"{short(SHORT_BY, 2)}.",
        ]
    return "\n".join(lines) + "\n"


def table(sets: Results) -> list[str]:
    lines = [
        f"| set (rows, columns, clusters) | {' | '.join(WAYS)} |",
        "|---" * (len(WAYS) + 1) + "|",
    ]
    for name, found in sets.items():
        cells = [f"{short(ari(found, way), 2)}, {seconds(found, way):.2g} s" for way in WAYS]
        lines.append(
            f"| {name} ({found['rows']:,}, {found['columns']}, {found['clusters']}) | "
            f"{' | '.join(cells)} |"
        )
    means = [
        [statistics.mean(of(found, way) for found in sets.values()) for of in (ari, seconds)]
        for way in WAYS
    ]
    return [
        *lines,
        f"| **mean** | {' | '.join(f'**{short(score)}**, {took:.2g} s' for score, took in means)} "
        "|",
    ]


def main() -> None:
    quiet()
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument(
        "--only", nargs="+", choices=[*REAL, *MADE], default=[*REAL, *MADE], metavar="SET"
    )
    parser.add_argument("--fresh", action="store_true", help="measure what is stored again")
    parser.add_argument("--pages", action="store_true", help="measure nothing")
    arguments = parser.parse_args()
    path = DOCS / "defaults.json"
    stored = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"sets": {}}
    for name in [] if arguments.pages else arguments.only:
        if arguments.fresh or name not in stored["sets"]:
            stored["machine"] = header()
            stored["sets"][name] = measure(*labelled(name), arguments.seeds)
            path.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")
            print(name, {way: round(ari(stored["sets"][name], way), 2) for way in WAYS}, flush=True)
    (DOCS / "defaults.md").write_text(page(stored["sets"], stored["machine"]), encoding="utf-8")


if __name__ == "__main__":
    main()
