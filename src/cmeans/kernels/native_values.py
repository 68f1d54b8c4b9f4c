"""Kernel values of NumPy rows by native code: the kernel's function is applied while its sums are
in registers."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import native
from ..data.arrays import Array, in_order, is_foreign, is_sparse
from ..native.calls import (
    ADDRESS,
    INT,
    REAL,
    WHOLE,
    Structure,
    address,
    done,
    members,
    pitch,
    pointer_to,
)

LINE = 64  # bytes of a vector of native code


class _ValuesArgument(Structure):
    """struct values"""

    _fields_ = [
        *members("left panels out", ADDRESS),
        *members("count depth pitch points out_pitch", WHOLE),
        *members("parameter", REAL),
    ]


VALUES = pointer_to(_ValuesArgument)


def serves(x: Array) -> bool:
    """True for rows that native code reads."""
    return (
        native.is_available()
        and not is_foreign(x)
        and not is_sparse(x)
        and x.dtype in (np.float32, np.float64)
    )


class NativeValues:
    """A native function of rows (b, k) and fixed points (s, k)."""

    def __init__(self, name: str, points: Array, parameter: float = 0.0) -> None:
        self._name, self._points, self._parameter = name, points, parameter
        self._panels: dict[Any, Array] = {}

    def __call__(self, rows: Array, room: Array | None = None) -> Array:
        """Return the values (b, s), in `room` where there is some."""
        rows = in_order(rows)
        out = _room_for(rows, len(self._points), room)
        if rows.dtype not in self._panels:
            self._panels[rows.dtype] = panels_of(self._points.astype(rows.dtype, copy=False))
        values = _values_argument(
            rows, self._panels[rows.dtype], out, len(self._points), self._parameter
        )
        native.function(self._name, rows.dtype, (VALUES,))(values)
        return out[:, : len(self._points)]


def native_gaussians(
    rows: Array,  # (b, d)
    panels: Array,  # of augmented points about the shift
    points: Array,  # (s, d) as they are
    shift: Array,  # (d,)
    gamma: float,
    far: float,
    room: Array | None,
) -> Array:
    """Return Gaussian kernel values (b, s) by native code, in `room` where there is some; all in
    the rows' dtype."""
    rows = in_order(rows)
    out = _room_for(rows, len(points), room)
    values = _values_argument(rows, panels, out, len(points), gamma)
    function = native.function("gaussians", rows.dtype, (VALUES, ADDRESS, ADDRESS, REAL), INT)
    done(function(values, address(shift), address(points), far))
    return out[:, : len(points)]


def _room_for(rows: Array, count: int, room: Array | None) -> Array:
    """Return memory for so many values of each row: `room`, where there is some."""
    return np.empty((len(rows), count), rows.dtype) if room is None else room


def _values_argument(
    rows: Array, panels: Array, out: Array, count: int, parameter: float
) -> Structure:
    """Return the structure that native functions of rows and so many points take; the caller keeps
    the arrays."""
    places = address(rows), address(panels), address(out)
    return _ValuesArgument(
        *places, len(rows), panels.shape[1], pitch(rows), count, pitch(out), parameter
    )


def panels_of(points: Array) -> Array:
    """Return points (s, k) in panels (p, k, lanes) of as many as are computed at a time, padded
    with zeros; each begins a cache line."""
    s, k = points.shape
    lanes = LINE // points.itemsize
    panels = -(-s // lanes)
    memory = np.zeros(panels * k * lanes + lanes, points.dtype)
    first = -memory.ctypes.data % LINE // points.itemsize
    out = memory[first : first + panels * k * lanes].reshape(panels, k, lanes)
    whole = s // lanes
    out[:whole] = points[: whole * lanes].reshape(whole, lanes, k).transpose(0, 2, 1)
    if whole < panels:
        out[whole, :, : s - whole * lanes] = points[whole * lanes :].T
    return out
