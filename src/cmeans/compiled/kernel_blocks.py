"""Kernel values of a block of rows against landmarks: the product and the kernel's function in one go, while values are in registers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np

from ..arrays import Array, is_foreign, is_sparse
from ..kernels import RBF, Columns, Cosine, NormalizedPolynomial, Polynomial
from ..kernels.products import PreparedColumns
from .door import compiled, compiling, inlined, intrinsic, ir, sources, types
from .products import ABREAST, Call
from .tiles import read_only
from .vectors import INDEX, MANY_REGISTERS, VECTOR, Value, Vectors

FEW_COLUMNS = None if MANY_REGISTERS else 256  # columns beyond which a library's product is as fast, where there are few registers
ROWS = 4  # rows worked on at a time
NEAR = 32  # rows that landmarks pass by together
DEPTH = 128  # columns whose products are summed before the next ones are looked at, so that a panel's stay in the first cache


def quick(columns: Columns) -> Columns:
    """The same kernel values, faster for NumPy rows where there is a way."""
    if not isinstance(columns, PreparedColumns) or is_sparse(columns.right):
        return columns
    if FEW_COLUMNS is not None and columns.right.shape[1] > FEW_COLUMNS:
        return columns
    kernel = columns.kernel
    if isinstance(kernel, RBF):
        return _Gaussian(columns, kernel.gamma)
    if isinstance(kernel, Polynomial | NormalizedPolynomial):
        return _Powers(columns, kernel.degree)
    return _Powers(columns, 1) if isinstance(kernel, Cosine) else columns


@dataclass
class _Quick(ABC):
    """f(left . right) of augmented rows, f while the product's values are in registers."""

    columns: PreparedColumns

    def __post_init__(self) -> None:
        self._panels: dict[Any, Array] = {}

    def __call__(self, x: Array, room: Array | None = None) -> Array:
        if is_foreign(x) or is_sparse(x):
            return self.columns(x, room)
        count = len(self.columns.right)
        out = np.empty((len(x), count), x.dtype) if room is None else room
        if x.dtype not in self._panels:
            panels = read_only(_in_panels(self.columns.right.astype(x.dtype)))
            with compiling(f"kernel values for {x.dtype.name}"):  # or reading Numba's cache
                self._fill(x[:0], panels, count, out[:0])
            self._panels[x.dtype] = panels
        self._fill(x, self._panels[x.dtype], count, out)
        return out[:, :count]

    @abstractmethod
    def _fill(self, x: Array, panels: Array, count: int, out: Array) -> None:
        """The first `count` columns of `out`."""


@dataclass
class _Powers(_Quick):
    """(left . right) ** degree."""

    degree: int

    def _fill(self, x: Array, panels: Array, count: int, out: Array) -> None:
        left = read_only(np.ascontiguousarray(self.columns.left(x)))
        powers()(left, self.degree, panels, count, out)


@dataclass
class _Gaussian(_Quick):
    """exp(-gamma |x - y|^2) as exp of one product, [2 gamma x, -gamma |x|^2, 1] . [y, 1, -gamma |y|^2], all about a point amid the y.

    Columns may be few: then augmenting rows with NumPy would take as long as their product.
    """

    gamma: float

    def _fill(self, x: Array, panels: Array, count: int, out: Array) -> None:
        shift = np.zeros(x.shape[1]) if self.columns.shift is None else self.columns.shift
        rows, shift = read_only(np.ascontiguousarray(x)), read_only(shift.astype(x.dtype))
        exponentials()(rows, shift, x.dtype.type(self.gamma), panels, count, out)


