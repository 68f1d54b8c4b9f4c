"""Equal rows joined to one with the sum of their weights: the same sums from fewer rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ... import native
from ...data.arrays import (
    Array,
    Float64,
    IntArray,
    in_order,
    is_foreign,
    is_sparse,
    stacked,
    take,
    to_numpy,
)
from ...data.blocks import NUMBER, Blocks, rows_between, spans
from ...data.known_labels import LABEL, STRENGTH
from ...data.outputs import RowOutputs
from ...native.calls import ADDRESS, WHOLE, Structure, address, members, pitch, pointer_to
from ...sampling.population import FIXED_SEED, distinct_numbers, distinct_rows
from ...sweeps.final_pass import Assignment, RowTaker
from ..procedure import FitContext, Outcome, Stage
from ..together import JOINING, first_apart

Members = npt.NDArray[np.int32]

LEAST_CAPACITY = 4096  # distinct rows that a table has room for at first
# share of repeated rows in a sample from which on it is asked how many rows are distinct
REPEATED = 0.05
FEWER = 4  # times fewer distinct rows than rows, as estimated, pay for finding them
LEAST_FEWER = 2  # times fewer, as found, pay for working with them


@dataclass(frozen=True)
class EqualRows(Stage):
    """Equal rows are swept as one."""

    asked: bool = False  # True: wherever it can be done; else where it pays
    rows: GroupedRows | None = None  # once they are known
    given: Blocks | None = None
    taker: RowTaker | None = None

    name = "join_equal_rows"

    def settle(self, context: FitContext) -> FitContext:
        blocks, estimator = context.blocks, context.estimator
        apart = first_apart(self.name, [stage.name for stage in context.stages], estimator)
        if apart is not None:
            obstacle = apart.said_of(estimator)
        elif _speaks_of_rows(estimator.init, blocks, context.settings.n_clusters):
            name = context.estimator_name
            obstacle = (
                f"{name}({JOINING}, init=...): init speaks of single rows before they are "
                "joined (give points)"
            )
        else:
            joined = joined_rows(blocks) if self.asked else joined_if_worth_it(blocks)
            count = context.settings.landmarks.count
            if joined is None:
                return context
            if count is None or count <= joined.blocks.n_rows:
                stage = EqualRows(self.asked, joined, blocks, context.taker)
                return replace(context, blocks=joined.blocks).with_stage(stage)
            few = f"landmarks={count} are more than the {joined.blocks.n_rows} distinct rows"
            obstacle = f"{context.estimator_name}({JOINING}): {few}"
        if not self.asked:
            return context
        raise ValueError(f'{obstacle}; take join_equal_rows="auto".')

    def restore(self, outcome: Outcome) -> Outcome:
        assert self.rows is not None, "rows come first"
        assert self.given is not None, "rows come first"
        result = outcome.result
        everywhere = self.rows.everywhere(
            result.assignment, self.given, self.taker, is_soft=result.rule.is_soft
        )
        return replace(outcome, result=replace(result, assignment=everywhere))


@dataclass(frozen=True)
class GroupedRows:
    """Rows that stand for several rows of an input each: the distinct ones, in the order in which
    they come, or the means of groups."""

    blocks: Blocks  # (p, d) in memory, with the sums of the weights of the rows that they stand for
    member: Members  # (n,)

    def of(self, values: Array) -> Array:
        """Return values (n, ...) of all rows, from those of the rows (p, ...) that stand for
        them."""
        if not isinstance(values, np.ndarray):
            return take(values, self.member.astype(np.intp))
        everywhere = np.empty((len(self.member), *values.shape[1:]), values.dtype)
        # "raise" would be copied once more
        return np.take(values, self.member, axis=0, out=everywhere, mode="clip")

    def everywhere(
        self, assignment: Assignment, given: Blocks, taker: RowTaker | None, *, is_soft: bool
    ) -> Assignment:
        """Return labels and memberships of all rows, from those of the rows that stand for them; of
        rows that are not in memory labels alone, and all else to a taker."""
        labels = assignment.labels
        u = assignment.memberships
        nearest = assignment.nearest
        top = assignment.clusters
        assert nearest is not None, "distinct rows are in memory"
        if assignment.empty:
            assignment = replace(
                assignment, empty=int(np.count_nonzero(np.isnan(nearest)[self.member]))
            )
        whole = given.in_full(
            lambda: replace(
                assignment,
                labels=self.of(labels),
                memberships=None if u is None else self.of(u),
                nearest=self.of(nearest),
                clusters=None if top is None else self.of(top),
            )
        )
        if whole is not None:
            return whole
        u = assignment.all_memberships(self.blocks.x)
        c, most = len(assignment.mass), None if top is None else top.shape[1]
        function, put = (
            (None, None) if taker is None else taker.begin(given.n_rows, c, u.dtype, is_soft, most)
        )
        everywhere = given.empty_labels(c)
        for start, stop in spans(given.n_rows, given.limits.rows_at_once):
            here = replace(self, member=self.member[start:stop])
            everywhere[start:stop] = here.of(labels)
            if function is not None and put is not None:
                clusters = None if top is None else here.of(top)
                put(
                    function(
                        RowOutputs(here.of(labels), here.of(u), here.of(nearest), start, clusters)
                    )
                )
        return replace(assignment, labels=everywhere, memberships=None, nearest=None, clusters=None)


def _speaks_of_rows(init: Any, blocks: Blocks, n_clusters: int) -> bool:
    """Return whether a start holds numbers of rows, labels or memberships of all of them."""
    if isinstance(init, str | tuple) or is_sparse(init) or hasattr(init, "predict"):
        return False
    shape = np.shape(init)
    return len(shape) == 1 or (
        shape[0] == blocks.n_rows and shape != (n_clusters, blocks.x.shape[1])
    )


def joined_if_worth_it(blocks: Blocks) -> GroupedRows | None:
    """Return the rows with equal ones joined where that pays: those of images, counts, categories.
    A sample says if it is tried at all."""
    n, limits = blocks.n_rows, blocks.limits
    if n <= limits.canonical_rows or not blocks.may_gather:
        return None
    rows = blocks.take(
        distinct_numbers(n, min(limits.fixed_rows, n // FEWER), np.random.RandomState(FIXED_SEED))
    ).x
    return joined_rows(blocks, n // LEAST_FEWER) if _estimated_distinct(rows) * FEWER <= n else None


def _estimated_distinct(rows: Array) -> float:
    """Estimate, from a sample of rows, how many distinct ones there are: infinitely many where
    hardly any is repeated (Chao 1984)."""
    rows = _projections(rows) if is_sparse(rows) else rows
    counts = np.bincount(distinct_rows(rows)[1])
    if len(counts) > (1 - REPEATED) * counts.sum():
        return np.inf
    once, twice = (np.count_nonzero(counts == times) for times in (1, 2))
    return len(counts) + once * (once - 1) / (2 * (twice + 1))


def joined_rows(blocks: Blocks, most: int | None = None) -> GroupedRows | None:
    """Return the rows with equal ones joined; None where there are more than `most` distinct
    rows."""
    most = blocks.n_rows if most is None else most
    facts = [blocks.columns[name] for name in (LABEL, STRENGTH) if name in blocks.columns]
    marks = np.column_stack(facts).astype(np.float64) if facts else np.empty((blocks.n_rows, 0))
    if is_sparse(blocks.x) and blocks.x.shape[1] > 1:
        joined = joined_rows(replace(blocks, x=_projections(blocks.x)), most)
        if joined is None:
            return None
        x = take(blocks.x, joined.blocks.given_numbers(np.arange(joined.blocks.n_rows)))
        if not (take(x, joined.member.astype(np.intp)) != blocks.x).nnz:
            return replace(joined, blocks=replace(joined.blocks, x=x))
    member = blocks.by_row(np.int32)
    table = _table_of(blocks, marks.shape[1])
    for start, stop in spans(blocks.n_rows, blocks.limits.rows_at_once):
        x = _marked(rows_between(blocks.x, start, stop), marks[start:stop])
        table.add(x, blocks.weight[start:stop], start, member[start:stop])
        if table.found > most:
            return None
    x, first, weight = table.distinct()
    if is_foreign(blocks.x) or is_sparse(blocks.x):
        x = take(blocks.x, first)
    else:
        x = np.ascontiguousarray(x[:, : blocks.x.shape[1]])
    columns = {name: column[first] for name, column in blocks.columns.items()}
    return GroupedRows(
        replace(blocks, x=x, weight=weight, columns=columns | {NUMBER: first}), member
    )


def _marked(x: Array, marks: Float64) -> Array:
    """Return rows with the marks that equal ones must share, as further columns."""
    x = to_numpy(x) if is_foreign(x) else x
    if not marks.shape[1]:
        return x
    marks = marks.astype(x.dtype)
    if is_sparse(x):
        return sparse.csr_array(sparse.hstack([sparse.csr_array(x), sparse.csr_array(marks)]))
    return np.column_stack([x, marks])


def _projections(x: Array) -> Float64:
    """Return a number (n, 1) for each CSR row, the same for equal rows."""
    return np.asarray(
        x @ np.random.RandomState(FIXED_SEED).normal(size=(x.shape[1], 1)), np.float64
    )


class _Table(Protocol):
    """Distinct rows found so far."""

    @property
    def found(self) -> int: ...

    def add(self, x: Array, weight: Float64, start: int, member: Members) -> None:
        """Write which distinct row each of some further rows is, the first of which has the number
        `start`."""

    def distinct(self) -> tuple[Array, IntArray, Float64]:
        """Return the distinct rows (p, d), the numbers of the first rows equal to them, and their
        weights."""


def _table_of(blocks: Blocks, marks: int) -> _Table:
    dense = not is_sparse(blocks.x)
    if dense and native.is_available():
        return _NativeTable(blocks.x.shape[1] + marks)
    return _SortedTable()


class _SortedTable:
    """Distinct rows by sorting: of CSR rows, and where there is no native code."""

    def __init__(self) -> None:
        self.found = 0
        self._kept: Array = None
        self._first, self._weight = np.empty(0, np.intp), np.empty(0)

    def add(self, x: Array, weight: Float64, start: int, member: Members) -> None:
        old = self.found
        rows = x if self._kept is None else stacked(self._kept, x)
        first, group = distinct_rows(rows)
        number, new = first.copy(), np.sort(first[first >= old])
        number[first >= old] = old + np.searchsorted(new, first[first >= old])
        member[:] = number[group[old:]]
        self.found = old + len(new)
        self._kept = take(rows, np.concatenate([np.arange(old), new]))
        self._first = np.concatenate([self._first, new - old + start])
        total: Float64 = np.bincount(member, weights=weight, minlength=self.found).astype(
            np.float64
        )
        total[:old] += self._weight
        self._weight = total

    def distinct(self) -> tuple[Array, IntArray, Float64]:
        kept = self._kept
        return (kept if is_sparse(kept) else kept + 0.0), self._first, self._weight


class _DistinctArgument(Structure):
    """struct distinct"""

    _fields_ = [
        *members("kept first weight slots", ADDRESS),
        *members("found capacity columns bits", WHOLE),
    ]


class _NativeTable:
    """Distinct dense rows by a table that grows with their number."""

    def __init__(self, columns: int) -> None:
        self._columns = columns
        self._argument: Any = None

    @property
    def found(self) -> int:
        return int(self._argument.found)

    def add(self, x: Array, weight: Float64, start: int, member: Members) -> None:
        x, weight, done = in_order(x), in_order(weight[:, None]), 0
        if self._argument is None:
            self._make(x.dtype, LEAST_CAPACITY)
        join = native.function("join_rows", x.dtype, _JOIN, WHOLE)
        while done < len(x):
            rows, weights = x[done:], weight[done:]
            places = address(rows), len(rows), pitch(x), address(weights), pitch(weight)
            done += join(self._argument, *places, start + done, address(member[done:]))
            if done < len(x):
                self._grow()

    def distinct(self) -> tuple[Array, IntArray, Float64]:
        p = self.found
        return self._kept[:p].copy(), self._first[:p].astype(np.intp), self._weight[:p].copy()

    def _make(self, dtype: Any, capacity: int) -> None:
        bits = (2 * capacity - 1).bit_length()
        self._kept = np.empty((capacity, self._columns), dtype)
        self._first = np.empty(capacity, np.int64)
        self._weight, self._slots = np.empty(capacity), np.full(2**bits, -1, np.int32)
        places = map(address, (self._kept, self._first, self._weight, self._slots))
        self._argument = _DistinctArgument(*places, 0, capacity, self._columns, bits)

    def _grow(self) -> None:
        """Put all rows found into a table of four times the size."""
        (kept, first, weight), p = self.distinct(), self.found
        self._make(kept.dtype, 4 * len(self._kept))
        self.add(kept, weight, 0, np.empty(p, np.int32))
        self._first[:p] = first


_JOIN = (pointer_to(_DistinctArgument), ADDRESS, WHOLE, WHOLE, ADDRESS, WHOLE, WHOLE, ADDRESS)
