"""The rows that may be drawn, and draws in proportion to weight; for a small input independent of
the order of its rows."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ..data.arrays import Array, Float64, IntArray, is_foreign, is_sparse, to_numpy
from ..data.blocks import Blocks, rows_between
from ..data.column_facts import are_here
from ..data.limits import DEFAULT, Limits
from .drawing import weights_at

FIXED_SEED = 0


SPREADING = 2654435761  # 2^32 over the golden ratio: its multiples fall evenly between those before


@dataclass(frozen=True)
class JudgedSample:
    """Rows on which a kernel and its landmarks are judged: the fixed sample, or an even part of it
    where all else takes little time."""

    within: IntArray  # (q,) their numbers in the fixed sample
    positions: IntArray  # (q,)
    weights: Float64  # (q,)


@dataclass(frozen=True)
class Population:
    """Rows that may be drawn.

    For a small input they are its distinct rows, sorted, with the weights of equal rows added. Then
    a weight of k equals k copies, and shuffling the rows changes nothing, exactly.
    """

    numbers: IntArray | None  # (p,) of rows; of equal ones, the first; None: all rows in order
    # (p,) all positive; a column of other machines, where rows may have no weight and are never
    # drawn then
    weights: Float64
    # (n,) entry that each row belongs to (-1: weight zero throughout); None: rows are not grouped
    member: IntArray | None
    n_rows: int
    limits: Limits = DEFAULT

    def __len__(self) -> int:
        return len(self.weights)

    @property
    def rows(self) -> IntArray:
        """Row numbers (p,)."""
        return np.arange(self.n_rows) if self.numbers is None else self.numbers

    def at(self, positions: IntArray) -> IntArray:
        """Return the row numbers of the entries at the given positions."""
        return positions if self.numbers is None else self.numbers[positions]

    def of(self, values: Array) -> Array:
        """Return the values (p, ...) of the entries, from those of all rows (n, ...)."""
        return values if self.numbers is None else values[self.numbers]

    @cached_property
    def fixed_sample(self) -> tuple[IntArray, Float64]:
        """Positions and weights of the sample that decides a kernel's width and m: the same for
        every random_state, so that objectives of different seeds compare."""
        return self._fixed(self.limits.fixed_rows)

    def fixed_sample_of(self, size: int) -> tuple[IntArray, Float64]:
        """Return a part of the fixed sample, or a larger one that is as fixed: positions and
        weights."""
        if size > self.limits.fixed_rows:
            return self._fixed(size)
        part = self.judged_sample(size)
        return part.positions, part.weights

    def _fixed(self, size: int) -> tuple[IntArray, Float64]:
        if len(self) <= size:  # whoever needs no chance need not wait for it to be seeded
            return np.arange(len(self)), self.weights
        return sample(self, size, np.random.RandomState(FIXED_SEED))

    def judged_sample(self, size: int) -> JudgedSample:
        """Return at most so many rows of the fixed sample."""
        positions, weights = self.fixed_sample
        within = np.arange(len(positions))
        if size < len(within):
            within = np.sort(np.argsort(within * SPREADING % 2**32)[:size])
        return JudgedSample(within, positions[within], weights[within])

    def weights_of(self, rows: IntArray) -> Float64:
        """Return the weights of the entries that some rows belong to."""
        if self.member is None:
            return self.weights[
                rows if self.numbers is None else np.searchsorted(self.numbers, rows)
            ]
        return self.weights[self.member[rows]]

    def first_places(self, labels: IntArray, n_clusters: int) -> Float64:
        """Return the place (c,) of the first entry of each cluster, by the labels (n,) of all rows;
        infinite where there is none."""
        labels, first = self.of(labels), np.full(n_clusters, np.inf)
        np.minimum.at(first, labels[labels >= 0], np.flatnonzero(labels >= 0))
        return first

    def members(self) -> IntArray:
        """Entry (n,) that each row belongs to, -1 for rows that cannot be drawn."""
        if self.member is not None:
            return self.member
        if self.numbers is None:
            return np.arange(self.n_rows)
        member = np.full(self.n_rows, -1, dtype=np.intp)
        member[self.numbers] = np.arange(len(self))
        return member


def population_of(blocks: Blocks, *, comparable: bool = True) -> Population:
    """Return the rows of an input that may be drawn; `comparable` is False where equal rows cannot
    be found by their entries."""
    n, weight, limits = blocks.n_rows, blocks.weight, blocks.limits
    if not are_here(weight):
        if n > limits.seeding_rows:
            return Population(None, weight, None, n, limits)
        weight = weight[:]  # all of few rows are drawn
    if n > limits.canonical_rows or not comparable:
        if weight.min() > 0:
            return Population(None, weight, None, n, limits)
        rows = np.flatnonzero(weight > 0)
        return Population(rows, weight[rows], None, n, limits)
    first, member = distinct_rows(rows_between(blocks.x, 0, n))
    total: Float64 = np.bincount(member, weights=weight, minlength=len(first)).astype(np.float64)
    kept = total > 0
    number = np.where(kept, np.cumsum(kept) - 1, -1)
    return Population(first[kept], total[kept], number[member], n, limits)


def fixed_rows(blocks: Blocks) -> tuple[Array, Float64]:
    """Return the rows (a NumPy array or CSR matrix) and weights of the sample that is the same for
    every random_state."""
    population = population_of(blocks)
    positions, weights = population.fixed_sample
    x = blocks.take(population.at(positions)).x
    return (to_numpy(x) if is_foreign(x) else x), weights


def some_rows(blocks: Blocks) -> IntArray:
    """Return numbers of rows of positive weight that show how large all are: of few rows those at
    even distances, which takes no time."""
    if blocks.n_rows <= blocks.limits.subsampled_above:
        rows = np.arange(0, blocks.n_rows, -(-blocks.n_rows // blocks.limits.fixed_rows))
        rows = rows if blocks.alike else rows[blocks.weight[rows] > 0]
        if len(rows):
            return rows
    population = population_of(blocks)
    return population.at(population.fixed_sample[0])


def draw(population: Population, size: int, rng: np.random.RandomState) -> IntArray:
    """Draw `size` different entries (positions in the population), one after the other in
    proportion to weight."""
    return weights_at(population.weights).first_arrivals(size, rng, population.limits.drawn_rows)


def sample(
    population: Population, size: int, rng: np.random.RandomState
) -> tuple[IntArray, Float64]:
    """Draw a fair sample: positions and their weights. All entries if there are at most `size`;
    else about `size` entries, each drawn in exact proportion to its weight, with its multiplicity
    as its new weight."""
    p = len(population)
    if p <= size:
        return np.arange(p), population.weights
    if 4 * size <= p and population.weights.min() == population.weights.max():
        return distinct_numbers(p, size, rng), np.ones(size)
    chosen, counts = np.unique(weights_at(population.weights).fair(size, rng), return_counts=True)
    return chosen, counts.astype(np.float64)


def distinct_numbers(p: int, size: int, rng: np.random.RandomState) -> IntArray:
    """Draw `size` different numbers below p, sorted, all sets equally likely, in time and memory
    that do not grow with p."""
    chosen = np.empty(0, dtype=np.intp)
    while len(chosen) < size:
        drawn = np.sort(np.concatenate([chosen, rng.randint(p, size=size - len(chosen))]))
        chosen = drawn[_changes(drawn[:, None])]  # np.unique hashes, which takes many times longer
    return chosen


def distinct_rows(x: Array) -> tuple[IntArray, IntArray]:
    """Return the first row number of each distinct row, in lexicographic order, and the index of
    its distinct row for each row."""
    order, new = _sorted_sparse(x) if is_sparse(x) else _sorted(to_numpy(x) + 0.0)
    member = np.empty(len(order), dtype=np.intp)
    member[order] = np.cumsum(new) - 1
    return order[new], member


def _sorted(rows: npt.NDArray[Any]) -> tuple[IntArray, npt.NDArray[np.bool_]]:
    """Return the order of the rows, equal ones as they come, and True for each in that order that
    differs from the one before."""
    order = np.argsort(rows[:, 0], kind="stable")
    new = _changes(rows[order, :1])
    columns = 1
    while columns < rows.shape[1] and not new.all():  # else these columns decide
        columns = min(4 * columns, rows.shape[1])
        order = np.lexsort(rows[:, :columns].T[::-1])
        new = _changes(rows[order, :columns])
    return order, new


def _sorted_sparse(x: Array) -> tuple[IntArray, npt.NDArray[np.bool_]]:
    """The same for CSR rows."""
    keys = _sortable_rows(x)
    order = sorted(range(len(keys)), key=keys.__getitem__)
    new = [True, *(keys[a] != keys[b] for a, b in itertools.pairwise(order))]
    return np.array(order, dtype=np.intp), np.array(new)


def _changes(rows: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """True for each of the sorted rows that differs from the one before."""
    new, different = np.ones(len(rows), dtype=bool), rows[1:] != rows[:-1]
    missing = rows != rows
    if missing.any():
        different &= ~(missing[1:] & missing[:-1])
    new[1:] = different.any(axis=1)
    return new


def _sortable_rows(x: Array) -> list[bytes]:
    """Return one byte string per CSR row; they sort as the dense rows would.

    Where two rows first differ in an entry, a negative one is smaller than none and a positive one
    larger; so entries are written as (negative, column, value), end, (positive, column backwards,
    value), each part in an order-preserving encoding.
    """
    csr = sparse.csr_array(x, copy=True)
    csr.sum_duplicates()
    csr.eliminate_zeros()
    csr.sort_indices()
    values = csr.data.astype(np.float64)
    positive = values > 0
    columns = csr.indices.astype(np.int64)
    entry = np.empty((len(values), 17), dtype=np.uint8)
    entry[:, 0] = np.where(positive, 2, 0)
    entry[:, 1:9] = _big_endian(
        np.where(positive, -columns - 1, columns).astype(np.int64).view(np.uint64)
    )
    bits = values.view(np.uint64)
    entry[:, 9:] = _big_endian(np.where(positive, bits | np.uint64(1 << 63), ~bits))
    return [
        entry[a:b].tobytes() + b"\x01" for a, b in zip(csr.indptr[:-1], csr.indptr[1:], strict=True)
    ]


def _big_endian(numbers: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint8]:
    return np.ascontiguousarray(numbers.astype(">u8")).view(np.uint8).reshape(len(numbers), 8)
