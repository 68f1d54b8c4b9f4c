"""Built pages as a browser sees them: wide and narrow, light and dark. `python -m tools.look
FOLDER_OF_HTML [FOLDER_OF_PICTURES]`."""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from html import unescape
from pathlib import Path
from urllib.parse import unquote, urlsplit

from tests.browser import Page, browsing

WIDTHS = (360, 1400)
SCHEMES = ("light", "dark")
# What reaches beyond the right edge, unless something around it scrolls or clips.
BEYOND = """
(() => {
  const wide = document.documentElement.scrollWidth, window_ = document.documentElement.clientWidth;
  if (wide <= window_) return [];
  const kept = e => { for (let p = e.parentElement; p && p !== document.body; p = p.parentElement)
    if (getComputedStyle(p).overflowX !== "visible" || getComputedStyle(p).position === "fixed") return true; return false; };
  const found = [...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > window_ + 1 && !kept(e));
  return [`${wide} wide`, ...found.slice(0, 3).map(e => `${e.tagName.toLowerCase()}.${e.className}: ${e.textContent.trim().slice(0, 50)}`)];
})()
"""


def seen(tab: Page, page: Path, pictures: Path | None) -> Iterator[str]:
    """What is wrong with a page on each screen."""
    for width in WIDTHS:
        for scheme in SCHEMES:
            tab.wrong.clear()
            tab.open(page, width, scheme)
            place = f"{width} {scheme}"
            yield from (f"{place}: too wide: {what}" for what in tab.value(BEYOND))
            yield from (f"{place}: in the console: {str(what)[:300]}" for what in tab.wrong)
            if pictures:
                tab.picture(pictures / f"{page.parent.name}-{page.stem}-{width}-{scheme}.png")


def broken_links(page: Path) -> Iterator[str]:
    """Links and pictures of a page whose file, or whose place in it, is not there."""
    for address in re.findall(r'\s(?:href|src)="([^"]*)"', page.read_text(encoding="utf-8")):
        parts = urlsplit(unescape(address))
        if parts.scheme or parts.netloc:
            continue
        there = (page.parent / unquote(parts.path)).resolve() if parts.path else page.resolve()
        if not there.is_file():
            yield f"no file for the link {address}"
        elif (
            parts.fragment
            and there.suffix == ".html"
            and unquote(parts.fragment) not in anchors(there)
        ):
            yield f"no place for the link {address}"


@cache
def anchors(page: Path) -> set[str]:
    """Names of the places that links may point to."""
    return {
        unescape(name)
        for name in re.findall(r'\s(?:id|name)="([^"]+)"', page.read_text(encoding="utf-8"))
    }


def main(folder: str, pictures: str | None = None) -> int:
    """Print what is wrong, page by page, and return the number of faults."""
    faults = 0
    shots = Path(pictures) if pictures else None
    if shots:
        shots.mkdir(parents=True, exist_ok=True)
    pages = sorted(Path(folder).rglob("*.html"))
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile,
        browsing(Path(profile)) as tab,
    ):
        for page in pages:
            for fault in (*seen(tab, page, shots), *broken_links(page)):
                print(f"{page.relative_to(folder)}: {fault}", flush=True)
                faults += 1
    print(f"{len(pages)} pages, {faults} faults")
    return faults


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) > 0)
