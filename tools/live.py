"""The library's C as WebAssembly, for the figures of the documentation that run in a reader's
browser: `python -m tools.live` writes docs/_static/live/library.js, with the compiler that pip
brings (ziglang)."""

from __future__ import annotations

import base64
import gzip
import hashlib
import re
import sys
import tempfile
from pathlib import Path

import hatch_build

DOCS = Path(__file__).parent.parent / "docs"
FIGURE = DOCS / "live" / "figure.c"
LIBRARY = DOCS / "_static" / "live" / "library.js"
TARGET = ["-target", "wasm32-wasi", "-msimd128", "-mbulk-memory", "-Os"]
LINKED = ["--no-entry", "--strip-all", "--stack-first", "-z", "stack-size=262144"]


def sources() -> list[Path]:
    """The file of the figure, and all C files and headers that it includes."""
    found = [FIGURE]
    for path in found:
        for name in re.findall(r'^#include "(.+)"', path.read_text(encoding="utf-8"), flags=re.M):
            there = next(
                folder / name
                for folder in (path.parent, hatch_build.SOURCES)
                if (folder / name).is_file()
            )
            if there not in found:
                found.append(there)
    return found


def digest() -> str:
    """Of the sources: the library that is there says from which it was made."""
    total = hashlib.sha256()
    for path in sources():
        total.update(path.name.encode() + path.read_bytes().replace(b"\r\n", b"\n"))
    return total.hexdigest()


def compiled(command: list[str]) -> bytes:
    """The WebAssembly module."""
    with tempfile.TemporaryDirectory() as folder:
        unit, module = Path(folder) / "figure.o", Path(folder) / "figure.wasm"
        flags = [*hatch_build.FLAGS, *TARGET, "-I", str(hatch_build.SOURCES)]
        hatch_build.run([*command, *flags, "-c", str(FIGURE), "-o", str(unit)])
        linker = [sys.executable, "-m", "ziglang", "wasm-ld"]
        hatch_build.run([*linker, *LINKED, str(unit), "-o", str(module)])
        return module.read_bytes()


def module_of(text: str) -> bytes:
    """The module that a library.js holds."""
    packed = re.search(r'"([\w+/=]+)"', text)
    assert packed is not None
    return gzip.decompress(base64.b64decode(packed[1]))


def main() -> None:
    command = hatch_build.zig_compiler()
    if command is None:
        sys.exit("this takes the C compiler that pip brings: pip install ziglang")
    packed = base64.b64encode(gzip.compress(compiled(command), mtime=0)).decode()
    LIBRARY.write_text(
        f"/* Written by `python -m tools.live` from C files of digest {digest()}. */\n"
        f'globalThis.CMeansLibrary = "{packed}";\n',
        encoding="utf-8",
    )


if __name__ == "__main__":
    main()
