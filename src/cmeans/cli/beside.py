"""Further options of `cmeans explore`: places of the rows that are given, and what stands beside
their clusters: those of another model, labels, or the rows of another file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from ..data.addresses import place
from ..data.arrays import Float64, IntArray, is_sparse
from ..data.files.discovery import found
from ..data.files.opening import open_file
from ..data.row_source import ColumnLabel
from ..inspection.explore import best_of
from ..inspection.page.contents import short
from ..inspection.page.others import rows_of_page, seen_with
from ..inspection.page.partition import ShownPartition
from ..inspection.rows import InspectedRows
from ..runtime.numerals import several
from .errors import InputError
from .models import ModelAndRows, with_rows
from .option_values import as_option
from .output.terminal import Screen
from .reporting import looked_at
from .rows import InputRows, ReadOptions, column_texts, numbers_of_columns, tables_of, texts_of

LABEL = "label"  # the column of a file of labels


@dataclass(frozen=True)
class ShownBeside:
    """The places of rows and what stands beside them, as they were asked for.

    Attributes
    ----------
    reading : of the rows.
    coordinates : a file of two columns, or two columns of the rows' own.
    against : a model file, a column of labels, a file of labels, or one of other rows.
    """

    reading: ReadOptions
    coordinates: str | None = None
    against: str | None = None

    def without_places(self) -> ReadOptions:
        """Return how the rows are read whose columns of places or labels are no data."""
        labels = [self.against] if self.against and self._kind == "column" else []
        left_out = [*self.reading.leave_out, *self._place_columns, *labels]
        return replace(self.reading, leave_out=left_out)

    @cached_property
    def _columns(self) -> list[str]:
        return _columns_of(self.reading)

    @cached_property
    def _kind(self) -> str | None:
        """The kind of what stands beside: "column", "model", "labels" or "rows"."""
        given = self.against
        if given is None:
            return None
        if given in self._columns:
            return "column"
        if not place(given).exists():
            raise InputError(
                f"--against {given}: is neither a file nor a column of {self.reading.file}."
            )
        if place(given).suffix == ".safetensors":
            return "model"
        return "labels" if LABEL in _columns_of(self._of_file(given)) else "rows"

    @cached_property
    def _place_columns(self) -> tuple[str, ...]:
        """The rows' own columns of places; none where they are in a file."""
        given = self.coordinates
        names = () if given is None else tuple(given.split(","))
        if names and set(names) <= set(self._columns):
            return names
        if given is not None and not place(given).exists():
            raise InputError(
                f"--coordinates {given}: is neither a file nor columns of {self.reading.file}; "
                "give two columns, e.g. --coordinates x,y."
            )
        return ()

    def places(self, n: int) -> Mapping[str, Float64] | None:
        """Return places of n rows (n, 2), by name; rows of another file have none in a file of
        places."""
        given, columns = self.coordinates, self._place_columns
        if given is None:
            return None
        read = self._readings if columns else [self._of_file(given)]
        values = np.concatenate(
            [numbers_of_columns(one, "--coordinates", given, columns) for one in read]
        )
        if values.shape[1] != 2:
            raise InputError(f"--coordinates {given}: has {values.shape[1]} columns; give two.")
        if self._kind == "rows" and not columns and len(values) < n:
            values = np.pad(values, ((0, n - len(values)), (0, 0)), constant_values=np.nan)
        if len(values) != n:
            raise InputError(f"--coordinates {given}: has {len(values):,} rows for {n:,}.")
        return {given if columns else Path(given).stem: values}

    def partitions(self, seen: InspectedRows, screen: Screen) -> list[ShownPartition]:
        """Return the partition of the same rows that stands beside."""
        given, names = self.against, tuple[str, ...]()
        if given is None or self._kind == "rows":
            return []
        if self._kind == "model":
            other = with_rows(Path(given), self.reading, screen)
            x = _in_memory(other.rows, given)[seen.numbers]
            found = looked_at(
                best_of(other.model), replace(other.rows, x=x, weight=None), other.recipe, len(x)
            )
            found = rows_of_page(found, seen)
        else:
            is_column = self._kind == "column"
            tables = tables_of(self.reading if is_column else self._of_file(given), "--against")
            labels = column_texts(tables, given if is_column else LABEL)
            found, names = _labelled(seen, labels, given)
        what = f"{short(given, 40)}: {several(found.n_clusters, 'cluster')}"
        return [ShownPartition("against", what, found, in_series=False, names=names)]

    def joined(self, known: ModelAndRows) -> tuple[ModelAndRows, IntArray | None]:
        """Return the rows, with those of the other file behind them where there is one, and which
        of the two each is of."""
        if self._kind != "rows":
            return known, None
        given = str(self.against)
        parts = [_in_memory(rows, given) for rows in (known.rows, known.read(self._readings[1]))]
        x: Any = sparse.vstack(parts).tocsr() if is_sparse(parts[0]) else np.concatenate(parts)
        sets = np.repeat([0, 1], [part.shape[0] for part in parts])
        return replace(known, rows=replace(known.rows, x=x, weight=None)), sets

    def texts(self, column: ColumnLabel | None) -> list[str] | None:
        """Return a column of all rows as texts."""
        if column is None:
            return None
        return [text for reading in self._readings for text in texts_of(reading, column)]

    @property
    def _readings(self) -> list[ReadOptions]:
        """The options by which the rows are read, and the others beside them."""
        other = [self._of_file(str(self.against))] if self._kind == "rows" else []
        return [self.reading, *other]

    def _of_file(self, file: str) -> ReadOptions:
        return replace(self.reading, file=place(file), array=None)


def _columns_of(reading: ReadOptions) -> list[str]:
    header = open_file(found(reading.file)[0], replace(reading, spell=as_option)).header
    return [str(field.label) for field in header.fields]


def _labelled(
    seen: InspectedRows, labels: Sequence[str], given: str
) -> tuple[InspectedRows, tuple[str, ...]]:
    """Return rows with labels, of which empty ones and -1 are no cluster, and what clusters are
    called where they have names."""
    if len(labels) != seen.n_rows:
        raise InputError(
            f"--against {given}: holds {len(labels):,} labels, and there are {seen.n_rows:,} rows."
        )
    own = [labels[number] for number in seen.numbers]
    words = sorted({*own} - {"", "-1"}, key=lambda word: (not word.isdecimal(), len(word), word))
    numbers = {word: number for number, word in enumerate(words)}
    found: IntArray = np.array([numbers.get(word, -1) for word in own], dtype=np.intp)
    names = () if all(map(str.isdecimal, words)) else tuple(short(word) for word in words)
    return seen_with(seen, found, len(words)), names


def _in_memory(rows: InputRows, given: str) -> Any:
    if rows.stay:
        raise InputError(
            f"--against {given}: the rows stay in their files, which are too large to stand beside "
            "others; give a sample of them."
        )
    return rows.x
