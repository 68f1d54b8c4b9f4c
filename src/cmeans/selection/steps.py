"""The steps of a selection, of which those that a checkpoint has kept are not made again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..data.arrays import Float64
from ..solvers.checkpoints import CheckpointLog, set_drawn


def nothing() -> None:
    """Take steps of which nobody wants to hear."""


@dataclass(frozen=True)
class SelectionSteps:
    """Each step gives a few numbers, and draws from the one random state; `scope`: what its keys
    begin with; `ended` is called after each."""

    rng: np.random.RandomState
    log: CheckpointLog | None = None
    scope: str = ""
    ended: Callable[[], None] = nothing

    def within(self, scope: str) -> SelectionSteps:
        """Return the same draws and log for a part of the selection, whose keys begin with
        `scope`."""
        return replace(self, scope=f"{self.scope}{scope}/")

    def once(self, key: str, made: Callable[[], Any]) -> Float64:
        """Return the numbers of a step, which no other step has the key of; where it was made
        before, as it was, draws included."""
        numbers = self._numbers(key, made)
        self.ended()
        return numbers

    def _numbers(self, key: str, made: Callable[[], Any]) -> Float64:
        if self.log is None:
            return np.asarray(made(), np.float64)
        section = self.log.section(f"{self.scope}{key}")
        if section.found is not None:
            numbers: Float64 = section.found["numbers"]
            drawn, has_gauss, gauss = section.found["drawn"]
            set_drawn(self.rng, section.found["keys"], drawn, has_gauss, gauss)
            return numbers
        numbers = np.asarray(made(), np.float64)
        _, keys, drawn, has_gauss, gauss = self.rng.get_state(legacy=True)
        packed = {"numbers": numbers, "keys": keys, "drawn": [drawn, has_gauss, gauss]}
        section.note(lambda: packed)
        return numbers
