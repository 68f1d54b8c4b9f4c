"""A disk that is full after so many bytes of each file, as far as this process sees."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest


@contextmanager
def files_end_at(size: int) -> Iterator[None]:
    """Writing more than `size` bytes into a file fails inside the block: "File too large"."""
    resource = pytest.importorskip("resource", reason="a limit of POSIX systems")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    # Python would keep half of each module that it compiles here, and find it damaged ever after.
    keeps_none, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        sys.dont_write_bytecode = keeps_none
