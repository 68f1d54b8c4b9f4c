"""`open_blocks`: rows of files as blocks, whatever the format and however large."""

from __future__ import annotations

import operator
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..row_source import ColumnLabel, RowsError, StoredRows
from .concat import JoinedRows, JoinedTables, common_header, found_again
from .discovery import PathWord, found, keys_of, kind_of_file
from .npy import ArrayFile, SparseFile, open_npy, open_npz
from .schema import Header, Spelling, in_python
from .tables import ColumnSelection, FileTable, KeyedTable, refuse_zero

if TYPE_CHECKING:
    import scipy.sparse

OpenedFile = FileTable | ArrayFile | SparseFile
_WITHOUT = {"parquet": "Parquet", "arrow": "Arrow", "csv": "CSV"}  # formats that NumPy does not read


@dataclass(frozen=True)
class OpenOptions:
    """Options for opening a file."""

    array: str | None = None  # name of an array of an npz
    weight: ColumnLabel | None = None  # a column, or an array of an npz
    header: bool | None = None  # True where the first line of a CSV holds names; None: detect
    spell: Spelling = in_python
    adapted: Callable[[FileTable], FileTable] | None = None  # applied to each table


def open_file(file: Path, options: OpenOptions) -> OpenedFile:
    """Open one file by its first bytes or its ending: its columns are read, its rows are not."""
    kind = kind_of_file(file)
    if options.array is not None and kind != "npz":
        raise RowsError(f"{options.spell('array', options.array)}: only npz files hold several arrays, and {file} is {kind}.")
    if options.header is not None and kind != "csv":
        raise RowsError(f"{options.spell('header')}: only CSV files need to be told, and {file} is {kind}.")
    if kind == "npy":
        return open_npy(file, options.spell)
    if kind == "npz":
        return open_npz(file, options.array, options.weight, options.spell)
    keys = keys_of(file)
    table = _table(file, kind, options)
    table = KeyedTable(table, keys) if keys else table
    return table if options.adapted is None else options.adapted(table)


def number_type(header: Header, picked: Sequence[int], dtype: Any = None) -> np.dtype[Any]:
    """Return float32 or float64: the requested one, else the narrower that holds all values."""
    known: list[np.dtype[Any]] = [np.dtype(np.float32), np.dtype(np.float64)]
    if dtype is None:
        return known[0 if all(header.fields[at].single for at in picked) else 1]
    try:
        return known[known.index(np.dtype(dtype))]
    except (TypeError, ValueError):
        raise RowsError(f"{header.spell('dtype', dtype)}: rows are float32 or float64.") from None


def _table(file: Path, kind: str, options: OpenOptions) -> FileTable:
    try:
        from .columnar import IpcTable, ParquetTable
        from .csv import CsvTable
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "pyarrow":
            raise
        advice = f"{file}: {_WITHOUT[kind]} is read through pyarrow; run: python -m pip install pyarrow"
        raise ModuleNotFoundError(advice, name=error.name) from error
    if kind == "csv":
        return CsvTable(file, options.header, options.spell)
    return (ParquetTable if kind == "parquet" else IpcTable)(file, options.spell)


