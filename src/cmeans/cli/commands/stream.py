"""The command `cmeans stream`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from ..app import argument, option
from ..errors import InputError
from ..methods import STREAM, with_engine
from ..option_values import DATA, RUN
from ..output.report import of_stream
from ..output.terminal import Screen
from ..registration import command
from ..stream.labels import STDOUT
from ..stream.request import CHUNK, StreamRequest
from ..stream.run import stream as run_stream
from ..stream.sources import STDIN
from ..table_options import OF_STREAMS, TableOptions
from .options import SeedIfGiven


@command(of_stream, {"stream": STREAM}, OF_STREAMS)
def stream(
    screen: Screen,
    table: TableOptions,
    config: dict[str, Any],
    source: Annotated[
        Path,
        argument(
            "- for CSV on standard input; a file of CSV, Arrow or Parquet; a folder of Parquet "
            "files.",
            "SOURCE",
        ),
    ] = STDIN,
    max_errors: Annotated[
        int,
        option(
            DATA,
            "Malformed rows that a run skips before it gives up; the first five are shown.",
            min=0,
            metavar="N",
        ),
    ] = 100,
    follow: Annotated[
        bool, option(DATA, "Go on with new files of the folder as they arrive.", "--follow")
    ] = False,
    wait: Annotated[
        float | None,
        option(
            DATA,
            "Seconds that a row waits for others before they are a chunk, and between looks at a "
            "folder that is followed.",
            "--wait",
            min=0.01,
            max=86_400,
            metavar="SECONDS",
            shown="0.5 in a pipe, else no limit, and 1 between looks",
        ),
    ] = None,
    out: Annotated[
        Path,
        option(
            RUN,
            "Where labels go, with row numbers from 0: a .csv file, or - for stdout.",
            metavar="FILE",
        ),
    ] = STDOUT,
    memberships: Annotated[
        bool, option(RUN, "Also write the memberships.", "--memberships")
    ] = False,
    summary: Annotated[
        Path | None,
        option(
            RUN,
            "Write the summary to a file too; it is on stdout where the labels are not.",
            metavar="FILE",
        ),
    ] = None,
    chunk_size: Annotated[
        int | None,
        option(
            RUN,
            "Rows that are clustered at a time.",
            min=1,
            metavar="N",
            shown=f"{CHUNK}; with --resume as before",
        ),
    ] = None,
    random_state: SeedIfGiven = None,
    checkpoint: Annotated[
        Path | None,
        option(
            RUN,
            "Keep the state, a model for cmeans predict too, in a file.",
            metavar="FILE",
            shown="none is kept",
        ),
    ] = None,
    checkpoint_every: Annotated[
        int | None,
        option(RUN, "Chunks between two savings of the state.", min=1, metavar="N", shown="10"),
    ] = None,
    resume: Annotated[
        bool, option(RUN, "Go on from the state in --checkpoint, in the same words.", "--resume")
    ] = False,
    identifier: Annotated[
        str | None,
        option(DATA, "Column that goes with each row to its label.", "--id", metavar="COLUMN"),
    ] = None,
    time: Annotated[
        str | None,
        option(DATA, "Column of times that goes there too.", "--time", metavar="COLUMN"),
    ] = None,
    outlier_score: Annotated[
        bool,
        option(RUN, "Also write how far out each row is, from 0 to 1.", "--outlier-score"),
    ] = False,
    alert: Annotated[
        float | None,
        option(
            RUN,
            "Also write 1 for rows whose outlier score is this or more, else 0; count them.",
            "--alert",
            min=0.0,
            max=1.0,
            metavar="SCORE",
        ),
    ] = None,
    metrics: Annotated[
        float | None,
        option(
            RUN,
            "Seconds between two lines on stderr: rows, their pace, clusters, alerts, delay.",
            "--metrics",
            min=0.01,
            metavar="SECONDS",
        ),
    ] = None,
    events: Annotated[
        Path | None,
        option(
            RUN,
            "Write what becomes of clusters, where their number is not told: a .csv file.",
            "--events",
            metavar="FILE",
        ),
    ] = None,
    **words: Any,
) -> dict[str, Any] | None:
    if chunk_size is not None or not resume:
        words["chunk_size"] = chunk_size or CHUNK
    if random_state is not None or not resume:
        words["random_state"] = random_state or 0
    STREAM.made(words)
    words = STREAM.in_objects(words)
    if checkpoint is None and checkpoint_every is not None:
        raise InputError("--checkpoint-every: needs --checkpoint FILE, where the state is kept.")
    kept = checkpoint, checkpoint_every or 10, resume
    request = StreamRequest(
        table.reading(source),
        with_engine(words),
        table.given["scale"],
        follow,
        wait,
        out,
        memberships,
        summary,
        chunk_size,
        max_errors,
        *kept,
        tuple(name for name in (identifier, time) if name is not None),
        outlier_score,
        alert,
        metrics,
        events,
        table.words,
        config,
    )
    return run_stream(request, screen)
