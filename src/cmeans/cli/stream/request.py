"""What one `cmeans stream` is asked for, and what of it is refused whatever the rows are."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...data.recipe.front import TableWords
from ...storage.overwriting import FileWord, refuse_overwriting
from ..errors import InputError
from ..output.results import refuse_unwritable
from ..rows import ReadOptions
from .labels import STDOUT, plain_file
from .sources import NO_WORDS, STDIN, parquet_files

CHUNK = 5000  # rows that are clustered at a time, where nothing says how many


@dataclass(frozen=True)
class StreamRequest:
    """All options of one `cmeans stream`. `words` are the constructor parameters that were
    given."""

    reading: ReadOptions  # the source, and the selection of its columns
    words: dict[str, Any]
    scale: str | None = None
    follow: bool = False
    wait: float | None = None
    out: Path = STDOUT
    memberships: bool = False
    summary: Path | None = None
    chunk_size: int | None = None  # None: that of the state that is resumed, else `CHUNK`
    max_errors: int = 100
    checkpoint: Path | None = None
    checkpoint_every: int = 10
    resume: bool = False
    beside: tuple[str, ...] = ()  # columns that go with the rows to their labels
    outlier_score: bool = False
    alert: float | None = None
    metrics: float | None = None
    events: Path | None = None
    table: TableWords = NO_WORDS  # what is said of its columns
    config: Mapping[str, Any] = field(default_factory=dict)  # the options, as the summary has them


def refuse_clashes(request: StreamRequest, source: Path) -> None:
    """Refuse options that are invalid whatever the rows are, and an output that is the input or
    another output."""
    clusters = request.words.get("n_clusters")
    if request.resume and request.checkpoint is None:
        raise InputError("--resume: needs --checkpoint FILE, the state to go on from.")
    if not request.resume:
        refuse_of_kind(request, clusters is None)
    chunk_size = request.chunk_size or CHUNK
    if clusters is not None and chunk_size < clusters:
        raise InputError(
            f"--chunk-size {chunk_size}: a chunk must hold at least --clusters {clusters} rows."
        )
    outputs: dict[str, FileWord] = {}
    for word, kept in (
        ("--checkpoint", request.checkpoint),
        ("--summary", request.summary),
        ("--events", request.events),
    ):
        if kept is not None:
            if kept.is_dir():
                raise InputError(f"{word} {kept}: is a folder; give a file.")
            refuse_unwritable(word, kept)
            outputs[f"{word} {kept}"] = kept
    if request.out != STDOUT:
        outputs[f"--out {request.out}"] = request.out
    elif (number := plain_file(sys.stdout)) is not None:
        outputs["standard output"] = number
    inputs: list[FileWord | None] = [source]
    if source == STDIN:
        inputs = [plain_file(sys.stdin)]
    elif source.is_dir():
        inputs = [*parquet_files(source)]
        for option, file in outputs.items():
            if (
                isinstance(file, Path)
                and file.suffix == ".parquet"
                and file.parent.resolve() == source.resolve()
            ):
                raise InputError(
                    f"{option}: lies in {source}, whose .parquet files are read as rows; choose "
                    "another name."
                )
    refuse_overwriting(outputs, [file for file in inputs if file is not None])


def refuse_of_kind(request: StreamRequest, finds_number: bool) -> None:
    """Refuse what streams have not whose number of clusters is told, or is not."""
    if finds_number and request.memberships:
        raise InputError(
            "--memberships: their columns are clusters, whose number is not told; begin with it, "
            "e.g. -c 3, or leave this out."
        )
    if finds_number and request.reading.weight is not None:
        raise InputError(
            "--weight: a stream whose number of clusters is not told has rows of one weight; begin "
            "with the number, e.g. -c 3, or leave this out."
        )
    if not finds_number and request.events is not None:
        raise InputError(
            f"--events {request.events}: clusters come and go where their number is not told; "
            "begin without it, or leave this out."
        )
