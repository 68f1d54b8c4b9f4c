"""The commands `cmeans report` and `cmeans explore`: pages that show the clusters of rows."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Any

from ...data.recipe.scaling import AUTO
from ..app import Context, option
from ..errors import InputError
from ..exploring import ExploreRequest
from ..exploring import explore as run_explore
from ..fit_request import FitRequest
from ..option_names import option_of
from ..option_values import DATA, METHOD, RUN
from ..output.report import of_report
from ..output.terminal import Screen
from ..registration import command
from ..reporting import ReportRequest, report_on
from ..table_options import OF_A_FIT, OF_EVERY_TABLE, TableOptions, Weight, scale_option
from .options import File, ModelFile, Page, Seed, Theme, Title

# options of a table that a model has settled
OF_MODELS = [name for name in OF_A_FIT if name != "weight"]


@command(of_report, table=OF_EVERY_TABLE)
def report(
    screen: Screen,
    table: TableOptions,
    model: ModelFile,
    file: File,
    out: Page = Path("report.html"),
    weight: Weight = None,
    title: Title = None,
    theme: Theme = "auto",
) -> dict[str, Any]:
    return report_on(ReportRequest(model, table.reading(file, weight), out, title, theme), screen)


@command(of_report, table=OF_EVERY_TABLE | OF_A_FIT | {"scale": scale_option("auto")})
def explore(
    screen: Screen,
    context: Context,
    table: TableOptions,
    file: File,
    out: Page = Path("explore.html"),
    model: Annotated[
        Path | None,
        option(
            RUN,
            "The model.safetensors of an earlier fit.",
            "--model",
            metavar="MODEL",
            shown="none: the rows are clustered as they speak for",
        ),
    ] = None,
    n_clusters: Annotated[
        int | None,
        option(
            METHOD, "Number of clusters.", "--clusters", "-c", min=1, shown="as the rows speak for"
        ),
    ] = None,
    texts: Annotated[
        str | None,
        option(DATA, "Column of texts to show with the rows.", "--texts", metavar="COLUMN"),
    ] = None,
    coordinates: Annotated[
        str | None,
        option(
            DATA,
            "Places of the rows to draw them in, such as those of UMAP: two columns, which are no "
            "data, or a file of two.",
            "--coordinates",
            metavar="a,b|FILE",
        ),
    ] = None,
    against: Annotated[
        str | None,
        option(
            DATA,
            "What to show beside: another model of these rows, labels (a column, which is no data, "
            "or the file of labels of a fit), or a file of other rows, such as the next month's.",
            "--against",
            metavar="MODEL|LABELS|FILE",
        ),
    ] = None,
    title: Title = None,
    theme: Theme = "auto",
    random_state: Seed = 0,
) -> dict[str, Any]:
    given = [
        option_of(name) for name in OF_MODELS if table.given[name] not in (None, OF_A_FIT[name][1])
    ]
    if model is not None and (given or n_clusters is not None):
        raise InputError(
            f"{', '.join(given or ['--clusters'])}: belongs to a fit, and --model {model} has made "
            "one; leave one of them out."
        )
    words = {"random_state": random_state} | ({"n_clusters": n_clusters} if n_clusters else {})
    fit = FitRequest(
        table.reading(file),
        out,
        "fuzzy",
        words,
        table.scale(AUTO),
        table.words,
        arguments=context.obj,
    )
    typed = shlex.join(["cmeans", *context.obj])
    request = ExploreRequest(fit, model, out, texts, title, theme, typed, coordinates, against)
    return run_explore(request, screen)
