"""Arrays of numbers that lie in files as they are: their layout, their rows, files of them."""

from __future__ import annotations

import errno
import math
import sys
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from tokenize import TokenError
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ...runtime.user_warnings import one_line
from ..blocks import spans
from ..narrow_rows import in_single, is_bfloat16, is_narrow
from ..packed_bits import check_packed, unpacked
from ..row_source import RowArray, RowsError, StoredRows
from .claims import check_columns
from .schema import ColumnChoice, Field, Header, Spelling
from .tables import check_finite, weights_of
from .unchanged_files import StampedFile

PIECE_BYTES = 2**22  # bytes that are converted or decompressed at a time


_OF_PACKERS: list[type[Exception]] = []  # of zip members, as far as this Python has them
with suppress(ImportError):
    from lzma import LZMAError

    _OF_PACKERS.append(LZMAError)
if sys.version_info >= (3, 14):
    with suppress(ImportError):
        from compression.zstd import ZstdError

        _OF_PACKERS.append(ZstdError)


# what NumPy, SciPy and zipfile raise for files that are not what they say: of other types,
# versions, lengths; encrypted
_DAMAGED: tuple[type[Exception], ...] = (
    *(
        ValueError,
        TypeError,
        AttributeError,
        LookupError,
        ArithmeticError,
        EOFError,
        SyntaxError,
        TokenError,
    ),
    *(NotImplementedError, RuntimeError, zipfile.BadZipFile, zlib.error),
    *_OF_PACKERS,
)


class Bytes(Protocol):
    """A source of bytes at offsets."""

    def read_into(self, *parts: tuple[NDArray[Any], int]) -> None:
        """Fill contiguous arrays with the bytes from an offset on, each its own."""
        ...


