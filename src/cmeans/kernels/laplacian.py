"""The Laplacian kernel, a function of Manhattan distances."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import manhattan_distances

from ..data.arrays import Array, canonical_csr, is_sparse, namespace
from .base import Columns, Kernel, check_parameters
from .native_values import NativeValues, serves
from .products import exponential, ones_of


@dataclass(frozen=True)
class Laplacian(Kernel):
    """k(x, y) = exp(-gamma sum_f |x_f - y_f|). Rougher than RBF: its spectrum decays slowly, so it needs more landmarks.

    Parameters
    ----------
    gamma : float > 0
        Factor of Manhattan distances.

    Raises
    ------
    ValueError
        If gamma is not a finite number above 0.

    Examples
    --------
    >>> import numpy as np
    >>> from cmeans.kernels import Laplacian
    >>> Laplacian(gamma=0.5)(np.array([[0.0, 0.0]]), np.array([[0.0, 0.0], [1.0, 1.0]])).round(3)
    array([[1.   , 0.368]])
    """

    gamma: float

    def __post_init__(self) -> None:
        check_parameters(self, gamma=0)

    def prepare(self, y: Array) -> Columns:
        if is_sparse(y):
            y = canonical_csr(y)  # once, as threads share y
        native = NativeValues("laplacians", y, self.gamma) if serves(y) else None

        def columns(x: Array, room: Array | None = None) -> Array:
            if native is not None and serves(x):
                return native(x, room)
            distances = manhattan(x, y)
            distances *= -self.gamma
            return exponential(distances)

        return columns

    def diag(self, x: Array) -> Array:
        return ones_of(x)


def manhattan(x: Array, y: Array) -> Array:
    """sum_f |x_if - y_lf| (b, s); no (b, s, d) array is made."""
    if is_sparse(x):
        return manhattan_distances(canonical_csr(x), canonical_csr(y)).astype(x.dtype, copy=False)
    if isinstance(x, np.ndarray):
        return cdist(x, y, "cityblock").astype(x.dtype, copy=False)
    xp = namespace(x)
    total = xp.abs(x[:, 0][:, None] - y[:, 0][None, :])
    for f in range(1, x.shape[1]):
        total += xp.abs(x[:, f][:, None] - y[:, f][None, :])
    return total
