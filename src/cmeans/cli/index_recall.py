"""Cells of an index that are trained until queries find a share of their nearest rows in no fewer
cells; queries are rows of the file that training leaves out."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn import clone

from ..data.arrays import IntArray
from ..evidence.probes import ProbeCurve, Queries, held_out
from ..fitting.placement import place_rows
from .errors import InputError

ROUND = 2  # sweeps from one measurement to the next
FALL = 0.02  # share by which the number of cells to look through has to fall
TOLD = "probes", "recall_at_10", "scanned", "queries", "sweeps", "stopped"


@dataclass(frozen=True)
class IndexCells:
    """A fitted model, the cells of all rows, and what a summary says of them."""

    model: Any
    labels: IntArray
    told: dict[str, Any]


def cells_for_recall(model: Any, x: Any, recall: float, balance: float | None) -> IndexCells:
    """Fit a model, sweep on as long as that takes queries fewer cells to find such a share of their
    nearest rows, and say how many it takes. Cells of bounded sizes are made once."""
    numbers = held_out(len(x), model.n_clusters)
    if not len(numbers):
        raise InputError(
            f"--recall {recall:g}: asks a tenth of the rows, at most 500, which are in no cell "
            f"at first; {len(x):,} rows are too few beside {model.n_clusters:,} cells."
        )
    weight = np.ones(len(x))
    weight[numbers] = 0.0
    given, bounded = model.get_params(deep=False), balance is not None
    if not bounded:
        model.set_params(max_iter=ROUND)
    best: IndexCells | None = None
    queries: Queries | None = None
    fitted, sweeps = model, 0
    while True:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*stopped at max_iter")
            fitted.fit(x, sample_weight=weight)
        sweeps += fitted.n_iter_
        rows, labels = fitted._known_table(x, None), np.asarray(fitted.labels_).astype(np.int64)
        if balance is not None:
            labels = _placed(fitted, rows.blocks.take(numbers).x, labels, numbers, balance)
        queries = Queries.of(rows, numbers) if queries is None else queries
        curve = ProbeCurve.of(rows, fitted._state.centres, labels, queries)
        probes, before = curve.probes(recall), None if best is None else best.told["probes"]
        if before is None or probes <= before:
            found = probes, curve.recall[probes - 1], curve.scanned[probes - 1] / len(x)
            best = IndexCells(fitted, labels, dict(zip(TOLD, (*found, len(numbers)), strict=False)))
        assert best is not None, "the first measurement is the best until then"
        if bounded:
            stopped = "as without --recall, as sizes of cells are bounded"
        elif before is not None and probes > (1 - FALL) * before:
            stopped = f"{ROUND} more sweeps took {probes:,} probes, after {before:,}"
        elif fitted.stop_reason_.startswith("converged"):
            stopped = "cells stand still"
        else:
            on = {"init": fitted.cluster_centers_, "n_clusters": fitted.n_clusters_}
            fitted = clone(fitted).set_params(**on, n_init=1, search=None, max_iter=ROUND)
            continue
        best.model.set_params(**given)
        return IndexCells(
            best.model, best.labels, {**best.told, "sweeps": sweeps, "stopped": stopped}
        )


def _placed(model: Any, x: Any, labels: IntArray, numbers: IntArray, balance: float) -> IntArray:
    """Return the cells of all rows, of which queries go where there is room."""
    others = np.delete(labels, numbers)
    held = np.bincount(others[others >= 0], minlength=model.n_clusters_)
    most = math.ceil(balance * len(labels) / len(held))
    labels[numbers] = place_rows(model, x, held, most).labels
    return labels
