"""The one door to Numba and LLVM: what functions are compiled for, how they are cached and announced."""

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

from ..signals import held_back

# Sums may be taken in any order and products fused, so that loops become vectors; NaN and infinity keep their meaning.
FREE_ORDER = {"reassoc", "contract", "nsz", "arcp"}
IN_ORDER = {"contract", "nsz"}  # where the order of a sum is what makes it exact

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
    """Mark a plain function as one that compiled ones may call."""
    marked: Compiled = register_jitable(fastmath=FREE_ORDER, error_model="numpy")(function)
    return marked


def inlined_in_order(function: Compiled) -> Compiled:
    """The same, for arithmetic that must happen as it is written."""
    marked: Compiled = register_jitable(fastmath=IN_ORDER, error_model="numpy")(function)
    return marked


def compiled(function: Compiled, *, in_order: bool = False) -> Compiled:
    """Compile at the first call for each kind of arguments, without the GIL; later processes read the result from the disk.

    Numba puts its cache beside this file, or in the user's cache folder where that cannot be written; where neither can,
    every process compiles for itself. `in_order`: arithmetic happens as it is written, intrinsics' included.
    """
    options: dict[str, Any] = {"nogil": True, "fastmath": IN_ORDER if in_order else FREE_ORDER, "error_model": "numpy"}
    try:
        made: Compiled = numba.njit(cache=True, **options)(function)
    except RuntimeError as error:
        logger.debug("compiled functions are not cached: %s", error)
        made = numba.njit(**options)(function)
    return made


def is_open() -> bool:
    """Whether Numba compiles at all (NUMBA_DISABLE_JIT turns it off for debugging)."""
    return not numba.config.DISABLE_JIT


@cache
def sources() -> str:
    """A fingerprint of everything that is compiled, to be closed over: Numba's cache looks at one file's date only."""
    files = sorted(Path(__file__).parent.glob("*.py"))
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()


class _Announcer(event.Listener):
    """Says once that compiling is under way; nothing is said where the cache has it."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._thread = threading.get_ident()
        self._said = False

    def on_start(self, event: Any) -> None:
        if not self._said and threading.get_ident() == self._thread:
            self._said = True
            logger.warning("cmeans compiles %s for this machine; this happens once and takes some seconds.", self._what)

    def on_end(self, event: Any) -> None:
        pass


def vector_bytes() -> int:
    """Bytes of the widest vectors that functions are compiled for."""
    named, listed = numba.config.CPU_NAME, numba.config.CPU_FEATURES
    if listed is not None:
        known = {word[1:] for word in listed.split(",") if word.startswith("+")}
    elif named in (None, "", "host") and numba.config.ENABLE_AVX:
        known = {name for name, there in llvmlite.binding.get_host_cpu_features().items() if there}
    else:
        known = set()
    return 64 if "avx512f" in known else 32 if "avx2" in known else 16


def many_registers() -> bool:
    """Whether there are 32 registers for vectors, not 16."""
    return vector_bytes() == 64 or llvmlite.binding.get_process_triple().startswith(("aarch64", "arm64"))


@contextmanager
def compiling(what: str) -> Iterator[None]:
    """A context to compile in: it is announced, and Ctrl-C or SIGTERM wait until it is over.

    The compiler calls Python back from machine code, where an exception that a signal raises would be lost.
    """
    with held_back(), event.install_listener("numba:compile", _Announcer(what)):
        yield
