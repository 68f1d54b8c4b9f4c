"""Tables that come by Arrow's C interface, as DuckDB, polars and others hand theirs over: they are
read once, from the beginning to the end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

from ..arrow_library import pa
from ..row_source import RowsError
from .arrow import readable, release, sound
from .arrow_columns import blocks_of, header_of, lengths_of, of_unsaid_length
from .schema import Header, Spelling, in_python
from .tables import Block, FileTable


class StreamTable(FileTable):
    """One such table. Its columns are known once it begins; of lists whose type does not say their
    length, once there are some."""

    kind, groups = "Arrow", None

    def __init__(self, given: Any, spell: Spelling = in_python) -> None:
        once = ", which gives its rows once" if hasattr(given, "read_next_batch") else ""
        self.where = f"X ({type(given).__name__}{once})"
        with readable(self.where, self.kind):
            reader = self._reader(given)
            unsaid, begun, lengths = of_unsaid_length(reader.schema), list[Any](), dict[str, int]()
            while unsaid - lengths.keys() and (batch := next(reader, None)) is not None:
                begun.append(sound(batch))
                lengths = lengths_of(batch) | lengths
        self._batches: Iterator[Any] | None = chain(begun, map(sound, reader))
        self.header: Header = header_of(self.where, reader.schema, spell, lengths)

    def _reader(self, given: Any) -> Any:
        kind = getattr(given, "type", None)  # of Arrow's own arrays; a struct is a table
        if isinstance(kind, pa.DataType) and not pa.types.is_struct(kind):
            raise RowsError(f"{self.where}: is one column ({kind}), and a table is needed.")
        if hasattr(given, "__arrow_c_stream__"):
            return pa.RecordBatchReader.from_stream(given)
        batch = pa.record_batch(given)
        return pa.RecordBatchReader.from_batches(batch.schema, [batch])

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