@dataclass(frozen=True)
class RawFormat:
    """Layout of the numbers of an array."""

    offset: int  # bytes before the first one
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    by_columns: bool = False

    @property
    def stop(self) -> int:
        """One past the last byte."""
        return self.offset + math.prod(self.shape) * self.dtype.itemsize

    def read(self, source: Bytes, picked: tuple[int, ...], rows: slice, out: NDArray[Any]) -> None:
        """Read some columns of some rows into `out` (b, picked)."""
        n, d = self.shape
        wide = self.dtype.itemsize
        if not self.by_columns and out.dtype == self.dtype and picked == tuple(range(d)):
            source.read_into((out, self.offset + rows.start * d * wide))
            return
        for start, stop in spans(
            len(out), max(1, PIECE_BYTES // ((len(picked) if self.by_columns else d) * wide))
        ):
            begin = rows.start + start
            if self.by_columns:
                columns = np.empty((len(picked), stop - start), self.dtype)
                source.read_into(
                    *zip(
                        columns,
                        (self.offset + (at * n + begin) * wide for at in picked),
                        strict=True,
                    )
                )
                raw = columns.T
            else:
                whole = np.empty((stop - start, d), self.dtype)
                source.read_into((whole, self.offset + begin * d * wide))
                raw = whole[:, list(picked)]
            # what overflows becomes infinite, and callers check it; a NaN may be a signalling one
            with np.errstate(over="ignore", invalid="ignore"):
                out[start:stop] = in_single(raw)


class ArrayBytes(Protocol):
    """An array in a file, or one of those in it."""

    @property
    def file(self) -> StampedFile: ...

    @property
    def layout(self) -> RawFormat: ...

    def bytes(self) -> tuple[Bytes, RawFormat]:
        """Return its bytes and their layout."""
        ...


@dataclass(frozen=True)
class PackedFormat:
    """Layout of packed bits, eight of which lie in each byte of an array."""

    within: RawFormat  # of the bytes
    n_bits: int
    dtype = np.dtype(np.uint8)  # of a bit

    @property
    def shape(self) -> tuple[int, ...]:
        return self.within.shape[0], self.n_bits

    def read(self, source: Bytes, picked: tuple[int, ...], rows: slice, out: NDArray[Any]) -> None:
        """Read some bits of some rows into `out` (b, picked)."""
        every, wide = tuple(range(self.within.shape[1])), self.within.shape[1]
        chosen = slice(None) if picked == tuple(range(self.n_bits)) else list(picked)
        for start, stop in spans(len(out), max(1, PIECE_BYTES // (8 * wide))):
            packed = np.empty((stop - start, wide), self.within.dtype)
            part = slice(rows.start + start, rows.start + stop)
            self.within.read(source, every, part, packed)
            out[start:stop] = unpacked(packed, self.n_bits)[:, chosen]


@dataclass(frozen=True)
class PackedArray:
    """An array of bytes, read as bits."""

    within: ArrayBytes
    n_bits: int

    @property
    def file(self) -> StampedFile:
        return self.within.file

    @property
    def layout(self) -> PackedFormat:
        return PackedFormat(self.within.layout, self.n_bits)

    def bytes(self) -> tuple[Bytes, PackedFormat]:
        """Return its bytes and their layout."""
        source, layout = self.within.bytes()
        return source, PackedFormat(layout, self.n_bits)


class RawRows(StoredRows):
    """Some columns of an array in a file, converted as they are read."""

    def __init__(
        self, source: Bytes, layout: RawFormat | PackedFormat, choice: ColumnChoice
    ) -> None:
        super().__init__(choice.where, choice.columns, choice.dtype, layout.shape[0])
        self._source, self._layout, self._choice = source, layout, choice
        if choice.weight is not None:
            weights = np.empty((len(self), 1))
            layout.read(source, (choice.weight,), slice(0, len(self)), weights)
            self.weight = weights_of(weights[:, 0], 0, choice)

    def memory(self, n_threads: int) -> int:
        return 2 * PIECE_BYTES * n_threads

    def _read(self, start: int, stop: int) -> RowArray:
        stop = min(stop, len(self))
        out = np.empty((max(0, stop - start), self.shape[1]), self.dtype)
        self._layout.read(self._source, self._choice.picked, slice(start, stop), out)
        check_finite(out, start, self._choice)
        return out


@contextmanager
def readable(where: str, kind: str) -> Iterator[None]:
    """Turn errors of reading a NumPy file into one line about that file."""
    try:
        yield
    except RowsError:
        raise
    except OSError as error:
        if error.errno is not None and error.errno != errno.EINVAL:
            error.filename = error.filename or where
            raise
        why = one_line(error) if error.errno is None else "it says that bytes lie where none are"
        raise RowsError(f"{where}: cannot be read as {kind}; {why}.") from error
    except _DAMAGED as error:
        raise RowsError(
            f"{where}: cannot be read as {kind}; it is truncated or not such a file "
            f"({one_line(error, most=300)})."
        ) from error


class ArrayFile:
    """A dense array of rows; its columns have positions, no names."""

    def __init__(
        self,
        array: ArrayBytes | PackedArray,
        kind: str,
        spell: Spelling,
        aside: tuple[str, NDArray[Any]] | None = None,
    ) -> None:
        """`aside`: name and values of a separate array of weights."""
        self.kind, self._array, self._aside = kind, array, aside
        where = str(array.file.path)
        with readable(where, kind):
            layout = array.layout
        if len(layout.shape) != 2:
            raise RowsError(
                f"{where}: holds an array of shape {layout.shape}; rows and columns are needed."
            )
        self.n_rows, d = layout.shape
        if aside is not None and aside[1].shape != (self.n_rows,):
            raise RowsError(
                f"{where}: the weights {aside[0]!r} have shape {aside[1].shape}, but there are "
                f"{self.n_rows} rows."
            )
        self.header = numbered_header(where, layout.dtype, d, spell)

    @property
    def aside(self) -> str | None:
        return None if self._aside is None else self._aside[0]

    def of_bits(self, n_bits: int) -> ArrayFile:
        """Return the same file with a column for each bit of its rows of bytes."""
        array, spell, where = self._array, self.header.spell, str(self._array.file.path)
        assert not isinstance(array, PackedArray), "bits are unpacked once"
        layout, spelt = array.layout, spell("bits", n_bits)
        check_packed(layout.dtype, layout.shape[1], n_bits, where, spelt)
        return ArrayFile(PackedArray(array, n_bits), self.kind, spell, self._aside)

    def stored(self, choice: ColumnChoice) -> StoredRows:
        """Return the rows without reading them into memory."""
        with readable(choice.where, self.kind):
            source, layout = self._array.bytes()
        rows = RawRows(source, layout, choice)
        if self._aside is not None:
            rows.weight = weights_of(self._aside[1], 0, replace(choice, weight_label=self.aside))
        return rows


def numbered_header(where: str, dtype: np.dtype[Any], d: int, spell: Spelling) -> Header:
    check_columns(where, d)
    half = is_bfloat16(dtype)
    # in either byte order
    single = is_narrow(dtype) or (dtype.kind == "f" and dtype.itemsize <= 4)
    name = "bfloat16" if half else dtype.name
    return Header(
        where,
        tuple(Field(at, name, half or dtype.kind in "biuf", single) for at in range(d)),
        spell,
    )
