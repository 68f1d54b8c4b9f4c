"""The engine of a Spark cluster."""

from __future__ import annotations

import gc
import os
import sys
import weakref
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, field
from functools import cache, partial
from typing import Any
from uuid import uuid4

from ..data.row_source import RowsError
from ..runtime.parameter_object import ParameterObject
from .parts.arrow_rows import Packing, float_type, unpacked
from .parts.engine import HoldingEngine, PartsOfFiles
from .parts.holder import Holder
from .parts.orders import NO_ROWS, Answer, Work, read_nothing
from .parts.rows import HeldRows
from .parts.rows_on_disk import RowsOnDisk

WHERE = "a Spark data frame"
NUMBERS = {"byte", "short", "integer", "long", "float", "double", "boolean"}


@dataclass(frozen=True, repr=False)
class SparkEngine(ParameterObject, HoldingEngine):
    """The executors of a Spark cluster, each over the partitions of a data frame, or of files that
    it reads.

    A data frame goes through Arrow once (`mapInArrow`), and its rows stay in Spark's storage as
    long as they are in use. While a fit runs they also lie in a file for each partition among
    Spark's local files, which all Python workers of an executor map into memory. Every sweep is one
    job of a task for each partition, which sends back sums; `labels_` stay with the rows:
    `numpy.asarray(model.labels_)` brings them. Spark does tasks again that fail, and parts that are
    lost are made again. Workers need cmeans installed. A fit on a data frame without an engine
    takes its session. For answers as a data frame take `cmeans.BatchPredictor`.

    Parameters
    ----------
    session : pyspark.sql.SparkSession, default=None
        The session whose executors work (not of Spark Connect); None: the active one.
    memory_budget : int, str such as "4GB" or None, default=None
        Bytes that a fit may take in this process; None: half of what is free.
    checkpoint : path, Checkpoint or None, default=None
        A file that keeps how far a fit has come, from which it can go on.
    memory_per_worker : int or None, default=None
        Bytes of a partition's rows that may be kept represented between sweeps; None: all of them.
        It never changes results.

    Raises
    ------
    ValueError
        Where `session` is no session, or one of the other numbers is none of bytes.

    Notes
    -----
    Sums of partitions are added in their order: results have the same bits for any number of
    executors. Other partitions of the same rows change rounding. All columns of the data frame are
    features: `df.select(...)` those that are. Partitions of 50,000 to 1,000,000 rows suit.

    Examples
    --------
    >>> import cmeans
    >>> cmeans.FuzzyCMeans(3, engine=cmeans.SparkEngine(memory_budget="4GB"))
    FuzzyCMeans(engine=SparkEngine(memory_budget='4GB'), n_clusters=3)
    """

    session: Any = None
    _: KW_ONLY
    memory_budget: int | float | str | None = None
    checkpoint: Any = None
    memory_per_worker: int | None = None

    def __post_init__(self) -> None:
        if self.session is not None and not hasattr(type(self.session), "sparkContext"):
            raise ValueError(
                f"SparkEngine(session={self.session!r}): give a pyspark.sql.SparkSession, or None "
                "for the active one."
            )
        super().__post_init__()

    def holds(self, x: Any) -> bool:
        """True where `x` is a data frame of Spark."""
        return type(x).__module__.startswith("pyspark.sql") and hasattr(x, "mapInArrow")

    def held(self, x: Any, estimator_name: str, *, holes: bool = False) -> HeldRows:
        """Return a data frame `x` as rows that stay in Spark; `holes`: values may be missing.
        Errors name `estimator_name`."""
        kinds = {field.name: field.dataType.typeName() for field in x.schema.fields}
        dtype = float_type(kinds, {"float"}, NUMBERS, estimator_name)
        names = tuple(kinds)
        return HeldRows(
            FrameHolder(x, names, dtype),
            names,
            dtype,
            estimator_name,
            self,
            holes=holes,
        )

    def holder_of_files(self, files: PartsOfFiles) -> Holder:
        return FilesHolder(self._known_session().sparkContext, files)

    def _known_session(self) -> Any:
        if self.session is not None:
            return self.session
        from pyspark.sql import SparkSession

        session = SparkSession.getActiveSession()
        if session is None:
            raise ValueError(
                "SparkEngine: there is no active session; start one "
                "(pyspark.sql.SparkSession.builder.getOrCreate()), or name one "
                "(engine=cmeans.SparkEngine(session))."
            )
        return session

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "session": None}


class SparkHolder(Holder):
    """Parts that are partitions of an RDD of their numbers. It is kept, so that Spark works a part
    where it was worked before."""

    def __init__(self, context: Any, numbers: Any) -> None:
        self._context, self._numbers = context, numbers.persist()
        self._kept = [self._numbers]
        weakref.finalize(self, _forget, self._kept).atexit = False

    def ask(self, work: Work, arguments: Mapping[int, Any]) -> Iterator[tuple[int, Answer]]:
        parts, task = self.source(work, arguments)
        try:
            yield from self._context.runJob(
                parts.mapPartitionsWithIndex(task), list, partitions=sorted(arguments)
            )
        except Exception as error:
            if type(error).__module__.partition(".")[0] not in ("py4j", "pyspark"):
                raise
            said = " ".join(str(getattr(error, "java_exception", None) or error).split())
            raise RowsError(f"{self.where}: Spark has given up ({said}).") from error

    def source(self, work: Work, arguments: Mapping[int, Any]) -> tuple[Any, Any]:
        """Return the RDD that work runs on, and what runs."""
        return self._numbers, Task(work, arguments)


