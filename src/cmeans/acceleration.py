"""Anderson mixing: from the last few sweeps, centres that a plain sweep would reach only much later."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

from .arrays import Float64
from .centres import Centres
from .statistics import Statistics
from .sweep import State

MEMORY = 5  # differences of sweeps that are mixed
RIDGE = 1e-10  # of their Gram matrix, against differences that are nearly the same
LONGEST_PAUSE = 16  # plain sweeps after refused mixtures that follow each other


class Anderson:
    """Type-II Anderson mixing of the map from centres to the next centres, safeguarded by the objective.

    With residuals f = G(v) - v of the last sweeps, gamma minimises |f_k - dF gamma|^2 and the next centres are
    G_k - dG gamma (Anderson 1965; Walker & Ni 2011). Whether they serve shows in the sweep that starts from them, which
    returns their objective: where it has risen, the run goes on from the last plain centres, and mixing pauses for twice
    as many sweeps as after the refusal before.

    Residuals are paired in the feature space itself, each cluster weighted by its mass, which is how the objective sees them.
    """

    def __init__(self, slack: float) -> None:
        self._slack = slack  # relative rise of the objective that rounding alone can make
        self._residuals: deque[Centres] = deque(maxlen=MEMORY)  # differences of residuals
        self._images: deque[Centres] = deque(maxlen=MEMORY)  # differences of images
        self._last: tuple[Centres, State] | None = None  # the residual and the image of the last sweep
        self._objective = np.inf  # where the last accepted sweep started
        self._mixed = False  # whether the sweep under way started from mixed centres
        self._pause = self._next_pause = 0

    def standing(self) -> dict[str, Any]:
        """All that the next sweeps depend on."""
        return {
            "residuals": list(self._residuals),
            "images": list(self._images),
            "last": None if self._last is None else list(self._last),
            "objective": self._objective,
            "mixed": self._mixed,
            "pauses": [self._pause, self._next_pause],
        }

    def restore(self, standing: dict[str, Any]) -> None:
        """Be what another was when it stood there."""
        self._residuals.extend(standing["residuals"])
        self._images.extend(standing["images"])
        self._last = None if standing["last"] is None else tuple(standing["last"])
        self._objective, self._mixed = standing["objective"], standing["mixed"]
        self._pause, self._next_pause = standing["pauses"]

    def refuses(self, sums: Statistics) -> bool:
        """Whether the objective at mixed centres has risen, so that the run must go back to the last plain ones."""
        if self._mixed and not sums.objective <= self._objective + self._slack * abs(self._objective):
            self._forget()
            self._pause = self._next_pause = min(max(2 * self._next_pause, 1), LONGEST_PAUSE)
            return True
        if self._mixed:
            self._next_pause //= 2
        self._objective = sums.objective
        return False

    def next(self, state: State, image: State, sums: Statistics) -> State:
        """Where to sweep from, after a sweep from `state` that made `image`."""
        residual = image.centres - state.centres
        if self._last is not None:
            self._residuals.append(residual - self._last[0])
            self._images.append(image.centres - self._last[1].centres)
        self._last = (residual, image)
        self._mixed = False
        if self._pause:
            self._pause -= 1
            return image
        if not self._residuals:
            return image
        factors = _least_squares(self._residuals, residual, sums.mass)
        if factors is None:
            self._forget()
            return image
        self._mixed = True
        return State(Centres.combined([image.centres, *self._images], [1.0, *(-factors)]), image.scales)

    def _forget(self) -> None:
        self._residuals.clear()
        self._images.clear()
        self._last = None
        self._mixed = False


def _least_squares(differences: deque[Centres], residual: Centres, mass: Float64) -> Float64 | None:
    """gamma minimising |residual - sum_l gamma_l difference_l|^2; None where the differences are nothing."""
    count = len(differences)
    gram = np.empty((count, count))
    for i, one in enumerate(differences):
        for j in range(i + 1):
            gram[i, j] = gram[j, i] = one.pairing(differences[j], mass)
    trace = float(np.trace(gram))
    if not 0 < trace < np.inf:
        return None
    right = np.array([one.pairing(residual, mass) for one in differences])
    factors: Float64 = np.linalg.solve(gram + RIDGE * trace * np.eye(count), right)
    return factors if np.isfinite(factors).all() else None
