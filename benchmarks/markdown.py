"""Numbers, tables and pictures in Markdown, for templates: functions of one value are filters
there."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

ABSENT = "*(not measured)*"


def table(
    head: str,
    rows: Iterable[Any],
    absent: str | None = None,
    labels: int | None = None,
    *,
    caller: Callable[[Any], str],
) -> str:
    """A table of Markdown: `head`, and what `caller` makes of each row: the body of a call block, a
    bar between columns.

    absent : in place of a table without rows. labels : rows that say nothing beyond so many first
        columns are left out.
    """
    lines = [_columns(caller(row)) for row in rows]
    lines = [line for line in lines if labels is None or any(line[labels:])]
    if not lines and absent is not None:
        return absent
    first = _columns(head)
    padded = [[f" {cell} " for cell in line] for line in (first, *lines)]
    return "\n".join(
        "|" + "|".join(line) + "|" for line in (padded[0], ["---"] * len(first), *padded[1:])
    )


def _columns(line: str) -> list[str]:
    return [part.strip() for part in re.split(r"(?<!\\)\|", line)]


def grouped(groups: Iterable[str], columns: Sequence[str]) -> str:
    """A head of the same columns for each group, whose name the first bears."""
    return " | ".join(
        f"{group}: {column}" if column == columns[0] else column
        for group in groups
        for column in columns
    )


def picture(name: str, alt: str, caption: str) -> str:
    """`name`.png; `name`.svg lies beside it."""
    return f"![{alt}]({name}.png)\n\n*{line(caption)}* ([SVG]({name}.svg))"


def line(text: str) -> str:
    """Text that a template breaks into lines, as one."""
    return re.sub(r"\s+", " ", text).strip()


def form(value: Any, how: str) -> str:
    """A value by Python's format specification."""
    return format(value, how)


def short(value: float, digits: int = 3) -> str:
    """.937 for 0.937."""
    text = f"{value:.{digits}f}"
    if float(text) == 0:
        text = text.lstrip("-")
    return text.replace("0.", ".", 1) if text.lstrip("-").startswith("0.") else text


def signed(value: float, digits: int = 3) -> str:
    text = short(value, digits)
    return text if text.startswith("-") else f"+{text}"


def mean(values: Sequence[float]) -> float:
    return float(np.mean(values))


def median(values: Sequence[float]) -> float:
    return float(np.median(values))


def spread(values: Sequence[float], digits: int = 3) -> str:
    """Mean ± standard deviation, of more than one value."""
    text = short(mean(values), digits)
    return text + (f" ± {short(float(np.std(values)), digits)}" if len(values) > 1 else "")


def span(values: Sequence[float], digits: int = 3) -> str:
    """Mean (least to largest)."""
    return f"{short(mean(values), digits)} ({reach(values, digits)})"


def reach(values: Sequence[float], digits: int = 3) -> str:
    """Least to largest."""
    return f"{short(min(values), digits)} to {short(max(values), digits)}"


def signed_reach(values: Sequence[float], digits: int = 3) -> str:
    return f"{signed(min(values), digits)} to {signed(max(values), digits)}"


def seconds(value: float) -> str:
    return f"{value:.3f}" if value < 0.1 else f"{value:.2f}" if value < 10 else f"{value:,.0f}"


def percent(share: float) -> str:
    """Of a share in per cent: .5%, 12%."""
    return f"{share:g}%".replace("0.", ".", 1) if share < 1 else f"{share:g}%"


def listed(names: Sequence[Any]) -> str:
    words = [str(name) for name in names]
    return (
        ", ".join(words[:-1]) + " and " + words[-1] if len(words) > 1 else "".join(words) or "none"
    )


FILTERS = (
    line,
    form,
    short,
    signed,
    mean,
    median,
    spread,
    span,
    reach,
    signed_reach,
    seconds,
    percent,
    listed,
)
