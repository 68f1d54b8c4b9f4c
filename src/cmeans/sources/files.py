"""Which files a path means, and of which kind each is."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import unquote

from ..stored import RowsError

PathWord = str | os.PathLike[str]
_MAGIC = {
    b"PAR1": "parquet",
    b"\x93NUMPY": "npy",
    b"PK\x03\x04": "npz",
    b"ARROW1": "arrow",
    b"\xff\xff\xff\xff": "arrow",
}
_ENDINGS = {  # of files and, but for those that notes have as well, of what is looked for in a folder
    "parquet": {".parquet", ".pq"},
    "arrow": {".arrow", ".arrows", ".feather", ".ipc"},
    "npy": {".npy"},
    "npz": {".npz"},
    "csv": {".csv", ".tsv", ".txt", ".data"},
}
_NOTES = {".txt", ".data"}


def found(path: PathWord | Sequence[PathWord]) -> list[Path]:
    """The files of a path, a pattern, a folder, or of a list of them, in that order; those of one word in the order of their names."""
    if not isinstance(path, (str, os.PathLike)):
        files = [file for word in path for file in found(word)]
        if not files:
            raise RowsError("path=[]: names no file.")
        return files
    file = Path(path)
    if file.is_dir():
        return _inside(file)
    if file.exists():
        return [file]
    if not glob.has_magic(str(path)):
        raise RowsError(f"{file}: no such file.")
    matching = sorted(Path(name) for name in glob.glob(str(path), recursive=True))
    files = [file for match in matching if not match.name.startswith(("_", ".")) for file in found(match)]
    if not files:
        raise RowsError(f"{path}: matches no file.")
    return files


def kind_of_file(file: Path) -> str:
    """By its first bytes, else by its ending."""
    with file.open("rb") as opened:
        start = opened.read(6)
    if not start:
        raise RowsError(f"{file}: is empty.")
    for magic, kind in _MAGIC.items():
        if start.startswith(magic):
            return kind
    named = _by_ending(file)
    if named is None:
        raise RowsError(f"{file}: unknown kind of file; known are Parquet, CSV (.csv, .tsv, .txt), Arrow, npy and npz.")
    return named


def keys_of(file: Path) -> dict[str, str]:
    """What folders named key=value say of a file."""
    pairs = (part.partition("=") for part in file.parts[:-1])
    return {key: unquote(value) for key, equals, value in pairs if key and equals}


def _by_ending(file: Path) -> str | None:
    endings = {ending.lower() for ending in file.suffixes[-2:]}
    return next((kind for kind, known in _ENDINGS.items() if endings & known), None)


def _inside(folder: Path) -> list[Path]:
    """The files of rows in a folder and the folders in it; hidden ones are those that somebody is still writing."""
    files = dict[str, list[Path]]()
    for file in sorted(folder.rglob("*")):
        hidden = any(part.startswith(("_", ".")) for part in file.relative_to(folder).parts)
        kind = None if hidden or file.suffix.lower() in _NOTES or not file.is_file() else _by_ending(file)
        if kind is not None:
            files.setdefault(kind, []).append(file)
    if not files:
        raise RowsError(f"{folder}: holds no files of rows; known are .parquet, .arrow, .csv, .npy and .npz.")
    if len(files) > 1:
        pattern = folder / "**" / f"*{next(iter(files.values()))[0].suffix}"
        raise RowsError(f"{folder}: holds files of several kinds ({', '.join(sorted(files))}); give a pattern, e.g. {pattern}.")
    [alike] = files.values()
    return alike
