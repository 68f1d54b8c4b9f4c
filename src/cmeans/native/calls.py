"""Arguments of native functions: addresses of arrays, in structures like those of the C files."""

from __future__ import annotations

import ctypes
from ctypes import Structure, byref, pointer
from typing import Any

import numpy as np
import numpy.typing as npt

ADDRESS, INT, REAL, TEXT, WHOLE = (
    ctypes.c_void_p,
    ctypes.c_int,
    ctypes.c_double,
    ctypes.c_char_p,
    ctypes.c_int64,
)
pointer_to = ctypes.POINTER
LINE = 64  # bytes of a cache line, and of a vector of native code

__all__ = [
    "ADDRESS",
    "INT",
    "LINE",
    "REAL",
    "TEXT",
    "WHOLE",
    "Structure",
    "address",
    "aligned",
    "aligned_zeros",
    "byref",
    "done",
    "pitch",
    "pointer",
    "pointer_to",
]


def address(array: npt.NDArray[Any] | None) -> int | None:
    """Return where an array's numbers begin; the caller keeps the array while the address is in
    use."""
    return None if array is None else array.__array_interface__["data"][0]


def pitch(x: npt.NDArray[Any]) -> int:
    """Return the numbers from one row (n, d) to the next, of rows `in_order`."""
    bytes_apart = x.strides[0] if len(x) > 1 else x.shape[1] * x.itemsize
    assert bytes_apart % x.itemsize == 0, "the next row begins within a number"
    return bytes_apart // x.itemsize


def aligned(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a copy of an array, row after row, that begins a cache line."""
    memory = np.empty(array.size + LINE // array.itemsize, array.dtype)
    first = -memory.ctypes.data % LINE // array.itemsize
    out = memory[first : first + array.size].reshape(array.shape)
    out[...] = array
    return out


def aligned_zeros(count: int, dtype: Any) -> npt.NDArray[Any]:
    """Return so many zeros that begin a cache line, with a line of zeros after them."""
    memory = np.zeros(count + 2 * LINE // int(np.dtype(dtype).itemsize), dtype)
    first = -memory.ctypes.data % LINE // memory.itemsize
    return memory[first : first + count]


def done(code: int) -> int:
    """Return what a native function returned, unless there was no memory."""
    if code < 0:
        raise MemoryError("there is no memory for a tile of rows and the sums of all clusters")
    return code
