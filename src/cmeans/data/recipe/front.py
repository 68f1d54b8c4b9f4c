"""The front of every table: what its user says of it and what its first rows show, as a recipe."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ...runtime.user_warnings import DataWarning
from ..arrays import Float64
from ..files.notation import TextFormat
from ..files.opening import opened_tables
from ..files.schema import Field, Header, ReadOptions, Spelling
from ..files.tables import FileTable
from ..row_source import ColumnLabel, RowsError
from .made_columns import Categories, Cyclic, Days, MadeColumns, Sphere
from .recognition import TEXT, ColumnHints, date_format, recognised
from .scaling import learn_scaling
from .sentinels import later_sentinels
from .table_recipe import TableRecipe, learn_categories

_SAMPLED = 1_000  # rows that show the format of dates

_NESTED = ("struct", "list", "large_list", "fixed_size_list", "map", "dense_union", "sparse_union")


@dataclass(frozen=True)
class TableWords:
    """Words of the user on the columns of a table."""

    categorical: Sequence[ColumnLabel] = ()
    dates: Sequence[str] = ()  # names, or name=format
    cyclic: Mapping[str, float] = field(default_factory=dict)  # periods
    latlon: Sequence[tuple[str, str]] = ()
    weights: Mapping[str, float] = field(default_factory=dict)  # of columns
    decimal: str | None = None
    thousands: str | None = None
    missing: tuple[str, ...] | None = None  # cells that stand for nothing
    encoding: str | None = None

    @property
    def written(self) -> TextFormat:
        """The way in which text is written, as far as it is told."""
        return TextFormat(self.encoding, ColumnHints(missing=self.missing).markers)

    @property
    def named(self) -> dict[str, list[ColumnLabel]]:
        """The columns to make others of, by the arguments that name them."""
        given: dict[str, list[ColumnLabel]] = {
            "categorical": [*self.categorical],
            "dates": [name.partition("=")[0] for name in self.dates],
            "cyclic": [*self.cyclic],
            "latlon": [name for pair in self.latlon for name in pair],
        }
        return {argument: names for argument, names in given.items() if names}


@dataclass(frozen=True)
class Front:
    """A way to read the rows of a table, and all that is told of it."""

    recipe: TableRecipe
    left_out: tuple[Field, ...] = ()  # columns that are no data, with what they are
    notes: tuple[str, ...] = ()
    missing_known: bool = True  # it is said which cells stand for nothing, or cannot be
    # in columns of data, as the first rows show, or whoever says which cells stand for nothing
    has_blanks: bool = False

    def tell(self, x: Any, columns: Sequence[ColumnLabel], where: str, spell: Spelling) -> None:
        """Warn of what was recognised, of columns that are left out, and of numbers in rows x that
        seem to stand for nothing, where it is not said what does; x None: none have been read."""
        known = self.missing_known or x is None
        later = "" if known else later_sentinels(x, columns, spell)
        for text in (*self.notes, *([f"{where}: {later}."] if later else ())):
            warnings.warn(text, DataWarning, stacklevel=3)


def front_of(asked: ReadOptions, words: TableWords, no_data: Collection[ColumnLabel]) -> Front:
    """Return how the rows of files are read; `no_data`: columns that are weights, or names of rows
    and the like."""
    plain = replace(asked, written=words.written, adapt=None)
    opened = opened_tables(plain)
    first = next(opened)
    if not isinstance(first, FileTable):
        for name in words.named:
            raise RowsError(
                f"{asked.spell(name)}: {asked.file} holds numbers alone; CSV, Parquet and Arrow "
                "have columns of other kinds."
            )
        _refuse_written(asked, words)
        return Front(TableRecipe())
    # all files where categories are to be found in all
    others = opened if words.categorical else ()
    tables = [first, *(table for table in others if isinstance(table, FileTable))]
    return front_of_tables(tables, asked, words, no_data)


def _refuse_written(asked: ReadOptions, words: TableWords) -> None:
    """Refuse words on how cells are written, of an array, which has numbers and NaN."""
    written = {
        "decimal": words.decimal,
        "thousands": words.thousands,
        "missing_values": list(words.written.missing),
    }
    for argument, value in written.items():
        if value:
            raise RowsError(
                f"{asked.spell(argument)}: {asked.file} holds an array of numbers, in which "
                "NaN alone stands for nothing."
            )


def front_of_tables(
    tables: Sequence[FileTable],
    asked: ReadOptions,
    words: TableWords,
    no_data: Collection[ColumnLabel],
) -> Front:
    """Return how rows of tables are read that are open, the first of which shows it; categories are
    those of all."""
    first, header = tables[0], tables[0].header
    apart = {header.position(label) for label in no_data}
    others = apart | {
        _position(header, argument, name)
        for argument in ("categorical", "dates")
        for name in words.named.get(argument, ())
    }
    picked = set(header.places(asked.columns)) if asked.columns else None
    given = ColumnHints(
        words.decimal, words.thousands, words.missing, words.encoding, picked, others
    )
    seen = recognised(first, given)
    if (words.decimal or words.thousands) and not (seen.notations or first.separator):
        raise RowsError(
            f"{asked.spell('decimal')}, {asked.spell('thousands')}: {header.where} holds numbers, "
            "which are not written as text."
        )
    made = _made(tables, words)
    left = _named(header, seen.left_out)
    data = [
        at
        for at, column in enumerate(header.fields)
        if at not in others and not column.aside and column.label not in seen.left_out
    ]
    if left and not (data or made):
        advice = ""
        if TEXT in seen.left_out.values():
            advice = (
                "; texts become vectors first, as the documentation shows on its page 'Topics: "
                "from texts to themes with words'"
            )
        raise RowsError(f"{header.where}: no numeric columns; {seen.left(asked.spell)}{advice}.")
    notes = [f"{header.where}: {text}." for text in seen.read_so]
    if left:
        notes.append(f"{header.where}: {seen.left(asked.spell)}.")
    stored = replace(seen.written(given), encoding=None)
    recipe, known = TableRecipe(made=made, written=stored), words.missing is not None
    return Front(recipe, left, tuple(notes), known, bool(seen.blank or given.markers))


def _named(header: Header, left_out: Mapping[ColumnLabel, str]) -> tuple[Field, ...]:
    return tuple(
        replace(column, kind=left_out[column.label])
        for column in header.fields
        if column.label in left_out
    )


def _position(header: Header, argument: str, name: ColumnLabel) -> int:
    try:
        return header.position(name)
    except RowsError as error:
        raise RowsError(f"{header.spell(argument, name)}: {error}") from error


def _made(tables: Sequence[FileTable], words: TableWords) -> tuple[MadeColumns, ...]:
    first = tables[0]
    header, spell = first.header, first.header.spell

    def label(argument: str, name: ColumnLabel) -> str:
        field = header.fields[_position(header, argument, name)]
        if argument in ("cyclic", "latlon") and not field.numeric:
            raise RowsError(f"{spell(argument, name)}: the column holds {field.kind}, no numbers.")
        if field.kind.startswith(_NESTED) or field.within is not None:
            raise RowsError(f"{spell(argument, name)}: the column holds columns or lists.")
        return str(field.label)

    for name in words.categorical:
        label("categorical", name)
    nothing = words.written.missing
    known = learn_categories(
        tables, words.categorical, nothing, lambda name: spell("categorical", name)
    )
    made: list[MadeColumns] = [Categories(name, texts) for name, texts in known.items()]
    if words.dates:
        sample = first.sample(_SAMPLED)
        for word in words.dates:
            name, equals, written = word.partition("=")
            at = _position(header, "dates", name)
            if header.fields[at].numeric and not first.separator:
                raise RowsError(f"{spell('dates', name)}: the column holds numbers, no dates.")
            cells = [cell for cell in sample[at] if str(cell).strip() not in nothing]
            shown = written if equals else date_format(header, at, cells)
            made.append(Days(label("dates", name), shown))
    for name, period in words.cyclic.items():
        if not (np.isfinite(period) and period > 0):
            raise RowsError(f"{spell('cyclic', f'{name}={period:g}')}: a period is above 0.")
        made.append(Cyclic(label("cyclic", name), period))
    made += [Sphere(label("latlon", lat), label("latlon", lon)) for lat, lon in words.latlon]
    return tuple(made)


def in_units(
    recipe: TableRecipe,
    x: Any,
    columns: Sequence[ColumnLabel],
    weight: Any,
    scale: str,
    words: TableWords,
    spell: Spelling,
) -> TableRecipe:
    """Return the recipe with these columns of rows x (n, d), and how they are scaled."""
    unscaled = np.isin(list(map(str, columns)), list(recipe.unscaled))
    scaling = learn_scaling(scale, x, weight, unscaled, spell).weighted(
        _column_weights(recipe, columns, words, spell)
    )
    return replace(recipe, columns=tuple(columns), scaling=scaling, dtype=x.dtype.name)


def _column_weights(
    recipe: TableRecipe, columns: Sequence[ColumnLabel], words: TableWords, spell: Spelling
) -> Float64:
    """Return how many columns each column of the rows counts for (d,); those that are made of one
    share its weight."""
    weights, known = np.ones(len(columns)), {str(label): at for at, label in enumerate(columns)}
    for name, weight in words.weights.items():
        if not (np.isfinite(weight) and weight > 0):
            raise RowsError(f"{spell('column_weight', f'{name}={weight:g}')}: weights are above 0.")
        labels = [label for each in recipe.made if name in each.sources for label in each.labels]
        places = [known[label] for label in (labels or [name]) if label in known]
        if not places:
            raise RowsError(
                f"{spell('column_weight', f'{name}={weight:g}')}: there is no such column of data; "
                f"there are {', '.join(list(known)[:12])}."
            )
        weights[places] = weight
    return weights
