"""The Gaussian kernel (RBF)."""

from __future__ import annotations

from dataclasses import dataclass

from ..data.arrays import Array, squared_norms
from .base import check_parameters
from .products import ProductKernel, exponential, ones_of


@dataclass(frozen=True)
class RBF(ProductKernel):
    """k(x, y) = exp(-gamma |x - y|^2).

    Widths in papers: sigma of Havens 2011 is 1/gamma; a standard deviation s means gamma = 1/(2 s^2).

    Parameters
    ----------
    gamma : float > 0
        Factor of squared distances.

    Raises
    ------
    ValueError
        If gamma is not a finite number above 0.

    Examples
    --------
    >>> import numpy as np
    >>> from cmeans.kernels import RBF
    >>> RBF(gamma=0.5)(np.array([[0.0, 0.0]]), np.array([[0.0, 0.0], [1.0, 1.0]])).round(3)
    array([[1.   , 0.368]])

    References
    ----------
    Havens, Chitta, Jain, Jin: Speedup of fuzzy and possibilistic kernel c-means for large-scale clustering. FUZZ-IEEE 2011.
    """

    gamma: float
    translation_invariant = True
    native_takes_rows = True  # with few columns, augmenting them would take as long as their product

    def __post_init__(self) -> None:
        check_parameters(self, gamma=0)

    @property
    def coefficients(self) -> tuple[float, float]:
        return 2.0 * self.gamma, 0.0

    @property
    def native_function(self) -> tuple[str, float]:
        return "gaussians", self.gamma

    def term(self, x: Array) -> Array:
        return squared_norms(x) * -self.gamma

    def transform(self, s: Array) -> Array:
        return exponential(s)

    def diag(self, x: Array) -> Array:
        return ones_of(x)
