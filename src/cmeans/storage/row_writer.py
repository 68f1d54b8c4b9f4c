"""The file of a model's results by row, written block by block: no table of all rows is in
memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from ..data.addresses import place
from ..data.arrays import IntArray, to_numpy
from ..data.outputs import RowOutputs
from .atomic import WriteError, check_room, staged_file, try_writing, writing_to

ENDINGS = (".parquet", ".pq", ".csv", ".npy")

Columns = dict[str, Any]  # arrays (b,) of NumPy, or PyArrow's of lists

# whether memberships are written, of how many clusters, and from which on
Written = tuple[bool | None, int | None, float | None]


@dataclass(frozen=True)
class OutputColumns:
    """The columns to write for each row, besides its label."""

    n_clusters: int
    memberships: bool = False
    top_k: int | None = None  # only the `top_k` largest memberships
    threshold: float | None = None  # only memberships of at least `threshold`
    most: int | None = None  # clusters in which a row has memberships at all; None: all

    def least_bytes(self, n_rows: int, ending: str, itemsize: int) -> int:
        """Return about the fewest bytes that so many rows take: of memberships half their size, as
        files are compressed or numbers short; of lists nothing is known before."""
        label = {".npy": 4, ".csv": 2}.get(ending, 0)
        kept = self.memberships and self.threshold is None
        numbers = (self.top_k or self.most or self.n_clusters) if kept else 0
        return n_rows * (label + numbers * itemsize // 2)

    def of(self, out: RowOutputs) -> Columns:
        """Return the columns of a block of rows.

        All memberships are `u0 ... u{c-1}`. The `top_k` largest are `cluster1, u1, cluster2, u2,
        ...`, in falling order. Those of at least `threshold` are lists: `clusters`, in rising
        order, and `u`, with at most `top_k` entries where both are given.
        """
        columns: Columns = {"label": out.labels.astype(np.int32)}
        if not self.memberships:
            return columns
        if self.threshold is not None:
            return columns | self._lists(out)
        if self.top_k is None and out.clusters is None:
            return columns | {
                f"u{j}": column
                for j, column in enumerate(np.ascontiguousarray(to_numpy(out.memberships).T))
            }
        largest, values = self._largest(out)
        for rank in range(largest.shape[1]):
            columns |= {
                f"cluster{rank + 1}": largest[:, rank].astype(np.int32),
                f"u{rank + 1}": values[:, rank],
            }
        return columns

    def _largest(self, out: RowOutputs) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Return the clusters (b, k) of the largest memberships of rows, and these."""
        u = to_numpy(out.memberships)
        if out.clusters is not None:
            return out.clusters[:, : self.top_k], u[:, : self.top_k]
        order = np.argsort(-u, axis=1, kind="stable")[:, : self.top_k]
        return order, np.take_along_axis(u, order, axis=1)

    def _lists(self, out: RowOutputs) -> Columns:
        from ..data.files.row_table import lists

        clusters, u = self._largest(out)
        by_number = np.argsort(clusters, axis=1)
        clusters = np.take_along_axis(clusters, by_number, axis=1)
        u = np.take_along_axis(u, by_number, axis=1)
        kept = u >= self.threshold
        counts = kept.sum(axis=1)
        return {
            "clusters": lists(clusters[kept].astype(np.int32), counts),
            "u": lists(u[kept], counts),
        }


@contextmanager
def row_file(
    path: Path, n_rows: int, columns: OutputColumns, dtype: npt.DTypeLike
) -> Iterator[Callable[[Columns], None]]:
    """Provide a function that appends rows to a file of the kind that the ending says.

    It takes its name when the block ends, and on any exception there is none. WriteError where it
    cannot be written.
    """
    with staged_file(path) as place:
        with writing_to(place):
            if path.suffix == ".npy":
                file: Any = _LabelFile(place, n_rows)
            else:
                file = _table(place, columns, dtype)

        def append(rows: Columns) -> None:
            with writing_to(place):
                file.append(rows)

        try:
            yield append
            with writing_to(place):
                file.finish()
        except BaseException:
            with suppress(OSError):  # what ends the block is the error
                file.close()
            raise
        with writing_to(place):
            file.close()


def _table(place: Path, columns: OutputColumns, dtype: npt.DTypeLike) -> Any:
    from ..data.files.row_table import RowTable

    return RowTable(
        place,
        columns.of(RowOutputs.empty(0, columns.n_clusters, np.empty(0, dtype), most=columns.most)),
    )


class _LabelFile:
    """Labels alone, as NumPy stores an array."""

    def __init__(self, place: Path, n_rows: int) -> None:
        self._file = place.open("wb")
        header = {"descr": np.dtype(np.int32).str, "fortran_order": False, "shape": (n_rows,)}
        np.lib.format.write_array_header_1_0(self._file, header)

    def append(self, rows: Columns) -> None:
        self._file.write(np.ascontiguousarray(rows["label"]).data)

    def finish(self) -> None:
        self._file.flush()

    def close(self) -> None:
        self._file.close()


