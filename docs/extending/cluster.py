"""An engine of your own for many machines: an executor, of processes here or on a cluster, reads
and works the parts of files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import Executor, as_completed
from functools import partial
from typing import Any

from cmeans.engines import Answer, Holder, HoldingEngine, PartsOfFiles, Work


class ExecutorHolder(Holder):
    """Parts of files, read where they are worked."""

    def __init__(self, files: PartsOfFiles, executor: Executor) -> None:
        self.n_parts, self.where = len(files), files.where
        self._files, self._executor = files, executor

    def ask(self, work: Work, arguments: Mapping[int, Any]) -> Iterator[tuple[int, Answer]]:
        asked = {
            self._executor.submit(work, partial(self._files.read, number), number, mine): number
            for number, mine in arguments.items()
        }
        for future in as_completed(asked):
            yield asked[future], future.result()


class ExecutorEngine(HoldingEngine):
    """Run passes by an executor, such as `ProcessPoolExecutor()` or `MPIPoolExecutor()`."""

    def __init__(self, executor: Executor) -> None:
        self.executor = executor

    def holder_of_files(self, files: PartsOfFiles) -> Holder:
        return ExecutorHolder(files, self.executor)
