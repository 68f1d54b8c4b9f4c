"""Looks into pipes and consoles of Windows, which has no `select` for them."""

from __future__ import annotations

import sys

if sys.platform == "win32":
    import ctypes
    import msvcrt

    def has_bytes(pipe: int) -> bool:
        """Return whether a read of a pipe or a console would find bytes at once, or its end."""
        handle, number = ctypes.c_void_p(msvcrt.get_osfhandle(pipe)), ctypes.c_ulong()
        if ctypes.windll.kernel32.GetConsoleMode(handle, ctypes.byref(number)):
            return msvcrt.kbhit()
        is_open = ctypes.windll.kernel32.PeekNamedPipe(
            handle, None, 0, None, ctypes.byref(number), None
        )
        return number.value > 0 or not is_open  # its end; or a file, which never blocks
