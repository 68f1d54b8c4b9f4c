"""The options of a run in TOML: the file in its results that `--config` repeats it from."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from typing import Any

from ... import __version__
from ..methods import METHODS
from ..option_names import option_of

RUN = "run.toml"
HEAD = "# Options of a run of cmeans"  # how each such file begins
_PARAMETERS = {name for spec in METHODS.values() for name in spec.parameters}
_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d*[1-9])?")


def as_toml(command: str, options: Mapping[str, Any]) -> str:
    """Return the options of a run of a command, named as on the command line without the dashes.
    One that TOML cannot hold, a name of a file that is no Unicode, is a comment that says so."""
    lines = [
        f"{HEAD} {__version__}. To repeat it: cmeans {command} --config {RUN}",
        "# Paths are as they were given; options that are not here have their defaults.",
    ]
    for name, value in options.items():
        # Of options that take words too, numbers come as texts.
        is_number = name in _PARAMETERS and _NUMBER.fullmatch(str(value))
        line = f"{option_of(name).lstrip('-')} = {value if is_number else _value(value)}"
        try:
            tomllib.loads(line)
        except tomllib.TOMLDecodeError:
            line = f"# No Unicode; give it on the command line: {line}"
        lines.append(line)
    return "\n".join(lines) + "\n"


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_value, value))}]"
    text = json.dumps(str(value), ensure_ascii=False)  # whose escapes are those of TOML
    return "".join(letter if letter.isprintable() else f"\\U{ord(letter):08x}" for letter in text)
