"""Large arrays in files of their own, beside a file that names them: written and read a few rows at
a time, each with its digest."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .atomic import write_atomically

MAGIC = b"cmeans\0\1"  # the first bytes of such a file
_PIECE = 2**24  # bytes that are written or read at a time


@dataclass(frozen=True)
class StoredArray:
    """An array in a file, of raw numbers after `MAGIC`."""

    file: str  # its name
    rows: int
    columns: int  # of each row: 0 for an array of one axis
    dtype: str
    digest: str

    @classmethod
    def read(cls, packed: Mapping[str, Any]) -> StoredArray:
        """Return what `asdict` has made of one; ValueError where it is none."""
        kinds = {"file": str, "rows": int, "columns": int, "dtype": str, "digest": str}
        if set(packed) != set(kinds) or not all(
            type(packed[name]) is kind for name, kind in kinds.items()
        ):
            raise ValueError("what it says of an array beside it is damaged")
        if Path(packed["file"]).name != packed["file"]:
            raise ValueError("an array lies elsewhere")
        return cls(**packed)

    def packed(self) -> dict[str, Any]:
        """The same in values that JSON can hold."""
        return asdict(self)

    def read_into(self, folder: Path, out: npt.NDArray[Any]) -> None:
        """Fill an array of the same shape and type; ValueError where the file has another, or is
        not as it was written."""
        digest, step = hashlib.sha256(), _rows_at_once(out)
        file = folder / self.file
        if (self.rows, self.columns, self.dtype) != _described(out):
            raise ValueError(
                f"{file.name} has {self.rows} x {self.columns} {self.dtype}, where "
                f"{_described(out)} belong"
            )
        with file.open("rb") as opened:
            known = opened.read(len(MAGIC)) == MAGIC
            for start in range(0, len(out), step):
                size = out[start : start + step].nbytes
                data = opened.read(size) if known else b""
                if len(data) != size:
                    raise ValueError(f"{file.name} is truncated, or no such file")
                digest.update(data)
                out[start : start + step] = np.frombuffer(data, out.dtype).reshape(
                    out[start : start + step].shape
                )
        if digest.hexdigest() != self.digest:
            raise ValueError(f"{file.name} holds something else than was written")


def write_array(beside: Path, array: npt.NDArray[Any]) -> StoredArray:
    """Write an array to a file that does not exist, beside another; WriteError where that cannot
    be."""
    number = 1 + max(
        (int(path.suffix[1:].removeprefix("rows-")) for path in _arrays_of(beside)), default=0
    )
    file = beside.with_name(f"{beside.name}.rows-{number}")
    digest = hashlib.sha256()
    step = _rows_at_once(array)

    def write(temporary: str) -> None:
        with open(temporary, "wb") as opened:
            opened.write(MAGIC)
            for start in range(0, len(array), step):
                data = np.ascontiguousarray(array[start : start + step]).tobytes()
                digest.update(data)
                opened.write(data)

    write_atomically(file, write)
    return StoredArray(file.name, *_described(array), digest.hexdigest())


def remove_arrays(beside: Path, kept: Collection[str]) -> None:
    """Remove the arrays beside a file, but for those with these names."""
    for path in _arrays_of(beside):
        with path.open("rb") as opened:
            ours = opened.read(len(MAGIC)) == MAGIC
        if ours and path.name not in kept:
            path.unlink()


def _arrays_of(beside: Path) -> list[Path]:
    """Files that have such a name, whether or not they are such files."""
    name = re.compile(re.escape(beside.name) + r"\.rows-\d{1,9}")
    return [path for path in beside.parent.iterdir() if name.fullmatch(path.name)]


def _described(array: npt.NDArray[Any]) -> tuple[int, int, str]:
    return len(array), array.shape[1] if array.ndim == 2 else 0, array.dtype.name


def _rows_at_once(array: npt.NDArray[Any]) -> int:
    return max(1, _PIECE // max(1, array.itemsize * int(np.prod(array.shape[1:]))))
