"""Files of rows, also such as are larger than memory: `open_blocks`, and what it is made of."""

from .opening import open_blocks

__all__ = ["open_blocks"]
