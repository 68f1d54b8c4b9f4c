"""Loading of what a command needs."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def nothing_is_garbage() -> Iterator[None]:
    """Look for no garbage while modules are imported, nor among them later: there is none, and
    looking takes a tenth of the time of a small command."""
    was_on, before = gc.isenabled(), len(sys.modules)
    gc.disable()
    try:
        yield
    finally:
        if len(sys.modules) > before:
            gc.freeze()
        if was_on:
            gc.enable()
