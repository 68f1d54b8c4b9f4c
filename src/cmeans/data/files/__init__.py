"""Files of rows, which may be larger than memory: `open_blocks` and its parts, and what a format of
one's own needs."""

from .opening import add_format, open_blocks
from .tables import FileTable

__all__ = ["FileTable", "add_format", "open_blocks"]
