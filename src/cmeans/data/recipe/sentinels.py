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


def note_sentinels(
    doubtful: dict[str, str], label: ColumnLabel, numbers: NDArray[np.float64]
) -> None:
    """Note numbers such as -9999 that are far from all others of a column, and seem to stand for
    nothing; of several columns that hold one the first few."""
    for sentinel in sorted(_SENTINELS.intersection(np.unique(numbers).tolist())):
        others = numbers[numbers != sentinel]
        if len(others) < _FEWEST:
            continue
        low, high = float(others.min()), float(others.max())
        if max(low - sentinel, sentinel - high) > _FAR * max(high - low, 1e-9):
            count = len(numbers) - len(others)
            said = doubtful.get(text := f"{sentinel:.0f}", "")
            if said.count(" holds ") < _MOST_TOLD:
                doubtful[text] = (said and f"{said}, ") + (
                    f"column {label!r} holds {text} in {count:,} of {len(numbers):,} cells, far "
                    f"from all others ({low:g} to {high:g})"
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
