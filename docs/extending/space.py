"""A space of your own: rows through a fixed random projection.

Rows of thousands of columns keep their distances, nearly, in a few hundred random directions
(Johnson & Lindenstrauss 1984). Importing this file enters the space in `cmeans.spaces.SPACES`, so
that every estimator takes its name for a kernel, and model files hold it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cmeans.data.arrays import Float64, as_like, squared_norms
from cmeans.kernels import Linear
from cmeans.spaces import ProductRows, Space


@dataclass(frozen=True)
class ProjectedSpace(Space):
    """Rows x as P x, for a random matrix P."""

    axes: Float64  # (r, d) P

    name = "projected"
    kernel = Linear()

    @classmethod
    def over(cls, blocks, rng):
        """Return the space for the rows of a fit."""
        d = blocks.x.shape[1]
        r = min(d, 200)
        return cls(rng.normal(size=(r, d)) / np.sqrt(r))

    @property
    def size(self):
        return len(self.axes)

    def rows(self, block, room=None):
        g = block.x @ as_like(self.axes, block.x).T
        return ProductRows(g, squared_norms(g))

    def check(self, n_features, diag):
        if self.axes.ndim != 2 or self.axes.shape[1] != n_features:
            raise ValueError(
                f"a projection of shape {self.axes.shape} does not fit rows of {n_features} "
                "features"
            )
