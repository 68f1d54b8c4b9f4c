"""Interrupts that Python reports without raising."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def unraised_interrupts() -> Iterator[list[bool]]:
    """Collect each KeyboardInterrupt raised while an object is finalised, which Python prints and
    ignores.

    A pass over a cluster releases many futures, each with a finaliser, so that Ctrl-C may well fall
    into one. Signals reach the main thread only.
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
