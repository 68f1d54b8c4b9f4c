"""Mixtures of Gaussians: how good on twenty labelled sets, and how fast beside scikit-learn's.

    python -m benchmarks.mixtures quality [--seeds 3]     adjusted Rand index, the number known
    python -m benchmarks.mixtures posteriors              errors of posteriors, the mixture known
    python -m benchmarks.mixtures missing [--draws 5]     a fifth of the values missing
    python -m benchmarks.mixtures noise                   a tenth of the rows spread evenly
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
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.stats import multivariate_normal
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer
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


@dataclass(frozen=True)
class Known:
    """Rows of a mixture that is known: four stretched components."""

    x: np.ndarray
    kinds: np.ndarray
    means: np.ndarray
    covariances: np.ndarray

    @classmethod
    def drawn(cls, n: int, d: int, seed: int, apart: float) -> Known:
        rng = np.random.default_rng([d, seed])
        kinds = rng.integers(0, 4, n)
        stretch, means = rng.normal(size=(4, d, d)) / np.sqrt(d), apart * rng.normal(size=(4, d))
        x = means[kinds] + np.einsum("nij,nj->ni", stretch[kinds], rng.normal(size=(n, d)))
        return cls(x, kinds, means, stretch @ np.swapaxes(stretch, 1, 2))

    def densities(self, x: np.ndarray) -> np.ndarray:
        """(n, 4) of rows in the components."""
        found = [
            multivariate_normal(mean, covariance, allow_singular=True).pdf(x)
            for mean, covariance in zip(self.means, self.covariances, strict=True)
        ]
        return np.transpose(found)


def posteriors() -> None:
    """Mean absolute differences from the posteriors of the true mixture, components matched."""
    print("| columns | mixture | ours | scikit-learn |\n|---|---|---|---|")
    totals = []
    for number in range(10):
        d = (2, 3, 5, 8, 10)[number % 5]
        known = Known.drawn(500, d, number, 1.5)
        truth = known.densities(known.x)
        truth /= truth.sum(axis=1, keepdims=True)
        errors = []
        for model in (GaussianMixture(4, random_state=0), Peer(4, random_state=0)):
            u = np.asarray(model.fit(known.x).predict_proba(known.x))
            away = np.abs(u[:, :, None] - truth[:, None, :]).mean(axis=0)
            errors.append(away[linear_sum_assignment(away)].mean())
        totals.append(errors)
        print(f"| {d} | {number} | {errors[0]:.3f} | {errors[1]:.3f} |", flush=True)
    ours, theirs = np.mean(totals, axis=0)
    print(f"| mean | | {ours:.3f} | {theirs:.3f} |")


def missing(draws: int) -> None:
    """Adjusted Rand index and error of imputed values, in ranges of the columns, beside the same
    mixture on the completion of scikit-learn's IterativeImputer."""
    made = Known.drawn(600, 10, 0, 1.2)
    sets = {"iris": load_iris(return_X_y=True), "wine": load_wine(return_X_y=True)}
    print("| set | whole | holes | imputed first | error | of IterativeImputer |")
    print("|---|---|---|---|---|---|")
    for name, (x, kinds) in {**sets, "10 columns": (made.x, made.kinds)}.items():
        x = (x - x.min(axis=0)) / np.ptp(x, axis=0)
        c, found = len(np.unique(kinds)), list[list[float]]()
        whole = GaussianMixture(c, random_state=0).fit(x)
        for draw in range(draws):
            holes = np.random.default_rng(draw).random(x.shape) < 0.2
            holes[holes.all(axis=1), 0] = False
            here = np.where(holes, np.nan, x)
            model = GaussianMixture(c, missing="partial", random_state=0).fit(here)
            filled = IterativeImputer(random_state=0, max_iter=20).fit_transform(here)
            other = GaussianMixture(c, random_state=0).fit(filled)
            found.append(
                [
                    *(adjusted_rand_score(kinds, one.labels_) for one in (model, other)),
                    *(np.sqrt(np.mean((y - x)[holes] ** 2)) for y in (model.impute(here), filled)),
                ]
            )
        scores = " | ".join(f"{value:.3f}" for value in np.mean(found, axis=0))
        print(
            f"| {name} | {adjusted_rand_score(kinds, whole.labels_):.3f} | {scores} |", flush=True
        )


def noise() -> None:
    """Recall and precision of the rows that are noise, beside those of the Bayes rule with the true
    parameters, and with one more row at 10^4 ranges."""
    print('| columns | mixture | Bayes rule | noise="auto" | noise=0.1 | with a far row |')
    print("|---|---|---|---|---|---|")
    for d, seed in product((2, 5, 10), range(4)):
        known = Known.drawn(1500, d, seed, 3.0)
        x, is_noise, ends = known.x, np.arange(1500) < 150, np.quantile(known.x, (0, 1), axis=0)
        x[is_noise] = np.random.default_rng(seed).uniform(*ends, size=(150, d))
        bayes = 0.1 / np.prod(ends[1] - ends[0]) > 0.225 * known.densities(x).max(axis=1)
        far = np.r_[x, [x.mean(axis=0) + 1e4 * np.ptp(x, axis=0)]]
        said = [bayes]
        for share, rows in (("auto", x), (0.1, x), ("auto", far)):
            model = GaussianMixture(4, noise=share, random_state=0).fit(rows)
            said.append(model.labels_[:1500] < 0)
        hits = [(one & is_noise).sum() for one in said]
        told = " | ".join(
            f"{hit / 150:.2f} {hit / one.sum():.2f}" for hit, one in zip(hits, said, strict=True)
        )
        print(f"| {d} | {seed} | {told} |", flush=True)


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
    parser.add_argument("what", choices=("quality", "posteriors", "missing", "noise", "speed"))
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    options = parser.parse_args()
    print(header())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if options.what == "quality":
            quality(options.seeds)
        elif options.what == "posteriors":
            posteriors()
        elif options.what == "missing":
            missing(options.draws)
        elif options.what == "noise":
            noise()
        else:
            speed(options.pairs, options.threads)


if __name__ == "__main__":
    main()
