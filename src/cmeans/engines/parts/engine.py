"""The common part of engines over rows that others hold."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, Self

from ...data.row_source import StoredRows
from ...runtime.checks import integer
from ...runtime.numerals import parse_budget
from ...runtime.user_warnings import naming
from ..base import Engine, Pass, Result
from ..threads import ThreadEngine
from .holder import Holder
from .interrupts import unraised_interrupts
from .rows import HeldRows
from .session import HeldSession


class HoldingEngine(Engine):
    """An engine over rows that others hold in parts. A new one brings its `Holder`: of parts of
    files that workers read (`holder_of_files`), of rows that users hold there already (`held`), or
    both. All of `Engine` follows."""

    memory_per_worker: int | None = None
    _session: type[HeldSession] = HeldSession  # the engine of one fit
    _rows: type[HeldRows] = HeldRows

    def __post_init__(self) -> None:
        name = type(self).__name__
        parse_budget(self.memory_budget, name)
        if self.memory_per_worker is not None:
            integer(self.memory_per_worker, "memory_per_worker", name, 0, "None or ")

    @property
    def n_threads(self) -> int:
        return ThreadEngine().n_threads

    @property
    def memory_per_part(self) -> int | None:
        """Bytes of a part that may be kept represented between sweeps, where there is room."""
        return self.memory_per_worker

    @contextmanager
    def opened(self, x: Any = None) -> Iterator[Engine]:
        """Provide the engine of those who hold the rows `x`; of threads here for others."""
        with ThreadEngine().opened(x) as here:
            if not isinstance(x, HeldRows):
                yield here
                return
            holder = x.partitions.holder
            with unraised_interrupts() as x.partitions.struck:
                holder.begin()
                try:
                    yield self._session(here, x)
                finally:
                    holder.release()

    def map(self, rows: Any, over: Pass[Result]) -> Iterator[Result]:
        """Yield the results of one pass `over` rows alone; those of a fit share what `opened`
        provides."""
        with self.opened(rows.blocks.x) as engine:
            yield from engine.map(rows, over)

    @abstractmethod
    def holder_of_files(self, files: PartsOfFiles) -> Holder:
        """Return who reads parts of files."""

    def reader_of(self, x: StoredRows, estimator_name: str, partition_rows: int) -> StoredRows:
        """Return rows `x` of files as rows that workers read, `partition_rows` at a time; the files
        need the same paths there. Those that cannot be opened again, or are no more than a part,
        are read in this process."""
        if isinstance(x, HeldRows) or x.again is None or len(x) <= partition_rows:
            return x
        with naming(estimator_name):
            holder = self.holder_of_files(PartsOfFiles(x.where, x.again, len(x), partition_rows))
        words = {"holes": x.holes, "answers_stay": False}
        held = self._rows(holder, x.columns, x.dtype, estimator_name, self, **words)
        held.files, held.weight, held.recipe = x.files, x.weight, x.recipe
        return held

    def __sklearn_clone__(self) -> Self:
        return self  # it never changes, and may be a connection: copies share it

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self


class PartsOfFiles:
    """Stored rows in parts of so many rows, each read by whoever asks for it."""

    def __init__(self, where: str, again: Any, n_rows: int, step: int) -> None:
        self.where, self._again, self._n_rows, self._step = where, again, n_rows, step

    def __len__(self) -> int:
        return -(-self._n_rows // self._step)

    def read(self, number: int) -> Any:
        """Return the rows of a part."""
        start = number * self._step
        return opened_once(self._again).read(start, min(start + self._step, self._n_rows))


@lru_cache(maxsize=4)
def opened_once(again: Any) -> StoredRows:
    """Return stored rows, which a process opens once."""
    rows: StoredRows = again()
    return rows
