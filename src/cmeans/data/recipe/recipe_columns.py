"""The columns of a table by its recipe: its own ones, and those that are made of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrow_library import pa
from ..files.notation import Notation, TextFormat
from ..files.schema import MADE, Field, Header
from ..files.tables import Block, FileTable
from ..files.written_numbers import numbers_written
from ..row_source import ColumnLabel, RowsError
from .made_columns import MadeColumnError, MadeColumns, Unseen, texts_of

_SOURCE = "what columns are made of"  # a kind of columns
_NOTHING = frozenset(pa.csv.ConvertOptions().null_values)


def with_made(header: Header, picked: Iterable[int]) -> list[int]:
    """Return picked columns with all that are made of others, and without those that these are made
    of."""
    kinds = [found.kind for found in header.fields]
    return [at for at in picked if kinds[at] not in (_SOURCE, MADE)] + [
        at for at, kind in enumerate(kinds) if kind == MADE
    ]


@dataclass(frozen=True)
class _Place:
    """The place of a made column: which of those that make columns, and which of its columns."""

    maker: int
    at: int


class RecipeColumns:
    """The columns of a table, followed by those that a recipe makes of them."""

    def __init__(
        self,
        header: Header,
        separator: str,
        made: Sequence[MadeColumns],
        missing: Collection[float],
        unseen: Unseen,
        written: TextFormat,
        others: Mapping[ColumnLabel, Notation],
    ) -> None:
        """`missing`: numbers that stand for nothing; `written`: how columns of text are numbers,
        which lines of text, with a `separator`, are read as anyway; `others`: how those are that
        are not written so."""
        self._made, self._missing, self._unseen = made, list(missing), unseen
        self._where, own = header.where, list(header.fields)
        self._own = len(own)
        self._sources = [[header.position(name) for name in each.sources] for each in made]
        notations = {**({} if separator else written.notations), **others}
        self._notations = {
            at: notations[column.label]
            for at, column in enumerate(own)
            if column.label in notations
        }
        for at in self._notations:
            own[at] = replace(own[at], kind="double", numeric=True)
        self._markers = frozenset(written.missing)
        self._nothing = _NOTHING | self._markers
        self.as_text = set(self._notations)  # columns of the table that are read as text
        texts = {
            at: each.kind
            for each, places in zip(made, self._sources, strict=True)
            for at in places
            if each.as_text
        }
        self.as_text.update(texts)
        for each, places in zip(made, self._sources, strict=True):
            for at in places:  # which may be named among the columns of data
                if at in texts and not each.as_text:
                    raise RowsError(
                        f"{header.where}: column {own[at].label!r} is told as {texts[at]} and as "
                        f"{each.kind}; name it for one of these."
                    )
                if not (each.as_text or own[at].numeric):
                    raise RowsError(
                        f"{header.where}: column {own[at].label!r} holds {own[at].kind}, no "
                        "numbers."
                    )
                own[at] = replace(own[at], kind=_SOURCE, numeric=True, aside=True)
        self._places = [
            _Place(number, at) for number, each in enumerate(made) for at in range(len(each.labels))
        ]
        fresh = [
            Field(label, MADE, numeric=True, single=not each.is_scaled)
            for each in made
            for label in each.labels
        ]
        self.header = replace(header, fields=(*own, *fresh))

    def sources(self, places: Sequence[int]) -> list[int]:
        """Return the columns of the table that those at `places` are, or are made of."""
        wanted = self._wanted(places)
        makers = {place.maker for place in wanted if isinstance(place, _Place)}
        sources = [at for maker in makers for at in self._sources[maker]]
        return list(dict.fromkeys([*(at for at in wanted if isinstance(at, int)), *sources]))

    def make(self, block: Block, places: Sequence[int]) -> Block:
        """Return the columns at `places` of some rows, of which a block holds the sources; a
        MadeColumnError for a row of which none can be made."""
        wanted, read = self._wanted(places), self.sources(places)
        columns = {at: self._filled(at, column) for at, column in zip(read, block, strict=True)}
        made = {
            maker: self._made[maker].make(
                [columns[at] for at in self._sources[maker]], self._unseen
            )
            for maker in dict.fromkeys(at.maker for at in wanted if isinstance(at, _Place))
        }
        return [columns[at] if isinstance(at, int) else made[at.maker][at.at] for at in wanted]

    def _wanted(self, places: Sequence[int]) -> list[int | _Place]:
        return [at if at < self._own else self._places[at - self._own] for at in places]

    def _filled(self, at: int, column: NDArray[Any]) -> NDArray[Any]:
        """Return a column with NaN in place of numbers that stand for nothing, and None in place of
        such text; of text that is numbers these."""
        if at in self._notations:
            texts = pa.array(column.tolist(), pa.string())
            try:
                numbers = numbers_written(texts, self._notations[at], self._nothing)
            except pa.ArrowInvalid:
                label = self.header.fields[at].label
                raise RowsError(
                    f"{self._where}: column {label!r} holds text beside numbers with "
                    f"{self._notations[at].described}."
                ) from None
            column = numbers.to_numpy(zero_copy_only=False)
        elif column.dtype.kind == "O" and self._markers:
            gone = np.array([text in self._markers for text in texts_of(column)], np.bool_)
            if gone.any():
                column = column.copy()
                column[gone] = None
            return column
        if not self._missing or column.dtype.kind not in "iuf":
            return column
        gone = np.isin(column, self._missing)
        return np.where(gone, np.nan, column) if gone.any() else column


class RecipeTable(FileTable):
    """A table with the columns that a recipe makes of its own."""

    def __init__(self, table: FileTable, columns: RecipeColumns) -> None:
        self.kind, self.groups, self.separator = table.kind, table.groups, table.separator
        self._columns, self.header = columns, columns.header
        self._table = table.with_text(columns.as_text)

    def blocks(self, places: Sequence[int], groups: Sequence[int] | None = None) -> Iterator[Block]:
        row = sum((self.groups or ())[: groups[0]]) if groups else 0
        for block in self._table.blocks(self._columns.sources(places), groups):
            try:
                made = self._columns.make(block, places)
            except MadeColumnError as error:
                raise RowsError(
                    f"{self.header.where}: {error} in row {row + error.row} (rows count from 0)."
                ) from None
            yield made
            row += len(block[0]) if block else 0

    def columns(self, places: Sequence[int]) -> Iterator[list[Any]]:
        return self._table.columns(places)

    def transient(self, n_columns: int) -> int:
        return self._table.transient(n_columns)
