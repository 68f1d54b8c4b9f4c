"""`cmeans explore`: a page to explore the clusters of a file with, those of a model or of a fit
that is made for it."""

from __future__ import annotations

import tempfile
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from .. import __version__
from ..estimators.auto_candidates import CandidatePartitions
from ..inspection.exploration import Exploration
from ..inspection.explore import exploration_of
from ..inspection.page.document import names_a_page
from ..inspection.page.findings import Again, Findings
from ..inspection.steps import last_step
from ..runtime.user_warnings import DataWarning
from ..storage.overwriting import refuse_overwriting
from .beside import ShownBeside
from .choosing import choice_of
from .errors import InputError
from .fit_request import MODEL, FitRequest
from .fitting import fit
from .models import ModelAndRows, cluster_names, with_rows
from .output.results import Stopwatch, told_warnings
from .output.terminal import Screen
from .reporting import check_pages, feature_names, looked_at
from .rows import ReadOptions, files_of, refuse_inside

MOST_ROWS = 200_000  # of a page


@dataclass(frozen=True)
class ExploreRequest:
    """All options of one `cmeans explore`. `fit`: the fit that is made where no model is given."""

    fit: FitRequest
    model: Path | None
    out: Path
    texts: str | None = None  # a column
    title: str | None = None
    theme: str = "auto"
    command: str = ""  # as it was typed
    coordinates: str | None = None  # a file, or columns
    against: str | None = None  # a model, labels or other rows

    @property
    def reading(self) -> ReadOptions:
        return self.fit.reading

    @property
    def beside(self) -> ShownBeside:
        return ShownBeside(self.reading, self.coordinates, self.against)


def explore(request: ExploreRequest, screen: Screen) -> dict[str, Any]:
    """Write the page of the rows of a file, and return the summary."""
    _check(request)
    beside = request.beside
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # of columns, told when the rows are read
        fit = replace(request.fit, reading=beside.without_places())
    request, watch = replace(request, fit=fit), Stopwatch()
    with told_warnings(screen) as warned:
        with watch.part("fit"):
            known, choice = _model_and_rows(request, screen)
        with watch.part("page"):
            warnings_of_fit = [] if request.model else list(warned)
            page = _page(request, beside, known, choice, screen, warnings_of_fit)
            page.save(request.out)
    screen.say(f"wrote {request.out}")
    return {
        "command": "explore",
        "version": __version__,
        "model": None if request.model is None else str(request.model),
        "estimator": known.stored["estimator"],
        "file": str(request.reading.file),
        "rows": known.rows.x.shape[0],
        "columns": len(known.recipe.columns),
        "seconds": watch.seconds,
        "warnings": warned,
        "outputs": {"page": str(request.out)},
    }


def _check(request: ExploreRequest) -> None:
    out = request.out
    if not names_a_page(out) or out.is_dir():
        raise InputError(f"--out {out}: give a file that ends in .html, such as explore.html.")
    refuse_inside(request.reading.file, out, "a file outside")
    given = [request.model, request.against, request.coordinates]
    inputs = [*(file for file in given if file is not None), *files_of(request.reading)]
    refuse_overwriting({f"--out {out}": out}, inputs)
    check_pages("cmeans explore")


def _model_and_rows(
    request: ExploreRequest, screen: Screen
) -> tuple[ModelAndRows, CandidatePartitions | None]:
    """Return the model that is given, or one that is fitted, with the rows of the file as it takes
    them, and the choice that the fit rests on."""
    if request.model is not None:
        return with_rows(request.model, request.reading, screen), None
    asked, evidence = choice_of(request.fit, screen)
    with tempfile.TemporaryDirectory() as folder:
        fit(replace(asked, out=Path(folder) / "fit"), replace(screen, quiet=True))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)  # of the table, which were told before
            known = with_rows(
                Path(folder) / "fit" / MODEL, request.reading, replace(screen, quiet=True)
            )
    return known, CandidatePartitions(evidence)


def _page(
    request: ExploreRequest,
    beside: ShownBeside,
    known: ModelAndRows,
    choice: CandidatePartitions | None,
    screen: Screen,
    warned: list[str],
) -> Exploration:
    reading, model = request.reading, known.model
    known, sets = beside.joined(known)
    seen = looked_at(model, known.rows, known.recipe, MOST_ROWS)
    facts = {"file": str(reading.file), "scale": known.recipe.scaling.kind}
    code = f"import cmeans\n\nmodel = cmeans.load({str(request.model or MODEL)!r})"
    findings = Findings(warnings=warned, facts=facts, again=Again(code, (request.command,)))
    return exploration_of(
        model,
        seen,
        feature_names=feature_names(model, known.recipe),
        ids=beside.texts(reading.name),
        texts=beside.texts(request.texts),
        coordinates=beside.places(seen.n_rows),
        sets=sets,
        set_names=(Path(str(reading.file)).name, Path(request.against or "").name),
        choice=choice,
        names=cluster_names((), known.stored, last_step(model, None)[0]),
        more=beside.partitions(seen, screen),
        title=request.title or f"Clusters of {Path(str(reading.file)).name}",
        theme=request.theme,
        findings=findings,
    )
