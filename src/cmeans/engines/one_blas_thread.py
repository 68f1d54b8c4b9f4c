"""BLAS with one thread, and no warnings of NumPy's, while passes run: results have the same bits
for any number of workers."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np
import threadpoolctl

from ..runtime.signals import held_back

# The sums are checked for overflow and NaN, with a message; NumPy's own warnings would come first,
# once a block.
QUIET: Any = {"over": "ignore", "invalid": "ignore", "divide": "ignore", "under": "ignore"}


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Give BLAS one thread in this context, and in those that overlap it."""
    _single_blas.enter()
    try:
        with np.errstate(**QUIET):
            yield
    finally:
        _single_blas.leave()


def limit_this_thread() -> None:
    """Do the same in a thread for as long as it lives: libraries on OpenMP count threads per
    calling thread."""
    np.seterr(**QUIET)
    _blas().limit(limits=1, user_api="blas")


@cache
def _blas() -> threadpoolctl.ThreadpoolController:
    # libraries are found by a callback from C, in which an interrupt would be lost
    with held_back():
        return threadpoolctl.ThreadpoolController()  # that takes milliseconds, so it is done once


class _SingleBlas:
    """BLAS at one thread while at least one engine is open; the former numbers are restored when
    the last closes."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open = 0
        self._limits: Any = None

    def enter(self) -> None:
        with self._lock:
            self._open += 1
            if self._open == 1:
                self._limits = _blas().limit(limits=1, user_api="blas")

    def leave(self) -> None:
        with self._lock:
            self._open -= 1
            if self._open == 0:
                self._limits.restore_original_limits()
                self._limits = None


_single_blas = _SingleBlas()
