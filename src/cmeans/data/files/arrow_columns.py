"""Columns of Arrow as columns of numbers: what a schema says of them, and the arrays in a record
batch. A column of lists of numbers, all of one length, is as many columns."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrow_library import pa
from ..row_source import RowsError
from .claims import check_columns
from .schema import Field, Header, Spelling, in_python
from .tables import Block, NotOfPythonError

ROWS, CELLS = 65_536, 4_000_000  # rows, and numbers, that are decoded or written at a time, at most
_SINGLES = (pa.int8(), pa.uint8(), pa.float16(), pa.float32())
_LONGEST = 2**17  # numbers of a list: a damaged file must not ask for any number of columns


def batch_rows(n_columns: int, least: int, cells: int = CELLS) -> int:
    return min(ROWS, max(least, cells // max(n_columns, 1)))


def header_of(
    where: str,
    schema: pa.Schema,
    spell: Spelling = in_python,
    lengths: Mapping[str, int] | None = None,
) -> Header:
    """Return the columns of a schema. One of lists of numbers, all of one length, is as many
    columns as they hold; `lengths`: of lists whose type does not say it."""
    check_columns(where, len(schema.names))
    index = _index_columns(where, schema)
    fields = list[Field]()
    for name, kind in zip(schema.names, schema.types, strict=True):
        length = _length_of(kind) or (lengths or {}).get(name)
        if length is None:
            fields.append(
                Field(name, kind_of(kind), _is_numeric(kind), kind in _SINGLES, name in index)
            )
            continue
        if length > _LONGEST:
            raise RowsError(
                f"{where}: column {name!r} holds lists of {length:,} numbers, and at most "
                f"{_LONGEST:,} are read."
            )
        single = kind.value_type in _SINGLES
        check_columns(where, len(fields) + length)
        fields += [
            Field(
                f"{name}[{at}]", f"one of {length} numbers", True, single, name in index, name, at
            )
            for at in range(length)
        ]
    return Header(where, tuple(fields), spell)


def _index_columns(where: str, schema: pa.Schema) -> list[Any]:
    """Return the columns that pandas wrote for the index of its frame, which is no data."""
    try:
        index = json.loads((schema.metadata or {}).get(b"pandas", b"{}")).get("index_columns", [])
    except (ValueError, AttributeError, RecursionError):
        index = None
    if not isinstance(index, list):
        raise RowsError(f"{where}: what pandas wrote of its columns is damaged.")
    return index


def _is_list(kind: pa.DataType) -> bool:
    """True for lists of numbers."""
    lists = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
    return (
        any(test(kind) for test in lists)
        and _is_numeric(kind.value_type)
        and not pa.types.is_null(kind.value_type)
    )


def _length_of(kind: pa.DataType) -> int | None:
    """Return the length that a type of lists of numbers says; None where it is no such type."""
    return kind.list_size or None if pa.types.is_fixed_size_list(kind) and _is_list(kind) else None


def of_unsaid_length(schema: pa.Schema) -> set[str]:
    """Return the columns of lists of numbers whose type does not say how many they hold."""
    return {
        name
        for name, kind in zip(schema.names, schema.types, strict=True)
        if _is_list(kind) and _length_of(kind) is None
    }


def lengths_of(batch: Any) -> dict[str, int]:
    """Return the length of the first list in each column of a record batch, where it has any."""
    found = (
        (name, pa.compute.list_value_length(batch.column(name)).drop_null())
        for name in of_unsaid_length(batch.schema)
    )
    return {
        name: lengths[0].as_py()
        for name, lengths in found
        if len(lengths) and lengths[0].as_py() > 0
    }


def _is_numeric(kind: pa.DataType) -> bool:
    tests = (
        pa.types.is_integer,
        pa.types.is_floating,
        pa.types.is_boolean,
        pa.types.is_decimal,
        pa.types.is_null,
    )
    return any(test(kind) for test in tests)


def kind_of(kind: pa.DataType) -> str:
    return "text" if pa.types.is_string(kind) or pa.types.is_large_string(kind) else str(kind)


def values(column: pa.Array) -> NDArray[Any]:
    """Return one column of a batch as a NumPy array; empty cells become NaN, which is refused later
    with its position."""
    if pa.types.is_decimal(column.type) or pa.types.is_null(column.type):
        column = column.cast(pa.float64())
    return np.asarray(column.to_numpy(zero_copy_only=False))


def list_values(
    column: pa.Array, length: int, label: str, where: str, first_row: int
) -> NDArray[Any]:
    """Return a column of lists of one length as an array (b, length); a missing list becomes NaN,
    which is refused later."""
    lengths = pa.compute.list_value_length(column)
    wrong = pa.compute.fill_null(pa.compute.not_equal(lengths, length), False)
    if pa.compute.any(wrong).as_py():
        row = wrong.index(True).as_py()
        raise RowsError(
            f"{where}: column {label!r} holds a list of {lengths[row].as_py()} numbers in row "
            f"{first_row + row} (rows count from 0), where "
            f"others hold {length}; all must be of one length."
        )
    numbers = values(column.flatten()).reshape(-1, length)  # which passes over missing lists
    if not column.null_count:
        return numbers
    whole = np.full((len(column), length), np.nan)
    whole[column.is_valid().to_numpy(zero_copy_only=False)] = numbers
    return whole


def blocks_of(
    batch: Any, header: Header, places: Sequence[int], first_row: int = 0
) -> Iterator[Block]:
    """The columns of a header at `places`, from a record batch that begins at a row of its file,
    some rows at a time."""
    rows = batch_rows(len(places), 1_024)
    for start in range(0, batch.num_rows, rows):
        yield block_of(batch.slice(start, rows), header, places, first_row + start)


def block_of(batch: Any, header: Header, places: Sequence[int], first_row: int) -> Block:
    """Return the columns at `places`; those of lists are views of one array."""
    fields, lists = [header.fields[at] for at in places], dict[str, NDArray[Any]]()
    for label in dict.fromkeys(field.within for field in fields):
        if label is not None:
            length = sum(field.within == label for field in header.fields)
            lists[label] = list_values(batch.column(label), length, label, header.where, first_row)
    return [
        values(_column(batch, str(field.label), header))
        if field.within is None
        else lists[field.within][:, field.element]
        for field in fields
    ]


def stored_names(header: Header, places: Sequence[int]) -> list[str]:
    """Return the names of the columns of a file in which those at `places` of its header are."""
    return list(dict.fromkeys(_stored_name(header, at) for at in places))


def _stored_name(header: Header, at: int) -> str:
    within = header.fields[at].within
    return str(header.fields[at].label) if within is None else within


def stored_columns(batch: Any, header: Header, places: Sequence[int]) -> list[pa.Array]:
    """Return the columns at `places` of a header as they are stored."""
    return [_column(batch, _stored_name(header, at), header) for at in places]


def _column(batch: Any, name: str, header: Header) -> pa.Array:
    try:
        return batch.column(name)
    except KeyError:  # the number of a type, such as of intervals of months
        raise NotOfPythonError(
            f"{header.where}: column {name!r} is of a type that PyArrow cannot give to Python "
            f"({batch.schema.field(name).type}); leave it out."
        ) from None
