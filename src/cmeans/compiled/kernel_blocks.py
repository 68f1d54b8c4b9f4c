"""Kernel values of a block of rows against landmarks: the product and the kernel's function in one go, while values are in registers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np

from ..arrays import Array, is_foreign, is_sparse
from ..kernels import RBF, Columns
from ..kernels.products import PreparedColumns
from .door import compiled, compiling, inlined, intrinsic, sources, types
from .products import ABREAST, Call
from .tiles import read_only
from .vectors import INDEX, VECTOR

FEW_COLUMNS = 256  # columns beyond which the product is all that counts, and a library's is as fast
ROWS = 4  # rows worked on at a time
NEAR = 32  # rows that landmarks pass by together


def quick(columns: Columns) -> Columns:
    """The same kernel values, faster for NumPy rows where there is a way."""
    if not isinstance(columns, PreparedColumns) or not isinstance(columns.kernel, RBF):
        return columns
    return columns if is_sparse(columns.right) or columns.right.shape[1] > FEW_COLUMNS else _Exponentials(columns)


@dataclass
class _Exponentials:
    """exp of one matrix product, the common form of Gaussian kernels."""

    columns: PreparedColumns

    def __post_init__(self) -> None:
        self._panels: dict[Any, Array] = {}

    def __call__(self, x: Array, room: Array | None = None) -> Array:
        if is_foreign(x) or is_sparse(x):
            return self.columns(x, room)
        left = np.ascontiguousarray(self.columns.left(x))
        panels = self._panels.get(left.dtype)
        if panels is None:
            panels = self._panels[left.dtype] = read_only(_in_panels(self.columns.right.astype(left.dtype)))
        out = np.empty((len(x), len(self.columns.right)), left.dtype) if room is None else room
        _ready(left.dtype)(read_only(left), panels, out)
        return out


def _in_panels(right: Array) -> Array:
    """Rows (s, k) in panels (p, k, width) of as many columns as are worked on at a time, filled up with zeros."""
    s, k = right.shape
    width = ABREAST * VECTOR // right.itemsize
    padded = np.zeros((-(-s // width) * width, k), right.dtype)
    padded[:s] = right
    return np.ascontiguousarray(padded.reshape(-1, width, k).transpose(0, 2, 1))


@cache
def _ready(dtype: Any) -> Callable[..., None]:
    """Compiled for one float type or read from Numba's cache."""
    made = exponentials()
    with compiling(f"kernel values for {dtype.name}"):
        made(read_only(np.empty((0, 1), dtype)), read_only(np.empty((0, 1, 1), dtype)), np.empty((0, 0), dtype))
    return made


@cache
def exponentials() -> Callable[..., None]:
    """Made once; compiles at its first call for each float type."""
    version = sources()

    @partial(compiled, in_order=True)  # or what exponentials gain by adding and subtracting a number is optimised away
    def fill(left: Array, panels: Array, out: Array) -> None:
        """out (b, s) = exp(left (b, k) . right), the right side in panels."""
        _ = version
        for start in range(0, out.shape[0], NEAR):
            for number in range(panels.shape[0]):
                for i in range(start, min(start + NEAR, out.shape[0]), ROWS):
                    _fill(left, _rows_from(i, out.shape[0] - 1), panels, number, out)

    return fill


@inlined
def _rows_from(i: int, last: int) -> tuple[int, int, int, int]:
    return i, min(i + 1, last), min(i + 2, last), min(i + 3, last)


@intrinsic
def _fill(_typing: Any, left: Any, numbers: Any, panels: Any, number: Any, out: Any) -> Any:
    """A few rows of `out` at the columns of one panel."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        call = Call(context, builder, signature, arguments)
        v, left, numbers, panels, number, out = call.vectors, call.array(0), call.numbers(1), call.array(2), call.index(3), call.array(4)
        rows = [v.address(left, i, INDEX(0)) for i in numbers]
        sums = v.registers(len(rows) * ABREAST)
        with v.steps(INDEX(0), call.length(left, 1), 1) as f:
            columns = [v.load(v.address(panels, number, f, INDEX(a * v.lanes))) for a in range(ABREAST)]
            for p, row in enumerate(rows):
                x = v.spread(v.after(row, f))
                for a, column in enumerate(columns):
                    sums[p * ABREAST + a].add_product(x, column)
        first = builder.mul(number, INDEX(ABREAST * v.lanes))
        values = [v.exponential(s.value) for s in sums]
        whole = builder.icmp_signed("<=", call.plus(first, ABREAST * v.lanes), call.length(out, 1))
        with builder.if_else(whole) as (all_there, some_there):
            with all_there:
                for n, value in enumerate(values):
                    v.store(value, v.address(out, numbers[n // ABREAST], call.plus(first, n % ABREAST * v.lanes)))
            with some_there:
                for n, value in enumerate(values):
                    column = call.plus(first, n % ABREAST * v.lanes)
                    v.store_some(value, v.address(out, numbers[n // ABREAST], column), builder.sub(call.length(out, 1), column))
        return call.done()

    return types.void(left, numbers, panels, number, out), generate
