"""Sources of a stream: standard input, a file or a pipe of CSV or Arrow, Parquet files of a folder, also while more arrive."""

from __future__ import annotations

import hashlib
import io
import os
import sys
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from ...data.files.arrow import ParquetTable, blocks_of, header_of, pa, readable, sound
from ...data.files.csv import CsvText, ReadLines
from ...data.files.discovery import IPC_FILE, IPC_STREAM, NPY, PACKED, PARQUET, ZIP
from ...data.files.schema import ColumnChoice, Header, ReadOptions
from ...data.files.tables import Block
from ...data.files.text import Lines
from ...data.files.unchanged_files import naming
from ...data.row_source import RowsError
from ..errors import InputError
from ..models import Preprocessing
from ..option_values import as_option
from .batches import Batch, Batches, Offset, Origin, Patience, Pick
from .waiting import Ahead, StreamInput

STDIN = Path("-")
_BLOCK = 1 << 20  # bytes of text that are read at a time, at most
_BUFFER = 1 << 16
_LONGEST_NAP = 86_400.0  # seconds
_OTHERS = {  # name of the format, and advice
    **{magic: (f"packed by {packer.name}", f"unpack it on the way: {packer.cat} FILE | cmeans stream") for magic, packer in PACKED.items()},
    ZIP: ("npz or zip", "cmeans stream reads CSV, Arrow and Parquet; cmeans fit reads npz"),
    NPY: ("npy", "cmeans stream reads CSV, Arrow and Parquet; cmeans fit reads npy"),
}


@dataclass(frozen=True)
class Follow:
    """Polling of a folder: the interval, and the time without a new file after which it ends, in seconds."""

    poll: float = 1.0
    idle: float | None = None


@dataclass(frozen=True)
class Wanted:
    """The user's options for a source."""

    path: Path = STDIN
    kind: str | None = None  # "csv" or "arrow"; None: detect
    header: bool | None = None  # True where the first line of a CSV holds names; None: detect
    follow: Follow | None = None


class ColumnPicker:
    """Selects the columns of the user or the model in the first header, and the same columns in all later ones."""

    def __init__(self, reading: ReadOptions, recipe: Preprocessing | None = None) -> None:
        """`recipe`: the preprocessing of a model that the stream continues."""
        self._reading = reading if recipe is None else replace(reading, dtype=recipe.dtype, known=recipe.columns)
        self.choice: ColumnChoice | None = None  # the last selection

    def __call__(self, header: Header) -> ColumnChoice:
        self.choice = choice = header.choose(self._reading)
        # Later files must have the names of the first one.
        self._reading = replace(self._reading, columns=(), weight=choice.weight_label, dtype=choice.dtype.name, known=choice.columns)
        return choice


class Source(Protocol):
    """A source of rows."""

    def batches(self, pick: Pick, patience: Patience) -> Batches:
        """Yield the rows as they arrive; None whenever none did within the patience. `pick` is called once columns are known."""
        ...


@contextmanager
def open_source(wanted: Wanted, begun: Offset, warn: Callable[[str], None]) -> Iterator[Source]:
    """Open the source, without the rows that an earlier run has clustered; `begun` is the position after them."""
    path = wanted.path
    if path.is_dir():
        for option, said in (("--format", wanted.kind), ("--header, --no-header", wanted.header)):
            if said is not None:
                raise InputError(f"{option}: {path} is a folder, of which the Parquet files are read.")
        if not begun.files and wanted.follow is None and not parquet_files(path):
            raise InputError(f"{path}: holds no .parquet files; --follow waits for some.")
        yield ParquetFiles(lambda: parquet_files(path), begun, warn, wanted.follow)
        return
    if wanted.follow is not None:
        raise InputError(f"--follow: only a folder can be followed, and {_name(path)} is none.")
    if path == STDIN and sys.stdin is None:
        raise InputError("standard input: is closed.")
    if path != STDIN and not path.exists():
        raise InputError(f"{path}: no such file or folder.")
    descriptor = sys.stdin.fileno() if path == STDIN else os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    source = StreamInput(descriptor)
    try:
        known = source.is_file and path != STDIN
        yield _of_bytes(wanted, source, begun.origin(str(path), path.name) if known else Origin(_name(path), begun.rows), begun, warn)
    finally:
        source.release()
        if path != STDIN:
            os.close(descriptor)


