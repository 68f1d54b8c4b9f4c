"""Equations as MathML, which browsers draw and screen readers read, with nothing to fetch."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from latex2mathml.converter import convert


def setup(app: Any) -> dict[str, Any]:
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True}


def inline(writer: Any, node: nodes.math) -> None:
    writer.body.append(convert(node.astext()))
    raise nodes.SkipNode


def block(writer: Any, node: nodes.math_block) -> None:
    r"""Formulas that stand beside each other, with `\qquad` between, stand below each other on a
    narrow screen."""
    whole = node.astext()
    parts = whole.split(r"\qquad")
    if r"\begin" in whole or any(part.count("{") != part.count("}") for part in parts):
        parts = [whole]
    drawn = "".join(convert(part.strip(), display="block") for part in parts)
    writer.body.append(f'<div class="math" tabindex="0">{drawn}</div>')
    raise nodes.SkipNode
