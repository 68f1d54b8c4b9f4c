"""Docstrings of this library as reStructuredText.

They are written to be read in a terminal: formulas such as |phi(x_i) - v_j|^2 and names such as
labels_ stand bare, backticks are code in Markdown's manner, a formula in a sentence has two spaces
on either side, and an entry of a section may say all on one line ("labels_ : (n,) cluster of each
row."). numpydoc and napoleon take bars for substitutions, underscores for references and that text
for a type. So sections are read here, and everything outside code is escaped.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from typing import Any

from sphinx.ext import autosummary

import cmeans

ENTRIES = {"Parameters", "Attributes", "Returns", "Raises"}
SECTIONS = ENTRIES | {"Notes", "References", "Examples"}
CODE = re.compile(r"``(.+?)``|`(.+?)`")
NAMES = r"(?:\w+|\.\.\.)(?:, (?:\w+|\.\.\.))*"
ENTRY = re.compile(rf"({NAMES}) : (.*)")
BARE = re.compile(rf"{NAMES}")
LISTED = re.compile(r"^(?=\(?\w+[.)] )")  # the initial of an author is no number of a list
MARKUP = re.compile(r"([\\*`|]|_(?!\w)|(?<!\w)_)")


def setup(app: Any) -> dict[str, Any]:
    app.connect("autodoc-process-docstring", read)
    app.connect("autodoc-skip-member", skip)
    autosummary.WELL_KNOWN_ABBREVIATIONS += ("eq.", "Alg.")  # do not end a sentence
    return {"parallel_read_safe": True}


def skip(app: Any, what: str, name: str, member: Any, skipped: bool, options: Any) -> bool | None:
    """What scikit-learn's mix-ins bring along is in scikit-learn's documentation."""
    owner = getattr(member, "fget", member)  # of a property
    theirs = str(getattr(owner, "__module__", "")).startswith("sklearn") or (
        name.startswith("set_") and name.endswith("_request")
    )
    return True if theirs else None


def read(app: Any, what: str, name: str, value: Any, options: Any, lines: list[str]) -> None:
    """A docstring's lines, in place. Constants have their type's, and say what they hold
    instead."""
    if what == "data":
        lines[:] = [
            inline(
                ", ".join(f"`{item}`" for item in ([value] if isinstance(value, str) else value))
            ),
            "",
        ]
    else:
        lines[:] = [
            line
            for title, body in sections(lines)
            for line in (*heading(title), *content(title, body), "")
        ]


def sections(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Titles and the lines below them; what comes first has no title."""
    title, body = "", list[str]()
    for number, line in enumerate(lines):
        below = lines[number + 1] if number + 1 < len(lines) else ""
        if line in SECTIONS and below == "-" * len(line):
            yield title, body
            title, body = line, []
        elif not (title and not body and line == "-" * len(title)):
            body.append(line)
    yield title, body


def heading(title: str) -> list[str]:
    return [f".. rubric:: {title}", ""] if title else []


def content(title: str, body: list[str]) -> Iterator[str]:
    if title in ENTRIES:
        return entries(body, typed=title != "Attributes")
    if title == "References":
        return references(body)
    return prose(body)


def prose(body: list[str]) -> Iterator[str]:
    """Paragraphs, lists, formulas on lines of their own (indented) and sessions."""
    for block in blocks(body):
        if block[0].startswith(">>>"):
            yield from block
        elif all(line.startswith("    ") for line in block):
            yield from ("::", "", *block)
        elif block[0].startswith("- "):
            for item in re.split(r"\n(?=- )", "\n".join(block)):
                yield f"- {inline(joined(item[2:].splitlines()))}"
        else:
            yield inline(joined(block))
        yield ""


def entries(body: list[str], typed: bool) -> Iterator[str]:
    """A definition list, with paragraphs between its entries."""
    for head, below in heads(body):
        entry = ENTRY.fullmatch(head)
        if entry and below and typed and is_type(entry[2]):
            yield from (f"{names(entry[1])} : {inline(entry[2])}", *indented(prose(below)))
        elif entry:
            yield from (names(entry[1]), *indented([inline(joined([entry[2], *below]))]))
        elif below:
            yield from (
                names(head) if BARE.fullmatch(head) else inline(head),
                *indented(prose(below)),
            )
        else:
            yield inline(head)
        yield ""


