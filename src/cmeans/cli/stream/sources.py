"""Sources of a stream: standard input, a file or a pipe of CSV or Arrow, Parquet files of a folder."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from ...data.files.discovery import IPC_FILE, IPC_STREAM, NPY, PACKED, PARQUET, ZIP
from ..errors import InputError
from .batches import Batches, Offset, Origin, Patience, Pick
from .columnar import ArrowRows, Follow, ParquetFiles, parquet_files
from .csv import CsvRows
from .waiting import StreamInput

STDIN = Path("-")
_OTHERS = {  # name of the format, and advice
    **{magic: (f"packed by {packer.name}", f"unpack it on the way: {packer.cat} FILE | cmeans stream") for magic, packer in PACKED.items()},
    ZIP: ("npz or zip", "cmeans stream reads CSV, Arrow and Parquet; cmeans fit reads npz"),
    NPY: ("npy", "cmeans stream reads CSV, Arrow and Parquet; cmeans fit reads npy"),
}


class Source(Protocol):
    """A source of rows."""

    def batches(self, pick: Pick, patience: Patience) -> Batches:
        """Yield the rows as they arrive; None whenever none did within the patience. `pick` is called once columns are known."""
        ...


@dataclass(frozen=True)
class Wanted:
    """The user's options for a source."""

    path: Path = STDIN
    kind: str | None = None  # "csv" or "arrow"; None: detect
    header: bool | None = None  # True where the first line of a CSV holds names; None: detect
    follow: Follow | None = None


@contextmanager
def open_source(wanted: Wanted, begun: Offset, warn: Callable[[str], None]) -> Iterator[Source]:
    """Open the source, without the rows that an earlier run has clustered; `begun` is the position after them."""
    path = wanted.path
    if path.is_dir():
        _refuse_for_folders(wanted)
        if not begun.files and wanted.follow is None and not parquet_files(path):
            raise InputError(f"{path}: holds no .parquet files; --follow waits for some.")
        yield ParquetFiles(lambda: parquet_files(path), begun, warn, wanted.follow)
        return
    if wanted.follow is not None:
        raise InputError(f"--follow: only a folder can be followed, and {_name(path)} is none.")
    if path == STDIN:
        if sys.stdin is None:
            raise InputError("standard input: is closed.")
        yield from _opened(wanted, StreamInput(sys.stdin.fileno()), Origin(_name(path), begun.rows), begun, warn)
        return
    if not path.exists():
        raise InputError(f"{path}: no such file or folder.")
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    try:
        source = StreamInput(descriptor)
        origin = begun.origin(str(path), path.name) if source.is_file else Origin(str(path), begun.rows)
        yield from _opened(wanted, source, origin, begun, warn)
    finally:
        os.close(descriptor)


def _opened(wanted: Wanted, source: StreamInput, origin: Origin, begun: Offset, warn: Callable[[str], None]) -> Iterator[Source]:
    try:
        kind = wanted.kind or _kind(source, origin.where)
        if wanted.header is not None and kind != "csv":
            raise InputError(f"--header, --no-header: only CSV needs to be told, and {origin.where} is {kind}.")
        if kind == "parquet":
            yield ParquetFiles(lambda: [wanted.path], begun, warn)
        elif kind == "arrow":
            if source.begins_with(IPC_FILE) and not source.is_file:
                raise InputError(
                    f"{origin.where}: is an Arrow file, which cannot be read from a pipe; send an Arrow stream, or give its name."
                )
            yield ArrowRows(origin, source)
        else:
            yield CsvRows(origin, source, warn, wanted.header)
    finally:
        source.release()


def _kind(source: StreamInput, where: str) -> str:
    if source.begins_with(PARQUET):
        if source.is_file and where != _name(STDIN):
            return "parquet"
        raise InputError(f"{where}: is Parquet, which cannot be read from a pipe; give the file's name.")
    for magic, (what, advice) in _OTHERS.items():
        if source.begins_with(magic):
            raise InputError(f"{where}: is {what}; {advice}.")
    return "arrow" if source.begins_with(IPC_STREAM) or source.begins_with(IPC_FILE) else "csv"


def _refuse_for_folders(wanted: Wanted) -> None:
    for option, said in (("--format", wanted.kind), ("--header, --no-header", wanted.header)):
        if said is not None:
            raise InputError(f"{option}: {wanted.path} is a folder, of which the Parquet files are read.")


def _name(path: Path) -> str:
    return "standard input" if path == STDIN else str(path)
