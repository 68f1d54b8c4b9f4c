"""Rows that must be decoded: each slab once, with a small cache and the next slab decoded ahead.
Rows from a store are kept in scratch as they were decoded, for later sweeps."""

from __future__ import annotations

import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ..row_source import ColumnLabel, RowArray, RowsError, StoredRows
from ..scratch import Scratch, bytes_of, has_room

LEAST = 2**22  # bytes of a slab, into which smaller groups are joined
LARGEST = 2**26  # bytes of a group up to which it is decoded on demand
_SPARE = 1  # cached slabs that no thread uses


@dataclass(frozen=True)
class Group:
    """Consecutive rows that can only be decoded together."""

    rows: int
    fill: Callable[[RowArray], None]  # writes them into x (rows, d)


class RowGroups(StoredRows):
    """Rows of many groups, one after the other."""

    def __init__(
        self,
        where: str,
        columns: Sequence[ColumnLabel],
        dtype: DTypeLike,
        groups: Sequence[Group],
        transient: int = 0,
        least: int = LEAST,
        most_copied: int = 0,
    ) -> None:
        """`transient`: bytes that decoding takes beside the rows; `least`: bytes of a slab, into
        which smaller groups are joined; `most_copied`: bytes of rows up to which they are kept in
        scratch for further sweeps."""
        super().__init__(where, columns, dtype, sum(group.rows for group in groups))
        together = joined(
            [group.rows for group in groups], max(1, least // (self.shape[1] * self.dtype.itemsize))
        )
        slabs = [groups[first:stop] for first, stop in together]
        sizes = [sum(group.rows for group in slab) for slab in slabs]
        self._starts = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
        self._largest = max(sizes, default=0) * self.shape[1] * self.dtype.itemsize
        self._transient, self._most_copied = transient, most_copied

        def decoded(number: int) -> RowArray:
            x = np.empty((sizes[number], len(columns)), dtype)
            start = 0
            for group in slabs[number]:
                group.fill(x[start : start + group.rows])
                start += group.rows
            return x

        self._kept = _Kept(decoded, len(slabs))
        weakref.finalize(self, self._kept.close)

    def for_sweeps(self) -> StoredRows:
        wanted = self._kept.copy is None and self.nbytes <= self._most_copied
        if wanted and has_room(2 * self.nbytes):
            with suppress(RowsError):  # of a folder that cannot be used
                self._kept.copy = _Copy(self._starts * self._row_bytes)
        return self

    def memory(self, n_threads: int) -> int:
        # One slab for each thread and for the one that opened the rows, the next one, and one
        # decoded ahead that is no longer needed.
        return (n_threads + 3 + _SPARE) * self._largest + (n_threads + 1) * self._transient

    def _read(self, start: int, stop: int) -> RowArray:
        stop = min(stop, len(self))
        out = np.empty((max(0, stop - start), self.shape[1]), self.dtype)
        done = start
        while done < stop:
            number = int(np.searchsorted(self._starts, done, side="right")) - 1
            first, last = int(self._starts[number]), min(stop, int(self._starts[number + 1]))
            part, copy = out[done - start : last - start], self._kept.copy
            if copy is not None and number in copy.slabs:
                copy.scratch.read_into((part, done * self._row_bytes))
            else:
                part[...] = self._kept.slab(number)[done - first : last - first]
            done = last
        return out


class _Copy:
    """Slabs in scratch, each from the first time on that it was decoded."""

    def __init__(self, starts: NDArray[np.int64]) -> None:
        """`starts`: the first byte of each."""
        self.scratch, self.slabs, self._starts = Scratch(), set[int](), starts

    def add(self, number: int, slab: RowArray) -> None:
        with suppress(RowsError):  # of a disk that is full: it is decoded again
            self.scratch.write_at(int(self._starts[number]), bytes_of(slab))
            self.slabs.add(number)


class _Kept:
    """Cache of decoded slabs: those in use, the next one, and a spare. It has no reference to its
    rows, so that its reader can end."""

    def __init__(self, decode: Callable[[int], RowArray], n_slabs: int) -> None:
        self._decode, self._n_slabs = decode, n_slabs
        self.copy: _Copy | None = None
        self._slabs: OrderedDict[int, Future[RowArray]] = OrderedDict()  # least recently used first
        self._at: weakref.WeakKeyDictionary[threading.Thread, int] = weakref.WeakKeyDictionary()
        self._ahead: int | None = None  # a slab begun ahead and not yet requested
        self._made_at: dict[int, int] = {}  # count of decoded slabs when each was last decoded
        self._n_made = 0
        self._changed = threading.Condition()
        self._wish: int | None = None
        self._reader: threading.Thread | None = None
        self._closed = False

    def slab(self, number: int) -> RowArray:
        """Return one slab, decoded by the first thread that requests it; it must not be written
        to."""
        me = threading.current_thread()
        with self._changed:
            moved = self._at.get(me) != number
            self._at[me] = number
            if self._ahead == number:
                self._ahead = None
            slab, mine = self._found(number)
            if moved:
                self._look_ahead(number + 1)
        if mine:
            self._make(number, slab)
        return slab.result()

    def close(self) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def _found(self, number: int) -> tuple[Future[RowArray], bool]:
        slab = self._slabs.get(number)
        if slab is not None:
            self._slabs.move_to_end(number)
            return slab, False
        slab = self._slabs[number] = Future()
        self._made_at[number] = self._n_made
        self._n_made += 1
        needed = {*self._at.values(), number, self._ahead}
        left = [other for other, kept in self._slabs.items() if other not in needed and kept.done()]
        for other in left[: max(0, len(left) - _SPARE)]:
            del self._slabs[other]
        return slab, True

    def _make(self, number: int, slab: Future[RowArray]) -> None:
        try:
            decoded = self._decode(number)
        except BaseException as error:
            with self._changed:
                del self._slabs[number]  # the next request tries again
            slab.set_exception(error)
            return
        if self.copy is not None:  # before the slab may be dropped
            self.copy.add(number, decoded)
        slab.set_result(decoded)

    def _look_ahead(self, number: int) -> None:
        """Request a slab from the reader, unless a thread is still to reach the last one it
        decoded, or the slab was decoded in this very pass: then the calling thread is at the end of
        its own range of rows."""
        coming = self._ahead is not None and self._ahead - 1 in self._at.values()
        passed = (
            number in self._made_at and self._n_made - self._made_at[number] < self._n_slabs // 2
        )
        if number >= self._n_slabs or number in self._slabs or coming or passed:
            return
        self._wish = self._ahead = number
        if self._reader is None or not self._reader.is_alive():  # threads do not survive a fork
            self._reader = threading.Thread(
                target=self._read_ahead, name="cmeans-reader", daemon=True
            )
            self._reader.start()
        self._changed.notify_all()

    def _read_ahead(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._closed or self._wish is not None)
                if self._closed:
                    return
                number, self._wish = self._wish, None
                assert number is not None
                slab, mine = self._found(number)
            if mine:
                self._make(number, slab)  # an error is raised again when the slab is requested


def joined(rows: Sequence[int], least: int) -> list[tuple[int, int]]:
    """Return the spans of consecutive groups of so many rows that make at least `least` rows
    together, but for the last."""
    starts, found = list[int](), least
    for at, more in enumerate(rows):
        if found >= least:
            starts.append(at)
            found = 0
        found += more
    return list(pairwise([*starts, len(rows)]))
