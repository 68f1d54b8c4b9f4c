import ctypes
from functools import cache


@cache
def _lib():
    return ctypes.CDLL("/tmp/nb/lib.so")


def is_available():
    return True


@cache
def function(name, dtype, argtypes, restype=None):
    import numpy as np

    f = _lib()[f"cmeans_{name}_v3_{8 * np.dtype(dtype).itemsize}"]
    f.argtypes = argtypes
    f.restype = restype
    return f
