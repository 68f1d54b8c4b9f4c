"""`cmeans select`: the number of clusters that the rows of a file show."""

from __future__ import annotations

import importlib.util
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from .. import __version__, select
from ..fitting.arguments import Auto
from ..fitting.fit import BaseCMeans
from ..fitting.fit_plan import FitPlan
from ..fitting.kernel_evidence import given_kernel
from ..fitting.rows.finite import without_partial
from ..inspection.displays.selection import SelectionDisplay
from ..inspection.figure import write_figure
from ..selection.evidence import trial_size
from ..selection.select import OF_DISTANCES, OF_LIKELIHOODS
from ..solvers.checkpoints import check_place
from ..storage.atomic import staged, write_text
from ..storage.overwriting import refuse_overwriting
from .config import KEY
from .errors import InputError
from .fit_request import FitRequest, refuse_other_options
from .fit_rows import PARTIAL, prepared_rows, with_front
from .methods import METHODS, with_engine
from .output.results import (
    Stopwatch,
    as_json,
    files_kept,
    refuse_foreign,
    results_folder,
    told_warnings,
)
from .output.run_file import RUN, as_toml
from .output.terminal import Screen
from .rows import files_of, refuse_inside

SELECTABLE = {
    name: method
    for name, method in METHODS.items()
    if not method.finds_number and issubclass(method.estimator, BaseCMeans)
}
# options that a fit has not, or otherwise
OWN = (
    "-c",
    "--clusters",
    "--by",
    "--refits",
    "--sample",
    "--out",
    "--checkpoint",
    "--checkpoint-minutes",
)
OWN_FLAGS = ("select", "--overwrite", "--resume", "--json", "--quiet", "-q", "--debug")
TABLE, PICTURE, SUMMARY = "selection.csv", "selection.png", "selection.json"
OUTPUTS = (TABLE, PICTURE, SUMMARY, RUN)


@dataclass(frozen=True)
class Trials:
    """The trials of the command, as they are told."""

    clusters: str
    by: str
    refits: int | None
    sample: str

    def words(self) -> dict[str, Any]:
        """Return them as `select` takes them, `n_clusters` apart."""
        if self.refits == 1 or (self.by == "stability" and self.refits == 0):
            raise InputError(
                f"--refits {self.refits}: agreement of refits needs at least 2 of them; 0, for "
                "none, goes with another --by."
            )
        whole = self.sample.isascii() and self.sample.isdigit() and int(self.sample) > 0
        if not whole and self.sample not in ("auto", "all"):
            raise InputError(f"--sample {self.sample}: give a number of rows, all, or auto.")
        return {
            "by": self.by,
            "n_bootstrap": "auto" if self.refits is None else self.refits,
            "sample_size": int(self.sample) if whole else {"all": None}.get(self.sample, "auto"),
        }


def usual_scale(words: Mapping[str, Any]) -> str:
    """Return the scale that is taken where none is given: none where directions of rows are
    compared, which a scale would change."""
    return "none" if "cosine" in (words.get("metric"), words.get("kernel")) else "auto"


def select_number(
    request: FitRequest, trials: Trials, screen: Screen, out: Path | None = None
) -> dict[str, Any]:
    """Judge every number of clusters on a sample of the rows, write what was seen to a folder if
    one is given, and return the summary."""
    if request.checkpoint is not None and (file := request.kept_in) is not None:
        refuse_overwriting({f"--checkpoint {file}": file}, files_of(request.reading))
        check_place(request.checkpoint, "--checkpoint")
    if out is None:
        return _judged(request, trials, screen)[0]
    refuse_inside(request.reading.file, out, "a folder outside")
    refuse_overwriting(
        {f"--out {out}: the {name}": str(out / name) for name in OUTPUTS}, files_of(request.reading)
    )
    refuse_foreign(out, OUTPUTS, SUMMARY, request.overwrite)
    with results_folder(out), staged(out, seal=SUMMARY) as place:
        summary, found = _judged(request, trials, screen)
        files = {"table": TABLE, "summary": SUMMARY, "run": RUN}
        write_text(place / TABLE, _csv(found.table))
        if importlib.util.find_spec("matplotlib") is not None:  # which the extra "plot" brings
            files["picture"] = PICTURE
            write_figure(SelectionDisplay.from_selection(found).figure_, place / PICTURE)
        summary["outputs"] = {name: str(out / file) for name, file in files.items()}
        write_text(place / RUN, as_toml("select", request.config))
        write_text(place / SUMMARY, as_json(summary) + "\n")
    return summary


