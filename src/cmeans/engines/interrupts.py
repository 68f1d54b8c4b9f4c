"""Interrupts that Python would report and not raise."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def unraised_interrupts() -> Iterator[list[bool]]:
    """Grows by each KeyboardInterrupt that struck while an object was finalised, which Python prints and lets pass.

    A pass over a cluster lets go of many futures, each with a finaliser, so that Ctrl-C may well fall into one. Signals reach the main
    thread only.
    """
    struck: list[bool] = []
    if threading.current_thread() is not threading.main_thread():
        yield struck
        return
    before = sys.unraisablehook

    def note(unraisable: Any) -> None:
        if issubclass(unraisable.exc_type, KeyboardInterrupt):
            struck.append(True)
        else:
            before(unraisable)

    sys.unraisablehook = note
    try:
        yield struck
    finally:
        sys.unraisablehook = before
