"""`cmeans fit`: rows in; labels, model and summary out."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from .. import (
    AdaptivePossibilisticCMeans,
    Checkpoint,
    DaskEngine,
    FuzzyCMeans,
    KernelKMeans,
    PossibilisticCMeans,
    ProbabilisticKMeans,
    SequentialPossibilisticCMeans,
    TwoStepKernelKMeans,
    __version__,
)
from ..blocks import spans
from ..engines.dask_door import connected
from ..memory import parse_budget
from ..model_file import read_metadata, save
from ..signals import held_back
from ..sources.spelling import one_line
from ..stored import StoredRows
from ..sweep import Outputs
from ..writing import Columns, checked_columns, row_file
from .errors import InputError, Stopped
from .outputs import results_folder, staged
from .rows import SHARE, Rows, Wish, read_rows, refuse_inside
from .scaling import Scaling, learn_scaling
from .screen import Screen
from .summaries import Stopwatch, as_json, caught_warnings, sizes
from .words import listed, option_of

WRITTEN_TOGETHER = 65_536  # rows
LABELS, MODEL, SUMMARY = "labels.parquet", "model.safetensors", "summary.json"


class Method:
    """One clustering method: who does it, and which words it knows."""

    def __init__(self, estimator: type[Any], soft: bool = False) -> None:
        self.estimator = estimator
        self.soft = soft  # has memberships worth writing
        self.words = frozenset(inspect.signature(estimator).parameters)

    @property
    def finds_number(self) -> bool:
        """Whether the number of clusters is a result, and what is asked only a bound."""
        return "max_clusters" in self.words


METHODS = {
    "hard": Method(KernelKMeans),
    "two-step": Method(TwoStepKernelKMeans),
    "probabilistic": Method(ProbabilisticKMeans),
    "fuzzy": Method(FuzzyCMeans, True),
    "possibilistic": Method(PossibilisticCMeans, True),
    "adaptive": Method(AdaptivePossibilisticCMeans, True),
    "sequential": Method(SequentialPossibilisticCMeans, True),
}


@dataclass(frozen=True)
class FitRequest:
    """Everything `cmeans fit` was told. `words` are the estimator's constructor words that were given; the others keep its defaults."""

    wish: Wish
    out: Path
    method: str
    clusters: int | None = None  # how many, or at most how many
    words: dict[str, Any] = field(default_factory=dict)
    scale: str = "none"
    top_k: int | None = None  # of the memberships, which are all written else
    threshold: float | None = None
    checkpoint: Checkpoint | None = None
    scheduler: str | None = None  # of the Dask cluster that runs the fit

    def columns(self, method: Method, model: Any) -> Columns:
        """What is written of each row."""
        return checked_columns(
            Path(LABELS),
            len(model._state.centres),
            "the labels",
            memberships=method.soft,
            top_k=self.top_k,
            threshold=self.threshold,
        )


def fit(request: FitRequest, screen: Screen) -> dict[str, Any]:
    """Fit, write all results or none, and return the summary."""
    method = METHODS[request.method]
    _check(request, method)
    watch = Stopwatch()
    with results_folder(request.out), _cluster(request.scheduler) as client:
        with caught_warnings(screen.warn) as warned:
            with watch.part("read"):
                rows, scaling = _read(request, screen, stays=client is not None)
            model = _model(request, client)
            try:
                with watch.part("fit"):
                    _fit(model, request, rows, screen)
            except KeyboardInterrupt:
                raise Stopped(_farewell(model, request, rows, scaling)) from None
        with staged(request.out, seal=SUMMARY) as place:
            with watch.part("write"):
                _write_labels(place / LABELS, model, rows, request.columns(method, model))
                save(model, place / MODEL, rows=False, metadata=_metadata(request, rows, scaling))
            summary = _summary(request, rows, model, read_metadata(place / MODEL))
            summary |= {"seconds": watch.seconds, "warnings": warned, "outputs": _outputs(request.out)}
            (place / SUMMARY).write_text(as_json(summary) + "\n", encoding="utf-8")
    screen.say(f"wrote {', '.join((LABELS, MODEL, SUMMARY))} in {request.out}")
    return summary


def _write_labels(file: Path, model: Any, rows: Rows, columns: Columns) -> None:
    """From what the fit has kept, or, of rows that are not in memory, from one more pass."""
    if columns.memberships and isinstance(rows.x, StoredRows) and "memberships_" not in vars(model):
        model.predict_to(rows.x, file, memberships=True, top_k=columns.top_k, threshold=columns.threshold)
        return
    labels, n = model.labels_, len(model.labels_)
    u = model.memberships_ if columns.memberships else np.empty((n, 0), rows.x.dtype)
    with row_file(file, n, columns, u.dtype) as table:
        for start, stop in spans(n, WRITTEN_TOGETHER):
            table.append(columns.of(Outputs(labels[start:stop], u[start:stop], np.empty(0))))


@contextmanager
def _cluster(scheduler: str | None) -> Iterator[Any]:
    """A client of the cluster, where one is asked for."""
    if scheduler is None:
        yield None
        return
    try:
        client = connected(scheduler)
    except ModuleNotFoundError as error:
        raise InputError(f'--engine dask: needs {error.name}; run: python -m pip install "cmeans[dask]"') from error
    except (OSError, ValueError) as error:
        raise InputError(f"--scheduler {scheduler}: no scheduler answers ({one_line(error)}).") from error
    with client:
        yield client


