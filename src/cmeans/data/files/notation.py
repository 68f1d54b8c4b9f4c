"""Cells of text files as people write them: numbers with decimal commas, thousands, signs of
currencies and percents, and what stands for nothing."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from ..row_source import ColumnLabel

BLANKS = " \t\u00a0\u2009\u202f"  # with those that do not break
_BLANK = f"[{BLANKS}]*"
_SIGN = (
    "(?:R\\$|[€$£¥₹₽₩₺₫₪฿₴%‰°]"
    "|EUR|USD|GBP|CHF|JPY|CNY|INR|SEK|NOK|DKK|PLN|CZK|HUF|AUD|CAD|NZD|BRL|kr\\.?|zł|Kč|Ft)"
)
_UNIT = f"{_SIGN}?"
_ALIKE = {"€": "EUR", "$": "USD", "£": "GBP", "¥": "JPY", "₹": "INR", "kr.": "kr"}
_WORD = re.compile(rf"[0-9.,]{_BLANK}(°?[^\W\d_][\w/²³]{{0,11}}){_BLANK}$")  # behind a number
# as accountants write what is below 0, in brackets or with a minus behind; `AS_MINUS` in its place
BELOW_ZERO = rf"^{_BLANK}(?:\(([^()]*[0-9][^()]*)\)|([^-()]*[0-9][^-()]*)-){_BLANK}$"
AS_MINUS = r"-\1\2"
_APOSTROPHES = "'\u2019"


@dataclass(frozen=True)
class Notation:
    """The way in which numbers are written in a column."""

    decimal: str = "."
    thousands: str = ""
    unit: str = ""  # a word behind the numbers

    @cached_property
    def pattern(self) -> str:
        """A regular expression, for Python and RE2, of a whole cell: its first group is a minus,
        its second the digits."""
        point = re.escape(self.decimal)
        whole = "[0-9]+"
        if self.thousands:
            more = "(?:,[0-9]{2})*" if self.thousands == "," else ""  # lakhs of India
            # no thousands stand before 0.250
            whole = f"(?:[1-9][0-9]{{0,2}}{more}(?:{self._separator}[0-9]{{3}})+|[0-9]+)"
        digits = f"(?:{whole}(?:{point}[0-9]*)?|{point}[0-9]+)(?:[eE][-+]?[0-9]+)?"
        sign = f"{_BLANK}\\+?([-\u2212]?){_BLANK}"
        behind = f"(?:{re.escape(self.unit)})?" if self.unit else _UNIT
        return f"^{_BLANK}{_UNIT}{sign}{_UNIT}{_BLANK}({digits}){_BLANK}{behind}{_BLANK}$"

    @property
    def removed(self) -> str:
        """A regular expression of what stands between thousands; empty where nothing does."""
        return self._separator if self.thousands else ""

    @property
    def _separator(self) -> str:
        for alike in (BLANKS, _APOSTROPHES):
            if self.thousands in alike:
                return f"[{alike.replace(chr(9), '')}]"  # a tab stands between cells
        return re.escape(self.thousands)

    def number(self, cell: str) -> float | None:
        """Return the number in a cell, None for other text."""
        found = re.match(self.pattern, re.sub(BELOW_ZERO, AS_MINUS, cell))
        if found is None:
            return None
        digits = re.sub(self.removed, "", found[2]) if self.thousands else found[2]
        number = float(digits.replace(self.decimal, "."))
        return -number if found[1] else number

    @property
    def described(self) -> str:
        """The notation in words."""
        commas = {",": "commas", ".": "points"}
        parts = [] if self.decimal == "." else [f"decimal {commas[self.decimal]}"]
        if self.thousands:
            parts.append(f"{self.thousands!r} between thousands")
        if self.unit:
            parts.append(f"the unit {self.unit!r}")
        return " and ".join(parts) or "signs beside the digits"


_PLAIN = Notation()
_CANDIDATES = (
    _PLAIN,
    Notation(","),
    *(Notation(d, t) for t in (",", ".", " ", "'") for d in (".", ",") if d != t),
)


@dataclass(frozen=True)
class TextFormat:
    """The way in which the text of a file is read."""

    encoding: str | None = None  # None: recognised
    missing: tuple[str, ...] = ()  # cells that stand for nothing, beside the usual ones
    # of the columns that are not written as programs write numbers
    notations: Mapping[ColumnLabel, Notation] = field(default_factory=dict)


AS_PROGRAMS_WRITE = TextFormat()


def notations_of(
    cells: Collection[str], *, separator: str, decimal: str | None, thousands: str | None
) -> Sequence[Notation]:
    """Return the notations in which all of some cells are numbers: one, or several where only the
    user can tell, which differ in their numbers; none where they are text.

    `separator`: what stands between the cells of a line; `decimal`, `thousands`: as given.
    """
    fitting = [
        notation
        for notation in _CANDIDATES
        if decimal in (None, notation.decimal) and thousands in (None, notation.thousands)
    ]
    if not fitting and (decimal or thousands):
        fitting = [Notation(decimal or ".", thousands or "")]
    known = _distinct(fitting, cells)
    if not known and len(words := words_behind(cells)) == 1:
        known = _distinct([replace(notation, unit=words[0]) for notation in fitting], cells)
    if len(known) > 1 and _shows_thousands(cells, separator):
        return [notation for notation in known if notation.thousands] or known
    return known


def _distinct(fitting: Sequence[Notation], cells: Collection[str]) -> list[Notation]:
    """Return the notations in which all cells are numbers, the first of those that give the same
    numbers."""
    numbers = dict[tuple[float, ...], Notation]()
    for notation in fitting:
        found = [notation.number(cell) for cell in cells]
        if None not in found:
            numbers.setdefault(tuple(number for number in found if number is not None), notation)
    return list(numbers.values())


def units_of(cells: Collection[str]) -> list[str]:
    """Return the units that stand beside the numbers in some cells, those of currencies by their
    codes."""
    signs = (sign for cell in cells for sign in re.findall(_SIGN, cell))
    return list(dict.fromkeys(_ALIKE.get(sign, sign) for sign in signs))


def words_behind(cells: Collection[str]) -> list[str]:
    """Return the words behind the numbers in some cells; none where a cell has none."""
    found = [_WORD.search(cell) for cell in cells]
    return [] if None in found else list(dict.fromkeys(each[1] for each in found if each))


def _shows_thousands(cells: Collection[str], separator: str) -> bool:
    """True where what may be a decimal comma or point stands between thousands: money is not
    written with three decimals, and whoever writes decimal commas puts no commas between cells."""
    money = all(re.search(r"[€$£¥₹]|EUR|USD|GBP|CHF", cell) for cell in cells)
    commas = separator == "," and any("," in cell for cell in cells)
    some_without = any(re.fullmatch(r"\D*\d{1,3}\D*", cell) for cell in cells)
    return money or commas or some_without