def _csv(table: Mapping[str, Any]) -> str:
    rows = zip(*(values.tolist() for values in table.values()), strict=True)
    return "\n".join([",".join(table), *(",".join(map(str, row)) for row in rows)]) + "\n"


def _judged(request: FitRequest, trials: Trials, screen: Screen) -> tuple[dict[str, Any], Any]:
    """Return the summary, and what was selected."""
    if request.method not in SELECTABLE:
        known = ", ".join(SELECTABLE)
        raise InputError(
            f"--method {request.method}: methods whose number of clusters is chosen are {known}."
        )
    refuse_other_options(request, SELECTABLE)
    words, numbers = trials.words(), numbers_of(trials.clusters)
    model = SELECTABLE[request.method].made({**request.words, "n_clusters": numbers[0]})
    able = OF_LIKELIHOODS if model._has_likelihood else OF_DISTANCES
    if trials.by not in able:
        raise InputError(
            f"--by {trials.by}: --method {request.method} has none; give {', '.join(able)}, or "
            "another method."
        )
    watch = Stopwatch()
    with told_warnings(screen) as warned:
        with watch.part("read"), without_partial("missing" in model.get_params(deep=False)):
            screen.say(f"reading {request.reading.file}")
            request, front = with_front(request, SELECTABLE)
            if request.takes_blanks:
                model.set_params(missing=PARTIAL)
            wanted = partial(_sample_plan, request, numbers[-1], words["sample_size"])
            rows, recipe = prepared_rows(request, front, screen, stays=False, wanted=wanted)
        screen.say(f"judging {numbers[0]} to {numbers[-1]} clusters by --method {request.method}")
        with (
            files_kept({"--checkpoint": request.kept_in}),
            watch.part("select"),
            screen.progress(0.0),
        ):
            weight = None if rows.stay else rows.weight
            words |= {"sample_weight": weight, "refit": False, "checkpoint": request.checkpoint}
            found = select(model, rows.x, numbers, **words)
    summary = {
        "command": "select",
        "version": __version__,
        "file": str(request.reading.file),
        "rows": rows.x.shape[0],
        "columns": rows.x.shape[1],
        "scale": recipe.scaling.kind,
        "method": request.method,
        "seed": model.random_state,
        "by": trials.by,
        "n_clusters": found.n_clusters,
        "reason": found.reason,
        "table": {name: values.tolist() for name, values in found.table.items()},
        "seconds": watch.seconds,
        "warnings": warned,
        "next": _next(request.arguments, found.n_clusters, recipe.scaling.kind),
        KEY: request.config,
    }
    return summary, found


def _sample_plan(
    request: FitRequest, most_clusters: int, sample: int | Auto | None, x: Any
) -> FitPlan:
    """Return the plan of the largest of the fits that are made, to a sample of the rows."""
    words = with_engine({**request.words, "n_clusters": most_clusters})
    model: Any = SELECTABLE[request.method].made(words)
    (n, d), products = x.shape, given_kernel(model, "select").takes_kernel_values
    size = n if sample is None else sample
    count = min(n, trial_size(d, most_clusters, products=products, sample=size))
    plan: FitPlan = model.plan(np.zeros((count, d), x.dtype))
    return plan


def numbers_of(text: str) -> list[int]:
    """Return the numbers of `2-20`, or of `3,5,8-10`."""
    numbers = set[int]()
    for part in text.split(","):
        ends = re.fullmatch(r"\s*(\d{1,6})(?:-(\d{1,6}))?\s*", part)
        if ends is None or int(ends[1]) < 2 or int(ends[2] or ends[1]) < int(ends[1]):
            raise InputError(f"--clusters {text}: give numbers from 2 on, such as 2-20 or 3,5,8.")
        numbers |= set(range(int(ends[1]), int(ends[2] or ends[1]) + 1))
    return sorted(numbers)


def _next(arguments: Any, n_clusters: int, scale: str) -> list[dict[str, str]]:
    """Return the fit to make, as a command to copy, with the scale that was taken."""
    if n_clusters == 1 or not arguments:
        return []
    words, kept = list(arguments), list[str]()
    while words:
        word = words.pop(0)
        if word in OWN:
            words = words[1:]
        elif not word.startswith(tuple(f"{option}=" for option in OWN)) and word not in OWN_FLAGS:
            kept.append(word)
    if scale != "none" and not any(word.partition("=")[0] == "--scale" for word in kept):
        kept += ["--scale", scale]
    command = shlex.join(["cmeans", "fit", *kept, "-c", str(n_clusters), "--out", "clusters"])
    return [{"why": f"fit {n_clusters} clusters", "command": command}]
