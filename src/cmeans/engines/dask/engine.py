"""The engine of a Dask cluster: a parameter that opens a session for the rows of a fit."""

from __future__ import annotations

import numbers
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any

from ...data.row_source import StoredRows
from ...runtime.numerals import parse_budget
from ...runtime.parameter_object import ParameterObject
from ..base import Engine, Pass, Result
from ..threads import ThreadEngine
from .dask_api import default_client, in_parts, is_client, is_collection
from .rows import DaskRows, type_and_columns
from .session import DaskSession
from .shards import read_part


@dataclass(frozen=True, repr=False)
class DaskEngine(ParameterObject, Engine):
    """The workers of a Dask cluster, each over the partitions of a Dask array or data frame that it
    holds.

    Every sweep minimises what it would on an array, as it adds the same sums: centres and scales go
    to each worker once, and its sums come back. `labels_` is a Dask array whose chunks stay on the
    workers; a collection of at most 16 MB is read and clustered here. Give it to name the client,
    to bound memory, to keep a checkpoint, or to have workers read files; a fit on a Dask collection
    without an engine takes the client that was started last. Rows in memory are clustered by
    threads here.

    Parameters
    ----------
    client : distributed.Client, default=None
        The client whose workers hold the rows; None: the one that was started last.
    memory_budget : int, str such as "4GB" or None, default=None
        Bytes that a fit may take in this process; None: half of what is free.
    checkpoint : path, Checkpoint or None, default=None
        A file that keeps how far a fit has come, from which it can go on.
    memory_per_worker : int or None, default=None
        Bytes in which a worker may keep rows represented between sweeps; None: half of what it has
        free. It never changes results.

    Raises
    ------
    ValueError
        Where `client` is no client, or one of the other numbers is none of bytes.

    Notes
    -----
    Results do not depend on the number of workers, to the last bit: a partition is folded in one
    order, and partitions are added in a tree whose shape depends on their number alone. Other
    partitions of the same rows change rounding. Partitions of 50,000 to 1,000,000 rows, and at
    least one for each thread of the cluster, suit. A model that is copied keeps its client; one
    that is pickled or saved does not.

    Examples
    --------
    >>> import cmeans
    >>> cmeans.FuzzyCMeans(3, engine=cmeans.DaskEngine(memory_per_worker=2 * 10**9))
    FuzzyCMeans(engine=DaskEngine(memory_per_worker=2000000000), n_clusters=3)
    """

    client: Any = None
    _: KW_ONLY
    memory_budget: int | float | str | None = None
    checkpoint: Any = None
    memory_per_worker: int | None = None

    def __post_init__(self) -> None:
        if self.client is not None and not is_client(self.client):
            raise ValueError(
                f"DaskEngine(client={self.client!r}): give a distributed.Client, or None for the "
                "one that was started last."
            )
        parse_budget(self.memory_budget, "DaskEngine")
        whole = isinstance(self.memory_per_worker, numbers.Integral) and not isinstance(
            self.memory_per_worker, bool
        )
        if self.memory_per_worker is not None and not (whole and self.memory_per_worker >= 0):
            raise ValueError(
                f"DaskEngine(memory_per_worker={self.memory_per_worker!r}): give a number of "
                "bytes, or None."
            )

    @property
    def n_threads(self) -> int:
        return HERE.n_threads

    @contextmanager
    def opened(self, x: Any = None) -> Iterator[Engine]:
        """Provide the engine of the workers that hold the rows `x`; of threads here for rows that
        they do not hold."""
        with (
            HERE.opened(x) as here,
            DaskSession(here, x) if isinstance(x, DaskRows) else nullcontext(here) as engine,
        ):
            yield engine

    def map(self, rows: Any, over: Pass[Result]) -> Iterator[Result]:
        """Yield the results of one pass `over` rows alone; those of a fit share what `opened`
        provides."""
        with self.opened(rows.blocks.x) as engine:
            yield from engine.map(rows, over)

    def holds(self, x: Any) -> bool:
        """True where `x` is a collection of Dask."""
        return is_collection(x)

    def held(self, x: Any, estimator_name: str, *, holes: bool = False) -> DaskRows:
        """Return a Dask collection `x` as rows that stay on the workers; `holes`: values may be
        missing. Errors name `estimator_name`."""
        type_and_columns(x, estimator_name)
        client = self._known_client(
            estimator_name, "X is a Dask collection", "or pass the array: X.compute()"
        )
        held = DaskRows(x, client, estimator_name, self.memory_per_worker, holes=holes)
        held.engine = self
        return held

    def reader_of(self, x: StoredRows, estimator_name: str, partition_rows: int) -> StoredRows:
        """Return rows `x` of files as rows that workers read, `partition_rows` at a time; the files
        need the same paths there.

        Files that cannot be opened again, or have no more rows than a partition, are read in this
        process; errors name `estimator_name`.
        """
        if isinstance(x, DaskRows) or x.again is None or len(x) <= partition_rows:
            return x
        client = self._known_client(estimator_name, "engine is a DaskEngine", "or take engine=None")
        parts = in_parts(read_part, x, partition_rows)
        held = DaskRows(
            parts, client, estimator_name, self.memory_per_worker, holes=x.holes, answers_stay=False
        )
        held.where, held.columns, held.weight = x.where, x.columns, x.weight
        held.engine = self
        return held

    def _known_client(self, estimator_name: str, why: str, otherwise: str) -> Any:
        client = default_client() if self.client is None else self.client
        if client is None:
            raise ValueError(
                f"{estimator_name}: {why} and no Dask client is there; start one "
                "(distributed.Client()), name one "
                f"(engine=cmeans.DaskEngine(client)), {otherwise}."
            )
        return client

    def __sklearn_clone__(self) -> DaskEngine:
        return self  # it never changes, and a client is a connection: copies share it

    def __deepcopy__(self, memo: dict[int, Any]) -> DaskEngine:
        return self

    def __reduce__(self) -> Any:
        words = {
            name: value for name, value in self.get_params(deep=False).items() if name != "client"
        }
        return partial(DaskEngine, **words), ()


HERE = ThreadEngine()  # who runs what is not on the workers
