"""The consensus of eight mixtures on fourteen labelled sets, the number of clusters known.

    python -m benchmarks.consensus [--seeds 3]     three minutes; prints a table

Beside it one mixture and k-means, both with their defaults but for ten starts of k-means. Sets have
columns of one value left out and the others brought to [0, 1]. Numbers are adjusted Rand indices,
means over seeds; `members` is the mean over the eight, `agree` how far two of them do.
"""

from __future__ import annotations

import argparse
import statistics
import time

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from cmeans import ConsensusClustering, GaussianMixture

from .harness import header, load, quiet

SETS = (
    *("balance", "banknote", "ecoli", "glass", "ionosphere", "iris", "seeds", "sonar", "vehicle"),
    *("wdbc", "wine", "yeast", "aggregation", "r15"),
)
COLUMNS = ("consensus", "members", "agree", "mixture", "k-means", "s of CPU")


def labelled(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Rows and kinds of a set."""
    x, kinds = load(name).astype(float), load(name, "y")
    x = x[:, np.ptp(x, axis=0) > 0]
    return (x - x.min(axis=0)) / np.ptp(x, axis=0), kinds


def scores(name: str, seed: int) -> list[float]:
    """A line of the table, for one seed."""
    x, kinds = labelled(name)
    c, before = len(np.unique(kinds)), time.process_time()
    model = ConsensusClustering(c, random_state=seed, n_jobs=1).fit(x)
    taken = time.process_time() - before
    others = (
        GaussianMixture(c, random_state=seed, n_jobs=1).fit(x),
        KMeans(c, n_init=10, random_state=seed).fit(x),
    )
    return [
        adjusted_rand_score(kinds, model.labels_),
        statistics.fmean(adjusted_rand_score(kinds, one) for one in model.member_labels_.T),
        model.agreement_,
        *(adjusted_rand_score(kinds, other.labels_) for other in others),
        taken,
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--seeds", type=int, default=3)
    seeds = parser.parse_args().seeds
    quiet()
    print(header())
    print(f"{'set':<12}", *(f"{name:>10}" for name in COLUMNS))
    lines = []
    for name in SETS:
        lines.append(np.mean([scores(name, seed) for seed in range(seeds)], axis=0))
        print(f"{name:<12}", *(f"{value:10.3f}" for value in lines[-1]), flush=True)
    print(f"{'mean':<12}", *(f"{value:10.3f}" for value in np.mean(lines, axis=0)))


if __name__ == "__main__":
    main()
