"""`cmeans fit`: rows in; labels, model and summary out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from .. import __version__
from ..data.addresses import place as find
from ..data.recipe.table_recipe import TableRecipe
from ..engines.dask.dask_api import connected
from ..fitting.covariance import covariance_from
from ..fitting.fit_plan import FitPlan
from ..fitting.rows.finite import without_partial
from ..fitting.seen_rows import Inspectable
from ..persistence.model_file import read_metadata, save
from ..rules.base import rule_of
from ..runtime.signals import held_back
from ..runtime.user_warnings import one_line
from ..storage.atomic import WriteError, staged, write_text
from .drift import facts_of
from .errors import InputError, Stopped
from .fit_request import MODEL, REPORT, SUMMARY, FitRequest, check_request, output_files
from .fit_rows import prepared_rows, with_front
from .models import with_columns
from .option_values import METHODS, name_of, with_engine
from .output.messages import in_options
from .output.next_steps import clearness, long_tails, next_steps, spreads
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
from .reporting import descriptions, feature_names, looked_at, page_of_fit
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
        staged(request.out, seal=SUMMARY) as place,
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
                    with_columns(
                        place / request.labels,
                        request.reading,
                        lambda file: _fit(model, request, rows, screen, file),
                        request.names,
                    )
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
            metadata["seen"] = facts_of(rows.x, counts["sizes"], counts["noise"])
            _save(model, metadata, place, request.labels)
        # In few words what clusters are like, where that takes no other pass over rows that are not
        # in memory.
        names = feature_names(model, recipe)
        unseen = rows.stay or names is None or not isinstance(model, Inspectable)
        seen = None if unseen else looked_at(model, rows, recipe)
        summary = _summary(request, rows, model, read_metadata(place / MODEL)) | _columns_of(
            request, rows, recipe
        )
        summary |= {
            "clearness": clearness(model, rows.x),
            "seconds": watch.seconds,
            "warnings": warned,
            "outputs": output_files(request),
            "like": None if seen is None or names is None else descriptions(seen, names),
        }
        if request.report:
            with watch.part("report"):
                said, page = request.arguments, place / REPORT
                page_of_fit(model, rows, recipe, request.reading, page, said, warned, summary, seen)
        summary["next"] = next_steps(
            request.arguments,
            plain(summary),
            spreads(rows.x, rows.columns, len(recipe.unscaled)),
            long_tails(rows.x, rows.columns, recipe),
        )
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
        (place / labels).unlink()
        save(model, place / MODEL, rows=False, metadata=metadata)
        lost = WriteError(error.errno, error.strerror, str(place / labels))
        lost.more = _LABELS_AGAIN
        raise lost from error


def metadata_of(request: FitRequest, recipe: TableRecipe) -> dict[str, Any]:
    """Return what `cmeans predict` needs beside the model."""
    return {
        "method": request.method,
        "weight": request.reading.weight,
        **recipe.to_json(),
        **({"names": list(request.names)} if request.names else {}),
    }


def _summary(
    request: FitRequest, rows: InputRows, model: Any, stored: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the summary of a fit; its numbers are those of the model file, so that `cmeans info`
    agrees."""
    fitted, covariance = stored["fitted"], vars(model).get("covariance")
    return {
        "command": "fit",
        "version": __version__,
        "file": str(request.reading.file),
        "rows": rows.x.shape[0],
        "columns": rows.x.shape[1],
        "dtype": rows.x.dtype.name,
        "scale": request.scale,
        "weight": request.reading.weight,
        "known_labels": request.known_labels,
        "must_link": request.must_link,
        "missing": int(model.n_missing_.sum()) if "n_missing_" in vars(model) else None,
        "method": request.method,
        "n_clusters": request.words.get("n_clusters"),
        "n_clusters_found": model.n_clusters_,
        "m": fitted.get("m_"),
        "pilot_m": fitted.get("pilot_m_"),
        "eta": getattr(model, "eta_", None),
        "prices": getattr(model, "prices_", None),
        "size_gap": getattr(model, "size_gap_", None),
        "noise_distance": fitted.get("noise_distance_"),
        "method_options": _own_words(request, model),
        "covariance": getattr(covariance, "shape", covariance),
        "log_likelihood": fitted.get("lower_bound_"),
        "kernel": name_of(model.kernel) if hasattr(model, "kernel") else None,
        "metric": model.metric,
        "gamma": fitted.get("gamma_"),
        "n_landmarks": getattr(model, "n_landmarks_", None),
        "approximation": fitted.get("approximation_"),
        "seed": getattr(model, "random_state", None),
        "objective": model.objective_,
        "n_iter": getattr(model, "n_iter_", None),
        "converged": getattr(model, "converged_", True),
        "reason": in_options(getattr(model, "stop_reason_", "no other centres cost less")),
        **sizes(model.labels_, len(model.get_feature_names_out())),
    }


def _columns_of(request: FitRequest, rows: InputRows, recipe: TableRecipe) -> dict[str, Any]:
    """Return what the summary says of columns that are no numbers."""
    return {
        "config": request.config,
        "column_names": list(rows.columns),
        "left_out": [field.label for field in rows.left_out],
        "id": request.reading.name,
        "categories": recipe.categories,
    }


def _own_words(request: FitRequest, model: Any) -> dict[str, Any]:
    """Return the parameters that the plain method does not have, with the estimator's values,
    defaults included."""
    method = METHODS[request.method]
    of_rule = rule_of(model.rule, type(model).__name__).get_params() if method.rule_fields else {}
    parameters = of_rule | model.get_params(deep=False)
    plain, own = ({*spec.parameters} - {*spec.kernel_fields} for spec in (METHODS["hard"], method))
    words = {word: value for word, value in parameters.items() if word in own - plain}
    if (asked := parameters.get("covariance")) is not None:
        covariance = covariance_from(asked, type(model).__name__)
        for field in ("prior", "volume"):
            if f"covariance__{field}" in own:
                words[f"covariance_{field}"] = getattr(covariance, field)
    return words
