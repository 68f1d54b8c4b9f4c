"""Opening of one file by its format, and selection of its columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..row_source import ColumnLabel, RowsError
from .arrays import ArrayFile, SparseFile, open_npy, open_npz
from .columns import Header
from .files import keys_of, kind_of_file
from .gathering import ColumnSelection
from .spelling import Spelling, in_python
from .tables import FileTable, KeyedTable

OpenedFile = FileTable | ArrayFile | SparseFile
_WITHOUT = {"parquet": "Parquet", "arrow": "Arrow", "csv": "CSV"}  # formats that NumPy does not read


@dataclass(frozen=True)
class Ask:
    """Options for opening a file."""

    array: str | None = None  # name of an array of an npz
    weight: ColumnLabel | None = None  # a column, or an array of an npz
    header: bool | None = None  # True where the first line of a CSV holds names; None: detect
    spell: Spelling = in_python


def open_file(file: Path, ask: Ask) -> OpenedFile:
    """Open one file by its first bytes or its ending: its columns are read, its rows are not."""
    kind = kind_of_file(file)
    if ask.array is not None and kind != "npz":
        raise RowsError(f"{ask.spell('array', ask.array)}: only npz files hold several arrays, and {file} is {kind}.")
    if ask.header is not None and kind != "csv":
        raise RowsError(f"{ask.spell('header')}: only CSV files need to be told, and {file} is {kind}.")
    if kind == "npy":
        return open_npy(file, ask.spell)
    if kind == "npz":
        return open_npz(file, ask.array, ask.weight, ask.spell)
    keys = keys_of(file)
    table = _table(file, kind, ask)
    return KeyedTable(table, keys) if keys else table


def chosen(header: Header, columns: Sequence[ColumnLabel], weight: ColumnLabel | None = None, dtype: Any = None) -> ColumnSelection:
    """Select the columns of data, the column of weights and the dtype of the rows."""
    picked = header.data(columns, weight)
    return ColumnSelection(tuple(picked), None if weight is None else header.weighing(weight), number_type(header, picked, dtype))


def number_type(header: Header, picked: Sequence[int], dtype: Any = None) -> np.dtype[Any]:
    """Return float32 or float64: the requested one, else the narrower that holds all values."""
    known: list[np.dtype[Any]] = [np.dtype(np.float32), np.dtype(np.float64)]
    if dtype is None:
        return known[0 if all(header.fields[at].single for at in picked) else 1]
    try:
        return known[known.index(np.dtype(dtype))]
    except (TypeError, ValueError):
        raise RowsError(f"{header.spell('dtype', dtype)}: rows are float32 or float64.") from None


def _table(file: Path, kind: str, ask: Ask) -> FileTable:
    try:
        from .delimited import CsvTable
        from .ipc import IpcTable
        from .parquet import ParquetTable
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "pyarrow":
            raise
        advice = f"{file}: {_WITHOUT[kind]} is read through pyarrow; run: python -m pip install pyarrow"
        raise ModuleNotFoundError(advice, name=error.name) from error
    if kind == "csv":
        return CsvTable(file, ask.header, ask.spell)
    return (ParquetTable if kind == "parquet" else IpcTable)(file, ask.spell)
