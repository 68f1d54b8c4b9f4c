"""The rows of a block as native code reads them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..data.arrays import Float64, in_order
from ..native.calls import ADDRESS, WHOLE, Structure, address, pitch
from ..spaces import RowValues

# rows whose sums native code takes in their own precision: blocks of a multiple of them add up as
# if they were one
SUMMED_ROWS = 1024


class RowsArgument(Structure):
    """struct rows"""

    _fields_ = [
        ("values", ADDRESS),
        ("shift", ADDRESS),
        ("kxx", ADDRESS),
        ("weight", ADDRESS),
        ("order", ADDRESS),
        ("count", WHOLE),
        ("columns", WHOLE),
        ("pitch", WHOLE),
        ("weight_step", WHOLE),
    ]


class NativeRows:
    """`argument` for native functions, and the arrays that it points to; `start` is the number of
    the first row."""

    def __init__(self, rows: RowValues, weight: Float64, start: int) -> None:
        x, weights = in_order(rows.x), in_order(weight[:, None])
        shift, kxx = (None if one is None else in_order(one) for one in (rows.shift, rows.kxx))
        self.start, self.count, self.dtype, self._kept = (
            start,
            len(x),
            x.dtype,
            (x, shift, kxx, weights),
        )
        parts = address(x), address(shift), address(kxx), address(weights), None
        self.argument = RowsArgument(*parts, len(x), x.shape[1], pitch(x), pitch(weights))

    def __len__(self) -> int:
        return self.count


class NativeTable:
    """All rows of a table for native functions: the blocks of its tasks, one task after the other,
    from `first` (tasks + 1,) on."""

    def __init__(self, tasks: Sequence[Sequence[NativeRows]]) -> None:
        self.blocks = [block for task in tasks for block in task]
        self.dtype, self.n_tasks = self.blocks[0].dtype, len(tasks)
        self.first = np.cumsum([0, *map(len, tasks)])
        self.arguments = (RowsArgument * len(self.blocks))(
            *(block.argument for block in self.blocks)
        )
