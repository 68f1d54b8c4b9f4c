"""Code that runs on a worker: orders to the partitions that it holds, and sums of their answers."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ...data.damage import masked_entries
from ..base import Engine
from ..parts.orders import Answer, Store, Work, read_nothing
from ..parts.sums import together
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
    """The store of a worker beside its partitions. Sent to another worker it is empty, of the same
    size; no task runs there yet that could ask what is free."""

    def __reduce__(self) -> Any:
        return WorkerStore, (self._most,)


def worker_store(most: int | None) -> WorkerStore:
    """Return the store of the worker that runs the calling task. `most`: bytes; None: half of what
    it has free."""
    return WorkerStore(spare_memory(this_worker()) if most is None else most)


def engine_here() -> AbstractContextManager[Engine]:
    """Provide an engine of the worker's threads."""
    return ThreadEngine(threads_of(this_worker())).opened()


@dataclass(frozen=True, eq=False)
class Opaque:
    """A value in which Dask looks for no tasks, and of which it makes no hash, for which it would
    pickle it once more."""

    value: Any

    def __dask_tokenize__(self) -> Any:
        return "cmeans", id(self)


def taken(given: Opaque) -> Any:
    """Return the value itself: the task by which a worker passes it on to others."""
    return given.value


def answered(
    work: Any, numbers: list[int], parts: list[Any] | None, slots: list[Any], store: Any
) -> list[tuple[int, Answer]]:
    """Return the answers of some partitions of one worker by the threads it has, each with its
    number. `parts`: their rows, where they are needed; `slots`: what is sent to each alone."""
    order: Work = work.value if isinstance(work, Opaque) else work
    given = [slot.value if isinstance(slot, Opaque) else slot for slot in slots]
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
