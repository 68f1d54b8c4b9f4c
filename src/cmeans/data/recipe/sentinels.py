"""Numbers such as -9999 that stand for nothing in columns of numbers, and how a user says so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from ..blocks import spans
from ..files.schema import Spelling
from ..row_source import ColumnLabel, StoredRows, as_source
from ..scaling import extremes
from ..scratch import ScratchRows

KEEP = "none"  # in place of markers: there are none
_FEWEST = 10  # other numbers beside which one stands out
_MOST_TOLD = 3  # columns that hold one
_CELLS = 100_000  # that are read together
_SENTINELS = frozenset(
    sign * number for number in (99, 999, 9999, 99999, 999999, 9999999) for sign in (1, -1)
) | {-9.0}
_FAR = 2.0  # ranges of the others that such a number is away from them
_NO_GRADES = (8.0, 9.0)  # beside grades from 1 on, and so far from the best or worst of them:
_BEYOND = 3.0
_SHARE = 0.01  # of the cells, at least


def note_sentinels(
    doubtful: dict[str, str], label: ColumnLabel, numbers: NDArray[np.float64]
) -> None:
    """Note numbers such as -9999 that are far from all others of a column, or 9 beside grades from
    1 to 5, and seem to stand for nothing; of several columns that hold one the first few."""
    for sentinel, of_what in _beside_grades(numbers).items():
        _note(doubtful, label, numbers, sentinel, of_what)
    for sentinel in sorted(_SENTINELS.intersection(np.unique(numbers).tolist())):
        others = numbers[numbers != sentinel]
        if len(others) < _FEWEST:
            continue
        low, high = float(others.min()), float(others.max())
        if max(low - sentinel, sentinel - high) > _FAR * max(high - low, 1e-9):
            of_what = f"far from all others ({low:g} to {high:g})"
            _note(doubtful, label, numbers, sentinel, of_what)


def _beside_grades(numbers: NDArray[np.float64]) -> dict[float, str]:
    """Return the numbers 8 and 9 where all others are grades from 1 on, all of which are there, and
    end well below; and what they are beside."""
    grades, counts = np.unique(numbers, return_counts=True)
    own = ~np.isin(grades, _NO_GRADES)
    best = int(own.sum())
    if best < 2 or not np.array_equal(grades[own], np.arange(1, best + 1)):
        return {}
    beside = zip(grades[~own].tolist(), counts[~own].tolist(), strict=True)
    of_what = f"where others are grades from 1 to {best}"
    return {
        number: of_what
        for number, count in beside
        if number - best >= _BEYOND and count >= max(2, _SHARE * len(numbers))
    }


def _note(
    doubtful: dict[str, str],
    label: ColumnLabel,
    numbers: NDArray[np.float64],
    sentinel: float,
    of_what: str,
) -> None:
    said = doubtful.get(text := f"{sentinel:.0f}", "")
    if said.count(" holds ") < _MOST_TOLD:
        count = int((numbers == sentinel).sum())
        doubtful[text] = (said and f"{said}, ") + (
            f"column {label!r} holds {text} in {count:,} of {len(numbers):,} cells, {of_what}"
        )


def ways_out(doubtful: Mapping[str, str], spell: Spelling) -> str:
    """Return what is told of the ways to say what cells stand for that seem to stand for
    nothing."""
    return (
        f"where that stands for nothing, say {spell('missing_values', list(doubtful))}, else "
        f"{spell('missing_values', [KEEP])}"
    )


def later_sentinels(x: Any, columns: Sequence[ColumnLabel], spell: Spelling) -> str:
    """Return what is told of numbers that seem to stand for nothing in rows that have been read, of
    which the first showed none; nothing of rows that stay where they are."""
    source, doubtful = as_source(x), dict[str, str]()
    if scipy.sparse.issparse(x) or not (source is None or isinstance(source, ScratchRows)):
        return ""
    low, high = extremes(x, None)
    for at, label in enumerate(columns):
        if not _SENTINELS.isdisjoint((low[at], high[at])):
            parts = (x[:, at],) if source is None else _column(source, at)
            cells = np.concatenate([part.astype(np.float64) for part in parts])
            note_sentinels(doubtful, label, cells[~np.isnan(cells)])
    return f"{', '.join(doubtful.values())}; {ways_out(doubtful, spell)}" if doubtful else ""


def _column(source: StoredRows, at: int) -> Iterator[NDArray[Any]]:
    for start, stop in spans(len(source), _CELLS):
        yield source.read(start, stop)[:, at]
