"""Very many initial centres: draws that are merged two by two."""

from __future__ import annotations

import numpy as np
import pytest

from cmeans import KernelKMeans
from cmeans.data.blocks import Blocks
from cmeans.engines import ThreadEngine
from cmeans.kernels import Linear
from cmeans.native import is_available
from cmeans.rules import Hard
from cmeans.sampling import merged_draws as module
from cmeans.sampling.kmeanspp import kmeans_plus_plus
from cmeans.sampling.merged_draws import merged_draws
from cmeans.sampling.pairwise import Metric
from cmeans.sampling.population import population_of
from cmeans.spaces import EuclideanSpace
from cmeans.spaces.centres import Centres
from cmeans.sweeps.problem import Problem
from cmeans.sweeps.represented_rows import RepresentedRows
from cmeans.sweeps.state import State

pytestmark = pytest.mark.skipif(not is_available(), reason="draws are merged by native code")


def heaps(n: int, count: int, d: int = 6, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(count, d)) * 5
    return centres[rng.integers(count, size=n)] + rng.normal(size=(n, d))


def problem_of(x: np.ndarray, weight: np.ndarray | None = None, jobs: int = 1) -> Problem:
    blocks = Blocks(x, np.ones(len(x)) if weight is None else weight)
    rows = RepresentedRows(EuclideanSpace(x.mean(axis=0, dtype=float)), blocks, 10**9)
    return Problem(rows, Hard(), ThreadEngine(jobs))


def merged(problem: Problem, count: int, seed: int = 0) -> Centres | None:
    with problem.engine.opened() as engine:
        given = Problem(problem.rows, problem.rule, engine)
        population = population_of(problem.rows.blocks)
        return merged_draws(given, population, count, np.random.RandomState(seed))


def test_merging_is_wards() -> None:
    rng = np.random.default_rng(0)
    points, mass = rng.normal(size=(14, 3)), rng.uniform(1, 3, 14)
    known = np.argsort(((points[:, None] - points[None]) ** 2).sum(axis=2), axis=1)
    found = module._merged(Centres.orthonormal(points), mass, known, 5)
    groups = [{i} for i in range(14)]

    def cost(one: set[int], other: set[int]) -> float:
        a, b = sorted(one), sorted(other)
        gap = np.average(points[a], axis=0, weights=mass[a]) - np.average(
            points[b], axis=0, weights=mass[b]
        )
        return mass[a].sum() * mass[b].sum() / (mass[a].sum() + mass[b].sum()) * (gap @ gap)

    while len(groups) > 5:
        pairs = [(i, j) for j in range(len(groups)) for i in range(j)]
        i, j = min(pairs, key=lambda pair: cost(groups[pair[0]], groups[pair[1]]))
        groups[i] |= groups.pop(j)
    assert {frozenset(np.flatnonzero(found == j)) for j in range(5)} == set(map(frozenset, groups))


def test_draws_are_those_of_kmeans_plus_plus() -> None:
    """The second of two draws among three places, one of them heavy: by squared distances."""
    x = np.array([[0.0], [1.0], [3.0]])
    weights, times = np.array([1.0, 4.0, 2.0]), np.zeros((3, 3))
    problem = problem_of(x, weights)
    with problem.engine.opened() as engine:
        given = Problem(problem.rows, Hard(), engine)
        for seed in range(500):
            rows, _ = module._drawn(given, weights, 2, np.random.RandomState(seed))
            times[tuple(rows)] += 1
    mass = weights * (x - x.T) ** 2
    right = weights[:, None] / weights.sum() * mass / mass.sum(axis=1, keepdims=True)
    assert np.abs(times / times.sum() - right).max() < 0.06


def test_centres_are_no_worse_than_greedy_draws() -> None:
    x = heaps(4000, 300).astype(np.float32)
    problem, found = problem_of(x), merged(problem_of(x), 300)
    assert found is not None
    assert len(found) == 300
    blocks = problem.rows.blocks
    metric = Metric(Linear(), blocks).among(np.arange(len(x)))
    rows = kmeans_plus_plus(metric, np.ones(len(x)), 300, np.random.RandomState(0))
    greedy = problem.space.embed(blocks.take(rows), rows)
    with problem.engine.opened() as engine:
        given = Problem(problem.rows, Hard(), engine)
        ours, theirs = (given.sweep(State(one)).objective for one in (found, greedy))
    assert ours < 0.75 * theirs


def test_threads_and_weights_change_no_bit() -> None:
    x = np.round(heaps(1200, 260), 1)
    weight = np.random.default_rng(1).integers(1, 3, len(x)).astype(float)
    one, copies = problem_of(x, weight), problem_of(np.repeat(x, weight.astype(int), axis=0))
    copies = Problem(RepresentedRows(one.space, copies.rows.blocks, 10**9), Hard(), copies.engine)
    found = [merged(p, 256) for p in (one, problem_of(x, weight, jobs=2), copies)]
    assert found[0] is not None
    for other in found[1:]:
        assert other is not None
        np.testing.assert_array_equal(other.coordinates, found[0].coordinates)


def test_wide_rows_are_drawn_along_directions(monkeypatch: pytest.MonkeyPatch) -> None:
    x = heaps(900, 300, d=300).astype(np.float32)
    problem = problem_of(x)
    seen = []
    drawn = module._drawn
    monkeypatch.setattr(
        module, "_drawn", lambda low, *more: (seen.append(low.space.size), drawn(low, *more))[1]
    )
    found = merged(problem, 256)
    assert found is not None
    assert seen == [module.DIRECTIONS]
    assert found.coordinates.shape == (256, 300)


@pytest.mark.parametrize("kernel", ["linear", "cosine"])
def test_fewer_different_rows_make_so_many_centres(kernel: str) -> None:
    x = np.repeat(heaps(239, 239), 8, axis=0).astype(np.float32)
    with pytest.warns(UserWarning, match="only 239 distinct"):
        model = KernelKMeans(300, kernel=kernel, search=None, random_state=0).fit(x)
    assert model.n_clusters_ == 239
    assert np.bincount(model.labels_).min() == 8
