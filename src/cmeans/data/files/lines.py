"""Blocks of bytes, of any size, cut into lines of any length that end in LF, CR LF or CR alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

LONGEST = 64 << 20  # bytes of a line; the rest of a longer one is not kept


@dataclass(frozen=True)
class Lines:
    """Some lines without their ends, and their numbers, counted from 1."""

    texts: list[bytes]
    numbers: range | list[int]
    open: bool = False  # the last of them has no end: nothing follows it, or not yet

    def __len__(self) -> int:
        return len(self.texts)

    def __getitem__(self, rows: slice) -> Lines:
        return Lines(self.texts[rows], self.numbers[rows], self.open and rows.stop is None)

    def filled(self) -> Lines:
        """Return the lines that are not empty."""
        if b"" not in self.texts:
            return self
        kept = [at for at, text in enumerate(self.texts) if text]
        return Lines([self.texts[at] for at in kept], [self.numbers[at] for at in kept], self.open)


def numbered_lines(blocks: Iterator[bytes | None]) -> Iterator[Lines | None]:
    """Yield lines once they are complete; of a line longer than LONGEST its beginning, once it is too long. None is passed on."""
    open_line, cut = bytearray(), False  # the incomplete line so far; True once the beginning of a too long line was yielded
    count, after_cr = 0, False
    for block in blocks:
        if block is None:
            yield None
            continue
        text = block.removeprefix(b"\n") if after_cr else block  # CR LF may be split between two blocks
        after_cr = block.endswith(b"\r")
        if b"\r" in text:
            text = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        first, *others = text.split(b"\n")
        if not cut:
            _extend(open_line, first)
        if others:
            whole = [*([] if cut else [bytes(open_line)]), *others[:-1]]
            count += cut
            if whole:
                yield Lines(whole, range(count + 1, count + len(whole) + 1))
            count += len(whole)
            open_line, cut = bytearray(), False
            _extend(open_line, others[-1])
        if len(open_line) > LONGEST:
            yield Lines([bytes(open_line)], range(count + 1, count + 2))
            open_line, cut = bytearray(), True
    if open_line:
        yield Lines([bytes(open_line)], range(count + 1, count + 2), open=True)


def _extend(line: bytearray, more: bytes) -> None:
    line += more[: max(0, LONGEST + 1 - len(line))]
