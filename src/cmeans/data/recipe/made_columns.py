"""Columns of numbers that are made of others: zeros and ones of categories, days of dates, points
of a circle and of the sphere."""

from __future__ import annotations

import re
import warnings
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ...runtime.numerals import several
from ...runtime.user_warnings import DataWarning
from ..arrow_library import pa
from ..files.text import is_number
from ..row_source import RowsError

EMPTY = "(empty)"  # the name of the category of empty cells
ISO = "iso"
DATE_FORMATS = (
    "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%d-%m-%Y", "%m-%d-%Y", "%Y%m%d", "%d %b %Y",
    "%d.%m.%y", "%d/%m/%y", "%m/%d/%y",
)  # fmt: skip
_TIMES = ("", " %H:%M", " %H:%M:%S")
_DAY = 86_400e6  # microseconds
_NOTHING = frozenset(pa.csv.ConvertOptions().null_values)


@dataclass
class Unseen:
    """News of a later table, by column: cells of categories that the fit has not seen, counted, and
    other ways in which numbers are written."""

    cells: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)
    rewritten: dict[str, str] = field(default_factory=dict)  # what is told of it

    def tell(self) -> None:
        """Warn of it, once."""
        for text in self.rewritten.values():
            warnings.warn(text, DataWarning, stacklevel=3)
        for name, count in self.cells.items():
            rows = several(count, "row")
            warnings.warn(
                f"column {name!r} holds categories that the fit has not seen in {rows}, such as "
                f"{self.examples[name]!r}; they count as none of those that it has.",
                DataWarning,
                stacklevel=3,
            )
        self.cells.clear()
        self.rewritten.clear()


@dataclass(frozen=True)
class MadeColumns(ABC):
    """Columns that are made of one column, or of some."""

    kind: ClassVar[str]

    @property
    @abstractmethod
    def sources(self) -> tuple[str, ...]:
        """Names of the columns that they are made of."""

    @property
    @abstractmethod
    def labels(self) -> tuple[str, ...]:
        """Names of the columns that are made."""

    @abstractmethod
    def make(self, columns: Sequence[NDArray[Any]], unseen: Unseen) -> Sequence[NDArray[Any]]:
        """Return the columns (b,) that are made of some rows of the sources; a MadeColumnError for
        a row of which none can be made."""

    # True where the sources are read as they are written, and where the columns are scaled
    as_text: ClassVar[bool] = False
    is_scaled: ClassVar[bool] = False
    are_indicators: ClassVar[bool] = False  # zeros and ones alone
    are_dates: ClassVar[bool] = False  # days since 1970

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, **{each.name: getattr(self, each.name) for each in fields(self)}}


class MadeColumnError(ValueError):
    """A row of which no column can be made: its place among the rows, and what is wrong."""

    def __init__(self, row: int, text: str) -> None:
        super().__init__(text)
        self.row = row


@dataclass(frozen=True)
class Categories(MadeColumns):
    """A column of zeros and ones for each category, as scikit-learn's OneHotEncoder makes them;
    empty cells are a category of their own where the fit has seen any. Rows of another category
    have zeros alone, and are counted."""

    kind: ClassVar[str] = "categories"
    as_text: ClassVar[bool] = True
    are_indicators: ClassVar[bool] = True
    column: str
    known: tuple[str, ...]

    @property
    def sources(self) -> tuple[str, ...]:
        return (self.column,)

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(f"{self.column}_{text or EMPTY}" for text in self.known)

    def make(self, columns: Sequence[NDArray[Any]], unseen: Unseen) -> Sequence[NDArray[Any]]:
        texts = np.array(texts_of(columns[0]), dtype=object)
        made = [(texts == category).astype(np.float32) for category in self.known]
        others = ~np.logical_or.reduce(made)
        if others.any():
            unseen.cells[self.column] += int(others.sum())
            unseen.examples.setdefault(self.column, texts[others][0] or "empty cells")
        return made


