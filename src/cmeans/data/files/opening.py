"""`open_blocks`: rows of files as blocks, whatever the format and however large."""

from __future__ import annotations

import operator
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..addresses import Address, PathWord, absolute, place
from ..containers import comes_by_arrow
from ..row_source import ColumnLabel, RowsError, StoredRows
from .discovery import found, keys_of, kind_of_file, know_format
from .npy import SparseFile, open_npy, open_npz
from .raw_arrays import ArrayFile
from .schema import ColumnChoice, ReadOptions, Spelling
from .tables import FileTable, JoinedRows, KeyedTable, common_header, found_again, joined_tables
from .vectors import VECTORS, open_vectors

if TYPE_CHECKING:
    import scipy.sparse

OpenedFile = FileTable | ArrayFile | SparseFile
# formats that NumPy does not read
_WITHOUT = {"parquet": "Parquet", "arrow": "Arrow", "csv": "CSV"}
# times the bytes of files in a store that rows may have which are copied to scratch: to decode
# what was packed more closely is faster than to read it from a disk
_WIDENED = 4
# what opens a file of a format that add_format has added
_ADDED: dict[str, Callable[[Path, Spelling], FileTable]] = {}


def add_format(
    kind: str,
    opens: Callable[[Path, Spelling], FileTable],
    *,
    endings: Iterable[str],
    magic: bytes | None = None,
) -> None:
    """Let files of another format be read wherever files of rows are.

    Parameters
    ----------
    kind : str
        A word for the format, such as "orc".
    opens : function
        Opens one file as a `FileTable`: of a path, and of what spells words of the user in
        messages.
    endings : iterable of str
        Endings of its files' names, such as ".orc".
    magic : bytes, default None
        The first bytes of each of its files, ten at most, where it has any of its own.
    """
    know_format(kind, endings, magic)
    _ADDED[kind] = opens


def open_file(file: Path, asked: ReadOptions) -> OpenedFile:
    """Open one file by its first bytes or its ending: its columns are read, its rows are not."""
    opened = _opened(file, asked)
    if asked.bits is None:
        return opened
    if not isinstance(opened, ArrayFile):
        raise RowsError(
            f"{asked.spell('bits', asked.bits)}: {file} is no array of bytes; packed bits are read "
            "from npy, npz, bvecs, u8bin and i8bin."
        )
    return opened.of_bits(asked.bits)


def opened_tables(asked: ReadOptions) -> Iterator[OpenedFile]:
    """Open the files that are asked for, one by one, or take the table that is given in place of
    them."""
    if asked.table is None:
        yield from (open_file(file, asked) for file in found(asked.file))
        return
    if asked.header is not None:
        raise RowsError(f"{asked.spell('header')}: only CSV files need to be told.")
    yield asked.table if asked.adapt is None else asked.adapt(asked.table)


def _opened(file: Path, asked: ReadOptions) -> OpenedFile:
    kind = kind_of_file(file)
    if asked.array is not None and kind != "npz":
        raise RowsError(
            f"{asked.spell('array', asked.array)}: only npz files hold several arrays, and {file} "
            f"is {kind}."
        )
    if asked.header is not None and kind != "csv":
        raise RowsError(
            f"{asked.spell('header')}: only CSV files need to be told, and {file} is {kind}."
        )
    if kind == "npy":
        return open_npy(file, asked.spell)
    if kind in VECTORS:
        return open_vectors(file, kind, asked.spell)
    if kind == "npz":
        return open_npz(file, asked.array, asked.weight, asked.spell)
    keys = keys_of(file)
    table = _table(file, kind, asked)
    table = KeyedTable(table, keys) if keys else table
    return table if asked.adapt is None else asked.adapt(table)


def _stream(asked: ReadOptions) -> FileTable:
    """Open a table that comes by Arrow."""
    with _advised(f"X ({type(asked.file).__name__})", "Arrow"):
        from .arrow_stream import StreamTable
    return StreamTable(asked.file, asked.spell)


def hold(given: Any, asked: ReadOptions) -> ReadOptions:
    """Return the options for reading a table that comes by Arrow, which is held in memory."""
    with _advised(f"X ({type(given).__name__})", "Arrow"):
        from .arrow_stream import HeldTable
    table = HeldTable(given, asked.spell)
    return replace(asked, file=table.where, table=table)


