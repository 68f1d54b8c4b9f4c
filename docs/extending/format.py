"""A file format of your own: ORC, the column store of Hive, which pyarrow reads stripe by
stripe."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow.orc

from cmeans.data.files import FileTable, add_format
from cmeans.data.files.arrow import file_bytes, reading
from cmeans.data.files.arrow_columns import blocks_of, header_of, stored_names
from cmeans.data.files.tables import Block
from cmeans.data.files.unchanged_files import StampedFile


class OrcTable(FileTable):
    """One ORC file. Its stripes are the groups of rows that can be read alone."""

    kind = "ORC"
    groups: tuple[int, ...]

    def __init__(self, file: Path, spell: Any) -> None:
        """Read the names and types of the columns, and how many rows each stripe has."""
        self._file = StampedFile.of(file)
        with self._opened() as opened:
            self.header = header_of(str(file), opened.schema, spell)
            first = opened.schema.names[:1]
            stripes = range(opened.nstripes)
            self.groups = tuple(opened.read_stripe(at, first).num_rows for at in stripes)

    def blocks(self, places: Sequence[int], groups: Sequence[int] | None = None) -> Iterator[Block]:
        """Yield columns of all stripes, or of some that follow each other."""
        wanted = range(len(self.groups)) if groups is None else groups
        row = sum(self.groups[: wanted[0]]) if wanted else 0  # which messages name
        for batch in self._batches(places, wanted):
            yield from blocks_of(batch, self.header, places, row)
            row += batch.num_rows

    def columns(self, places: Sequence[int]) -> Iterator[list[Any]]:
        """Yield columns as they are stored, which may be text: the names of rows, for example."""
        for batch in self._batches(places, range(len(self.groups))):
            yield batch.columns

    def transient(self, n_columns: int) -> int:
        """Return the bytes of the largest stripe, which is decoded at once, and of its numbers."""
        return 16 * max(self.groups, default=0) * n_columns

    def _batches(self, places: Sequence[int], stripes: Sequence[int]) -> Iterator[Any]:
        names = stored_names(self.header, places)
        with self._opened() as opened:
            for at in stripes:
                yield opened.read_stripe(at, names)

    @contextmanager
    def _opened(self) -> Iterator[Any]:
        """Open the file. What is wrong with it is told in one line that names it."""
        with reading(self._file, self.kind), file_bytes(self._file.path) as file:
            yield pyarrow.orc.ORCFile(file)


add_format("orc", OrcTable, endings=[".orc"], magic=b"ORC")
