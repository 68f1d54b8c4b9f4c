"""Pictures of the pages whose Python draws one: what is drawn when a page's blocks have run is
docs/pictures/page-NAME.png. `python -m tools.pages [PAGE ...]`, all of them where none is named."""

from __future__ import annotations

import contextlib
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt

from .figures import in_our_look, save

DOCS = Path(__file__).parent.parent / "docs"


def picture_of(page: Path) -> str:
    """Name of the picture of a page."""
    return f"page-{page.stem}"


def blocks(page: Path) -> list[tuple[str, str]]:
    """The page's Python and its commands, in blocks."""
    text = page.read_text(encoding="utf-8")
    return re.findall(r"^```(python|sh)\n(.*?)^```", text, flags=re.S | re.M)


def draw(page: Path) -> None:
    """Run a page, and save the last of what it has drawn."""
    names: dict[str, object] = {"__name__": "__main__"}
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for kind, block in blocks(page):
            if kind == "sh":
                subprocess.run(
                    [sys.executable, "-m", "cmeans.cli", *shlex.split(block)[1:]], check=True
                )
                continue
            exec(compile(block, page.name, "exec", dont_inherit=True), names)
    save(plt.gcf(), picture_of(page))


def pages() -> list[Path]:
    """Those that show what they draw."""
    return [
        page
        for page in sorted(DOCS.rglob("*.md"))
        if f"pictures/{picture_of(page)}.png" in page.read_text(encoding="utf-8")
    ]


def main(*names: str) -> None:
    in_our_look()
    for page in pages():
        if not names or page.stem in names:
            draw(page)


if __name__ == "__main__":
    main(*sys.argv[1:])
