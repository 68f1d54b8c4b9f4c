"""What the estimators find that look for the number of clusters themselves: on sets of few and of
many columns, counts, and customers.

    python -m benchmarks.number_found                       some six minutes: docs/number_found.md
    python -m benchmarks.number_found --only iris mnist     these anew
    python -m benchmarks.number_found --pages               the page again, from what is stored
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from cmeans import AdaptivePossibilisticCMeans, PossibilisticCMeans, SequentialPossibilisticCMeans

from .defaults import DOCS, MADE, REAL, labelled
from .harness import header, quiet, unit_interval
from .markdown import short

Rows = tuple[np.ndarray, np.ndarray]
ROWS = 2_000
MIXTURES = [(4, 20), (8, 20), (12, 20), (5, 100), (10, 100)]  # clusters, columns


def mixture(clusters: int, columns: int, apart: float, seed: int) -> Rows:
    """Normal clusters of unequal size and width; of random means, pairs of which are some standard
    deviations apart on average."""
    rng = np.random.default_rng(seed)
    y = rng.choice(clusters, ROWS, p=rng.dirichlet(np.full(clusters, 3.0)))
    centres = rng.normal(size=(clusters, columns)) * apart / np.sqrt(2 * columns)
    return centres[y] + rng.uniform(0.6, 1.2, clusters)[y, None] * rng.normal(
        size=(ROWS, columns)
    ), y


def counts(clusters: int, columns: int, seed: int) -> Rows:
    """Poisson counts of rates that are a common profile times a cluster's own factors, and a size
    of each row."""
    rng = np.random.default_rng(seed)
    rates = rng.gamma(1.0, 2.0, size=columns) * np.exp(rng.normal(0, 0.6, size=(clusters, columns)))
    y = rng.integers(clusters, size=ROWS)
    return rng.poisson(rates[y] * rng.lognormal(0, 0.3, ROWS)[:, None]).astype(float), y


def embeddings(clusters: int, columns: int, seed: int) -> Rows:
    """Rows of unit length about directions, the spectrum of their noise falling as 1 / rank."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(clusters, columns))
    centres /= np.linalg.norm(centres, axis=1)[:, None]
    y = rng.choice(clusters, ROWS, p=rng.dirichlet(np.full(clusters, 3.0)))
    widths = np.arange(1, columns + 1) ** -0.5
    noise = rng.normal(size=(ROWS, columns)) * widths / np.linalg.norm(widths)
    x = centres[y] + noise @ np.linalg.qr(rng.normal(size=(columns, columns)))[0]
    return x / np.linalg.norm(x, axis=1)[:, None], y


def customers(rows: int, seed: int) -> Rows:
    """Five unequal kinds of customers: age, income, spending, visits, days since the last, share of
    online purchases, years."""
    rng = np.random.default_rng(seed)
    y = rng.choice(5, rows, p=[0.4, 0.25, 0.18, 0.12, 0.05])
    columns = (
        np.array([28, 45, 63, 38, 52])[y] + rng.normal(0, 5, rows),
        np.exp(np.array([10.2, 10.9, 10.5, 11.4, 12.0])[y] + rng.normal(0, 0.18, rows)),
        np.array([300, 900, 500, 2200, 5200])[y] * np.exp(rng.normal(0, 0.25, rows)),
        rng.poisson(np.array([4, 12, 22, 9, 16])[y]),
        rng.gamma(4, np.array([20, 6, 10, 4, 3])[y] / 4),
        rng.beta(*np.array([[2, 8], [5, 5], [8, 3], [4, 7], [9, 2]])[y].T),
        np.array([1, 6, 11, 4, 9])[y] + rng.normal(0, 1.2, rows),
    )
    return np.column_stack(columns), y


SETS: dict[str, Callable[[], Rows]] = {
    "customers, 2,000": partial(customers, 2000, 0),
    "customers, 5,000": partial(customers, 5000, 1),
    **{
        f"mixture {c} in {d}": partial(mixture, c, d, 12.0, seed)
        for seed, (c, d) in enumerate(MIXTURES)
    },
    "counts 6 in 30": partial(counts, 6, 30, 0),
    "counts 10 in 100": partial(counts, 10, 100, 1),
    "embeddings 6 in 64": partial(embeddings, 6, 64, 0),
    "embeddings 12 in 256": partial(embeddings, 12, 256, 1),
    **{name: partial(labelled, name) for name in (*REAL, *MADE) if not name.startswith("birch")},
}
NAMED = "alpha=1, pilot_m=2"
DEFAULT, SEQUENTIAL, PEER = "by default", "sequential", "KMeans"
WAYS: dict[str, Callable[[int], Any]] = {
    NAMED: lambda c: AdaptivePossibilisticCMeans(
        (1, max(20, 2 * c)), alpha=1.0, pilot_m=2.0, random_state=0
    ),
    DEFAULT: lambda c: AdaptivePossibilisticCMeans((1, max(20, 2 * c)), random_state=0),
    SEQUENTIAL: lambda _: SequentialPossibilisticCMeans(random_state=0),
    "PossibilisticCMeans, m=2, eta_scale=1": lambda c: PossibilisticCMeans(
        c, m=2.0, eta_scale=1.0, random_state=0
    ),
    "PossibilisticCMeans": lambda c: PossibilisticCMeans(c, random_state=0),
    PEER: lambda c: KMeans(c, n_init=10, random_state=0),
}
FINDING = (NAMED, DEFAULT, SEQUENTIAL)


