"""The command `cmeans fit`, and `cmeans demo`, which shows one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from ...data.recipe.scaling import AUTO
from ..app import Context, option
from ..choosing import CHOSEN, with_choice
from ..demo import demo as run_demo
from ..errors import InputError
from ..fit_request import LABELS_AS, FitRequest
from ..fitting import fit as run_fit
from ..methods import METHODS
from ..option_names import listed
from ..option_values import DATA, METHOD, RUN
from ..output.report import of_fit
from ..output.terminal import Screen
from ..registration import command
from ..table_options import OF_A_FIT, OF_EVERY_TABLE, OF_LABELS, TableOptions, names_in
from .options import (
    Every,
    File,
    KeptIn,
    Names,
    Overwrite,
    Resume,
    Seed,
    Threshold,
    TopK,
    checkpoint_of,
)


@command(of_fit, METHODS, OF_EVERY_TABLE | OF_A_FIT | OF_LABELS)
def fit(
    screen: Screen,
    context: Context,
    table: TableOptions,
    config: dict[str, Any],
    file: File,
    out: Annotated[
        Path,
        option(
            RUN,
            "Folder for the results. Those of a former run in it are replaced, file by file.",
            metavar="DIR",
            shown=False,
        ),
    ],
    known_labels: Annotated[
        str | None,
        option(
            DATA,
            "Column of clusters that rows are known to belong to: whole numbers, -1 where it is "
            "not known.",
            "--known-labels",
            metavar="COLUMN",
            shown="none",
        ),
    ] = None,
    must_link: Annotated[
        str | None,
        option(
            DATA,
            "Rows that share a cluster: a column of group numbers, -1 for none, or a file of pairs "
            "of row numbers from 0.",
            "--must-link",
            metavar="COLUMN|FILE",
            shown="none",
        ),
    ] = None,
    method: Annotated[
        str | None,
        option(
            METHOD,
            "How rows belong to clusters; adaptive, sequential and connected find the number of "
            "clusters.",
            metavar="|".join(METHODS),
            shown="fuzzy; without a number of clusters, what the rows speak for",
        ),
    ] = None,
    random_state: Seed = 0,
    top_k: TopK = None,
    threshold: Threshold = None,
    names: Names = None,
    labels_as: Annotated[
        Literal["parquet", "csv", "folder"],
        option(
            RUN,
            "What the file of labels is; folder: one of Parquet for each file of rows, in as many "
            "folders.",
            "--labels-as",
        ),
    ] = "parquet",
    truncated: Annotated[
        bool,
        option(
            METHOD,
            "Rows have memberships in their --top-k nearest clusters alone, in the sweeps too: for "
            "hundreds of clusters and more.",
            "--truncated",
        ),
    ] = False,
    runs_on: Annotated[
        Literal["threads", "dask"],
        option(
            RUN,
            "Who sweeps: threads of this machine, or the workers of a Dask cluster, which read the "
            "files themselves.",
            "--engine",
        ),
    ] = "threads",
    scheduler: Annotated[
        str | None, option(RUN, "Of --engine dask.", "--scheduler", metavar="ADDRESS", shown=False)
    ] = None,
    kept_in: KeptIn = None,
    every: Every = None,
    resume: Resume = False,
    report: Annotated[
        bool, option(RUN, "Also write report.html, a page that shows the clusters.", "--report")
    ] = False,
    plan: Annotated[
        bool,
        option(
            RUN, "Say what memory, passes and row visits it would take, and do nothing.", "--plan"
        ),
    ] = False,
    overwrite: Overwrite = False,
    **words: Any,
) -> dict[str, Any]:
    is_counted = isinstance(words.get("n_clusters"), int)
    chosen = method is None and not is_counted and CHOSEN
    method = chosen or method or "fuzzy"
    if not chosen and method not in METHODS:
        raise InputError(f"--method {method}: unknown method; known are {listed(METHODS)}.")
    checkpoint = checkpoint_of(kept_in, every, resume)
    if (runs_on == "dask") != (scheduler is not None):
        raise InputError(
            "--engine dask and --scheduler ADDRESS go together, e.g. --engine dask --scheduler "
            "tcp://10.0.0.1:8786."
        )
    if truncated and top_k is None:
        raise InputError(
            "--truncated: needs --top-k N, the number of clusters in which a row has memberships."
        )
    if truncated:
        words["top_k"], top_k = top_k, None  # of the model, which has no others to write
    words["random_state"] = random_state
    told = known_labels, must_link
    request = FitRequest(
        table.reading(file),
        out,
        method,
        words,
        table.scale(AUTO if chosen else "none"),
        table.words,
        *told,
        top_k,
        threshold,
        checkpoint,
        scheduler,
        context.obj,
        report,
        plan,
        overwrite,
        names_in(names),
        labels=LABELS_AS[labels_as],
        config=config,
    )
    return run_fit(with_choice(request, screen) if chosen else request, screen)


@command(of_fit)
def demo(
    screen: Screen,
    out: Annotated[Path, option(RUN, "Folder for the data and the results.", metavar="DIR")] = Path(
        "cmeans-demo"
    ),
) -> dict[str, Any]:
    return run_demo(out, screen)
