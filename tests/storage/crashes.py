"""Power cuts: what a disk may hold after each step of some work, as file systems are free to order
it.

Names and data reach the disk each in their own time. What has been flushed (`fsync`) is there: of a
file its data, of a folder its names. Of the rest any part may be: each name that was made, moved or
removed since its folder was flushed, whichever came first; and of data that were not flushed
nothing, zeros, a part, or all.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import Any

import pytest

Step = tuple[str, int | None]  # a name, and the file that has it from then on
Files = Mapping[str, bytes]
HIDDEN = ".cmeans-"  # names of temporary folders and of locks, which no reader looks at
MOST_LOST = 6  # steps that wait for a flush of which each choice is tried; of more, the first ones


class Disk:
    """A folder whose steps are recorded, and what of them is on the disk for certain."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._numbers = dict[int, int]()  # number of each file by its inode
        self._flushed = dict[int, bytes]()  # its data on the disk
        self._now = dict[int, bytes]()  # its data as programs see them
        self._names = dict[str, int]()  # as programs see them
        self._kept = dict[str, int]()  # on the disk for certain
        self._waiting = list[Step]()
        self.states = dict[tuple[tuple[str, bytes], ...], str]()  # each, and after which step
        self._look()
        self._kept, self._waiting = dict(self._names), []
        self._flushed = dict(self._now)

    def step(self, what: str) -> None:
        """Note what has changed, and what a power cut would leave now."""
        self._look()
        for state in self._left():
            self.states.setdefault(tuple(sorted(state.items())), what)

    def flush(self, inode: int) -> None:
        """A file's data, or the folder's names, are on the disk from now on."""
        if inode == self.folder.stat().st_ino:
            self._kept, self._waiting = dict(self._names), []
        elif inode in self._numbers:
            number = self._numbers[inode]
            self._flushed[number] = self._now[number]

    def final(self) -> list[Files]:
        """What a power cut may leave after all of it."""
        return list(self._left())

    def _look(self) -> None:
        names, former = dict[str, int](), self._numbers
        self._numbers = {}  # an inode is another file's once its file is gone
        for path in (path for path in self.folder.rglob("*") if path.is_file()):
            inode = path.stat().st_ino
            number = self._numbers[inode] = former.get(inode, len(self._now))
            self._now[number] = path.read_bytes()
            if path.parent == self.folder:
                names[path.name] = number
        for name in sorted(self._names.keys() | names.keys()):
            if self._names.get(name) != names.get(name):
                self._waiting.append((name, names.get(name)))
        self._names = names

    def _left(self) -> Iterator[Files]:
        first = max(0, len(self._waiting) - MOST_LOST)
        for lost in product([False, True], repeat=len(self._waiting) - first):
            names = dict(self._kept)
            for (name, number), gone in zip(self._waiting, [*[False] * first, *lost], strict=True):
                if not gone:
                    names.pop(name, None)
                    if number is not None:
                        names[name] = number
            waiting = any(self._flushed.get(n) != self._now[n] for n in names.values())
            for kind in ("nothing", "zeros", "half", "all") if waiting else ("all",):
                yield {name: self._data(number, kind) for name, number in names.items()}

    def _data(self, number: int, kind: str) -> bytes:
        now, flushed = self._now[number], self._flushed.get(number, b"")
        if now == flushed or kind == "all":
            return now
        grown = now[len(flushed) :] if now.startswith(flushed) else now
        before = flushed if now.startswith(flushed) else b""
        return {
            "nothing": flushed,
            "zeros": before + bytes(len(grown)),
            "half": before + grown[: len(grown) // 2],
        }[kind]


@contextmanager
def recorded(folder: Path) -> Iterator[Disk]:
    """Record every step that is made in a folder inside the block: names by `os`, data by whatever
    writes them."""
    disk = Disk(folder)
    with pytest.MonkeyPatch.context() as patch:

        def watched(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
            def call(*words: Any, **more: Any) -> Any:
                disk.step(f"before {name}")
                if name == "fsync":
                    disk.flush(os.fstat(words[0]).st_ino)
                    disk.step("fsync")
                    return None  # for a disk that is not there
                result = real(*words, **more)
                disk.step(f"{name} {' '.join(os.path.basename(str(word)) for word in words)}")
                return result

            return call

        for name in ("fsync", "replace", "rename", "unlink", "remove", "rmdir", "mkdir"):
            patch.setattr(os, name, watched(name, getattr(os, name)))
        yield disk
    disk.step("the end")


def each_state(disk: Disk, scratch: Path) -> Iterator[tuple[str, Path]]:
    """Lay out what each power cut may leave, in a folder that the next one replaces."""
    for number, (state, step) in enumerate(disk.states.items()):
        yield step, _laid_out(dict(state), scratch / str(number))
        shutil.rmtree(scratch / str(number))


def each_end(disk: Disk, scratch: Path) -> Iterator[Path]:
    """The same of power cuts after all of it."""
    for number, state in enumerate(disk.final()):
        yield _laid_out(state, scratch / f"end-{number}")


def _laid_out(files: Files, folder: Path) -> Path:
    folder.mkdir(parents=True)
    for name, data in files.items():
        if not name.startswith(HIDDEN):
            (folder / name).write_bytes(data)
    return folder
