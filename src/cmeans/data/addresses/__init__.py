"""Files wherever they lie: on this machine, or in a store that an address names. What opens them
has a path in either case, and need not know which."""

from .address import Address
from .places import (
    PathWord,
    absolute,
    below,
    local_copy,
    matches,
    moved,
    near,
    place,
    removed,
    try_moving,
)

__all__ = [
    "Address",
    "PathWord",
    "absolute",
    "below",
    "local_copy",
    "matches",
    "moved",
    "near",
    "place",
    "removed",
    "try_moving",
]
