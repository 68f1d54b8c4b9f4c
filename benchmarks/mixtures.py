"""Mixtures of Gaussians: how good on twenty labelled sets, and how fast beside scikit-learn's.

    python -m benchmarks.mixtures quality [--seeds 3]     adjusted Rand index, the number known
    python -m benchmarks.mixtures speed [--pairs 5]       time of a sweep, from one start

Sets have columns of one value left out and the others brought to [0, 1]; of larger ones 1,500 rows
are drawn once. A sweep's time is the difference of two fits of few and more sweeps, in pairs with
scikit-learn's in float64; both take the threads that they are given (OPENBLAS_NUM_THREADS, n_jobs).
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
import warnings
from collections.abc import Callable

import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture as Peer

from cmeans import Covariance, GaussianMixture, KernelKMeans

from .harness import header, load

SETS = (
    *("balance", "banknote", "ecoli", "glass", "ionosphere", "iris", "seeds", "vehicle", "wdbc"),
    *("wine", "yeast", "aggregation", "a1", "r15", "s2", "s4", "unbalance", "d31", "sonar"),
    "digits",
)
ROWS = 1500
SIZES = ((1_000, 4, 3), (10_000, 10, 6), (100_000, 10, 6), (100_000, 30, 10))
SWEEPS = {1_000: 200, 10_000: 60, 100_000: 20}


def labelled(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Rows and kinds of a set."""
    if name == "digits":
        x, kinds = load_digits(return_X_y=True)
    else:
        x, kinds = load(name).astype(float), load(name, "y")
    x = x[:, np.ptp(x, axis=0) > 0]
    x = (x - x.min(axis=0)) / np.ptp(x, axis=0)
    if len(x) <= ROWS or name == "digits":
        return x, kinds
    some = np.random.default_rng(0).choice(len(x), ROWS, replace=False)
    return x[some], kinds[some]


def quality(seeds: int) -> None:
    print("| set | rows | k-means | mixture | start |\n|---|---|---|---|---|")
    found = list[tuple[int, float, float]]()
    for name in SETS:
        x, kinds = labelled(name)
        c, scores = len(np.unique(kinds)), list[tuple[float, float]]()
        for seed in range(seeds):
            plain = KernelKMeans(c, kernel="linear", random_state=seed).fit(x)
            model = GaussianMixture(c, random_state=seed).fit(x)
            scores.append(
                (
                    adjusted_rand_score(kinds, plain.labels_),
                    adjusted_rand_score(kinds, model.labels_),
                )
            )
        plain_score, score = np.mean(scores, axis=0)
        found.append((len(x), plain_score, score))
        print(
            f"| {name} | {len(x)} | {plain_score:.3f} | {score:.3f} | {model.start_} |", flush=True
        )
    few = [each for each in found if each[0] < ROWS]
    for title, part in (("all", found), ("fewer than 1,500 rows", few)):
        means = np.mean([each[1:] for each in part], axis=0)
        print(f"| mean of {len(part)}, {title} | | {means[0]:.3f} | {means[1]:.3f} | |")


def seconds_a_sweep(fit: Callable[[int], object], sweeps: int, threads: int) -> float:
    """Seconds of one sweep more; of one thread, those of the processor alone."""
    taken, clock = list[float](), time.process_time if threads == 1 else time.perf_counter
    for count in (1, sweeps + 1):
        begun = clock()
        fit(count)
        taken.append(clock() - begun)
    return (taken[1] - taken[0]) / sweeps


def ways(n: int, d: int, c: int, threads: int) -> list[Callable[[int], object]]:
    """Fits of so many sweeps from one start: scikit-learn's, and ours of two types."""
    rng = np.random.default_rng(0)
    x = 2.0 * rng.normal(size=(c, d))[rng.integers(0, c, n)] + rng.normal(size=(n, d))
    first = Peer(c, max_iter=1, init_params="random_from_data", random_state=0).fit(x)
    given = {
        "weights_init": first.weights_,
        "means_init": first.means_,
        "precisions_init": first.precisions_,
    }
    start = first.weights_, first.means_, first.covariances_
    words = {"init": start, "tol": 0, "n_jobs": threads, "covariance": Covariance(prior=0)}
    single = x.astype(np.float32)
    return [
        lambda sweeps: Peer(c, max_iter=sweeps, tol=0, reg_covar=0, **given).fit(x),
        lambda sweeps: GaussianMixture(c, max_iter=sweeps, **words).fit(x),
        lambda sweeps: GaussianMixture(c, max_iter=sweeps, **words).fit(single),
    ]


def speed(pairs: int, threads: int) -> None:
    print("| rows | columns | clusters | scikit-learn, ms | float64 | float32 |")
    print("|---|---|---|---|---|---|")
    for n, d, c in SIZES:
        taken = list[list[float]]()
        for _ in range(pairs):
            fits = ways(n, d, c, threads)
            taken.append([seconds_a_sweep(fit, SWEEPS[n], threads) for fit in fits])
        peer, *times = (
            statistics.median(row[0] / (row[k] if k else 1.0) for row in taken) for k in range(3)
        )
        print(
            f"| {n:,} | {d} | {c} | {1e3 * peer:.2f} | {times[0]:.1f} times | "
            f"{times[1]:.1f} times |",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("quality", "speed"))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    options = parser.parse_args()
    print(header())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if options.what == "quality":
            quality(options.seeds)
        else:
            speed(options.pairs, options.threads)


if __name__ == "__main__":
    main()
