"""`cmeans index`: the cells of a vector index, in files that faiss and Lance read."""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import __version__
from ..data.files.vectors import as_fvecs
from ..fitting.placement import Placement, place_rows
from ..fitting.rows.finite import without_partial
from ..persistence.model_file import save
from ..runtime.user_warnings import DataWarning
from ..storage.atomic import staged, write_text, writing_to
from ..storage.overwriting import FileWord, refuse_overwriting
from .errors import InputError
from .fit_request import MODEL, SUMMARY, FitRequest
from .fit_rows import prepared_rows, with_front
from .fit_summary import metadata_of
from .fitting import planned
from .index_recall import TOLD, IndexCells, cells_for_recall
from .methods import METHODS
from .models import with_rows
from .output.messages import in_options
from .output.results import (
    Stopwatch,
    as_json,
    left_over,
    refuse_foreign,
    results_folder,
    told_warnings,
)
from .output.run_file import RUN, as_toml
from .output.terminal import Screen
from .rows import ReadOptions, files_of, refuse_inside

CENTROIDS, FVECS, ASSIGNMENTS = "centroids.npy", "centroids.fvecs", "assignments.npy"
PACKED = "centroids_packed.npy"  # of packed bits alone
OUTPUTS = {
    "centroids": CENTROIDS,
    "centroids_fvecs": FVECS,
    "assignments": ASSIGNMENTS,
    "model": MODEL,
    "summary": SUMMARY,
    "run": RUN,
}
FARTHER = 1.2  # times as far as the rows of the training, from which on new ones want new cells
IN_LEVELS = 256  # cells from which on they are made in two levels, unless it is told otherwise


def words_of_cells(
    n_clusters: int,
    metric: str = "euclidean",
    balance: float | None = None,
    search: str | None = None,
    **more: Any,
) -> dict[str, Any]:
    """Return the parameters of the estimator that makes so many cells."""
    in_levels = n_clusters >= IN_LEVELS if search is None else search == "hierarchical"
    words = {
        "n_clusters": n_clusters,
        "kernel": "linear",
        "metric": metric,
        "missing": "error",
        "search__method": "hierarchical" if in_levels else None,
        **more,
    }
    if balance is not None:
        if not math.isfinite(balance):
            raise InputError(f"--balance {balance:g}: give a number from 1, or leave it out.")
        words |= {"sizes__most": balance, "sizes__of": "mean"}
    return words


def train_index(request: FitRequest, screen: Screen, recall: float | None = None) -> dict[str, Any]:
    """Make the cells of the rows of a file, write all results, and return the summary, which names
    the probes that find a share `recall` of the nearest rows."""
    METHODS[request.method].made(request.words)
    _check_files(request)
    if request.plan:
        return planned(request, screen)
    watch = Stopwatch()
    packed = [] if request.reading.bits else left_over(request.out, [PACKED], SUMMARY)
    with results_folder(request.out), staged(request.out, SUMMARY, packed) as place:
        with told_warnings(screen) as warned:
            with watch.part("read"), without_partial(False):
                screen.say(f"reading {request.reading.file}")
                request, front = with_front(request, METHODS)
                plan = METHODS[request.method].made(request.words).plan
                rows, recipe = prepared_rows(request, front, screen, stays=False, wanted=plan)
            with (
                watch.part("fit"),
                screen.progress(0.0),
                screen.telling("cmeans.memory", in_options),
            ):
                cells = _trained(request.words, rows.x, recall)
        with watch.part("write"):
            model, assignments = cells.model, cells.labels.astype(np.int32)
            centroids = np.ascontiguousarray(model.cluster_centers_, np.float32)
            _write(place / CENTROIDS, centroids)
            with writing_to(place / FVECS):
                (place / FVECS).write_bytes(as_fvecs(centroids))
            _write(place / ASSIGNMENTS, assignments)
            if request.reading.bits is not None:  # what most rows of a cell have
                _write(place / PACKED, np.packbits(centroids > 0.5, axis=1))
            save(model, place / MODEL, rows=False, metadata=metadata_of(request, recipe))
        summary = {
            "command": "index",
            "version": __version__,
            "file": str(request.reading.file),
            "columns": rows.x.shape[1],
            "metric": request.words["metric"],
            "search": request.words["search__method"] or "flat",
            "n_clusters": request.words["n_clusters"],
            "balance": request.words.get("sizes__most"),
            "seed": request.words["random_state"],
            "objective": model.objective_,
            "mean_distance": model.objective_
            / max(len(assignments) - cells.told.get("queries", 0), 1),
            **_sizes(assignments, len(centroids)),
            **cells.told,
            "seconds": watch.seconds,
            "warnings": warned,
            "outputs": {name: str(request.out / file) for name, file in _outputs(request).items()},
            "config": request.config,
        }
        write_text(place / RUN, as_toml("index", request.config))
        write_text(place / SUMMARY, as_json(summary) + "\n")
    return summary


