"""The bytes of a file in a store. They are fetched once, the next ones while some are worked on;
later sweeps read them from this machine."""

from __future__ import annotations

import io
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any

import numpy as np

from ..scratch import Scratch, has_room

BLOCK = 2**20  # bytes that are fetched together at least
_AHEAD = 16  # blocks that are fetched before anybody asks for them, at most
_IN_MEMORY = 32 * BLOCK  # bytes that are kept of small files, or where the disk has no room


class FetchedBlocks:
    """The blocks that are kept of the files of one folder: few in memory, many in one scratch file,
    where each file has a place of its own from the start, also in processes that are forked."""

    def __init__(self, size: int) -> None:
        """`size`: bytes of all files together."""
        self.lock = threading.Lock()
        self._are_many = size > _IN_MEMORY
        self._scratch: Scratch | None = None
        self._in_memory = OrderedDict[int, bytes]()  # by places, the oldest first
        self._bytes = 0

    def scratch(self, size: int) -> Scratch | None:
        """Return the scratch file for a file of so many bytes; None where memory will do."""
        with self.lock:
            if not self._are_many or not has_room(2 * size):
                return None
            self._scratch = self._scratch or Scratch()
            return self._scratch

    def add(self, place: int, block: bytes) -> None:
        """Keep a block in memory, in place of the oldest one."""
        self._in_memory[place] = block
        self._bytes += len(block)
        while self._bytes > _IN_MEMORY:
            self._bytes -= len(self._in_memory.popitem(last=False)[1])

    def get(self, place: int) -> bytes | None:
        """Return a block that is in memory."""
        return self._in_memory.get(place)


class Fetched:
    """The bytes of one file, as far as they have been fetched. Any thread may read."""

    def __init__(
        self,
        fetch: Callable[[int, int], bytes],
        size: int,
        blocks: FetchedBlocks | None = None,
        start: int = 0,
    ) -> None:
        """`fetch`: gives the bytes between two places, all of them or an error; `blocks`: what is
        kept of all files of a folder, in which this one begins at `start`."""
        self._fetch, self.size, self._start = fetch, size, start
        self._blocks = FetchedBlocks(size) if blocks is None else blocks
        self._lock, self._scratch = self._blocks.lock, self._blocks.scratch(size)
        self._in_scratch = set[int]()
        self._coming = dict[int, Future[memoryview]]()

    def read_into(self, out: memoryview, start: int) -> int:
        """Fill a buffer with the bytes from a place on, but at the end of the file; return how many
        they are."""
        done, size = 0, max(0, min(len(out), self.size - start))
        while done < size:
            at, first = divmod(start + done, BLOCK)
            stop = min(size, done + BLOCK - first)
            self._copy(at, first, out[done:stop])
            done = stop
        return size

    def _copy(self, at: int, first: int, out: memoryview) -> None:
        """Copy the bytes of a block from a place on. It is fetched if it must be, and others
        ahead."""
        with self._lock:
            data = self._blocks.get(self._place(at))
            own = self._claimed([at])
            ahead = self._claimed(self._following(at))
            coming = self._coming.get(at)
        if ahead:
            threading.Thread(target=self._bring, args=(ahead,), daemon=True).start()
        if own:
            self._bring(own)
        if coming is not None:
            out[:] = coming.result()[first : first + len(out)]
        elif data is not None:
            out[:] = data[first : first + len(out)]
        else:
            assert self._scratch is not None, "a block is there, or is coming"
            self._scratch.read_into((np.frombuffer(out, np.uint8), self._place(at) + first))

    def _place(self, at: int) -> int:
        return self._start + at * BLOCK

    def _is_held(self, at: int) -> bool:
        return at in self._in_scratch or self._blocks.get(self._place(at)) is not None

    def _following(self, at: int) -> range:
        """Return the blocks to fetch ahead: as many as were read in a row up to this one, once half
        of them are missing."""
        run = 0
        while run < _AHEAD and self._is_held(at - 1 - run):
            run += 1
        first = at + 1
        while first <= at + run and (self._is_held(first) or first in self._coming):
            first += 1
        stop = min(at + 1 + run, -(-self.size // BLOCK))
        return range(first, stop) if 2 * (stop - first) >= run else range(0)

    def _claimed(self, blocks: Sequence[int]) -> list[int]:
        """Return those of some blocks in a row that nobody fetches yet, up to the first one that is
        there, and promise them."""
        fresh = list[int]()
        for at in blocks:
            if self._is_held(at) or at in self._coming:
                break
            self._coming[at] = Future()
            fresh.append(at)
        return fresh

    def _bring(self, blocks: Sequence[int]) -> None:
        """Fetch blocks in a row, and keep the promise of each."""
        try:
            data = self._fetch(blocks[0] * BLOCK, min((blocks[-1] + 1) * BLOCK, self.size))
            whole = memoryview(data)
            parts = [whole[at : at + BLOCK] for at in range(0, len(data), BLOCK)]
            if self._scratch is not None:
                self._scratch.write_at(self._place(blocks[0]), data)
        except BaseException as error:  # whoever waits for the bytes gets it
            with self._lock:
                failed = [self._coming.pop(at) for at in blocks]
            for promise in failed:
                promise.set_exception(error)
            return
        with self._lock:
            kept = [self._coming.pop(at) for at in blocks]
            if self._scratch is not None:
                self._in_scratch.update(blocks)
            else:
                for at, part in zip(blocks, parts, strict=True):
                    self._blocks.add(self._place(at), bytes(part))
        for promise, part in zip(kept, parts, strict=True):
            promise.set_result(part)


class FetchedFile(io.RawIOBase):
    """A file to read and seek in."""

    def __init__(self, fetched: Fetched) -> None:
        self._fetched, self._at = fetched, 0

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return True."""
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go to a place from the beginning, from here or from the end."""
        self._at = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at}.get(whence, self._fetched.size)
        return self._at

    def tell(self) -> int:
        """Return the place of the next byte."""
        return self._at

    def readinto(self, out: Any) -> int:
        """Fill a buffer, but at the end of the file."""
        done = self._fetched.read_into(memoryview(out).cast("B"), self._at)
        self._at += done
        return done

    def readall(self) -> bytes:
        """Return the rest of the file."""
        rest = bytearray(max(0, self._fetched.size - self._at))
        self.readinto(rest)
        return bytes(rest)
