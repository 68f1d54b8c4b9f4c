"""Numbers of later tables that are not written as those of a model's fit."""

from __future__ import annotations

from collections.abc import Collection

from ..files.notation import Notation, TextFormat, notations_of
from ..files.tables import FileTable
from ..files.text import brief
from ..row_source import ColumnLabel, RowsError
from .made_columns import Unseen
from .recognition import ROWS, is_nothing


def other_notations(
    table: FileTable, columns: Collection[ColumnLabel], written: TextFormat, unseen: Unseen
) -> dict[ColumnLabel, Notation]:
    """Return how the numbers of a fit's columns are written where a table does not write them so,
    and note it; RowsError where only the user can tell. `written`: how the fit's are."""
    fields = enumerate(table.header.fields)
    text = {at: each.label for at, each in fields if each.label in columns and not each.numeric}
    sample, found = table.sample(ROWS) if text else [], dict[ColumnLabel, Notation]()
    for at, label in text.items():
        cells = [cell for cell in sample[at] if not is_nothing(cell, written.missing)]
        if not cells or not all(isinstance(cell, str) for cell in cells):
            continue
        fit = written.notations.get(label)
        if fit is not None and all(fit.number(cell) is not None for cell in cells):
            continue
        known = notations_of(cells, separator=table.separator, decimal=None, thousands=None)
        as_fit = "as programs write them" if fit is None else f"with {fit.described}"
        if len(known) > 1:
            raise RowsError(
                f"{table.header.where}: column {label!r} holds numbers such as "
                f"{brief(cells[0])!r}, which have two meanings; the fit's were written {as_fit}: "
                "write these so too."
            )
        if known:
            found[label] = known[0]
            here = known[0].described if known[0] != Notation() else "points, as programs do"
            unseen.rewritten[str(label)] = (
                f"numbers of column {label!r} are written with {here}, and are read so; the fit's "
                f"were written {as_fit}."
            )
    return found
