"""The one door to Numba: how functions are compiled, cached and announced, and the one instruction it lacks."""

from __future__ import annotations

import hashlib
import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import numba
from llvmlite import ir
from numba.core import cgutils, event, types
from numba.extending import intrinsic, register_jitable

from ..signals import held_back

# Sums may be taken in any order and products fused, so that loops become vectors; NaN and infinity keep their meaning.
FREE_ORDER = {"reassoc", "contract", "nsz", "arcp"}
IN_ORDER = {"contract", "nsz"}  # where the order of a sum is what makes it exact

Compiled: TypeAlias = Callable[..., Any]

logger = logging.getLogger("cmeans")


def inlined(function: Compiled) -> Compiled:
    """Mark a plain function as one that compiled ones may call."""
    marked: Compiled = register_jitable(fastmath=FREE_ORDER, error_model="numpy")(function)
    return marked


def inlined_in_order(function: Compiled) -> Compiled:
    """The same, for arithmetic that must happen as it is written."""
    marked: Compiled = register_jitable(fastmath=IN_ORDER, error_model="numpy")(function)
    return marked


def compiled(function: Compiled) -> Compiled:
    """Compile at the first call for each kind of arguments, without the GIL; later processes read the result from the disk.

    Numba puts its cache beside this file, or in the user's cache folder where that cannot be written; where neither can,
    every process compiles for itself.
    """
    options: dict[str, Any] = {"nogil": True, "fastmath": FREE_ORDER, "error_model": "numpy"}
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


@contextmanager
def compiling(what: str) -> Iterator[None]:
    """A context to compile in: it is announced, and Ctrl-C or SIGTERM wait until it is over.

    The compiler calls Python back from machine code, where an exception that a signal raises would be lost.
    """
    with held_back(), event.install_listener("numba:compile", _Announcer(what)):
        yield


@intrinsic
def prefetch(_typing: Any, array: Any, index: Any) -> Any:
    """prefetch(array, (i, j, ...)): ask for the element's cache line in the second-level cache, without waiting for it."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array_type, index_type = signature.args
        structure = context.make_array(array_type)(context, builder, arguments[0])
        indices = cgutils.unpack_tuple(builder, arguments[1], len(index_type))
        address = cgutils.get_item_pointer(context, builder, array_type, structure, indices, wraparound=False)
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        read, second_level, data = number(0), number(1), number(1)
        builder.call(function, [builder.bitcast(address, byte), read, second_level, data])
        return context.get_dummy_value()

    return types.void(array, index), generate
