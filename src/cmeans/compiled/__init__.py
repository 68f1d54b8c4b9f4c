"""Compiled sweeps: those of `sweep.py` once more, for NumPy rows, in machine code.

Importing this room imports Numba; `choice.py` does so where it pays.
"""

from .bounds import BoundedSweep
from .door import is_open
from .kernel_blocks import quick
from .sweeps import Assign, Deviations, Measure, Sweep, layout

__all__ = ["Assign", "BoundedSweep", "Deviations", "Measure", "Sweep", "is_open", "layout", "quick"]
