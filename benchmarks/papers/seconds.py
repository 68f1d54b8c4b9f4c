"""Seconds as the pages give them: of the processor, so that other work on the machine hardly
changes them."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

Found = TypeVar("Found")


def timed(work: Callable[[], Found]) -> tuple[Found, float]:
    """The result of some work, and the processor seconds of all threads that it took."""
    started = time.process_time()
    return work(), time.process_time() - started
