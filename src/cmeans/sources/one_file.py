"""One file, opened by the code that suits it, and what is chosen of its columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..stored import Label, RowsError
from .arrays import ArrayFile, SparseFile, open_npy, open_npz
from .columns import Header
from .files import keys_of, kind_of_file
from .gathering import Choice
from .spelling import Spelling, in_python
from .tables import KeyedTable, Table

OpenedFile = Table | ArrayFile | SparseFile
_WITHOUT = {"parquet": "Parquet", "arrow": "Arrow", "csv": "CSV"}  # what NumPy does not read


@dataclass(frozen=True)
class Ask:
    """What must be known of a file before it is opened."""

    array: str | None = None  # which array of an npz
    weight: Label | None = None  # a column, or an array of an npz
    header: bool | None = None  # whether the first line of a CSV holds names; None: look
    spell: Spelling = in_python


def open_file(file: Path, ask: Ask) -> OpenedFile:
    """One file, by its first bytes or its ending: its columns are known then, its rows not yet read."""
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


def chosen(header: Header, columns: Sequence[Label], weight: Label | None = None, dtype: Any = None) -> Choice:
    """The columns that are data and the one that is a weight, and the type of number that suits them."""
    picked = header.data(columns, weight)
    return Choice(tuple(picked), None if weight is None else header.weighing(weight), number_type(header, picked, dtype))


def number_type(header: Header, picked: Sequence[int], dtype: Any = None) -> np.dtype[Any]:
    """float32 or float64: what was asked for, else the narrower one where it holds everything."""
    known: list[np.dtype[Any]] = [np.dtype(np.float32), np.dtype(np.float64)]
    if dtype is None:
        return known[0 if all(header.fields[at].single for at in picked) else 1]
    try:
        return known[known.index(np.dtype(dtype))]
    except (TypeError, ValueError):
        raise RowsError(f"{header.spell('dtype', dtype)}: rows are float32 or float64.") from None


def _table(file: Path, kind: str, ask: Ask) -> Table:
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