@dataclass(frozen=True)
class Days(MadeColumns):
    """Dates as days since 1970-01-01, with fractions for times; empty cells are missing."""

    kind: ClassVar[str] = "dates"
    as_text: ClassVar[bool] = True
    are_dates: ClassVar[bool] = True
    is_scaled: ClassVar[bool] = True
    column: str
    format: str = ISO

    @property
    def sources(self) -> tuple[str, ...]:
        return (self.column,)

    @property
    def labels(self) -> tuple[str, ...]:
        return (f"{self.column}_days",)

    def make(self, columns: Sequence[NDArray[Any]], unseen: Unseen) -> Sequence[NDArray[Any]]:
        return [days_of(columns[0], self.format, self.column)]


@dataclass(frozen=True)
class Cyclic(MadeColumns):
    """Numbers that begin anew after a period, such as hours after 24, as points of a circle."""

    kind: ClassVar[str] = "cyclic"
    column: str
    period: float

    @property
    def sources(self) -> tuple[str, ...]:
        return (self.column,)

    @property
    def labels(self) -> tuple[str, ...]:
        return (f"{self.column}_cos", f"{self.column}_sin")

    def make(self, columns: Sequence[NDArray[Any]], unseen: Unseen) -> Sequence[NDArray[Any]]:
        values = np.asarray(columns[0], np.float64)
        with np.errstate(over="ignore"):
            angle = values * (2 * np.pi / self.period)
        _refuse_infinite(angle, values, self.column)
        return np.cos(angle), np.sin(angle)


@dataclass(frozen=True)
class Sphere(MadeColumns):
    """Latitudes and longitudes in degrees as points of the unit sphere."""

    kind: ClassVar[str] = "latlon"
    latitude: str
    longitude: str

    @property
    def sources(self) -> tuple[str, ...]:
        return (self.latitude, self.longitude)

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(f"{self.latitude}_{self.longitude}_{axis}" for axis in "xyz")

    def make(self, columns: Sequence[NDArray[Any]], unseen: Unseen) -> Sequence[NDArray[Any]]:
        degrees = [np.asarray(column, np.float64) for column in columns]
        _refuse_infinite(degrees[1], degrees[1], self.longitude)
        beyond = np.abs(degrees[0]) > 90
        if beyond.any():
            row = int(np.argmax(beyond))
            value = f"{degrees[0][row]:g}"
            raise MadeColumnError(
                row, f"column {self.latitude!r} holds {value}, and latitudes are from -90 to 90"
            )
        latitude, longitude = map(np.radians, degrees)
        flat = np.cos(latitude)
        return flat * np.cos(longitude), flat * np.sin(longitude), np.sin(latitude)


def _refuse_infinite(angles: NDArray[Any], values: NDArray[Any], label: str) -> None:
    wrong = np.isinf(angles)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise MadeColumnError(row, f"column {label!r} holds {values[row]:g}, too far for an angle")


KINDS: dict[str, type[MadeColumns]] = {cls.kind: cls for cls in (Categories, Days, Cyclic, Sphere)}


def made_from_json(stored: Any) -> MadeColumns:
    """Return the columns a model was saved with. The file is not trusted."""
    try:
        words = {str(name): value for name, value in stored.items()}
        cls = KINDS[words.pop("kind")]
        if cls is Categories:
            words["known"] = tuple(words["known"])
        made = cls(**words)
        texts = [value for name, value in words.items() if name not in ("known", "period")]
        known, period = words.get("known", ()), words.get("period", 1.0)
        if not all(isinstance(text, str) for text in (*texts, *known)) or not period > 0:
            raise ValueError
    except (TypeError, KeyError, ValueError, AttributeError):
        raise RowsError("the model's recipe of its columns cannot be read.") from None
    return made


def texts_of(values: NDArray[Any]) -> list[str]:
    """Return the categories (b,) of a column as text, the same whatever kind of file they come
    from."""
    if values.dtype.kind == "M":  # in units of the file, so that zeros may follow
        return [
            _text(re.sub(r"\.?0+$", "", text) if "." in text else text)
            for text in values.astype(str).tolist()
        ]
    return [_text(value) for value in values.astype(object).tolist()]


def _text(value: Any) -> str:
    if value is None or value != value:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    text = str(value).strip()
    # 7.0 is 7, as programs write it beside missing cells
    return "" if text in _NOTHING or text == "NaT" else re.sub(r"^(-?\d+)\.0+$", r"\1", text)


