"""How a command ends: which exit code, and which one line the user reads."""

from __future__ import annotations

from ..sources.spelling import one_line

DONE, FAULT, WRONG_INPUT, INTERRUPTED = 0, 1, 2, 130  # 130 = 128 + SIGINT, what shells expect


class InputError(ValueError):
    """What the user gave cannot be used. The message is one line: which thing, what came, what to do."""


class Stopped(KeyboardInterrupt):
    """An interrupt that has not cost the work; the message is one line that says what became of it."""


def verdict(error: BaseException) -> tuple[int, str]:
    """Exit code and line for whatever ended a command early."""
    if isinstance(error, KeyboardInterrupt):
        return INTERRUPTED, one_line(error) or "interrupted; nothing was written."
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else ""
        return WRONG_INPUT, one_line(f"{where}{error.strerror or error}")
    if isinstance(error, ValueError):  # the library's word for input that cannot be used
        return WRONG_INPUT, one_line(error)
    if isinstance(error, MemoryError):
        return FAULT, one_line(f"out of memory ({error}); try --landmarks with a smaller number, --memory-budget or --dtype float32.")
    what = one_line(f"{type(error).__name__}: {error}")
    return FAULT, f"a fault of cmeans, not of your input: {what} (run again with --debug and report what it shows)."
