"""Polynomial kernels, the normalised one among them, and the sigmoid kernel."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf
from typing import Literal, Self

import numpy as np

from ..data.arrays import Array, host_float64, in_float64, inverse_root, namespace, squared_norms
from ..data.blocks import blocks_of
from ..runtime.checks import is_auto
from .base import KernelEvidence, check_parameters
from .products import ProductKernel

POLYNOMIAL_RANGE = 1e20  # mean k(x, x) beyond which a polynomial kernel is divided by it
POWER_ELEMENTS = 2**15  # numbers raised to a power at a time, so that they stay in the cache


@dataclass(frozen=True, repr=False)
class _Powers(ProductKernel):
    """Kernels that are powers of gamma x.y + coef0."""

    degree: int = 3
    gamma: float = 1.0
    coef0: float = 1.0

    def __post_init__(self) -> None:
        check_parameters(self, degree=1, gamma=0, coef0=-inf)

    @property
    def positive_definite(self) -> bool:
        return self.coef0 >= 0

    @property
    def native_function(self) -> tuple[str, float]:
        return "powers", self.degree

    def transform(self, s: Array) -> Array:
        return _power(s, self.degree)


@dataclass(frozen=True, repr=False)
class Polynomial(_Powers):
    """k(x, y) = (gamma x.y + coef0)^degree / scale.

    The division by `scale` is done inside the power, so that values of 1e60 never appear; it
    changes objectives, but not clusterings. On rows of unequal length `NormalizedPolynomial` is
    usually the better choice.

    Parameters
    ----------
    degree : int >= 1, default=3
        Exponent.
    gamma : float > 0, default=1.0
        Factor of inner products.
    coef0 : float, default=1.0
        Constant added to inner products; below 0 the kernel may have negative eigenvalues.
    scale : "auto" or float > 0, default="auto"
        Divisor of all values. "auto": 1, and for rows of a fit whose values are far from 1, the
        mean of k(x, x).

    Raises
    ------
    ValueError
        If a number is not finite or beyond its bound, or degree is not whole.

    Examples
    --------
    >>> import numpy as np
    >>> from cmeans.kernels import Polynomial
    >>> Polynomial(degree=2)(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0], [0.0, 1.0]]))
    array([[144.,   9.]])

    References
    ----------
    Havens, Chitta, Jain, Jin: Speedup of fuzzy and possibilistic kernel c-means for large-scale
    clustering. FUZZ-IEEE 2011 (degree 5 on MNIST).
    """

    scale: Literal["auto"] | float = "auto"
    name = "polynomial"
    constant_part = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if not is_auto(self.scale):
            check_parameters(self, scale=0)

    def settled(self, evidence: KernelEvidence) -> Self:
        """Divide values that would overflow float32 silently, those far from 1, by their mean
        diagonal."""
        if not is_auto(self.scale):
            return self
        rows, weights = evidence.sample
        base = host_float64(squared_norms(in_float64(rows))) * self.gamma + self.coef0
        size = float((weights @ np.abs(base) / weights.sum()) ** self.degree)
        near = (
            not np.isfinite(size) or 1.0 / POLYNOMIAL_RANGE <= size <= POLYNOMIAL_RANGE or size == 0
        )
        return replace(self, scale=1.0 if near else size)

    @property
    def coefficients(self) -> tuple[float, float]:
        inner = 1.0 if isinstance(self.scale, str) else self.scale ** (-1.0 / self.degree)
        return self.gamma * inner, self.coef0 * inner


@dataclass(frozen=True, repr=False)
class NormalizedPolynomial(_Powers):
    """k(x, y) = (gamma x.y + coef0)^degree / sqrt(k(x, x) k(y, y)): a polynomial kernel with every
    k(x, x) = 1 (Zhang & Rudnicky 2002).

    Use it in place of `Polynomial` where rows differ in length: that kernel raises the lengths to a
    power.

    Parameters
    ----------
    degree : int >= 1, default=3
        Exponent.
    gamma : float > 0, default=1.0
        Factor of inner products.
    coef0 : float, default=1.0
        Constant added to inner products; below 0 the kernel may have negative eigenvalues.

    Raises
    ------
    ValueError
        If a number is not finite or beyond its bound, or degree is not whole.

    Examples
    --------
    >>> import numpy as np
    >>> from cmeans.kernels import NormalizedPolynomial
    >>> others = np.array([[1.0, 2.0], [2.0, 1.0]])
    >>> NormalizedPolynomial(degree=2)(np.array([[1.0, 2.0]]), others).round(3)
    array([[1.   , 0.694]])

    References
    ----------
    Zhang, Rudnicky: A large scale clustering scheme for kernel k-means. ICPR 2002.
    """

    name = "normalized_polynomial"

    @property
    def coefficients(self) -> tuple[float, float]:
        return self.gamma, self.coef0

    def factor(self, x: Array) -> Array:
        return inverse_root(squared_norms(x) * self.gamma + self.coef0)


@dataclass(frozen=True, repr=False)
class Sigmoid(ProductKernel):
    """k(x, y) = tanh(gamma x.y + coef0), the neural kernel of Chitta 2011 (gamma = .0045, coef0 =
    .11 there). Indefinite in general.

    Parameters
    ----------
    gamma : float > 0, default=1.0
        Factor of inner products.
    coef0 : float, default=1.0
        Constant added to inner products.

    Raises
    ------
    ValueError
        If gamma is not a finite number above 0, or coef0 is not finite.

    Examples
    --------
    >>> import numpy as np
    >>> from cmeans.kernels import Sigmoid
    >>> others = np.array([[1.0, 1.0], [1.0, -1.0]])
    >>> Sigmoid(gamma=0.5, coef0=0.0)(np.array([[1.0, 1.0]]), others).round(3)
    array([[0.762, 0.   ]])

    References
    ----------
    Chitta, Jin, Havens, Jain: Approximate kernel k-means. KDD 2011, section 5.
    """

    gamma: float = 1.0
    coef0: float = 1.0
    name = "sigmoid"
    positive_definite = False

    def __post_init__(self) -> None:
        check_parameters(self, gamma=0, coef0=-inf)

    @property
    def coefficients(self) -> tuple[float, float]:
        return self.gamma, self.coef0

    def transform(self, s: Array) -> Array:
        return np.tanh(s, out=s) if isinstance(s, np.ndarray) else namespace(s).tanh(s)


def _power(s: Array, degree: int) -> Array:
    """s ** degree by repeated squaring, in place for NumPy; general powers and new arrays are many
    times slower."""
    if not isinstance(s, np.ndarray):
        return _raised(namespace(s).asarray(s, copy=True), s, degree)
    wide = max(1, s.shape[-1]) if s.ndim > 1 else 1
    for part in blocks_of(s, max(1, POWER_ELEMENTS // wide)):
        _raised(part, part.copy(), degree)
    return s


def _raised(result: Array, base: Array, degree: int) -> Array:
    """base ** degree in `result`, which holds a copy of base."""
    for bit in f"{degree:b}"[1:]:
        result *= result
        if bit == "1":
            result *= base
    return result
