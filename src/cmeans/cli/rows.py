"""The rows of a file of any format: selection of columns, weights and dtype."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.files.columns import Header, shortened
from ..data.files.files import found
from ..data.files.gathering import ColumnSelection
from ..data.files.one_file import Ask, number_type, open_file
from ..data.files.opening import open_chosen
from ..data.row_source import ColumnLabel, RowsError, as_source
from ..fitting.memory import free_memory
from ..storage.overwriting import lies_in
from .errors import InputError
from .words import as_option

SHARE = 4  # rows that take at most this fraction (1 / SHARE) of the available memory are read into it


@dataclass(frozen=True)
class ReadOptions:
    """Options for reading a file."""

    file: Path
    columns: tuple[str, ...] = ()  # as typed: names, positions, ranges, lists with commas; none means all
    weight: str | None = None
    array: str | None = None  # name of an array of an npz
    dtype: str | None = None  # None: float32 where every column is of single precision, else float64
    header: bool | None = None  # True where the first line of a CSV holds names; None: detect


@dataclass(frozen=True)
class InputRows:
    """Rows of a file, with their weights and columns."""

    x: Any  # (n, d) array, a CSR array, or rows read from their files block by block
    columns: tuple[ColumnLabel, ...]
    weight: NDArray[np.float64] | None = None
    stay: bool = False  # in their files, which bring the weights


def read_rows(wish: ReadOptions, known: Sequence[ColumnLabel] | None = None, most: int | None = None) -> InputRows:
    """Return the requested rows, in memory if they take no more than `most` bytes. `known`: the columns of a model, used where
    `wish` names none."""
    most = free_memory() // SHARE if most is None else most
    ask = Ask(wish.array, wish.weight, wish.header, as_option)
    if wish.file.is_file() and wish.file.stat().st_size <= most:
        source = open_file(wish.file, ask)
        choice = chosen_columns(source.header, wish, None if source.aside else wish.weight, known)
        if (source.n_rows or 0) * len(choice.picked) * choice.dtype.itemsize <= most:  # the rows of a CSV take no more than its text
            x, weights = source.read(choice)
            return InputRows(x, source.header.labels(choice.picked), weights)
    opened = open_chosen(wish.file, ask, lambda header, weight: chosen_columns(header, wish, weight, known))
    stored = as_source(opened)
    if stored is None:
        return InputRows(opened, tuple(range(opened.shape[1])))
    x = stored.loaded(most)
    return InputRows(x, stored.columns, stored.weight, stay=x is stored)


def chosen_columns(
    header: Header, wish: ReadOptions, weight: ColumnLabel | None, known: Sequence[ColumnLabel] | None = None
) -> ColumnSelection:
    """Return the columns of data: those the user names, else those of a model, else all but the weight."""
    at = None if weight is None else header.weighing(weight)
    picked = header.data(wish.columns, weight) if wish.columns or known is None else _as_in_model(header, known)
    if known is not None and len(picked) != len(known):
        raise InputError(f"--columns: names {len(picked)} columns, but the model was fitted on {len(known)} ({shortened(known)}).")
    return ColumnSelection(tuple(picked), at, number_type(header, picked, wish.dtype))


def _as_in_model(header: Header, known: Sequence[ColumnLabel]) -> list[int]:
    """Return the columns of a model's fit, found by name, or by position where neither side has names."""
    labels = [field.label for field in header.fields]
    missing = [label for label in known if label not in labels]
    if not missing:
        picked = [labels.index(label) for label in known]
        header.refuse_text(picked)
        return picked
    if header.named == any(isinstance(label, str) for label in known):
        advice = "Name the right ones with --columns."
        raise InputError(f"{header.where}: lacks {shortened(missing)} of the model; it has {shortened(labels)}. {advice}")
    with_names, without = ("the file", "the model") if header.named else ("the model", "the file")
    advice = f"say with --columns which columns stand for {shortened(known)}, in that order."
    raise InputError(f"{header.where}: {with_names} names its columns, {without} does not; {advice}")


def files_of(wish: ReadOptions) -> list[Path]:
    """Return the files to read; none where there are none, an error that is raised when they are read."""
    try:
        return found(wish.file)
    except RowsError:
        return []


def refuse_inside(rows: Path, out: Path, advice: str) -> None:
    """Refuse results in the folder that is read, as they would be read as rows the next time."""
    if rows.is_dir() and lies_in(out, rows):
        raise InputError(f"--out {out}: lies in {rows}, all of which is read as rows; choose {advice}.")