class FilesHolder(SparkHolder):
    """Parts of files, which workers read."""

    def __init__(self, context: Any, files: PartsOfFiles) -> None:
        self.n_parts, self.where, self._files = len(files), files.where, files
        super().__init__(context, context.parallelize(range(self.n_parts), self.n_parts))

    def source(self, work: Work, arguments: Mapping[int, Any]) -> tuple[Any, Any]:
        return self._numbers, Task(work, arguments, self._files.read)


class FrameHolder(SparkHolder):
    """The partitions of a data frame. Their bytes are kept by Spark; while a fit runs, Python has
    them on the disks of the executors as well, since a partition goes from worker to worker."""

    where = WHERE
    advice = "persist it first (df.persist())"
    times_forgotten = 1  # as workers' stores are their own, while rows are at hand

    def __init__(self, frame: Any, names: tuple[str, ...], dtype: Any) -> None:
        from pyspark import StorageLevel

        packed = frame.mapInArrow(Packing(names, dtype), "rows binary").rdd
        self._packed = packed.persist(StorageLevel.MEMORY_AND_DISK)
        self._unpacked = partial(unpacked, width=len(names), dtype=dtype)
        self.n_parts = self._packed.getNumPartitions()
        super().__init__(
            frame.sparkSession.sparkContext, self._packed.mapPartitionsWithIndex(_number_of)
        )
        self._kept.append(self._packed)
        self._folder = FitFolder()

    def begin(self) -> None:
        self._folder = FitFolder(f"cmeans-{uuid4().hex}")

    def ask(self, work: Work, arguments: Mapping[int, Any]) -> Iterator[tuple[int, Answer]]:
        for number, answer in super().ask(work, arguments):
            if answer.lacks == NO_ROWS:  # it has gone to another machine
                self._folder.parts.discard(number)
            yield number, answer

    def source(self, work: Work, arguments: Mapping[int, Any]) -> tuple[Any, Any]:
        folder = self._folder
        if not work.reads or folder.parts.issuperset(arguments):
            return self._numbers, Task(work, arguments, partial(_from_disk, folder.name))
        if folder.name:
            folder.parts.update(arguments)
        return self._packed, Task(
            work, arguments, None, partial(_sent, folder.name, self._unpacked)
        )

    def release(self) -> None:
        if self._folder.parts:
            with suppress(Exception):  # Spark removes the files of an executor with it, too
                self._numbers.foreachPartition(partial(_remove, self._folder.name))
        self._folder = FitFolder()


@dataclass(frozen=True)
class FitFolder:
    """The local files in which executors keep rows while a fit runs."""

    name: str = ""  # none while no fit runs
    parts: set[int] = field(default_factory=set)  # that have been written there


@dataclass(frozen=True)
class Task:
    """The work for one partition, in a Python worker."""

    work: Work
    arguments: Mapping[int, Any]
    read: Any = None  # rows by the number of their part
    unpacked: Any = None  # rows by this number, and what the partition holds

    def __call__(self, number: int, held: Iterator[Any]) -> Iterator[tuple[int, Answer]]:
        _spare(len(sys.modules))
        read = read_nothing if self.read is None else partial(self.read, number)
        if self.unpacked is not None:
            read = partial(self.unpacked, number, held)
        yield number, self.work(read, number, self.arguments[number])
        for _ in held:  # a worker that leaves some unread is not used again, and forgets
            pass


@cache
def _spare(n_modules: int) -> None:
    """Exempt what so many modules have made from the search for garbage that Spark has its workers
    make after each task, which takes longer than small tasks otherwise."""
    gc.freeze()


def _disk(name: str) -> RowsOnDisk:
    """Return a folder of the executor whose worker this is, which Spark removes with it."""
    from pyspark import SparkFiles

    return RowsOnDisk(os.path.join(SparkFiles.getRootDirectory(), name))


def _from_disk(name: str, number: int) -> Any:
    rows = _disk(name).found(number) if name else None
    return read_nothing() if rows is None else rows


def _sent(name: str, make: Any, number: int, held: Iterator[Any]) -> Any:
    """Return the rows of a partition that has been sent, and leave them on the disk."""
    rows = _disk(name).found(number) if name else None
    if rows is not None:
        return rows
    rows = make([bytes(row[0]) for row in held])
    return _disk(name).written(number, rows) if name else rows


def _remove(name: str, held: Iterator[Any]) -> None:
    for _ in held:
        pass
    _disk(name).remove()


def _number_of(number: int, held: Iterator[Any]) -> Iterator[int]:
    for _ in held:
        pass
    yield number


def _forget(kept: list[Any]) -> None:
    """Release what Spark keeps."""
    with suppress(Exception):  # its session may have been stopped
        for one in kept:
            one.unpersist()
