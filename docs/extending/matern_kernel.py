"""A kernel of one's own, in one file: Matern's of order 3/2, rougher than RBF."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.spatial.distance import cdist

from cmeans.kernels import Columns, Kernel


@dataclass(frozen=True, repr=False)
class Matern(Kernel):
    """k(x, y) = (1 + r) exp(-r),  r = sqrt(3 gamma) |x - y|.

    Parameters
    ----------
    gamma : "scale", "median" or float > 0, default="scale"
        Factor of squared distances; a name is settled as that of RBF.
    """

    gamma: Literal["scale", "median"] | float = "scale"
    name = "matern"

    def prepare(self, y: Any) -> Columns:
        def columns(x: Any, room: Any = None) -> Any:
            r = np.sqrt(3.0 * self.gamma) * cdist(x, y)
            return ((1.0 + r) * np.exp(-r)).astype(x.dtype)

        return columns

    def diag(self, x: Any) -> Any:
        return np.ones(len(x), x.dtype)
