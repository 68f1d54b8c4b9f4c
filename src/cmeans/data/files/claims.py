"""Limits for what files may claim, held before memory or time is spent on it: a few bytes can say
that they are petabytes."""

from __future__ import annotations

from ..row_source import RowsError

# what hashed words commonly have; each takes some hundred bytes for its name
MOST_COLUMNS = 2**20
UNPACKED = 2**28  # bytes that any packed file may unpack to
# times its size that a packed file may unpack to beyond; text of numbers packs to a tenth or so
EXPANSION = 200


def check_columns(where: object, number: int) -> None:
    """Refuse rows of too many columns."""
    if number > MOST_COLUMNS:
        raise RowsError(
            f"{where}: has {number:,} columns, and {MOST_COLUMNS:,} are the most that are read; is "
            "it such a file?"
        )


def check_unpacked(where: object, size: int, packed: int) -> None:
    """Refuse what `packed` bytes unpack to, or say that they do, where it is too much to be
    meant."""
    if size > max(UNPACKED, EXPANSION * packed):
        raise RowsError(
            f"{where}: unpacks to {size:,} bytes or more from {packed:,}; where that is meant, "
            "unpack it first and give the unpacked file."
        )
