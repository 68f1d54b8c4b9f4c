"""What `cmeans stream` was told, and what of it cannot be true together."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..rows import Wish
from .labels import STDOUT
from .sources import STDIN, Wanted


@dataclass(frozen=True)
class Checkpoints:
    """Where the state is kept, how often in chunks, and whether it is gone on from."""

    file: Path | None = None
    every: int = 10
    resume: bool = False


@dataclass(frozen=True)
class StreamRequest:
    """Everything `cmeans stream` was told. `words` are the estimator's constructor words that were given."""

    source: Wanted
    wish: Wish  # which columns of it
    words: dict[str, Any]
    scale: str | None = None
    out: Path = STDOUT
    memberships: bool = False
    checkpoints: Checkpoints = field(default_factory=Checkpoints)
    chunk_size: int = 5000
    max_wait: float | None = None
    max_errors: int = 100
    summary: Path | None = None

    @property
    def where(self) -> str:
        """The source in a message."""
        return "standard input" if self.source.path == STDIN else str(self.source.path)


def refuse_clashes(request: StreamRequest) -> None:
    """What can be known to be wrong before any row is read."""
    checkpoint, clusters = request.checkpoints.file, request.words.get("n_clusters")
    if request.checkpoints.resume and checkpoint is None:
        raise InputError("--resume: needs --checkpoint FILE, the state to go on from.")
    if clusters is None and not request.checkpoints.resume:
        raise InputError("--clusters: say how many clusters there are, e.g. -c 3.")
    if clusters is not None and request.chunk_size < clusters:
        raise InputError(f"--chunk-size {request.chunk_size}: a chunk must hold at least --clusters {clusters} rows.")
    for option, file in (("--checkpoint", checkpoint), ("--summary", request.summary)):
        if file is not None:
            _refuse_unwritable(option, file)
    _refuse_same(request)


def _refuse_unwritable(option: str, file: Path) -> None:
    if file.is_dir():
        raise InputError(f"{option} {file}: is a folder; give a file.")
    if not file.parent.is_dir():
        raise InputError(f"{option} {file}: cannot be written (no such folder).")
    if not os.access(file.parent, os.W_OK):
        raise InputError(f"{option} {file}: cannot be written (permission denied).")


def _refuse_same(request: StreamRequest) -> None:
    given = {"--checkpoint": request.checkpoints.file, "--summary": request.summary, "--out": request.out, "SOURCE": request.source.path}
    places: dict[Path, str] = {}
    for option, file in given.items():
        if file is None or file == STDOUT:
            continue
        other = places.setdefault(file.resolve(), option)
        if other != option:
            raise InputError(f"{other} {file}: is {option} too; they must be different files.")
