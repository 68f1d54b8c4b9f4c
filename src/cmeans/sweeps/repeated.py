"""Sweeps over rows that stay in memory, from one set of centres after the other, which threads
share in native code."""

from __future__ import annotations

import time

import numpy as np

from .. import native
from ..data.arrays import Float64
from ..data.precision import numpy_dtype
from ..engines import Engine
from ..native.calls import ADDRESS, INT, TEXT, WHOLE, Structure, address, done, pointer, pointer_to
from .native import CentresArgument, NativeSweep, NewSums
from .native_rows import NativeTable, RowsArgument
from .represented_rows import RepresentedRows
from .state import State

NAP = 1e-4  # seconds that a thread sleeps where there has been nothing to do for a while


class _SharedSweep(Structure):
    """struct shared_sweep"""

    _fields_ = [
        ("blocks", pointer_to(RowsArgument)),
        ("first", ADDRESS),
        ("centres", pointer_to(CentresArgument)),
        ("rule_name", TEXT),
        ("sums", ADDRESS),
        ("tasks", WHOLE),
        ("numbers", WHOLE),
        ("next", WHOLE),
        ("apart", WHOLE * 8),
        ("left", WHOLE),
        ("failed", WHOLE),
        ("over", WHOLE),
    ]


class _RowsForC:
    """All rows of a table for native code, made once for the runs over them."""

    def __init__(self, rows: RepresentedRows) -> None:
        self._table: NativeTable | None = None

    def of(self, rows: RepresentedRows, engine: Engine) -> NativeTable:
        """Return the table, by the engine's threads where it is not there yet."""
        if self._table is None:
            self._table = NativeTable(
                list(engine.run(lambda task: list(rows.native_task(task)), rows.n_tasks))
            )
        return self._table


class RepeatedSweep:
    """A native sweep whose memory is taken once: that of its last sums is used again by the next
    sweep but one."""

    def __init__(
        self, sweep: NativeSweep, rows: RepresentedRows, state: State, engine: Engine
    ) -> None:
        """The scales are those of `state`."""
        table, dtype = rows.beside(_RowsForC).of(rows, engine), numpy_dtype(rows.blocks.x)
        centres = sweep.cache.new_argument(rows.space, state, table.blocks[0])
        values, norms, scales, _ = centres.kept
        # to be written to
        self._values = values if rows.are_csr else np.array(values)
        self._norms = np.array(norms)
        centres.values, centres.norms = address(self._values), address(self._norms)
        self._totals = [NewSums(rows, len(norms)) for _ in range(2)]
        numbers = len(self._totals[0].memory)
        sums = np.empty((table.n_tasks, numbers))
        places = (
            table.arguments,
            address(table.first),
            pointer(centres),
            sweep.cache.rule_name,
            address(sums),
        )
        self._shared = _SharedSweep(*places, table.n_tasks, numbers, next=table.n_tasks, over=1)
        self._kept = table, scales, sums  # which it points to
        self._engine, self._n_tasks = engine, table.n_tasks
        self._lead = native.function("lead", dtype, (pointer_to(_SharedSweep), ADDRESS), INT)
        self._follow = native.function("follow", dtype, (pointer_to(_SharedSweep),), INT)

    def ask_for_help(self) -> None:
        """Have the engine's other threads take part in all sweeps until the end."""
        self._shared.over = 0
        self._engine.ask_for_help(self._take_part, self._n_tasks - 1)

    def end(self) -> None:
        """Let the other threads go."""
        self._shared.over = 1

    def _take_part(self) -> None:
        while not self._follow(self._shared):
            time.sleep(NAP)

    def __call__(self, coefficients: Float64, norms: Float64) -> NewSums:
        """Sweep from centres of coefficients (c, r) and offsets (c,)."""
        self._values[...], self._norms[...] = coefficients, norms
        self._totals.reverse()
        total = self._totals[0]
        done(self._lead(self._shared, address(total.memory)))
        return total
