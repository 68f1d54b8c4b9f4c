"""Rows that ask a vector index for their nearest others, and which of its cells hold those."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..data.arrays import Float64, IntArray
from ..fitting.placement import place_rows
from ..fitting.prediction import Predicting
from .probes import ProbeCurve, Queries


@dataclass(frozen=True)
class AskedRows:
    """Rows of `x` that the cells are not made of, and that have a place in them all the same."""

    x: Any
    numbers: IntArray

    @cached_property
    def weight(self) -> Float64:
        """The weights (n,) of all rows in a fit."""
        weight = np.ones(len(self.x))
        weight[self.numbers] = 0.0
        return weight

    def cells(self, model: Predicting, balance: float | None) -> IntArray:
        """Return the cells (n,) of all rows. With a balance a cell holds at most so many times the
        mean, and the rows that ask go where there is room."""
        labels = np.asarray(model.labels_).astype(np.int64)
        if balance is None:
            return labels
        others = np.delete(labels, self.numbers)
        held = np.bincount(others[others >= 0], minlength=model.n_clusters_)
        most = math.ceil(balance * len(labels) / len(held))
        x = model._known_table(self.x, None).blocks.take(self.numbers).x
        labels[self.numbers] = place_rows(model, x, held, most).labels
        return labels

    def queries(self, model: Predicting) -> Queries:
        """Return the rows with their nearest others, which do not depend on the cells."""
        return Queries.of(model._known_table(self.x, None), self.numbers)

    def curve(self, model: Predicting, labels: IntArray, queries: Queries) -> ProbeCurve:
        """Return what queries find in the nearest cells, which hold rows by `labels` (n,)."""
        rows = model._known_table(self.x, None)
        return ProbeCurve.of(rows, model._state.centres, labels, queries)
