"""The recipe of a table: how its text is read, what columns are made of others, and their units."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..files.arrow import pa
from ..files.notation import AS_PROGRAMS_WRITE, Notation, TextFormat
from ..files.schema import Field, Header, ReadOptions
from ..files.tables import Block, FileTable
from ..files.written_numbers import numbers_written
from ..row_source import ColumnLabel, RowsError
from .made_columns import (
    MadeColumnError,
    MadeColumns,
    Unseen,
    categories_of,
    made_from_json,
    sorted_categories,
    texts_of,
)
from .scaling import UNCHANGED, Scaling

_SOURCE, _MADE = "what columns are made of", "made of another column"  # kinds of columns
MOST = 1_000  # categories of a column; with more of them it is an identifier
_NOTHING = frozenset(pa.csv.ConvertOptions().null_values)
_NEARLY = 0.5  # categories for each row, from which on they are none


@dataclass(frozen=True)
class TableRecipe:
    """All that is needed to read another table as one was read for a fit."""

    columns: tuple[ColumnLabel, ...] = ()  # of the rows, those that are made among them
    scaling: Scaling = UNCHANGED
    dtype: str | None = None
    made: tuple[MadeColumns, ...] = ()
    written: TextFormat = AS_PROGRAMS_WRITE  # without the encoding, which is that of one file

    @property
    def categories(self) -> Mapping[str, tuple[str, ...]]:
        """The categories of each column that has any."""
        return categories_of(self.made)

    @property
    def unscaled(self) -> set[str]:
        """Names of the columns that are made and stay as they are."""
        return {label for each in self.made if not each.is_scaled for label in each.labels}

    @property
    def indicators(self) -> set[str]:
        """Names of the columns of zeros and ones, of categories."""
        return {label for each in self.made if each.are_indicators for label in each.labels}

    @property
    def dates(self) -> dict[str, str]:
        """Names of the columns of days since 1970, each with that of the column of dates."""
        return {
            label: each.sources[0] for each in self.made if each.are_dates for label in each.labels
        }

    @property
    def shown_names(self) -> tuple[str, ...]:
        """Names of the columns for people: those of dates are called as these are."""
        return tuple(
            self.dates.get(label, label) if isinstance(label, str) else f"column {label}"
            for label in self.columns
        )

    def reading(self, asked: ReadOptions, unseen: Unseen | None = None) -> ReadOptions:
        """Return the options for reading a table by this recipe; `unseen`: counts its cells of
        categories that were not seen before."""
        written = replace(self.written, encoding=asked.written.encoding)
        return replace(asked, written=written, adapt=self.adapt(unseen))

    def adapt(self, unseen: Unseen | None = None) -> Any:
        """Return a function of a table that was opened, which returns one with the columns that are
        made; None where none are."""
        missing = tuple(
            number for number in map(_number, self.written.missing) if number is not None
        )
        if not (self.made or missing or self.written.notations):
            return None
        found = Unseen() if unseen is None else unseen

        def adapted(table: FileTable) -> FileTable:
            if table.separator and not (self.made or missing):
                return table
            return RecipeTable(table, self.made, missing, found, self.written)

        return adapted

    def to_json(self) -> dict[str, Any]:
        """Return what a model file holds of it; read by `recipe_from_json`."""
        made = [each.to_json() for each in self.made]
        notations = [[label, asdict(each)] for label, each in self.written.notations.items()]
        written = {"missing": list(self.written.missing), "notations": notations}
        return {
            "columns": list(self.columns),
            "scaling": self.scaling.to_json(),
            "dtype": self.dtype,
            **({"categories": dict(self.categories)} if self.categories else {}),
            **({"made": made} if made else {}),
            **({"written": written} if any(written.values()) else {}),
        }


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def recipe_from_json(stored: Mapping[str, Any]) -> TableRecipe:
    """Return the recipe that a model was saved with. The file is not trusted."""
    columns, dtype = stored["columns"], stored.get("dtype")
    if (
        not isinstance(columns, list)
        or not columns
        or not all(isinstance(label, (str, int)) for label in columns)
    ):
        raise RowsError("the model's list of columns cannot be read.")
    if dtype not in (None, "float32", "float64"):
        raise RowsError(f"the model's type of numbers, {dtype!r}, is neither float32 nor float64.")
    made = stored.get("made")
    if made is None:  # of an older version, which had categories alone
        categories = stored.get("categories") or {}
        if not isinstance(categories, Mapping):
            raise RowsError("the model's categories cannot be read.")
        made = [
            {"kind": "categories", "column": name, "known": known}
            for name, known in categories.items()
        ]
    if not isinstance(made, list):
        raise RowsError("the model's recipe of its columns cannot be read.")
    return TableRecipe(
        tuple(columns),
        Scaling.from_json(stored.get("scaling") or {}, len(columns)),
        dtype,
        tuple(map(made_from_json, made)),
        _written_from_json(stored.get("written") or {}),
    )


def _written_from_json(stored: Any) -> TextFormat:
    try:
        missing = tuple(str(text) for text in stored.get("missing", ()))
        notations = {
            label: Notation(str(each["decimal"]), str(each["thousands"]))
            for label, each in stored.get("notations", ())
        }
        if not all(isinstance(label, (str, int)) for label in notations):
            raise ValueError
    except (TypeError, KeyError, ValueError, AttributeError):
        raise RowsError("how the model's numbers are written cannot be read.") from None
    return TextFormat(None, missing, notations)


def learn_categories(
    tables: Sequence[FileTable], columns: Iterable[ColumnLabel], name_of: Any
) -> dict[str, tuple[str, ...]]:
    """Return the categories in columns of all tables, in one pass over these columns; `name_of`:
    returns the argument that names a column, for messages."""
    header, found = tables[0].header, dict[str, set[str]]()
    for word in columns:
        name, rows = str(header.fields[header.position(word)].label), 0
        found[name] = set()
        for table in tables:
            at = table.header.position(name)
            for block in table.with_text([at]).blocks([at]):
                found[name].update(texts_of(block[0]))
                rows += len(block[0])
                if len(found[name]) > MOST:
                    raise RowsError(
                        f"{name_of(name)}: holds more than {MOST:,} categories; is it an "
                        f"identifier (--id {name})?"
                    )
        if len(found[name]) > max(20, _NEARLY * rows):
            raise RowsError(
                f"{name_of(name)}: holds {len(found[name]):,} categories in {rows:,} rows; is "
                f"it an identifier (--id {name})?"
            )
    return {name: sorted_categories(known) for name, known in found.items()}


def with_made(header: Header, picked: Iterable[int]) -> list[int]:
    """Return picked columns with all that are made of others, and without those that these are made
    of."""
    kinds = [found.kind for found in header.fields]
    return [at for at in picked if kinds[at] not in (_SOURCE, _MADE)] + [
        at for at, kind in enumerate(kinds) if kind == _MADE
    ]


@dataclass(frozen=True)
class _Place:
    """The place of a made column: which of those that make columns, and which of its columns."""

    maker: int
    at: int


class RecipeTable(FileTable):
    """A table whose own columns are followed by those that a recipe makes of them."""

    def __init__(
        self,
        table: FileTable,
        made: Sequence[MadeColumns],
        missing: Collection[float],
        unseen: Unseen,
        written: TextFormat = AS_PROGRAMS_WRITE,
    ) -> None:
        """`missing`: numbers that stand for nothing; `written`: how columns of text are numbers,
        which a CSV reads so itself."""
        self.kind, self.groups, self.separator = table.kind, table.groups, table.separator
        self._made, self._missing, self._unseen = made, list(missing), unseen
        own = list(table.header.fields)
        self._own = len(own)
        self._sources = [[table.header.position(name) for name in each.sources] for each in made]
        self._notations = {
            at: written.notations[column.label]
            for at, column in enumerate(own)
            if column.label in written.notations and not table.separator
        }
        for at in self._notations:
            own[at] = replace(own[at], kind="double", numeric=True)
        self._nothing = _NOTHING.union(written.missing)
        as_text = set(self._notations)
        for each, places in zip(made, self._sources, strict=True):
            as_text.update(places if each.as_text else ())
            for at in places:  # which may be named among the columns of data
                if not (each.as_text or own[at].numeric):
                    raise RowsError(
                        f"{table.header.where}: column {own[at].label!r} holds {own[at].kind}, no "
                        "numbers."
                    )
                own[at] = replace(own[at], kind=_SOURCE, numeric=True, aside=True)
        self._table = table.with_text(as_text)
        self._places = [
            _Place(number, at) for number, each in enumerate(made) for at in range(len(each.labels))
        ]
        fresh = [
            Field(label, _MADE, numeric=True, single=not each.is_scaled)
            for each in made
            for label in each.labels
        ]
        self.header = replace(table.header, fields=(*own, *fresh))

    def blocks(self, places: Sequence[int], groups: Sequence[int] | None = None) -> Iterator[Block]:
        wanted = [at if at < self._own else self._places[at - self._own] for at in places]
        makers = {place.maker for place in wanted if isinstance(place, _Place)}
        sources = [at for maker in makers for at in self._sources[maker]]
        read = list(dict.fromkeys([*(at for at in wanted if isinstance(at, int)), *sources]))
        row = sum((self.groups or ())[: groups[0]]) if groups else 0
        for block in self._table.blocks(read, groups):
            columns = {at: self._filled(at, column) for at, column in zip(read, block, strict=True)}
            made = {maker: self._make(maker, columns, row) for maker in makers}
            yield [columns[at] if isinstance(at, int) else made[at.maker][at.at] for at in wanted]
            row += len(block[0]) if block else 0

    def _filled(self, at: int, column: NDArray[Any]) -> NDArray[Any]:
        """Return a column with NaN in place of numbers that stand for nothing; of text that is
        numbers these."""
        if at in self._notations:
            texts = pa.array(column.tolist(), pa.string())
            try:
                numbers = numbers_written(texts, self._notations[at], self._nothing)
            except pa.ArrowInvalid:
                label = self.header.fields[at].label
                raise RowsError(
                    f"{self.header.where}: column {label!r} holds text beside numbers with "
                    f"{self._notations[at].described}."
                ) from None
            column = numbers.to_numpy(zero_copy_only=False)
        if not self._missing or column.dtype.kind not in "iuf":
            return column
        gone = np.isin(column, self._missing)
        return np.where(gone, np.nan, column) if gone.any() else column

    def _make(self, maker: int, columns: Mapping[int, NDArray[Any]], row: int) -> Sequence[Any]:
        try:
            sources = [columns[at] for at in self._sources[maker]]
            return self._made[maker].make(sources, self._unseen)
        except MadeColumnError as error:
            raise RowsError(
                f"{self.header.where}: {error} in row {row + error.row} (rows count from 0)."
            ) from None

    def column(self, at: int) -> Iterator[Any]:
        return self._table.column(at)

    def transient(self, n_columns: int) -> int:
        return self._table.transient(n_columns)
