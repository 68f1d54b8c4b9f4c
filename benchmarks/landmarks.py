"""How many landmarks the same residual takes, drawn by randomly pivoted Cholesky, k-means++ and
uniformly; and how many "auto" takes.

    python -m benchmarks.landmarks --out docs/landmarks.md

The residual is what landmarks leave of the kernel's trace (of the centred kernel's for "auto": its
own measure), here from plain float64 formulas on 5,000 other rows. A number is the median over
seeds of the least that leaves no more than 400 uniform ones do.
"""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path

import numpy as np

from cmeans import KernelKMeans
from cmeans.data.blocks import Blocks
from cmeans.kernels import RBF
from cmeans.landmarks.select import choose
from cmeans.sampling.pairwise import affinity
from cmeans.sampling.population import population_of

from .harness import grow, header, load, quiet, unit_interval
from .judge import rbf

# gamma, clusters
PROBLEMS = {
    "unbalance": (200.0, 8),
    "covtype": (1.0, 7),
    "mnist": (0.03, 10),
    "birch1": (200.0, 100),
}
UNIFORM = 400
JUDGED = 5000


def residuals(x: np.ndarray, landmarks: np.ndarray, gamma: float) -> np.ndarray:
    """Share of the trace that the first 1, 2, ... of the landmarks leave out of the rows x."""
    gram, cross = rbf(landmarks, landmarks, gamma), rbf(landmarks, x, gamma)
    lower = np.linalg.cholesky(gram + 1e-11 * np.eye(len(gram)))
    taken = np.linalg.solve(lower, cross) ** 2
    return 1.0 - np.cumsum(taken.mean(axis=1))


def measure(name: str, seeds: int) -> str:
    """One row of the table."""
    gamma, clusters = PROBLEMS[name]
    x = unit_interval(load(name), np.float64)
    blocks = Blocks(x, np.ones(len(x)))
    population, kernel = population_of(blocks), RBF(gamma)
    judged = x[np.random.default_rng(0).permutation(len(x))[:JUDGED]]
    least: dict[str, list[int]] = {"rpcholesky": [], "k-means++": []}
    level = []
    for seed in range(seeds):
        rng = np.random.RandomState(seed)
        known = lambda positions: affinity(kernel, blocks, population.at(positions))  # noqa: E731
        order = choose("uniform", UNIFORM, known, population, rng)
        level.append(float(residuals(judged, x[order], gamma)[-1]))
        for method, found in least.items():
            left = residuals(judged, x[choose(method, UNIFORM, known, population, rng)], gamma)
            found.append(
                int(np.argmax(left <= level[-1])) + 1 if left[-1] <= level[-1] else UNIFORM
            )
    started = time.process_time()
    model = KernelKMeans(clusters, gamma=gamma, random_state=0, max_iter=20, tol=0.01).fit(
        x.astype(np.float32)
    )
    seconds = time.process_time() - started
    made = model.approximation_
    chosen = (
        f"{statistics.median(least['rpcholesky']):.0f} | "
        f"{statistics.median(least['k-means++']):.0f}"
    )
    return (
        f"| {name}, gamma {gamma:g} | {100 * statistics.median(level):.3g}% | {chosen} | "
        f"{made.n_landmarks} | "
        f"{100 * made.residual:.3g}% | {100 * made.comparison_error:.2g}% | {seconds:.2f} s |"
    )


def main() -> None:
    quiet()
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--only", nargs="+", choices=tuple(PROBLEMS), default=list(PROBLEMS))
    parser.add_argument("--out", type=Path, metavar="FILE", help="the table as Markdown")
    arguments = parser.parse_args()
    lines = [
        "# Landmarks",
        "",
        f"The share of the kernel's trace that {UNIFORM} uniform landmarks leave out, how many of "
        "the other methods leave out no more; "
        'and the number, share and ranking error of landmarks="auto" (tol=0.02), and the processor '
        "seconds of that fit.",
        "",
        "    " + header().replace("\n", "\n    "),
        "",
        f"| data | left by {UNIFORM} uniform | rpcholesky | k-means++ | auto | leaves | ranking "
        "error | whole fit |",
        "|---|---|---|---|---|---|---|---|",
    ]
    grow(lines, (measure(name, arguments.seeds) for name in arguments.only), arguments.out)


if __name__ == "__main__":
    main()