def measure(x: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    """Of every way: ARI, labels in use, the share of rows labelled -1, seconds; scaled rows for
    those that do not scale them."""
    c, found = len(np.unique(y)), {}
    for way, build in WAYS.items():
        started = time.process_time()
        try:
            labels = build(c).fit_predict(x if way in FINDING else unit_interval(x, np.float64))
        except ValueError:  # no cluster wants any row
            labels = np.full(len(x), -1)
        took = time.process_time() - started
        found[way] = [
            float(adjusted_rand_score(y, labels)),
            len(set(labels[labels >= 0].tolist())),
            float(np.mean(labels < 0)),
            took,
        ]
    return {"rows": len(x), "columns": x.shape[1], "clusters": c, "found": found}


def page(results: dict[str, Any], machine: str) -> str:
    """The page, from what is stored."""
    lines = [
        "# The number of clusters as a result",
        "",
        "What `AdaptivePossibilisticCMeans` finds from 20 clusters, or from twice as many as there "
        "are, with `alpha=1, pilot_m=2` and by",
        "default, and `SequentialPossibilisticCMeans`: the adjusted Rand index (rows left out "
        "count as one cluster), the clusters,",
        "the percentage of rows that are left out, and processor seconds. Beside them "
        "`PossibilisticCMeans` and `KMeans(n_init=10)`, given the true",
        f"number, on features in [0, 1]. One random state, at most {ROWS:,} rows but for "
        "customers. Written by `python -m benchmarks.number_found`.",
        "",
        "    " + machine.replace("\n", "\n    "),
        "",
        f"| set (rows, columns, clusters) | {' | '.join(WAYS)} |",
        "|---" * (len(WAYS) + 1) + "|",
    ]
    for name in [name for name in SETS if name in results]:
        one = results[name]
        cells = [_cell(way, *one["found"][way]) for way in WAYS]
        lines.append(
            f"| {name} ({one['rows']:,}, {one['columns']}, {one['clusters']}) | "
            f"{' | '.join(cells)} |"
        )
    means = {way: statistics.mean(one["found"][way][0] for one in results.values()) for way in WAYS}
    lines.append(f"| **mean** | {' | '.join(f'**{short(mean)}**' for mean in means.values())} |")
    return "\n".join([*lines, *WHY]) + "\n"


WHY = """
## Why many columns are hard, and what the defaults do about it

In d columns the rows of a normal cluster are all about sqrt(d) standard deviations from its mean, give or take less than one. So the mean
squared distance, which is the natural scale eta of a possibilistic cluster, is d variances, and another cluster has to be sqrt(2 d)
standard deviations away not to be drawn in. Three things follow.

* With `alpha=1` clusters unite that are far apart; the scale at which they do not is smaller by the concentration of distances, their mean
  over twice their standard deviation. `alpha="auto"` begins there, widens clusters step by step, and keeps those that stand apart best.
* The radius of an automatic sparsity, 0.9 root of eta, is less than the distance of nearly every row. Clusters shrink to nothing, and most
  rows are left out. With `alpha="auto"` a radius is at least 2.5 standard deviations of the cluster's distances beyond their mean.
* The fuzzy run that goes first collapses at m = 2. `pilot_m="auto"` is below the m at which all its centres meet.

The same holds for `PossibilisticCMeans`: with `m=2, eta_scale=1` a row of another cluster has nearly the typicality of a cluster's own. A
small m makes a small relative difference of distances count.

Left are sets whose clusters are not apart in distance at all, such as counts with sizes of rows that differ more than their profiles: take
proportions or their logarithms, principal components, or `FuzzyCMeans` with a number from `cmeans.select`. Silhouettes unite clusters that
touch (Iris, seeds, the close pair of customers); `alpha=1`, or a larger one, separates them and leaves out more rows. The sequential
estimator has the scales of its paper, for few columns in [0, 10], and is no choice for many.
""".splitlines()


def _cell(way: str, ari: float, clusters: int, left_out: float, seconds: float) -> str:
    if way == PEER:
        return short(ari, 2)
    return f"{short(ari, 2)}, {clusters}" + (
        f", {100 * left_out:.0f}%, {seconds:.2g} s" if way in FINDING else ""
    )


def main() -> None:
    quiet()
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--only", nargs="+", choices=[*SETS], metavar="SET", help="measure these again"
    )
    parser.add_argument("--pages", action="store_true", help="measure nothing")
    arguments = parser.parse_args()
    path = DOCS / "number_found.json"
    stored = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"sets": {}}
    for name in [] if arguments.pages else arguments.only or SETS:
        if arguments.only or name not in stored["sets"]:
            stored["machine"] = header()
            stored["sets"][name] = measure(*SETS[name]())
            path.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")
            print(
                name,
                {way: _cell(way, *found) for way, found in stored["sets"][name]["found"].items()},
                flush=True,
            )
    (DOCS / "number_found.md").write_text(page(stored["sets"], stored["machine"]), encoding="utf-8")


if __name__ == "__main__":
    main()
