"""llms.txt beside the pages: what there is to read, a line a page, for programs that read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes


def setup(app: Any) -> dict[str, Any]:
    app.connect("build-finished", write)
    return {"parallel_read_safe": True}


def write(app: Any, failed: Exception | None) -> None:
    if failed is None and app.builder.name == "html":
        lines = [f"# {app.config.project}", "", f"> {said_first(app.env, 'index')}"]
        for tree in app.env.get_doctree("index").findall(addnodes.toctree):
            lines += ["", f"## {tree['caption']}", "", *entries(app.env, tree["includefiles"])]
        text = "\n".join(lines) + "\n"
        (Path(app.outdir) / "llms.txt").write_text(text, encoding="utf-8")


def entries(env: Any, pages: list[str]) -> Iterator[str]:
    for page in pages:
        yield f"- [{env.titles[page].astext()}]({page}.html): {said_first(env, page)}"


def said_first(env: Any, page: str) -> str:
    """The first paragraph of a page that is a sentence."""
    texts = (
        " ".join(found.astext().split()) for found in env.get_doctree(page).findall(nodes.paragraph)
    )
    return next((text for text in texts if re.search(r"[.:]$", text)), "")
