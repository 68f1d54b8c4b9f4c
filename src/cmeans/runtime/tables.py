"""Tables for people: the numbers of a column in digits that tell them apart, words to the left, and
long tables folded; as text and for notebooks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

import numpy as np

from .numerals import in_digits, told_apart

MOST = 40  # rows of which all are shown
FIRST, LAST = 30, 5  # that are shown of more
MOST_DECIMALS = 6  # of a column whose numbers all have as many
# without colours of its own, so that it is read on light and on dark pages
STYLE = (
    "<style>.cmeans-table{border-collapse:collapse;font-variant-numeric:tabular-nums}"
    ".cmeans-table :is(th,td){padding:.2em .7em;text-align:right;vertical-align:top;"
    "border-bottom:1px solid rgba(128,128,128,.35)}"
    ".cmeans-table .text{text-align:left}.cmeans-table .chosen{font-weight:bold}</style>"
)


def texts_of(values: Any) -> list[str]:
    """Return the cells of a column: amounts that are whole numbers in full, others in the digits
    that tell them apart, numbers of rows and clusters as they are."""
    column = np.asarray(values)
    if column.ndim == 2 and np.issubdtype(column.dtype, np.integer):
        return [cell(numbers[numbers >= 0]) for numbers in column]  # -1: of no further row
    if column.ndim != 1 or not np.issubdtype(column.dtype, np.floating):
        return [cell(value) for value in values]
    known = column[np.isfinite(column)]
    if (known == np.rint(known)).all() and (np.abs(known) < 1e15).all():
        return [f"{v + 0.0:,.0f}" if np.isfinite(v) else in_digits(v) for v in column.tolist()]
    size, spread = np.abs(known[known != 0]), float(np.ptp(known))
    decimals = 2 - math.floor(math.log10(size.max()))
    if spread > 0:
        decimals = max(decimals, 1 - math.floor(math.log10(spread)))
    if not 0 < decimals <= MOST_DECIMALS or size.min() < 0.5 * 10.0**-decimals:
        return told_apart(column.tolist())
    return [
        f"{value:,.{decimals}f}" if np.isfinite(value) else in_digits(value)
        for value in (column + 0.0).tolist()
    ]


def cell(value: Any) -> str:
    """Return one value as text, on a line; "-" where there is none."""
    if isinstance(value, np.ndarray | list | tuple):
        return ", ".join(cell(part) for part in value)
    if isinstance(value, float | np.floating):
        return in_digits(float(value))
    return " ".join(str(value).split())


def aligned(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table as lines of text; of a long one the first and the last rows."""
    left_out = len(rows) - FIRST - LAST if len(rows) > MOST else 0
    shown = [*rows[:FIRST], *rows[-LAST:]] if left_out else rows
    to_left = of_words(rows, len(head))
    columns = list(zip(head, *shown, strict=True))
    widths = [max(map(len, column)) for column in columns]
    lines = [
        "  ".join(
            text.ljust(width) if left else text.rjust(width)
            for text, width, left in zip(row, widths, to_left, strict=True)
        ).rstrip()
        for row in (head, *shown)
    ]
    if left_out:
        lines.insert(1 + FIRST, f"... {left_out:,} more rows ...")
    return "\n".join(lines)


def html_table(
    head: Sequence[str], rows: Sequence[Sequence[str]], chosen: Iterable[int] = ()
) -> str:
    """Return a table for a notebook; the rows of a long one after the first are folded. `chosen`:
    numbers of rows that stand out."""
    to_left, bold = of_words(rows, len(head)), set(chosen)
    kinds = [' class="text"' if left else "" for left in to_left]
    names = "".join(
        f'<th scope="col"{kind}>{escape(text)}</th>' for text, kind in zip(head, kinds, strict=True)
    )

    def table(some: Iterable[int]) -> str:
        body = "".join(
            f"<tr{' class=chosen' if at in bold else ''}>"
            + "".join(
                f"<td{kind}>{escape(text)}</td>" for text, kind in zip(rows[at], kinds, strict=True)
            )
            + "</tr>"
            for at in some
        )
        return (
            f'<table class="cmeans-table"><thead><tr>{names}</tr></thead><tbody>{body}</tbody>'
            "</table>"
        )

    if len(rows) <= MOST:
        return STYLE + table(range(len(rows)))
    rest = f"<summary>{len(rows) - FIRST:,} more rows</summary>{table(range(FIRST, len(rows)))}"
    return f"{STYLE}{table(range(FIRST))}<details>{rest}</details>"


def html_lines(lines: Iterable[str]) -> str:
    """Return sentences as paragraphs of a notebook."""
    return "".join(f"<p>{escape(line)}</p>" for line in lines)


def of_words(rows: Sequence[Sequence[str]], n_columns: int) -> list[bool]:
    """Return of each column whether it holds words alone, no numbers."""
    columns = [
        [row[at] for row in rows if row[at] not in ("", "-", "inf")] for at in range(n_columns)
    ]
    return [
        bool(column) and all(text[0].isalpha() or text[0] in "<\"'(" for text in column)
        for column in columns
    ]
