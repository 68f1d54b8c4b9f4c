"""The engine of a Dask cluster."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from ...runtime.parameter_object import ParameterObject
from ...runtime.user_warnings import naming
from ..parts.engine import HoldingEngine, PartsOfFiles
from .dask_api import default_client, is_client, is_collection, is_frame, read_by_number, started
from .holder import DaskHolder
from .rows import DaskRows, type_and_columns
from .session import DaskSession
from .tasks import as_rows


@dataclass(frozen=True, repr=False)
class DaskEngine(ParameterObject, HoldingEngine):
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
    _session, _rows = DaskSession, DaskRows

    def __post_init__(self) -> None:
        if self.client is not None and not is_client(self.client):
            raise ValueError(
                f"DaskEngine(client={self.client!r}): give a distributed.Client, or None for the "
                "one that was started last."
            )
        super().__post_init__()

    @property
    def memory_per_part(self) -> None:
        """None: all partitions of a worker share what it keeps."""

    def holds(self, x: Any) -> bool:
        """True where `x` is a collection of Dask."""
        return is_collection(x)

    def held(self, x: Any, estimator_name: str, *, holes: bool = False) -> DaskRows:
        """Return a Dask collection `x` as rows that stay on the workers; `holes`: values may be
        missing. Errors name `estimator_name`."""
        dtype, columns = type_and_columns(x, estimator_name)
        with naming(estimator_name):
            client = self._known_client("X is a Dask collection", "or pass the array: X.compute()")
        where = "a Dask data frame" if is_frame(x) else "a Dask array"
        parts = started(client, x, as_rows, np.dtype(dtype), estimator_name)
        holder = DaskHolder(client, parts, where, self.memory_per_worker)
        return DaskRows(holder, columns, dtype, estimator_name, self, holes=holes)

    def holder_of_files(self, files: PartsOfFiles) -> DaskHolder:
        client = self._known_client("engine is a DaskEngine", "or take engine=None")
        parts = read_by_number(client, files)
        return DaskHolder(client, parts, files.where, self.memory_per_worker)

    def _known_client(self, why: str, otherwise: str) -> Any:
        client = default_client() if self.client is None else self.client
        if client is None:
            raise ValueError(
                f"{why} and no Dask client is there; start one (distributed.Client()), name one "
                f"(engine=cmeans.DaskEngine(client)), {otherwise}."
            )
        return client

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "client": None}
