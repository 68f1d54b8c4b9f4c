"""First centres from the parameter `init`: a name, rows, points, a partition, or another model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, get_args

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from ..data.arrays import Array, IntArray, as_like, host_float64, is_sparse, namespace
from ..data.blocks import Block, blocks_of
from ..data.partitions import MadeLabels, Partition, one_hot
from ..data.precision import rounding, rounding_of_sums
from ..runtime.user_warnings import warn
from ..sampling.drawing import balanced_labels, new_key
from ..sampling.kmeans_parallel import scalable_kmeans_plus_plus
from ..sampling.kmeanspp import VERY_MANY, max_min, seeds
from ..sampling.merged_draws import merged_draws
from ..sampling.population import draw, sample
from ..solvers.hierarchy import HierarchicalStarts
from ..spaces.centres import Centres
from ..sweeps.problem import Problem
from ..sweeps.statistics import KnownSums
from .arguments import InitName, matching_points, row_numbers
from .geometry import Geometry
from .prediction import Predicting
from .validation import host_array, intact

METHODS: tuple[str, ...] = get_args(InitName)
CHECKED_ROWS = 4096  # rows of given memberships per block


@dataclass(frozen=True)
class InitContext:
    """Context of a start: the problem and the number of clusters."""

    estimator_name: str
    n_clusters: int
    geometry: Geometry
    problem: Problem  # its rule turns a partition into centres
    at_most: bool = False  # n_clusters is a bound: fewer starts are as good


def check_init(init: Any, estimator_name: str, known: tuple[str, ...]) -> None:
    """Refuse an `init` that is invalid for all rows."""
    if isinstance(init, str):
        if init not in known:
            raise ValueError(
                f"{estimator_name}(init={init!r}): unknown init; known are {list(known)}, arrays "
                "and fitted estimators."
            )
        return
    if isinstance(init, Predicting):
        return
    if is_sparse(init):
        values = intact(init, "init", estimator_name)
    else:
        values = host_array(init, "init", estimator_name)
    numbers = np.issubdtype(values.dtype, np.integer if values.ndim == 1 else np.number)
    if values.ndim not in (1, 2) or 0 in values.shape or not numbers:
        raise ValueError(
            f"{estimator_name}(init=array of shape {values.shape}, {values.dtype}): init is one of "
            f"{list(known)}, row numbers or labels (integers), points, memberships with rows that "
            "sum to one, or a fitted estimator."
        )


def starts(
    init: Any, n_init: int, context: InitContext, rng: np.random.RandomState
) -> Iterator[Centres]:
    """Yield `n_init` random starts, or the one that is given. Clusters of known rows begin at their
    means."""
    known, feasible = context.problem.known, context.geometry.space.feasible
    if isinstance(init, str):
        for _ in range(n_init):
            yield feasible(
                _drawn(init, context, rng)
                if known is None
                else _drawn_beside(known, init, context, rng)
            )
    else:
        yield feasible(_given(init, context))


def hierarchical_starts(
    n_init: int, context: InitContext, rng: np.random.RandomState
) -> Iterator[Centres]:
    """Yield `n_init` random starts that are made of a sample."""
    geometry, problem = context.geometry, context.problem
    if not geometry.space.sweeps_products:
        raise ValueError(
            f'{context.estimator_name}(search="hierarchical"): cells are made of samples, and here '
            "rows are known by their kernel values with all others, or lack values; take "
            'search="auto", or landmarks.'
        )
    made = HierarchicalStarts(geometry.metric, geometry.population, rng)
    for _ in range(n_init):
        count = min(context.n_clusters, len(geometry.population))
        centres = made.start(problem, count)
        _warn_if_fewer(len(centres), context)
        yield geometry.space.feasible(centres)


def _drawn(init: str, context: InitContext, rng: np.random.RandomState) -> Centres:
    geometry, population = context.geometry, context.geometry.population
    count = min(context.n_clusters, len(population))
    seeding_rows = population.limits.seeding_rows_for(count)
    if init == "k-means++" and count >= VERY_MANY and geometry.space.sweeps_products:
        merged = merged_draws(context.problem, population, count, rng)
        if merged is not None:
            return merged
    if init == "random-partition":
        _warn_if_fewer(count, context)
        labels: IntArray | MadeLabels
        if len(population) <= population.limits.rows_at_once:
            drawn, members = rng.permutation(len(population)) % count, population.members()
            labels = np.where(members >= 0, drawn[members], 0)
        else:
            span = max(population.limits.rows_at_once, count)
            labels = MadeLabels(
                partial(balanced_labels, new_key(rng), span, count), 0, geometry.blocks.n_rows
            )
        return context.problem.centres_of(Partition(labels, count, geometry.blocks.x))
    if init == "random":
        rows = population.at(draw(population, count, rng))
    elif init == "k-means||" and len(population) > seeding_rows:
        rows = scalable_kmeans_plus_plus(
            geometry.metric, population, count, rng, context.problem.engine
        )
    else:
        positions, weights = sample(population, seeding_rows, rng)
        method = max_min if init == "max-min" else seeds
        rows = population.at(positions[method(geometry.affinity(positions), weights, count, rng)])
    _warn_if_fewer(len(rows), context)
    return _at_rows(rows, geometry)


def _drawn_beside(
    known: KnownSums, init: str, context: InitContext, rng: np.random.RandomState
) -> Centres:
    """Draw the centres of the clusters of which no row is known, far from those of the others."""
    geometry, population, centres = context.geometry, context.geometry.population, known.centres()
    others, met = np.flatnonzero(known.mass <= 0), np.flatnonzero(known.mass > 0)
    if not len(others):
        return centres
    if not len(met):
        return _drawn(init, context, rng)
    if init in ("random", "random-partition"):
        return centres.replaced(others, _drawn(init, context, rng)[np.arange(len(others))])
    positions, weights = sample(population, population.limits.seeding_rows_for(len(others)), rng)
    rows = population.at(positions)
    represented = geometry.space.rows(geometry.blocks.take(rows)).plain()
    distances = represented.squared_distances(geometry.space.view(centres[met], represented.kxx))
    nearest = host_float64(namespace(distances).min(distances, axis=1))
    method = max_min if init == "max-min" else seeds
    drawn = rows[method(geometry.affinity(positions), weights, len(others), rng, nearest=nearest)]
    if len(drawn) < len(others):
        raise ValueError(
            f"{context.estimator_name}(n_clusters={context.n_clusters}): rows of {len(met)} "
            f"clusters are known, and only {len(drawn)} distinct rows lie away from their means, "
            f"where {len(others)} further clusters could begin; take fewer clusters."
        )
    return centres.replaced(others, _at_rows(drawn, geometry))


def given_partition(init: Any, context: InitContext) -> Array | None:
    """Return memberships (n, c) where `init` is labels or memberships of all rows, else None."""
    if isinstance(init, (str, Predicting)) or is_sparse(init):
        return None
    values, (n, d), c = (
        host_array(init, "init", context.estimator_name),
        context.geometry.blocks.x.shape,
        context.n_clusters,
    )
    like = context.geometry.blocks.x
    if values.ndim == 1 and np.issubdtype(values.dtype, np.integer) and len(values) == n != c:
        return one_hot(checked_labels(values, c, context.estimator_name), c, like)
    points = values.shape == (c, d) and not context.geometry.is_precomputed
    if (
        values.ndim == 2
        and np.issubdtype(values.dtype, np.number)
        and values.shape == (n, c)
        and not points
    ):
        return _memberships(values, like, context.estimator_name)
    return None


def _of_model(model: Predicting, geometry: Geometry, estimator_name: str) -> Centres:
    """Return the centres of a fitted model in the space of a fit."""
    check_is_fitted(model)
    space, blocks, its_space = geometry.space, geometry.blocks, model._space
    name = f"{estimator_name}(init=fitted {type(model).__name__})"
    n_features = int(blocks.x.shape[1])
    if n_features != model.n_features_in_:
        raise ValueError(
            f"{name}: it knows {model.n_features_in_} features and X has {n_features}."
        )
    if space.kernel != its_space.kernel:
        raise ValueError(
            f"{name}: it was fitted with {its_space.kernel!r}, this fit has {space.kernel!r}; "
            "centres carry over only within one kernel. "
            "Give the same kernel and the same gamma as a number."
        )
    probe = np.array([[-1.0], [0.0], [1.0]]) * np.ones(n_features)
    ours, theirs = (
        probe if units is None else units(probe) for units in (geometry.units, model._units)
    )
    if np.array_equal(ours, theirs):
        return space.project(model._state.centres, its_space, geometry.basis)
    points = its_space.as_points(model._state.centres)
    if points is not None:
        points = geometry.as_rows(points if model._units is None else model._units.inverse(points))
        return space.embed(Block(points, np.ones(len(points)), 0))
    raise ValueError(
        f"{name}: it scales the features in another way, so its centres are none of this space; "
        "give points, or scale beforehand and take scaling=None in both."
    )


def _given(init: Any, context: InitContext) -> Centres:
    estimator_name = context.estimator_name
    n_clusters = context.n_clusters
    geometry = context.geometry
    n, d = geometry.blocks.x.shape
    if isinstance(init, Predicting):
        return _checked_count(_of_model(init, geometry, estimator_name), n_clusters, estimator_name)
    if is_sparse(init):
        return _at_points(init, context)
    partition = given_partition(init, context)
    if partition is not None:
        return _centres_of(partition, context.problem)
    values = host_array(init, "init", estimator_name)
    if values.ndim == 1 and np.issubdtype(values.dtype, np.integer) and len(values) == n_clusters:
        return _at_rows(row_numbers(values, estimator_name, n, "init"), geometry)
    if (
        values.ndim == 2
        and np.issubdtype(values.dtype, np.number)
        and values.shape == (n_clusters, d)
        and not geometry.is_precomputed
    ):
        return _at_points(init, context)
    raise ValueError(
        f"{estimator_name}(init=array of shape {values.shape}, {values.dtype}): with "
        f"n_clusters={n_clusters} and X of shape ({n}, {d}), init is one of {list(METHODS)}, "
        f"{n_clusters} row numbers (integers), {n} labels (integers), points ({n_clusters}, {d}), "
        f"memberships ({n}, {n_clusters}) with rows that sum to one, or a fitted estimator."
    )


def _centres_of(partition: Array, problem: Problem) -> Centres:
    """Return the centres that memberships make. Those that are equal in exact arithmetic, as where
    all rows have the same memberships, are equal here too: from centres that rounding has parted a
    fit would go another way on every machine."""
    sums = problem.sums_of(partition)
    centres, number = problem.space.centres(sums.mass, sums.moment), np.arange(len(sums.mass))
    noise = rounding_of_sums(problem.rows.blocks.x.dtype) ** 2 * sums.scale / sums.weight
    norms = np.sort(centres.squared_norms())
    if (
        np.diff(norms) > noise + 2.0 * np.sqrt(noise * norms[-1]) + rounding(np.float64) * norms[-1]
    ).all():
        return centres  # none are of one length, so none are equal
    for j in range(1, len(centres)):
        number[j] = number[np.argmax((centres[: j + 1] - centres[[j]]).squared_norms() <= noise)]
    return centres[number]


def _at_rows(rows: IntArray, geometry: Geometry) -> Centres:
    return geometry.space.embed(geometry.blocks.take(rows), rows)


def _at_points(points: Any, context: InitContext) -> Centres:
    geometry = context.geometry
    matched = geometry.as_rows(
        matching_points(points, "init", context.estimator_name, geometry.blocks)
    )
    return _checked_count(
        geometry.space.embed(Block(matched, np.ones(matched.shape[0]), 0)),
        context.n_clusters,
        context.estimator_name,
    )


def _checked_count(centres: Centres, n_clusters: int, estimator_name: str) -> Centres:
    if len(centres) != n_clusters:
        raise ValueError(
            f"{estimator_name}(n_clusters={n_clusters}): init brings {len(centres)} centres."
        )
    return centres


def _memberships(values: Any, like: Array, estimator_name: str) -> Array:
    start = 0
    for part in blocks_of(values, CHECKED_ROWS):
        sums = part.sum(axis=1, dtype=np.float64)
        if not (part.min() >= 0 and np.abs(sums - 1.0).max() <= 1e-3):  # NaN fails both
            lowest = part.min(axis=1)
            row = int(np.argmin((lowest >= 0) & (np.abs(sums - 1.0) <= 1e-3)))
            raise ValueError(
                f"{estimator_name}(init=memberships): rows must be non-negative and sum to one; "
                f"row {start + row} sums to {sums[row]:.6g} and its smallest number is "
                f"{lowest[row]:.6g}."
            )
        start += len(part)
    return as_like(values, like)


def checked_labels(labels: IntArray, n_clusters: int, estimator_name: str) -> IntArray:
    """Return the labels of a partition to start from, checked."""
    if labels.min() < 0 or labels.max() >= n_clusters:
        raise ValueError(
            f"{estimator_name}(init=labels): labels must lie in 0 ... {n_clusters - 1}, got "
            f"{labels.min()} ... {labels.max()}."
        )
    return labels


def _warn_if_fewer(count: int, context: InitContext) -> None:
    if count < context.n_clusters and not context.at_most:
        rows, clusters = ("row", "cluster is") if count == 1 else ("rows", "clusters are")
        warn(
            f"{context.estimator_name}(n_clusters={context.n_clusters}): only {count} distinct "
            f"{rows} of positive weight to start from, so "
            f"{count} {clusters} made. Take fewer clusters.",
            ConvergenceWarning,
        )
