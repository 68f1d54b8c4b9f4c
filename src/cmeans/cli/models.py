"""`cmeans predict` and `cmeans info`: a saved model with new rows, or its contents."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from .. import __version__, load
from ..data.recipe.table_recipe import TableRecipe, recipe_from_json
from ..data.row_source import ColumnLabel
from ..fitting.rows.finite import takes_holes
from ..inspection.steps import last_step
from ..persistence.model_file import read_metadata
from ..storage.overwriting import refuse_overwriting
from ..storage.parted_results import names_folder, parted_results
from .drift import changes
from .errors import InputError
from .output.added_columns import add_columns, refuse_lists
from .output.results import Stopwatch, staged_file, told_warnings
from .output.terminal import Screen
from .pipelines import rows_of_pipeline
from .rows import InputRows, ReadOptions, added_columns, files_of, read_rows, refuse_inside

T = TypeVar("T")
_ENDINGS = {".parquet", ".pq", ".csv", ".npy"}


@dataclass(frozen=True)
class PredictRequest:
    """All options of one `cmeans predict`."""

    model: Path
    reading: ReadOptions
    out: Path
    top_k: int | None = None  # number of memberships to write; None: all
    threshold: float | None = None
    names: tuple[str, ...] = ()  # of the clusters


@dataclass(frozen=True)
class ModelAndRows:
    """A saved model, and the rows of a file as it takes them."""

    stored: Mapping[str, Any]  # the header of its file
    model: Any
    recipe: TableRecipe
    rows: InputRows

    def read(self, reading: ReadOptions, most: int | None = None) -> InputRows:
        """Return the rows of a file as the model takes them, in memory if they take no more than
        `most` bytes."""
        if "steps" in self.stored:
            return rows_of_pipeline(self.model, reading)
        recipe = self.recipe
        reading = replace(reading, dtype=recipe.dtype, holes=takes_holes(self.model))
        rows = read_rows(reading, recipe.columns, most, recipe)
        return replace(rows, x=recipe.scaling.apply(rows.x))


def with_rows(
    file: Path, reading: ReadOptions, screen: Screen, most: int | None = None
) -> ModelAndRows:
    """Return a saved model and the rows of a file, prepared as those of its fit, in memory if they
    take no more than `most` bytes; of a pipeline, as they go into it."""
    stored = open_model(file)
    if stored["estimator"] == "LandmarkGraph":
        raise InputError(
            f"{file}: holds a LandmarkGraph, which has features of rows and no clusters."
        )
    model = load(file)
    screen.say(f"reading {reading.file}")
    known = ModelAndRows(stored, model, read_recipe(stored, model), InputRows(None, ()))
    known = replace(known, rows=known.read(reading, most))
    if "steps" not in stored:
        # which rows in memory have lost: their columns are chosen by these names already
        vars(model).pop("feature_names_in_", None)
    return known


def predict(request: PredictRequest, screen: Screen) -> dict[str, Any]:
    """Label the rows of a file, write one file, and return the summary."""
    _check(request)
    watch = Stopwatch()
    with (
        parted_results(request.out, request.reading.file, f"--out {request.out}")
        if names_folder(request.out)
        else staged_file(request.out) as place,
        told_warnings(screen) as warned,
    ):
        with watch.part("read"):
            known = with_rows(request.model, request.reading, screen)
            model, x = last_step(known.model, known.rows.x)
        with watch.part("predict"):
            is_soft = hasattr(model, "rule_") and model.rule_.is_soft
            soft = is_soft and place.suffix != ".npy"
            if not soft and (request.top_k is not None or request.threshold is not None):
                which = f"{request.out} holds" if is_soft else "clusters of this model have"
                raise InputError(
                    f"--top-k, --threshold: {which} labels alone, no memberships to choose among."
                )
            chosen = {"memberships": soft, "top_k": request.top_k, "threshold": request.threshold}
            names = cluster_names(request.names, known.stored, model)
            beside = () if place.suffix == ".npy" else names
            counts = with_columns(
                place, request.reading, lambda file: model.predict_to(x, file, **chosen), beside
            )
            known.rows.unseen.tell()  # of rows that stay in their files
    screen.say(f"wrote {request.out}")
    n_clusters, noise = len(counts), int(x.shape[0] - counts.sum())
    before = (known.stored.get("metadata") or {}).get("seen")
    changed = (
        None if before is None else changes(before, model, known.recipe, x, counts, noise, names)
    )
    for line in (changed or {}).values():
        screen.say(line)
    return {
        "command": "predict",
        "version": __version__,
        "model": str(request.model),
        "estimator": known.stored["estimator"],
        "file": str(request.reading.file),
        "rows": x.shape[0],
        "columns": len(known.recipe.columns),
        "n_clusters": n_clusters,
        "sizes": counts,
        "noise": noise,
        "changed": changed,
        "memberships": soft,
        "seconds": watch.seconds,
        "warnings": warned,
        "outputs": {"labels": str(request.out)},
    }


def cluster_names(given: Sequence[str], stored: Mapping[str, Any], model: Any) -> tuple[str, ...]:
    """Return the names of the clusters of a model: the given ones, else those of its fit."""
    kept = (stored.get("metadata") or {}).get("names") or ()
    names = tuple(map(str, given or (kept if isinstance(kept, list) else ())))
    count = len(model.get_feature_names_out())
    if names and len(names) != count:
        raise InputError(
            f"--names {','.join(names)}: gives {len(names)} names, and there are {count} clusters."
        )
    return names


def open_model(file: Path) -> dict[str, Any]:
    """Return the header of a model file."""
    if not file.exists():
        raise InputError(f"{file}: no such model file.")
    if file.is_dir():
        raise InputError(
            f"{file}: is a folder; the model is a file in it, e.g. {file / 'model.safetensors'}."
        )
    return read_metadata(file)


def read_recipe(stored: Mapping[str, Any], model: Any) -> TableRecipe:
    """Return the stored preparation of rows; a model saved from Python has column names at most,
    and no scaling."""
    beside = stored.get("metadata") or {}
    if "columns" not in beside:
        names: Sequence[ColumnLabel] = getattr(
            model, "feature_names_in_", range(model.n_features_in_)
        )
        return TableRecipe(tuple(name if isinstance(name, int) else str(name) for name in names))
    return recipe_from_json(beside)


def with_columns(
    file: Path, reading: ReadOptions, write: Callable[[Path], T], names: Sequence[str] = ()
) -> T:
    """Call `write` with the file of labels, and add the columns of the rows that are wanted beside
    them, and the names of the clusters."""
    if reading.name is None and not reading.with_rows and not names:
        return write(file)
    bare = file.with_name("bare.parquet")
    written = write(bare)
    add_columns(bare, file, added_columns(reading), names)
    return written


def _check(request: PredictRequest) -> None:
    wide = {
        f"--id {request.reading.name}": request.reading.name is not None,
        "--with-rows": request.reading.with_rows,
        "--names": bool(request.names),
    }
    option = next((option for option, given in wide.items() if given), None)
    if option is not None and request.out.suffix == ".npy":
        raise InputError(
            f"{option}: {request.out} can hold labels only; give a .parquet or .csv file."
        )
    refuse_lists(request.out, request.threshold)
    refuse_inside(request.reading.file, request.out, "a file outside")
    if names_folder(request.out):
        return
    if request.out.suffix not in _ENDINGS:
        raise InputError(
            f"--out {request.out}: unknown ending; known are .parquet, .csv and .npy (labels only)."
        )
    if request.out.is_dir():
        raise InputError(
            f"--out {request.out}: is a folder; give a file, e.g. {request.out / 'labels.parquet'}."
        )
    refuse_overwriting(
        {f"--out {request.out}": request.out}, [request.model, *files_of(request.reading)]
    )


def describe_model(file: Path) -> dict[str, Any]:
    """Return the header of a model file as flat facts; arrays by type and shape."""
    stored = open_model(file)
    return {
        "model": str(file),
        "bytes": file.stat().st_size,
        "estimator": stored["estimator"],
        **({"steps": stored["steps"]} if "steps" in stored else {}),
        "format": stored["format"],
        "version": stored["version"],
        "params": stored["params"],
        "fitted": stored["fitted"],
        "arrays": stored["arrays"],
        "metadata": stored.get("metadata") or {},
    }
