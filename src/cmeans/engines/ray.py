"""The engine of a Ray cluster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any

from ..data.row_source import RowsError
from ..runtime.parameter_object import ParameterObject
from .parts.arrow_rows import float_type, rows_of_batch
from .parts.engine import HoldingEngine, PartsOfFiles
from .parts.holder import Holder
from .parts.orders import Answer, Work, read_nothing
from .parts.rows import HeldRows

WHERE = "a Ray dataset"
RETRIES = 3  # times that Ray does a task again whose worker has died
NUMBERS = {"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool"} | {
    "halffloat",
    "float",
    "double",
}


@dataclass(frozen=True, repr=False)
class RayEngine(ParameterObject, HoldingEngine):
    """The workers of a Ray cluster, each over the blocks of a `ray.data.Dataset`, or over parts of
    files that it reads.

    A dataset is materialized once, so that its blocks stay as they are, in the order in which they
    then lie; workers keep them represented between sweeps. Every sweep is one task for each block,
    which sends back sums; `labels_` stay with the rows: `numpy.asarray(model.labels_)` brings them.
    Ray does tasks again whose workers have died, and makes lost blocks again. Workers need cmeans
    installed. A fit on a dataset without an engine takes the cluster that this process is connected
    to. For answers as a dataset take `cmeans.BatchPredictor`.

    Parameters
    ----------
    num_cpus : float, default=1
        CPUs that Ray counts for a task.
    memory_budget : int, str such as "4GB" or None, default=None
        Bytes that a fit may take in this process; None: half of what is free.
    checkpoint : path, Checkpoint or None, default=None
        A file that keeps how far a fit has come, from which it can go on.
    memory_per_worker : int or None, default=None
        Bytes of a block's rows that may be kept represented between sweeps; None: all of them. It
        never changes results.

    Raises
    ------
    ValueError
        Where `memory_budget` or `memory_per_worker` is no number of bytes.

    Notes
    -----
    Sums of blocks are added in their order: results have the same bits for any number of workers.
    Other blocks of the same rows change rounding (`ds.repartition(n)`). All columns of the dataset
    are features: `ds.select_columns(...)` those that are.

    Examples
    --------
    >>> import cmeans
    >>> cmeans.FuzzyCMeans(3, engine=cmeans.RayEngine(memory_budget="4GB"))
    FuzzyCMeans(engine=RayEngine(memory_budget='4GB'), n_clusters=3)
    """

    num_cpus: float = 1
    _: KW_ONLY
    memory_budget: int | float | str | None = None
    checkpoint: Any = None
    memory_per_worker: int | None = None

    def holds(self, x: Any) -> bool:
        """True where `x` is a dataset of Ray."""
        return type(x).__module__.startswith("ray.data") and hasattr(x, "materialize")

    def held(self, x: Any, estimator_name: str, *, holes: bool = False) -> HeldRows:
        """Return a dataset `x` as rows that stay in Ray; `holes`: values may be missing. Errors
        name `estimator_name`."""
        whole = x.materialize()
        schema = whole.schema()
        kinds = dict(zip(schema.names, map(str, schema.types), strict=True)) if schema else {}
        dtype = float_type(kinds, {"float", "halffloat"}, NUMBERS, estimator_name)
        read = partial(rows_of_batch, names=tuple(kinds), dtype=dtype)
        return HeldRows(
            RayHolder(WHERE, whole.to_arrow_refs(), read, self.num_cpus),
            tuple(kinds),
            dtype,
            estimator_name,
            self,
            holes=holes,
        )

    def holder_of_files(self, files: PartsOfFiles) -> Holder:
        return RayHolder(files.where, list(range(len(files))), files.read, self.num_cpus)


class RayHolder(Holder):
    """Parts that are Ray's objects, or are read by their numbers."""

    advice = "materialize it first (ds.materialize())"

    def __init__(self, where: str, parts: list[Any], read: Any, num_cpus: float) -> None:
        """`parts`: what `read` makes rows of, or references to it."""
        import ray

        self.n_parts, self.where = len(parts), where
        self._parts, self._read = parts, read
        self._task = ray.remote(num_cpus=num_cpus, max_retries=RETRIES)(answer)

    def ask(self, work: Work, arguments: Mapping[int, Any]) -> Iterator[tuple[int, Answer]]:
        import ray

        order, reads = ray.put(work), work.reads  # sent to each machine once
        tasks = {
            self._task.remote(
                order, self._parts[number] if reads else None, self._read, number, mine
            ): number
            for number, mine in arguments.items()
        }
        try:
            while tasks:
                (done, *_), _ = ray.wait(list(tasks), num_returns=1)
                yield tasks.pop(done), ray.get(done)
        except ray.exceptions.RayError as error:
            said = str(error).strip().splitlines()[0]
            raise RowsError(f"{self.where}: Ray has given up ({said}).") from error
        finally:
            for task in tasks:
                ray.cancel(task)


def answer(work: Work, part: Any, read: Any, number: int, mine: Any) -> Answer:
    """Return the answer of a part, in a worker; None: its rows are not at hand."""
    return work(read_nothing if part is None else partial(read, part), number, mine)
