"""The command `cmeans index`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from ..app import Context, option
from ..errors import InputError
from ..fit_request import FitRequest
from ..indexing import add_to_index, train_index, words_of_cells
from ..option_names import option_of
from ..option_values import METHOD, RUN
from ..output.report import of_index
from ..output.terminal import Screen
from ..registration import command
from ..table_options import OF_VECTORS, TableOptions
from .options import File, Overwrite, SeedIfGiven


@command(of_index, table=OF_VECTORS)
def index(
    screen: Screen,
    context: Context,
    table: TableOptions,
    config: dict[str, Any],
    file: File,
    out: Annotated[
        Path,
        option(
            RUN,
            "Folder for centroids.npy, centroids.fvecs, assignments.npy, the model, the summary "
            "and run.toml.",
            metavar="DIR",
            shown=False,
        ),
    ],
    n_clusters: Annotated[
        int | None,
        option(METHOD, "Number of cells.", "--clusters", "-c", min=1, metavar="N", shown=False),
    ] = None,
    metric: Annotated[
        Literal["euclidean", "cosine"] | None,
        option(
            METHOD,
            "What vectors are compared by; cosine: centroids have length one.",
            shown="euclidean",
        ),
    ] = None,
    balance: Annotated[
        float | None,
        option(
            METHOD,
            "The largest cell holds at most so many times the mean.",
            min=1,
            metavar="NUMBER",
            shown="no bound",
        ),
    ] = None,
    search: Annotated[
        Literal["hierarchical", "flat"] | None,
        option(
            METHOD,
            "How cells are made: in two levels of a sample, or by sweeps over all from k-means++.",
            shown="hierarchical from 256 cells on",
        ),
    ] = None,
    recall: Annotated[
        float | None,
        option(
            RUN,
            "Sweep as long as queries find such a share of their ten nearest rows in fewer cells, "
            "and say in how many; 500 rows of FILE are asked, which training leaves out.",
            metavar="NUMBER",
            shown=False,
        ),
    ] = None,
    add: Annotated[
        bool,
        option(
            RUN,
            "Put the rows of FILE into the cells of the index in --out, behind those it holds.",
            "--add",
        ),
    ] = False,
    random_state: SeedIfGiven = None,
    n_jobs: Annotated[
        int | None, option(RUN, "Threads.", "--jobs", metavar="N", shown="all processors")
    ] = None,
    memory_budget: Annotated[
        str | None,
        option(RUN, "Memory that it may take.", metavar="4GB", shown="half of what is free"),
    ] = None,
    plan: Annotated[
        bool, option(RUN, "Say what memory and passes it would take, and do nothing.", "--plan")
    ] = False,
    overwrite: Overwrite = False,
) -> dict[str, Any]:
    own: dict[str, Any] = {
        "n_clusters": n_clusters,
        "metric": metric,
        "balance": balance,
        "search": search,
        "recall": recall,
        "n_jobs": n_jobs,
        "memory_budget": memory_budget,
        "plan": plan or None,
        "random_state": random_state,
    }
    given = {name: value for name, value in own.items() if value is not None}
    if add:
        if given:
            raise InputError(
                f"{', '.join(map(option_of, given))}: --add takes the cells of the index in --out "
                "as they are; leave it out."
            )
        return add_to_index(table.reading(file), out, screen)
    if n_clusters is None:
        raise InputError("--clusters: needs the number of cells, e.g. -c 1024.")
    if recall is not None and not 0 < recall <= 1:
        raise InputError(f"--recall {recall:g}: give a share of the nearest rows, as .95.")
    given.pop("plan", None)
    given.pop("recall", None)
    request = FitRequest(
        table.reading(file),
        out,
        "hard",
        words_of_cells(**{"random_state": 0, **given}),
        arguments=context.obj,
        plan=plan,
        overwrite=overwrite,
        config=config,
    )
    return train_index(request, screen, recall)
