"""Fits to all rows, of the spaces and numbers that a choice among them may need."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..data.arrays import IntArray


@dataclass(frozen=True)
class FittedModel:
    """A model, and what its fit warned of."""

    model: Any
    caught: list[warnings.WarningMessage]

    def warn(self) -> None:
        """Warn of what the fit warned of."""
        for one in self.caught:
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)


@dataclass
class FitsToAll:
    """Fits to all rows, each made once."""

    rows: Any
    sample_weight: Any
    estimator: Callable[[str, int], Any]  # not fitted, of so many clusters in a space
    scalers: tuple[Any, ...]  # that made the rows
    made: dict[tuple[str, int], FittedModel] = field(default_factory=dict)

    def labels(self, numbers: Any, space: str, number: int) -> IntArray:
        """Return the labels of some rows, in so many clusters of a space."""
        labels: IntArray = np.asarray(self._fit(space, number).model.labels_)[numbers]
        return labels

    def last(self, space: str, number: int) -> Any:
        """Return the model, and warn of what its fit warned of."""
        fitted = self._fit(space, number)
        fitted.warn()
        return fitted.model

    def _fit(self, space: str, number: int) -> FittedModel:
        if (space, number) not in self.made:
            model = self.estimator(space, number)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                model.fit(self.rows, sample_weight=self.sample_weight)
            self.made[space, number] = FittedModel(model, caught)
        return self.made[space, number]
