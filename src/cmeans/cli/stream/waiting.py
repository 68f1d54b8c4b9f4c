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
    from cmeans.native.windows_pipes import has_bytes

    def arrives(pipe: int, seconds: float) -> bool:
        """Wait for so many seconds at most; return whether a read of the pipe has bytes by then, or
        its end."""
        return looked_for(lambda: has_bytes(pipe), seconds)  # as `select` is for sockets alone

else:
    import select

    def arrives(pipe: int, seconds: float) -> bool:
        """Wait for so many seconds at most; return whether a read of the pipe has bytes by then, or
        its end."""
        return bool(select.select([pipe], [], [], seconds)[0])
