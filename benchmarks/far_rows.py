"""What estimators make of one row that is far from all others: its label, its score beside the
threshold, and the clusters of the others.

    python -m benchmarks.far_rows     a few seconds: docs/far_rows.md
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score

from cmeans import (
    AdaptivePossibilisticCMeans,
    FuzzyCMeans,
    KernelKMeans,
    PossibilisticCMeans,
    ProbabilisticKMeans,
    SequentialPossibilisticCMeans,
    StreamingFuzzyCMeans,
)

from .defaults import DOCS

CLUSTERS, ROWS = 3, 300
SPREADS = (2.0, 5.0, 10.0, 100.0, 1e6)
MODELS: dict[str, Callable[[], Any]] = {
    "KernelKMeans": lambda: KernelKMeans(CLUSTERS, kernel="linear", random_state=0),
    "ProbabilisticKMeans": lambda: ProbabilisticKMeans(CLUSTERS, kernel="linear", random_state=0),
    "FuzzyCMeans": lambda: FuzzyCMeans(CLUSTERS, random_state=0),
    "StreamingFuzzyCMeans": lambda: StreamingFuzzyCMeans(CLUSTERS, kernel="linear", random_state=0),
    "FuzzyCMeans, noise": lambda: FuzzyCMeans(CLUSTERS, noise="auto", random_state=0),
    "PossibilisticCMeans": lambda: PossibilisticCMeans(CLUSTERS, random_state=0),
    "AdaptivePossibilisticCMeans": lambda: AdaptivePossibilisticCMeans(random_state=0),
    "SequentialPossibilisticCMeans": lambda: SequentialPossibilisticCMeans(random_state=0),
}


def with_far_row(spreads: float) -> tuple[np.ndarray, np.ndarray]:
    """Three normal blobs of a hundred rows, and a row so many spreads from their mean, a spread
    being the largest distance of their rows from it; the blobs' labels, without the row's."""
    rng, y = np.random.default_rng(0), np.repeat(np.arange(CLUSTERS), ROWS // CLUSTERS)
    blobs = np.array([[0.0, 0.0], [8.0, 0.0], [4.0, 7.0]])[y] + rng.normal(size=(ROWS, 2))
    middle = blobs.mean(axis=0)
    spread = np.sqrt(((blobs - middle) ** 2).sum(axis=1).max())
    return np.vstack([blobs, middle + spreads * spread * np.array([0.6, 0.8])]), y


def cell(make: Callable[[], Any], spreads: float) -> str:
    """The far row's label and verdict, and the adjusted Rand index of the others."""
    rows, y = with_far_row(spreads)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = make().fit(rows)
    label, score = int(model.labels_[-1]), float(model.outlier_score(rows)[-1])
    alone = label >= 0 and np.count_nonzero(model.labels_ == label) == 1
    found = "its own cluster" if alone else "no cluster" if label < 0 else "a cluster"
    index = adjusted_rand_score(y, model.labels_[:-1])
    return f"{found}, {'outlier' if score >= model.outlier_threshold_ else 'not told'}; {index:.2f}"


def page() -> str:
    """The page, measured anew."""
    lines = [
        HEAD,
        f"| estimator | {' | '.join(f'{spreads:,.0f}' for spreads in SPREADS)} |",
        "|---" * (len(SPREADS) + 1) + "|",
    ]
    lines += [
        f"| {name} | {' | '.join(cell(make, spreads) for spreads in SPREADS)} |"
        for name, make in MODELS.items()
    ]
    return "\n".join([*lines, TAIL])


HEAD = """# One row far from all others

A typing error, a sensor that failed, one customer of a thousand: tables have rows that belong nowhere. Here are three blobs of a hundred
rows and one row at 2 to a million spreads from their middle (a spread is the distance of the outermost row of the blobs from it). Each
cell says where the row ends, if its `outlier_score` reaches `outlier_threshold_`, and the adjusted Rand index of all other rows (rows left
out count as one cluster more). Written by `python -m benchmarks.far_rows`.
"""
TAIL = """
What follows from it:

- **Hard and fuzzy clusters serve every row.** From some distance on a centre for the far row lowers the objective by more than two
  blobs cost that share another: the objective asks for it. The row is then a cluster of its own, with a score near 0. Where rows
  may be far, take `FuzzyCMeans(noise="auto")`, or look at clusters of few rows (`cmeans.inspection.summary`).
- **A noise cluster and typicalities leave it out.** `PossibilisticCMeans` gives it the label of the nearest cluster (`labels_` are the
  largest typicality, however small) and a score of 1; the three others label it -1. The search for clusters and their scales begins
  without such rows.
- `CMeans(rule="possibilistic")` is the literature's form: its fuzzy run knows no noise, and a far row may take one of its clusters.

## From which score on

`outlier_threshold_` of a fitted model belongs to its `outlier_score`: rows with at least as much are outliers.

| estimator | `outlier_score` | `outlier_threshold_` |
|---|---|---|
| a noise cluster (`noise=`) | membership in it | 1/2: more than in all clusters together |
| `AdaptivePossibilisticCMeans`, `SequentialPossibilisticCMeans` | 1 - largest typicality | 1: no cluster wants the row (label -1) |
| `PossibilisticCMeans`, and these two with `sparsity=0` | 1 - largest typicality | the score at the distance from which rows are noise |
| all others | distance to the nearest centre | the distance from which `noise="auto"` would call rows noise |

The last two are read off the rows of the fit when they are first asked for, so a model that keeps no rows has none.
"""


def main() -> None:
    (DOCS / "far_rows.md").write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
