"""Compiled sweeps: those of `sweep.py` once more, for NumPy rows, in machine code.

Importing this room imports Numba; `choice.py` does so where it pays.
"""

from .sweeps import Sweeps, layout

__all__ = ["Sweeps", "layout"]
