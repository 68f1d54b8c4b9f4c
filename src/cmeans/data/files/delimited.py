"""CSV files, which can only be read from the beginning to the end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from ..row_source import RowsError
from .arrow import header_of, is_numeric, kind_of, pa, reading, release, values
from .columns import Field, Header
from .csv_text import CsvText, opened
from .encoding import CONVERT
from .gathering import Block
from .spelling import Spelling, in_python
from .stamps import StampedFile
from .tables import FileTable

_BLOCK = 1 << 20  # bytes that are parsed at a time, at least
_LINES = 4  # and so many times the longest of the first lines: those that follow may be longer


class CsvTable(FileTable):
    """One CSV file, with names in its first line or without any. Also separated by semicolons, tabs or bars; also compressed."""

    kind = "CSV"
    groups = None

    def __init__(self, file: Path, header: bool | None = None, spell: Spelling = in_python) -> None:
        """`header`: whether the first line holds names; None looks for itself, and asks where it cannot tell."""
        self._file = StampedFile.of(file)
        with reading(self._file, self.kind):
            self._text = CsvText.of(file, header, spell)
        self._dialect = self._text.dialect
        with self._reading(), self._open({}) as reader:
            schema = reader.schema
        self._raw_names = schema.names
        if self._dialect.named:
            self.header = header_of(str(file), schema, [name.strip() for name in schema.names], spell)
        else:
            fields = (Field(at, kind_of(kind), is_numeric(kind)) for at, kind in enumerate(schema.types))
            self.header = Header(str(file), tuple(fields), spell)
        if pa.binary() in schema.types:  # what pyarrow makes of text that is not UTF-8
            kind = f"text that is not UTF-8, first in line {self._text.foreign()}; {CONVERT}"
            known = (replace(field, kind=kind) if field.kind == str(pa.binary()) else field for field in self.header.fields)
            self.header = replace(self.header, fields=tuple(known))
        self._types = dict(zip(schema.names, schema.types, strict=True))

    def blocks(self, places: Sequence[int], groups: Sequence[int] | None = None) -> Iterator[Block]:
        names = [self._raw_names[at] for at in places]
        # What looks whole in the first block may turn out fractional later, so that every number is read as one kind.
        types = {name: pa.bool_() if pa.types.is_boolean(self._types[name]) else pa.float64() for name in names}
        with self._reading(), self._open(types) as reader:
            for batch in reader:
                yield [values(batch.column(name)) for name in names]
        self._file.check()  # of a file that grew, the last line may have come in half
        release()

    def transient(self, n_columns: int) -> int:
        return 0  # it is read before the first row is asked for

    def _open(self, types: dict[str, pa.DataType]) -> pa.csv.CSVStreamingReader:
        start = self._text.start
        # pyarrow takes a single line without an end for nothing at all.
        source = pa.BufferReader(start.line + b"\n") if start.alone else opened(self._file.path)
        return pa.csv.open_csv(
            source,
            read_options=pa.csv.ReadOptions(
                autogenerate_column_names=not self._dialect.named,
                skip_rows=0 if start.alone else start.number - 1,
                block_size=max(_BLOCK, _LINES * start.longest),
            ),
            parse_options=pa.csv.ParseOptions(
                delimiter=self._dialect.delimiter, ignore_empty_lines=not self._dialect.blank_is_missing, newlines_in_values=True
            ),
            convert_options=pa.csv.ConvertOptions(column_types=types, include_columns=list(types)),
        )

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Errors of pyarrow, told with the number of the line."""
        try:
            with reading(self._file, self.kind):
                yield
        except RowsError as error:
            if isinstance(error.__cause__, pa.ArrowException):
                with reading(self._file, self.kind):
                    self._text.refuse(str(error.__cause__))
            raise
