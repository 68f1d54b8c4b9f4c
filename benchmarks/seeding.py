"""First centres: k-means++ on samples of several sizes against k-means|| on all rows, what they
cost and where they lead.

The objective is that of hard c-means in the space at hand, right after seeding and 20 sweeps later,
as a mean over seeds; seconds are CPU time in one thread. Numbers beside a method are the rows its
sample has.

    python -m benchmarks.seeding
    python -m benchmarks.seeding --many mixture mnist     very many clusters: what a fit does,
                                                          beside k-means++ on all rows
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from cmeans.data.arrays import IntArray
from cmeans.data.blocks import Blocks
from cmeans.engines import ThreadEngine
from cmeans.kernels import RBF, Kernel, Linear
from cmeans.rules import Hard
from cmeans.sampling.kmeans_parallel import scalable_kmeans_plus_plus
from cmeans.sampling.kmeanspp import kmeans_plus_plus
from cmeans.sampling.kmeanspp import seeds as seeds_of_many
from cmeans.sampling.merged_draws import merged_draws
from cmeans.sampling.pairwise import Metric
from cmeans.sampling.population import Population, population_of, sample
from cmeans.solvers.fixed_point import solve
from cmeans.spaces import EuclideanSpace, Space, landmark_space
from cmeans.sweeps.problem import Problem, Stopping
from cmeans.sweeps.represented_rows import RepresentedRows
from cmeans.sweeps.state import State

from .harness import header, load, quiet, unit_interval
from .many_clusters import mixture

SWEEPS = 20
LANDMARKS = 300
SAMPLES = (1_000, 2_000, 5_000, 20_000, 100_000)


@dataclass(frozen=True)
class Case:
    """Rows, a kernel and a number of clusters."""

    name: str
    x: np.ndarray
    kernel: Kernel
    clusters: int

    def space(self) -> Space:
        if isinstance(self.kernel, Linear):
            return EuclideanSpace(self.x.mean(axis=0, dtype=np.float64))
        rows = np.random.RandomState(0).permutation(len(self.x))[:LANDMARKS]
        return landmark_space(self.kernel, self.x[rows], None, self.x.dtype)


def cases() -> Iterator[Case]:
    birch = load("birch1").astype(np.float64)
    yield Case("birch1, linear", birch, Linear(), 100)
    yield Case("birch1, linear", birch, Linear(), 1_000)
    yield Case(
        f"covtype, RBF gamma 1, {LANDMARKS} landmarks",
        unit_interval(load("covtype"), np.float32),
        RBF(1.0),
        7,
    )


def seeded(
    size: int | None,
    metric: Metric,
    population: Population,
    count: int,
    seed: int,
    engine: ThreadEngine,
) -> IntArray:
    """Row numbers from k-means++ on a sample of that size, from k-means|| where there is none."""
    rng = np.random.RandomState(seed)
    if size is None:
        return scalable_kmeans_plus_plus(metric, population, count, rng, engine)
    positions, weights = sample(population, size, rng)
    rows = population.at(positions)
    return rows[kmeans_plus_plus(metric.among(rows), weights, count, rng)]


def compare(case: Case, seeds: int) -> None:
    blocks, space = Blocks(case.x, np.ones(len(case.x))), case.space()
    population, metric = population_of(blocks), Metric(case.kernel, blocks)
    represented = RepresentedRows(space, blocks, 2 * 10**9)
    print(
        f"\n{case.name}: {len(case.x):,} x {case.x.shape[1]}, {case.x.dtype}, c = {case.clusters}, "
        f"{seeds} seeds"
    )
    print(
        f"{'':22s}{'seconds':>9s}{'after seeding':>16s}{'deviation':>11s}{f'{SWEEPS} sweeps on':>16s}{'deviation':>11s}"
    )
    for size in (*SAMPLES, None):
        name = "k-means||" if size is None else f"k-means++ {size:,}"
        seconds, objectives = [], []
        for seed in range(seeds):
            with ThreadEngine(1).opened() as engine:
                start = time.process_time()
                rows = seeded(size, metric, population, case.clusters, seed, engine)
                seconds.append(time.process_time() - start)
            with ThreadEngine(2).opened() as engine:
                state = State(space.embed(blocks.take(rows), rows))
                problem = Problem(represented, Hard(), engine, Stopping(SWEEPS, 0.0))
                solution = solve(problem, state)
                objectives.append((solution.history[0], problem.sweep(solution.state).objective))
        mean = np.mean(objectives, axis=0)
        share = np.std(objectives, axis=0) / mean
        print(
            f"{name:22s}{np.median(seconds):9.3f}{mean[0]:16.6g}{share[0]:11.1%}{mean[1]:16.6g}{share[1]:11.2%}",
            flush=True,
        )


MANY_ROWS, MANY_SWEEPS = 40_000, 25
WAYS = ("k-means++, all rows", "as in a fit", "drawn ahead", "k-means||", "rows at random")


def many_case(name: str) -> Case:
    """Rows for very many clusters."""
    if name.startswith("mixture"):
        columns = int(name[7:] or 768)
        return Case(name, mixture(columns, 0.1, MANY_ROWS)[0], Linear(), 1_000)
    x = load(name)
    rows = np.random.RandomState(0).permutation(len(x))[:MANY_ROWS]
    return Case(
        name, unit_interval(x[rows], np.float32), Linear(), 256 if name == "covtype" else 1_000
    )


def many_seeded(
    way: str, metric: Metric, population: Population, count: int, seed: int, engine: ThreadEngine
) -> IntArray:
    """Row numbers by one way to begin very many clusters."""
    rng = np.random.RandomState(seed)
    if way == "rows at random":
        return population.at(rng.choice(len(population), count, replace=False))
    if way == "k-means||":
        return scalable_kmeans_plus_plus(metric, population, count, rng, engine)
    everywhere = way == "k-means++, all rows"
    positions, weights = sample(
        population,
        len(population) if everywhere else population.limits.seeding_rows_for(count),
        rng,
    )
    affinity = metric.among(population.at(positions)).in_given_precision()
    return population.at(
        positions[
            (kmeans_plus_plus if everywhere else seeds_of_many)(affinity, weights, count, rng)
        ]
    )


def compare_many(case: Case, seeds: int) -> None:
    """What starts cost, in sweeps that know nothing of the rows, and where they lead, beside greedy
    k-means++ on all rows."""
    blocks, space = Blocks(case.x, np.ones(len(case.x))), case.space()
    population, metric = population_of(blocks), Metric(case.kernel, blocks)
    represented = RepresentedRows(space, blocks, 2 * 10**9)
    found: dict[str, list[tuple[float, float, float]]] = {way: [] for way in WAYS}
    for seed in range(seeds):
        for way in WAYS:
            with ThreadEngine(1).opened() as engine:
                begun = time.process_time()
                problem = Problem(represented, Hard(), engine, Stopping(MANY_SWEEPS, 0.0))
                if way == "as in a fit":
                    rng = np.random.RandomState(seed)
                    centres = merged_draws(problem, population, case.clusters, rng)
                    assert centres is not None, "plain rows differ, and there is native code"
                else:
                    rows = many_seeded(way, metric, population, case.clusters, seed, engine)
                    centres = space.embed(blocks.take(rows), rows)
                seconds = time.process_time() - begun
                begun, state = time.process_time(), State(centres)
                first = problem.sweep(state).objective
                sweep = time.process_time() - begun
            with ThreadEngine(2).opened() as engine:
                problem = Problem(represented, Hard(), engine, Stopping(MANY_SWEEPS, 0.0))
                after = problem.sweep(solve(problem, state).state).objective
            found[way].append((seconds / sweep, first, after))
    best = np.mean(found[WAYS[0]], axis=0)
    print(
        f"\n{case.name}: {len(case.x):,} x {case.x.shape[1]}, {case.x.dtype}, c = "
        f"{case.clusters:,}, {seeds} seeds"
    )
    print(f"{'':22s}{'sweeps':>9s}{'right after':>13s}{f'{MANY_SWEEPS} sweeps on':>15s}")
    for way, runs in found.items():
        mean = np.mean(runs, axis=0)
        print(
            f"{way:22s}{np.median(runs, axis=0)[0]:9.1f}{mean[1] / best[1] - 1:+13.2%}{mean[2] / best[2] - 1:+15.2%}",
            flush=True,
        )


def main() -> None:
    quiet()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument(
        "--many",
        nargs="+",
        metavar="SET",
        help="very many clusters of mixture, mixture40, mnist, covtype; nothing else",
    )
    arguments = parser.parse_args()
    print(header())
    for name in arguments.many or ():
        compare_many(many_case(name), arguments.seeds)
    if arguments.many:
        return
    for case in cases():
        compare(case, arguments.seeds if case.clusters < 1_000 else min(arguments.seeds, 3))


if __name__ == "__main__":
    main()
