"""First centres from the word `init`: names, rows, points, partitions, or another model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Array, IntArray, Partition, as_like, is_foreign, is_sparse, one_hot, to_numpy
from ..blocks import Block, pieces
from ..centres import Centres
from ..chance import draw, sample
from ..complaints import warn
from ..engines import Engine
from ..rules import Rule
from ..scalable_seeding import scalable_kmeans_plus_plus
from ..seeding import kmeans_plus_plus, max_min, seeding_rows
from ..solver import centres_of
from ..table import Table
from .geometry import Geometry
from .landmark_words import matching_points, row_numbers
from .predicting import Predicting

METHODS = ("k-means++", "k-means||", "max-min", "random", "random-partition")
CHECKED_ROWS = 4096  # rows of given memberships looked at together


@dataclass(frozen=True)
class Ground:
    """What starts are made on."""

    owner: str
    n_clusters: int
    geometry: Geometry
    table: Table
    rule: Rule  # by which a partition becomes centres
    engine: Engine
    at_most: bool = False  # n_clusters is a bound: fewer starts are as good

    def of_partition(self, memberships: Array) -> Centres:
        """The centres that memberships (n, c) make."""
        return centres_of(self.table, self.rule, memberships, self.engine)


def starts(init: Any, n_init: int, ground: Ground, rng: np.random.RandomState) -> Iterator[Centres]:
    """`n_init` starts where chance makes them, one where they are given."""
    if isinstance(init, str):
        if init not in METHODS:
            raise ValueError(f"{ground.owner}(init={init!r}): unknown init; known are {list(METHODS)}, arrays and fitted estimators.")
        for _ in range(n_init):
            yield _drawn(init, ground, rng)
    else:
        yield _given(init, ground)


def _drawn(init: str, ground: Ground, rng: np.random.RandomState) -> Centres:
    geometry, people = ground.geometry, ground.geometry.population
    count = min(ground.n_clusters, len(people))
    if init == "random-partition":
        _warn_if_fewer(count, ground)
        labels = rng.permutation(len(people)) % count
        members = people.members()
        return ground.of_partition(Partition(np.where(members >= 0, labels[members], 0), count, geometry.blocks.x))
    if init == "random":
        rows = people.at(draw(people, count, rng))
    elif init == "k-means||" and len(people) > seeding_rows(count):
        rows = scalable_kmeans_plus_plus(geometry.metric, people, count, rng, ground.engine)
    else:
        positions, weights = sample(people, seeding_rows(count), rng)
        method = max_min if init == "max-min" else kmeans_plus_plus
        rows = people.at(positions[method(geometry.affinity(positions), weights, count, rng)])
    _warn_if_fewer(len(rows), ground)
    return _at_rows(rows, geometry)


def given_partition(init: Any, ground: Ground) -> Array | None:
    """Memberships (n, c) where `init` is labels or memberships of all rows; None where it is anything else."""
    if isinstance(init, (str, Centres, Predicting)) or is_sparse(init):
        return None
    values, (n, d), c = _on_host(init), ground.geometry.blocks.x.shape, ground.n_clusters
    like = ground.geometry.blocks.x
    if values.ndim == 1 and np.issubdtype(values.dtype, np.integer) and len(values) == n != c:
        return one_hot(checked_labels(values, c, ground.owner), c, like)
    points = values.shape == (c, d) and not ground.geometry.is_precomputed
    if values.ndim == 2 and np.issubdtype(values.dtype, np.number) and values.shape == (n, c) and not points:
        return _memberships(values, like, ground.owner)
    return None


def _given(init: Any, ground: Ground) -> Centres:
    owner, n_clusters, geometry = ground.owner, ground.n_clusters, ground.geometry
    n, d = geometry.blocks.x.shape
    if isinstance(init, Centres):
        return init
    if isinstance(init, Predicting):
        return _checked_count(init._centres_for(geometry.space, geometry.basis, geometry.blocks, owner), n_clusters, owner)
    if is_sparse(init):
        return _at_points(init, ground)
    partition = given_partition(init, ground)
    if partition is not None:
        return ground.of_partition(partition)
    values = _on_host(init)
    if values.ndim == 1 and np.issubdtype(values.dtype, np.integer) and len(values) == n_clusters:
        return _at_rows(row_numbers(values, owner, n, "init"), geometry)
    if values.ndim == 2 and np.issubdtype(values.dtype, np.number) and values.shape == (n_clusters, d) and not geometry.is_precomputed:
        return _at_points(init, ground)
    raise ValueError(
        f"{owner}(init=array of shape {values.shape}, {values.dtype}): with n_clusters={n_clusters} and X of shape ({n}, {d}), init is "
        f"one of {list(METHODS)}, {n_clusters} row numbers (integers), {n} labels (integers), points ({n_clusters}, {d}), "
        f"memberships ({n}, {n_clusters}) with rows that sum to one, or a fitted estimator."
    )


def _on_host(init: Any) -> Any:
    return np.asarray(to_numpy(init) if is_foreign(init) else init)


def _at_rows(rows: IntArray, geometry: Geometry) -> Centres:
    return geometry.space.embed(geometry.blocks.take(rows), rows)


def _at_points(points: Any, ground: Ground) -> Centres:
    geometry = ground.geometry
    matched = matching_points(points, "init", ground.owner, geometry.blocks)
    return _checked_count(geometry.space.embed(Block(matched, np.ones(matched.shape[0]), 0)), ground.n_clusters, ground.owner)


def _checked_count(centres: Centres, n_clusters: int, owner: str) -> Centres:
    if len(centres) != n_clusters:
        raise ValueError(f"{owner}(n_clusters={n_clusters}): init brings {len(centres)} centres.")
    return centres


def _memberships(values: Any, like: Array, owner: str) -> Array:
    start = 0
    for part in pieces(values, CHECKED_ROWS):
        sums = part.sum(axis=1, dtype=np.float64)
        if not (part.min() >= 0 and np.abs(sums - 1.0).max() <= 1e-3):  # NaN fails both
            lowest = part.min(axis=1)
            row = int(np.argmin((lowest >= 0) & (np.abs(sums - 1.0) <= 1e-3)))
            raise ValueError(
                f"{owner}(init=memberships): rows must be non-negative and sum to one; row {start + row} sums to {sums[row]:.6g} and its "
                f"smallest number is {lowest[row]:.6g}."
            )
        start += len(part)
    return as_like(values, like)


def checked_labels(labels: IntArray, n_clusters: int, owner: str) -> IntArray:
    """Labels of a partition to start from."""
    if labels.min() < 0 or labels.max() >= n_clusters:
        raise ValueError(f"{owner}(init=labels): labels must lie in 0 ... {n_clusters - 1}, got {labels.min()} ... {labels.max()}.")
    return labels


def _warn_if_fewer(count: int, ground: Ground) -> None:
    if count < ground.n_clusters and not ground.at_most:
        warn(
            f"{ground.owner}(n_clusters={ground.n_clusters}): there are only {count} distinct rows of positive weight to start from, so "
            f"{count} clusters are made. Take fewer clusters.",
        )
