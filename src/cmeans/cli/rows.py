"""Rows of a file of any format, read by the recipe of their table: selection of columns, weights,
known labels and links."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.addresses import PathWord, place
from ..data.files.discovery import found
from ..data.files.opening import open_file, open_rows
from ..data.files.schema import Field, Header, ReadOptions
from ..data.files.tables import FileTable, python_values
from ..data.recipe.made_columns import Unseen
from ..data.recipe.recipe_columns import with_made
from ..data.recipe.table_recipe import TableRecipe
from ..data.row_source import ColumnLabel, RowsError, StoredRows, as_source
from ..runtime.free_memory import free_memory
from ..storage.overwriting import lies_in
from .errors import InputError
from .option_names import as_option
from .output.added_columns import AddedColumns
from .output.messages import add_own_words

__all__ = [
    "SHARE",
    "InputRows",
    "ReadOptions",
    "apart",
    "column_texts",
    "files_of",
    "numbers_of_columns",
    "read_rows",
    "refuse_inside",
    "tables_of",
    "texts_of",
]

_NO_DATA = {
    "--id": "names the rows",
    "--known-labels": "holds their labels",
    "--must-link": "holds their groups",
}
# rows that take at most this fraction (1 / SHARE) of the available memory are read into it
SHARE = 4


@dataclass(frozen=True)
class InputRows:
    """Rows of a file, with their weights and columns."""

    x: Any  # (n, d) array, a CSR array, or rows read from their files block by block
    columns: tuple[ColumnLabel, ...]
    weight: NDArray[np.float64] | None = None
    stay: bool = False  # in their files, which bring the weights
    left_out: tuple[Field, ...] = ()  # text and dates beside the numbers
    labels: NDArray[np.float64] | None = None  # (n,) known ones, of a column that is no data
    # (n,) groups of rows that must share a cluster, of such a column, or (k, 2) pairs of a file
    links: NDArray[np.int64] | None = None
    unseen: Unseen = field(default_factory=Unseen)  # cells of categories that the fit had not


def read_rows(
    reading: ReadOptions,
    known: Sequence[ColumnLabel] | None = None,
    most: int | None = None,
    recipe: TableRecipe | None = None,
    labelled: ColumnLabel | None = None,
    linked: str | None = None,
    wanted: Callable[[Any], object] | None = None,
) -> InputRows:
    """Return the requested rows, in memory if they take no more than `most` bytes. `known`: the
    columns of a model, used where `reading` names none; `labelled`: a column of known labels, which
    is no data; `linked`: a column of groups, or a file of pairs; `wanted`: is asked, with rows of
    the same shape, before any are read, and they are not where it says nothing."""
    most = free_memory() // SHARE if most is None else most
    asked, unseen = replace(reading, known=known, spell=as_option), Unseen()
    if recipe is not None:
        asked = recipe.reading(asked, unseen)
    first, left_out = open_file(found(reading.file)[0], asked), tuple[Field, ...]()
    header = first.header
    if reading.name is not None and not isinstance(first, FileTable):
        raise _numbers_alone(reading, f"--id {reading.name}")
    name = None if reading.name is None else header.fields[_naming(header, reading)].label
    labels = (
        None if labelled is None else _whole_column(reading, header, "--known-labels", labelled)
    )
    is_column = linked in [field.label for field in header.fields]
    pairs = linked is not None and not is_column and place(linked).is_file()
    groups = (
        None if linked is None or pairs else _whole_column(reading, header, "--must-link", linked)
    )
    no_data = {"--id": name, "--known-labels": labels, "--must-link": groups}
    if reading.columns:
        picked = with_made(header, header.pick(reading.columns))
        for option, label in no_data.items():
            if label is not None and label in header.labels(picked):
                what = _NO_DATA[option]
                raise InputError(
                    f"{option}: column {label!r} is also in --columns; it {what} or it is data."
                )
        asked = replace(asked, columns=header.labels(picked))
    elif known is None:
        left_out = _beside_numbers(header, name, reading.leave_out)
        aside = [label for label in no_data.values() if label is not None]
        named = [field.label for field in left_out]
        asked = replace(asked, leave_out=[*reading.leave_out, *aside, *named])
    opened, columns = open_rows(asked, in_memory=most)
    add_own_words(columns)
    stored = as_source(opened)
    shape = opened if stored is None else _in_shape(stored, most)
    read = stored is not None and (wanted is None or wanted(shape))
    x = stored.loaded(most) if stored is not None and read else shape
    weight, known_labels = None if stored is None else stored.weight, None
    if labels is not None:
        known_labels = numbers_of_columns(reading, "--known-labels", labels, (labels,))[:, 0]
    links = None
    if linked is not None and pairs:
        links = _pairs(reading, linked)
    elif groups is not None:
        links = _whole(
            numbers_of_columns(reading, "--must-link", groups, (groups,))[:, 0],
            f"--must-link {groups}",
        )
    stays = as_source(x) is not None
    rows = InputRows(x, columns, weight, stays, left_out, known_labels, links, unseen)
    if known is not None:
        unseen.tell()
    return rows


def apart(
    reading: ReadOptions, labelled: ColumnLabel | None, linked: str | None
) -> list[ColumnLabel]:
    """Return the columns that are no data, as far as the first file has them."""
    fields = open_file(found(reading.file)[0], replace(reading, spell=as_option)).header.fields
    labels = [field.label for field in fields]
    named = [reading.name, reading.weight, labelled, linked, *reading.leave_out]
    places = {str(at): label for at, label in enumerate(labels)}
    return [
        word if word in labels else places[str(word)]
        for word in named
        if word is not None and (word in labels or str(word) in places)
    ]


def _in_shape(rows: StoredRows, most: int) -> Any:
    """Return what rows will be, of which none is read: where they will be in memory, an array of
    zeros in their order, which takes no memory as long as nothing is written to it."""
    return rows if rows.nbytes > most else np.zeros(rows.shape, rows.dtype)


def _whole_column(
    reading: ReadOptions, header: Header, option: str, column: ColumnLabel
) -> ColumnLabel:
    """Return the name, or position, of a column of whole numbers that is no data."""
    try:
        field = header.fields[header.position(column)]
    except RowsError as error:
        other = ", nor a file of pairs" if option == "--must-link" else ""
        raise RowsError(f"{option} {column}: {error}{other}") from error
    what, none = (
        ("labels", "where a label is not known")
        if option == "--known-labels"
        else ("groups", "for rows in none")
    )
    if not field.numeric:
        raise InputError(
            f"{option} {column}: holds {field.kind}; give whole numbers from 0, -1 {none}."
        )
    if reading.weight is not None and header.position(reading.weight) == header.position(column):
        raise InputError(
            f"{option} {column}: is --weight too; it holds the {what} of the rows or their weights."
        )
    return field.label


def numbers_of_columns(
    reading: ReadOptions, option: str, value: ColumnLabel, columns: tuple[ColumnLabel, ...] = ()
) -> NDArray[np.float64]:
    """Return columns of a file, all of them by default, in memory."""
    asked = replace(
        reading,
        columns=columns,
        weight=None,
        dtype="float64",
        holes=True,
        name=None,
        spell=as_option,
    )
    try:
        opened, _ = open_rows(asked)
    except RowsError as error:
        raise RowsError(f"{option} {value}: {error}") from error
    values = opened.read(0, len(opened)) if isinstance(opened, StoredRows) else opened.toarray()
    return np.asarray(values, np.float64)


def _pairs(reading: ReadOptions, file: str) -> NDArray[np.int64]:
    """Return the pairs (k, 2) of row numbers in a file."""
    values = numbers_of_columns(
        replace(reading, file=place(file), array=None, header=None), "--must-link", file
    )
    if values.shape[1] != 2:
        raise InputError(
            f"--must-link {file}: has {values.shape[1]} columns; give two, the numbers of both "
            "rows of a pair, from 0."
        )
    return _whole(values, f"--must-link {file}")


def _whole(values: NDArray[np.float64], given: str) -> NDArray[np.int64]:
    """Return whole numbers as integers."""
    wrong = ~(np.abs(values) < 2**53) | (values != np.rint(values))
    if wrong.any():
        raise InputError(f"{given}: holds {values[wrong][0]:g}; give whole numbers.")
    return values.astype(np.int64)


def tables_of(reading: ReadOptions, option: str) -> list[FileTable]:
    """Open all files, and refuse those without named columns, which an option needs."""
    opened = [open_file(file, replace(reading, spell=as_option)) for file in found(reading.file)]
    tables = [table for table in opened if isinstance(table, FileTable)]
    if len(tables) < len(opened):
        raise _numbers_alone(reading, option)
    return tables


def _numbers_alone(reading: ReadOptions, option: str) -> InputError:
    return InputError(
        f"{option}: {reading.file} holds numbers alone; CSV, Parquet and Arrow have columns of "
        "other kinds."
    )


def texts_of(reading: ReadOptions, column: ColumnLabel) -> list[str]:
    """Return a column as texts, as they are stored; empty ones for cells without a value."""
    reading = replace(reading, name=column)
    tables = tables_of(reading, f"--id {column}")
    return column_texts(tables, tables[0].header.fields[_naming(tables[0].header, reading)].label)


def column_texts(tables: Sequence[FileTable], label: ColumnLabel) -> list[str]:
    """Return a column of tables as texts."""
    return [
        "" if value is None else str(value)
        for table in tables
        for [part] in table.columns([table.header.position(label)])
        for value in python_values(part)
    ]


def added_columns(reading: ReadOptions) -> AddedColumns:
    """Return the columns that are wanted beside the labels: the names of the rows, or all."""
    option = "--with-rows" if reading.with_rows else f"--id {reading.name}"
    if reading.name is None and not reading.with_rows:
        return AddedColumns()
    tables = tables_of(reading, option)
    header, labels = tables[0].header, list[ColumnLabel]()
    if reading.name is not None:
        labels.append(header.fields[_naming(header, reading)].label)
    for column in header.fields if reading.with_rows else ():
        if column.label in labels:
            continue
        _refuse_taken("--with-rows", column.label)
        if column.within is not None:
            raise InputError(
                f"--with-rows: column {column.within!r} holds lists; take --id for a name of rows."
            )
        labels.append(column.label)
    parts = [
        partial(table.columns, [table.header.position(label) for label in labels])
        for table in tables
    ]
    names_rows = reading.name is not None
    return AddedColumns([str(label) or "id" for label in labels], parts, option, names_rows)


def _naming(header: Header, reading: ReadOptions) -> int:
    """Return the position of the column that names the rows."""
    assert reading.name is not None
    try:
        at = header.position(reading.name)
    except RowsError as error:
        raise RowsError(f"--id {reading.name}: {error}") from error
    _refuse_taken(f"--id {reading.name}", header.fields[at].label)
    return at


def _refuse_taken(option: str, label: ColumnLabel) -> None:
    if re.fullmatch(r"label|u\d*|clusters|cluster\d*", str(label)):
        raise InputError(
            f"{option}: the file of labels has a column of that name already ({label}); rename one "
            "of them."
        )


def _beside_numbers(
    header: Header, name: ColumnLabel | None, gone: Sequence[ColumnLabel]
) -> tuple[Field, ...]:
    """Return the columns of text and dates, where there are columns of numbers too, but for those
    that are left out anyway."""
    kept = [
        field
        for field in header.fields
        if not field.aside and field.label != name and field.label not in gone
    ]
    others = tuple(field for field in kept if not field.numeric)
    return () if len(others) == len(kept) else others


def files_of(reading: ReadOptions) -> list[Path]:
    """Return the files to read; none where there are none, an error that is raised when they are
    read."""
    try:
        return found(reading.file)
    except RowsError:
        return []


def refuse_inside(rows: PathWord | Sequence[PathWord], out: Path, advice: str) -> None:
    """Refuse results in the folder that is read, as they would be read as rows the next time."""
    if isinstance(rows, os.PathLike) and place(rows).is_dir() and lies_in(out, rows):
        raise InputError(
            f"--out {out}: lies in {rows}, all of which is read as rows; choose {advice}."
        )
