"""Kernels that are functions of inner products: one matrix product over augmented rows, then one transform in place.

Every kernel here has the form

    k(x, y) = f( (alpha x.y + beta) r(x) r(y) + p(x) + p(y) )

so the argument of f is one product of rows with up to three columns added, [alpha r x, r, p, 1] . [r y, beta r, 1, p], in place.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from math import inf

import numpy as np

from ..data.arrays import Array, inverse_root, is_sparse, namespace, squared_norms
from ..data.blocks import pieces
from .base import Columns, Kernel, check_parameters

POWER_ELEMENTS = 2**15  # numbers raised to a power at a time, so that they stay in the cache


class ProductKernel(Kernel):
    """A kernel of the form at the top of this module, in the same letters."""

    prepares_lightly = True
    translation_invariant = False  # True: a shift of all rows changes nothing, so float rounding can be kept small

    @property
    @abstractmethod
    def coefficients(self) -> tuple[float, float]:
        """alpha and beta."""

    @property
    def zero_at_zero_alone(self) -> bool:
        return self.coefficients[1] == 0.0

    def factor(self, x: Array) -> Array | None:
        """r(x) (b,), or None for 1."""
        return None

    def term(self, x: Array) -> Array | None:
        """p(x) (b,), or None for 0."""
        return None

    def transform(self, s: Array) -> Array:
        """f(s), in place where the array library allows it; s itself unless overridden."""
        return s

    def prepare(self, y: Array) -> Columns:
        if isinstance(y, np.ndarray):
            y = np.ascontiguousarray(y)  # so that a model read from a file gives the same bits as the one it was saved from
        shift = None
        if self.translation_invariant and not is_sparse(y):
            shift = namespace(y).mean(y, axis=0)
            y = y - shift[None, :]
        return PreparedColumns(self, _augmented(self, y, left=False), shift)

    def diag(self, x: Array) -> Array:
        alpha, beta = self.coefficients
        s = squared_norms(x) * alpha + beta
        r, p = self.factor(x), self.term(x)
        s = s if r is None else s * r * r
        return self.transform(s if p is None else s + 2.0 * p)


@dataclass(frozen=True)
class PreparedColumns:
    """A kernel whose second argument is fixed."""

    kernel: ProductKernel
    right: Array  # (s, d + extra) augmented rows; for CSR points (s, d) as they are
    shift: Array | None

    def __call__(self, x: Array, room: Array | None = None) -> Array:
        if is_sparse(x):
            return self.kernel.transform(self._sparse_argument(x))
        left, right = self.left(x), namespace(x).astype(self.right, x.dtype, copy=False)
        return self.kernel.transform(left @ right.T if room is None else np.matmul(left, right.T, out=room[:, : len(right)]))

    def left(self, x: Array) -> Array:
        """Augmented rows (b, d + extra) of a dense array: the kernel's argument is their product with `right`."""
        if self.shift is not None:
            x = x - namespace(x).astype(self.shift, x.dtype, copy=False)[None, :]
        return _augmented(self.kernel, x, left=True)

    def _sparse_argument(self, x: Array) -> Array:
        kernel, y = self.kernel, self.right
        alpha, beta = kernel.coefficients
        s = (x @ y.T).toarray()
        s *= x.dtype.type(alpha)
        s += x.dtype.type(beta)
        for operator, left, right in (
            (np.multiply, kernel.factor(x), kernel.factor(y)),
            (np.add, kernel.term(x), kernel.term(y)),
        ):
            if left is not None and right is not None:
                operator(s, left[:, None], out=s)
                operator(s, right[None, :].astype(s.dtype), out=s)
        return s


def _augmented(kernel: ProductKernel, x: Array, *, left: bool) -> Array:
    """[alpha r x, r, p, 1] (left) or [r x, beta r, 1, p] (right), without the columns that the kernel does not need."""
    if is_sparse(x):
        return x
    xp = namespace(x)
    alpha, beta = kernel.coefficients
    r, p = kernel.factor(x), kernel.term(x)
    body = x if r is None else x * r[:, None]
    if left and alpha != 1.0:
        body = body * alpha
    columns: list[Array] = []
    if beta != 0.0:
        root = xp.ones_like(x[:, 0]) if r is None else r
        columns.append(root if left else root * beta)
    if p is not None:
        one = xp.ones_like(p)
        columns += [p, one] if left else [one, p]
    if not columns:
        return body
    return xp.concat([body, *(column[:, None] for column in columns)], axis=1)


@dataclass(frozen=True)
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

    constant_part = True
    distances_ignore_shifts = True

    @property
    def coefficients(self) -> tuple[float, float]:
        return 1.0, 0.0


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

    def __post_init__(self) -> None:
        check_parameters(self, gamma=0)

    @property
    def coefficients(self) -> tuple[float, float]:
        return 2.0 * self.gamma, 0.0

    def term(self, x: Array) -> Array:
        return squared_norms(x) * -self.gamma

    def transform(self, s: Array) -> Array:
        return _exp(s)

    def diag(self, x: Array) -> Array:
        return _ones(x)


