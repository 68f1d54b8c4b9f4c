"""The estimators' parameters as options, and options that are a number or one of a few words."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from .errors import InputError

_RENAMED = {
    "scaling": "--inner-scaling",
    "n_landmarks": "--landmarks",
    "landmarks": "--landmark-choice",
    "n_clusters": "--clusters",
    "random_state": "--seed",
    "n_jobs": "--jobs",
    "T": "--temperature",
}


def option_of(word: str) -> str:
    """Return the option that sets a constructor parameter."""
    return _RENAMED.get(word, f"--{word.replace('_', '-')}")


def as_option(name: str, *value: Any) -> str:
    """Return an argument of `open_blocks` as an option: `--columns`, or `--columns a,b`."""
    if name == "header":
        return {(): "--header, --no-header", (True,): "--header", (False,): "--no-header"}[value]
    given = [",".join(map(str, word)) if isinstance(word, list) else str(word) for word in value]
    return " ".join([f"--{name}", *given])


def number_or_word(option: str, text: str | None, words: tuple[str, ...]) -> float | str | None:
    """Parse an option like `--gamma scale` or `--gamma 0.5`; None if it was not given."""
    if text is None or text in words:
        return text
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise InputError(f"{option} {text}: give a number or {' or '.join(words)}.")
    return number


def landmark_number(text: str) -> int | str | None:
    """Parse `--landmarks 500`, `--landmarks auto`, or `--landmarks none` for the exact kernel."""
    if text == "auto":
        return "auto"
    if text == "none":
        return None
    if not text.isdecimal() or int(text) < 1:
        raise InputError(f"--landmarks {text}: give a whole number of at least 1, auto, or none for the exact kernel.")
    return int(text)


def listed(names: Iterable[str]) -> str:
    """Return names as a list in a sentence: `a`, `a and b`, `a, b and c`."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
