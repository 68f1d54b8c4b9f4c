"""All options of one `cmeans fit`, and what is refused of them whatever the rows are."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .. import Checkpoint
from ..data.recipe.front import Front, TableWords
from ..estimators.fits_to_all import FittedModel
from ..solvers.checkpoints import check_place
from ..storage.overwriting import FileWord, refuse_overwriting
from .errors import InputError
from .methods import METHODS, MethodSpec
from .option_names import listed, option_of
from .output.added_columns import refuse_lists
from .output.results import left_over, refuse_foreign
from .output.run_file import RUN
from .reporting import check_pages
from .rows import ReadOptions, files_of, refuse_inside

MODEL, SUMMARY, REPORT = "model.safetensors", "summary.json", "report.html"
LABELS_AS = {"parquet": "labels.parquet", "csv": "labels.csv", "folder": "labels"}


@dataclass(frozen=True)
class FitRequest:
    """All options of one `cmeans fit`. `words` are the constructor parameters that were given,
    `n_clusters` also where it is a bound."""

    reading: ReadOptions
    out: Path
    method: str
    words: dict[str, Any] = field(default_factory=dict)
    scale: str = "none"
    table: TableWords = field(default_factory=TableWords)  # what is said of its columns
    known_labels: str | None = None  # a column of them
    must_link: str | None = None  # a column of groups, or a file of pairs
    top_k: int | None = None  # number of memberships to write; None: all
    threshold: float | None = None
    checkpoint: Checkpoint | None = None
    scheduler: str | None = None  # address of the Dask cluster that runs the fit
    arguments: Sequence[str] = ()  # of the command line, for advice
    report: bool = False  # also write a page for people
    plan: bool = False  # tell what the fit would take, and do nothing
    overwrite: bool = False  # replace files that no former run has written
    names: tuple[str, ...] = ()  # of the clusters
    takes_blanks: bool = False  # as missing values, without being told
    config: Mapping[str, Any] = field(default_factory=dict)  # the options, as the summary has them
    labels: str = LABELS_AS["parquet"]  # the file of them, or their folder
    front: Front | None = None  # how the rows are read, where that is known
    fitted: FittedModel | None = None  # the model, where the choice of it has made the fit

    @property
    def kept_in(self) -> str | os.PathLike[str] | None:
        """The file of the checkpoint."""
        return None if self.checkpoint is None else self.checkpoint.path


def refuse_other_options(request: FitRequest, methods: Mapping[str, MethodSpec]) -> None:
    """Refuse options that the method has not, but another has."""
    own = methods[request.method].parameters
    if "random_state" not in own:  # the command has a seed, and asks nobody for it
        request.words.pop("random_state", None)
    for word in request.words:
        if word not in own:
            able = listed(name for name, other in methods.items() if word in other.parameters)
            raise InputError(
                f"{option_of(word)}: --method {request.method} has none; it belongs to {able}."
            )


def check_request(request: FitRequest, method: MethodSpec) -> None:
    """Refuse options that are invalid whatever the rows are."""
    refuse_other_options(request, METHODS)
    if "n_clusters" in method.needed and "n_clusters" not in request.words:
        finders = listed(name for name, other in METHODS.items() if other.finds_number)
        raise InputError(
            f"--clusters: --method {request.method} needs the number of clusters, e.g. -c 3; "
            f"{finders} find it themselves."
        )
    for word in method.needed:
        if word not in request.words:
            raise InputError(f"{option_of(word)}: --method {request.method} needs it.")
    method.made(request.words)
    count = request.words.get("n_clusters")
    if request.names and len(request.names) != count:
        raise InputError(
            f"--names {','.join(request.names)}: gives {len(request.names)} names, and --clusters "
            f"{count}; the first is that of cluster 0."
        )
    for option, value in (
        ("--known-labels", request.known_labels),
        ("--must-link", request.must_link),
    ):
        if value is not None and option[2:].replace("-", "_") not in method.known:
            raise InputError(f"{option}: --method {request.method} has none; leave it out.")
    if (request.plan or request.checkpoint) and not method.has_plans:
        raise InputError(
            f"--plan, --checkpoint: --method {request.method} has neither; leave them out."
        )
    if request.report:
        if not method.is_shown:
            raise InputError(f"--report: --method {request.method} has none; leave it out.")
        check_pages("--report")
    if not method.soft and (request.top_k is not None or request.threshold is not None):
        raise InputError(
            f"--top-k, --threshold: --method {request.method} has no memberships to choose among."
        )
    for word in request.table.named if request.scheduler is not None else ():
        raise InputError(
            f"{option_of(word)}: the workers of --engine dask read the files themselves, as "
            "numbers; encode the columns first."
        )
    refuse_lists(request.labels, request.threshold)
    refuse_inside(request.reading.file, request.out, "a folder outside")
    outputs: dict[str, FileWord] = {
        f"--out {request.out}: the {name}": file for name, file in output_files(request).items()
    }
    if request.kept_in is not None:
        outputs[f"--checkpoint {request.kept_in}"] = request.kept_in
    refuse_overwriting(outputs, files_of(request.reading))
    names = [os.path.basename(file) for file in output_files(request).values()]
    refuse_foreign(request.out, names, SUMMARY, request.overwrite)
    if request.checkpoint is not None:
        check_place(request.checkpoint, "--checkpoint")


def left_files(request: FitRequest) -> set[str]:
    """Return the files of a former run that this one does not replace, and removes."""
    written = {Path(file).name for file in output_files(request).values()}
    return left_over(request.out, {*LABELS_AS.values(), REPORT} - written, SUMMARY)


def output_files(request: FitRequest) -> dict[str, str]:
    files = {
        "labels": request.labels,
        "model": MODEL,
        "summary": SUMMARY,
        "run": RUN,
        **({"report": REPORT} if request.report else {}),
    }
    return {name: str(request.out / file) for name, file in files.items()}
