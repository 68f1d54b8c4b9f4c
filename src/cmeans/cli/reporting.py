"""`cmeans report`, and the page of `cmeans fit --report`: what was found, as one file for a
browser."""

from __future__ import annotations

import importlib.util
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sklearn.pipeline import Pipeline

from .. import __version__
from ..data.recipe.table_recipe import TableRecipe
from ..inspection.contrast import contrast_of
from ..inspection.page.document import names_a_page
from ..inspection.page.findings import Again, Findings
from ..inspection.report import CALLER, page_of
from ..inspection.rows import MOST_ROWS, InspectedRows, inspected
from ..inspection.steps import last_step
from ..storage.overwriting import refuse_overwriting
from .errors import InputError
from .models import cluster_names, with_rows
from .output.results import Stopwatch, told_warnings
from .output.terminal import Screen
from .rows import InputRows, ReadOptions, files_of, refuse_inside, texts_of

LOADED = 2**24  # bytes of rows up to which all are read, though a page shows some of them
LOOKED_AT = 2**25  # numbers of the rows that are looked at, at most
HAS_PAGES = importlib.util.find_spec("jinja2") is not None


def check_pages(option: str) -> None:
    """Refuse a page where what writes it is not installed."""
    if not HAS_PAGES:
        raise InputError(f'{option}: needs jinja2; run: python -m pip install "cmeans[report]"')


@dataclass(frozen=True)
class ReportRequest:
    """All options of one `cmeans report`."""

    model: Path
    reading: ReadOptions
    out: Path
    title: str | None = None
    theme: str = "auto"


def report_on(request: ReportRequest, screen: Screen) -> dict[str, Any]:
    """Write the page of a model and the rows of a file, and return the summary."""
    if not names_a_page(request.out) or request.out.is_dir():
        raise InputError(
            f"--out {request.out}: give a file that ends in .html, such as report.html."
        )
    refuse_inside(request.reading.file, request.out, "a file outside")
    refuse_overwriting(
        {f"--out {request.out}": request.out}, [request.model, *files_of(request.reading)]
    )
    check_pages("cmeans report")
    watch = Stopwatch()
    with told_warnings(screen) as warned:
        with watch.part("read"):
            known = with_rows(request.model, request.reading, screen, LOADED)
        with watch.part("report"):
            command = shlex.join(
                [
                    "cmeans",
                    "report",
                    str(request.model),
                    str(request.reading.file),
                    "--out",
                    str(request.out),
                ]
            )
            again = Again(
                f"import cmeans\n\nmodel = cmeans.load({str(request.model)!r})", (command,)
            )
            own = last_step(known.model, None)[0]
            findings = Findings(again=again, names=cluster_names((), known.stored, own))
            shown = ShownRows(known.model, known.rows, known.recipe, request.reading)
            write_page(shown, request.out, findings, request.title, request.theme)
    screen.say(f"wrote {request.out}")
    return {
        "command": "report",
        "version": __version__,
        "model": str(request.model),
        "estimator": known.stored["estimator"],
        "file": str(request.reading.file),
        "rows": known.rows.x.shape[0],
        "columns": len(known.recipe.columns),
        "seconds": watch.seconds,
        "warnings": warned,
        "outputs": {"report": str(request.out)},
    }


@dataclass(frozen=True)
class ShownRows:
    """A model and the rows of a file, scaled as it takes them, by the recipe of their table."""

    model: Any
    rows: InputRows
    recipe: TableRecipe
    reading: ReadOptions
    seen: InspectedRows | None = None  # these rows, where they have been looked at


def write_page(
    shown: ShownRows, out: Path, findings: Findings, title: str | None = None, theme: str = "auto"
) -> None:
    """Write the page of a model and the rows of a file, whose values are shown in the units of the
    file."""
    model, recipe, reading = shown.model, shown.recipe, shown.reading
    facts = {
        "file": str(reading.file),
        "scale": None if recipe.scaling.kind == "none" else recipe.scaling.kind,
    }
    page_of(
        model,
        looked_at(model, shown.rows, recipe) if shown.seen is None else shown.seen,
        out,
        feature_names=feature_names(model, recipe),
        row_names=None if reading.name is None else texts_of(reading, reading.name),
        title=title or f"Clusters of {Path(str(reading.file)).name}",
        theme=theme,
        findings=replace(findings, facts={**facts, **findings.facts}),
    )


def looked_at(
    model: Any, rows: InputRows, recipe: TableRecipe, most: int = MOST_ROWS
) -> InspectedRows:
    """Return what a model says of the rows of a file, in the units of the file."""
    weight = None if rows.stay else rows.weight
    return inspected(
        model,
        rows.x,
        CALLER,
        sample_weight=weight,
        most=min(most, max(LOOKED_AT // max(1, int(rows.x.shape[1])), 1)),
        recipe=recipe,
    )


def descriptions(seen: InspectedRows, names: Sequence[str]) -> list[str] | None:
    """Return what each cluster is like in a few words."""
    contrast = contrast_of(seen, tuple(names))
    return None if contrast is None else contrast.names


def feature_names(model: Any, recipe: TableRecipe) -> list[str] | None:
    """Return the names of the columns as the model has them; None where rows are no features, or a
    pipeline knows better."""
    kernel = vars(model).get("kernel_")  # None: of connected pieces, which are of features
    if isinstance(model, Pipeline) or (kernel is not None and not kernel.takes_features):
        return None
    return list(recipe.shown_names)
