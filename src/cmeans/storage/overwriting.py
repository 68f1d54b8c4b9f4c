"""Outputs that would overwrite an input or each other, told by which files they are and not by how
they are named.

Symbolic links, hard links, relative paths and other spellings of a name lead to the same file.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path

from ..data.addresses import Address, place
from ..runtime.shown_addresses import for_people

FileWord = str | os.PathLike[str] | int  # a path, or the descriptor of an open file
Identity = tuple[object, ...]


def refuse_overwriting(outputs: Mapping[str, FileWord], inputs: Iterable[FileWord]) -> None:
    """ValueError if an output is one of the inputs, or two outputs are one file; nothing has to
    exist.

    `outputs`: by what a message calls them, e.g. "--out labels.csv".
    """
    read: dict[Identity, FileWord] = {_identity(file): file for file in inputs}
    written: dict[Identity, str] = {}
    for name, file in outputs.items():
        key = _identity(file)
        if key in read:
            which = "of standard input" if isinstance(read[key], int) else read[key]
            raise ValueError(
                for_people(f"{name} would overwrite the input file {which}; choose another name.")
            )
        other = written.setdefault(key, name)
        if other != name:
            raise ValueError(for_people(f"{name} is {other} too; they must be different files."))


def lies_in(path: str | os.PathLike[str], folder: str | os.PathLike[str]) -> bool:
    """True where a path, which need not exist, is a folder or leads into it."""
    inside, outside = place(path), place(folder)
    if isinstance(inside, Address) or isinstance(outside, Address):
        return f"{inside}/".startswith(f"{str(outside).rstrip('/')}/")
    real = Path(os.path.realpath(path))
    key = _identity(folder)
    return any(_identity(part) == key for part in (real, *real.parents))


def is_plain_file(descriptor: int) -> bool:
    """True where an open file is one on a disk, no pipe or terminal."""
    try:
        return stat.S_ISREG(os.fstat(descriptor).st_mode)
    except OSError:
        return False


def _identity(file: FileWord) -> Identity:
    """Device and inode; of a file that is not there those of its folder, and its name. Of one in a
    store its address."""
    if not isinstance(file, int):
        file = place(file)
        if isinstance(file, Address):
            return (file,)
    try:
        found = os.stat(file)
        return found.st_dev, found.st_ino
    except OSError:
        if isinstance(file, int):
            raise
    folder, name = os.path.split(os.path.realpath(file))
    try:
        found = os.stat(folder)
    except OSError:  # nor is its folder
        return (os.path.normcase(os.path.join(folder, name)),)
    return found.st_dev, found.st_ino, os.path.normcase(name)