def add_to_index(reading: ReadOptions, folder: Path, screen: Screen) -> dict[str, Any]:
    """Put the rows of a file into the cells of an index, behind those that it holds, and return the
    summary."""
    watch = Stopwatch()
    refuse_inside(reading.file, folder, "a folder outside")
    with results_folder(folder), staged(folder, seal=SUMMARY) as place:
        former = _former(folder)
        with told_warnings(screen) as warned:
            with watch.part("read"):
                known = with_rows(folder / MODEL, reading, screen)
            with (folder / ASSIGNMENTS).open("rb") as opened:
                before = np.load(opened, allow_pickle=False)
            with watch.part("predict"):
                added = _added(known.model, known.rows.x, before, former["balance"])
            assignments = np.concatenate([before, added.labels.astype(np.int32)])
            found = _sizes(assignments, known.model.n_clusters_)
            _tell_overfull(assignments, found, former["balance"])
            farther = _farther(known.model, known.rows.x, former)
        _write(place / ASSIGNMENTS, assignments)
        own = {
            "file": str(reading.file),
            "added": len(added.labels),
            "moved": added.moved,
            "farther": farther,
            "imbalance_before": _sizes(before, known.model.n_clusters_)["imbalance"],
            "seconds": watch.seconds,
        }
        summary = former | own | found | {"objective": None, "warnings": warned}
        for name in TOLD:  # of the rows before
            summary.pop(name, None)
        write_text(place / SUMMARY, as_json(summary) + "\n")
    return summary


def _farther(model: Any, x: Any, former: Mapping[str, Any]) -> float | None:
    """Return how many times farther new rows lie from the nearest centres than rows of the training
    did, by mean squared distances, and warn where groups must have come that no cell was made
    for. Centres of m rows each are farther by (m + 1) / (m - 1) from others of their kind."""
    before, m = former.get("mean_distance"), former["mean"]
    if not before or m <= 1:
        return None
    times = float(-model.score(x) / len(x) / before * (m - 1) / (m + 1))
    if times > FARTHER:
        warnings.warn(
            f"rows that are added lie {times:.2f} times as far from their cells, by mean squared "
            "distances, as those that the cells were made of; make the index anew of all rows.",
            DataWarning,
            stacklevel=2,
        )
    return times


def _added(model: Any, x: Any, before: npt.NDArray[np.int32], balance: float | None) -> Placement:
    """Return the cells of new rows: the nearest ones, or with a balance those that have room."""
    if balance is None:
        return Placement(np.asarray(model.predict(x)), 0)
    held = np.bincount(before, minlength=model.n_clusters_)
    return place_rows(model, x, held, math.ceil(balance * (len(before) + len(x)) / len(held)))


def _outputs(request: FitRequest) -> dict[str, str]:
    return OUTPUTS | ({} if request.reading.bits is None else {"centroids_packed": PACKED})


