"""The commands `cmeans predict` and `cmeans info`: what is done with a model of an earlier fit."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from ..app import option
from ..config import KEY
from ..models import PredictRequest, describe_model
from ..models import predict as run_predict
from ..option_values import RUN
from ..output.report import of_model, of_predict
from ..output.terminal import Screen
from ..registration import command
from ..table_options import OF_EVERY_TABLE, OF_LABELS, TableOptions, names_in
from .options import File, ModelFile, Names, Threshold, TopK


@command(of_predict, table=OF_EVERY_TABLE | OF_LABELS)
def predict(
    screen: Screen,
    table: TableOptions,
    config: dict[str, Any],
    model: ModelFile,
    file: File,
    out: Annotated[
        Path,
        option(
            RUN,
            "Where labels and memberships go: .parquet, .csv, or .npy (labels only); without an "
            "ending, a folder of files as the rows lie in.",
            metavar="F",
            shown=False,
        ),
    ],
    top_k: TopK = None,
    threshold: Threshold = None,
    names: Names = None,
) -> dict[str, Any]:
    request = PredictRequest(model, table.reading(file), out, top_k, threshold, names_in(names))
    return run_predict(request, screen) | {KEY: config}


@command(of_model)
def info(screen: Screen, model: ModelFile) -> dict[str, Any]:
    return describe_model(model)
