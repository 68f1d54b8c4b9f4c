"""The runs behind Table II of Zhang & Havens 2013: data, kernels, contestants, and the file where measured cells are kept."""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score

from cmeans import FuzzyCMeans, KernelPatchClustering, StreamingFuzzyCMeans
from cmeans.metrics import purity

from ..harness import load, unit_interval

Array = np.ndarray
Cell = dict[str, Any]

PRINTED_M = 1.7
POINTS = 10  # rows that stand for a cluster in KPC; the paper does not say
RAW = {"kernel": "polynomial", "degree": 5, "gamma": 1.0, "coef0": 1.0}
NORMALISED = RAW | {"kernel": "normalized_polynomial"}
STARTS = 3  # of all contestants: the default of the streams
STREAMS = ("KPC", "stKFCM", "landmarks")
ALL_ROWS = "KFCM, exact"
PUBLISHED = {"init": "random", "n_init": 1}  # as the paper began


@dataclass(frozen=True)
class Case:
    """A data set of the paper with its kernel."""

    title: str  # the paper's
    file: str
    clusters: int
    words: dict[str, Any]  # of the kernel
    shares: tuple[float, ...]  # of the rows in a chunk, per cent

    @property
    def small(self) -> bool:
        return self.file in ("s2", "a3")


WIDTH = {"kernel": "rbf", "gamma": 0.5}  # exp(-|x - y|^2 / (2 width^2)), width 1
CASES = {
    "2D15": Case("2D15", "s2", 15, WIDTH, (50, 25, 10, 5, 2, 1)),
    "2D50": Case("2D50", "a3", 50, WIDTH, (50, 25, 10, 5, 2, 1)),
    "MNIST": Case("MNIST", "mnist", 10, RAW, (10, 5, 2, 1, 0.5, 0.2, 0.1, 0.05, 0.02)),
    "MNIST, normalised": Case("MNIST", "mnist", 10, NORMALISED, (10, 5, 2, 1, 0.5, 0.2, 0.1, 0.05, 0.02)),
    "Forest": Case("Forest", "covtype", 7, WIDTH, (0.2, 0.1, 0.05, 0.02, 0.01)),
}


@cache
def rows_of(file: str) -> tuple[Array, Array]:
    """Features in [0, 1], and classes."""
    x, y = load(file), load(file, "y")
    if file == "mnist":
        return x.astype(np.float32) / 255, y
    return unit_interval(x, np.float64 if file in ("s2", "a3") else np.float32), y


@cache
def spanning_rows(file: str) -> Array:
    """A few hundred rows in whose span all others lie, to rounding: with the wide kernels of 2D15 and 2D50 KFCM on them is exact."""
    n = len(rows_of(file)[1])
    return np.sort(np.random.default_rng(0).choice(n, 400, replace=False))


def chunk_rows(case: Case, share: float) -> int:
    return round(len(rows_of(case.file)[1]) * share / 100)


def contestant(method: str, case: Case, share: float | None, seed: int, **words: Any) -> Any:
    """An estimator; KFCM sees all rows at once, the others chunks of so many per cent."""
    words = {**case.words, "random_state": seed, "n_init": STARTS, **words}
    if method == "KFCM" and case.small:
        return FuzzyCMeans(case.clusters, landmarks=spanning_rows(case.file), **words)
    if method in ("KFCM", ALL_ROWS):
        return FuzzyCMeans(case.clusters, n_landmarks=None, **words)
    if method == "akFCM":
        return FuzzyCMeans(case.clusters, n_landmarks=1000, **words)
    assert share is not None
    size = chunk_rows(case, share)
    if method == "KPC":
        return KernelPatchClustering(case.clusters, patch_size=size, n_points=POINTS, **words)
    if method == "spKFCM":
        return KernelPatchClustering(case.clusters, patch_size=size, n_points=1, **words)
    if method == "oKFCM":
        return KernelPatchClustering(case.clusters, patch_size=size, n_points=1, merge="tree", **words)
    how = "projection" if method == "stKFCM" else "landmarks"
    return StreamingFuzzyCMeans(case.clusters, method=how, chunk_size=size, **words)


def order_of(case: Case, trial: int) -> Array:
    """The order of the rows in a trial, the same for all contestants."""
    return np.random.default_rng(trial).permutation(len(rows_of(case.file)[1]))


def trial_of(method: str, case: Case, share: float | None, words: dict[str, Any], trial: int) -> dict[str, float]:
    """One run on the rows in a random order."""
    x, y = rows_of(case.file)
    order = order_of(case, trial)
    x, y = x[order], y[order]
    model = contestant(method, case, share, trial, **words)
    started, busy = time.perf_counter(), time.process_time()
    model.fit(x)
    seconds, busy = time.perf_counter() - started, time.process_time() - busy
    loss = getattr(model, "projection_loss_", None)
    return {
        "purity": purity(y, model.labels_),
        "ari": adjusted_rand_score(y, model.labels_),
        "seconds": seconds,
        "busy": busy,
        "objective": float(model.objective_),
        "visits": model.row_visits_ / len(y),
        "loss": 0.0 if loss is None else float(np.max(loss)),
        "separation": float(model.separation_),
        "filled": len(np.unique(model.labels_)),
        "m": float(model.m_),
        "sweeps": int(model.n_iter_),
    }


class Store:
    """Measured cells, each a line of a JSON file: what has been measured is not measured again."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> dict[str, Cell]:
        return json.loads(self.path.read_text()) if self.path.exists() else {}

    def add(self, key: str, **values: Any) -> None:
        """Further values of a cell: lists grow, other things are replaced."""

        def grow(cells: dict[str, Cell]) -> None:
            cell = cells.setdefault(key, {})
            for name, value in values.items():
                cell[name] = cell.get(name, []) + value if isinstance(value, list) else value

        self._change(grow)

    def forget(self, which: Callable[[str], bool]) -> None:
        """Drop cells, so that they are measured anew."""

        def drop(cells: dict[str, Cell]) -> None:
            for key in [key for key in cells if which(key)]:
                del cells[key]

        self._change(drop)

    def _change(self, change: Callable[[dict[str, Cell]], None]) -> None:
        """One line a cell; several processes may write in turn."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        folder = os.open(self.path.parent, os.O_RDONLY)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)
            cells = self.read()
            change(cells)
            lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(cells[name])}" for name in sorted(cells))
            scratch = self.path.with_suffix(".part")
            scratch.write_text("{\n" + lines + "\n}\n")
            scratch.replace(self.path)
        finally:
            os.close(folder)

    def trials(self, key: str, count: int, run: Callable[[int], dict[str, float]]) -> Cell:
        """`count` trials of a cell, those that are missing run now."""
        cell = self.read().get(key, {})
        for trial in range(len(cell.get("ari", [])), count):
            self.add(key, **{name: [_short(value)] for name, value in run(trial).items()})
        return self.read()[key]


def _short(value: float) -> float:
    return float(f"{value:.6g}") if isinstance(value, float) else value


def key_of(name: str, m: str | float, method: str, share: float | None, *, published: bool = False) -> str:
    parts = [name, f"m {m:g}" if isinstance(m, float) else f"m {m}", method]
    parts += [] if share is None else [f"{share:g}%"]
    return " | ".join(parts + (["as published"] if published else []))
