"""Options of a former run, from its summary or a TOML file, as the defaults of this one."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..runtime.shown_addresses import for_people
from .app import Context, wrong_usage

KEY = "config"  # of the summary
_OF_ONE_RUN = {"config", "quiet", "as_json", "debug", "resume", "overwrite", "plan", "context"}


def config_of(given: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that a run was given, as a file can hold them."""
    return {
        name: _told(value)
        for name, value in given.items()
        if name not in _OF_ONE_RUN and value is not None and value != defaults.get(name)
    }


def _told(value: Any) -> Any:
    """Return a value as a file can hold it, an address as people see it."""
    if isinstance(value, (list, tuple)):
        return [*map(_told, value)]
    return for_people(str(value)) if isinstance(value, (str, os.PathLike)) else value


def read_config(context: Context, file: Path | None) -> Path | None:
    """Take the options in a file for defaults; of a TOML file they are named as on the command
    line, without the dashes before them."""
    if file is None:
        return None
    try:
        text = file.read_text(encoding="utf-8")
        stored = json.loads(text) if file.suffix == ".json" else tomllib.loads(text)
        stored = stored.get(KEY, stored)
    except (OSError, ValueError, AttributeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise wrong_usage(f"cannot be read ({reason}).") from None
    names = {alias: word.name for word in context.command.params for alias in _names(word)}
    found = dict[str, Any]()
    for name, value in stored.items():
        if name not in names:
            raise wrong_usage(f"{name!r} is no option of cmeans {context.info_name}.")
        found[names[name]] = value
    context.default_map = found
    return file


def _names(word: Any) -> set[str]:
    """Return the names by which a file may have an option."""
    flags = {flag.lstrip("-") for flag in word.opts}
    return {word.name, *flags, *(flag.replace("-", "_") for flag in flags)}
