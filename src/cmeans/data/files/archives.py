"""A table of text in a zip archive, and the first sheet of an Excel workbook as such a text."""

from __future__ import annotations

import csv
import datetime
import io
import warnings
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ...runtime.user_warnings import DataWarning, one_line
from ..row_source import RowsError

_PIECE = 1 << 21  # bytes that are read together
_LINES = 4096  # of a sheet that are written together
_DAMAGED = (zipfile.BadZipFile, NotImplementedError, OSError, EOFError, ValueError, RuntimeError)


def text_in(file: Path) -> str | None:
    """Return the name of the table in a zip archive, "" of an Excel workbook, and None of other
    archives, such as npz; several tables are an error."""
    try:
        with file.open("rb") as opened, zipfile.ZipFile(opened) as archive:
            names = [name for name in archive.namelist() if not name.endswith("/")]
    except _DAMAGED:
        return None
    if "[Content_Types].xml" in names and any(name.startswith("xl/") for name in names):
        return ""
    names = [name for name in names if not Path(name).name.startswith((".", "__MACOSX"))]
    tables = [name for name in names if name.lower().endswith((".csv", ".tsv", ".txt", ".data"))]
    if len(tables) > 1:
        raise RowsError(
            f"{file}: holds {len(tables)} tables ({', '.join(tables[:3])}, ...); unpack it, and "
            "give one of them or the folder."
        )
    return tables[0] if tables else None


@contextmanager
def unzipped(file: Path, name: str) -> Iterator[Iterator[bytes]]:
    """Provide the bytes of a table in an archive, some at a time; `name`: as `text_in` has it."""
    try:
        if name:
            with (
                file.open("rb") as opened,
                zipfile.ZipFile(opened) as archive,
                archive.open(name) as member,
            ):
                yield iter(lambda: member.read(_PIECE), b"")
        else:
            yield _lines_of(file)
    except RowsError:
        raise
    except _DAMAGED as error:
        raise RowsError(
            f"{file}: cannot be unpacked; it is damaged ({one_line(error)})."
        ) from error


def _lines_of(file: Path) -> Iterator[bytes]:
    """Yield the rows of the first sheet of a workbook as lines of CSV."""
    try:
        from openpyxl import load_workbook
    except ModuleNotFoundError as error:
        raise RowsError(
            f"{file}: is an Excel workbook; save its sheet as CSV, or run: python -m pip install "
            "openpyxl, which reads it."
        ) from error
    try:
        book = load_workbook(io.BytesIO(file.read_bytes()), read_only=True, data_only=True)
        first, *others = book.worksheets
    except Exception as error:  # of any kind, where a file is damaged
        raise RowsError(
            f"{file}: is an Excel workbook that cannot be read ({one_line(error)}); save its sheet "
            "as CSV."
        ) from error
    if others:
        warnings.warn(
            f"{file}: has {len(others) + 1} sheets, of which the first, {first.title!r}, is read.",
            DataWarning,
            stacklevel=2,
        )
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for rows, row in enumerate(first.iter_rows(values_only=True), 1):
        writer.writerow([_cell(value) for value in row])
        if rows % _LINES == 0:
            yield text.getvalue().encode()
            text.seek(0)
            text.truncate()
    book.close()
    yield text.getvalue().encode()


def _cell(value: Any) -> Any:
    if isinstance(value, datetime.datetime) and value.time() == datetime.time():
        return value.date().isoformat()
    return value
