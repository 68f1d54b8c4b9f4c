"""Columns of categories: one column of zeros and ones for each category, as scikit-learn's
OneHotEncoder makes them, block by block."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.files.schema import Field, Header
from ..data.files.tables import Block, FileTable
from ..data.files.text import is_number
from ..data.row_source import ColumnLabel, RowsError
from .errors import InputError

_SOURCE, _MADE = "categories", "zeros and ones of a category"  # kinds of columns
MOST = 1_000  # categories of a column; with more of them it is an identifier


@dataclass(frozen=True)
class Categories:
    """Columns with the categories that the fit has seen in each, as text, sorted."""

    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def labels(self) -> list[str]:
        """Names of the columns of zeros and ones."""
        return [f"{name}_{category}" for name, known in self.columns.items() for category in known]

    def encoded(self, table: FileTable) -> FileTable:
        """Return a table with the columns of zeros and ones in place of the categories."""
        return _EncodedTable(table, self) if self.columns else table

    @classmethod
    def from_json(cls, stored: Any) -> Categories:
        """Return the categories a model was saved with. The file is not trusted."""
        if not isinstance(stored, Mapping) or not all(
            isinstance(known, list)
            and known
            and all(isinstance(category, str) for category in known)
            for known in stored.values()
        ):
            raise InputError("the model's categories cannot be read.")
        return cls({name: tuple(known) for name, known in stored.items()})


def learn_categories(tables: Sequence[FileTable], words: Iterable[ColumnLabel]) -> Categories:
    """Return the categories in columns of all tables, in one pass over these columns."""
    header, found = tables[0].header, dict[str, set[str]]()
    for word in words:
        name = str(header.fields[header.position(word)].label)
        for table in tables:
            at = table.header.position(name)
            for block in table.with_codes([at]).blocks([at]):
                found.setdefault(name, set()).update(_texts(block[0], name, table.header.where))
                if len(found[name]) > MOST:
                    raise InputError(
                        f"--categorical {name}: holds more than {MOST:,} categories; is it an "
                        f"identifier (--id {name})?"
                    )
    return Categories(
        {name: tuple(sorted(known, key=_order(known))) for name, known in found.items()}
    )


def _order(known: Iterable[str]) -> Any:
    """Return the key by which categories are sorted: numbers by size, else text."""
    return (lambda text: (float(text), text)) if all(map(is_number, known)) else None


def _texts(values: NDArray[Any], name: str, where: str) -> list[str]:
    """Return the categories (b,) of a column as text, the same whatever kind of file they come
    from."""
    plain = values.astype(str).astype(object) if values.dtype.kind == "M" else values.astype(object)
    texts = [_text(value) for value in plain.tolist()]
    if "" in texts:
        advice = "fill them (e.g. with 'unknown') or drop their rows first"
        raise RowsError(f"{where}: column {name!r}, of categories, has empty cells; {advice}.")
    return texts


def _text(value: Any) -> str:
    if value is None or value != value or value == "NaT":
        return ""
    return (
        str(int(value)) if isinstance(value, float) and value.is_integer() else str(value).strip()
    )


def with_categories(header: Header, picked: Iterable[int]) -> list[int]:
    """Return picked columns with all columns of zeros and ones, and without those that these are
    made of."""
    kinds = [found.kind for found in header.fields]
    return [at for at in picked if kinds[at] not in (_SOURCE, _MADE)] + [
        at for at, kind in enumerate(kinds) if kind == _MADE
    ]


class _EncodedTable(FileTable):
    """A table whose columns of categories are followed, after all others, by columns of zeros and
    ones."""

    def __init__(self, table: FileTable, categories: Categories) -> None:
        self.kind, self.groups = table.kind, table.groups
        self._own = len(table.header.fields)
        self._columns = {
            table.header.position(name): known for name, known in categories.columns.items()
        }
        self._made = [(at, category) for at, known in self._columns.items() for category in known]
        self._table = table.with_codes(self._columns)
        own = list(table.header.fields)
        for at in self._columns:  # which may be named among the columns of data
            own[at] = replace(own[at], kind=_SOURCE, numeric=True, aside=True)
        fresh = [Field(label, _MADE, numeric=True, single=True) for label in categories.labels]
        self.header = replace(table.header, fields=(*own, *fresh))

    def blocks(self, places: Sequence[int], groups: Sequence[int] | None = None) -> Iterator[Block]:
        asked = [at if at < self._own else self._made[at - self._own] for at in places]
        read = list(dict.fromkeys(at if isinstance(at, int) else at[0] for at in asked))
        for block in self._table.blocks(read, groups):
            columns = dict(zip(read, block, strict=True))
            texts = {at: self._known(columns[at], at) for at in read if at in self._columns}
            yield [
                columns[at] if isinstance(at, int) else (texts[at[0]] == at[1]).astype(np.float32)
                for at in asked
            ]

    def column(self, at: int) -> Iterator[Any]:
        return self._table.column(at)

    def transient(self, n_columns: int) -> int:
        return self._table.transient(n_columns)

    def _known(self, values: NDArray[Any], at: int) -> NDArray[Any]:
        """Return the categories (b,) of a column, all of which the fit has seen."""
        name, known = self.header.fields[at].label, self._columns[at]
        texts = _texts(values, str(name), self.header.where)
        unknown = set(texts).difference(known)
        if unknown:
            raise RowsError(
                f"{self.header.where}: column {name!r} holds {min(unknown)!r}, a category that the "
                "fit has not seen; it has seen "
                f"{', '.join(map(repr, known[:12]))}{', ...' if len(known) > 12 else ''}."
            )
        return np.array(texts, dtype=object)
