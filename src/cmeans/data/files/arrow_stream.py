"""Tables that come by Arrow's C interface, as DuckDB, polars and others hand theirs over: they are
read once, from the beginning to the end, or held in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

from ..arrow_library import pa
from ..containers import column_names, repeated
from ..row_source import RowsError
from .arrow import readable, release, sound
from .arrow_columns import (
    ROWS,
    blocks_of,
    header_of,
    lengths_of,
    of_unsaid_length,
    stored_columns,
    stored_names,
)
from .schema import Header, Spelling, in_python
from .tables import Block, FileTable

_PLAIN = {"string_view": pa.large_string(), "binary_view": pa.large_binary()}


class StreamTable(FileTable):
    """One such table. Its columns are known once it begins; of lists whose type does not say their
    length, once there are some."""

    kind, groups = "Arrow", None

    def __init__(self, given: Any, spell: Spelling = in_python) -> None:
        once = ", which gives its rows once" if hasattr(given, "read_next_batch") else ""
        self.where = f"X ({type(given).__name__}{once})"
        with readable(self.where, self.kind):
            reader = _reader(given, self.where)
            unsaid, begun, lengths = of_unsaid_length(reader.schema), list[Any](), dict[str, int]()
            while unsaid - lengths.keys() and (batch := next(reader, None)) is not None:
                begun.append(sound(batch))
                lengths = lengths_of(batch) | lengths
        self._batches: Iterator[Any] | None = chain(begun, map(sound, reader))
        self.header: Header = header_of(self.where, reader.schema, spell, lengths)

    def blocks(self, places: Sequence[int], groups: Sequence[int] | None = None) -> Iterator[Block]:
        if self._batches is None:
            raise RowsError(f"{self.where}: can be read once, and has been.")
        batches, self._batches, row = self._batches, None, 0
        with readable(self.where, self.kind):
            for batch in batches:
                yield from blocks_of(batch, self.header, places, row)
                row += batch.num_rows
        release()

    def columns(self, places: Sequence[int]) -> Iterator[list[Any]]:
        raise RowsError(f"{self.where}: only its numbers are read.")

    def transient(self, n_columns: int) -> int:
        return 0  # it is read before the first row is asked for


class HeldTable(FileTable):
    """One such table in memory, which may be read again and again, text and dates too: its columns
    are those of a Parquet file of it."""

    kind, groups = "Arrow", None

    def __init__(self, given: Any, spell: Spelling = in_python) -> None:
        self.where = f"X ({type(given).__name__})"
        with readable(self.where, self.kind):
            table = _reader(given, self.where).read_all()
            table.validate(full=True)
            self._table = _without_views(table).unify_dictionaries()
        schema = self._table.schema
        self.header: Header = header_of(self.where, schema, spell)  # refuses two of one name
        if unsaid := of_unsaid_length(schema):
            first = next(self._batches(sorted(unsaid)), None)
            lengths = None if first is None else lengths_of(first)
            self.header = header_of(self.where, schema, spell, lengths)

    def _batches(self, names: Sequence[str]) -> Iterator[Any]:
        """Yield many rows at a time, however few each part of the table has."""
        picked = self._table.select(names)
        for start in range(0, picked.num_rows, ROWS):
            yield from picked.slice(start, ROWS).combine_chunks().to_batches()

    def blocks(self, places: Sequence[int], groups: Sequence[int] | None = None) -> Iterator[Block]:
        row = 0
        with readable(self.where, self.kind):
            for batch in self._batches(stored_names(self.header, places)):
                yield from blocks_of(batch, self.header, places, row)
                row += batch.num_rows

    def columns(self, places: Sequence[int]) -> Iterator[list[pa.Array]]:
        with readable(self.where, self.kind):
            for batch in self._batches(stored_names(self.header, places)):
                yield stored_columns(batch, self.header, places)

    def transient(self, n_columns: int) -> int:
        return 0  # it is read before the first row is asked for


def _reader(given: Any, where: str) -> Any:
    """Return PyArrow's reader of what comes by Arrow."""
    kind = getattr(given, "type", None)  # of Arrow's own arrays; a struct is a table
    if isinstance(kind, pa.DataType) and not pa.types.is_struct(kind):
        raise RowsError(f"{where}: is one column ({kind}), and a table is needed.")
    if said := repeated(column_names(given) or ()):  # of which pandas has no table
        raise RowsError(f"{where}: {said}.")
    if hasattr(given, "__arrow_c_stream__"):
        return pa.RecordBatchReader.from_stream(given)
    batch = pa.record_batch(given)
    return pa.RecordBatchReader.from_batches(batch.schema, [batch])


def _without_views(table: pa.Table) -> pa.Table:
    """Return a table with texts as files have them in place of views, which PyArrow does not
    decode in categories."""
    for at, field in enumerate(table.schema):
        kind, is_coded = field.type, pa.types.is_dictionary(field.type)
        plain = _PLAIN.get(str(kind.value_type if is_coded else kind))
        if plain is None:
            continue
        column = table.column(at)
        if is_coded:
            parts = [
                pa.DictionaryArray.from_arrays(part.indices, part.dictionary.cast(plain))
                for part in column.chunks
            ]
            column = pa.chunked_array(parts, pa.dictionary(kind.index_type, plain))
        else:
            column = column.cast(plain)
        table = table.set_column(at, field.name, column)
    return table
