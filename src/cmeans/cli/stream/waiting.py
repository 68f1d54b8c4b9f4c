"""Waiting for bytes of a pipe for a limited time, on any system."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

_PAUSE = 0.02  # seconds between two looks, where a system can look but not wait


def looked_for(look: Callable[[], bool], seconds: float) -> bool:
    """Look again and again until there is something, for so many seconds at most; return whether
    there is."""
    until = time.monotonic() + seconds
    while not look():
        left = until - time.monotonic()
        if left <= 0:
            return False
        time.sleep(min(_PAUSE, left))
    return True


if sys.platform == "win32":
    import ctypes
    import msvcrt

    def arrives(pipe: int, seconds: float) -> bool:
        """Wait for so many seconds at most; return whether a read of the pipe has bytes by then, or
        its end."""
        return looked_for(lambda: _has_bytes(pipe), seconds)  # as `select` is for sockets alone

    def _has_bytes(pipe: int) -> bool:
        handle, number = ctypes.c_void_p(msvcrt.get_osfhandle(pipe)), ctypes.c_ulong()
        if ctypes.windll.kernel32.GetConsoleMode(handle, ctypes.byref(number)):
            return msvcrt.kbhit()
        is_open = ctypes.windll.kernel32.PeekNamedPipe(
            handle, None, 0, None, ctypes.byref(number), None
        )
        return number.value > 0 or not is_open  # its end; or a file, which never blocks

else:
    import select

    def arrives(pipe: int, seconds: float) -> bool:
        """Wait for so many seconds at most; return whether a read of the pipe has bytes by then, or
        its end."""
        return bool(select.select([pipe], [], [], seconds)[0])
