"""Blocks of bytes cut into lines, however long or short either are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

LONGEST = 64 << 20  # bytes of a line; what lies beyond in a longer one is not kept


@dataclass(frozen=True)
class Lines:
    """Some lines without their ends, and the numbers that editors give them, which count from 1."""

    texts: list[bytes]
    numbers: range | list[int]

    def __len__(self) -> int:
        return len(self.texts)

    def __getitem__(self, rows: slice) -> Lines:
        return Lines(self.texts[rows], self.numbers[rows])

    def filled(self) -> Lines:
        """Those that hold anything."""
        if b"" not in self.texts and b"\r" not in self.texts:
            return self
        kept = [at for at, text in enumerate(self.texts) if text not in (b"", b"\r")]
        return Lines([self.texts[at] for at in kept], [self.numbers[at] for at in kept])


def numbered_lines(blocks: Iterator[bytes | None]) -> Iterator[Lines | None]:
    """The lines as they become whole; a line longer than LONGEST is cut off behind it. None is passed on."""
    open_line, count = bytearray(), 0
    for block in blocks:
        if block is None:
            yield None
            continue
        first, *others = block.split(b"\n")
        _extend(open_line, first)
        if not others:
            continue
        yield Lines([bytes(open_line), *others[:-1]], range(count + 1, count + len(others) + 1))
        count += len(others)
        open_line = bytearray(others[-1])
    if open_line:
        yield Lines([bytes(open_line)], range(count + 1, count + 2))


def _extend(line: bytearray, more: bytes) -> None:
    line += more[: max(0, LONGEST + 1 - len(line))]
