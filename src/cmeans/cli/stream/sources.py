"""Sources of a stream's rows: lines of CSV in a pipe, a file, or the Parquet files of a folder,
also while more arrive."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...data.addresses import place
from ...data.files.arrow import ParquetTable, readable
from ...data.files.csv import CsvText, unpacked
from ...data.files.csv_lines import ReadLines
from ...data.files.discovery import kind_of_bytes, kind_of_file, packer_of
from ...data.files.opening import open_file
from ...data.files.schema import ColumnChoice, Header, ReadOptions
from ...data.files.tables import FileTable
from ...data.files.text import Lines
from ...data.files.unchanged_files import StampedFile, naming
from ...data.recipe.front import TableWords, front_of_tables
from ...data.recipe.made_columns import MadeColumnError, Unseen
from ...data.recipe.recipe_columns import RecipeColumns, RecipeTable, with_made
from ...data.recipe.table_recipe import TableRecipe
from ...data.row_source import RowsError
from ..errors import InputError
from ..option_names import as_option
from .batches import Batch
from .first_lines import FirstLines, lines_ahead
from .state import StreamPlace
from .waiting import arrives

STDIN = Path("-")
NO_WORDS = TableWords()
_JUDGED = 10  # lines of a pipe that show what its columns hold
_SHOWN = 1_000  # of a file, at least
_BLOCK = 1 << 20  # bytes that are read of a pipe at a time, at most
Batches = Generator[Batch | None, None, None]  # None: no rows came for a while
# some rows, the numbers that messages give them, and columns of text beside them
Parts = Iterable[tuple[ReadLines, Sequence[int], Sequence[NDArray[Any]]] | None]


def the_file(reading: ReadOptions) -> Path:
    """Return the file or folder that a stream comes from."""
    assert isinstance(reading.file, (str, os.PathLike)), "a stream comes from one"
    return place(reading.file)


class Source:
    """The rows of a stream but those that an earlier run has clustered."""

    def __init__(
        self,
        reading: ReadOptions,
        recipe: TableRecipe | None,
        begun: StreamPlace,
        warn: Callable[[str], None],
        follow: bool = False,
        wait: float | None = None,
        beside: Sequence[str] = (),
        words: TableWords = NO_WORDS,
        ahead: int = 1,
    ) -> None:
        """`recipe`: the preparation of rows for a model that goes on. `begun`: the place after
        which rows are new. `wait`: seconds without rows after which None is yielded. `beside`: the
        columns that go with the rows to their labels. `words`: what is said of the columns of a
        stream that begins, of which the first `ahead` lines show the rest."""
        self.path = the_file(reading)
        self.where = "standard input" if self.path == STDIN else str(self.path)
        self.choice: ColumnChoice | None = None  # of the last file
        self.n_rows = 0  # so far, in this run
        self._begun, self._fresh = begun, begun.rows
        # the files so far with the number of the first row of each, and their sizes and times
        self.files, self.stamps = dict(begun.files), dict(begun.stamps)
        self._next = self._fresh  # the number of the first row of the next file
        if recipe is not None:
            reading = replace(reading, dtype=recipe.dtype, known=recipe.columns)
        self._beside, self._words = tuple(beside), words
        self.recipe, self.unseen = recipe, Unseen()
        self._ahead = max(ahead, _SHOWN)
        apart = (*beside, *reading.leave_out)
        self._reading = replace(reading, spell=as_option, leave_out=apart)
        self._warn, self._follow, self._wait = warn, follow, wait

    def batches(self) -> Batches:
        """Yield the rows as they arrive; None whenever none did for a while."""
        if self.path.is_dir():
            yield from self._in_folder()
        elif self._follow:
            raise InputError(f"--follow: only a folder can be followed, and {self.where} is none.")
        elif self.path == STDIN or self.path.is_fifo():
            if self.path == STDIN and sys.stdin is None:
                raise InputError("standard input: is closed.")
            name = sys.stdin.fileno() if self.path == STDIN else self.path
            with open(name, "rb", buffering=0, closefd=self.path != STDIN) as pipe:
                yield from self._of_lines(self._pieces(pipe.fileno()), None)
        elif kind_of_file(self.path) == "csv":
            with readable(self.path, "CSV"), unpacked(StampedFile.of(self.path)) as pieces:
                yield from self._of_lines(pieces, self.path.name)
        else:
            table = open_file(self.path, self._reading)
            if not isinstance(table, FileTable):
                raise InputError(
                    f"{self.path}: is no CSV, Arrow or Parquet, which cmeans stream reads; cmeans "
                    "fit reads it."
                )
            yield from self._of_table(table, self.path.name)

    def _pieces(self, pipe: int) -> Iterator[bytes | None]:
        """Yield the bytes of a pipe as they arrive."""
        begun = False
        while True:
            if self._wait is not None and not arrives(pipe, self._wait):
                yield None
                continue
            piece = os.read(pipe, _BLOCK)
            if not piece:
                return
            packer, kind = (None, None) if begun else (packer_of(piece), kind_of_bytes(piece))
            if packer is not None:
                raise InputError(
                    f"{self.where}: is packed by {packer.name}; unpack it on the way: {packer.cat} "
                    "FILE | cmeans stream."
                )
            if kind is not None:
                raise InputError(
                    f"{self.where}: is {kind}, which cannot be read from a pipe; give the name of "
                    "a file."
                )
            begun = True
            yield piece

    def _of_lines(self, pieces: Iterator[bytes | None], name: str | None) -> Batches:
        """Yield the rows of a CSV, a row a line."""
        with naming(self.where):
            written = self._words.written
            if self.recipe is not None:
                written = replace(self.recipe.written, encoding=written.encoding)
            text = CsvText.of(self.where, pieces, self._reading.header, as_option, written=written)
            if text is None:
                return
            if self.recipe is None:
                text, self.recipe = self._learnt(text, is_file=name is not None)
            text = text.with_notations(self.recipe.written.notations)
            columns = self.recipe.of(text.header, text.reader.dialect.delimiter, self.unseen)
            choice, reader = self._picked(columns.header), text.with_text(columns.as_text).reader
            places = [text.header.position(word) for word in self._beside]
            sources = columns.sources(choice.places)
            read = (
                (
                    _with_made(reader.read(lines, sources), columns, choice.places),
                    lines.numbers,
                    reader.texts(lines, places),
                )
                if lines is not None
                else None
                for lines in text.data
            )
            yield from self._new(name, choice, read, "line {}".format)

    def _learnt(self, text: CsvText, is_file: bool) -> tuple[CsvText, TableRecipe]:
        """Return the recipe of text by its first lines, those of a pipe as far as they have come,
        and the text with these lines."""
        shown, ahead = _JUDGED, list[Lines | None](text.seen)
        if is_file or self._words.categorical:
            ahead = lines_ahead(text.data, self._ahead)
            text = replace(text, data=chain(ahead, text.data))
        if is_file:
            shown = self._ahead
        return text, self._recipe_of(FirstLines(text, ahead, shown))

    def _recipe_of(self, table: FileTable) -> TableRecipe:
        """Return how the rows of this table are read, and those of all later ones; tell of it."""
        reading, words = self._reading, self._words
        # a stream does not ask: a cell that is no number is a malformed row
        words = replace(words, missing=words.missing or ())
        header, apart = table.header, [*reading.leave_out]
        if reading.weight is not None:
            apart.append(header.fields[header.weighing(reading.weight)].label)
        front = front_of_tables([table], reading, words, apart)
        for text in front.notes:
            self._warn(text)
        left_out = (*apart[: len(self._beside)], *(field.label for field in front.left_out))
        self._reading = replace(reading, leave_out=left_out)
        return front.recipe

    def _of_table(self, table: FileTable, name: str) -> Batches:
        if self._beside:
            raise InputError(
                f"--id, --time: {self.where} is no CSV, of which alone columns go with the rows to "
                "their labels; leave them out: row numbers are there."
            )
        if self.recipe is None:
            self.recipe = self._recipe_of(table)
        table = RecipeTable(table, self.recipe.of(table.header, table.separator, self.unseen))
        choice = self._picked(table.header)
        parts = _numbered(table, choice.places)
        yield from self._new(name, choice, parts, lambda row: f"{name}, row {row} (counted from 0)")

    def _picked(self, header: Header) -> ColumnChoice:
        """Return the columns of the user or the model in the first file, and those of the same
        names in all later ones."""
        reading = self._reading
        if reading.columns:
            picked = with_made(header, header.pick(reading.columns))
            reading = replace(reading, columns=header.labels(picked))
        self.choice = choice = header.choose(reading)
        weight, dtype = choice.weight_label, choice.dtype.name
        self._reading = replace(
            reading, columns=(), known=choice.columns, weight=weight, dtype=dtype
        )
        return choice

    def _new(
        self, name: str | None, choice: ColumnChoice, parts: Parts, place: Callable[[int], str]
    ) -> Batches:
        """Yield the rows of one file or pipe that are new."""
        first = row = self._next if name is None else self.files.setdefault(name, self._next)
        former = self._former(name, first)
        for part in parts:
            if part is None:
                yield None
                continue
            batch = Batch.of(part[0], row, choice, part[1], place, part[2])
            former.see(batch)
            row, new = batch.stop, batch.part(self._fresh)
            self.n_rows += len(new)
            yield new
        former.end(row)
        self._next = max(self._next, row)

    def _former(self, name: str | None, first: int) -> FormerRows:
        """Return what is known of the rows of a file from an earlier run."""
        if name is None or name not in self._begun.files:
            return FormerRows(str(name), first, first)
        end, grows = self._begun.ends[name], name == list(self._begun.files)[-1]
        return FormerRows(name, first, end, self._begun.digests.get(name), grows)

    def _in_folder(self) -> Batches:
        if self._reading.header is not None:
            raise InputError(
                f"--header, --no-header: {self.path} is a folder, of which the Parquet files are "
                "read."
            )
        last, *whole = [*reversed(self.files), None]  # the last one may have been read in part
        files, complained = parquet_files(self.path), set[str]()
        # others are read again, to see whether they hold what they held
        same = {file.name for file in files if self.stamps.get(file.name) == _stamp(file)}
        done = same.intersection(whole)
        if last is not None and last not in [file.name for file in files]:
            rows = self._fresh - self.files[last]
            self._warn(
                f"{last}: is gone; an earlier run has read {rows:,} rows of it, and whatever else "
                "it held is left out."
            )
        if not (files or self.files or self._follow):
            raise InputError(f"{self.path}: holds no .parquet files; --follow waits for some.")
        while True:
            fresh, found = [file for file in files if file.name not in done], False
            for file in sorted(fresh, key=lambda file: file.name != last):
                table = self._opened(file, complained)
                if table is not None:
                    self.stamps[file.name] = _stamp(file)
                    yield from self._of_table(table, file.name)
                    done.add(file.name)
                    found = True
            if not self._follow:
                return
            if not found:
                time.sleep(self._wait or 1.0)
                if self._wait is not None:
                    yield None
            files = parquet_files(self.path)

    def _opened(self, file: Path, complained: set[str]) -> ParquetTable | None:
        """Open a file; None where the folder is followed and the file cannot be read, as it may be
        incomplete."""
        try:
            return ParquetTable(file, as_option)
        except RowsError:
            if not self._follow:
                raise
            if file.name not in complained:
                complained.add(file.name)
                self._warn(f"{file}: cannot be read as Parquet, or not yet; it is tried again.")
            return None


class FormerRows:
    """The rows of a file that an earlier run has read. A file that holds others now is refused
    before any new row of it is taken."""

    def __init__(
        self, name: str, first: int, end: int, digest: int | None = None, grows: bool = True
    ) -> None:
        """They are those from number `first` to before `end`. `digest`: of a `Batch` of them, where
        it is known; `grows`: whether further rows may have come since."""
        self._name, self._first, self._end, self._grows = name, first, end, grows
        self._digest, self._sum = digest, 0

    def see(self, batch: Batch) -> None:
        """Look at the next rows of the file."""
        self._sum = (self._sum + batch.part(self._first, self._end).digest) % 2**64
        if batch.stop >= self._end and self._digest not in (None, self._sum):
            raise self._refusal(f"holds other rows than the {self._end - self._first:,} that were")

    def end(self, row: int) -> None:
        """The file is over, before the row of that number."""
        if row < self._end or (row > self._end and not self._grows):
            raise self._refusal(
                f"holds {row - self._first:,} rows, but {self._end - self._first:,} were"
            )

    def _refusal(self, what: str) -> InputError:
        return InputError(
            f"{self._name}: {what} read from it before; it is another file now. Begin anew without "
            "--resume, or give what is new under another name."
        )


def _with_made(read: ReadLines, columns: RecipeColumns, places: Sequence[int]) -> ReadLines:
    """Return the columns at `places` of lines of which the sources are read; a row of which one
    cannot be made is a fault."""
    while True:
        try:
            return replace(read, block=columns.make(read.block, places))
        except MadeColumnError as error:
            block = [np.delete(column, error.row) for column in read.block]
            faults = read.faults | {int(read.kept[error.row]): str(error)}
            read = ReadLines(block, np.delete(read.kept, error.row), faults)


def _stamp(file: Path) -> tuple[int, int]:
    """Return the size and the time of a file, of which one that is written again has others."""
    found = file.stat()
    return found.st_size, found.st_mtime_ns


def parquet_files(folder: Path) -> list[Path]:
    """Return the Parquet files of a folder, but hidden ones, which may be incomplete."""
    return sorted(
        (
            path
            for path in folder.iterdir()
            if path.suffix == ".parquet" and not path.name.startswith(".")
        ),
        key=lambda path: path.name,
    )


def _numbered(table: FileTable, places: Sequence[int]) -> Parts:
    """Yield the rows of a table with their numbers in it."""
    row = 0
    for block in table.blocks(places):
        count = len(block[0])
        yield ReadLines(block, np.arange(count), {}), range(row, row + count), ()
        row += count
