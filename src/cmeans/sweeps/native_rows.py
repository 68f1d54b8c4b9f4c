"""The rows of a block as native code reads them: dense ones, or the stored numbers of CSR rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..data.arrays import Float64, IntArray, in_order, is_sparse
from ..native.calls import ADDRESS, LINE, WHOLE, Structure, address, members, pitch
from ..spaces import RowValues

# rows whose sums native code takes in their own precision: blocks of a multiple of them add up as
# if they were one
SUMMED_ROWS = 1024


class RowsArgument(Structure):
    """struct rows"""

    _fields_ = [
        *members("values shift kxx weight order column first", ADDRESS),
        *members("count columns pitch weight_step", WHOLE),
    ]


class NativeRows:
    """`argument` for native functions, and the arrays that it points to; `start` is the number of
    the first row."""

    def __init__(self, rows: RowValues, weight: Float64, start: int) -> None:
        x, weights = in_order(rows.x), in_order(weight[:, None])
        shift, kxx = (None if one is None else in_order(one) for one in (rows.shift, rows.kxx))
        self.start, self.count, self.dtype = start, int(x.shape[0]), x.dtype
        self.are_csr = is_sparse(x)
        values, column, first = (
            (in_order(x.data), _as_c(x.indices, np.int32), _as_c(x.indptr, np.int64))
            if self.are_csr
            else (x, None, None)
        )
        self._kept = values, shift, kxx, weights, column, first
        parts = *map(address, self._kept[:4]), None, address(column), address(first)
        apart = 0 if self.are_csr else pitch(x)
        self.argument = RowsArgument(*parts, self.count, x.shape[1], apart, pitch(weights))

    def __len__(self) -> int:
        return self.count


def _as_c(numbers: IntArray, dtype: Any) -> IntArray:
    """Return numbers (n,) one after the other in a C type, copied only where they are not yet."""
    ordered: IntArray = in_order(numbers.astype(dtype, copy=False))
    return ordered


def beside(clusters: int, dtype: Any) -> int:
    """Return the numbers from one column to the next where those of all clusters lie side by side:
    in whole cache lines, unless these would hold many numbers of none."""
    lanes = LINE // int(np.dtype(dtype).itemsize)
    return clusters if clusters < 2 * lanes else -(-clusters // lanes) * lanes


class NativeTable:
    """All rows of a table for native functions: the blocks of its tasks, one task after the other,
    from `first` (tasks + 1,) on."""

    def __init__(self, tasks: Sequence[Sequence[NativeRows]]) -> None:
        self.blocks = [block for task in tasks for block in task]
        self.n_tasks = len(tasks)
        self.first = np.cumsum([0, *map(len, tasks)])
        self.arguments = (RowsArgument * len(self.blocks))(
            *(block.argument for block in self.blocks)
        )
