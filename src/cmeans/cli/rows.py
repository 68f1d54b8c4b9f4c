"""The rows of a file, whatever its format: which columns, which weights, which type of number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .arrays import open_npy, open_npz
from .columns import Header, Label, shortened
from .errors import InputError
from .tables import CsvSource, ParquetSource


class Source(Protocol):
    """An opened file: its columns are known, its rows not yet read."""

    header: Header

    def read(self, picked: Sequence[int], weight: int | None, dtype: DTypeLike) -> tuple[Any, NDArray[np.float64] | None]:
        """Rows (n, d) of the picked columns, and the weights (n,) of one column."""
        ...


@dataclass(frozen=True)
class Wish:
    """What the user wants of a file."""

    file: Path
    columns: tuple[str, ...] = ()  # as typed: names, positions, ranges, lists with commas; none means all
    weight: str | None = None
    array: str | None = None  # which array of an npz
    dtype: str | None = None  # None: float32 where every column is, else float64
    header: bool | None = None  # whether the first line of a CSV holds names; None: look


@dataclass(frozen=True)
class Rows:
    """What came out of the file."""

    x: Any  # (n, d) array, or a CSR array
    columns: tuple[Label, ...]
    weight: NDArray[np.float64] | None = None


def read_rows(wish: Wish, known: Sequence[Label] | None = None) -> Rows:
    """The rows that were asked for. `known`: the columns of a model, taken when `wish` names none."""
    source, has_weights = _open(wish)
    header = source.header
    weight = None if wish.weight is None or has_weights else weight_column(header, wish.weight)
    picked = picked_columns(header, wish, weight, known)
    keep = "float32" if all(header.fields[at].single for at in picked) else "float64"
    x, weights = source.read(picked, weight, np.dtype(wish.dtype or keep))
    return Rows(x, header.labels(picked), weights)


def picked_columns(header: Header, wish: Wish, weight: int | None, known: Sequence[Label] | None = None) -> list[int]:
    """The columns that are data: those the user names, else those of a model, else all but the weight."""
    if wish.columns:
        picked = header.pick(wish.columns)
        if weight in picked:
            raise InputError(f"--weight: column {wish.weight!r} is also in --columns; it is a weight or it is data.")
    elif known is not None:
        picked = _as_in_model(header, known)
    else:
        picked = header.every(leave_out=() if weight is None else (weight,))
    if known is not None and len(picked) != len(known):
        raise InputError(f"--columns: names {len(picked)} columns, but the model was fitted on {len(known)} ({shortened(known)}).")
    return picked


def weight_column(header: Header, word: str) -> int:
    try:
        at = header.position(word)
    except InputError as error:
        raise InputError(f"--weight {word}: {error}") from error
    if not header.fields[at].numeric:
        raise InputError(f"--weight {word}: the column holds {header.fields[at].kind}, no numbers.")
    return at


def _open(wish: Wish) -> tuple[Source, bool]:
    """The file by its first bytes or its ending, and whether it keeps the weights beside the rows."""
    file = wish.file
    if not file.exists():
        raise InputError(f"{file}: no such file.")
    if file.is_dir():
        raise InputError(f"{file}: is a folder; give one file.")
    with file.open("rb") as opened:
        start = opened.read(6)
    kind = _kind(file, start)
    if wish.array is not None and kind != "npz":
        raise InputError(f"--array {wish.array}: only npz files hold several arrays, and {file} is {kind}.")
    if wish.header is not None and kind != "csv":
        raise InputError(f"--header, --no-header: only CSV files need to be told, and {file} is {kind}.")
    match kind:
        case "parquet":
            return ParquetSource(file), False
        case "npy":
            return open_npy(file), False
        case "npz":
            return open_npz(file, wish.array, wish.weight)
        case _:
            return CsvSource(file, wish.header), False


def _kind(file: Path, start: bytes) -> str:
    if not start:
        raise InputError(f"{file}: is empty.")
    for kind, magic in (("parquet", b"PAR1"), ("npy", b"\x93NUMPY"), ("npz", b"PK\x03\x04")):
        if start.startswith(magic):
            return kind
    endings = {ending.lower() for ending in file.suffixes[-2:]}
    for kind, known in (("parquet", {".parquet", ".pq"}), ("npy", {".npy"}), ("npz", {".npz"}), ("csv", {".csv", ".tsv", ".txt", ".data"})):
        if endings & known:
            return kind
    raise InputError(f"{file}: unknown kind of file; known are Parquet, CSV (.csv, .tsv, .txt), npy and npz.")


def _as_in_model(header: Header, known: Sequence[Label]) -> list[int]:
    """The columns a model was fitted on, found again by name, or by position where neither side has names."""
    labels = [field.label for field in header.fields]
    missing = [label for label in known if label not in labels]
    if not missing:
        picked = [labels.index(label) for label in known]
        header.refuse_text(picked)
        return picked
    if header.named == any(isinstance(label, str) for label in known):
        advice = "Name the right ones with --columns."
        raise InputError(f"{header.where}: lacks {shortened(missing)} of the model; it has {shortened(labels)}. {advice}")
    with_names, without = ("the file", "the model") if header.named else ("the model", "the file")
    advice = f"say with --columns which columns stand for {shortened(known)}, in that order."
    raise InputError(f"{header.where}: {with_names} names its columns, {without} does not; {advice}")
