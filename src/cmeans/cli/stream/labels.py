"""Labels of a stream: a line of CSV for each sound row."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Self

import numpy as np
from numpy.typing import NDArray

from ...data.arrow_library import pa
from ...storage.atomic import flush_names
from ...storage.overwriting import is_plain_file
from ..errors import InputError
from ..output.results import refuse_unwritable
from ..output.standard_streams import NAME, silence

STDOUT = Path("-")
NOTHING: Mapping[str, Any] = {}
_WITHOUT_NAMES = pa.csv.WriteOptions(include_header=False)


@dataclass(frozen=True)
class Written:
    """A file of labels as a state records it."""

    name: str
    bytes: int
    memberships: bool


class LabelWriter:
    """Writer of labels. A file is opened with the first label; until then one of an earlier run is
    unchanged."""

    def __init__(
        self,
        out: Path,
        memberships: bool,
        continued: tuple[Path | None, Written | None] | None = None,
    ) -> None:
        """`continued`: the file of the state that a run is resumed from, and its labels; a file
        that holds them is continued."""
        self.to_file = out != STDOUT
        self._out, self._memberships, self._resumes = out, memberships, continued is not None
        self._file: BinaryIO | None = None
        self._size = 0  # bytes of the file that are kept or were written
        if not self.to_file and sys.stdout is None:
            raise InputError(f"{NAME}: is closed; give --out FILE.")
        if self.to_file:
            self._check()
            if continued is not None and out.exists() and out.stat().st_size:
                self._size = self._known(*continued)

    @property
    def written(self) -> Written | None:
        """Record for the state to continue the file from; None where there is no file."""
        return Written(self._out.name, self._size, self._memberships) if self.to_file else None

    def write(
        self,
        rows: NDArray[np.int64],
        labels: NDArray[Any],
        memberships: NDArray[Any] | None,
        first: Mapping[str, Any] = NOTHING,
        last: Mapping[str, Any] = NOTHING,
    ) -> None:
        """The labels (b,) of rows with these numbers (b,), memberships (b, c) if requested, and
        other columns before and after them; readers get them at once."""
        columns = {"row": rows, **first, "label": labels.astype(np.int32), **last}
        if memberships is not None:
            columns |= {
                f"u{j}": column for j, column in enumerate(np.ascontiguousarray(memberships.T))
            }
        text = pa.BufferOutputStream()
        pa.csv.write_csv(pa.table(columns), text, _WITHOUT_NAMES)
        with self._named():
            if self._file is None:
                self._refuse_other_columns(columns)
                goes_on = self._goes_on()
                self._file = self._opened()
                self._put(b"" if goes_on else f"{','.join(columns)}\n".encode())
            self._put(bytes(text.getvalue()))
            self._file.flush()

    def settle(self) -> None:
        """Return when everything is on the disk."""
        if self._file is not None and self.to_file:
            with self._named():
                os.fsync(self._file.fileno())
                flush_names(self._out.parent)  # its own is new, maybe

    def finish(self) -> None:
        """End the labels of this run: those of a file that the state does not record go, also where
        nothing was added."""
        if self._file is None and self._size:
            self._file = self._opened()

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
            raise OSError(
                error.errno, error.strerror, str(self._out) if self.to_file else NAME
            ) from error

    def _put(self, data: bytes) -> None:
        assert self._file is not None
        self._file.write(data)
        self._size += len(data)

    def _opened(self) -> BinaryIO:
        if not self.to_file:
            return sys.stdout.buffer
        file = self._out.open("r+b" if self._size else "wb")
        file.truncate(self._size)
        file.seek(self._size)
        return file

    def _goes_on(self) -> bool:
        """True where the names of the columns are written already."""
        if not self._resumes or self.to_file:
            return self._size > 0
        number = plain_file(sys.stdout)
        return number is not None and os.fstat(number).st_size > 0

    def _refuse_other_columns(self, columns: Mapping[str, Any]) -> None:
        """Refuse to go on with a file of other columns."""
        if not self._size:
            return
        with self._out.open(encoding="utf-8") as file:
            began = file.readline().rstrip("\n")
        if began != (now := ",".join(columns)):
            raise InputError(
                f"--out {self._out}: was begun with the columns {began}, and now they are {now}; "
                "go on with the same options, or name a new file."
            )

    def _check(self) -> None:
        if self._out.suffix != ".csv":
            raise InputError(
                f"--out {self._out}: unknown ending; give a .csv file, or - for standard output."
            )
        if self._out.is_dir():
            raise InputError(
                f"--out {self._out}: is a folder; give a file, e.g. {self._out / 'labels.csv'}."
            )
        if self._out.exists() and not self._out.is_file():
            raise InputError(
                f"--out {self._out}: is no plain file; use - and let the shell send that there."
            )
        refuse_unwritable("--out", self._out, in_place=self._out.exists(), grows=True)

    def _known(self, state: Path | None, former: Written | None) -> int:
        """Return the size of the labels that a state records; InputError where this file does not
        hold them."""
        if former is None or former.name != self._out.name:
            went = (
                "the labels so far went to "
                f"{'standard output' if former is None else former.name}, by the state {state}"
            )
            raise InputError(
                f"--out {self._out}: exists, but {went}; name that, or a file that does not exist."
            )
        if former.memberships != self._memberships:
            began = "with" if former.memberships else "without"
            raise InputError(
                f"--memberships: {self._out} was begun {began} them; go on with it {began} them, "
                "or name a new file."
            )
        size = self._out.stat().st_size
        if size < former.bytes:
            raise InputError(
                f"--out {self._out}: has {size:,} bytes, but the state had written "
                f"{former.bytes:,}; it is another file now."
            )
        return former.bytes


def plain_file(stream: Any) -> int | None:
    """Return the descriptor of a standard stream that the shell redirected to a file, else None."""
    try:
        number = int(stream.fileno())
    except (AttributeError, OSError, ValueError):  # closed, or no stream of the system
        return None
    return number if is_plain_file(number) else None