def open_blocks(
    path: PathWord | Sequence[PathWord],
    *,
    columns: ColumnLabel | Sequence[ColumnLabel] | None = None,
    weight: ColumnLabel | None = None,
    dtype: Any = None,
    array: str | None = None,
    header: bool | None = None,
) -> StoredRows | scipy.sparse.csr_array[Any, tuple[int, int]]:
    """Open files of rows that need not fit in memory: n rows of d numbers, read block by block on demand.

    Use it for Parquet, Arrow (files and streams), CSV, npy and npz. Footers and headers are read now, rows later. What cannot be
    sought in (CSV, Arrow streams, packed npz members, Parquet groups that decode to more than 64 MiB) is written once, now, to a
    temporary file of raw numbers in `tempfile.gettempdir()`, which has no name and is gone with the rows; TMPDIR says where.

    Parameters
    ----------
    path : str, path, or a sequence of them
        A file, a folder (the files of rows in it and its folders, sorted by path; names that begin with `_` or `.` are left out), or a
        pattern such as ``"rows-*.parquet"``. The rows of several files follow each other; all must have the picked columns.
    columns : str, int, or a sequence of them, default None
        Names, positions (from 0) and ranges such as ``"0-9"``; None: all but the weight, each of which must hold numbers. In folders
        named key=value, a key is a column only if it is named here.
    weight : str or int, default None
        The column of sample weights, which comes as ``.weight``; in an npz also the name of an array of shape (n,).
    dtype : {"float32", "float64"}, default None
        Into which type rows are converted. None: float32 where every picked column is float16 or float32, else float64.
    array : str, default None
        Which array of an npz holds the rows. None: X, or the only one.
    header : bool, default None
        Whether the first line of a CSV holds names. None: it is looked at.

    Returns
    -------
    StoredRows
        With ``shape`` (n, d), ``dtype``, ``columns``, ``weight`` (n,) or None, ``read(start, stop)`` and ``take(rows)``, which any thread
        may call. A sparse matrix saved by `scipy.sparse.save_npz` comes as a CSR array in memory instead.

    Raises
    ------
    ValueError
        `RowsError`, of one line, that names the file: it is missing, truncated, damaged, empty or of an unknown kind; it lacks a
        column, or the column holds no numbers; a number is missing or not finite (at once, or when that block is read); weights are
        negative or all zero; a file changed while it was read; the disk has no room for scratch.
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
    words = _words(columns)

    def choose(known: Header, weight: ColumnLabel | None) -> ColumnSelection:
        picked = known.data(words, weight)
        return ColumnSelection(tuple(picked), None if weight is None else known.weighing(weight), number_type(known, picked, dtype))

    return open_chosen(path, OpenOptions(array, _word(weight), header), choose)


def open_chosen(
    path: PathWord | Sequence[PathWord], options: OpenOptions, choose: Callable[[Header, ColumnLabel | None], ColumnSelection]
) -> StoredRows | scipy.sparse.csr_array[Any, tuple[int, int]]:
    """Return the columns that `choose` selects, given the header and the name of the weight."""
    paths = found(path)
    files = [open_file(file, options) for file in paths]
    first = files[0]
    for file in files[1:]:
        _refuse_other(file, first)
    headers = common_header([file.header for file in files])
    choice = choose(headers, None if first.aside else options.weight)
    if isinstance(first, SparseFile):
        x: scipy.sparse.csr_array[Any, tuple[int, int]] = first.read(choice)[0]
        return x
    where = first.header.where if len(files) == 1 else _name(path)
    rows = _joined(where, files, [found_again(choice, headers, file.header) for file in files])
    if not len(rows):
        raise RowsError(f"{where}: has no rows.")
    rows.files = tuple(map(os.path.abspath, paths))
    words: dict[str, Any] = {"dtype": rows.dtype.name, "array": options.array, "header": options.header}
    rows.again = partial(_opened_again, _absolute(path), list(rows.columns), options.weight, words)
    if rows.weight is not None:
        refuse_zero(rows.weight, where, options.weight)
    return rows


def _opened_again(
    path: PathWord | Sequence[PathWord], columns: list[ColumnLabel], weight: ColumnLabel | None, words: dict[str, Any]
) -> StoredRows:
    rows = open_blocks(path, columns=columns, weight=weight, **words)
    assert isinstance(rows, StoredRows), "a sparse matrix is in memory already"
    return rows


def _absolute(path: PathWord | Sequence[PathWord]) -> str | list[str]:
    """Return absolute paths, as another process may have another working folder."""
    return os.path.abspath(path) if isinstance(path, (str, os.PathLike)) else [os.path.abspath(word) for word in path]


def _refuse_other(file: OpenedFile, first: OpenedFile) -> None:
    """Refuse a file whose rows cannot follow those of the first file."""
    where = file.header.where
    if file.kind != first.kind:
        raise RowsError(f"{where}: is {file.kind}, but {first.header.where} is {first.kind}; give files of one kind.")
    if isinstance(file, SparseFile) or isinstance(first, SparseFile):
        raise RowsError(f"{where}: a sparse matrix is opened alone.")
    if isinstance(file, ArrayFile) and len(file.header.fields) != len(first.header.fields):
        has, had = len(file.header.fields), len(first.header.fields)
        raise RowsError(f"{where}: has {has} columns, but {first.header.where} has {had}.")
    if file.aside != first.aside:
        raise RowsError(f"{where}: the weights lie beside the rows in one of it and {first.header.where}, and not in the other.")


def _joined(where: str, files: Sequence[OpenedFile], choices: Sequence[ColumnSelection]) -> StoredRows:
    tables = [file for file in files if isinstance(file, FileTable)]
    if tables:
        return JoinedTables(where, tables, choices).stored()
    pairs = [(file, choice) for file, choice in zip(files, choices, strict=True) if isinstance(file, ArrayFile)]
    filled = [(file, choice) for file, choice in pairs if file.n_rows] or pairs[:1]
    parts = [file.stored(choice) for file, choice in filled]
    return parts[0] if len(parts) == 1 else JoinedRows(where, parts)


def _words(columns: ColumnLabel | Sequence[ColumnLabel] | None) -> tuple[ColumnLabel, ...]:
    if columns is None:
        return ()
    several = columns if isinstance(columns, (Sequence, np.ndarray)) and not isinstance(columns, str) else [columns]
    words = tuple(word for word in map(_word, several) if word is not None)
    if not words:
        raise RowsError(f"columns={columns!r}: names no column; None takes all.")
    return words


def _word(word: Any) -> ColumnLabel | None:
    return word if word is None or isinstance(word, str) else operator.index(word)


def _name(path: PathWord | Sequence[PathWord]) -> str:
    if isinstance(path, (str, os.PathLike)):
        return os.fspath(path)
    return f"{os.fspath(path[0])} and {len(path) - 1} more" if len(path) > 1 else os.fspath(path[0])
