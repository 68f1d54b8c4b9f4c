"""Arguments and options that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from ...solvers.checkpoints import Checkpoint
from ..app import argument, option
from ..errors import InputError
from ..option_values import RUN

File = Annotated[
    Path,
    argument(
        "Parquet, Arrow, CSV, npy, npz, fvecs, fbin or the like: a file, a folder of them, or a "
        "pattern.",
        "FILE",
    ),
]
ModelFile = Annotated[Path, argument("The model.safetensors of an earlier fit.", "MODEL")]
Names = Annotated[
    list[str] | None,
    option(
        RUN,
        "Names of the clusters from 0 on, which go beside the labels.",
        "--names",
        metavar="a,b,c",
        shown=False,
    ),
]
KeptIn = Annotated[
    Path | None,
    option(
        RUN,
        "Keep how far it has come, for when it is stopped.",
        "--checkpoint",
        metavar="FILE",
        shown="none",
    ),
]
Every = Annotated[
    float | None,
    option(RUN, "Minutes between checkpoints.", "--checkpoint-minutes", min=0, shown="5"),
]
Resume = Annotated[
    bool, option(RUN, "Go on from --checkpoint, with the same rows and options.", "--resume")
]
Overwrite = Annotated[
    bool,
    option(
        RUN,
        "Replace files of the same names in --out that no former run has written, too.",
        "--overwrite",
    ),
]
TopK = Annotated[
    int | None,
    option(
        RUN,
        "Write only the N largest memberships of each row.",
        "--top-k",
        min=1,
        metavar="N",
        shown="all",
    ),
]
Threshold = Annotated[
    float | None,
    option(
        RUN,
        "Write only memberships of at least this, as lists.",
        "--threshold",
        min=0,
        max=1,
        shown="all",
    ),
]
Seed = Annotated[int, option(RUN, "The same seed gives the same result.", "--seed")]
SeedIfGiven = Annotated[
    int | None, option(RUN, "The same seed gives the same result.", "--seed", shown="0")
]
Title = Annotated[
    str | None,
    option(RUN, "Of the page.", "--title", metavar="TEXT", shown="the name of the file"),
]
Theme = Annotated[
    Literal["auto", "light", "dark"],
    option(RUN, "auto: as the reader's system has it.", "--theme"),
]
Page = Annotated[
    Path,
    option(RUN, "The page, .html; it opens in any browser, without a network.", metavar="F"),
]


def checkpoint_of(file: Path | None, minutes: float | None, resume: bool) -> Checkpoint | None:
    if resume and file is None:
        raise InputError("--resume: needs --checkpoint FILE, what to go on from.")
    if minutes is not None and file is None:
        raise InputError("--checkpoint-minutes: needs --checkpoint FILE, what is written then.")
    return (
        None
        if file is None
        else Checkpoint(file, minutes=5.0 if minutes is None else minutes, resume=resume)
    )
