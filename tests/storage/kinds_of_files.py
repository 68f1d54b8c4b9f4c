"""Kinds of files that the library writes, each of one of two models, and what a reader finds in
them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow.csv
import pyarrow.parquet as pq

import cmeans
from cmeans.inspection.report import report
from cmeans.solvers.checkpoints import Beside, Checkpoint, CheckpointLog, FoundBeside

X = np.random.default_rng(0).normal(size=(60, 3)) + 5 * np.repeat(np.eye(3), 20, axis=0)
MODELS = [cmeans.FuzzyCMeans(c, kernel="linear", random_state=0).fit(X) for c in (2, 3)]
LABELS = [model.predict(X) for model in MODELS]


def which(found: np.ndarray) -> int:
    """0 for the labels of the first model, 1 for those of the second."""
    [number] = [at for at, labels in enumerate(LABELS) if np.array_equal(found, labels)]
    return number


def model_in(file: Path) -> int:
    return which(cmeans.load(file).predict(X))


def parquet_in(file: Path) -> int:
    table = pq.read_table(file)
    assert table.num_rows == 60
    return which(table["label"].to_numpy())


def csv_in(file: Path) -> int:
    return which(pyarrow.csv.read_csv(file)["label"].to_numpy())


def page_in(file: Path) -> int:
    text = file.read_text()
    assert text.rstrip().endswith("</html>")
    return ["the old page" in text, "the new page" in text].index(True)


KINDS: dict[str, tuple[str, Callable[[int, Path], object], Callable[[Path], int]]] = {
    "model": ("m.safetensors", lambda at, file: cmeans.save(MODELS[at], file), model_in),
    "Parquet": ("l.parquet", lambda at, file: MODELS[at].predict_to(X, file), parquet_in),
    "CSV": ("l.csv", lambda at, file: MODELS[at].predict_to(X, file), csv_in),
    "npy": (
        "l.npy",
        lambda at, file: MODELS[at].predict_to(X, file),
        lambda file: which(np.load(file)),
    ),
    "page": (
        "r.html",
        lambda at, file: report(MODELS[at], X, file, title=f"the {['old', 'new'][at]} page"),
        page_in,
    ),
}


def log(path: Path, resume: bool = False) -> CheckpointLog:
    rng = np.random.RandomState(0)
    return CheckpointLog(Checkpoint(path, resume=resume), {"rows": "(60, 3)"}, rng)


def write_checkpoint(at: int, file: Path) -> None:
    """Write a checkpoint with an array beside it."""
    section = log(file).section("solve")
    section.break_off(lambda: {"turn": at, "labels": Beside(LABELS[at])})


def checkpoint_in(file: Path) -> int:
    found = log(file, resume=True).section("solve").found
    assert found is not None
    beside, labels = found["labels"], np.empty(len(X), LABELS[0].dtype)
    assert isinstance(beside, FoundBeside)
    beside.read_into(labels)
    assert which(labels) == found["turn"]
    return which(labels)
