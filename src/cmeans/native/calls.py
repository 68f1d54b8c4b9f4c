"""The library of native code, loaded at the first question in the variant that the machine runs,
and the arguments of its functions: addresses of arrays, in structures like those of the C files."""

from __future__ import annotations

import ctypes
import os
import platform
import threading
from collections.abc import Sequence
from ctypes import Structure as Structure
from ctypes import byref as byref
from ctypes import pointer as pointer
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from ..runtime.user_warnings import warn
from .sources import BUILT, FOLDER, LIBRARY, digest

ADDRESS = ctypes.c_void_p
INT = ctypes.c_int
REAL = ctypes.c_double
TEXT = ctypes.c_char_p
WHOLE = ctypes.c_int64
pointer_to = ctypes.POINTER
LINE = 64  # bytes of a cache line, and of a vector of native code


def members(names: str, kind: Any) -> list[tuple[str, Any]]:
    """Return members of one kind of a structure, in the order of their names."""
    return [(name, kind) for name in names.split()]


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


VARIABLE = "CMEANS_NATIVE"
LEVELS = {"v3": 3, "v4": 4}  # of x86-64
ARM = ("aarch64", "arm64")

_loading = threading.Lock()


@dataclass(frozen=True)
class _Loaded:
    """The library, and the variant of its functions that is in use; neither where there is none."""

    library: ctypes.CDLL | None
    variant: str | None


def is_available() -> bool:
    """Return True where sweeps and kernel values are computed by native code."""
    return _loaded().library is not None


def variant() -> str | None:
    """Return the kind of machine that the functions in use were compiled for: "v3" or "v4" of
    x86-64, "arm64"; None without native code."""
    return _loaded().variant


@cache
def function(name: str, dtype: Any, argtypes: Sequence[Any], restype: Any = None) -> Any:
    """Return a native function for a float type; ctypes calls it without the GIL."""
    loaded = _loaded()
    assert loaded.library is not None, "is_available() says whether there is one"
    prototype = ctypes.CFUNCTYPE(restype, *argtypes)
    return prototype(
        (f"cmeans_{name}_{loaded.variant}_{8 * np.dtype(dtype).itemsize}", loaded.library)
    )


def _loaded() -> _Loaded:
    with _loading:  # threads that ask first wait for one of them
        return _load()


@cache
def _load() -> _Loaded:
    wanted = os.environ.get(VARIABLE, "")
    if wanted not in ("", "off", "arm64", *LEVELS):
        raise ValueError(
            f"{VARIABLE}={wanted}: set it to v3, v4 or arm64 to force native code for that "
            "machine, to off for none, or not at all."
        )
    if wanted == "off":
        return _Loaded(None, None)
    try:
        library = _checked_library()
    except OSError as error:
        warn(
            f"cmeans runs without its native code, many times slower ({error}). Installing it "
            "again where there is a C compiler, or network access for pip to fetch one, builds it: "
            f"python -m pip install --force-reinstall --no-deps cmeans. {VARIABLE}=off turns this "
            "warning off.",
            RuntimeWarning,
        )
        return _Loaded(None, None)
    return _Loaded(library, _chosen(library.cmeans_level(), wanted))


def _checked_library() -> ctypes.CDLL:
    """Return the library; OSError where there is none of these C files for this machine."""
    path = FOLDER / BUILT / LIBRARY
    if not path.is_file():
        raise OSError("it was installed without any")
    library = ctypes.CDLL(str(path))
    library.cmeans_sources.restype = ctypes.c_char_p
    if library.cmeans_sources().decode() != digest():
        raise OSError("the C files have changed since it was built")
    if platform.machine() not in ARM and library.cmeans_level() < LEVELS["v3"]:
        raise OSError("this processor has no AVX2")
    return library


def _chosen(level: int, wanted: str) -> str:
    """Return the variant to use: the one that is wanted, or else the best; ValueError where the
    machine cannot run it."""
    if platform.machine() in ARM:
        able = ["arm64"]
    else:
        able = [name for name, least in LEVELS.items() if level >= least]
    if wanted and wanted not in able:
        raise ValueError(f"{VARIABLE}={wanted}: this machine runs {' and '.join(able)}.")
    return wanted or able[-1]
