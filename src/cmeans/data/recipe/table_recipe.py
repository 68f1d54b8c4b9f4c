"""The recipe of a table: how its text is read, what columns are made of others, and their units."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from types import MappingProxyType
from typing import Any

from ..files.notation import AS_PROGRAMS_WRITE, Notation, TextFormat
from ..files.schema import Header, ReadOptions
from ..files.tables import FileTable
from ..row_source import ColumnLabel, RowsError
from .made_columns import (
    MadeColumns,
    Unseen,
    categories_of,
    made_from_json,
    sorted_categories,
    texts_of,
)
from .other_notations import other_notations
from .recipe_columns import RecipeColumns, RecipeTable
from .scaling import UNCHANGED, Scaling

MOST = 1_000  # categories of a column; with more of them it is an identifier
_NEARLY = 0.5  # categories for each row, from which on they are none


@dataclass(frozen=True)
class TableRecipe:
    """All that is needed to read another table as one was read for a fit."""

    columns: tuple[ColumnLabel, ...] = ()  # of the rows, those that are made among them
    scaling: Scaling = UNCHANGED
    dtype: str | None = None
    made: tuple[MadeColumns, ...] = ()
    written: TextFormat = AS_PROGRAMS_WRITE  # without the encoding, which is that of one file
    bits: int | None = None  # columns of packed bits

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

    @property
    def changes_rows(self) -> bool:
        """True where rows differ from the numbers in their file."""
        read_so = self.made or self.written.notations or self.written.missing
        return bool(read_so or self.scaling.factor or self.bits)

    @property
    def sources(self) -> tuple[ColumnLabel, ...]:
        """Names of the columns that a table must have to be read by it."""
        made = {label for each in self.made for label in each.labels}
        own = [label for label in self.columns if label not in made]
        return tuple(dict.fromkeys([*own, *(name for each in self.made for name in each.sources)]))

    def is_for(self, names: Sequence[str] | None) -> bool:
        """True of a table in memory, with columns of these names, that is to be read by it; not of
        one that holds what it makes, and not what that is made of. `names` None: not known."""
        if names is None:
            return self.changes_rows
        if not all(isinstance(label, str) for label in self.columns):
            return False  # columns without names, which stand as they are
        if set(self.sources) <= set(names):
            return self.changes_rows or tuple(names) != self.columns
        return self.changes_rows and not set(self.columns) <= set(names)

    def reading(self, asked: ReadOptions, unseen: Unseen | None = None) -> ReadOptions:
        """Return the options for reading a table by this recipe; `unseen`: counts its cells of
        categories that were not seen before."""
        written = replace(self.written, encoding=asked.written.encoding)
        bits = self.bits if asked.bits is None else asked.bits
        return replace(asked, bits=bits, written=written, adapt=self.adapt(unseen))

    def adapt(self, unseen: Unseen | None = None) -> Any:
        """Return a function of a table that was opened, which returns one with the columns that are
        made, and numbers in place of text; None where there are none."""
        if not (self.columns or self.made or self._missing or self.written.notations):
            return None
        found = Unseen() if unseen is None else unseen

        def adapted(table: FileTable) -> FileTable:
            others = other_notations(table, self.columns, self.written, found)
            as_read = table.separator or not self.written.notations
            if as_read and not (self.made or self._missing or others):
                return table
            return RecipeTable(table, self.of(table.header, table.separator, found, others))

        return adapted

    def of(
        self,
        header: Header,
        separator: str,
        unseen: Unseen,
        others: Mapping[ColumnLabel, Notation] = MappingProxyType({}),
    ) -> RecipeColumns:
        """Return the columns of a table by this recipe; `separator`: between the cells of a line of
        text; `others`: of numbers that are not written as those of the fit."""
        missing, written = self._missing, self.written
        return RecipeColumns(header, separator, self.made, missing, unseen, written, others)

    @property
    def _missing(self) -> list[float]:
        """The numbers that stand for nothing."""
        return [each for each in map(_number, self.written.missing) if each is not None]

    def to_json(self) -> dict[str, Any]:
        """Return what a model file holds of it; read by `recipe_from_json`."""
        made = [each.to_json() for each in self.made]
        notations = [[label, asdict(each)] for label, each in self.written.notations.items()]
        written = {"missing": list(self.written.missing), "notations": notations}
        return {
            "columns": list(self.columns),
            "scaling": self.scaling.to_json(),
            "dtype": self.dtype,
            **({} if self.bits is None else {"bits": self.bits}),
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
    bits = stored.get("bits")
    if bits is not None and type(bits) is not int:
        raise RowsError("the model's number of bits cannot be read.")
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
        bits,
    )


def _written_from_json(stored: Any) -> TextFormat:
    try:
        missing = tuple(str(text) for text in stored.get("missing", ()))
        notations = {
            label: Notation(str(each["decimal"]), str(each["thousands"]), str(each.get("unit", "")))
            for label, each in stored.get("notations", ())
        }
        if not all(isinstance(label, (str, int)) for label in notations):
            raise ValueError
    except (TypeError, KeyError, ValueError, AttributeError):
        raise RowsError("how the model's numbers are written cannot be read.") from None
    return TextFormat(None, missing, notations)


def learn_categories(
    tables: Sequence[FileTable],
    columns: Iterable[ColumnLabel],
    missing: Collection[str],
    name_of: Any,
) -> dict[str, tuple[str, ...]]:
    """Return the categories in columns of all tables, in one pass over these columns; `missing`:
    cells that are as empty ones; `name_of`: returns the argument that names a column, for
    messages."""
    header, found = tables[0].header, dict[str, set[str]]()
    for word in columns:
        name, rows = str(header.fields[header.position(word)].label), 0
        found[name] = set()
        for table in tables:
            at = table.header.position(name)
            for block in table.with_text([at]).blocks([at]):
                texts = texts_of(block[0])
                found[name].update("" if text in missing else text for text in texts)
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