@dataclass(frozen=True)
class Polynomial(ProductKernel):
    """k(x, y) = (gamma x.y + coef0)^degree / scale.

    The division by `scale` is done inside the power, so that values of 1e60 never appear; it changes objectives, but not clusterings.
    On rows of unequal length `NormalizedPolynomial` is usually the better choice.

    Parameters
    ----------
    degree : int >= 1, default=3
        Exponent.
    gamma : float > 0, default=1.0
        Factor of inner products.
    coef0 : float, default=1.0
        Added to them; below 0 the kernel may have negative eigenvalues.
    scale : float > 0, default=1.0
        Divisor of all values.

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
    Havens, Chitta, Jain, Jin: Speedup of fuzzy and possibilistic kernel c-means for large-scale clustering. FUZZ-IEEE 2011 (degree 5 on
    MNIST).
    """

    degree: int = 3
    gamma: float = 1.0
    coef0: float = 1.0
    scale: float = 1.0
    constant_part = True

    def __post_init__(self) -> None:
        check_parameters(self, degree=1, gamma=0, coef0=-inf, scale=0)

    @property
    def positive_definite(self) -> bool:
        return self.coef0 >= 0

    @property
    def coefficients(self) -> tuple[float, float]:
        inner = self.scale ** (-1.0 / self.degree)
        return self.gamma * inner, self.coef0 * inner

    def transform(self, s: Array) -> Array:
        return _power(s, self.degree)


@dataclass(frozen=True)
class NormalizedPolynomial(ProductKernel):
    """k(x, y) = (gamma x.y + coef0)^degree / sqrt(k(x, x) k(y, y)): a polynomial kernel with every k(x, x) = 1 (Zhang & Rudnicky 2002).

    Use it in place of `Polynomial` where rows differ in length: that kernel raises the lengths to a power.

    Parameters
    ----------
    degree : int >= 1, default=3
        Exponent.
    gamma : float > 0, default=1.0
        Factor of inner products.
    coef0 : float, default=1.0
        Added to them; below 0 the kernel may have negative eigenvalues.

    Raises
    ------
    ValueError
        If a number is not finite or beyond its bound, or degree is not whole.

    Examples
    --------
    >>> import numpy as np
    >>> from cmeans.kernels import NormalizedPolynomial
    >>> NormalizedPolynomial(degree=2)(np.array([[1.0, 2.0]]), np.array([[1.0, 2.0], [2.0, 1.0]])).round(3)
    array([[1.   , 0.694]])

    References
    ----------
    Zhang, Rudnicky: A large scale clustering scheme for kernel k-means. ICPR 2002.
    """

    degree: int = 3
    gamma: float = 1.0
    coef0: float = 1.0

    def __post_init__(self) -> None:
        check_parameters(self, degree=1, gamma=0, coef0=-inf)

    @property
    def positive_definite(self) -> bool:
        return self.coef0 >= 0

    @property
    def coefficients(self) -> tuple[float, float]:
        return self.gamma, self.coef0

    def factor(self, x: Array) -> Array:
        return inverse_root(squared_norms(x) * self.gamma + self.coef0)

    def transform(self, s: Array) -> Array:
        return _power(s, self.degree)


@dataclass(frozen=True)
class Sigmoid(ProductKernel):
    """k(x, y) = tanh(gamma x.y + coef0), the neural kernel of Chitta 2011 (gamma = .0045, coef0 = .11 there). Indefinite in general.

    Parameters
    ----------
    gamma : float > 0, default=1.0
        Factor of inner products.
    coef0 : float, default=1.0
        Added to them.

    Raises
    ------
    ValueError
        If gamma is not a finite number above 0, or coef0 is not finite.

    Examples
    --------
    >>> import numpy as np
    >>> from cmeans.kernels import Sigmoid
    >>> Sigmoid(gamma=0.5, coef0=0.0)(np.array([[1.0, 1.0]]), np.array([[1.0, 1.0], [1.0, -1.0]])).round(3)
    array([[0.762, 0.   ]])

    References
    ----------
    Chitta, Jin, Havens, Jain: Approximate kernel k-means. KDD 2011, section 5.
    """

    gamma: float = 1.0
    coef0: float = 1.0

    def __post_init__(self) -> None:
        check_parameters(self, gamma=0, coef0=-inf)

    @property
    def positive_definite(self) -> bool:
        return False

    @property
    def coefficients(self) -> tuple[float, float]:
        return self.gamma, self.coef0

    def transform(self, s: Array) -> Array:
        return np.tanh(s, out=s) if isinstance(s, np.ndarray) else namespace(s).tanh(s)


@dataclass(frozen=True)
class Cosine(ProductKernel):
    """k(x, y) = x.y / (|x| |y|): spherical clustering, for embeddings and text. A row of zeros has k = 0 with everything.

    Examples
    --------
    >>> import numpy as np
    >>> from cmeans.kernels import Cosine
    >>> Cosine()(np.array([[1.0, 0.0]]), np.array([[5.0, 0.0], [0.0, 2.0], [0.0, 0.0]]))
    array([[1., 0., 0.]])
    """

    @property
    def coefficients(self) -> tuple[float, float]:
        return 1.0, 0.0

    def factor(self, x: Array) -> Array:
        return inverse_root(squared_norms(x))


def _exp(s: Array) -> Array:
    return np.exp(s, out=s) if isinstance(s, np.ndarray) else namespace(s).exp(s)


def _power(s: Array, degree: int) -> Array:
    """s ** degree by repeated squaring, in place for NumPy; general powers and new arrays are many times slower."""
    if not isinstance(s, np.ndarray):
        return _raised(namespace(s).asarray(s, copy=True), s, degree)
    for part in pieces(s, max(1, POWER_ELEMENTS // max(1, s.shape[-1]))):
        _raised(part, part.copy(), degree)
    return s


def _raised(result: Array, base: Array, degree: int) -> Array:
    """base ** degree in `result`, which holds a copy of base."""
    for bit in f"{degree:b}"[1:]:
        result *= result
        if bit == "1":
            result *= base
    return result


def _ones(x: Array) -> Array:
    return np.ones(x.shape[0], dtype=x.dtype) if is_sparse(x) else namespace(x).ones_like(x[:, 0])
