"""Signals that must wait: code that cannot be interrupted without losing the exception a signal raises."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def held_back() -> Iterator[None]:
    """Ctrl-C and SIGTERM wait until the block is over. Python has handlers in its main thread only; elsewhere nothing changes."""
    came: list[tuple[int, Any]] = []
    former: dict[int, Any] = {}
    if threading.current_thread() is threading.main_thread():
        former = {number: handler for number in (signal.SIGINT, signal.SIGTERM) if callable(handler := signal.getsignal(number))}
    for number in former:
        signal.signal(number, lambda *signal_and_frame: came.append(signal_and_frame))
    try:
        yield
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)
        for number, frame in came:
            former[number](number, frame)