def sorted_categories(known: Iterable[str]) -> tuple[str, ...]:
    """Return categories in their order, numbers by size, empty cells last."""
    filled = [text for text in known if text]
    by_size = all(map(is_number, filled))
    ordered = sorted(filled, key=(lambda text: (float(text), text)) if by_size else None)
    return (*ordered, *([""] if "" in set(known) else []))


def date_formats_of(cells: Iterable[str]) -> list[str]:
    """Return the formats in which all of some cells are dates; none where they are none."""
    texts = _in_unicode(cells)
    if not len(texts):
        return []
    if not _parsed(texts, ISO).null_count:
        return [ISO]
    formats = [f"{day}{hour}" for day in DATE_FORMATS for hour in _TIMES]
    return [each for each in formats if not _parsed(texts, each).null_count]


def days_of(values: NDArray[Any], date_format: str, label: str) -> NDArray[np.float64]:
    """Return days since 1970-01-01 (b,), NaN where there are none."""
    if values.dtype.kind == "M":
        if np.datetime_data(values.dtype)[0] not in ("us", "ns"):  # of coarser units
            far = np.datetime64(2**63 - 1, "us").astype(values.dtype)
            beyond = np.abs(values.astype(np.int64)) > far.astype(np.int64)
            beyond &= ~np.isnat(values)
            if beyond.any():
                row = int(np.argmax(beyond))
                raise MadeColumnError(row, f"column {label!r} holds a date after the year 294,000")
        micro = values.astype("datetime64[us]")
        return np.where(np.isnat(micro), np.nan, micro.astype(np.int64) / _DAY)
    texts = _in_unicode(_plain(value) for value in values.tolist())
    found = _parsed(texts, date_format)
    wrong = pa.compute.and_(found.is_null(), texts.is_valid())
    if pa.compute.any(wrong).as_py():
        row = wrong.index(True).as_py()
        written = "2024-12-31" if date_format == ISO else date_format
        raise MadeColumnError(
            row, f"column {label!r} holds {texts[row].as_py()!r}, no date as {written}"
        )
    numbers = found.cast(pa.int64()).to_numpy(zero_copy_only=False)
    return np.asarray(numbers, np.float64) / _DAY


def _plain(value: Any) -> str | None:
    text = "" if value is None or value != value else str(value).strip()
    return None if text in _NOTHING else text


def _in_unicode(cells: Iterable[str | None]) -> pa.Array:
    """Return cells as PyArrow's texts; bytes that are no UTF-8, which cells keep, as "?"."""
    kept = (cell and cell.encode(errors="replace").decode() for cell in cells)
    return pa.array(list(kept), pa.string())


def _parsed(texts: pa.Array, date_format: str) -> pa.Array:
    """Return the times of texts in microseconds, null where they are none."""
    if date_format == ISO:
        pattern = r"^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,6})?)?)?$"
        fits = pa.compute.match_substring_regex(texts, pattern)
        kept = pa.compute.if_else(fits, texts, pa.scalar(None, pa.string()))
        try:
            return kept.cast(pa.timestamp("us"))
        except pa.ArrowInvalid:  # such as the 31st of February
            return pa.nulls(len(texts), pa.timestamp("us"))
    if not re.search("%[yYb]", date_format):
        raise RowsError(f"{date_format!r}: is no format of dates; give one such as %d.%m.%Y.")
    # which would take 2022 for the year 20 of two digits
    digits = {"%Y": r"\d{4}", "%y": r"\d\d", "%b": r"\w{3}"}
    pattern = re.escape(date_format)
    for name in set(re.findall("%[a-zA-Z]", date_format)):
        pattern = pattern.replace(name, digits.get(name, r"\d{1,2}"))
    fits = pa.compute.match_substring_regex(texts, f"^{pattern}$")
    kept = pa.compute.if_else(fits, texts, pa.scalar(None, pa.string()))
    return pa.compute.strptime(kept, format=date_format, unit="us", error_is_null=True)


def categories_of(made: Iterable[MadeColumns]) -> Mapping[str, tuple[str, ...]]:
    """Return the categories of each column that has any."""
    return {each.column: each.known for each in made if isinstance(each, Categories)}
