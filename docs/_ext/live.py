"""`{live} RULE ...`: a figure that clusters in the reader's browser, by one of the rules; with
options such as `:shape: two moons`, `:gamma: 4`, `:clusters: 2` it begins with these. What the
directive holds is shown where a browser cannot run it."""

from __future__ import annotations

from html import escape
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import Directive, directives

SCRIPTS = ("live/library.js", "live/engine.js", "live/figure.js")
OPTIONS = ("shape", "m", "T", "width", "noise", "clusters", "gamma")


def setup(app: Any) -> dict[str, Any]:
    app.add_directive("live", Live)
    app.connect("html-page-context", add_scripts)
    return {"parallel_read_safe": True}


class Live(Directive):
    required_arguments = 1
    final_argument_whitespace = True
    has_content = True
    option_spec: ClassVar[dict[str, Any]] = {name.lower(): directives.unchanged for name in OPTIONS}

    def run(self) -> list[nodes.Node]:
        named = {name: self.options.get(name.lower()) for name in OPTIONS}
        said = "".join(
            f' data-{name}="{escape(value)}"'
            for name, value in {"rules": self.arguments[0], **named}.items()
            if value is not None
        )
        instead = nodes.container()
        self.state.nested_parse(self.content, self.content_offset, instead)
        return [
            nodes.raw("", f'<div class="live"{said}>', format="html"),
            *instead.children,
            nodes.raw("", "</div>", format="html"),
        ]


def add_scripts(app: Any, page: str, template: str, context: dict[str, Any], tree: Any) -> None:
    """The code of figures goes to the pages that have one."""
    if 'class="live"' in context.get("body", ""):
        for name in SCRIPTS:
            app.add_js_file(name, loading_method="defer")
