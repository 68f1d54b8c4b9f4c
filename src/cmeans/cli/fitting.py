"""`cmeans fit`: rows in; labels, model and summary out."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from .. import __version__
from ..data.addresses import place as find
from ..data.addresses import removed
from ..data.recipe.table_recipe import TableRecipe
from ..engines.dask.dask_api import connected
from ..fitting.fit_plan import FitPlan
from ..fitting.rows.finite import without_partial
from ..fitting.seen_rows import Inspectable
from ..persistence.model_file import read_metadata, save
from ..runtime.signals import held_back
from ..runtime.user_warnings import DataWarning, one_line
from ..storage.atomic import WriteError, staged, write_text
from ..storage.parted_results import names_folder, parted_results
from .drift import facts_of
from .errors import InputError, Stopped
from .fit_request import (
    MODEL,
    REPORT,
    SUMMARY,
    FitRequest,
    check_request,
    left_files,
    output_files,
)
from .fit_rows import prepared_rows, with_front
from .fit_summary import column_summary, findings_of_fit, metadata_of, summary_of_fit
from .methods import METHODS, with_engine
from .models import with_columns
from .output.messages import in_options
from .output.next_steps import clearness, long_tails, next_steps, outweighing, spreads
from .output.results import (
    Stopwatch,
    as_json,
    files_kept,
    plain,
    results_folder,
    sizes,
    told_warnings,
)
from .output.run_file import RUN, as_toml
from .output.terminal import Screen
from .reporting import ShownRows, descriptions, feature_names, looked_at, write_page
from .rows import InputRows

_LABELS_AGAIN = "cmeans predict makes the labels from the model."


def fit(request: FitRequest, screen: Screen) -> dict[str, Any]:
    """Fit, write all results, and return the summary. Where an error ends it there are none; where
    that is a full disk, those that found room, the model before all others."""
    method = METHODS[request.method]
    check_request(request, method)
    if request.plan:
        return planned(request, screen)
    watch = Stopwatch()
    with (
        results_folder(request.out),
        _cluster(request.scheduler) as client,
        staged(request.out, SUMMARY, left_files(request)) as place,
    ):
        with told_warnings(screen) as warned:
            with watch.part("read"), without_partial("missing" in method.parameters):
                screen.say(f"reading {request.reading.file}")
                request, front = with_front(request, METHODS)
                model = request.fitted.model if request.fitted else model_of(request, client)
                here = client is None  # else the workers plan for themselves
                wanted = getattr(model, "plan", None) if here else None
                rows, recipe = prepared_rows(request, front, screen, stays=not here, wanted=wanted)
                request = replace(request, scale=recipe.scaling.kind)
            try:
                with files_kept({"--checkpoint": request.kept_in}), watch.part("fit"):
                    _fit_and_label(model, request, rows, screen, place / request.labels)
            except KeyboardInterrupt:
                raise Stopped(_farewell(model, request, recipe)) from None
            except WriteError as error:  # of the labels
                if model.__sklearn_is_fitted__():
                    with suppress(WriteError):  # the first one is the reason
                        save(
                            model, place / MODEL, rows=False, metadata=metadata_of(request, recipe)
                        )
                        error.more = _LABELS_AGAIN
                raise
        with watch.part("write"):
            counts = sizes(model.labels_, len(model.get_feature_names_out()))
            metadata = metadata_of(request, recipe)
            threshold = getattr(model, "outlier_threshold_", None)
            metadata["seen"] = facts_of(model, rows.x, **counts, threshold=threshold)
            _save(model, metadata, place, request.labels)
        # In few words what clusters are like, where that takes no other pass over rows that are not
        # in memory.
        names = feature_names(model, recipe)
        unseen = rows.stay or names is None or not isinstance(model, Inspectable)
        seen = None if unseen else looked_at(model, rows, recipe)
        summary = summary_of_fit(
            request, rows, model, read_metadata(place / MODEL)
        ) | column_summary(request, rows, recipe)
        summary |= {
            "clearness": clearness(model, rows.x),
            "seconds": watch.seconds,
            "warnings": warned,
            "outputs": output_files(request),
            "like": None if seen is None or names is None else descriptions(seen, names),
        }
        if request.report:
            with watch.part("report"), warnings.catch_warnings():
                warnings.simplefilter("ignore", DataWarning)  # of the table, which were told before
                shown = ShownRows(model, rows, recipe, request.reading, seen)
                write_page(shown, place / REPORT, findings_of_fit(request, summary))
        spread = spreads(rows.x, rows.columns, len(recipe.unscaled))
        tails = long_tails(rows.x, rows.columns, recipe)
        summary["next"] = next_steps(request.arguments, plain(summary), spread, tails)
        if "scale" not in request.config and (why := outweighing(summary, spread)):
            screen.say(f"columns are not scaled: {why}; --scale auto brings them to one scale")
        write_text(place / RUN, as_toml("fit", request.config))
        write_text(place / SUMMARY, as_json(summary) + "\n")
    if not screen.for_people:
        screen.say(
            f"wrote {', '.join(Path(file).name for file in summary['outputs'].values())} in "
            f"{request.out}"
        )
    return summary


def planned(request: FitRequest, screen: Screen) -> dict[str, Any]:
    """Return what the fit would take, without reading more than a little of the rows."""
    found = list[FitPlan]()
    screen.say(f"reading {request.reading.file}")
    with without_partial("missing" in METHODS[request.method].parameters):
        request, front = with_front(replace(request, scale="none"), METHODS)
        model = model_of(request)
        prepared_rows(
            request,
            front,
            screen,
            stays=False,
            wanted=lambda rows: found.append(model.plan(rows)),
        )
    return {
        "command": "plan",
        "version": __version__,
        "file": str(request.reading.file),
        "method": request.method,
        **asdict(found[0]),
    }


@contextmanager
def _cluster(scheduler: str | None) -> Iterator[Any]:
    """Provide a client of the Dask cluster where a scheduler is given, else None."""
    if scheduler is None:
        yield None
        return
    try:
        client = connected(scheduler)
    except ModuleNotFoundError as error:
        raise InputError(
            f'--engine dask: needs {error.name}; run: python -m pip install "cmeans[dask]"'
        ) from error
    except (OSError, ValueError) as error:
        raise InputError(
            f"--scheduler {scheduler}: no scheduler answers ({one_line(error)})."
        ) from error
    with client:
        yield client


def model_of(request: FitRequest, client: Any = None) -> Any:
    """Return the estimator that is asked for, not fitted."""
    return METHODS[request.method].made(
        with_engine(request.words, checkpoint=request.checkpoint, client=client)
    )


def _fit_and_label(
    model: Any, request: FitRequest, rows: InputRows, screen: Screen, labels: Path
) -> None:
    """Fit, and write labels and what is wanted beside them to a file, or to a folder of files as
    the rows have."""
    with (
        parted_results(labels, request.reading.file, "--labels-as folder")
        if names_folder(labels)
        else nullcontext(labels) as whole
    ):
        with_columns(
            whole,
            request.reading,
            lambda file: _fit(model, request, rows, screen, file),
            request.names,
        )


def _fit(model: Any, request: FitRequest, rows: InputRows, screen: Screen, labels: Path) -> None:
    """Fit, and write labels and memberships to a file in the last pass."""
    method = METHODS[request.method]
    n, d = rows.x.shape
    screen.say(
        f"fitting {n:,} rows and {d:,} columns of {rows.x.dtype.name} by --method {request.method}"
    )
    with screen.progress(getattr(model, "tol", 0.0)), screen.telling("cmeans.memory", in_options):
        written = {
            "memberships": method.soft,
            "top_k": request.top_k,
            "threshold": request.threshold,
        }
        try:
            known = {"known_labels": rows.labels, "must_link": rows.links}
            told = {word: value for word, value in known.items() if word in method.known}
            if request.fitted is not None:
                request.fitted.warn()
                model.predict_to(rows.x, labels, **written)
            else:
                weight = None if rows.stay else rows.weight
                model.fit_predict_to(rows.x, labels, sample_weight=weight, **told, **written)
        except ValueError as error:
            text = in_options(str(error))
            for option, column in (
                ("--known-labels", request.known_labels),
                ("--must-link", request.must_link),
            ):
                found = re.match(f"(?:--clusters [0-9]+: )?{option}:? ", text)
                if found is not None and column is not None:
                    raise InputError(f"{option} {column}: {text[found.end() :]}") from error
            raise
    if getattr(model, "converged_", False):  # else there is a warning
        screen.say(in_options(model.stop_reason_))
    if getattr(model, "approximation_", None) is not None:
        screen.say(str(model.approximation_))
    if method.finds_number:
        screen.say(
            f"clusters found: {model.n_clusters_:,}; rows that belong to none: "
            f"{(model.labels_ < 0).sum():,}"
        )


def _farewell(model: Any, request: FitRequest, recipe: TableRecipe) -> str:
    """Save the centres so far as a model after an interrupt, and return a message about it and the
    checkpoint."""
    kept = request.kept_in
    resume = (
        ""
        if kept is None or not find(kept).is_file()
        else f"; go on with --resume --checkpoint {kept}"
    )
    if not model.__sklearn_is_fitted__():
        return f"interrupted before there were centres; nothing was written{resume}."
    with held_back(), staged(request.out, seal=SUMMARY) as place:
        save(model, place / MODEL, rows=False, metadata=metadata_of(request, recipe))
    return (
        f"{in_options(model.stop_reason_)}; the centres so far are in "
        f"{request.out / MODEL}{resume}."
    )


def _save(model: Any, metadata: Mapping[str, Any], place: Path, labels: str) -> None:
    """Save the model; where there is room for the labels alone, in their place: it can make them
    again, and nothing else can make it."""
    try:
        save(model, place / MODEL, rows=False, metadata=metadata)
    except WriteError as error:
        removed(place / labels)
        save(model, place / MODEL, rows=False, metadata=metadata)
        lost = WriteError(error.errno, error.strerror, str(place / labels))
        lost.more = _LABELS_AGAIN
        raise lost from error
