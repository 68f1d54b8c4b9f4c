"""Waiting for a limited time: blocking reads run in a thread, while their consumer waits with a timeout."""

from __future__ import annotations

import io
import os
import select
import stat
import threading
from collections.abc import Iterable, Iterator
from contextlib import suppress
from queue import Empty, Queue
from typing import Any, Generic, TypeVar

from .batches import Patience

T = TypeVar("T")
_AHEAD = 4  # items read ahead
_FAREWELL = 5.0  # seconds to wait for the thread to end


class StreamInput(io.RawIOBase):
    """Bytes of an open file or pipe. Their beginning can be inspected, and another thread can end them."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self.is_file = stat.S_ISREG(os.fstat(descriptor).st_mode)
        self._seen = b""
        self._ended = False
        self._woken, self._wake = os.pipe()

    def begins_with(self, magic: bytes) -> bool:
        """True where these are the first bytes; waits only while they may be."""
        while len(self._seen) < len(magic) and magic.startswith(self._seen):
            more = self._receive(1 << 16)
            if not more:
                break
            self._seen += more
        return self._seen.startswith(magic)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        got = self._seen[: len(buffer)] or self._receive(len(buffer))
        self._seen = self._seen[len(got) :]
        buffer[: len(got)] = got
        return len(got)

    def end(self) -> None:
        """End the bytes for a reader that waits for them."""
        self._ended = True
        os.write(self._wake, b"\0")

    def release(self) -> None:
        """Release the input after the last read; called by its creator. (Its readers may close it at any time.)"""
        os.close(self._woken)
        os.close(self._wake)

    def _receive(self, most: int) -> bytes:
        if os.name != "nt" and not self.is_file:  # Windows can wait for sockets only, and files never block
            select.select([self.descriptor, self._woken], [], [])
        return b"" if self._ended else os.read(self.descriptor, most)


class Ahead(Generic[T]):
    """The items of an iterable that blocks, read in a thread, a few ahead."""

    def __init__(self, items: Iterable[T]) -> None:
        self._items = items
        self._arrived: Queue[list[T]] = Queue(_AHEAD)  # of one item each; of none at the end
        self._unwanted = False
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._read, daemon=True)

    def items(self, patience: Patience) -> Iterator[T | None]:
        """Yield each item, and None whenever none arrived within the patience."""
        self._thread.start()
        while True:
            seconds = patience()
            try:
                arrived = self._arrived.get(timeout=None if seconds is None else min(seconds, threading.TIMEOUT_MAX))
            except Empty:
                yield None
                continue
            if not arrived:
                break
            yield arrived[0]
        if self._error is not None:
            raise self._error

    def close(self) -> None:
        """Discard the remaining items and end the thread."""
        self._unwanted = True
        with suppress(Empty):
            while True:
                self._arrived.get_nowait()
        if self._thread.is_alive():
            self._thread.join(_FAREWELL)

    def _read(self) -> None:
        try:
            for item in self._items:
                self._arrived.put([item])
                if self._unwanted:
                    return
        except BaseException as error:  # raised again where the items are consumed
            self._error = error
        self._arrived.put([])
