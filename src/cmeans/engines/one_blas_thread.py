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
    # An interrupt may come between any two steps, and must not leave BLAS at one thread for good.
    key = object()
    try:
        with held_back():
            _single_blas.enter(key)
        with np.errstate(**QUIET):
            yield
    finally:
        try:
            with held_back():
                _single_blas.leave(key)
        finally:
            _single_blas.leave(key)  # where one came before signals were held back


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
        self._open: set[object] = set()
        self._limits: Any = None

    def enter(self, key: object) -> None:
        with self._lock:
            if self._limits is None:
                self._limits = _blas().limit(limits=1, user_api="blas")
            self._open.add(key)

    def leave(self, key: object) -> None:
        """Close what was opened by this key; without effect where it was closed already."""
        with self._lock:
            self._open.discard(key)
            if not self._open and self._limits is not None:
                self._limits.restore_original_limits()
                self._limits = None


_single_blas = _SingleBlas()
