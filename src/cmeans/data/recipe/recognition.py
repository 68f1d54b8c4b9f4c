"""Recognition of the columns of a table by its first rows: how numbers are written, what stands for
nothing, and which columns are names, dates, categories or text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrow_library import pa
from ..files.notation import (
    BLANKS,
    Notation,
    TextFormat,
    notations_of,
    units_of,
    words_behind,
)
from ..files.schema import Field, Header, Spelling
from ..files.tables import FileTable
from ..files.text import brief, is_number
from ..row_source import ColumnLabel, RowsError
from .made_columns import ISO, date_formats_of
from .sentinels import KEEP, note_sentinels, ways_out

ROWS = 1_000  # that are looked at
_CELLS = 100_000  # at most
_FEWEST = 20  # rows from which on a column may be one of names
_RISING = 50  # rows from which on rising numbers are names
_DISTINCT = 0.99  # of the cells of names
_NAMED_BY = 4  # words, at most, in the mean
_MOST_CATEGORIES = 30
_MARKERS = 3  # different cells that are no numbers in a column of numbers, at most
_MARKER_LETTERS = 14
_NUMBERS = 0.6  # of the cells of a column with markers
_ID = re.compile(
    r"(?:^|[_\W])(?:ids?|uuid|guid|key|nr|no|index|rownum)$|^(?:id|uuid)[_\W]|(?<=[a-z])(?:ID|Id|Nr|No)$",
    re.ASCII,
)
_CODE = re.compile(r"0\d\d+")  # two digits are those of hours and months
TEXT, _CODES = "text", "codes with leading zeros"  # kinds of columns that are left out
_TRUTHS = frozenset({"true", "True", "TRUE", "false", "False", "FALSE"})
_NOTHING = frozenset(pa.csv.ConvertOptions().null_values)
Fitting = Callable[[Collection[str]], Sequence[Notation]]  # the notations of some cells


@dataclass(frozen=True)
class ColumnHints:
    """Words of the user on a table, from which nothing else is concluded."""

    decimal: str | None = None
    thousands: str | None = None
    missing: tuple[str, ...] | None = None  # cells that stand for nothing; None: not said
    encoding: str | None = None
    picked: Collection[int] | None = None  # columns that are named as data; None: all are taken
    others: Collection[int] = ()  # columns that are no data, or no numbers

    @property
    def markers(self) -> tuple[str, ...]:
        return tuple(text for text in self.missing or () if text != KEEP)


@dataclass
class Recognition:
    """Findings on a table: how text is written, and columns that are no data, by what they are."""

    notations: dict[ColumnLabel, Notation] = field(default_factory=dict)
    read_so: list[str] = field(default_factory=list)  # what is told of numbers
    left_out: dict[ColumnLabel, str] = field(default_factory=dict)
    doubtful: dict[str, str] = field(default_factory=dict)  # cells that may stand for nothing
    n_categories: dict[ColumnLabel, int] = field(default_factory=dict)
    blank: list[ColumnLabel] = field(default_factory=list)  # columns of numbers with empty cells

    def written(self, given: ColumnHints) -> TextFormat:
        return TextFormat(given.encoding, given.markers, self.notations)

    def left(self, spell: Spelling) -> str:
        """Return what is told of the columns that are left out, with what takes them."""
        ways = {
            "identifiers": "id",
            "dates": "dates",
            "categories": "categorical",
            _CODES: "categorical",
        }
        parts = list[str]()
        for what in dict.fromkeys(self.left_out.values()):
            labels = [label for label, found in self.left_out.items() if found == what]
            named = ", ".join(
                f"{label!r} ({self.n_categories[label]})"
                if label in self.n_categories
                else repr(label)
                for label in labels
            )
            taken = labels[0] if what == "identifiers" else list(map(str, labels))
            advice = (
                f"; {spell(ways[what], taken)}" if what in ways and all(map(str, labels)) else ""
            )
            parts.append(f"{named} ({what}{advice})")
        return f"left out: {', '.join(parts)}"


def recognised(table: FileTable, given: ColumnHints) -> Recognition:
    """Return what the first rows of a table show; RowsError where the user has to say what is
    meant."""
    found, header = Recognition(), table.header
    rows = min(ROWS, _CELLS // max(1, len(header.fields)))
    every = given.picked is None
    if rows < _FEWEST:  # so many columns are numbers, as an embedding's
        if every:
            _leave_by_kind(found, header, given)
        return found
    sample = table.sample(rows)
    # cells of text that stand for nothing are asked about in text files alone
    as_told = given if table.separator else replace(given, missing=given.missing or ())
    for at, column in enumerate(header.fields):
        if at in given.others or column.aside or not (every or at in (given.picked or ())):
            continue
        cells = [cell for cell in sample[at] if not is_nothing(cell, given.markers)]
        numbers = _numbers(cells) if column.numeric or table.separator else None
        if numbers is None and (table.separator or _are_written(cells)):
            numbers = _written(found, header, column, cells, table.separator, as_told)
        if numbers is not None:
            if given.missing is None:
                note_sentinels(found.doubtful, column.label, numbers)
            if every and not cells and sample[at]:
                found.left_out[column.label] = "empty"
            elif every and _are_codes(cells):
                found.left_out[column.label] = _CODES
            elif every and _are_names(column, numbers):
                found.left_out[column.label] = "identifiers"
            elif len(cells) < len(sample[at]):
                found.blank.append(column.label)
        elif every and not column.numeric:
            found.left_out[column.label] = _kind_of(found, column, cells)
    if found.doubtful:
        noted = _noted(found.doubtful, sample)
        raise RowsError(f"{header.where}: {noted}; {ways_out(found.doubtful, header.spell)}.")
    if every:
        _leave_truths(found, header, given, sample)
    _keep_one(found, header, given)
    return found


def _leave_truths(
    found: Recognition, header: Header, given: ColumnHints, sample: Sequence[Sequence[Any]]
) -> None:
    """Leave out columns of true and false, as other categories are, where there are more columns of
    numbers; they would be clusters by themselves."""
    kept = [
        (column.label, {str(cell) for cell in sample[at] if not is_nothing(cell, given.markers)})
        for at, column in enumerate(header.fields)
        if at not in given.others and not column.aside and column.label not in found.left_out
    ]
    truths = [label for label, cells in kept if cells and _TRUTHS.issuperset(cells)]
    if 2 * len(truths) < len(kept):
        for label in truths:
            found.left_out[label], found.n_categories[label] = "categories", 2


def _noted(doubtful: Mapping[str, str], sample: Sequence[Sequence[Any]]) -> str:
    """Return what is told of doubtful cells; of those of one row, which seems to hold names, the
    row."""
    places = [
        (at, str(cell).strip(BLANKS))
        for column in sample
        for at, cell in enumerate(column)
        if str(cell).strip(BLANKS) in doubtful
    ]
    if len({at for at, _ in places}) != 1 or len(places) == 1:
        return ", ".join(doubtful.values())
    texts = ", ".join(repr(text) for _, text in places[:6])
    return (
        f"row {places[0][0] + 1:,} holds {texts} where others hold numbers; delete it where these "
        "are names or units"
    )


def _leave_by_kind(found: Recognition, header: Header, given: ColumnHints) -> None:
    for at, column in enumerate(header.fields):
        if not (column.numeric or column.aside or at in given.others):
            found.left_out[column.label] = TEXT
    _keep_one(found, header, given)


def _keep_one(found: Recognition, header: Header, given: ColumnHints) -> None:
    """Take numbers that look like names for data where there is no other column."""
    kept = [
        column
        for at, column in enumerate(header.fields)
        if at not in given.others and not column.aside and column.label not in found.left_out
    ]
    if not kept:
        for column in header.fields:
            if column.numeric and found.left_out.get(column.label) in ("identifiers", _CODES):
                del found.left_out[column.label]


def is_nothing(cell: Any, markers: Collection[str]) -> bool:
    if isinstance(cell, str):
        text = cell.strip(BLANKS)
        return text in _NOTHING or text in markers
    return cell is None or cell != cell


def _numbers(cells: Sequence[Any]) -> NDArray[np.float64] | None:
    """Return cells as numbers where all of them are, as programs write numbers."""
    try:
        found = np.array(cells, np.float64)
    except (TypeError, ValueError):
        if all(isinstance(cell, str) and is_number(cell) for cell in cells):
            return np.array([float(cell) for cell in cells])
        return None
    # Python's numbers may have lines between digits
    return None if any(isinstance(cell, str) and "_" in cell for cell in cells) else found


def _written(
    found: Recognition,
    header: Header,
    column: Field,
    cells: Sequence[str],
    separator: str,
    given: ColumnHints,
) -> NDArray[np.float64] | None:
    """Return the numbers of a column that is not written as programs write numbers; None of one
    that is text."""
    if not cells or _TRUTHS.issuperset(cells):
        return None
    fitting = partial(
        notations_of, separator=separator, decimal=given.decimal, thousands=given.thousands
    )
    known = fitting(cells)
    label, spell = column.label, header.spell
    if len(known) > 1:
        advice = " or ".join(
            spell("thousands", each.thousands) if each.thousands else spell("decimal", each.decimal)
            for each in known[:2]
        )
        raise RowsError(
            f"{header.where}: column {label!r} holds numbers such as {brief(cells[0])!r}, which "
            f"have two meanings; say which with {advice}."
        )
    elsewhere = f"or name the columns that are data with {spell('columns')}"
    if not known:
        rest = _without_markers(found, column, cells, fitting) if given.missing is None else []
        known = fitting(rest) if rest else ()
        if not known and (pair := _two_notations(cells, separator)):
            raise RowsError(
                f"{header.where}: column {label!r} holds numbers in several notations, such as "
                f"{pair[0]!r} and {pair[1]!r}; write them in one, {elsewhere}."
            )
        if not known:
            return None
        cells = rest
    if len(units := units_of(cells)) > 1:
        raise RowsError(
            f"{header.where}: column {label!r} holds numbers in {units[0]!r} and {units[1]!r}, "
            f"which do not compare; bring them to one unit, {elsewhere}."
        )
    if _numbers(cells) is not None:  # beside cells that are noted
        return _numbers(cells)
    found.notations[label] = known[0]
    telling = next((cell for cell in cells if _numbers([cell]) is None), cells[0])
    found.read_so.append(
        f"column {label!r}: {len(cells):,} of {len(cells):,} values look like numbers with "
        f"{known[0].described} ({brief(telling)!r}), and are read so"
    )
    return np.array([known[0].number(cell) for cell in cells], np.float64)


def _without_markers(
    found: Recognition, column: Field, cells: Sequence[str], fitting: Fitting
) -> Sequence[str]:
    """Return the numbers of a column with a few other cells, which seem to stand for nothing and
    are noted; nothing of a column of text."""
    others = Counter(cell for cell in cells if not fitting([cell]))
    numbers = [cell for cell in cells if cell not in others]
    few = 0 < len(others) <= _MARKERS and max(map(len, others)) <= _MARKER_LETTERS
    if not few or len(numbers) < _NUMBERS * len(cells) or not fitting(numbers):
        return []
    for text, count in others.items():
        found.doubtful[text.strip(BLANKS)] = (
            f"column {column.label!r} of numbers holds {text!r} in {count:,} of "
            f"{len(cells):,} cells"
        )
    return numbers


def _two_notations(cells: Sequence[str], separator: str) -> tuple[str, str] | None:
    """Return two of some cells, all of which are numbers, that are not written alike; None where
    one is no number."""
    fitting = partial(notations_of, separator=separator, decimal=None, thousands=None)
    if words_behind(cells) or not all(fitting([cell]) for cell in cells):
        return None
    other = next((cell for cell in cells if not fitting([cells[0], cell])), cells[-1])
    return brief(cells[0]), brief(other)


def _are_written(cells: Sequence[Any]) -> bool:
    """True of text that no program writes for numbers; codes such as 007 stay text."""
    return all(isinstance(cell, str) for cell in cells) and _numbers(cells) is None


def _are_codes(cells: Sequence[Any]) -> bool:
    """True of digits some of which begin with zeros that no number needs, as in ZIP codes."""
    digits = all(isinstance(cell, str) and cell.strip(BLANKS).isdecimal() for cell in cells)
    return digits and any(_CODE.fullmatch(cell.strip(BLANKS)) for cell in cells)


def _are_names(column: Field, numbers: NDArray[np.float64]) -> bool:
    """True of whole numbers, nearly all different, that rise or whose column is called an id."""
    if len(numbers) < _FEWEST or (numbers != np.rint(numbers)).any():
        return False
    called = isinstance(column.label, str) and _ID.search(column.label) is not None
    if called and len(np.unique(numbers)) >= _DISTINCT * len(numbers):
        return True
    return len(numbers) >= _RISING and bool((np.diff(numbers) > 0).all())


def _kind_of(found: Recognition, column: Field, cells: Sequence[Any]) -> str:
    """Return what a column of no numbers holds, in a word."""
    if "date" in column.kind or "timestamp" in column.kind:
        return "dates"
    texts = [cell for cell in cells if isinstance(cell, str)]
    if len(texts) < len(cells) or not cells:
        return column.kind
    if date_formats_of(texts[:100]) and date_formats_of(texts):
        return "dates"
    if all(date_formats_of([text]) for text in texts):
        return "dates in several formats"
    if len(words_behind(texts)) in range(2, len(texts) // _FEWEST + 2):
        return "numbers in several units"
    distinct = len(set(texts))
    if distinct == 1 < len(texts):
        return "the same in the first rows"
    if len(texts) >= _FEWEST and distinct >= _DISTINCT * len(texts):
        words = sum(len(text.split()) for text in texts) / len(texts)
        return TEXT if words > _NAMED_BY else "identifiers"
    if distinct <= min(_MOST_CATEGORIES, max(2, len(texts) // 5)):
        found.n_categories[column.label] = distinct
        return "categories"
    return TEXT


def date_format(header: Header, at: int, cells: Sequence[Any]) -> str:
    """Return the format of a column of dates; RowsError where it shows none, or two."""
    column, spell = header.fields[at], header.spell
    texts = [cell for cell in cells if isinstance(cell, str) and not is_nothing(cell, ())]
    if not texts:
        return ISO
    formats = date_formats_of([text.strip() for text in texts])
    if len(formats) == 1:
        return formats[0]
    if not formats and all(date_formats_of([text.strip()]) for text in texts):
        other = next((each for each in texts if not date_formats_of([texts[0], each])), texts[-1])
        raise RowsError(
            f"{header.where}: column {column.label!r} holds dates in several formats, such as "
            f"{brief(texts[0])!r} and {brief(other)!r}; write them in one."
        )
    meant = (
        "holds no dates of a known format" if not formats else "holds dates that have two meanings"
    )
    example = f"{column.label}={(formats or ['%d.%m.%Y'])[0]}"
    raise RowsError(
        f"{header.where}: column {column.label!r} {meant} (such as {brief(texts[0])!r}); say which "
        f"with {spell('dates', [example])}."
    )
