"""Files read and written through PyArrow: Parquet and Arrow, of whose groups of rows only the
wanted columns are read."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...runtime.user_warnings import one_line
from ..addresses import Address
from ..arrow_library import pa as pa
from ..row_source import RowsError
from .claims import check_columns
from .discovery import IPC_FILE
from .schema import Field, Header, Spelling, in_python
from .tables import Block, FileTable, NotOfPythonError
from .unchanged_files import StampedFile

OWN = b"cmeans"  # the key in the metadata of files of results by row
ROWS, CELLS = 65_536, 4_000_000  # rows, and numbers, that are decoded or written at a time, at most


def batch_rows(n_columns: int, least: int, cells: int = CELLS) -> int:
    return min(ROWS, max(least, cells // max(n_columns, 1)))


def file_bytes(path: Path) -> pa.NativeFile:
    """The bytes of a file. pyarrow takes names for UTF-8, which not every name is."""
    if isinstance(path, Address):
        return pa.PythonFile(path.open(buffering=0), "r")
    return pa.OSFile(os.fsencode(path))


def release() -> None:
    """Free the memory that pyarrow would keep for its next file, some 100 MB."""
    pa.default_memory_pool().release_unused()


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


_SINGLES = (pa.int8(), pa.uint8(), pa.float16(), pa.float32())
_LONGEST = 2**17  # numbers of a list: a damaged file must not ask for any number of columns


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


@contextmanager
def readable(where: object, kind: str) -> Iterator[None]:
    """Turn pyarrow's errors inside the block into one line about the file, and name the file in
    errors of the system."""
    try:
        yield
    except (RowsError, pa.ArrowCancelled):
        raise
    except MemoryError as error:  # damaged bytes may ask for petabytes
        asked = one_line(error) or "out of memory"
        raise RowsError(
            f"{where}: asks for more memory than there is ({asked}); it is damaged, or too large "
            "to be read."
        ) from error
    except (pa.ArrowException, UnicodeDecodeError, OSError) as error:
        if isinstance(error, OSError) and error.errno:
            error.filename = str(where)
            raise
        text = one_line(error, most=300)
        raise RowsError(f"{where}: {_hint(text, kind)} ({text}).") from error


def _hint(text: str, kind: str) -> str:
    """Return what an error of pyarrow means for the reader of a file."""
    if "conversion error" in text:
        return "has values of mixed types"
    if "decrypt" in text:
        return "is encrypted, and no keys are taken; write a copy that is not"
    return f"cannot be read as {kind}; it is damaged or not such a file"


@contextmanager
def reading(file: StampedFile, kind: str) -> Iterator[None]:
    """Do as `readable` for a file that must not change; where it changed, the error is about
    that."""
    file.check()
    try:
        with readable(file.path, kind):
            yield
    except RowsError:
        file.check()
        raise


def sound(batch: Any) -> Any:
    """Return a record batch from anybody, once its buffers are known to hold what it says. PyArrow
    would read beyond their ends."""
    batch.validate(full=True)
    return batch


def blocks_of(
    batch: Any, header: Header, places: Sequence[int], first_row: int = 0
) -> Iterator[Block]:
    """The columns of a header at `places`, from a record batch that begins at a row of its file,
    some rows at a time."""
    rows = batch_rows(len(places), 1_024)
    for start in range(0, batch.num_rows, rows):
        yield _block(batch.slice(start, rows), header, places, first_row + start)


def _block(batch: Any, header: Header, places: Sequence[int], first_row: int) -> Block:
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


def _stored(batch: Any, header: Header, places: Sequence[int]) -> list[pa.Array]:
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


class IpcTable(FileTable):
    """One IPC file (Feather of the second version is the same) or one IPC stream kept in a file."""

    kind = "Arrow"

    def __init__(self, file: Path, spell: Spelling = in_python) -> None:
        self._file = StampedFile.of(file)
        with file.open("rb") as begun:
            self._footed = begun.read(len(IPC_FILE)) == IPC_FILE
        self.groups: tuple[int, ...] | None = None
        with self._opened([]) as opened:
            schema = opened.schema
            self._names, unsaid = schema.names, of_unsaid_length(schema)
        self.header = header_of(str(file), schema, spell)  # refuses two columns of one name
        if unsaid:
            with self._opened(sorted(unsaid)) as opened:
                first = next(self._batches(opened, None), None)
            self.header = header_of(
                str(file), schema, spell, None if first is None else lengths_of(first)
            )
        if self._footed and self.header.fields:
            # the footer has no row counts, so one column of each batch is read
            with self._opened(self._names[:1]) as opened:
                self.groups = tuple(batch.num_rows for batch in self._batches(opened, None))
        self._largest = max(self.groups or (0,))

    def blocks(self, places: Sequence[int], groups: Sequence[int] | None = None) -> Iterator[Block]:
        row = sum((self.groups or ())[: groups[0]]) if groups else 0
        with self._opened(stored_names(self.header, places)) as opened:
            for batch in self._batches(opened, groups):
                yield from blocks_of(batch, self.header, places, row)
                row += batch.num_rows
        if groups is None:
            release()

    def columns(self, places: Sequence[int]) -> Iterator[list[pa.Array]]:
        with self._opened(stored_names(self.header, places)) as opened:
            for batch in self._batches(opened, None):
                yield _stored(batch, self.header, places)

    def transient(self, n_columns: int) -> int:
        return 16 * self._largest * n_columns

    def _batches(self, opened: Any, groups: Sequence[int] | None) -> Iterator[Any]:
        if not self._footed:
            return map(sound, opened)
        return (
            sound(opened.get_batch(at))
            for at in (range(opened.num_record_batches) if groups is None else groups)
        )

    @contextmanager
    def _opened(self, names: Sequence[str]) -> Iterator[Any]:
        places = [self._names.index(name) for name in names]
        options = pa.ipc.IpcReadOptions(included_fields=places, use_threads=False)
        open_it = pa.ipc.open_file if self._footed else pa.ipc.open_stream
        with (
            reading(self._file, self.kind),
            file_bytes(self._file.path) as file,
            open_it(file, options=options) as opened,
        ):
            yield opened


# bytes of a column that are read at a time; without a buffer, all of a column's chunk of a group is
# read at once
_BUFFER = 1 << 17
# bytes of a file that is read without: a buffer grows to what pages claim to be, up to 2 GB
_SMALL = 1 << 20
_PAGE = 1 << 20  # bytes of a decompressed page, as files are commonly written
_CELLS = 1 << 20  # numbers that are decoded at a time


class ParquetTable(FileTable):
    """One Parquet file. Its footer is read once; it is not mapped, as a map of a file that shrinks
    kills the process."""

    kind = "Parquet"
    groups: tuple[int, ...]

    def __init__(self, file: Path, spell: Spelling = in_python) -> None:
        self._file = StampedFile.of(file)
        self._buffer = _BUFFER if self._file.size > _SMALL else 0
        self._metadata: Any = None
        with self._opened() as opened:
            self._metadata = opened.metadata
            schema = opened.schema_arrow
            # refuses two columns of one name
            self.header, unsaid = header_of(str(file), schema, spell), of_unsaid_length(schema)
            first = (
                next(opened.iter_batches(1_024, columns=sorted(unsaid)), None) if unsaid else None
            )
            if first is not None:
                self.header = header_of(str(file), schema, spell, lengths_of(first))
        groups = (self._metadata.row_group(at) for at in range(self._metadata.num_row_groups))
        self.groups = tuple(group.num_rows for group in groups)

    def blocks(self, places: Sequence[int], groups: Sequence[int] | None = None) -> Iterator[Block]:
        row = sum(self.groups[: groups[0]]) if groups else 0
        rows = batch_rows(len(places), 1_024, _CELLS)
        names = stored_names(self.header, places)
        with self._opened() as opened:
            # threads of PyArrow that hold a file of Python's end Python 3.13 by a signal
            threads = groups is None and isinstance(self._file.path, Path)
            for batch in opened.iter_batches(
                rows, row_groups=groups, columns=names, use_threads=threads
            ):
                yield _block(batch, self.header, places, row)
                row += batch.num_rows
        if groups is None:
            release()

    def columns(self, places: Sequence[int]) -> Iterator[list[pa.Array]]:
        rows, names = batch_rows(len(places), 1_024), stored_names(self.header, places)
        with self._opened() as opened:
            for batch in opened.iter_batches(rows, columns=names, use_threads=False):
                yield _stored(sound(batch), self.header, places)

    def transient(self, n_columns: int) -> int:
        pages = min(2 * _PAGE, 16 * max(self.groups, default=0))  # of a column, packed and not
        return n_columns * (16 * batch_rows(n_columns, 1_024, _CELLS) + _BUFFER + pages)

    @contextmanager
    def _opened(self) -> Iterator[Any]:
        with (
            reading(self._file, self.kind),
            file_bytes(self._file.path) as file,
            pa.parquet.ParquetFile(
                file,
                metadata=self._metadata,
                buffer_size=self._buffer,
                pre_buffer=False,
                page_checksum_verification=True,  # of pages that carry one
            ) as opened,
        ):
            yield opened


class RowTable:
    """A file of results by row, as Parquet or CSV; small parts are joined into groups of a
    reasonable size. Complete when it is closed."""

    def __init__(self, file: Path, blank: Mapping[str, Any]) -> None:
        """`blank`: the columns without rows, whose names and types are those of the table."""
        self._schema = pa.table(dict(blank)).schema.with_metadata({OWN: b"results by row"})
        self._file = file.open("wb")  # PyArrow itself opens no names but those in UTF-8
        if file.suffix == ".csv":
            self._writer: Any = pa.csv.CSVWriter(self._file, self._schema)
        else:
            self._writer = pa.parquet.ParquetWriter(
                self._file, self._schema, use_dictionary=["label"]
            )
        self._waiting: list[pa.Table] = []

    def append(self, columns: Mapping[str, Any]) -> None:
        """Append rows: an array for each column."""
        self._waiting.append(pa.table(dict(columns), schema=self._schema))
        if sum(map(len, self._waiting)) >= min(ROWS, CELLS // len(columns)):
            self.finish()

    def finish(self) -> None:
        """Write the rows that wait for others, as a group of their own."""
        if self._waiting:
            self._writer.write_table(pa.concat_tables(self._waiting).combine_chunks())
        self._waiting = []

    def close(self) -> None:
        """Write the end of the file and close it."""
        with self._file:
            self._writer.close()


def lists(values: NDArray[Any], counts: NDArray[Any]) -> pa.Array:
    """Return an array of lists, from all their values one after the other and the length of each
    list."""
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(values))