def _check_files(request: FitRequest) -> None:
    """Refuse a folder in which results would replace other files."""
    refuse_inside(request.reading.file, request.out, "a folder outside")
    files: dict[str, FileWord] = {
        f"--out {request.out}: the {name}": str(request.out / file)
        for name, file in _outputs(request).items()
    }
    refuse_overwriting(files, files_of(request.reading))
    refuse_foreign(request.out, [*OUTPUTS.values(), PACKED], SUMMARY, request.overwrite)


def _trained(words: Mapping[str, Any], x: Any, recall: float | None) -> IndexCells:
    """Return the fitted cells. Where bounds of sizes gave several cells one centre, as equal rows
    can be parted, there are no more cells than different rows."""

    def made(words: Mapping[str, Any]) -> IndexCells:
        model = METHODS["hard"].made(words)
        if recall is None:
            return IndexCells(model.fit(x), np.asarray(model.labels_), {})
        return cells_for_recall(model, x, recall, words.get("sizes__most"))

    cells = made(words)
    if "sizes__most" in words and _different(cells.model) < cells.model.n_clusters_:
        bounds = {"sizes__most", "sizes__of"}
        unbounded = {name: word for name, word in words.items() if name not in bounds}
        most = METHODS["hard"].made(unbounded).fit(x).n_clusters_  # which warns of fewer
        if most < cells.model.n_clusters_:
            cells = made({**words, "n_clusters": most})
    if alike := cells.model.n_clusters_ - _different(cells.model):
        warnings.warn(
            f"{alike:,} cells have the centre of another one, as a row is there more often than a "
            "cell may hold; leave out equal rows, or take a larger --balance.",
            DataWarning,
            stacklevel=2,
        )
    return cells


def _different(model: Any) -> int:
    """Return how many centres are different, to the precision that is written."""
    return len(np.unique(model.cluster_centers_.astype(np.float32), axis=0))


def _former(folder: Path) -> dict[str, Any]:
    """Return the summary of the index in a folder."""
    try:
        former = json.loads((folder / SUMMARY).read_text(encoding="utf-8"))
        if former["command"] == "index":
            return dict(former)
    except (OSError, ValueError, LookupError, TypeError):
        pass
    raise InputError(f"--out {folder}: holds no index; make one without --add.")


def _sizes(assignments: npt.NDArray[np.int32], n_cells: int) -> dict[str, Any]:
    """Return how the rows are spread over the cells. The factor of imbalance is that of faiss, the
    rows that a query's nearest cell holds on average over the mean size: 1 of equal cells."""
    counts = np.bincount(assignments[assignments >= 0], minlength=n_cells)
    total = int(counts.sum())
    return {
        "rows": len(assignments),
        "n_clusters_found": n_cells,
        "smallest": counts.min(),
        "mean": total / n_cells,
        "largest": counts.max(),
        "imbalance": n_cells
        * float(np.square(counts, dtype=np.float64).sum())
        / max(total, 1) ** 2,
        "noise": len(assignments) - total,
    }


def _tell_overfull(
    assignments: npt.NDArray[np.int32], found: Mapping[str, Any], balance: float | None
) -> None:
    """Warn of cells that hold more rows than the balance of the index allows."""
    most = math.inf if balance is None else math.ceil(balance * found["mean"])
    counts = np.bincount(assignments[assignments >= 0])
    if over := int((counts > most).sum()):
        warnings.warn(
            f"{over:,} of {found['n_clusters_found']:,} cells hold more than {most:,} rows, which "
            f"are {balance:g} times the mean, the largest {found['largest']:,}; make the index "
            "anew of all rows to balance them.",
            DataWarning,
            stacklevel=2,
        )


def _write(file: Path, array: npt.NDArray[Any]) -> None:
    with writing_to(file), file.open("wb") as opened:
        np.save(opened, array, allow_pickle=False)
