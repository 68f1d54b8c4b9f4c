"""Which columns of a stream are data, asked again of each file that brings columns of its own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...sources.columns import Header
from ...stored import Label
from ..predicting import Recipe
from ..rows import Wish, chosen_columns
from .batches import Picked


class Picker:
    """Finds what the user or the model wants in the first header, and the same columns in all that follow."""

    def __init__(self, wish: Wish, recipe: Recipe | None = None) -> None:
        """`recipe`: of a model that the stream goes on with."""
        self._wish = wish if recipe is None else replace(wish, dtype=recipe.dtype)
        self._known: tuple[Label, ...] | None = None if recipe is None else recipe.columns
        self.picked = Picked((), (), np.dtype(np.float64))  # the last answer

    def __call__(self, header: Header) -> Picked:
        choice = chosen_columns(header, self._wish, self._wish.weight, self._known)
        labels = header.labels(choice.picked)
        # Later files are asked for the names that the first one had.
        weight_label = None if choice.weight is None else header.fields[choice.weight].label
        self._wish = replace(self._wish, columns=(), weight=None if weight_label is None else str(weight_label), dtype=choice.dtype.name)
        self._known = labels
        self.picked = Picked(choice.picked, labels, choice.dtype, choice.weight, weight_label)
        return self.picked
