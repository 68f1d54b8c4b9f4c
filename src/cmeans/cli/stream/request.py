"""The options of one `cmeans stream`, and the checks that they fit together."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...storage.overwriting import FileWord, refuse_overwriting
from ..errors import InputError
from ..outputs import refuse_unwritable
from ..rows import ReadOptions
from .labels import STDOUT, plain_file
from .sources import STDIN, Wanted, parquet_files


@dataclass(frozen=True)
class Checkpoints:
    """Checkpoint options: the file of the state, the chunks between two saves, and whether a saved state is resumed."""

    file: Path | None = None
    every: int = 10
    resume: bool = False


@dataclass(frozen=True)
class StreamRequest:
    """All options of one `cmeans stream`. `words` are the constructor parameters that were given."""

    source: Wanted
    reading: ReadOptions  # the selection of its columns
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
        """Name of the source, for messages."""
        return "standard input" if self.source.path == STDIN else str(self.source.path)


def refuse_clashes(request: StreamRequest) -> None:
    """Refuse options that are invalid whatever the rows are."""
    checkpoint, clusters = request.checkpoints.file, request.words.get("n_clusters")
    if request.checkpoints.resume and checkpoint is None:
        raise InputError("--resume: needs --checkpoint FILE, the state to go on from.")
    if clusters is None and not request.checkpoints.resume:
        raise InputError("--clusters: say how many clusters there are, e.g. -c 3.")
    if clusters is not None and request.chunk_size < clusters:
        raise InputError(f"--chunk-size {request.chunk_size}: a chunk must hold at least --clusters {clusters} rows.")
    for option, file in (("--checkpoint", checkpoint), ("--summary", request.summary)):
        if file is not None and file.is_dir():
            raise InputError(f"{option} {file}: is a folder; give a file.")
        if file is not None:
            refuse_unwritable(option, file)
    _refuse_same(request)


def _refuse_same(request: StreamRequest) -> None:
    """Refuse an output that is the input or another output."""
    source, given = request.source.path, {"--checkpoint": request.checkpoints.file, "--summary": request.summary, "--out": request.out}
    outputs: dict[str, FileWord] = {f"{option} {file}": file for option, file in given.items() if file is not None and file != STDOUT}
    if request.out == STDOUT and (number := plain_file(sys.stdout)) is not None:
        outputs["standard output"] = number
    inputs: list[FileWord] = [source]
    if source == STDIN:
        number = plain_file(sys.stdin)
        inputs = [] if number is None else [number]
    elif source.is_dir():
        inputs = list(parquet_files(source))
        for option, file in given.items():
            if file is not None and file.suffix == ".parquet" and os.path.samefile(file.parent, source):
                raise InputError(f"{option} {file}: lies in {source}, whose .parquet files are read as rows; choose another name.")
    refuse_overwriting(outputs, inputs)
