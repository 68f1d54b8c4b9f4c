"""`{command-line}`: every command of `cmeans` with its options, as its --help has them, read off
the program itself."""

from __future__ import annotations

from itertools import groupby
from typing import Any

import typer
from docutils import nodes
from docutils.parsers.rst import Directive

from cmeans.cli.app import COMMANDS
from cmeans.cli.commands import app as commands


def setup(app: Any) -> dict[str, Any]:
    app.add_directive("command-line", CommandLine)
    return {"parallel_read_safe": True}


class CommandLine(Directive):
    def run(self) -> list[nodes.Node]:
        made = typer.main.get_command(commands).commands
        return [section(name, made[name]) for name in COMMANDS]


def section(name: str, command: Any) -> nodes.section:
    context = command.make_context(f"cmeans {name}", [], resilient_parsing=True)
    found = nodes.section(ids=[f"cmeans-{name}"], names=[f"cmeans {name}"])
    usage = " ".join(
        ["cmeans", name, *(piece.strip("{}") for piece in command.collect_usage_pieces(context))]
    )
    found += [
        nodes.title(text=f"cmeans {name}"),
        nodes.paragraph(text=command.help),
        nodes.literal_block(usage, usage, language="none"),
    ]
    panels = [
        (getattr(word, "rich_help_panel", None) or "", word.get_help_record(context))
        for word in command.get_params(context)
    ]
    for panel, records in groupby(
        sorted(panels, key=lambda pair: pair[0] == ""), key=lambda pair: pair[0]
    ):
        found += [
            nodes.rubric(text=panel or "Besides"),
            table([record for _, record in records if record]),
        ]
    return found


def table(records: list[tuple[str, str]]) -> nodes.definition_list:
    found = nodes.definition_list()
    for words, text in records:
        term = nodes.term("", "", nodes.literal(text=words))
        found += nodes.definition_list_item(
            "", term, nodes.definition("", nodes.paragraph(text=" ".join(text.split())))
        )
    return found
