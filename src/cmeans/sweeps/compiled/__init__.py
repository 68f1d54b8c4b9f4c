"""Compiled sweeps: those of `generic.py` in machine code, for NumPy rows.

Importing this folder imports Numba; `choice.py` does so where it saves time.
"""

from .bounds import BoundedSweep
from .door import is_open
from .kernel_blocks import quick
from .sweeps import CompiledAssign, CompiledDeviations, CompiledMeasure, CompiledSweep, layout

__all__ = ["BoundedSweep", "CompiledAssign", "CompiledDeviations", "CompiledMeasure", "CompiledSweep", "is_open", "layout", "quick"]