def checked_columns(
    path: Path,
    n_clusters: int,
    method_name: str,
    *,
    memberships: bool,
    top_k: int | None,
    threshold: float | None,
    most: int | None = None,
) -> OutputColumns:
    """Return the columns to write; ValueError where an argument is out of range or the file cannot
    hold them."""
    if path.suffix not in ENDINGS:
        raise ValueError(
            f"{method_name}: {path} has an unknown ending; known are {', '.join(ENDINGS)} (.npy: "
            "labels only)."
        )
    if (top_k is not None or threshold is not None) and not memberships:
        raise ValueError(
            f"{method_name}: top_k and threshold choose among memberships; take memberships=True."
        )
    if top_k is not None and not 1 <= top_k <= n_clusters:
        raise ValueError(
            f"{method_name}(top_k={top_k!r}): the model has {n_clusters} clusters; give 1 ... "
            f"{n_clusters}."
        )
    if top_k is not None and most is not None and top_k > most:
        raise ValueError(
            f"{method_name}(top_k={top_k!r}): rows have memberships in {most} clusters, top_k of "
            f"the model; give 1 ... {most}."
        )
    if threshold is not None and not 0 < threshold <= 1:
        raise ValueError(
            f"{method_name}(threshold={threshold!r}): memberships lie between 0 and 1; give a "
            "number above 0."
        )
    if memberships and path.suffix == ".npy":
        raise ValueError(
            f"{method_name}: {path} can hold labels only; take memberships=False, or a .parquet or "
            ".csv file."
        )
    if threshold is not None and path.suffix == ".csv":
        raise ValueError(
            f"{method_name}(threshold={threshold!r}): a CSV holds no lists; take a .parquet file, "
            "or top_k."
        )
    return OutputColumns(n_clusters, memberships, top_k, threshold, most)


class ResultsFile:
    """The file to which a model writes the results of rows, in their order. Use it as a context
    manager, and begin once."""

    def __init__(
        self,
        out: str | os.PathLike[str],
        caller: str,
        memberships: bool | None,
        top_k: int | None,
        threshold: float | None,
        *,
        late: bool = False,
    ) -> None:
        """`caller`: the method, for messages; `memberships`: None writes those of soft rules, where
        the file can hold them. `late`: an error of writing rows is raised at the end, so that a fit
        is not lost."""
        self._path, self._caller = place(out), caller
        self._memberships, self._top_k, self._threshold = memberships, top_k, threshold
        self._open = ExitStack()
        self._late = late
        self._failed: WriteError | None = None
        # (c,) rows of each label; None before the file is begun
        self.counts: IntArray | None = None

    def check(self, n_clusters: int, is_soft: bool = True, most: int | None = None) -> None:
        """Refuse, before the work is done, columns for so many clusters that cannot be written."""
        self._columns(n_clusters, is_soft, most)
        try_writing(self._path)

    def check_room(
        self, n_rows: int, n_clusters: int, itemsize: int, is_soft: bool, most: int | None = None
    ) -> None:
        """Refuse, before the work is done, results of so many rows that the disk has no room
        for."""
        columns = self._columns(n_clusters, is_soft, most)
        check_room(self._path, columns.least_bytes(n_rows, self._path.suffix, itemsize))

    def _columns(self, n_clusters: int, is_soft: bool, most: int | None) -> OutputColumns:
        chosen = self._top_k is not None or self._threshold is not None
        if self._memberships is None:
            soft = chosen or (is_soft and self._path.suffix != ".npy")
        else:
            soft = self._memberships
        return checked_columns(
            self._path,
            n_clusters,
            self._caller,
            memberships=soft,
            top_k=self._top_k,
            threshold=self._threshold,
            most=most,
        )

    def begin(
        self,
        n_rows: int,
        n_clusters: int,
        dtype: npt.DTypeLike,
        is_soft: bool,
        most: int | None = None,
    ) -> tuple[Callable[[RowOutputs], Any], Any]:
        """Open the file; return a function that makes columns of some rows' results, and one that
        appends them.

        Where fewer clusters were found than `top_k`, all of them are written.
        """
        self._top_k = None if self._top_k is None else min(self._top_k, n_clusters)
        columns = self._columns(n_clusters, is_soft, most)
        with self._tried():
            append = self._open.enter_context(row_file(self._path, n_rows, columns, dtype))
        self.counts = counts = np.zeros(n_clusters, dtype=np.intp)

        def made(outputs: RowOutputs) -> tuple[Columns, IntArray]:
            return columns.of(outputs), np.bincount(
                outputs.labels[outputs.labels >= 0], minlength=n_clusters
            )

        def put(part: tuple[Columns, IntArray]) -> None:
            if self._failed is None:
                with self._tried():
                    append(part[0])
            counts[:] += part[1]

        return made, put

    @contextmanager
    def _tried(self) -> Iterator[None]:
        """Put an error of writing off to the end, where that is wanted."""
        try:
            yield
        except WriteError as error:
            if not self._late:
                raise
            self._failed = error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            with self._open:
                if (failed := error or self._failed) is not None:
                    raise failed
        except WriteError as wrong:
            wrong.caller = self._caller
            raise