def _of_bytes(wanted: Wanted, source: StreamInput, origin: Origin, begun: Offset, warn: Callable[[str], None]) -> Source:
    """Return the source in some bytes, whose format their beginning tells unless the user does."""
    kind = wanted.kind or _kind(source, origin)
    if wanted.header is not None and kind != "csv":
        raise InputError(f"--header, --no-header: only CSV needs to be told, and {origin.where} is {kind}.")
    if kind == "parquet":
        return ParquetFiles(lambda: [wanted.path], begun, warn)
    if kind == "csv":
        return CsvRows(origin, source, warn, wanted.header)
    if source.begins_with(IPC_FILE) and not source.is_file:
        raise InputError(f"{origin.where}: is an Arrow file, which cannot be read from a pipe; send an Arrow stream, or give its name.")
    return ArrowRows(origin, source)


def _kind(source: StreamInput, origin: Origin) -> str:
    if source.begins_with(PARQUET):
        if origin.name is not None:
            return "parquet"
        raise InputError(f"{origin.where}: is Parquet, which cannot be read from a pipe; give the file's name.")
    for magic, (what, advice) in _OTHERS.items():
        if source.begins_with(magic):
            raise InputError(f"{origin.where}: is {what}; {advice}.")
    return "arrow" if source.begins_with(IPC_STREAM) or source.begins_with(IPC_FILE) else "csv"


def _name(path: Path) -> str:
    return "standard input" if path == STDIN else str(path)


@dataclass(frozen=True)
class CsvRows:
    """Rows of a CSV: a line is a row. `header`: True where the first line holds names; None detects it."""

    origin: Origin
    source: StreamInput
    warn: Callable[[str], None]
    header: bool | None = None

    def batches(self, pick: Pick, patience: Patience) -> Batches:
        blocks = Ahead(iter(lambda: self.source.read(_BLOCK), b""))
        try:
            with naming(self.origin.where):
                text = CsvText.of(self.origin.where, blocks.items(patience), self.header, as_option)
                if text is not None:
                    yield from self._rows(text, pick(text.header))
        finally:
            self.source.end()
            blocks.close()

    def _rows(self, text: CsvText, choice: ColumnChoice) -> Iterator[Batch | None]:
        row, fresh = self.origin.first, self.origin.first + self.origin.skip
        yield self.origin.opening(choice)
        for lines in text.data:
            if lines is None:
                yield None
                continue
            old, new = lines[: max(0, fresh - row)], lines[max(0, fresh - row) :]
            row += len(lines)
            if old and row - len(new) == fresh and self.origin.tail not in (None, _digest(old)):
                self.warn(
                    f"{self.origin.where}: line {old.numbers[-1]} had no end when it was read before, and goes on now;"
                    " what was read of it then stays."
                )
            if new:
                yield self._batch(text, new, row - len(new), choice)
        self.origin.refuse_shrunk(row)

    def _batch(self, text: CsvText, lines: Lines, first: int, choice: ColumnChoice) -> Batch:
        read = text.reader.read(lines, choice.places)
        return Batch.of(read, first, choice, lambda row: f"line {lines.numbers[row - first]}", _digest(lines) if lines.open else None)


def _digest(lines: Lines) -> str:
    """Return a digest by which the last of some lines is recognised."""
    return hashlib.sha256(lines.texts[-1]).hexdigest()


@dataclass(frozen=True)
class ArrowRows:
    """Rows of record batches: those of an IPC stream as they arrive, or those of an IPC file."""

    origin: Origin
    source: StreamInput

    def batches(self, pick: Pick, patience: Patience) -> Batches:
        arriving = Ahead(self._read())
        try:
            items = arriving.items(patience)
            header = header_of(self.origin.where, next(items), as_option)
            choice = pick(header)
            yield from _rows(self._blocks(items, header, choice.places), self.origin, choice)
        finally:
            self.source.end()
            arriving.close()

    def _blocks(self, items: Iterator[Any], header: Header, places: Sequence[int]) -> Iterator[Block | None]:
        row = 0
        for batch in items:
            yield from [None] if batch is None else blocks_of(batch, header, places, row)
            row += 0 if batch is None else batch.num_rows

    def _read(self) -> Iterator[Any]:
        """Yield the schema, then each record batch."""
        with readable(self.origin.where, "Arrow"):
            if not self.source.begins_with(IPC_FILE):
                with pa.ipc.open_stream(io.BufferedReader(self.source, _BUFFER)) as reader:
                    yield reader.schema
                    yield from map(sound, reader)
                return
            with os.fdopen(os.dup(self.source.descriptor), "rb") as file, pa.ipc.open_file(file) as opened:
                yield opened.schema
                yield from (sound(opened.get_batch(at)) for at in range(opened.num_record_batches))


