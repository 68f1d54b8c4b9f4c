"""Deferred signals, for code in which an exception raised by a signal would be lost."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any


@contextmanager
def held_back() -> Iterator[None]:
    """Defer Ctrl-C and SIGTERM to the end of the block; without effect outside the main thread,
    where Python has no handlers."""
    received: list[tuple[int, Any]] = []
    handlers: dict[int, Any] = {}
    if threading.current_thread() is threading.main_thread():
        handlers = {
            number: handler
            for number in (signal.SIGINT, signal.SIGTERM)
            if callable(handler := signal.getsignal(number))
        }
    try:
        for number in handlers:
            signal.signal(number, lambda *signal_and_frame: received.append(signal_and_frame))
        yield
    finally:
        try:
            _handle(handlers)
        finally:
            _handle(handlers)  # all of them, where one came between two
        for number, frame in received:
            handlers[number](number, frame)


def _handle(handlers: Mapping[int, Any]) -> None:
    for number, handler in handlers.items():
        signal.signal(number, handler)
