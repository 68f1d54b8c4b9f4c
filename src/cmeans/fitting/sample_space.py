"""The exact geometry of a sample of rows, for two-step kernel k-means."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..data.blocks import Blocks
from ..kernels import Kernel, Linear, Precomputed
from ..landmarks.count import automatic_number
from ..landmarks.select import choose
from ..sampling.pairwise import affinity
from ..sampling.population import population_of, sample
from ..spaces import EuclideanSpace, ExactSpace, solver_tolerance
from .kernel_width import build_named_kernel
from .landmark_argument import row_numbers
from .space import Geometry, SpaceParameters, checked_words, host_rows, middle_of, refuse_stored, takes_kernel_values, whole_diagonal


def build_sample_geometry(
    parameters: SpaceParameters, estimator_name: str, blocks: Blocks, n_clusters: int, rng: np.random.RandomState
) -> tuple[Geometry, Geometry]:
    """Return the exact geometry of a sample of rows: (all rows with `landmark_rows` = the sample, the sample alone)."""
    number, _ = checked_words(parameters, estimator_name, blocks.n_rows)
    refuse_stored(parameters, estimator_name, blocks, number)
    method = parameters.landmarks
    precomputed = takes_kernel_values(parameters.kernel)
    if precomputed:
        blocks = replace(blocks, kxx=whole_diagonal(parameters, estimator_name, blocks.x))
    population = population_of(blocks, comparable=not precomputed)
    positions, weights = population.fixed_sample
    kernel: Kernel = Precomputed()
    gamma = None
    if not precomputed:
        kernel, gamma = build_named_kernel(
            parameters, estimator_name, blocks, host_rows(blocks, population.at(positions)), weights, n_clusters
        )
    if not isinstance(method, str):
        rows = row_numbers(method, estimator_name, blocks.n_rows)
        if isinstance(number, int) and number != len(rows):
            raise ValueError(
                f"{estimator_name}(n_landmarks={number}): landmarks holds {len(rows)}; leave n_landmarks out when they are given."
            )
        weights = blocks.weight[rows]
        if not weights.any():
            raise ValueError(
                f"{estimator_name}(landmarks=...): every row of the sample has a weight of zero; name rows of positive weight."
            )
    else:
        size = automatic_number(blocks.n_rows, n_clusters, blocks.limits.exact_rows) if number == "auto" else number
        size = len(population) if size is None else int(size)
        if method == "uniform":
            positions, weights = sample(population, size, rng)
            rows = population.at(positions)
        else:
            rows = choose(method, size, lambda positions: affinity(kernel, blocks, population.at(positions)), population, rng)
            weights = population.weights[population.members()[rows]]
    chosen = blocks.take(rows)
    x = kernel.prepare(rows)(chosen.x) if precomputed else chosen.x
    part = Blocks(x, weights, chosen.kxx, blocks.unit, limits=blocks.limits)
    alone = Geometry(
        part,
        kernel,
        ExactSpace(kernel, part, solver_tolerance=solver_tolerance(part.x.dtype)),
        population_of(part, comparable=not precomputed),
        gamma,
    )
    if not isinstance(kernel, Linear):
        alone.complain(estimator_name)
    else:
        alone = replace(alone, space=EuclideanSpace(middle_of(part, alone.population)))
        alone.refuse_range(estimator_name)
    return Geometry(blocks, kernel, alone.space, population, gamma, rows), alone
