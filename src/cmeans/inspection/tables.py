"""A small table of named columns: printed, shown in notebooks, turned into a data frame."""

from __future__ import annotations

from collections import UserList
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import numpy as np

from ..runtime.numerals import percent
from ..runtime.tables import aligned, html_table, texts_of
from ..runtime.tables import cell as cell


class Table(Mapping[str, Any]):
    """Columns of equal length by name, read like a dict.

    `print` shows it as text, notebooks as a table, and `to_frame()` is a pandas data frame.

    Parameters
    ----------
    columns : dict of name: values.
    shares : names of the columns that are shown as percentages.
    """

    def __init__(self, columns: Mapping[str, Any], shares: Collection[str] = ()) -> None:
        self._columns = {name: np.asarray(values) for name, values in columns.items()}
        self._shares = frozenset(shares)

    def __getitem__(self, name: str) -> Any:
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def keys(self) -> Any:
        """Names of the columns."""
        return self._columns.keys()

    def to_frame(self) -> Any:
        """Return a pandas data frame, a row for each row of the table."""
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError(
                "Table.to_frame needs pandas: python -m pip install pandas."
            ) from error
        return pd.DataFrame(
            {
                name: list(values) if values.ndim > 1 else values
                for name, values in self._columns.items()
            }
        )

    def cells(self) -> list[list[str]]:
        """Return the table as text, row by row, the names of the columns first."""
        columns = [
            [name, *(map(percent, values) if name in self._shares else texts_of(values))]
            for name, values in self._columns.items()
        ]
        return [list(row) for row in zip(*columns, strict=True)]

    def __str__(self) -> str:
        head, *rows = self.cells()
        return aligned(head, rows)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        head, *rows = self.cells()
        return html_table(head, rows)


def plain_columns(columns: Any) -> Any:
    """Columns of a part of a column transformer; of those left over scikit-learn 1.6 makes a list
    that warns where it is read."""
    return columns.data if isinstance(columns, UserList) else columns
