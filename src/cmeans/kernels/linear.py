"""The linear kernel, and its cosine."""

from __future__ import annotations

from dataclasses import dataclass

from ..data.arrays import Array, inverse_root, squared_norms
from .products import ProductKernel


@dataclass(frozen=True, repr=False)
class Linear(ProductKernel):
    """k(x, y) = x.y : clustering in the space of the rows themselves.

    An estimator with kernel="linear" computes without kernel values and has `cluster_centers_`.

    Examples
    --------
    >>> import numpy as np
    >>> from cmeans.kernels import Linear
    >>> Linear()(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0], [0.0, 1.0]]))
    array([[11.,  2.]])
    """

    name = "linear"
    coordinates = "rows"
    constant_part = True
    distances_ignore_shifts = True
    coefficients = 1.0, 0.0
    native_function = "powers", 1


@dataclass(frozen=True, repr=False)
class Cosine(ProductKernel):
    """k(x, y) = x.y / (|x| |y|): spherical clustering, for embeddings and text. A row of zeros has
    k = 0 with everything.

    Examples
    --------
    >>> import numpy as np
    >>> from cmeans.kernels import Cosine
    >>> Cosine()(np.array([[1.0, 0.0]]), np.array([[5.0, 0.0], [0.0, 2.0], [0.0, 0.0]]))
    array([[1., 0., 0.]])
    """

    name = "cosine"
    coordinates = "unit rows"
    coefficients = 1.0, 0.0
    native_function = "powers", 1

    def factor(self, x: Array) -> Array:
        return inverse_root(squared_norms(x))
