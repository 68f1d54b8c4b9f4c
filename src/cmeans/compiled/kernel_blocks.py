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
    too_wide = columns.right.shape[1] > FEW_COLUMNS
    return columns if is_sparse(columns.right) or too_wide else _Gaussian(columns, columns.kernel.gamma)


@dataclass
class _Gaussian:
    """exp(-gamma |x - y|^2) as exp of one product, [2 gamma x, -gamma |x|^2, 1] . [y, 1, -gamma |y|^2], all about a point amid the y."""

    columns: PreparedColumns
    gamma: float

    def __post_init__(self) -> None:
        self._made_ready: dict[Any, tuple[Array, Array]] = {}

    def __call__(self, x: Array, room: Array | None = None) -> Array:
        if is_foreign(x) or is_sparse(x):
            return self.columns(x, room)
        shift, panels = self._ready_for(x)
        out = np.empty((len(x), len(self.columns.right)), x.dtype) if room is None else room
        _ready(x.dtype)(read_only(np.ascontiguousarray(x)), shift, x.dtype.type(self.gamma), panels, out)
        return out

    def _ready_for(self, x: Array) -> tuple[Array, Array]:
        if x.dtype not in self._made_ready:
            shift = np.zeros(x.shape[1]) if self.columns.shift is None else self.columns.shift
            panels = _in_panels(self.columns.right.astype(x.dtype))
            self._made_ready[x.dtype] = read_only(shift.astype(x.dtype)), read_only(panels)
        return self._made_ready[x.dtype]


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
    made = gaussian()
    with compiling(f"kernel values for {dtype.name}"):
        nothing = read_only(np.empty((0, 1), dtype)), read_only(np.empty(1, dtype))
        made(*nothing, dtype.type(1), read_only(np.empty((0, 3, 1), dtype)), np.empty((0, 0), dtype))
    return made


@cache
def gaussian() -> Callable[..., None]:
    """Made once; compiles at its first call for each float type."""
    version = sources()

    @partial(compiled, in_order=True)  # or what exponentials gain by adding and subtracting a number is optimised away
    def fill(x: Array, shift: Array, gamma: float, panels: Array, out: Array) -> None:
        """out (b, s) from rows (b, d) and the points (s, d + 2) in panels."""
        _ = version
        left = np.empty((NEAR, panels.shape[1]), out.dtype)
        for start in range(0, out.shape[0], NEAR):
            stop = min(start + NEAR, out.shape[0])
            _augment(x, start, stop, shift, gamma, left)
            for number in range(panels.shape[0]):
                for i in range(start, stop, ROWS):
                    _fill(left, start, i, stop, panels, number, out)

    return fill


@inlined
def _augment(x: Array, start: int, stop: int, shift: Array, gamma: float, left: Array) -> None:
    """Rows as the product's left side."""
    columns = x.shape[1]
    for i in range(start, stop):
        row, norm = left[i - start], x.dtype.type(0)
        for f in range(columns):
            v = x[i, f] - shift[f]
            row[f] = (gamma + gamma) * v
            norm += v * v
        row[columns], row[columns + 1] = -gamma * norm, 1.0


@intrinsic
def _fill(_typing: Any, left: Any, start: Any, i: Any, stop: Any, panels: Any, number: Any, out: Any) -> Any:
    """Rows i ... of `out`, a few and before `stop`, at the columns of one panel; `left` holds rows from `start` on."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        call = Call(context, builder, signature, arguments)
        v, left, panels, out = call.vectors, call.array(0), call.array(4), call.array(6)
        i, last, number = call.index(2), call.plus(call.index(3), -1), call.index(5)
        numbers = [call.at_most(call.plus(i, p), last) for p in range(ROWS)]  # the last one fills up
        rows = [v.address(left, builder.sub(n, call.index(1)), INDEX(0)) for n in numbers]
        sums = v.registers(len(rows) * ABREAST)
        with v.steps(INDEX(0), call.length(left, 1), 1) as f:
            columns = [v.load(v.address(panels, number, f, INDEX(a * v.lanes))) for a in range(ABREAST)]
            for p, row in enumerate(rows):
                x = v.spread(v.after(row, f))
                for a, column in enumerate(columns):
                    sums[p * ABREAST + a].add_product(x, column)
        column = builder.mul(number, INDEX(ABREAST * v.lanes))
        values = [v.exponential(s.value) for s in sums]
        whole = builder.icmp_signed("<=", call.plus(column, ABREAST * v.lanes), call.length(out, 1))
        with builder.if_else(whole) as (all_there, some_there):
            with all_there:
                for n, value in enumerate(values):
                    v.store(value, v.address(out, numbers[n // ABREAST], call.plus(column, n % ABREAST * v.lanes)))
            with some_there:
                for n, value in enumerate(values):
                    here = call.plus(column, n % ABREAST * v.lanes)
                    v.store_some(value, v.address(out, numbers[n // ABREAST], here), builder.sub(call.length(out, 1), here))
        return call.done()

    return types.void(left, start, i, stop, panels, number, out), generate
