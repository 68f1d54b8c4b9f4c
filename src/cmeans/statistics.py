"""The sums that travel: what one pass over some rows says about all clusters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .arrays import Float64


@dataclass(frozen=True)
class Own:
    """Sums over each cluster's own rows: those that belong to it more than to any other, and each of them fully."""

    mass: Float64  # (c,) sum of the rows' sample weights
    moment: Float64  # (c, moment_width)

    def __add__(self, other: Own) -> Own:
        return Own(self.mass + other.mass, self.moment + other.moment)

    def __mul__(self, factor: float) -> Own:
        return Own(self.mass * factor, self.moment * factor)


@dataclass(frozen=True)
class Statistics:
    """Sums over rows, always float64 on the host. `+` merges threads, files and machines; `*` forgets in streams."""

    weight: float  # sum of the rows' sample weights
    mass: Float64  # (c,) sum_i w_ij, w = sample_weight u^m
    moment: Float64  # (c, moment_width) sum_i w_ij g(x_i), in the space's own terms
    spread: Float64  # (c,) sum_i w_ij d2_ij
    penalty: float = 0.0  # what a possibilistic rule adds to its objective
    change: float = 0.0  # max |u_ij - u'_ij| against the memberships one sweep ago, where a stopping rule asks for it
    own: Own | None = None  # where whoever makes the next state asks for it

    @property
    def objective(self) -> float:
        """sum_ij w_ij d2_ij, plus the rule's penalty."""
        return float(self.spread.sum()) + self.penalty

    def __add__(self, other: Statistics) -> Statistics:
        return Statistics(
            self.weight + other.weight,
            self.mass + other.mass,
            self.moment + other.moment,
            self.spread + other.spread,
            self.penalty + other.penalty,
            max(self.change, other.change),
            None if self.own is None or other.own is None else self.own + other.own,
        )

    def __mul__(self, factor: float) -> Statistics:
        return Statistics(
            self.weight * factor,
            self.mass * factor,
            self.moment * factor,
            self.spread * factor,
            self.penalty * factor,
            self.change,
            None if self.own is None else self.own * factor,
        )

    def is_finite(self) -> bool:
        """Whether every sum is a number: NaN or infinity from a kernel shows here first."""
        return bool(np.isfinite(self.objective) and np.isfinite(self.mass).all() and np.isfinite(self.moment).all())
