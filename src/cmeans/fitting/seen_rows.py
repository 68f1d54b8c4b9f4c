"""The answers of a fitted model about some rows: all that displays, summaries and explanations ask
of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from ..data.arrays import Array, Float64, IntArray
from ..data.outputs import Labels
from ..sweeps.represented_rows import RepresentedRows
from ..sweeps.state import State


@dataclass(frozen=True)
class SeenRows:
    """Some rows, and what a model says of them."""

    numbers: IntArray  # (s,) of the rows
    n_rows: int  # that they are taken from
    x: Array | None  # (s, d) as the model reads them; None where rows are no features
    weight: Float64  # (s,)
    labels: IntArray  # (s,) -1 for noise
    memberships: Float64  # (s, c) one-hot for hard clusters
    is_soft: bool
    distances: Float64  # (s, c) to the centres, in the space of the model
    state: State  # the centres there
    represented: RepresentedRows | None = None  # rows in that space; None where it has no numbers


@runtime_checkable
class Inspectable(Protocol):
    """A fitted model that can be asked."""

    def _seen(self, X: Any, diag: Any, sample_weight: Any, most: int) -> SeenRows:
        """Return what it says of at most so many rows of X, evenly spaced."""
        ...


@dataclass(frozen=True)
class OtherPartition:
    """Another partition of some rows that a fitted model knows."""

    labels: IntArray  # (s,) -1 for noise
    n_clusters: int
    evidence: float  # how good it is, by what `KnowsOthers` says
    name: str = ""  # empty: its number of clusters says what it is
    verdict: str = ""


@runtime_checkable
class KnowsOthers(Protocol):
    """A fitted model that knows partitions into other numbers of clusters, or by other means,
    without a fit of the same kind for each."""

    _other_evidence: str  # what the evidence of partitions is, for a reader

    def _other_partitions(self, X: Any, numbers: Sequence[int]) -> Iterator[OtherPartition]:
        """Yield partitions of rows X, into these numbers of clusters where they can be chosen."""
        ...


def evenly_spaced(n_rows: int, most: int) -> IntArray:
    """Return the numbers of at most so many rows."""
    return np.arange(0, n_rows, -(-n_rows // most), dtype=np.intp)


def first_rows(labels: Labels, values: Float64, n_clusters: int, count: int) -> IntArray:
    """Return the numbers (c, count) of the rows of the smallest values (n,) of each cluster, the
    smallest first; -1 where it has fewer."""
    found = np.full((n_clusters, count), -1)
    for cluster in range(n_clusters):
        rows = np.flatnonzero(labels == cluster)
        first = rows[np.argsort(values[rows], kind="stable")[:count]]
        found[cluster, : len(first)] = first
    return found
