"""Access to Numba and LLVM, which only this file imports: compile options, caching, announcements."""

from __future__ import annotations

import hashlib
import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import llvmlite.binding
import numba
from llvmlite import ir
from numba.core import cgutils, event, types
from numba.extending import intrinsic, register_jitable

from ...runtime.signals import held_back

# Sums may be reordered and products fused, so that loops are vectorised; NaN and infinity keep their meaning.
FREE_ORDER = {"reassoc", "contract", "nsz", "arcp"}
IN_ORDER = {"contract", "nsz"}  # where the exactness of a sum depends on its order

Compiled: TypeAlias = Callable[..., Any]

__all__ = [
    "cgutils",
    "compiled",
    "compiling",
    "inlined",
    "inlined_in_order",
    "intrinsic",
    "ir",
    "is_open",
    "many_registers",
    "sources",
    "types",
    "vector_bytes",
]

logger = logging.getLogger("cmeans")


def inlined(function: Compiled) -> Compiled:
    """Mark a function as callable from compiled ones, in which it is inlined."""
    marked: Compiled = register_jitable(fastmath=FREE_ORDER, error_model="numpy")(function)
    return marked


def inlined_in_order(function: Compiled) -> Compiled:
    """The same, without reordering of the arithmetic."""
    marked: Compiled = register_jitable(fastmath=IN_ORDER, error_model="numpy")(function)
    return marked


def compiled(function: Compiled, *, in_order: bool = False) -> Compiled:
    """Compile at the first call for each kind of arguments, without the GIL; later processes read the result from the disk.

    Numba puts its cache beside this file, or in the user's cache folder where that is not possible; without either, every
    process compiles again. `in_order`: arithmetic is not reordered, in intrinsics too.
    """
    options: dict[str, Any] = {"nogil": True, "fastmath": IN_ORDER if in_order else FREE_ORDER, "error_model": "numpy"}
    try:
        dispatcher: Compiled = numba.njit(cache=True, **options)(function)
    except RuntimeError as error:
        logger.debug("compiled functions are not cached: %s", error)
        dispatcher = numba.njit(**options)(function)
    return dispatcher


def is_open() -> bool:
    """True where Numba compiles (NUMBA_DISABLE_JIT turns it off for debugging)."""
    return not numba.config.DISABLE_JIT


@cache
def sources() -> str:
    """Fingerprint of all compiled files, to be closed over: Numba's cache checks the date of one file only."""
    files = sorted(Path(__file__).parent.glob("*.py"))
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()


class _Announcer(event.Listener):
    """Logs once that code is being compiled; nothing where it is read from the cache."""

    def __init__(self, description: str) -> None:
        self._description = description
        self._thread = threading.get_ident()
        self._logged = False

    def on_start(self, event: Any) -> None:
        if not self._logged and threading.get_ident() == self._thread:
            self._logged = True
            logger.warning("cmeans compiles %s for this machine; this happens once and takes some seconds.", self._description)

    def on_end(self, event: Any) -> None:
        pass


def vector_bytes() -> int:
    """Bytes of the widest vectors that functions are compiled for."""
    cpu_name, cpu_features = numba.config.CPU_NAME, numba.config.CPU_FEATURES
    if cpu_features is not None:
        features = {word[1:] for word in cpu_features.split(",") if word.startswith("+")}
    elif cpu_name in (None, "", "host") and numba.config.ENABLE_AVX:
        features = {name for name, present in llvmlite.binding.get_host_cpu_features().items() if present}
    else:
        features = set()
    return 64 if "avx512f" in features else 32 if "avx2" in features else 16


def many_registers() -> bool:
    """True where the machine has 32 vector registers, not 16."""
    return vector_bytes() == 64 or llvmlite.binding.get_process_triple().startswith(("aarch64", "arm64"))


@contextmanager
def compiling(description: str) -> Iterator[None]:
    """Announce compilation inside the block, and defer Ctrl-C and SIGTERM to its end.

    The compiler calls Python from machine code, where an exception raised by a signal would be lost.
    """
    with held_back(), event.install_listener("numba:compile", _Announcer(description)):
        yield