@contextmanager
def _advised(where: object, kind: str) -> Iterator[None]:
    """Say what to install where PyArrow is missing."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "pyarrow":
            raise
        advice = f"{where}: {kind} is read through pyarrow; run: python -m pip install pyarrow"
        raise ModuleNotFoundError(advice, name=error.name) from error


def _table(file: Path, kind: str, asked: ReadOptions) -> FileTable:
    if kind in _ADDED:
        return _ADDED[kind](file, asked.spell)
    with _advised(file, _WITHOUT[kind]):
        from .arrow import IpcTable, ParquetTable
        from .csv import CsvTable
    if kind == "csv":
        return CsvTable(file, asked.header, asked.spell, asked.written)
    return (ParquetTable if kind == "parquet" else IpcTable)(file, asked.spell)


def open_blocks(
    path: PathWord | Sequence[PathWord],
    *,
    columns: ColumnLabel | Sequence[ColumnLabel] | None = None,
    weight: ColumnLabel | None = None,
    dtype: Any = None,
    array: str | None = None,
    header: bool | None = None,
    missing: str = "error",
    bits: int | None = None,
) -> StoredRows | scipy.sparse.csr_array[Any, tuple[int, int]]:
    """Open files of rows that need not fit in memory: n rows of d numbers, read block by block on
    demand.

    Use it for Parquet, Arrow (files and streams), CSV, npy, npz, and files of vector indexes
    (fvecs, ivecs, bvecs, fbin, f16bin, ibin, u8bin, i8bin). Footers and headers are read
    now, rows later. What cannot be sought in (CSV, Arrow streams, packed npz members, Parquet
    groups that decode to more than 64 MiB) is written once, now, to a temporary file of raw numbers
    in `tempfile.gettempdir()`, which has no name and is gone with the rows; TMPDIR says where.

    Parameters
    ----------
    path : str, path, address, a sequence of them, or a table
        A file, a folder (the files of rows in it and its folders, sorted by path; names that begin
        with `_` or `.` are left out), or a pattern such as ``"rows-*.parquet"``. The rows of
        several files follow each other; all must have the picked columns. An address such as
        ``"s3://bucket/rows.parquet"`` (`Address`) is a path too. A table is what has
        ``__arrow_c_stream__`` or ``__arrow_c_array__``: a DuckDB relation, a frame of polars or
        DataFusion, a reader of record batches. It is read once, now, to scratch.
    columns : str, int, or a sequence of them, default None
        Names, positions (from 0) and ranges such as ``"0-9"``; None: all but the weight, each of
        which must hold numbers. In folders named key=value, a key is a column only if it is named
        here. A column of lists of numbers, all of one length, is as many columns, ``"name[0]"``,
        ``"name[1]"``, ...; its name means all of them, and is needed where there are other numbers.
    weight : str or int, default None
        The column of sample weights, which comes as ``.weight``; in an npz also the name of an
        array of shape (n,).
    dtype : {"float32", "float64"}, default None
        Into which type rows are converted. None: float32 where every picked column is int8, uint8,
        float16, bfloat16 or float32, else float64.
    array : str, default None
        Which array of an npz holds the rows. None: X, or the only one.
    header : bool, default None
        Whether the first line of a CSV holds names. None: numbers are data and text is names; a
        mixture of both, and numbers that count columns (0,1,2 or years, 2001,2002,2003), are
        refused, as either may be meant.
    missing : {"error", "partial"}, default "error"
        Empty cells, nulls and NaN. "error": refused; "partial": they come as NaN, for estimators
        with missing="partial".
    bits : int, default None
        The rows of an npy, npz, bvecs, u8bin or i8bin are packed bits, as of `packed_bits`, and so
        many columns of zeros and ones. None: numbers.

    Returns
    -------
    StoredRows
        With ``shape`` (n, d), ``dtype``, ``columns``, ``weight`` (n,) or None, ``read(start,
        stop)`` and ``take(rows)``, which any thread may call. A sparse matrix saved by
        `scipy.sparse.save_npz` comes as a CSR array in memory instead.

    Raises
    ------
    ValueError
        `RowsError`, of one line, that names the file: it is missing, truncated, damaged, empty or
        of an unknown kind; it lacks a column, or the column holds no numbers; a number is missing
        or not finite (at once, or when that block is read); weights are negative or all zero; a
        file changed while it was read; the disk has no room for scratch.
    ImportError
        pyarrow is not installed and the file is Parquet, Arrow or CSV.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> import cmeans
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = os.path.join(folder, "rows.npy")
    ...     np.save(file, np.arange(12.0).reshape(4, 3))
    ...     rows = cmeans.open_blocks(file, columns=[2, 0], dtype="float32")
    ...     print(rows.shape, rows.dtype, rows.read(1, 3).tolist())
    (4, 2) float32 [[5.0, 3.0], [8.0, 6.0]]
    """
    if missing not in ("error", "partial"):
        raise RowsError(f'missing={missing!r}: give "error" or "partial".')
    asked = ReadOptions(
        path,
        _words(columns),
        _word(weight),
        array,
        dtype,
        header,
        missing == "partial",
        bits=None if bits is None else operator.index(bits),
    )
    return open_rows(asked)[0]


def open_rows(
    asked: ReadOptions, in_memory: int = 0
) -> tuple[StoredRows | scipy.sparse.csr_array[Any, tuple[int, int]], tuple[ColumnLabel, ...]]:
    """Return the rows that are asked for, and their columns. Tables whose rows take no more than
    `in_memory` bytes are read at once."""
    paths: Sequence[Path] = ()
    size = 0
    if asked.table is not None:
        files: list[OpenedFile] = [*opened_tables(asked)]
    elif comes_by_arrow(asked.file):
        if asked.bits is not None:
            raise RowsError(f"{asked.spell('bits', asked.bits)}: what comes by Arrow has numbers.")
        files = [_stream(asked)]
    else:
        paths, files = found(asked.file), []
        for path in paths:
            files.append(open_file(path, asked))
            size += path.stat().st_size  # at once, while a store need not be asked again
    first = files[0]
    for file in files[1:]:
        _refuse_other(file, first)
    header = common_header([file.header for file in files])
    choice = header.choose(asked if first.aside is None else replace(asked, weight=None))
    if isinstance(first, SparseFile):
        return first.read(choice), choice.columns
    where = first.header.where if len(files) == 1 else _name(asked.file)
    choices = [found_again(choice, header, file.header) for file in files]
    far = any(isinstance(path, Address) for path in paths)
    rows = _joined(
        where,
        files,
        choices,
        in_memory if size <= in_memory else 0,
        _WIDENED * size if far else 0,
    )
    if not len(rows):
        raise RowsError(f"{where}: has no rows.")
    rows.files, rows.holes = tuple(map(absolute, paths)), asked.holes
    if paths:
        rows.again = partial(
            _open_again,
            replace(asked, file=_absolute(asked.file), columns=rows.columns, dtype=rows.dtype.name),
        )
    if rows.weight is not None and not rows.weight.any():
        raise RowsError(f"{where}: weight column {asked.weight!r} is zero in every row.")
    return rows, rows.columns


def _open_again(asked: ReadOptions) -> StoredRows:
    rows = open_rows(asked)[0]
    assert isinstance(rows, StoredRows), "a sparse matrix is in memory already"
    return rows


def _absolute(path: PathWord | Sequence[PathWord]) -> PathWord | list[PathWord]:
    """Return absolute paths, as another process may have another working folder."""
    if isinstance(path, (str, os.PathLike)):
        return absolute(path)
    return [absolute(word) for word in path]


def _refuse_other(file: OpenedFile, first: OpenedFile) -> None:
    """Refuse a file whose rows cannot follow those of the first file."""
    where = file.header.where
    if file.kind != first.kind:
        raise RowsError(
            f"{where}: is {file.kind}, but {first.header.where} is {first.kind}; give files of one "
            "kind."
        )
    if isinstance(file, SparseFile) or isinstance(first, SparseFile):
        raise RowsError(f"{where}: a sparse matrix is opened alone.")
    if not (file.header.named or first.header.named) and len(file.header.fields) != len(
        first.header.fields
    ):
        has, had = len(file.header.fields), len(first.header.fields)
        raise RowsError(f"{where}: has {has} columns, but {first.header.where} has {had}.")
    if file.aside != first.aside:
        raise RowsError(
            f"{where}: the weights lie beside the rows in one of it and {first.header.where}, and "
            "not in the other."
        )


def _joined(
    where: str,
    files: Sequence[OpenedFile],
    choices: Sequence[ColumnChoice],
    in_memory: int,
    most_copied: int,
) -> StoredRows:
    tables = [file for file in files if isinstance(file, FileTable)]
    if tables:
        return joined_tables(where, tables, choices, in_memory, most_copied)
    pairs = [
        (file, choice)
        for file, choice in zip(files, choices, strict=True)
        if isinstance(file, ArrayFile)
    ]
    filled = [(file, choice) for file, choice in pairs if file.n_rows] or pairs[:1]
    parts = [file.stored(choice) for file, choice in filled]
    return parts[0] if len(parts) == 1 else JoinedRows(where, parts)


def _words(columns: ColumnLabel | Sequence[ColumnLabel] | None) -> tuple[ColumnLabel, ...]:
    if columns is None:
        return ()
    several = (
        columns
        if isinstance(columns, (Sequence, np.ndarray)) and not isinstance(columns, str)
        else [columns]
    )
    words = tuple(word for word in map(_word, several) if word is not None)
    if not words:
        raise RowsError(f"columns={columns!r}: names no column; None takes all.")
    return words


def _word(word: Any) -> ColumnLabel | None:
    return word if word is None or isinstance(word, str) else operator.index(word)


def _name(path: PathWord | Sequence[PathWord]) -> str:
    if isinstance(path, (str, os.PathLike)):
        return str(place(path))
    first = str(place(path[0]))
    return f"{first} and {len(path) - 1} more" if len(path) > 1 else first
