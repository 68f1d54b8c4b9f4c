"""Further options of `cmeans explore`: places of the rows that are given, and what stands beside
their clusters: those of another model, labels, or the rows of another file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
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
from .option_names import as_option
from .output.terminal import Screen
from .reporting import looked_at
from .rows import InputRows, ReadOptions, column_texts, numbers_of_columns, tables_of, texts_of

LABEL = "label"  # the column of a file of labels
Shown = tuple[InspectedRows, tuple[str, ...]]  # the same rows in other clusters, and their names


@dataclass(frozen=True)
class Against:
    """One thing that stands beside the clusters of rows; by default nothing."""

    left_out: tuple[str, ...] = ()  # columns of the rows that are no data
    others: tuple[ReadOptions, ...] = ()  # of rows behind these
    shown: Callable[[InspectedRows, Screen], Shown] | None = None


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
        left_out = [*self.reading.leave_out, *self._place_columns, *self._against.left_out]
        return replace(self.reading, leave_out=left_out)

    @cached_property
    def _columns(self) -> list[str]:
        return _columns_of(self.reading)

    @cached_property
    def _against(self) -> Against:
        given, reading = self.against, self.reading
        if given is None:
            return Against()
        if given in self._columns:
            return Against((given,), shown=partial(_by_labels, reading, given, given))
        if not place(given).exists():
            raise InputError(
                f"--against {given}: is neither a file nor a column of {reading.file}."
            )
        if place(given).suffix == ".safetensors":
            return Against(shown=partial(_by_model, reading, given))
        other = self._of_file(given)
        if LABEL in _columns_of(other):
            return Against(shown=partial(_by_labels, other, LABEL, given))
        return Against(others=(other,))

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
        if self._against.others and not columns and len(values) < n:
            values = np.pad(values, ((0, n - len(values)), (0, 0)), constant_values=np.nan)
        if len(values) != n:
            raise InputError(f"--coordinates {given}: has {len(values):,} rows for {n:,}.")
        return {given if columns else Path(given).stem: values}

    def partitions(self, seen: InspectedRows, screen: Screen) -> list[ShownPartition]:
        """Return the partition of the same rows that stands beside."""
        if self._against.shown is None:
            return []
        found, names = self._against.shown(seen, screen)
        what = f"{short(str(self.against), 40)}: {several(found.n_clusters, 'cluster')}"
        return [ShownPartition("against", what, found, in_series=False, names=names)]

    def joined(self, known: ModelAndRows) -> tuple[ModelAndRows, IntArray | None]:
        """Return the rows, with those of the other file behind them where there is one, and which
        of the two each is of."""
        if not self._against.others:
            return known, None
        both = known.rows, *map(known.read, self._against.others)
        parts = [_in_memory(rows, str(self.against)) for rows in both]
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
        return [self.reading, *self._against.others]

    def _of_file(self, file: str) -> ReadOptions:
        return replace(self.reading, file=place(file), array=None)


def _columns_of(reading: ReadOptions) -> list[str]:
    header = open_file(found(reading.file)[0], replace(reading, spell=as_option)).header
    return [str(field.label) for field in header.fields]


def _by_model(reading: ReadOptions, given: str, seen: InspectedRows, screen: Screen) -> Shown:
    """Return rows in the clusters of another model."""
    other = with_rows(Path(given), reading, screen)
    x = _in_memory(other.rows, given)[seen.numbers]
    rows = replace(other.rows, x=x, weight=None)
    return rows_of_page(looked_at(best_of(other.model), rows, other.recipe, len(x)), seen), ()


def _by_labels(
    reading: ReadOptions, column: str, given: str, seen: InspectedRows, _screen: Screen
) -> Shown:
    """Return rows with the labels of a column, of which empty ones and -1 are no cluster, and what
    clusters are called where they have names."""
    labels = column_texts(tables_of(reading, "--against"), column)
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
