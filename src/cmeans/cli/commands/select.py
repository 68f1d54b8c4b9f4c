"""The command `cmeans select`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from ..app import Context, option
from ..fit_request import FitRequest
from ..option_values import METHOD, RUN
from ..output.report import of_select
from ..output.terminal import Screen
from ..registration import command
from ..selection import SELECTABLE, Trials, select_number, usual_scale
from ..table_options import OF_A_FIT, OF_EVERY_TABLE, TableOptions, scale_option
from .options import Every, File, KeptIn, Overwrite, Resume, Seed, checkpoint_of


@command(of_select, SELECTABLE, OF_EVERY_TABLE | OF_A_FIT | {"scale": scale_option("auto")})
def select(
    screen: Screen,
    context: Context,
    table: TableOptions,
    config: dict[str, Any],
    file: File,
    n_clusters: Annotated[
        str,
        option(
            METHOD, "Numbers to choose from: 2-20, or 3,5,8.", "--clusters", "-c", metavar="FROM-TO"
        ),
    ] = "2-20",
    by: Annotated[
        Literal["auto", "silhouette", "xie_beni", "stability", "bic", "icl"],
        option(
            METHOD,
            "What chooses: silhouettes corrected for chance (auto), as they are, the Xie-Beni "
            "index, or agreement of refits; of --method gaussian BIC (auto) or ICL.",
        ),
    ] = "auto",
    refits: Annotated[
        int | None,
        option(
            METHOD,
            "Refits to bootstrap samples for each number; 0 for none.",
            min=0,
            metavar="N",
            shown="20 for --by stability, else none",
        ),
    ] = None,
    sample_size: Annotated[
        str,
        option(
            METHOD,
            "Rows that numbers are judged on, at most; auto: 3000, or 100 for each of the most "
            "clusters.",
            "--sample",
            metavar="N|all|auto",
        ),
    ] = "auto",
    method: Annotated[
        str, option(METHOD, "How rows belong to clusters.", metavar="|".join(SELECTABLE))
    ] = "fuzzy",
    random_state: Seed = 0,
    out: Annotated[
        Path | None,
        option(
            RUN,
            "Folder for a picture of the evidence, its table as CSV, the summary, and run.toml.",
            metavar="DIR",
            shown="none",
        ),
    ] = None,
    kept_in: KeptIn = None,
    every: Every = None,
    resume: Resume = False,
    overwrite: Overwrite = False,
    **words: Any,
) -> dict[str, Any]:
    words["random_state"] = random_state
    checkpoint = checkpoint_of(kept_in, every, resume)
    request = FitRequest(
        table.reading(file),
        Path(),
        method,
        words,
        table.scale(usual_scale(words)),
        table.words,
        checkpoint=checkpoint,
        arguments=context.obj or (),
        overwrite=overwrite,
        config=config,
    )
    trials = Trials(n_clusters, by, refits, sample_size)
    return select_number(request, trials, screen, out)
