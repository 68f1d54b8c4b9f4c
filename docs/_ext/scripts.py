"""`{scripts} FOLDER`: every script of a folder, under what its docstring says it shows."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective


def setup(app: Any) -> dict[str, Any]:
    app.add_directive("scripts", Scripts)
    return {"parallel_read_safe": True}


class Scripts(SphinxDirective):
    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        _, folder = self.env.relfn2path(self.arguments[0])
        return [self.section(path) for path in sorted(Path(folder).glob("*.py"))]

    def section(self, path: Path) -> nodes.section:
        self.env.note_dependency(str(path))
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
        below = "".join(text.splitlines(keepends=True)[tree.body[0].end_lineno :]).lstrip("\n")  # the docstring is the text above
        found = nodes.section(ids=[f"{path.stem.replace('_', '-')}-py"], names=[path.name])
        found += [
            nodes.title(text=path.name),
            nodes.paragraph(text=ast.get_docstring(tree)),
            nodes.literal_block(below, below, language="python"),
        ]
        return found