def _rows(blocks: Iterable[Block | None], origin: Origin, choice: ColumnChoice, passed: int = 0) -> Generator[Batch | None, None, int]:
    """Yield the rows of a source, and return the number of the row after the last one; `passed`: rows that `blocks` leave out."""
    yield origin.opening(choice)
    row, fresh = origin.first + passed, origin.first + origin.skip
    for block in blocks:
        if block is None:
            yield None
            continue
        new = [column[max(0, fresh - row) :] for column in block]
        row += len(block[0])
        if len(new[0]):
            yield Batch.of(ReadLines(new, np.arange(len(new[0])), {}), row - len(new[0]), choice, origin.place_of)
    origin.refuse_shrunk(row)
    return row


@dataclass(frozen=True)
class ParquetFiles:
    """Rows of the Parquet files that `listing` returns, but those that an earlier run has read."""

    listing: Callable[[], list[Path]]
    begun: Offset
    warn: Callable[[str], None]
    follow: Follow | None = None  # None: only the files that are there now

    def batches(self, pick: Pick, patience: Patience) -> Batches:
        row, done, complained = self.begun.rows, set(self.begun.files), set[str]()
        unfinished = self._unfinished()
        if unfinished is not None:
            row = yield from _table_rows(ParquetTable(unfinished, as_option), self.begun.origin(str(unfinished), unfinished.name), pick)
        last = time.monotonic()
        while True:
            found = False
            for file in (file for file in self.listing() if file.name not in done):
                table = self._opened(file, complained)
                if table is None:
                    continue
                row = yield from _table_rows(table, Origin(str(file), row, name=file.name), pick)
                done.add(file.name)
                found, last = True, time.monotonic()
            if self.follow is None:
                return
            if found:
                continue
            limits = [self.follow.poll, patience(), None if self.follow.idle is None else last + self.follow.idle - time.monotonic()]
            if limits[-1] is not None and limits[-1] <= 0:
                return
            time.sleep(max(0.0, min(_LONGEST_NAP, *(limit for limit in limits if limit is not None))))
            yield None

    def _unfinished(self) -> Path | None:
        """Return the file that an earlier run was reading when it ended."""
        if not self.begun.files:
            return None
        name, first = list(self.begun.files.items())[-1]
        for file in self.listing():
            if file.name == name:
                return file
        read = self.begun.rows - first
        self.warn(f"{name}: is gone; an earlier run has read {read:,} rows of it, and whatever else it held is left out.")
        return None

    def _opened(self, file: Path, complained: set[str]) -> ParquetTable | None:
        """Open a file; None where the folder is followed and the file cannot be read, as it may be incomplete."""
        try:
            return ParquetTable(file, as_option)  # a program may replace it meanwhile
        except RowsError:
            if self.follow is None:
                raise
            if file.name not in complained:
                complained.add(file.name)
                self.warn(f"{file}: cannot be read as Parquet, or not yet; it is tried again.")
            return None


def parquet_files(folder: Path) -> list[Path]:
    """Return the Parquet files of a folder, but hidden ones, which may be incomplete."""
    return sorted((path for path in folder.glob("*.parquet") if not path.name.startswith(".")), key=lambda path: path.name)


def _table_rows(table: ParquetTable, origin: Origin, pick: Pick) -> Generator[Batch | None, None, int]:
    """Yield the rows of one file; groups that are skipped are not read."""
    choice, stops = pick(table.header), list(accumulate(table.groups))
    whole = sum(stop <= origin.skip for stop in stops)
    groups = range(whole, len(stops)) if whole else None
    return (yield from _rows(table.blocks(choice.places, groups), origin, choice, stops[whole - 1] if whole else 0))
