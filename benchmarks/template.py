"""Pages are templates: text with placeholders, filled with what is read from stored results.

The prose of a paper is `page.md` in its folder; its placeholders are the public names of the
paper's reading. What the paper claims is a table, `claims.toml` beside it: rows of

- text, where: what is claimed, and where in the paper;
- cells: an expression, the numbers that it depends on, by name; none where they are not measured;
- holds: an expression of these numbers: it came out so; `better`: even better; `chance`: so it
  does, but a partition by chance reaches as much;
- why: the numbers in a sentence;
- each, as: an expression: such a row for each of some things, and what they are called;
- verdict: the verdict itself, where nothing is to be judged;
- anyway: `why` says something even of what is not measured.

`[verdicts]` of a table replaces the words for yes, better, no and unknown. Expressions and
placeholders are Jinja's.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import jinja2

from . import markdown

ROOT = Path(__file__).parent
REPRODUCED, BETTER, NOT = "reproduced", "better", "not reproduced"
CHANCE = "no more than by chance"
UNKNOWN = {"verdict": "not measured", "why": ""}


class Claim(NamedTuple):
    """A statement of a paper, its place there, and what came of it here: one line of the table in
    docs/papers/index.md."""

    text: str
    where: str
    verdict: str
    why: str


def given(**numbers: Any) -> dict[str, Any] | None:
    """Lists of numbers, by name; None where one is empty."""
    return numbers if all(numbers.values()) else None


@cache
def environment() -> jinja2.Environment:
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(ROOT),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,
    )
    made.filters |= {filter_.__name__: filter_ for filter_ in markdown.FILTERS}
    made.globals |= {
        "table": markdown.table,
        "picture": markdown.picture,
        "grouped": markdown.grouped,
        "ABSENT": markdown.ABSENT,
    }
    made.globals |= {"zip": zip, "product": product, "given": given}
    made.tests["search"] = lambda text, pattern: re.search(pattern, text) is not None
    return made


def render(path: str, names: dict[str, Any]) -> str:
    """A page: one blank line between its parts, however many a template has left empty."""
    return (
        re.sub(r"\n{3,}", "\n\n", environment().get_template(path).render(names)).strip("\n") + "\n"
    )


@cache
def toml(path: str) -> dict[str, Any]:
    """The tables of a file: claims, or what a paper prints."""
    return tomllib.loads((ROOT / path).read_text())


def judged(path: str, names: dict[str, Any], which: str = "claims") -> list[Claim]:
    """The rows of a table, each with its verdict."""
    read = toml(path)
    verdicts = {"yes": REPRODUCED, "better": BETTER, "no": NOT, "unknown": UNKNOWN}
    verdicts |= {"chance": CHANCE} | read.get("verdicts", {})
    made = []
    for row in read[which]:
        for item in _value(row["each"], names) if "each" in row else [()]:
            parts = dict(
                zip(row.get("as", ()), item if isinstance(item, tuple) else (item,), strict=False)
            )
            made.append(_judged(row, names | parts, verdicts))
    return made


def _judged(row: dict[str, Any], names: dict[str, Any], verdicts: dict[str, Any]) -> Claim:
    found = _value(row["cells"], names)
    names = names | (found or {})
    text, where = _filled(row["text"], names), _filled(row.get("where", ""), names)
    if found is None:
        unknown = verdicts["unknown"]
        return Claim(
            text,
            where,
            unknown["verdict"],
            _filled(row["why"], names) if row.get("anyway") else unknown["why"],
        )
    if "verdict" in row:
        return Claim(text, where, row["verdict"], _filled(row["why"], names))
    if "better" in row and _value(row["better"], names):
        found = "better"
    elif not _value(row["holds"], names):
        found = "no"
    else:
        found = "chance" if "chance" in row and _value(row["chance"], names) else "yes"
    return Claim(text, where, verdicts[found], _filled(row["why"], names))


@cache
def _expression(text: str) -> Any:
    return environment().compile_expression(text, undefined_to_none=False)


@cache
def _sentence(text: str) -> jinja2.Template:
    return environment().from_string(text)


def _value(text: str, names: dict[str, Any]) -> Any:
    return _expression(text)(names)


def _filled(text: str, names: dict[str, Any]) -> str:
    return markdown.line(_sentence(text).render(names))
