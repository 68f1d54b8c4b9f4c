"""Files of rows, which may be larger than memory: `open_blocks` and its parts."""

from .opening import open_blocks

__all__ = ["open_blocks"]
