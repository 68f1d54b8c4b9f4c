"""Kernels computed outside the library: precomputed matrices and the user's functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np

from ..data.arrays import Array, namespace, to_numpy
from ..data.blocks import blocks_of
from ..data.damage import masked_entries
from .base import Columns, Kernel, equal_fields


@dataclass(frozen=True, repr=False, eq=False)
class Precomputed(Kernel):
    """Rows are kernel values already: row i holds k(x_i, .) and a "point" is the number of a
    column.

    X is the square kernel matrix, or only the columns of the `landmarks`. A row does not hold its
    own k(x, x), so the diagonal is passed beside the rows where they are not square: `diagonal` to
    a fit, `diag=` to `predict` and the other methods.

    Parameters
    ----------
    diagonal : (n,), float or None, default=None
        k(x, x) of each row of a fit, or of all; None: rows are the square matrix.

    Raises
    ------
    ValueError
        If the diagonal is needed and was not given.

    Examples
    --------
    >>> from cmeans import KernelKMeans
    >>> K = [[1.0, 0.9, 0.1], [0.9, 1.0, 0.2], [0.1, 0.2, 1.0]]
    >>> labels = KernelKMeans(2, kernel="precomputed", n_init=5, random_state=0).fit(K).labels_
    >>> bool(labels[0] == labels[1] != labels[2])
    True
    """

    diagonal: float | Any | None = None
    name = "precomputed"
    takes_kernel_values = True
    is_for_tables = False
    positive_definite = False  # unknown, so a sample is checked

    def __eq__(self, other: object) -> bool:
        return equal_fields(self, other)

    def prepare(self, y: Array) -> Columns:
        positions = to_numpy(y).astype(np.intp)
        all_columns = np.array_equal(positions, np.arange(len(positions)))

        def columns(x: Array, room: Array | None = None) -> Array:
            if all_columns and x.shape[1] == len(positions):
                return x
            if isinstance(x, np.ndarray):
                return np.ascontiguousarray(x[:, positions])
            xp = namespace(x)
            return xp.take(x, xp.asarray(positions), axis=1)

        return columns

    def diag(self, x: Array) -> Array:
        raise ValueError(
            'kernel="precomputed": the kernel of each row with itself is not in its columns; pass '
            "it as diag=... (predict, transform, ...) or kernel=Precomputed(diagonal=...) (fit)."
        )


@runtime_checkable
class HasDiagonal(Protocol):
    """A callable kernel with a method for its diagonal, such as scikit-learn's Gaussian-process
    kernels."""

    def diag(self, X: Array) -> Array: ...


@dataclass(frozen=True, repr=False)
class CallableKernel(Kernel):
    """A function k(X, Y) -> (len(X), len(Y)); a method `diag(X)` on it is used where there is one.

    Parameters
    ----------
    function : callable
        Takes two blocks of rows, in the array library and type in which they were given.
    params : mapping, optional
        Further arguments, by name.

    Raises
    ------
    ValueError
        If the function returns another shape, or complex numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from cmeans.kernels import CallableKernel
    >>> CallableKernel(lambda X, Y: X @ Y.T + 1)(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]]))
    array([[12.]])
    """

    function: Callable[..., Array]
    params: Mapping[str, Any] = field(default_factory=dict)
    positive_definite = False  # unknown, so a sample is checked

    def prepare(self, y: Array) -> Columns:
        def columns(x: Array, room: Array | None = None) -> Array:
            return self._checked(self.function(x, y, **self.params), x, (x.shape[0], y.shape[0]))

        return columns

    def diag(self, x: Array) -> Array:
        if isinstance(self.function, HasDiagonal):
            return self._checked(self.function.diag(x), x, (x.shape[0],))
        # Small squares cost 16 times as many evaluations, but single rows would cost a Python call
        # each.
        squares = [self(part, part) for part in blocks_of(x, 16)]
        xp = namespace(squares[0])
        return xp.concat([xp.linalg.diagonal(s) for s in squares])

    def _checked(self, values: Array, x: Array, shape: tuple[int, ...]) -> Array:
        xp, hidden = namespace(x), masked_entries(values)
        if hidden:
            raise ValueError(
                f"kernel={self.function!r} returned a masked array of which {hidden} values are "
                "masked: a kernel knows them all."
            )
        values = xp.asarray(values)
        if xp.isdtype(values.dtype, "complex floating"):
            raise ValueError(
                f"kernel={self.function!r} returned complex numbers: a kernel is real."
            )
        if tuple(values.shape) != shape:
            raise ValueError(
                f"kernel={self.function!r} returned an array of shape {tuple(values.shape)} where "
                f"{shape} was expected: a callable kernel takes two blocks of rows, k(X, Y), and "
                "returns all their pairs (len(X), len(Y))."
            )
        return xp.astype(values, x.dtype, copy=False)
