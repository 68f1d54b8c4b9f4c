"""Code that runs on a worker: orders to the partitions that it holds, and sums of their answers."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial, reduce
from operator import add
from typing import Any

import numpy as np

from ...data.arrays import masked_entries
from ..base import Engine
from ..parts.orders import Answer, Store, Work, read_nothing
from ..threads import ThreadEngine
from .dask_api import spare_memory, this_worker, threads_of


def as_rows(partition: Any, dtype: Any, estimator_name: str) -> Any:
    """Return a partition, an array or a pandas frame, as rows (b, d) of the given float type."""
    if hasattr(partition, "to_numpy"):
        partition = partition.to_numpy(dtype=dtype, na_value=np.nan)
    hidden = masked_entries(partition)
    if hidden:
        raise ValueError(
            f"{estimator_name}: X has masked entries ({hidden} in one of its chunks). Impute them "
            "(x.map_blocks(...)), or drop their rows."
        )
    return np.ascontiguousarray(partition, dtype=dtype)


class WorkerStore(Store):
    """What a worker keeps beside its partitions. Sent to another worker it is empty."""

    def __init__(self, most: int | None) -> None:
        """`most`: bytes; None: half of what the worker has free."""
        super().__init__(spare_memory(this_worker()) if most is None else most)
        self._given = most

    def __reduce__(self) -> Any:
        return WorkerStore, (self._given,)


def engine_here() -> AbstractContextManager[Engine]:
    """Provide an engine of the worker's threads."""
    return ThreadEngine(threads_of(this_worker())).opened()


@dataclass(frozen=True, eq=False)
class Given:
    """A value in which Dask looks for no tasks, and of which it makes no hash, for which it would
    pickle it once more."""

    value: Any

    def __dask_tokenize__(self) -> Any:
        return "cmeans", id(self)


def taken(given: Given) -> Any:
    """Return the value itself: the task by which a worker passes it on to others."""
    return given.value


def answered(
    work: Any, numbers: list[int], parts: list[Any] | None, slots: list[Any], store: Any
) -> list[tuple[int, Answer]]:
    """Return the answers of some partitions of one worker by the threads it has, each with its
    number. `parts`: their rows, where they are needed; `slots`: what is sent to each alone."""
    order: Work = work.value if isinstance(work, Given) else work
    given = [slot.value if isinstance(slot, Given) else slot for slot in slots]
    store = Store(0) if store is None else store

    def one(at: int) -> Answer:
        read = read_nothing if parts is None else partial(parts.__getitem__, at)
        return order(read, numbers[at], tuple(values[at] for values in given), store)

    with engine_here() as engine:
        return list(zip(numbers, together(list(engine.run(one, len(numbers)))), strict=True))


def value_of(answers: list[tuple[int, Answer]]) -> Any:
    """Return the value of the answer of one partition."""
    ((_, answer),) = answers
    return answer.told()


@dataclass(frozen=True)
class Sums:
    """Sums of partitions, every two neighbours added as far as both are here: a tree that depends
    on the number of partitions alone, whoever holds them. By level and number there."""

    nodes: dict[tuple[int, int], Any]
    n_leaves: int

    @property
    def whole(self) -> Any:
        (total,) = self.nodes.values()
        return total

    def __add__(self, other: Sums) -> Sums:
        found, level, width = {**self.nodes, **other.nodes}, 0, self.n_leaves
        while width > 1:
            for _, number in sorted(node for node in found if node[0] == level):
                alone = number == width - 1 and number % 2 == 0  # the last one has no neighbour
                if alone or (number % 2 == 0 and (level, number + 1) in found):
                    one = found.pop((level, number))
                    other_one = None if alone else found.pop((level, number + 1))
                    found[level + 1, number // 2] = one if alone else one + other_one
            level, width = level + 1, (width + 1) // 2
        return Sums(found, self.n_leaves)


def leaf(value: Any, number: int, n_leaves: int) -> Sums:
    """Return the sum of one partition of so many."""
    return Sums({(0, number): value}, n_leaves) + Sums({}, n_leaves)


def together(answers: list[Answer]) -> list[Answer]:
    """Return answers of which the first that is a sum has those of all others."""
    summed = [at for at, answer in enumerate(answers) if isinstance(answer.value, Sums)]
    if summed:
        first = answers[summed[0]]
        total = reduce(add, (answers[at].value for at in summed))
        for at in summed:
            answers[at] = replace(answers[at], value=Sums({}, total.n_leaves))
        answers[summed[0]] = replace(first, value=total)
    return answers
