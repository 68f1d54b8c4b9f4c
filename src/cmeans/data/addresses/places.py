"""Questions and moves of files, alike on this machine and in stores."""

from __future__ import annotations

import glob
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePath
from typing import cast

from .address import Address
from .stores import BY_ARROW

PathWord = str | os.PathLike[str]
_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://(.*)", re.DOTALL)
_KNOWN = (*BY_ARROW, "http", "https", "memory", "hf", "file", "ftp", "sftp", "hdfs", "az", "github")
_OF_PATH = re.compile(rf"({'|'.join(_KNOWN)}):/+(.*)", re.DOTALL)  # Path has one slash


def place(word: PathWord) -> Path:
    """Return the file or folder of a path or an address. An address is no path of this machine, and
    answers what the library asks of one."""
    if isinstance(word, Address):
        return cast(Path, word)
    text = os.fsdecode(word)
    found = (_OF_PATH if isinstance(word, PurePath) else _ADDRESS).match(text)
    if found is None:
        return Path(word)
    scheme, rest = found[1].lower(), found[2]
    return Path(rest) if scheme == "file" else cast(Path, Address(f"{scheme}://{rest}"))


def absolute(path: PathWord) -> PathWord:
    """Return a path that leads to the same file from any working folder."""
    found = place(path)
    return found if isinstance(found, Address) else os.path.abspath(found)


def below(folder: Path) -> Iterator[Path]:
    """All files in a folder and the folders in it that are not hidden."""
    if isinstance(folder, Address):
        return (cast(Path, file) for file in folder.below())
    return _below(folder, ())


def _below(folder: Path, above: tuple[Path, ...]) -> Iterator[Path]:
    """The same on this machine; links to folders are followed, but not back to where they are."""
    here = folder.resolve()
    if here in above:
        return
    for path in folder.iterdir():
        if path.name.startswith(("_", ".")):
            continue
        if path.is_dir():
            yield from _below(path, (*above, here))
        else:
            yield path


def matches(pattern: Path) -> Iterator[Path]:
    """Return the files and folders that a pattern means; of a store the files alone."""
    if isinstance(pattern, Address):
        return (cast(Path, file) for file in pattern.matching())
    return (Path(name) for name in glob.glob(str(pattern), recursive=True))


@contextmanager
def local_copy(file: Path) -> Iterator[Path]:
    """Provide a file of this machine with the same bytes, for what opens no others."""
    if not isinstance(file, Address):
        yield file
        return
    with tempfile.TemporaryDirectory(prefix="cmeans-") as folder:
        copy = Path(folder) / "copy"
        with file.open() as source, copy.open("wb") as out:
            shutil.copyfileobj(source, out)
        yield copy


def near(folder: Path) -> Path:
    """Return the folder of this machine in which files for another are made: itself, where it is
    of this machine."""
    return Path(tempfile.gettempdir()) if isinstance(folder, Address) else folder


def moved(source: Path, file: Path) -> None:
    """Give a file, or a folder of files, that was made near its folder its name: at once and as a
    whole, but for a folder in a store, which has files alone."""
    if not isinstance(file, Address):
        source.replace(file)
    elif source.is_dir():
        for inside in sorted(source.iterdir()):
            moved(inside, cast(Path, file / inside.name))
    else:
        file.put(source)


def removed(file: Path) -> None:
    """Remove a file, or a folder with all that is in it, where there is one."""
    if isinstance(file, Address) and file.is_dir():
        for inside in file.below():
            inside.unlink(missing_ok=True)
    elif file.is_dir() and not file.is_symlink():
        shutil.rmtree(file)
    else:
        file.unlink(missing_ok=True)


def try_moving(source: Path, file: Path) -> None:
    """Find out whether a file can be stored beside another, where that is not known from writing
    near it."""
    if isinstance(file, Address):
        trial = file.with_name(source.parent.name)
        trial.put(source)
        trial.unlink(missing_ok=True)
