"""CSV files, which can only be read from the beginning to the end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from ..stored import RowsError
from .arrow import header_of, is_numeric, kind_of, pa, reading, release, values
from .columns import Field, Header
from .dialect import Dialect
from .gathering import Block
from .spelling import Spelling, in_python
from .stamps import StampedFile
from .tables import Table


class CsvTable(Table):
    """One CSV file, with names in its first line or without any. Also separated by semicolons, tabs or bars; also compressed."""

    kind = "CSV"
    groups = None

    def __init__(self, file: Path, header: bool | None = None, spell: Spelling = in_python) -> None:
        """`header`: whether the first line holds names; None looks for itself, and asks where it cannot tell."""
        self._file = StampedFile.of(file)
        with reading(self._file, self.kind):
            self._dialect = Dialect.of(str(file), _first_line(file), header, spell)
            with self._open({}) as reader:
                schema = reader.schema
        self._raw_names = schema.names
        if self._dialect.named:
            self.header = header_of(str(file), schema, [name.strip() for name in schema.names], spell)
        else:
            fields = (Field(at, kind_of(kind), is_numeric(kind)) for at, kind in enumerate(schema.types))
            self.header = Header(str(file), tuple(fields), spell)
        self._types = dict(zip(schema.names, schema.types, strict=True))

    def blocks(self, places: Sequence[int], groups: Sequence[int] | None = None) -> Iterator[Block]:
        names = [self._raw_names[at] for at in places]
        # What looks whole in the first block may turn out fractional later, so that every number is read as one kind.
        types = {name: pa.bool_() if pa.types.is_boolean(self._types[name]) else pa.float64() for name in names}
        with reading(self._file, self.kind), self._open(types) as reader:
            for batch in reader:
                yield [values(batch.column(name)) for name in names]
        release()

    def transient(self, n_columns: int) -> int:
        return 0  # it is read before the first row is asked for

    def _open(self, types: dict[str, pa.DataType]) -> pa.csv.CSVStreamingReader:
        return pa.csv.open_csv(
            self._file.path,
            read_options=pa.csv.ReadOptions(autogenerate_column_names=not self._dialect.named),
            parse_options=pa.csv.ParseOptions(delimiter=self._dialect.delimiter, ignore_empty_lines=not self._dialect.blank_is_missing),
            convert_options=pa.csv.ConvertOptions(column_types=types, include_columns=list(types)),
        )


def _first_line(file: Path) -> str:
    with pa.input_stream(str(file)) as stream:  # unpacks .gz and the like, as pyarrow's CSV reader does
        text = stream.read(1 << 20).decode("utf-8-sig", errors="replace")
    first = next((line for line in text.splitlines() if line.strip()), "")
    if not first:
        raise RowsError(f"{file}: is empty.")
    return str(first)
