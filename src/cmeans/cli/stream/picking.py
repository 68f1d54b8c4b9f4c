"""Selection of a stream's columns, repeated for each file with columns of its own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...data.files.columns import Header
from ...data.row_source import ColumnLabel
from ..predicting import Preprocessing
from ..rows import ReadOptions, chosen_columns
from .batches import PickedBatch


class ColumnPicker:
    """Selects the columns of the user or the model in the first header, and the same columns in all later ones."""

    def __init__(self, wish: ReadOptions, recipe: Preprocessing | None = None) -> None:
        """`recipe`: the preprocessing of a model that the stream continues."""
        self._wish = wish if recipe is None else replace(wish, dtype=recipe.dtype)
        self._known: tuple[ColumnLabel, ...] | None = None if recipe is None else recipe.columns
        self.picked = PickedBatch((), (), np.dtype(np.float64))  # the last selection

    def __call__(self, header: Header) -> PickedBatch:
        choice = chosen_columns(header, self._wish, self._wish.weight, self._known)
        labels = header.labels(choice.picked)
        # Later files must have the names of the first one.
        weight_label = None if choice.weight is None else header.fields[choice.weight].label
        self._wish = replace(self._wish, columns=(), weight=None if weight_label is None else str(weight_label), dtype=choice.dtype.name)
        self._known = labels
        self.picked = PickedBatch(choice.picked, labels, choice.dtype, choice.weight, weight_label)
        return self.picked
