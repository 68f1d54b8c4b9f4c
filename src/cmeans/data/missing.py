"""Values that are missing in the rows of a fit."""

from __future__ import annotations

from dataclasses import dataclass

from .arrays import Array, Float64, as_like, namespace


@dataclass(frozen=True)
class MeanFilled:
    """A function of rows: the same with the means of the columns in place of what is missing."""

    means: Float64  # (d,)

    def __call__(self, x: Array) -> Array:
        xp = namespace(x)
        return xp.where(xp.isnan(x), as_like(self.means, x)[None, :], x)
