"""Tables through pyarrow: rows out of Parquet and CSV, labels and memberships into them."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
from numpy.typing import DTypeLike, NDArray

from .columns import Field, Header
from .errors import InputError, one_line
from .gathering import Block, Plan, gather

ROWS, CELLS = 65_536, 4_000_000  # rows, and numbers, that are decoded or written at a time, at most
_DELIMITERS = ",;\t|"


class ParquetSource:
    """One Parquet file."""

    def __init__(self, file: Path) -> None:
        self._file = file
        with _readable(file, "Parquet"), pa.parquet.ParquetFile(file, memory_map=True) as opened:
            schema, self._n_rows = opened.schema_arrow, opened.metadata.num_rows
        self.header = _header(str(file), schema.names, schema.types, _index_names(schema))

    def read(self, picked: Sequence[int], weight: int | None, dtype: DTypeLike) -> tuple[NDArray[Any], NDArray[np.float64] | None]:
        plan = _plan(self.header, picked, weight, dtype, self._n_rows)
        return _gathered(self._blocks(plan), plan)

    def _blocks(self, plan: Plan) -> Iterator[Block]:
        names = _names(plan)
        with _readable(self._file, "Parquet"), pa.parquet.ParquetFile(self._file, memory_map=True) as opened:
            for batch in opened.iter_batches(_batch(len(names), least=1_024), columns=names):
                yield [_values(batch.column(name)) for name in names]


class CsvSource:
    """One CSV file, with names in its first line or without any. Also separated by semicolons, tabs or bars; also compressed."""

    def __init__(self, file: Path, header: bool | None = None) -> None:
        """`header`: whether the first line holds names; None looks for itself, and asks where it cannot tell."""
        self._file = file
        with _readable(file, "CSV"):
            first = _first_line(file)
            self._delimiter = max(_DELIMITERS, key=first.count)  # the first of them where none occurs
            cells = next(csv.reader([first], delimiter=self._delimiter))
            self._named = _holds_names(file, [cell.strip() for cell in cells]) if header is None else header
            self._one_column = len(cells) == 1
            with self._open({}) as reader:
                schema = reader.schema
        self._raw_names = schema.names
        if self._named:
            self.header = _header(str(file), [name.strip() for name in schema.names], schema.types)
        else:
            fields = (Field(at, _kind(kind), _is_numeric(kind)) for at, kind in enumerate(schema.types))
            self.header = Header(str(file), tuple(fields))
        self._types = dict(zip(schema.names, schema.types, strict=True))

    def read(self, picked: Sequence[int], weight: int | None, dtype: DTypeLike) -> tuple[NDArray[Any], NDArray[np.float64] | None]:
        plan = _plan(self.header, picked, weight, dtype, None)
        names = [self._raw_names[at] for at in [*picked, *([] if weight is None else [weight])]]
        return _gathered(self._blocks(names), plan)

    def _blocks(self, names: Sequence[str]) -> Iterator[Block]:
        # What looks whole in the first block may turn out fractional later, so that every number is read as one kind.
        types = {name: pa.bool_() if pa.types.is_boolean(self._types[name]) else pa.float64() for name in names}
        with _readable(self._file, "CSV"), self._open(types) as reader:
            for batch in reader:
                yield [_values(batch.column(name)) for name in names]

    def _open(self, types: dict[str, pa.DataType]) -> pa.csv.CSVStreamingReader:
        return pa.csv.open_csv(
            self._file,
            read_options=pa.csv.ReadOptions(autogenerate_column_names=not self._named),
            # In a single column an empty line is a missing value, elsewhere it is nothing.
            parse_options=pa.csv.ParseOptions(delimiter=self._delimiter, ignore_empty_lines=not self._one_column),
            convert_options=pa.csv.ConvertOptions(column_types=types, include_columns=list(types)),
        )


def write_table(file: Path, labels: NDArray[Any], memberships: NDArray[Any] | None) -> None:
    """Labels (n,) and memberships (n, c) as Parquet, or as CSV by the ending, some rows at a time: no second table in memory."""
    names = ["label", *(f"u{j}" for j in range(memberships.shape[1]))] if memberships is not None else ["label"]
    kinds = [pa.int32(), *([pa.from_numpy_dtype(memberships.dtype)] * memberships.shape[1])] if memberships is not None else [pa.int32()]
    schema = pa.schema(list(zip(names, kinds, strict=True)))
    with _writer(file, schema) as writer:
        step = _batch(len(names), least=8_192)  # each makes a row group, which should not be small
        for start in range(0, len(labels), step):
            rows = slice(start, start + step)
            columns = [labels[rows].astype(np.int32)]
            if memberships is not None:
                columns += list(np.ascontiguousarray(memberships[rows].T))
            writer.write_batch(pa.record_batch([pa.array(column) for column in columns], schema=schema))


def write_columns(file: Path, columns: Mapping[str, NDArray[Any]]) -> None:
    """A small table as Parquet."""
    pa.parquet.write_table(pa.table(dict(columns)), file)


def read_labels(file: Path) -> NDArray[np.int32]:
    """The labels that `write_table` wrote as Parquet."""
    return np.asarray(pa.parquet.read_table(file, columns=["label"])["label"].to_numpy())


def _writer(file: Path, schema: pa.Schema) -> Any:
    if file.suffix == ".csv":
        return pa.csv.CSVWriter(file, schema)
    return pa.parquet.ParquetWriter(file, schema, use_dictionary=["label"])


def _batch(n_columns: int, least: int) -> int:
    return min(ROWS, max(least, CELLS // n_columns))


def _gathered(blocks: Iterator[Block], plan: Plan) -> tuple[NDArray[Any], NDArray[np.float64] | None]:
    try:
        return gather(blocks, plan)
    finally:
        pa.default_memory_pool().release_unused()  # pyarrow would keep some 100 MB for its next file


def _header(where: str, names: Sequence[str], types: Sequence[pa.DataType], aside: frozenset[str] = frozenset()) -> Header:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputError(f"{where}: column {twice[0]!r} occurs {names.count(twice[0])} times; every column needs a name of its own.")
    singles = (pa.float16(), pa.float32())
    return Header(
        where,
        tuple(Field(name, _kind(kind), _is_numeric(kind), kind in singles, name in aside) for name, kind in zip(names, types, strict=True)),
    )


def _plan(header: Header, picked: Sequence[int], weight: int | None, dtype: DTypeLike, n_rows: int | None) -> Plan:
    label = None if weight is None else header.fields[weight].label
    return Plan(header.where, header.labels(picked), dtype, label, n_rows)


def _names(plan: Plan) -> list[str]:
    return [str(label) for label in (*plan.columns, *([] if plan.weight is None else [plan.weight]))]


def _index_names(schema: pa.Schema) -> frozenset[str]:
    """Columns that pandas wrote for the index of its frame: row numbers and the like, not data."""
    index = (schema.pandas_metadata or {}).get("index_columns", [])
    return frozenset(name for name in index if isinstance(name, str))


def _is_numeric(kind: pa.DataType) -> bool:
    types = pa.types
    return bool(
        types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) or types.is_decimal(kind) or types.is_null(kind)
    )


def _kind(kind: pa.DataType) -> str:
    return "text" if pa.types.is_string(kind) or pa.types.is_large_string(kind) else str(kind)


def _values(column: pa.Array) -> NDArray[Any]:
    """One column of a batch for NumPy; empty cells become NaN, which is refused later with its place."""
    if pa.types.is_decimal(column.type) or pa.types.is_null(column.type):
        column = column.cast(pa.float64())
    return np.asarray(column.to_numpy(zero_copy_only=False))


def _first_line(file: Path) -> str:
    with pa.input_stream(str(file)) as stream:  # unpacks .gz and the like, as pyarrow's CSV reader does
        text = stream.read(1 << 20).decode("utf-8-sig", errors="replace")
    first = next((line for line in text.splitlines() if line.strip()), "")
    if not first:
        raise InputError(f"{file}: is empty.")
    return first


def _holds_names(file: Path, cells: list[str]) -> bool:
    """Names, numbers, or a doubt that only the user can settle."""
    numbers = [_is_number(cell) for cell in cells]
    if not any(numbers):
        return True
    counted = len(cells) > 2 and cells == [str(at) for at in range(len(cells))]  # 0,1,2: what pandas names columns by itself
    if all(numbers) and not counted:
        return False
    start = ",".join(cells[:6])
    raise InputError(
        f"{file}: the first line ({start}{',...' if len(cells) > 6 else ''}) may be names or data; add --header or --no-header."
    )


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


@contextmanager
def _readable(file: Path, kind: str) -> Iterator[None]:
    try:
        yield
    except (InputError, MemoryError, pa.ArrowCancelled):
        raise
    except (pa.ArrowException, OSError) as error:
        text = one_line(error)
        hint = "has values of mixed types" if "conversion error" in text else f"cannot be read as {kind}; it is damaged or not such a file"
        raise InputError(f"{file}: {hint} ({text}).") from error
