"""Standard output and error where they are closed, full, or no longer read."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO

from ...runtime.user_warnings import printable
from ..errors import InputError

NAME = "standard output"


def open_closed_streams() -> None:
    """Open the null device in place of closed standard streams, else the next file opened would
    take their descriptor and be written to.

    Python's own `sys.stdout` stays None: writing what must go there is an error, see
    `standard_output`.
    """
    with suppress(OSError):
        while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
            pass
        os.close(descriptor)
    if sys.stderr is None:  # print would use standard output instead
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - open until the process ends


@contextmanager
def standard_output() -> Iterator[TextIO]:
    """Provide standard output for writing inside the block; errors name it, and are not reported
    again when the process ends."""
    if sys.stdout is None:
        raise InputError(f"{NAME}: is closed.")
    try:
        yield sys.stdout
    except OSError as error:
        silence(sys.stdout)
        raise OSError(error.errno, error.strerror or str(error), NAME) from error


def at_terminal() -> bool:
    """True where standard output is a terminal."""
    return sys.stdout is not None and sys.stdout.isatty()


def message(text: str) -> None:
    """Print a line on standard error, control characters escaped; work goes on if it cannot be
    written."""
    try:
        print(printable(text), file=sys.stderr, flush=True)
    except OSError:
        silence(sys.stderr)


def silence(stream: Any) -> None:
    """Discard the buffer of a broken stream, else the process would fail at its end."""
    if stream not in (sys.__stdout__, sys.__stderr__):
        return
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
