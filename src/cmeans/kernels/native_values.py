"""Kernel values of NumPy rows by native code: the kernel's function is applied while its sums are in registers."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import native
from ..data.arrays import Array, in_order, is_foreign, is_sparse
from ..native.calls import ADDRESS, INT, REAL, WHOLE, Structure, address, done, pitch, pointer_to

LINE = 64  # bytes of a vector of native code


class _ValuesArgument(Structure):
    """struct values"""

    _fields_ = [
        ("left", ADDRESS),
        ("panels", ADDRESS),
        ("out", ADDRESS),
        ("count", WHOLE),
        ("depth", WHOLE),
        ("pitch", WHOLE),
        ("points", WHOLE),
        ("out_pitch", WHOLE),
        ("parameter", REAL),
    ]


VALUES = pointer_to(_ValuesArgument)


def serves(x: Array) -> bool:
    """True for rows that native code reads."""
    return native.is_available() and not is_foreign(x) and not is_sparse(x) and x.dtype in (np.float32, np.float64)


class NativeValues:
    """A native function of rows (b, k) and fixed points (s, k)."""

    def __init__(self, name: str, points: Array, parameter: float = 0.0) -> None:
        self._name, self._points, self._parameter = name, points, parameter
        self._panels: dict[Any, Array] = {}

    def __call__(self, rows: Array, room: Array | None = None, shift: Array | None = None) -> Array:
        """Return the values (b, s), in `room` where there is some; `shift` (k,) for the function that takes one."""
        count = len(self._points)
        out = np.empty((len(rows), count), rows.dtype) if room is None else room
        if rows.dtype not in self._panels:
            self._panels[rows.dtype] = panels_of(self._points.astype(rows.dtype))
        rows, panels = in_order(rows), self._panels[rows.dtype]
        values = _ValuesArgument(
            address(rows), address(panels), address(out), len(rows), panels.shape[1], pitch(rows), count, pitch(out), self._parameter
        )
        if shift is None:
            native.function(self._name, rows.dtype, (VALUES,))(values)
        else:
            shift = np.ascontiguousarray(shift, rows.dtype)
            done(native.function(self._name, rows.dtype, (VALUES, ADDRESS), INT)(values, address(shift)))
        return out[:, :count]


def panels_of(points: Array) -> Array:
    """Return points (s, k) in panels (p, k, lanes) of as many as are computed at a time, padded with zeros; each begins a cache line."""
    s, k = points.shape
    lanes = LINE // points.itemsize
    panels = -(-s // lanes)
    memory = np.zeros(panels * k * lanes + lanes, points.dtype)
    first = -memory.ctypes.data % LINE // points.itemsize
    out = memory[first : first + panels * k * lanes].reshape(panels, k, lanes)
    padded = np.zeros((panels * lanes, k), points.dtype)
    padded[:s] = points
    out[:] = padded.reshape(panels, lanes, k).transpose(0, 2, 1)
    return out
