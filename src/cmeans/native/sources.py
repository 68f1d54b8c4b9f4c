"""The C files and what a library made from them is called; the build reads this file too, so it
imports the standard library alone."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

FOLDER = Path(__file__).parent
BUILT = "lib"  # the folder beside the C files that the library is put in
LIBRARY = "libcmeans" + {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")


def digest(folder: Path = FOLDER) -> str:
    """Return the digest of the C files and headers in a folder."""
    files = sorted((path.relative_to(folder).as_posix(), path) for path in folder.rglob("*.[ch]"))
    total = hashlib.sha256()
    for name, path in files:
        total.update(name.encode() + b"\0" + path.read_bytes().replace(b"\r\n", b"\n") + b"\0")
    return total.hexdigest()
