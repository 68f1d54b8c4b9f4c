"""Files that a path means, and the kind of each."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np

from ..addresses import PathWord, below, matches, place
from ..containers import is_table
from ..row_source import RowsError, as_source
from .archives import text_in
from .unchanged_files import StampedFile, naming
from .vectors import VECTORS

# their first bytes
PARQUET = b"PAR1"
NPY = b"\x93NUMPY"
ZIP = b"PK\x03\x04"
IPC_FILE = b"ARROW1"
IPC_STREAM = b"\xff\xff\xff\xff"
_MAGIC = {PARQUET: "parquet", NPY: "npy", ZIP: "npz", IPC_FILE: "arrow", IPC_STREAM: "arrow"}
# of files and, but for those that notes have as well, of what is looked for in a folder
_ENDINGS = {
    "parquet": {".parquet", ".pq"},
    "arrow": {".arrow", ".arrows", ".feather", ".ipc"},
    "npy": {".npy"},
    "npz": {".npz"},
    "csv": {".csv", ".tsv", ".txt", ".data"},
    **{kind: {f".{kind}"} for kind in VECTORS},
}
_NOTES = {".txt", ".data"}
_PICTURES = {"png", "jpg", "jpeg", "gif", "bmp", "webp", "tif", "tiff"}


def know_format(kind: str, endings: Iterable[str], magic: bytes | None = None) -> None:
    """Know files of a kind by these endings, such as ".orc", and by their first bytes, of which ten
    are read."""
    _ENDINGS[kind] = set(endings)
    if magic is not None:
        _MAGIC[magic] = kind


@dataclass(frozen=True)
class Compression:
    """A way of compressing files."""

    name: str  # as pyarrow spells it, where it knows it
    ending: str | None  # by which pyarrow knows that it must unpack; None: it does not
    cat: str  # the command that unpacks


PACKED = {  # by their first bytes
    b"\x1f\x8b": Compression("gzip", ".gz", "zcat"),
    **{b"BZh%d1AY&SY" % level: Compression("bz2", ".bz2", "bzcat") for level in range(1, 10)},
    b"\x28\xb5\x2f\xfd": Compression("zstd", ".zst", "zstdcat"),
    b"\x04\x22\x4d\x18": Compression("lz4", ".lz4", "lz4cat"),
    b"\xfd7zXZ\0": Compression("xz", None, "xzcat"),
}


def found(path: PathWord | Sequence[PathWord]) -> list[Path]:
    """The files of a path, a pattern, a folder, or of a list of them, in that order; those of one
    word in the order of their names."""
    if not isinstance(path, (str, os.PathLike)):
        _refuse_no_path(path)
        files = [file for word in path for file in found(word)]
        if not files:
            raise RowsError("path=[]: names no file.")
        return files
    file = place(path)
    if file.is_dir():
        return _inside(file)
    if file.exists():
        return [file]
    if not glob.has_magic(str(file)):
        pipe = "; cmeans stream reads what comes by a pipe" if str(file) == "-" else ""
        raise RowsError(f"{file}: no such file{pipe}.")
    matching = sorted(matches(file))
    _refuse_loops(str(file), matching)
    files = [
        file for match in matching if not match.name.startswith(("_", ".")) for file in found(match)
    ]
    if not files:
        raise RowsError(f"{file}: matches no file.")
    return files


def _refuse_no_path(given: Any) -> None:
    """Refuse rows in memory, and all else that is no sequence of paths."""
    name = type(given).__name__
    if hasattr(given, "shape") and not isinstance(given, type):
        frame = "X" if is_table(given) else "pandas.DataFrame(X)"
        raise RowsError(
            f"a {name} is no path; estimators take it as it is, such as cmeans.cluster(X) and "
            "FuzzyCMeans(3).fit(X); where its columns are to be recognised, encoded or scaled, "
            f"take cmeans.read_table({frame})."
        )
    if isinstance(given, (bytes, Mapping)) or not isinstance(given, Iterable):
        frame = "X.collect()" if hasattr(given, "collect") else "a data frame"
        raise RowsError(f"a {name} is no path; give a path, a list of paths, or {frame}.")


def files_of(x: Any) -> Sequence[PathWord]:
    """Return the files that rows come from, as far as known: those of a path, of opened files, of a
    memory map or a part of one."""
    if isinstance(x, (str, os.PathLike)):
        return found(x)
    source = as_source(x)
    if source is not None:
        return source.files
    while isinstance(x, np.ndarray):
        if isinstance(x, np.memmap) and x.filename is not None:
            return (os.fspath(x.filename),)
        x = x.base
    return ()


def kind_of_file(file: Path) -> str:
    """Return the kind of a file by its first bytes, else by its ending, as of vectors."""
    StampedFile.of(file)  # refuses what must not even be opened, a pipe for one
    start = first_bytes(file)
    if not start:
        raise RowsError(f"{file}: is empty.")
    # whose first bytes are numbers, which may be those that other files begin with
    if (suffix := file.suffix.lower().removeprefix(".")) in VECTORS:
        return suffix
    kind, packer = kind_of_bytes(start), packer_of(start)
    if kind is not None:
        return "csv" if kind == "npz" and text_in(file) is not None else kind
    named = _by_ending(file)
    unread = named not in (None, "csv")  # x.fvecs.gz: only CSV is unpacked as it is read
    if packer is not None and (unread or packer.ending != file.suffix):
        name = (
            ""
            if unread or packer.ending is None
            else f", or give it a name that ends in {packer.ending} if it is CSV"
        )
        raise RowsError(
            f"{file}: is packed by {packer.name}; unpack it first ({packer.cat} FILE > NEW){name}."
        )
    if named is None and suffix in _PICTURES:
        raise RowsError(
            f"{file}: is a picture; its pixels become rows, as the documentation shows on its page "
            "'Images: few colours, and regions'."
        )
    if named is None:
        raise RowsError(
            f"{file}: unknown kind of file; known are Parquet, CSV (.csv, .tsv, .txt), Arrow, npy, "
            f"npz, {', '.join(VECTORS)}."
        )
    return named


def first_bytes(file: Path) -> bytes:
    with naming(file), file.open("rb") as opened:
        return opened.read(10)


def kind_of_bytes(start: bytes) -> str | None:
    """Return the kind of a file that begins with these bytes; None where they do not tell."""
    return next((kind for magic, kind in _MAGIC.items() if start.startswith(magic)), None)


def packer_of(start: bytes) -> Compression | None:
    """Return how a file that begins with these bytes is compressed, if it is."""
    return next((packer for magic, packer in PACKED.items() if start.startswith(magic)), None)


def keys_of(file: Path) -> dict[str, str]:
    """The columns that folders named key=value give a file."""
    pairs = (part.partition("=") for part in file.parts[:-1])
    return {key: unquote(value) for key, equals, value in pairs if key and equals}


def _refuse_loops(pattern: str, matching: Sequence[Path]) -> None:
    """Refuse what comes through a link to a folder that the link itself lies in: `**` would find
    the same files again and again there."""
    for folder in sorted({folder for file in matching for folder in file.parents}):
        if folder.is_symlink():
            inside, target = os.path.realpath(folder.parent), os.path.realpath(folder)
            if os.path.commonpath([inside, target]) == target:
                raise RowsError(
                    f"{pattern}: {folder} is a link to a folder that it lies in; remove it, or "
                    "give a pattern without it."
                )


def _by_ending(file: Path) -> str | None:
    endings = {ending.lower() for ending in file.suffixes[-2:]}
    return next((kind for kind, known in _ENDINGS.items() if endings & known), None)


def _inside(folder: Path) -> list[Path]:
    """The files of rows in a folder and the folders in it; hidden ones are those that somebody is
    still writing."""
    files = dict[str, list[Path]]()
    for file in sorted(below(folder)):
        kind = None if file.suffix.lower() in _NOTES else _by_ending(file)
        if kind is not None:
            files.setdefault(kind, []).append(file)
    if not files:
        raise RowsError(
            f"{folder}: holds no files of rows; known are .parquet, .arrow, .csv, .npy, .npz and "
            f".{', .'.join(VECTORS)}."
        )
    if len(files) > 1:
        pattern = folder / "**" / f"*{next(iter(files.values()))[0].suffix}"
        raise RowsError(
            f"{folder}: holds files of several kinds ({', '.join(sorted(files))}); give a pattern, "
            f"e.g. {pattern}."
        )
    [alike] = files.values()
    return alike
