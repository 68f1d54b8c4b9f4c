"""Tables through pyarrow: rows out of Parquet and CSV, labels and memberships into them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .arrow import header_of, is_numeric, kind_of, pa, readable, values
from .columns import Field, Header
from .dialect import Dialect
from .errors import InputError
from .gathering import Block, Plan, gather

ROWS, CELLS = 65_536, 4_000_000  # rows, and numbers, that are decoded or written at a time, at most


class ParquetSource:
    """One Parquet file. `mapped`: its bytes are read as they are needed, which no other program may take away meanwhile."""

    def __init__(self, file: Path, mapped: bool = True) -> None:
        self._file, self._mapped = file, mapped
        with readable(file, "Parquet"), self._open() as opened:
            schema, self.n_rows = opened.schema_arrow, opened.metadata.num_rows
        self.header = header_of(str(file), schema)

    def read(self, picked: Sequence[int], weight: int | None, dtype: DTypeLike) -> tuple[NDArray[Any], NDArray[np.float64] | None]:
        plan = _plan(self.header, picked, weight, dtype, self.n_rows)
        return _gathered(self.blocks(picked if weight is None else [*picked, weight]), plan)

    def blocks(self, places: Sequence[int], skip: int = 0) -> Iterator[Block]:
        """The columns at `places`, some rows at a time, without the first `skip` rows."""
        names = [str(label) for label in self.header.labels(places)]
        with readable(self._file, "Parquet"), self._open() as opened:
            groups = list(range(opened.metadata.num_row_groups))
            while groups and opened.metadata.row_group(groups[0]).num_rows <= skip:
                skip -= opened.metadata.row_group(groups.pop(0)).num_rows
            for batch in opened.iter_batches(batch_rows(len(names), least=1_024), row_groups=groups, columns=names):
                if skip < batch.num_rows:
                    yield [values(batch.column(name))[skip:] for name in names]
                skip = max(0, skip - batch.num_rows)

    def _open(self) -> pa.parquet.ParquetFile:
        return pa.parquet.ParquetFile(self._file, memory_map=self._mapped)


class CsvSource:
    """One CSV file, with names in its first line or without any. Also separated by semicolons, tabs or bars; also compressed."""

    def __init__(self, file: Path, header: bool | None = None) -> None:
        """`header`: whether the first line holds names; None looks for itself, and asks where it cannot tell."""
        self._file = file
        with readable(file, "CSV"):
            self._dialect = Dialect.of(str(file), _first_line(file), header)
            with self._open({}) as reader:
                schema = reader.schema
        self._raw_names = schema.names
        if self._dialect.named:
            self.header = header_of(str(file), schema, [name.strip() for name in schema.names])
        else:
            fields = (Field(at, kind_of(kind), is_numeric(kind)) for at, kind in enumerate(schema.types))
            self.header = Header(str(file), tuple(fields))
        self._types = dict(zip(schema.names, schema.types, strict=True))

    def read(self, picked: Sequence[int], weight: int | None, dtype: DTypeLike) -> tuple[NDArray[Any], NDArray[np.float64] | None]:
        plan = _plan(self.header, picked, weight, dtype, None)
        names = [self._raw_names[at] for at in [*picked, *([] if weight is None else [weight])]]
        return _gathered(self._blocks(names), plan)

    def _blocks(self, names: Sequence[str]) -> Iterator[Block]:
        # What looks whole in the first block may turn out fractional later, so that every number is read as one kind.
        types = {name: pa.bool_() if pa.types.is_boolean(self._types[name]) else pa.float64() for name in names}
        with readable(self._file, "CSV"), self._open(types) as reader:
            for batch in reader:
                yield [values(batch.column(name)) for name in names]

    def _open(self, types: dict[str, pa.DataType]) -> pa.csv.CSVStreamingReader:
        return pa.csv.open_csv(
            self._file,
            read_options=pa.csv.ReadOptions(autogenerate_column_names=not self._dialect.named),
            parse_options=pa.csv.ParseOptions(delimiter=self._dialect.delimiter, ignore_empty_lines=not self._dialect.blank_is_missing),
            convert_options=pa.csv.ConvertOptions(column_types=types, include_columns=list(types)),
        )


def write_table(file: Path, labels: NDArray[Any], memberships: NDArray[Any] | None) -> None:
    """Labels (n,) and memberships (n, c) as Parquet, or as CSV by the ending, some rows at a time: no second table in memory."""
    names = ["label", *(f"u{j}" for j in range(memberships.shape[1]))] if memberships is not None else ["label"]
    kinds = [pa.int32(), *([pa.from_numpy_dtype(memberships.dtype)] * memberships.shape[1])] if memberships is not None else [pa.int32()]
    schema = pa.schema(list(zip(names, kinds, strict=True)))
    with _writer(file, schema) as writer:
        step = batch_rows(len(names), least=8_192)  # each makes a row group, which should not be small
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


def batch_rows(n_columns: int, least: int) -> int:
    return min(ROWS, max(least, CELLS // n_columns))


def _gathered(blocks: Iterator[Block], plan: Plan) -> tuple[NDArray[Any], NDArray[np.float64] | None]:
    try:
        return gather(blocks, plan)
    finally:
        pa.default_memory_pool().release_unused()  # pyarrow would keep some 100 MB for its next file


def _plan(header: Header, picked: Sequence[int], weight: int | None, dtype: DTypeLike, n_rows: int | None) -> Plan:
    label = None if weight is None else header.fields[weight].label
    return Plan(header.where, header.labels(picked), dtype, label, n_rows)


def _first_line(file: Path) -> str:
    with pa.input_stream(str(file)) as stream:  # unpacks .gz and the like, as pyarrow's CSV reader does
        text = stream.read(1 << 20).decode("utf-8-sig", errors="replace")
    first = next((line for line in text.splitlines() if line.strip()), "")
    if not first:
        raise InputError(f"{file}: is empty.")
    return first
