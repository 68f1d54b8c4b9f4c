"""Columns of the user's files that go beside the labels, all of them read in one pass."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...data.addresses import PathWord
from ...data.arrow_library import pa
from ...data.files.arrow import file_bytes
from ...data.files.tables import python_values
from ...runtime.user_warnings import DataWarning, one_line
from ...storage.atomic import writing_to
from ..errors import InputError

NAMED = "cluster"  # the column of clusters' names


@dataclass(frozen=True)
class AddedColumns:
    """Columns of the user's files that go beside the labels."""

    labels: Sequence[str] = ()
    # what reads their values from each file, some rows at a time
    parts: Sequence[Callable[[], Iterator[Sequence[Any]]]] = ()
    option: str = "--with-rows"  # which asks for them
    names_rows: bool = False  # the first one does, and should have no value twice


def refuse_lists(out: PathWord, threshold: float | None) -> None:
    """Refuse memberships above a threshold, which are lists, in a CSV."""
    if threshold is not None and str(out).endswith(".csv"):
        raise InputError(
            f"--threshold {threshold:g}: a CSV holds no lists; take a .parquet file, or --top-k."
        )


def add_columns(labels: Path, out: Path, columns: AddedColumns, names: Sequence[str] = ()) -> None:
    """Write the table of labels to `out` with columns before it, and the names of the clusters
    behind the labels where there are any, some rows at a time, and remove `labels`."""
    try:
        _add_columns(labels, out, _Reader.of(columns), names)
    except pa.ArrowException as error:
        raise InputError(
            f"{columns.option}: cannot be written to {out.suffix} ({one_line(error)}); take "
            "another column."
        ) from error
    labels.unlink()


@dataclass
class _Reader:
    """The values of columns, some rows at a time."""

    columns: AddedColumns
    schema: Any  # of all files
    parts: Iterator[Any]
    waiting: Any
    hashes: list[NDArray[np.int64]] = field(default_factory=list)  # of names of rows

    @classmethod
    def of(cls, columns: AddedColumns) -> _Reader:
        first = [part for read in columns.parts for part in islice(read(), 1)]
        kinds = [{_array(part[at]).type for part in first} for at in range(len(columns.labels))]
        schema = pa.schema(
            pa.field(label, _kind_of_all(kind))
            for label, kind in zip(columns.labels, kinds, strict=True)
        )
        parts = (_table(part, schema) for read in columns.parts for part in read())
        return cls(columns, schema, parts, schema.empty_table())

    def next(self, rows: int) -> list[Any]:
        """Return the values of the next rows, column by column."""
        if not self.columns.labels:
            return []
        while len(self.waiting) < rows:
            part = next(self.parts, None)
            if part is None:
                raise InputError(
                    f"{self.columns.option}: there are fewer rows now than were clustered; the "
                    "file has changed."
                )
            self.waiting = pa.concat_tables([self.waiting, part])
        here, self.waiting = self.waiting[:rows].combine_chunks(), self.waiting[rows:]
        if self.columns.names_rows:
            names = map(str, python_values(here[0]))  # lists have no hash
            self.hashes.append(np.fromiter(map(hash, names), np.int64, rows))
        return list(here.columns)

    def tell_duplicates(self) -> None:
        """Warn of names that several rows have."""
        every = np.concatenate(self.hashes) if self.hashes else np.empty(0)
        twice = len(every) - len(np.unique(every))
        if twice:
            warnings.warn(
                f"--id {self.columns.labels[0]}: {twice:,} of {len(every):,} rows have a name that "
                "an earlier row has; each has a label of its own.",
                DataWarning,
                stacklevel=2,
            )


def _kind_of_all(kinds: set[Any]) -> Any:
    """Return the type of a column that may be of another type in each file."""
    if len(kinds) == 1:
        return next(iter(kinds))
    return pa.int64() if all(map(pa.types.is_integer, kinds)) else pa.string()


def _table(part: Sequence[Any], schema: Any) -> Any:
    arrays = [_array(values).cast(kind) for values, kind in zip(part, schema.types, strict=True)]
    return pa.table(arrays, schema=schema)


def _array(values: Any) -> Any:
    array = values if isinstance(values, pa.Array) else pa.array(values)
    return array.dictionary_decode() if pa.types.is_dictionary(array.type) else array


def _add_columns(labels: Path, out: Path, reader: _Reader, names: Sequence[str]) -> None:
    with (
        writing_to(out),
        file_bytes(labels) as bare,
        out.open("wb") as named,
        pa.parquet.ParquetFile(bare) as table,
    ):
        own, known = table.schema_arrow, pa.array([*names, "none"], pa.string())
        fields = [*reader.schema, *own]
        behind = len(reader.schema) + 1  # the labels
        if names:
            fields.insert(behind, pa.field(NAMED, pa.string()))
        schema = pa.schema(fields, own.metadata)
        with (
            pa.csv.CSVWriter(named, schema)
            if out.suffix == ".csv"
            else pa.parquet.ParquetWriter(named, schema) as writer
        ):
            for number in range(table.num_row_groups):
                rows = table.read_row_group(number, use_threads=False).combine_chunks()
                columns = [*reader.next(len(rows)), *rows.columns]
                if names:
                    found = pa.compute.if_else(
                        pa.compute.less(rows["label"], 0), len(names), rows["label"]
                    )
                    columns.insert(behind, known.take(found.combine_chunks()))
                writer.write_table(pa.table(columns, schema=schema))
    reader.tell_duplicates()
