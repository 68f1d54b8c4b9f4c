"""The resolution at which communities are stable, and their consensus there."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ..data.arrays import Float64, IntArray
from ..data.limits import MOST_COPIES
from ..engines import Engine
from .communities import best_of_few, communities, settled
from .community_graph import CommunityGraph, compact
from .community_moves import joined

LEVELS = np.arange(-5.0, 1.51, 0.5)  # powers of two that are resolutions
STEP = 0.5  # between levels
RUNS = 3  # of each level
ROUNDS = 5  # of a run
WITHIN = 1.0  # octaves, within which levels are to agree
PENALTY = 0.04  # of stability, for each octave from resolution 1
ONE = 0.9  # sum of squared shares of communities, above which they are one and crumbs
STABLE = 0.8  # stability less its penalty, from which on a level is stable
APART = 1e-4  # weight of an edge whose ends no run keeps together
FINE, FINE_RUNS = 64.0, 2  # resolution of the runs that make cells, and their number


@dataclass(frozen=True)
class Levels:
    """Runs at some resolutions, and how well they agree."""

    exponents: Float64  # (q,) powers of two that are the resolutions
    runs: tuple[tuple[IntArray, ...], ...]  # communities (n,), some of each level
    stability: Float64  # (q,) -inf where communities are one and crumbs, or single nodes

    def chosen(self) -> int:
        """Return the level that is most stable; resolution 1 where none can be."""
        value = self.stability - PENALTY * np.abs(self.exponents)
        nearest = np.argmin(np.abs(self.exponents))
        return int(np.argmax(value) if np.isfinite(value).any() else nearest)

    def maxima(self) -> IntArray:
        """Return the stable levels that are more so than the ones beside them, the most stable
        first. The last level is none: what is beyond it is not known."""
        value = np.concatenate([[-np.inf], self.stability, [np.inf]])
        higher = (value[1:-1] > value[:-2]) & (value[1:-1] >= value[2:])
        found = np.flatnonzero(higher & (self.stability >= STABLE))
        return found[np.argsort(-self.stability[found], kind="stable")]


def levels(graph: CommunityGraph, exponents: Float64, sizes: Float64, engine: Engine) -> Levels:
    """Return runs at resolutions, and the mean adjusted Rand index between the runs of each and
    those of the levels within an octave; `sizes` (n,): rows of each node."""

    def run(task: int) -> IntArray:
        level, number = divmod(task, RUNS)
        resolution = 2.0 ** exponents[level]
        return communities(graph, resolution, draw=(level, number), rounds=ROUNDS)

    found = list(engine.run(run, RUNS * len(exponents)))
    runs = tuple(tuple(found[RUNS * i : RUNS * (i + 1)]) for i in range(len(exponents)))
    agreement = np.full((len(exponents), len(exponents)), np.nan)
    for i, j in np.ndindex(agreement.shape):
        if j <= i and exponents[i] - exponents[j] <= WITHIN:
            values = [
                adjusted_rand(one, other, sizes)
                for p, one in enumerate(runs[i])
                for q, other in enumerate(runs[j])
                if i != j or p > q
            ]
            agreement[i, j] = agreement[j, i] = np.mean(values)
    stability = np.nanmean(agreement, axis=1)
    out = [any(_is_no_level(labels, sizes) for labels in of_one) for of_one in runs]
    stability[out] = -np.inf
    return Levels(exponents, runs, stability)


def _is_no_level(labels: IntArray, sizes: Float64) -> bool:
    shares = np.bincount(labels, sizes) / sizes.sum()
    return bool((shares**2).sum() > ONE or len(shares) == len(labels))


def adjusted_rand(a: IntArray, b: IntArray, sizes: Float64) -> float:
    """Return the adjusted Rand index of two labellings of nodes that stand for several rows, on an
    average for one at least."""
    mass = sizes.sum()
    sizes = sizes / max(min(1.0, mass / len(sizes)), mass / MOST_COPIES)

    def pairs(counts: npt.NDArray[Any]) -> float:
        return float((counts * (counts - 1)).sum()) / 2

    both = pairs(sparse.csr_array((sizes, (a, b))).data)
    of_a, of_b = pairs(np.bincount(a, sizes)), pairs(np.bincount(b, sizes))
    total = pairs(np.array([sizes.sum()]))
    expected, most = of_a * of_b / total if total else 0.0, (of_a + of_b) / 2
    return 1.0 if most - expected <= 1e-9 * most else (both - expected) / (most - expected)


def consensus(graph: CommunityGraph, resolution: float, runs: Sequence[IntArray]) -> IntArray:
    """Return communities (n,) of the graph whose edges weigh as much as runs keep their ends
    together."""
    together = np.zeros(len(graph.end))
    for labels in runs:
        together += labels[graph.begin] == labels[graph.end]
    share = APART + (1 - APART) * together / len(runs)
    return communities(replace(graph, weight=graph.weight * share), resolution)


def cells(graph: CommunityGraph) -> IntArray:
    """Return small groups (n,) of nodes, which runs at a high resolution all keep together."""
    group = np.zeros(graph.n_nodes, np.int64)
    for number in range(FINE_RUNS):
        labels = communities(graph, FINE, draw=(number,), rounds=1)
        group = compact(group * (int(labels.max()) + 1) + labels)
    return group


@dataclass(frozen=True)
class Layer:
    """Communities, and the resolution at which they were found."""

    labels: IntArray  # (n,)
    resolution: float


@dataclass(frozen=True)
class StableCommunities:
    """Communities, the resolution at which they were found, and how stable each level is."""

    labels: IntArray  # (n,)
    resolution: float
    levels: Levels
    level: int
    others: tuple[Layer, ...] = ()  # at other levels where stability is largest

    @property
    def stability(self) -> float:
        return float(self.levels.stability[self.level])

    @property
    def is_stable(self) -> bool:
        return self.stability - PENALTY * abs(math.log2(self.resolution)) >= STABLE


@dataclass(frozen=True)
class CommunitySearch:
    """A graph, and the one of its cells in which levels are compared."""

    graph: CommunityGraph
    coarse: CommunityGraph
    cell: IntArray  # (n,)
    sizes: Float64  # of cells
    engine: Engine

    @classmethod
    def of(
        cls, graph: CommunityGraph, sizes: Float64, most: int, engine: Engine
    ) -> CommunitySearch:
        """`most`: nodes up to which each is a cell of its own."""
        if graph.n_nodes <= most:
            return cls(graph, graph, np.arange(graph.n_nodes), sizes, engine)
        cell = cells(graph)
        of_cells = np.bincount(cell, sizes).astype(np.float64)
        return cls(graph, joined(graph, cell), cell, of_cells, engine)

    def at(self, resolution: float) -> StableCommunities:
        """Return the communities at a resolution."""
        near = np.log2(resolution) + STEP * np.arange(-1, 2)
        found = levels(self.coarse, near, self.sizes, self.engine)
        labels = self._layer(found, 1, resolution).labels
        return StableCommunities(labels, resolution, replace(found, runs=()), 1)

    def most_stable(self) -> StableCommunities:
        """Return the communities at the resolution where they are most stable."""
        found = levels(self.coarse, LEVELS, self.sizes, self.engine)
        chosen = found.chosen()
        numbers = [chosen, *(level for level in found.maxima() if level != chosen)]

        def layer(task: int) -> Layer:
            level = numbers[task]
            return self._layer(found, level, float(2.0 ** found.exponents[level]))

        first, *others = self.engine.run(layer, len(numbers))
        alone = replace(found, runs=())
        return StableCommunities(first.labels, first.resolution, alone, chosen, tuple(others))

    def _layer(self, found: Levels, level: int, resolution: float) -> Layer:
        """Return the consensus of the runs of a level and those beside it."""
        near = found.runs[max(level - 1, 0) : level + 2]
        runs = [run for runs in near for run in runs]
        labels = consensus(self.coarse, resolution, runs)[self.cell]
        labels = communities(self.graph, resolution, start=labels, rounds=2)
        labels = best_of_few(self.graph, resolution, settled(self.graph, resolution, labels))
        return Layer(labels, resolution)
