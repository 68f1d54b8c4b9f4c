"""What a model says of rows, written to a file as it is said: no table of all rows is ever in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from .arrays import to_numpy
from .staging import staged_file
from .sweep import Outputs

ENDINGS = (".parquet", ".pq", ".csv", ".npy")
GROUP = 65_536  # rows that are gathered before they are written, fewer where they are wide
CELLS = 4_000_000

Column = tuple[str, Any]  # name, and an array (b,), or a ListColumn


@dataclass(frozen=True)
class ListColumn:
    """Rows that hold lists: their values one after the other, and where each row's end."""

    values: npt.NDArray[Any]
    stops: npt.NDArray[np.int64]  # (b,)


@dataclass(frozen=True)
class Columns:
    """Which columns are written of each row; always its label."""

    n_clusters: int
    memberships: bool = False
    top_k: int | None = None  # of the memberships, the so many largest
    threshold: float | None = None  # of the memberships, those of at least so much

    def of(self, out: Outputs) -> list[Column]:
        """The columns of some rows.

        All memberships are `u0 ... u{c-1}`. The `top_k` largest are `cluster1, u1, cluster2, u2, ...`, in falling order. Those of at
        least `threshold` are lists: `clusters`, in rising order, and `u`; with top_k too, no more of them than that.
        """
        columns: list[Column] = [("label", out.labels.astype(np.int32))]
        if not self.memberships:
            return columns
        u = to_numpy(out.memberships)
        if self.threshold is not None:
            return columns + self._lists(u)
        if self.top_k is not None:
            best = self._best(u)
            values = np.take_along_axis(u, best, axis=1)
            for place in range(best.shape[1]):
                columns += [(f"cluster{place + 1}", best[:, place].astype(np.int32)), (f"u{place + 1}", values[:, place])]
            return columns
        return columns + [(f"u{j}", column) for j, column in enumerate(np.ascontiguousarray(u.T))]

    def _best(self, u: npt.NDArray[Any]) -> npt.NDArray[np.intp]:
        assert self.top_k is not None
        order: npt.NDArray[np.intp] = np.argsort(-u, axis=1, kind="stable")[:, : self.top_k]
        return order

    def _lists(self, u: npt.NDArray[Any]) -> list[Column]:
        kept = u >= self.threshold
        if self.top_k is not None:
            best = np.zeros_like(kept)
            np.put_along_axis(best, self._best(u), True, axis=1)
            kept &= best
        stops = np.cumsum(kept.sum(axis=1, dtype=np.int64))
        return [("clusters", ListColumn(np.nonzero(kept)[1].astype(np.int32), stops)), ("u", ListColumn(u[kept], stops))]


class RowFile(Protocol):
    """A file that rows are appended to."""

    def append(self, columns: Sequence[Column]) -> None: ...


@contextmanager
def row_file(path: Path, n_rows: int, columns: Columns, dtype: npt.DTypeLike) -> Iterator[RowFile]:
    """A file of the kind that the ending says; it takes its name when the block ends, and on any exception there is none."""
    with staged_file(path) as place:
        if path.suffix == ".npy":
            with place.open("wb") as file:
                header = {"descr": np.dtype(np.int32).str, "fortran_order": False, "shape": (n_rows,)}
                np.lib.format.write_array_header_1_0(file, header)
                yield _Npy(file)
        else:
            from .sources.row_tables import RowTable

            blank = Outputs(np.empty(0, np.intp), np.empty((0, columns.n_clusters), dtype), np.empty(0))
            with RowTable(place, columns.of(blank)) as table:
                gathering = _Gathering(table)
                yield gathering
                gathering.finish()


class _Npy:
    def __init__(self, file: Any) -> None:
        self._file = file

    def append(self, columns: Sequence[Column]) -> None:
        self._file.write(np.ascontiguousarray(columns[0][1]).data)


class _Gathering:
    """Small parts become groups of rows that are worth one of a file."""

    def __init__(self, table: RowFile) -> None:
        self._table = table
        self._parts: list[Sequence[Column]] = []
        self._n_rows = 0

    def append(self, columns: Sequence[Column]) -> None:
        self._parts.append(columns)
        self._n_rows += len(columns[0][1])
        if self._n_rows >= min(GROUP, CELLS // len(columns)):
            self.finish()

    def finish(self) -> None:
        if self._parts:
            self._table.append([(some[0][0], _joined([column for _, column in some])) for some in zip(*self._parts, strict=True)])
        self._parts, self._n_rows = [], 0


def _joined(parts: list[Any]) -> Any:
    if not isinstance(parts[0], ListColumn):
        return parts[0] if len(parts) == 1 else np.concatenate(parts)
    before = np.cumsum([0, *(len(part.values) for part in parts)])[:-1]
    stops = np.concatenate([part.stops + first for part, first in zip(parts, before, strict=True)])
    return ListColumn(np.concatenate([part.values for part in parts]), stops)


def checked_columns(path: Path, n_clusters: int, owner: str, *, memberships: bool, top_k: int | None, threshold: float | None) -> Columns:
    """The columns that somebody asks for, in a file that can hold them."""
    if path.suffix not in ENDINGS:
        raise ValueError(f"{owner}: {path} has an unknown ending; known are {', '.join(ENDINGS)} (.npy: labels only).")
    if (top_k is not None or threshold is not None) and not memberships:
        raise ValueError(f"{owner}: top_k and threshold choose among memberships; take memberships=True.")
    if top_k is not None and not 1 <= top_k <= n_clusters:
        raise ValueError(f"{owner}(top_k={top_k!r}): the model has {n_clusters} clusters; give 1 ... {n_clusters}.")
    if threshold is not None and not 0 < threshold <= 1:
        raise ValueError(f"{owner}(threshold={threshold!r}): memberships lie between 0 and 1; give a number above 0.")
    if memberships and path.suffix == ".npy":
        raise ValueError(f"{owner}: {path} can hold labels only; take memberships=False, or a .parquet or .csv file.")
    if threshold is not None and path.suffix == ".csv":
        raise ValueError(f"{owner}(threshold={threshold!r}): a CSV holds no lists; take a .parquet file, or top_k.")
    return Columns(n_clusters, memberships, top_k, threshold)
