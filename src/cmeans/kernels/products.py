"""Kernels that are functions of inner products: one matrix product over augmented rows, then one
transform in place.

Every kernel here has the form

    k(x, y) = f( (alpha x.y + beta) r(x) r(y) )

so the argument of f is one product of rows with up to one column added, [alpha r x, r] . [r y, beta
r], in place.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..data.arrays import Array, is_sparse, namespace, squared_norms
from .base import Columns, Kernel
from .native_values import NativeValues, serves


class ProductKernel(Kernel):
    """A kernel of the form at the top of this module, in the same letters."""

    prepares_lightly = True

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

    @property
    def native_function(self) -> tuple[str, float] | None:
        """Name and parameter of the native function that gives the same values, where there is
        one."""
        return None

    def transform(self, s: Array) -> Array:
        """f(s), in place where the array library allows it; s itself unless overridden."""
        return s

    def prepare(self, y: Array) -> Columns:
        if isinstance(y, np.ndarray):
            # so that a model read from a file gives the same bits as the one it was saved from
            y = np.ascontiguousarray(y)
        return PreparedColumns(self, _augmented(self, y, left=False))

    def diag(self, x: Array) -> Array:
        alpha, beta = self.coefficients
        s = squared_norms(x) * alpha + beta
        r = self.factor(x)
        return self.transform(s if r is None else s * r * r)


@dataclass(frozen=True)
class PreparedColumns:
    """A kernel whose second argument is fixed."""

    kernel: ProductKernel
    right: Array  # (s, d + extra) augmented rows; for CSR points (s, d) as they are

    def __call__(self, x: Array, room: Array | None = None) -> Array:
        if is_sparse(x):
            return self.kernel.transform(self._sparse_argument(x))
        left = _augmented(self.kernel, x, left=True)
        if self._native is not None and serves(x):
            return self._native(left, room)
        right = namespace(x).astype(self.right, x.dtype, copy=False)
        return self.kernel.transform(
            left @ right.T if room is None else np.matmul(left, right.T, out=room[:, : len(right)])
        )

    @cached_property
    def _native(self) -> NativeValues | None:
        """The native function of the points, where there is one."""
        function = self.kernel.native_function
        if function is None or not serves(self.right):
            return None
        name, parameter = function
        return NativeValues(name, self.right, parameter)

    @cached_property
    def _by_column(self) -> Array:
        """CSR points (d, s), which SciPy would make for every block."""
        return self.right.T.tocsr()

    def _sparse_argument(self, x: Array) -> Array:
        kernel, y = self.kernel, self.right
        alpha, beta = kernel.coefficients
        s = (x @ self._by_column).toarray()
        s *= x.dtype.type(alpha)
        s += x.dtype.type(beta)
        left, right = kernel.factor(x), kernel.factor(y)
        if left is not None and right is not None:
            s *= left[:, None]
            s *= right[None, :].astype(s.dtype)
        return s


def _augmented(kernel: ProductKernel, x: Array, *, left: bool) -> Array:
    """[alpha r x, r] (left) or [r x, beta r] (right), without the last column where the kernel does
    not need it."""
    if is_sparse(x):
        return x
    xp = namespace(x)
    alpha, beta = kernel.coefficients
    r = kernel.factor(x)
    body = x if r is None else x * r[:, None]
    if left and alpha != 1.0:
        body = body * alpha
    if beta == 0.0:
        return body
    root = xp.ones_like(x[:, 0]) if r is None else r
    return xp.concat([body, (root if left else root * beta)[:, None]], axis=1)


def ones_of(x: Array) -> Array:
    """Return a one for each row, in its library and dtype."""
    return np.ones(x.shape[0], dtype=x.dtype) if is_sparse(x) else namespace(x).ones_like(x[:, 0])


def exponential(s: Array) -> Array:
    """Return e^s, in place for NumPy."""
    return np.exp(s, out=s) if isinstance(s, np.ndarray) else namespace(s).exp(s)
