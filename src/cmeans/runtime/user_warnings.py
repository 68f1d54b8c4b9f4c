"""Warnings that point at the caller's line, one class of each kind, and messages shared by several
folders."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from .shown_addresses import for_people

NOT_FINITE = (
    "X and the kernel give values that are not finite (overflow, or a kernel that returns NaN): "
    "scale the features, use float64, or use a normalised kernel."
)
SKIPPED_PACKAGES = ("cmeans", "sklearn")


class DataWarning(UserWarning):
    """Warns of rows that do not say, or say otherwise than one may think, what a fit asks of them.

    Examples
    --------
    >>> import warnings
    >>> from cmeans import DataWarning
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", DataWarning)
    """


class ParameterWarning(UserWarning):
    """Warns of a parameter that is given and not used, or not as it is given.

    Examples
    --------
    >>> import warnings
    >>> from cmeans import ParameterWarning
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", ParameterWarning)
    """


class OutOfRangeError(ValueError):
    """Numbers of rows that are too large or too small to compute with: whoever has the rows says
    which they are."""


class UnfitRowError(ValueError):
    """The same where the row is known, which the message names."""

    row = column = -1  # the place of its largest number


Message = tuple[str, type[Warning]]
_collected: ContextVar[list[Message] | None] = ContextVar("cmeans_warnings", default=None)


@contextmanager
def collected() -> Iterator[list[Message]]:
    """Collect the warnings of this thread, which another process than the user's would lose; `warn`
    takes them there."""
    messages: list[Message] = []
    token = _collected.set(messages)
    try:
        yield messages
    finally:
        _collected.reset(token)


@contextmanager
def naming(estimator_name: str) -> Iterator[None]:
    """Add the estimator's name to a ValueError raised inside the block that does not have it."""
    try:
        yield
    except ValueError as error:
        if type(error) in (ValueError, UnfitRowError) and estimator_name not in str(error):
            error.args = (f"{estimator_name}: {error}",)
        raise


def warn(message: str, category: type[Warning] = DataWarning) -> None:
    """Warn at the first frame outside this package and scikit-learn's wrappers around it.

    `category`: `DataWarning`, of rows; `ParameterWarning`; scikit-learn's `ConvergenceWarning`, of
    results that fall short of what was asked for; `RuntimeWarning`, of the machine.
    """
    message = for_people(message)
    if (messages := _collected.get()) is not None:
        messages.append((message, category))
        return
    level, frame = 1, inspect.currentframe()
    while (
        frame is not None
        and frame.f_globals.get("__name__", "").partition(".")[0] in SKIPPED_PACKAGES
    ):
        frame = frame.f_back
        level += 1
    warnings.warn(message, category, stacklevel=level)


def one_line(text: object, most: int | None = None) -> str:
    """Return the text in one line: messages of other libraries may have several. Control characters
    from files are escaped.

    `most`: characters of the text that are kept.
    """
    line = " ".join(str(text).split())
    line = line if most is None or len(line) <= most else f"{line[:most]} ..."
    return printable(for_people(line))


def printable(text: str) -> str:
    """Return the text with its control characters escaped, which files may bring and terminals
    would obey."""
    return text if text.isprintable() else "".join(map(_shown, text))


def _shown(letter: str) -> str:
    return letter if letter.isprintable() else letter.encode("unicode_escape").decode()
