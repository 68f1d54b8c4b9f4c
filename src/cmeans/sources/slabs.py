"""Rows that must be decoded: each slab of them once, some kept for a while, the next one begun before it is asked for."""

from __future__ import annotations

import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike

from ..stored import Label, Rows, StoredRows

LEAST = 2**22  # bytes of a slab that smaller groups are joined to
LARGEST = 2**26  # bytes of a group that can still be sought in
_SPARE = 1  # slabs kept that no thread is at


@dataclass(frozen=True)
class Group:
    """Consecutive rows that can only be decoded together."""

    rows: int
    fill: Callable[[Rows], None]  # writes them into x (rows, d)


class Slabs(StoredRows):
    """Rows of many groups, one after the other."""

    def __init__(self, where: str, columns: Sequence[Label], dtype: DTypeLike, groups: Sequence[Group], transient: int = 0) -> None:
        """`transient`: bytes that decoding takes beside the rows."""
        self.where, self.columns, self.dtype = where, tuple(columns), np.dtype(dtype)
        self.shape = (sum(group.rows for group in groups), len(self.columns))
        slabs = _joined(groups, max(1, LEAST // (self.shape[1] * self.dtype.itemsize)))
        sizes = [sum(group.rows for group in slab) for slab in slabs]
        self._starts = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
        self._largest = max(sizes, default=0) * self.shape[1] * self.dtype.itemsize
        self._transient = transient

        def decoded(number: int) -> Rows:
            x = np.empty((sizes[number], len(columns)), dtype)
            start = 0
            for group in slabs[number]:
                group.fill(x[start : start + group.rows])
                start += group.rows
            return x

        self._kept = _Kept(decoded, len(slabs))
        weakref.finalize(self, self._kept.close)

    def memory(self, n_threads: int) -> int:
        # Each thread is at a slab, so is the one that has opened the rows; one more comes next, and one may come that nobody wants now.
        return (n_threads + 3 + _SPARE) * self._largest + (n_threads + 1) * self._transient

    def _read(self, start: int, stop: int) -> Rows:
        stop = min(stop, len(self))
        out = np.empty((max(0, stop - start), self.shape[1]), self.dtype)
        done = start
        while done < stop:
            number = int(np.searchsorted(self._starts, done, side="right")) - 1
            first, last = int(self._starts[number]), min(stop, int(self._starts[number + 1]))
            out[done - start : last - start] = self._kept.slab(number)[done - first : last - first]
            done = last
        return out


class _Kept:
    """Decoded slabs: those that threads are at, the next one, and a spare. It knows nobody who holds it, so that its reader can end."""

    def __init__(self, decode: Callable[[int], Rows], n_slabs: int) -> None:
        self._decode, self._n_slabs = decode, n_slabs
        self._slabs: OrderedDict[int, Future[Rows]] = OrderedDict()  # the one left longest ago comes first
        self._at: weakref.WeakKeyDictionary[threading.Thread, int] = weakref.WeakKeyDictionary()
        self._ahead: int | None = None  # a slab that was begun and not yet asked for
        self._made_at: dict[int, int] = {}  # how many had been decoded when each was, the last time
        self._n_made = 0
        self._changed = threading.Condition()
        self._wish: int | None = None
        self._reader: threading.Thread | None = None
        self._closed = False

    def slab(self, number: int) -> Rows:
        """One slab, decoded by whoever asks first; it must not be written to."""
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

    def _found(self, number: int) -> tuple[Future[Rows], bool]:
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

    def _make(self, number: int, slab: Future[Rows]) -> None:
        try:
            slab.set_result(self._decode(number))
        except BaseException as error:
            with self._changed:
                del self._slabs[number]  # whoever asks again tries again
            slab.set_exception(error)

    def _look_ahead(self, number: int) -> None:
        """Ask the reader for a slab, unless one that it has made still waits for the thread that comes to it, or another thread was there
        in this very pass: then the one that asks is at the end of its own stretch of rows."""
        coming = self._ahead is not None and self._ahead - 1 in self._at.values()
        passed = number in self._made_at and self._n_made - self._made_at[number] < self._n_slabs // 2
        if number >= self._n_slabs or number in self._slabs or coming or passed:
            return
        self._wish = self._ahead = number
        if self._reader is None or not self._reader.is_alive():  # it does not outlive a fork
            self._reader = threading.Thread(target=self._read_ahead, name="cmeans-reader", daemon=True)
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
                self._make(number, slab)  # an error comes again when the slab is really asked for


def _joined(groups: Sequence[Group], least: int) -> list[list[Group]]:
    """Consecutive groups together until they are no longer tiny."""
    slabs = list[list[Group]]()
    rows = least
    for group in groups:
        if rows >= least:
            slabs.append([])
            rows = 0
        slabs[-1].append(group)
        rows += group.rows
    return slabs
