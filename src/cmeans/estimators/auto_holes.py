"""Rows with missing values, as a choice judges them: those that are whole, or filled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.impute import KNNImputer

from ..data.arrays import Float64
from ..data.blocks import Blocks
from ..data.chosen_scaling import RECORDS
from ..fitting.connected import AS_THEY_ARE

MOST_ROWS, MOST_FILLED = 20_000, 5_000  # that speak for all, and of filled ones, which take longer
NEAREST = 5  # rows, whose means fill
ENOUGH = 0.75  # of the rows speak for all where they lack nothing
FEWEST = 50  # of so many columns that their values cannot be filled from each other


class TooFewWholeRowsError(ValueError):
    """Too few rows without missing values; `column`: where most are missing."""

    def __init__(self, message: str, column: int) -> None:
        super().__init__(message)
        self.column = column


@dataclass(frozen=True)
class RowsWithoutHoles:
    """Rows that lack nothing, their weights, and how they came to be, in a sentence."""

    x: Float64  # (m, d)
    weights: Float64  # (m,)
    said: str


def filled_rows(blocks: Blocks, names: Any, name: str) -> RowsWithoutHoles:
    """Return rows that speak for those of which some may have missing values: those without, where
    they are most; else all, or some of many, with the means of their nearest rows in place of
    missing values. TooFewWholeRowsError where neither can be."""
    numbers = np.arange(0, blocks.n_rows, -(-blocks.n_rows // MOST_ROWS))
    weights = blocks.weight[:][numbers] * blocks.unit
    x = AS_THEY_ARE.rows(blocks.part(numbers, weights).in_memory().x)
    empty = np.isnan(x)
    there = ~empty.all(axis=1) & (weights > 0)
    x, empty, weights = x[there], empty[there], weights[there]
    never = empty.all(axis=0)
    if never.any():
        worst = int(never.argmax())
        raise TooFewWholeRowsError(
            f"{name}: X has no value in {_label(names, worst)} in any of the {len(x):,} rows of "
            "positive weight that a choice looks at; leave it out.",
            worst,
        )
    whole = ~empty.any(axis=1)
    if whole.mean() < ENOUGH and x.shape[1] <= RECORDS:
        some = slice(None, None, -(-len(x) // MOST_FILLED))
        deviations = np.nanstd(x, axis=0)
        units = np.where(deviations > 0, deviations, 1.0)
        filled = KNNImputer(n_neighbors=NEAREST, keep_empty_features=True).fit_transform(
            x[some] / units
        )
        return RowsWithoutHoles(
            np.asarray(filled) * units,
            weights[some],
            f"To choose, missing values were filled with means of the nearest {NEAREST} rows, as "
            f"only {whole.sum():,} of {len(x):,} rows have none.",
        )
    if whole.sum() < FEWEST and not whole.all():
        worst = int(empty.sum(axis=0).argmax())
        raise TooFewWholeRowsError(
            f"{name}: {whole.sum()} of {len(x):,} rows have no missing value, too few to choose "
            f"by. Leave out columns that are mostly missing, such as {_label(names, worst)}, or "
            "impute X first.",
            worst,
        )
    said = f"Chosen by {whole.sum():,} of {len(x):,} rows, those without missing values."
    return RowsWithoutHoles(x[whole], weights[whole], "" if whole.all() else said)


def _label(names: Any, column: int) -> str:
    return f"column {column}" if names is None else f"column {str(names[column])!r}"
