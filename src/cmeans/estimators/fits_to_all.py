"""Fits to all rows, of the spaces and numbers that a choice among them may need."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..data.arrays import IntArray
from ..engines import Engine
from .auto_spaces import SpaceWords


@dataclass
class FitsToAll:
    """Fits to all rows, each made once, with what they warn of."""

    rows: Any
    sample_weight: Any
    words: SpaceWords
    engine: Engine | None
    scalers: tuple[Any, ...]  # that made the rows
    n_rows: int
    made: dict[tuple[str, int], tuple[Any, list[warnings.WarningMessage]]] = field(
        default_factory=dict
    )

    def labels(self, numbers: Any, space: str, number: int) -> IntArray:
        """Return the labels of some rows, in so many clusters of a space."""
        labels: IntArray = np.asarray(self._fit(space, number)[0].labels_)[numbers]
        return labels

    def last(self, space: str, number: int) -> Any:
        """Return the model, and warn of what its fit warned of."""
        model, caught = self._fit(space, number)
        for one in caught:
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
        return model

    def _fit(self, space: str, number: int) -> tuple[Any, list[warnings.WarningMessage]]:
        if (space, number) not in self.made:
            model = self.words.estimator(space, number, self.n_rows).set_params(engine=self.engine)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                model.fit(self.rows, sample_weight=self.sample_weight)
            self.made[space, number] = model, caught
        return self.made[space, number]
