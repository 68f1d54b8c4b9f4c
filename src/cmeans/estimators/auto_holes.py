"""Rows with missing values, as a choice judges them: those that are whole, or filled."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..data.arrays import Float64
from ..data.blocks import Blocks
from ..evidence.kind import RECORDS
from ..fitting.connected import AS_THEY_ARE
from .gaussian_mixture import GaussianMixture

MOST_ROWS = 20_000  # that speak for all
ENOUGH = 0.75  # of the rows speak for all where they lack nothing
FEWEST = 50  # of so many columns that their values cannot be filled from each other


class TooFewWholeRowsError(ValueError):
    """Too few rows without missing values; `column`: where most are missing."""

    def __init__(self, message: str, column: int) -> None:
        super().__init__(message)
        self.column = column


@dataclass(frozen=True)
class FilledRows:
    """Rows that lack nothing, their weights, and how they came to be, in a sentence."""

    x: Float64  # (m, d)
    weights: Float64  # (m,)
    said: str


def filled_rows(blocks: Blocks, names: Any, name: str) -> FilledRows:
    """Return rows that speak for those of which some may have missing values: those without, where
    they are most; else all, with what one normal distribution lets expect of the missing values,
    given the others. ValueError where neither can be."""
    numbers = np.arange(0, blocks.n_rows, -(-blocks.n_rows // MOST_ROWS))
    weights = blocks.weight[:][numbers] * blocks.unit
    x = AS_THEY_ARE.rows(blocks.part(numbers, weights).in_memory().x)
    empty = np.isnan(x)
    there = ~empty.all(axis=1) & (weights > 0)
    x, empty, weights = x[there], empty[there], weights[there]
    whole = ~empty.any(axis=1)
    if whole.mean() < ENOUGH and x.shape[1] <= RECORDS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the last fit warns
            cloud = GaussianMixture(1, missing="partial", random_state=0)
            x = np.asarray(cloud.fit(x, sample_weight=weights).impute(x))
        return FilledRows(
            x,
            weights,
            "To choose, missing values were filled with what the other columns let expect of them, "
            f"as only {whole.sum():,} of {len(x):,} rows have none.",
        )
    if whole.sum() < FEWEST and not whole.all():
        worst = int(empty.sum(axis=0).argmax())
        label = f"column {worst}" if names is None else repr(str(names[worst]))
        raise TooFewWholeRowsError(
            f"{name}: {whole.sum()} of {len(x):,} rows have no missing value, too few to choose "
            f"by. Leave out columns that are mostly missing, such as {label}, or impute X first.",
            worst,
        )
    said = f"Chosen by {whole.sum():,} of {len(x):,} rows, those without missing values."
    return FilledRows(x[whole], weights[whole], "" if whole.all() else said)