def _in_panels(right: Array) -> Array:
    """Rows (s, k) in panels (p, k, width) of as many columns as are worked on at a time, filled up with zeros."""
    s, k = right.shape
    width = ABREAST * VECTOR // right.itemsize
    padded = np.zeros((-(-s // width) * width, k), right.dtype)
    padded[:s] = right
    return np.ascontiguousarray(padded.reshape(-1, width, k).transpose(0, 2, 1))


@cache
def powers() -> Callable[..., None]:
    """Made once; compiles at its first call for each float type."""
    version = sources()

    @compiled
    def fill(left: Array, degree: int, panels: Array, count: int, out: Array) -> None:
        """The first `count` columns of out (b, ...) from rows (b, k) and points (count, k) in panels."""
        _ = version
        for start in range(0, out.shape[0], NEAR):
            stop = min(start + NEAR, out.shape[0])
            for first in range(0, panels.shape[1], DEPTH):
                for number in range(panels.shape[0]):
                    for i in range(start, stop, ROWS):
                        _add_and_raise(left, 0, i, stop, panels, number, first, count, out, degree)

    return fill


@cache
def exponentials() -> Callable[..., None]:
    """Made once; compiles at its first call for each float type."""
    version = sources()

    @partial(compiled, in_order=True)  # or what exponentials gain by adding and subtracting a number is optimised away
    def fill(x: Array, shift: Array, gamma: float, panels: Array, count: int, out: Array) -> None:
        """The first `count` columns of out (b, ...) from rows (b, d) and points (count, d + 2) in panels."""
        _ = version
        left = np.empty((NEAR, panels.shape[1]), out.dtype)
        for start in range(0, out.shape[0], NEAR):
            stop = min(start + NEAR, out.shape[0])
            _augment(x, start, stop, shift, gamma, left)
            for first in range(0, panels.shape[1], DEPTH):
                for number in range(panels.shape[0]):
                    for i in range(start, stop, ROWS):
                        _add_and_exponentiate(left, start, i, stop, panels, number, first, count, out, 0)

    return fill


@inlined
def _augment(x: Array, start: int, stop: int, shift: Array, gamma: float, left: Array) -> None:
    """Rows as the product's left side.

    The loop that sums writes nothing: beside a loop for memory that cannot overlap the compiler would make one for memory that may, which
    sums in another order, and the last digits would hang on where arrays happen to lie.
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


def _adding(function: Callable[[Vectors, list[Value], Value], list[Value]]) -> Any:
    """An intrinsic that adds to sums of products, and applies a function to them when they are complete."""

    @intrinsic
    def add(
        _typing: Any, left: Any, start: Any, i: Any, stop: Any, panels: Any, number: Any, first: Any, count: Any, out: Any, word: Any
    ) -> Any:
        """Rows i ... of `out`, a few and before `stop`, at one panel: the products of DEPTH columns from `first` on.

        `left` holds rows from `start` on; `out` has room for `count` points; `word` is the function's.
        """

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            call = Call(context, builder, signature, arguments)
            v, left, panels, out = call.vectors, call.array(0), call.array(4), call.array(8)
            last, number, first, depth = call.plus(call.index(3), -1), call.index(5), call.index(6), call.length(panels, 1)
            numbers = [call.at_most(call.plus(call.index(2), p), last) for p in range(ROWS)]  # the last one fills up
            rows = [v.address(left, builder.sub(n, call.index(1)), INDEX(0)) for n in numbers]
            column, width = builder.mul(number, INDEX(ABREAST * v.lanes)), call.index(7)
            places = []  # (address in `out`, how many numbers from there on are its own)
            for n in numbers:
                for a in range(ABREAST):
                    here = call.plus(column, a * v.lanes)
                    places.append((v.address(out, n, here), builder.sub(width, here)))
            whole = builder.icmp_signed("<=", call.plus(column, ABREAST * v.lanes), width)
            sums = v.registers(len(places))
            with builder.if_then(builder.icmp_signed(">", first, INDEX(0))), builder.if_else(whole) as (all_there, some_there):
                with all_there:
                    for s, (place, _) in zip(sums, places, strict=True):
                        s.value = v.load(place)
                with some_there:
                    for s, (place, count) in zip(sums, places, strict=True):
                        s.value = v.load_some(place, count)
            end = call.at_most(call.plus(first, DEPTH), depth)
            with v.steps(first, end, 1) as f:
                columns = [v.load(v.address(panels, number, f, INDEX(a * v.lanes))) for a in range(ABREAST)]
                for p, row in enumerate(rows):
                    x = v.spread(v.after(row, f))
                    for a, points in enumerate(columns):
                        sums[p * ABREAST + a].add_product(x, points)
            with builder.if_then(builder.icmp_signed("==", end, depth)):
                for s, value in zip(sums, function(v, [s.value for s in sums], call.index(9)), strict=True):
                    s.value = value
            with builder.if_else(whole) as (all_there, some_there):
                with all_there:
                    for s, (place, _) in zip(sums, places, strict=True):
                        v.store(s.value, place)
                with some_there:
                    for s, (place, count) in zip(sums, places, strict=True):
                        v.store_some(s.value, place, count)
            return call.done()

        return types.void(left, start, i, stop, panels, number, first, count, out, word), generate

    return add


def _exponentials(v: Vectors, values: list[Value], _: Value) -> list[Value]:
    return [v.exponential(value) for value in values]


def _raised(v: Vectors, values: list[Value], degree: Value) -> list[Value]:
    """Powers by repeated squaring, from the degree's second binary digit on."""
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


_add_and_exponentiate = _adding(_exponentials)
_add_and_raise = _adding(_raised)