def is_type(text: str) -> bool:
    """Whether what stands behind a name on its line is a type, and not the start of a sentence that
    goes on below."""
    return "default" in text or (len(text) <= 80 and not text.endswith("."))


def heads(body: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Lines at the margin and what is indented below them; lines of prose at the margin are
    joined."""
    found = list[tuple[str, list[str]]]()
    apart = True
    for line in body:
        if line.startswith("    ") or not line:
            if found and (line or found[-1][1]):
                found[-1][1].append(line[4:])
            apart = apart or not line
        elif found and not (
            apart
            or found[-1][1]
            or ENTRY.fullmatch(line)
            or ENTRY.fullmatch(found[-1][0])
            or BARE.fullmatch(line)
        ):
            found[-1] = (f"{found[-1][0]} {line}", [])
        else:
            found.append((line, []))
            apart = False
    return iter(found)


def references(body: list[str]) -> Iterator[str]:
    """One item for each work: a line continues the one before, unless that ends and this names an
    author."""
    works = list[str]()
    for line in filter(None, body):
        if works and not (works[-1].endswith((".", ").")) and re.match(r"[^.]*: |[A-Z]\. ", line)):
            works[-1] += f" {line}"
        else:
            works.append(line)
    yield from (f"- {inline(work)}" for work in works)


def blocks(body: list[str]) -> list[list[str]]:
    """Lines between blank ones; of a paragraph that runs into a list, both."""
    text = re.sub(r"(?m)^(?!- )(\S.*)\n(?=- )", r"\1\n\n", "\n".join(body))
    return [block.splitlines() for block in re.split(r"\n\s*\n", text.strip("\n")) if block.strip()]


def indented(lines: Any) -> list[str]:
    return textwrap.indent("\n".join(lines), "    ").splitlines()


def joined(lines: list[str]) -> str:
    return " ".join(line.strip() for line in lines)


def names(text: str) -> str:
    return ", ".join(name if name == "..." else f"``{name}``" for name in text.split(", "))


def inline(text: str) -> str:
    """Code as code, public names as links, formulas between two spaces as code, all else as it
    is."""
    kept = list[str]()

    def keep(code: str) -> str:
        kept.append(code)
        return f"\0{len(kept) - 1}\0"

    text = CODE.sub(lambda found: keep(code(found[1] or found[2])), text)
    parts = text.split("  ")
    for number in range(1, len(parts), 2):
        formula, rest = parted(parts[number])
        parts[number] = (keep(f"``{formula}``") if "\0" not in formula else formula) + rest
    text = LISTED.sub(r"\\\g<0>", MARKUP.sub(r"\\\1", " ".join(part for part in parts if part)))
    return re.sub(r"\0(\d+)\0", lambda found: apart(found, kept), text)


def apart(found: re.Match[str], kept: list[str]) -> str:
    """Inline markup needs a border; where text has none an escaped space makes one."""
    before, after = found.string[: found.start()][-1:], found.string[found.end() :][:1]
    return (
        ("\\ " if re.match(r"\w", before) else "")
        + kept[int(found[1])]
        + ("\\ " if re.match(r"\w", after) else "")
    )


def parted(text: str) -> tuple[str, str]:
    """A formula and what follows it after a comma outside brackets, or its last full stop."""
    depth = 0
    for place, letter in enumerate(text):
        depth += (letter in "([{") - (letter in ")]}")
        if depth == 0 and text.startswith(", ", place):
            return text[:place], text[place:]
    bare = text.rstrip(".:")
    return bare, text[len(bare) :]


def code(text: str) -> str:
    place = public().get(text.removesuffix("()"))
    return f":py:obj:`{text} <{place}>`" if place else f"``{text}``"


def public() -> dict[str, str]:
    """Where the public names are: `purity` in cmeans.metrics."""
    rooms = {
        "cmeans": cmeans,
        **{
            f"cmeans.{name}": getattr(cmeans, name)
            for name in ("datasets", "kernels", "metrics", "rules", "validity")
        },
    }
    found = {
        f"{place}.{name}": f"{place}.{name}"
        for place, room in rooms.items()
        for name in room.__all__
    }
    return found | {
        name: f"{place}.{name}"
        for place, room in rooms.items()
        for name in room.__all__
        if name != "__version__"
    }
