"""Cells of an index that are trained until queries find a share of their nearest rows in no fewer
cells; queries are rows of the file that training leaves out."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sklearn import clone

from ..data.arrays import Float64, IntArray
from ..evidence.asked_rows import AskedRows
from ..evidence.probes import Queries, held_out
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
    asked = AskedRows(x, held_out(len(x), model.n_clusters))
    if not len(asked.numbers):
        raise InputError(
            f"--recall {recall:g}: asks a tenth of the rows, at most 500, which are in no cell "
            f"at first; {len(x):,} rows are too few beside {model.n_clusters:,} cells."
        )
    best: IndexCells | None = None
    queries: Queries | None = None
    given, sweeps, stopped = model.get_params(deep=False), 0, None
    rounds = _rounds(model, x, asked.weight, once=balance is not None)
    while stopped is None:
        fitted = next(rounds)
        sweeps += fitted.n_iter_
        queries = asked.queries(fitted) if queries is None else queries
        labels = asked.cells(fitted, balance)
        curve = asked.curve(fitted, labels, queries)
        probes, before = curve.probes(recall), None if best is None else best.told["probes"]
        if before is None or probes <= before:
            found = probes, curve.recall[probes - 1], curve.scanned[probes - 1] / len(x)
            told = dict(zip(TOLD, (*found, len(asked.numbers)), strict=False))
            best = IndexCells(fitted, labels, told)
        stopped = _reason(fitted, probes, before, balance)
    assert best is not None, "the first measurement is the best until then"
    best.model.set_params(**given)
    return IndexCells(best.model, best.labels, {**best.told, "sweeps": sweeps, "stopped": stopped})


def _rounds(model: Any, x: Any, weight: Float64, *, once: bool) -> Iterator[Any]:
    """Give the fitted model after every few sweeps; `once`: after all that it makes."""
    words: dict[str, Any] = {} if once else {"max_iter": ROUND}
    model.set_params(**words)
    while True:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*stopped at max_iter")
            model.fit(x, sample_weight=weight)
        yield model
        words = {"init": model.cluster_centers_, "n_clusters": model.n_clusters_}
        model = clone(model).set_params(**words, n_init=1, search=None, max_iter=ROUND)


def _reason(model: Any, probes: int, before: int | None, balance: float | None) -> str | None:
    """Return why there are no more sweeps; None where there are."""
    if balance is not None:
        return "as without --recall, as sizes of cells are bounded"
    if before is not None and probes > (1 - FALL) * before:
        return f"{ROUND} more sweeps took {probes:,} probes, after {before:,}"
    return "cells stand still" if model.stop_reason_.startswith("converged") else None
