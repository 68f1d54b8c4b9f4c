"""Kernel values of a block of rows against landmarks: the kernel's function is applied while the products are in registers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np

from ...data.arrays import Array, is_foreign, is_sparse
from ...kernels import RBF, Columns, Cosine, NormalizedPolynomial, Polynomial
from ...kernels.products import PreparedColumns
from .door import compiled, compiling, inlined, intrinsic, ir, sources, types
from .products import ABREAST, Call
from .tiles import read_only
from .vectors import INDEX, MANY_REGISTERS, VECTOR, Value, Vectors

FEW_COLUMNS = None if MANY_REGISTERS else 256  # columns above which a library's product is as fast on machines with few registers
ROWS = 4  # rows computed at a time
ROWS_PER_PASS = 32  # rows for which all landmarks are computed before the next rows
DEPTH = 128  # columns whose products are summed together, so that those of a panel stay in the first-level cache


def quick(columns: Columns, few_columns: int | None = FEW_COLUMNS) -> Columns:
    """Return the same kernel values, faster for NumPy rows of the kernels that have a compiled form."""
    if not isinstance(columns, PreparedColumns) or is_sparse(columns.right):
        return columns
    if few_columns is not None and columns.right.shape[1] > few_columns:
        return columns
    kernel = columns.kernel
    if isinstance(kernel, RBF):
        return _GaussianColumns(columns, kernel.gamma)
    if isinstance(kernel, Polynomial | NormalizedPolynomial):
        return _PowerColumns(columns, kernel.degree)
    return _PowerColumns(columns, 1) if isinstance(kernel, Cosine) else columns


@dataclass
class _CompiledColumns(ABC):
    """f(left . right) of augmented rows; f is applied while the products are in registers."""

    columns: PreparedColumns

    def __post_init__(self) -> None:
        self._panels: dict[Any, Array] = {}

    def __call__(self, x: Array, room: Array | None = None) -> Array:
        if is_foreign(x) or is_sparse(x):
            return self.columns(x, room)
        count = len(self.columns.right)
        out = np.empty((len(x), count), x.dtype) if room is None else room
        if x.dtype not in self._panels:
            panels = read_only(_panels_of(self.columns.right.astype(x.dtype)))
            with compiling(f"kernel values for {x.dtype.name}"):  # or read from Numba's cache
                self._fill(x[:0], panels, count, out[:0])
            self._panels[x.dtype] = panels
        self._fill(x, self._panels[x.dtype], count, out)
        return out[:, :count]

    @abstractmethod
    def _fill(self, x: Array, panels: Array, count: int, out: Array) -> None:
        """Fill the first `count` columns of `out`."""


@dataclass
class _PowerColumns(_CompiledColumns):
    """(left . right) ** degree."""

    degree: int

    def _fill(self, x: Array, panels: Array, count: int, out: Array) -> None:
        left = read_only(np.ascontiguousarray(self.columns.left(x)))
        powers()(left, self.degree, panels, count, out)


@dataclass
class _GaussianColumns(_CompiledColumns):
    """exp(-gamma |x - y|^2) as exp of one product, [2 gamma x, -gamma |x|^2, 1] . [y, 1, -gamma |y|^2], all about the mean of the y.

    With few columns, augmenting the rows with NumPy would take as long as their product.
    """

    gamma: float

    def _fill(self, x: Array, panels: Array, count: int, out: Array) -> None:
        shift = np.zeros(x.shape[1]) if self.columns.shift is None else self.columns.shift
        rows, shift = read_only(np.ascontiguousarray(x)), read_only(shift.astype(x.dtype))
        exponentials()(rows, shift, x.dtype.type(self.gamma), panels, count, out)


def _panels_of(right: Array) -> Array:
    """Return rows (s, k) in panels (p, k, width) of as many points as are computed at a time, padded with zeros."""
    s, k = right.shape
    width = ABREAST * VECTOR // right.itemsize
    padded = np.zeros((-(-s // width) * width, k), right.dtype)
    padded[:s] = right
    return np.ascontiguousarray(padded.reshape(-1, width, k).transpose(0, 2, 1))


@cache
def powers() -> Callable[..., None]:
    """Return the function, made once; it compiles at its first call for each float type."""
    version = sources()

    @compiled
    def fill(left: Array, degree: int, panels: Array, count: int, out: Array) -> None:
        """Fill the first `count` columns of out (b, ...) from rows (b, k) and points (count, k) in panels."""
        _ = version
        for start in range(0, out.shape[0], ROWS_PER_PASS):
            stop = min(start + ROWS_PER_PASS, out.shape[0])
            for first in range(0, panels.shape[1], DEPTH):
                for number in range(panels.shape[0]):
                    for i in range(start, stop, ROWS):
                        _add_and_raise(left, 0, i, stop, panels, number, first, count, out, degree)

    return fill


@cache
def exponentials() -> Callable[..., None]:
    """Return the function, made once; it compiles at its first call for each float type."""
    version = sources()

    @partial(compiled, in_order=True)  # otherwise the exponential's addition and subtraction of one number is optimised away
    def fill(x: Array, shift: Array, gamma: float, panels: Array, count: int, out: Array) -> None:
        """Fill the first `count` columns of out (b, ...) from rows (b, d) and points (count, d + 2) in panels."""
        _ = version
        left = np.empty((ROWS_PER_PASS, panels.shape[1]), out.dtype)
        for start in range(0, out.shape[0], ROWS_PER_PASS):
            stop = min(start + ROWS_PER_PASS, out.shape[0])
            _augment(x, start, stop, shift, gamma, left)
            for first in range(0, panels.shape[1], DEPTH):
                for number in range(panels.shape[0]):
                    for i in range(start, stop, ROWS):
                        _add_and_exponentiate(left, start, i, stop, panels, number, first, count, out, 0)

    return fill


@inlined
def _augment(x: Array, start: int, stop: int, shift: Array, gamma: float, left: Array) -> None:
    """Augment rows for the left side of the product.

    The loop that sums writes nothing: otherwise the compiler would make a second version of it, for memory that may overlap, which sums
    in another order, and the last digits would depend on the addresses of the arrays.
    """
    columns = x.shape[1]
    for i in range(start, stop):
        row, norm = left[i - start], x.dtype.type(0)
        for f in range(columns):
            norm += (x[i, f] - shift[f]) * (x[i, f] - shift[f])
        for f in range(columns):
            row[f] = (gamma + gamma) * (x[i, f] - shift[f])
        row[columns], row[columns + 1] = -gamma * norm, 1.0


# ------------------------------------------------------------------------------------------------------------- in registers


def _summing_intrinsic(function: Callable[[Vectors, list[Value], Value], list[Value]]) -> Any:
    """Return an intrinsic that adds to sums of products, and applies a function to them when they are complete."""

    @intrinsic
    def add(
        _typing: Any, left: Any, start: Any, i: Any, stop: Any, panels: Any, number: Any, first: Any, count: Any, out: Any, argument: Any
    ) -> Any:
        """Add the products of DEPTH columns from `first` on, for ROWS rows of `out` from i on (below `stop`) and one panel.

        `left` holds rows from `start` on; `out` has `count` points; `argument` is passed to the function.
        """

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            call = Call(context, builder, signature, arguments)
            v, left, panels, out = call.vectors, call.array(0), call.array(4), call.array(8)
            last, number, first, depth = call.plus(call.index(3), -1), call.index(5), call.index(6), call.length(panels, 1)
            numbers = [call.at_most(call.plus(call.index(2), p), last) for p in range(ROWS)]  # the last row pads
            rows = [v.address(left, builder.sub(n, call.index(1)), INDEX(0)) for n in numbers]
            column, width = builder.mul(number, INDEX(ABREAST * v.lanes)), call.index(7)
            places = []  # (address in `out`, count of numbers of this row from there on)
            for n in numbers:
                for a in range(ABREAST):
                    here = call.plus(column, a * v.lanes)
                    places.append((v.address(out, n, here), builder.sub(width, here)))
            is_complete = builder.icmp_signed("<=", call.plus(column, ABREAST * v.lanes), width)
            sums = v.registers(len(places))
            with builder.if_then(builder.icmp_signed(">", first, INDEX(0))), builder.if_else(is_complete) as (complete, incomplete):
                with complete:
                    for s, (place, _) in zip(sums, places, strict=True):
                        s.value = v.load(place)
                with incomplete:
                    for s, (place, count) in zip(sums, places, strict=True):
                        s.value = v.load_partial(place, count)
            end = call.at_most(call.plus(first, DEPTH), depth)
            with v.steps(first, end, 1) as f:
                columns = [v.load(v.address(panels, number, f, INDEX(a * v.lanes))) for a in range(ABREAST)]
                for p, row in enumerate(rows):
                    x = v.load_broadcast(v.after(row, f))
                    for a, points in enumerate(columns):
                        sums[p * ABREAST + a].add_product(x, points)
            with builder.if_then(builder.icmp_signed("==", end, depth)):
                for s, value in zip(sums, function(v, [s.value for s in sums], call.index(9)), strict=True):
                    s.value = value
            with builder.if_else(is_complete) as (complete, incomplete):
                with complete:
                    for s, (place, _) in zip(sums, places, strict=True):
                        v.store(s.value, place)
                with incomplete:
                    for s, (place, count) in zip(sums, places, strict=True):
                        v.store_partial(s.value, place, count)
            return call.done()

        return types.void(left, start, i, stop, panels, number, first, count, out, argument), generate

    return add


def _exponentials(v: Vectors, values: list[Value], _: Value) -> list[Value]:
    return [v.exponential(value) for value in values]


def _powers(v: Vectors, values: list[Value], degree: Value) -> list[Value]:
    """Return powers by repeated squaring, from the degree's second binary digit on."""
    b, one = v.builder, INDEX(1)
    results = [v.register(value) for value in values]
    digits = b.sub(INDEX(63), b.ctlz(degree, ir.IntType(1)(1)))
    with v.steps(INDEX(0), digits, 1) as step:
        digit = b.and_(b.lshr(degree, b.sub(b.sub(digits, one), step)), one)
        odd = b.icmp_signed("==", digit, one)
        for result, value in zip(results, values, strict=True):
            square = b.fmul(result.value, result.value)
            result.value = b.select(odd, b.fmul(square, value), square)
    return [result.value for result in results]


_add_and_exponentiate = _summing_intrinsic(_exponentials)
_add_and_raise = _summing_intrinsic(_powers)
