"""A small table of named columns: printed, shown in notebooks, turned into a data frame."""

from __future__ import annotations

from collections import UserList
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

import numpy as np

from ..runtime.numerals import in_digits


class Table(Mapping[str, Any]):
    """Columns of equal length by name, read like a dict.

    `print` shows it as text, notebooks as a table, and `to_frame()` is a pandas data frame.

    Parameters
    ----------
    columns : dict of name: values.
    """

    def __init__(self, columns: Mapping[str, Any]) -> None:
        self._columns = {name: np.asarray(values) for name, values in columns.items()}

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
        columns = [[name, *map(cell, values)] for name, values in self._columns.items()]
        return [list(row) for row in zip(*columns, strict=True)]

    def __str__(self) -> str:
        rows = self.cells()
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        return "\n".join(
            "  ".join(text.rjust(width) for text, width in zip(row, widths, strict=True))
            for row in rows
        )

    __repr__ = __str__

    def _repr_html_(self) -> str:
        head, *body = self.cells()
        lines = ["".join(f"<td>{escape(text)}</td>" for text in row) for row in body]
        names = "".join(f'<th scope="col">{escape(name)}</th>' for name in head)
        rows = "".join(f"<tr>{line}</tr>" for line in lines)
        return f"<table><thead><tr>{names}</tr></thead><tbody>{rows}</tbody></table>"


def cell(value: Any) -> str:
    """Return a value of a table as text: four digits of numbers, or all of large ones, "-" where
    there is none."""
    if isinstance(value, np.ndarray | list | tuple):
        return ", ".join(cell(part) for part in value)
    if isinstance(value, float | np.floating):
        return in_digits(float(value))
    return " ".join(str(value).split())


def plain_columns(columns: Any) -> Any:
    """Columns of a part of a column transformer; of those left over scikit-learn 1.6 makes a list
    that warns where it is read."""
    return columns.data if isinstance(columns, UserList) else columns
