"""Which columns of a stream are data, asked again of each file that brings columns of its own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..columns import Header, Label
from ..predicting import Recipe
from ..rows import Wish, picked_columns, weight_column
from .batches import Picked


class Picker:
    """Finds what the user or the model wants in the first header, and the same columns in all that follow."""

    def __init__(self, wish: Wish, recipe: Recipe | None = None) -> None:
        """`recipe`: of a model that the stream goes on with."""
        self._wish = wish
        self._known: tuple[Label, ...] | None = None if recipe is None else recipe.columns
        self._dtype = recipe.dtype if recipe is not None else wish.dtype
        self.picked = Picked((), (), np.dtype(np.float64))  # the last answer

    def __call__(self, header: Header) -> Picked:
        weight = None if self._wish.weight is None else weight_column(header, self._wish.weight)
        columns = picked_columns(header, self._wish, weight, self._known)
        keep = "float32" if all(header.fields[at].single for at in columns) else "float64"
        self._dtype = self._dtype or keep
        labels = header.labels(columns)
        # Later files are asked for the names that the first one had.
        weight_label = None if weight is None else header.fields[weight].label
        self._wish = replace(self._wish, columns=(), weight=None if weight_label is None else str(weight_label))
        self._known = labels
        self.picked = Picked(tuple(columns), labels, np.dtype(self._dtype), weight, weight_label)
        return self.picked
