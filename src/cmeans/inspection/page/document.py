"""A page as one file: its template with the facts in it. Jinja enters the package in this file."""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...data.addresses import place
from ...runtime.numerals import percent, several
from ...storage.atomic import staged_file, write_text
from ..tables import cell

FOLDER = Path(__file__).parent
# in the order in which they need each other; together one script, which the page allows by its hash
SCRIPTS = (
    *("rows", "words", "drawing", "state", "view", "columns", "charts"),
    *("cards", "actions", "pictures", "start"),
)


def names_a_page(out: str | os.PathLike[str]) -> bool:
    """True of a file whose name says that it is HTML."""
    return place(out).suffix.lower() in (".html", ".htm")


def check_page(out: str | os.PathLike[str], argument: str, caller: str) -> None:
    """Refuse a file whose name does not say that it is HTML."""
    if not names_a_page(out):
        raise ValueError(
            f"{caller}({argument}={str(place(out))!r}): the page is HTML; give a file that ends in "
            ".html."
        )


def document(contents: Mapping[str, Any], record: Mapping[str, Any], theme: str) -> str:
    """Return a page: `contents` are what its template shows, `record` what its script does."""
    script = _script()
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return str(
        _template(str(contents["caller"])).render(
            **contents,
            theme=theme,
            record=_script_json(record),
            script=script,
            script_hash=f"sha256-{digest}",
            style=(FOLDER / "page.css").read_text(encoding="utf-8"),
        )
    )


def write_page(text: str, out: str | os.PathLike[str]) -> Path:
    """Write a page; it is there when all of it is, or not at all."""
    file = place(out)
    with staged_file(file) as staging:
        write_text(staging, text)
    return file


def _script() -> str:
    """Return the files of the script as one, none of whose names the page can see."""
    parts = [(FOLDER / f"{name}.js").read_text(encoding="utf-8") for name in SCRIPTS]
    return '"use strict";\n(() => {\n' + "\n".join(parts) + "})();\n"


def _template(caller: str) -> Any:
    try:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
    except ImportError as error:
        raise ImportError(
            f'{caller} needs jinja2: python -m pip install "cmeans[report]".'
        ) from error
    environment = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"cell": cell, "percent": percent, "several": several}
    return environment.get_template("page.html")


def _script_json(value: Any) -> Any:
    """Return JSON that can stand in a page: no character of it ends an element."""
    from markupsafe import Markup

    text = json.dumps(value, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))
