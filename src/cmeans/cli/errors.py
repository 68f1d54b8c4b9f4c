"""Exit codes and messages of commands that end with an error."""

from __future__ import annotations

from ..runtime.user_warnings import one_line

DONE, FAULT, WRONG_INPUT = 0, 1, 2
INTERRUPTED, UNREAD = 130, 141  # 128 + SIGINT and 128 + SIGPIPE, what shells expect


class InputError(ValueError):
    """An input that cannot be used. The message is one line: the input, what was found, what to
    do."""


class Stopped(KeyboardInterrupt):
    """An interrupt after which the work is kept; the message is one line about what was saved."""


def verdict(error: BaseException) -> tuple[int, str]:
    """Return exit code and message for an error that ended a command."""
    if isinstance(error, KeyboardInterrupt):
        return INTERRUPTED, one_line(error) or "interrupted; nothing was written."
    if isinstance(error, ValueError):  # the library's error for input that cannot be used
        return WRONG_INPUT, one_line(error)
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else ""
        return WRONG_INPUT, one_line(f"{where}{error.strerror or error}")
    if isinstance(error, MemoryError):
        return FAULT, one_line(
            f"out of memory ({error}); try --landmarks with a smaller number, --memory-budget or "
            "--dtype float32."
        )
    what = one_line(f"{type(error).__name__}: {error}")
    return (
        FAULT,
        f"a fault of cmeans, not of your input: {what} (run again with --debug and report what it "
        "shows).",
    )