def _check(request: FitRequest, method: Method) -> None:
    """What can be known to be wrong before any row is read."""
    if request.clusters is None and not method.finds_number:
        finders = listed(name for name, other in METHODS.items() if other.finds_number)
        raise InputError(f"--clusters: --method {request.method} needs the number of clusters, e.g. -c 3; {finders} find it themselves.")
    for word in request.words:
        if word not in method.words:
            able = listed(name for name, other in METHODS.items() if word in other.words)
            raise InputError(f"{option_of(word)}: --method {request.method} has none; it belongs to {able}.")
    if not method.soft and (request.top_k is not None or request.threshold is not None):
        raise InputError(f"--top-k, --threshold: --method {request.method} has no memberships to choose among.")
    if request.checkpoint is not None and "checkpoint" not in method.words:
        able = listed(name for name, other in METHODS.items() if "checkpoint" in other.words)
        raise InputError(f"--checkpoint: --method {request.method} keeps none; {able} do.")
    refuse_inside(request.wish.file, request.out, "a folder outside")
    for name, path in _outputs(request.out).items():
        if request.wish.file.resolve() == Path(path).resolve():
            raise InputError(f"--out {request.out}: the {name} would overwrite the input file {request.wish.file}; choose another folder.")


def _read(request: FitRequest, screen: Screen, *, stays: bool) -> tuple[Rows, Scaling]:
    screen.say(f"reading {request.wish.file}")
    budget = parse_budget(request.words.get("memory_budget"), "--memory-budget")
    rows = read_rows(request.wish, most=0 if stays else None if budget is None else budget // SHARE)
    if isinstance(rows.x, StoredRows):
        who = "the workers read them" if stays else "they are read again in every sweep"
        screen.say(f"{rows.x.nbytes / 1e9:.3g} GB of rows stay where they are; {who}")
    scaling = learn_scaling(request.scale, rows.x, rows.weight)
    return replace(rows, x=scaling.apply(rows.x)), scaling


def _model(request: FitRequest, client: Any) -> Any:
    method, words = METHODS[request.method], request.words
    if request.clusters is not None:
        words = {**words, "max_clusters" if method.finds_number else "n_clusters": request.clusters}
    if request.checkpoint is not None:
        words = {**words, "checkpoint": request.checkpoint}
    if client is not None:
        words = {**words, "engine": DaskEngine(client)}
    return method.estimator(**words)


def _fit(model: Any, request: FitRequest, rows: Rows, screen: Screen) -> None:
    method = METHODS[request.method]
    n, d = rows.x.shape
    screen.say(f"fitting {type(model).__name__} to {n:,} rows and {d:,} columns of {rows.x.dtype.name}")
    with screen.progress(model.tol), screen.telling("cmeans.memory"):
        model.fit(rows.x, sample_weight=None if isinstance(rows.x, StoredRows) else rows.weight)  # those bring their own
    if model.converged_:  # else a warning says it
        screen.say(model.stop_reason_)
    if model.approximation_ is not None:
        screen.say(str(model.approximation_))
    if method.finds_number:
        screen.say(f"clusters found: {model.n_clusters_:,}; rows that belong to none: {(model.labels_ < 0).sum():,}")


def _farewell(model: Any, request: FitRequest, rows: Rows, scaling: Scaling) -> str:
    """What an interrupt leaves: the centres so far, as a model, and the checkpoint."""
    resume = "" if request.checkpoint is None else f"; go on with --resume --checkpoint {request.checkpoint.path}"
    if "_state" not in vars(model):
        return f"interrupted before there were centres; nothing was written{resume}."
    with held_back(), staged(request.out, seal=SUMMARY) as place:
        save(model, place / MODEL, rows=False, metadata=_metadata(request, rows, scaling))
    return f"{model.stop_reason_}; the centres so far are in {request.out / MODEL}{resume}."


def _metadata(request: FitRequest, rows: Rows, scaling: Scaling) -> dict[str, Any]:
    """What `cmeans predict` must know beside the model."""
    return {
        "method": request.method,
        "columns": list(rows.columns),
        "weight": request.wish.weight,
        "scaling": scaling.to_json(),
        "dtype": rows.x.dtype.name,
    }


def _outputs(out: Path) -> dict[str, str]:
    return {"labels": str(out / LABELS), "model": str(out / MODEL), "summary": str(out / SUMMARY)}


def _summary(request: FitRequest, rows: Rows, model: Any, stored: Mapping[str, Any]) -> dict[str, Any]:
    """What there is to say of a fit; its numbers are those of the model file, so that `cmeans info` agrees."""
    fitted = stored["fitted"]
    return {
        "command": "fit",
        "version": __version__,
        "file": str(request.wish.file),
        "rows": rows.x.shape[0],
        "columns": rows.x.shape[1],
        "dtype": rows.x.dtype.name,
        "scale": request.scale,
        "weight": request.wish.weight,
        "method": request.method,
        "n_clusters": request.clusters,
        "n_clusters_found": model.n_clusters_,
        "m": fitted.get("m_"),
        "pilot_m": fitted.get("pilot_m_"),
        "eta": getattr(model, "eta_", None),
        "method_options": _own_words(request, model),
        "kernel": model.kernel,
        "gamma": fitted.get("gamma_"),
        "n_landmarks": model.n_landmarks_,
        "approximation": fitted.get("approximation_"),
        "seed": model.random_state,
        "objective": model.objective_,
        "n_iter": model.n_iter_,
        "converged": model.converged_,
        "reason": model.stop_reason_,
        **sizes(model.labels_, len(model._state.centres)),
    }


def _own_words(request: FitRequest, model: Any) -> dict[str, Any]:
    """The words that the plain method does not have, as the estimator had them, its defaults included."""
    own = METHODS[request.method].words - METHODS["hard"].words - {"max_clusters"}
    return {word: value for word, value in model.get_params(deep=False).items() if word in own}
