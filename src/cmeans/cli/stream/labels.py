"""Labels of a stream: a line, or a record, for each sound row, as CSV or as an Arrow stream."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Self

import numpy as np
from numpy.typing import NDArray

from ...data.files.arrow import pa
from ...storage.overwriting import is_plain_file
from ..errors import InputError
from ..output.results import refuse_unwritable
from ..output.standard_streams import NAME, silence

STDOUT = Path("-")
_END_OF_ARROW = b"\xff\xff\xff\xff\0\0\0\0"


@dataclass(frozen=True)
class Written:
    """A file of labels as a state records it."""

    name: str
    bytes: int
    memberships: bool


class LabelWriter:
    """Writer of labels. A file is opened with the first label; until then one of an earlier run is unchanged."""

    def __init__(self, out: Path, memberships: bool, former: Written | None = None, state: Path | None = None) -> None:
        """`state`: the file that a run is resumed from; `former`: its labels. A file that holds them is continued from there."""
        self.to_file = out != STDOUT
        self._out, self._memberships, self._state = out, memberships, state
        self._arrow = out.suffix == ".arrow"
        self._file: BinaryIO | None = None
        self._kept = 0  # bytes of the file that are kept
        self._size = 0  # without the mark of the end
        self._finished = False
        if not self.to_file and sys.stdout is None:
            raise InputError(f"{NAME}: is closed; give --out FILE.")
        if self.to_file:
            self._check()
            if state is not None and out.exists() and out.stat().st_size:
                self._kept = self._known(former)

    @property
    def written(self) -> Written | None:
        """Record for the state to continue the file from; None where there is no file."""
        return Written(self._out.name, self._size or self._kept, self._memberships) if self.to_file else None

    def write(self, rows: NDArray[np.int64], labels: NDArray[Any], memberships: NDArray[Any] | None) -> None:
        """The labels (b,) of rows with these numbers (b,), and memberships (b, c) if requested; readers get them at once."""
        columns = {"row": rows, "label": labels.astype(np.int32)}
        if memberships is not None:
            columns |= {f"u{j}": column for j, column in enumerate(np.ascontiguousarray(memberships.T))}
        batch = pa.record_batch(list(map(pa.array, columns.values())), names=list(columns))
        with self._named():
            if self._file is None:
                self._file = self._opened()
                self._put(b"" if self._goes_on() else _head(batch.schema, self._arrow))
            self._put(_body(batch, self._arrow))
            self._file.flush()

    def settle(self) -> None:
        """Return when everything is on the disk."""
        if self._file is not None and self.to_file:
            with self._named():
                os.fsync(self._file.fileno())

    def finish(self) -> None:
        """End the labels of this run; a later run that continues them removes the end mark."""
        if self._file is None and self._kept:
            self._file = self._opened()  # truncates labels that the state does not record, also where nothing was added
        if self._file is not None and self._arrow and not self._finished:
            with self._named():
                self._file.write(_END_OF_ARROW)
                self._file.flush()
            self._finished = True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None and self.to_file:
            with suppress(OSError):  # was reported already
                self._file.close()

    @contextmanager
    def _named(self) -> Iterator[None]:
        """Name the file in errors of the system inside the block."""
        try:
            yield
        except OSError as error:
            if not self.to_file:
                silence(sys.stdout)
            raise OSError(error.errno, error.strerror, str(self._out) if self.to_file else NAME) from error

    def _put(self, data: bytes) -> None:
        assert self._file is not None
        self._file.write(data)
        self._size += len(data)

    def _opened(self) -> BinaryIO:
        if not self.to_file:
            return sys.stdout.buffer
        if not self._kept:
            return self._out.open("wb")
        file = self._out.open("r+b")
        file.truncate(self._kept)
        file.seek(self._kept)
        self._size = self._kept
        return file

    def _goes_on(self) -> bool:
        """True where the head is written already."""
        if self._state is None or self.to_file:
            return self._kept > 0
        number = plain_file(sys.stdout)
        return number is not None and os.fstat(number).st_size > 0

    def _check(self) -> None:
        if self._out.suffix not in (".csv", ".arrow"):
            raise InputError(f"--out {self._out}: unknown ending; known are .csv and .arrow (an Arrow stream), and - for standard output.")
        if self._out.is_dir():
            raise InputError(f"--out {self._out}: is a folder; give a file, e.g. {self._out / 'labels.csv'}.")
        if self._out.exists() and not self._out.is_file():
            raise InputError(f"--out {self._out}: is no plain file; use - and let the shell send that there.")
        refuse_unwritable("--out", self._out, in_place=self._out.exists())

    def _known(self, former: Written | None) -> int:
        if former is None or former.name != self._out.name:
            where = "standard output" if former is None else former.name
            raise InputError(
                f"--out {self._out}: exists, but the labels so far went to {where}, by the state {self._state}; name that, or a file that "
                "does not exist."
            )
        if former.memberships != self._memberships:
            began = "with" if former.memberships else "without"
            raise InputError(f"--memberships: {self._out} was begun {began} them; go on with it {began} them, or name a new file.")
        size = self._out.stat().st_size
        if size < former.bytes:
            raise InputError(f"--out {self._out}: has {size:,} bytes, but the state had written {former.bytes:,}; it is another file now.")
        return former.bytes


def _head(schema: pa.Schema, arrow: bool) -> bytes:
    return bytes(schema.serialize()) if arrow else f"{','.join(schema.names)}\n".encode()


def _body(batch: pa.RecordBatch, arrow: bool) -> bytes:
    if arrow:
        return bytes(batch.serialize())
    text = pa.BufferOutputStream()
    with pa.csv.CSVWriter(text, batch.schema, write_options=pa.csv.WriteOptions(include_header=False)) as writer:
        writer.write_batch(batch)
    return bytes(text.getvalue())


def plain_file(stream: Any) -> int | None:
    """Return the descriptor of a standard stream that the shell redirected to a file, else None."""
    try:
        number = int(stream.fileno())
    except (AttributeError, OSError, ValueError):  # closed, or no stream of the system
        return None
    return number if is_plain_file(number) else None
