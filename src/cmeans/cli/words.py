"""Options that are a number or one of a few words."""

from __future__ import annotations

import math
from typing import Any

from .errors import InputError


def number_or_word(option: str, text: str | None, words: tuple[str, ...]) -> float | str | None:
    """`--gamma scale` or `--gamma 0.5`; None if the option was not given."""
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
    """`--landmarks 500`, `--landmarks auto`, or `--landmarks none` for the exact kernel."""
    if text == "auto":
        return "auto"
    if text == "none":
        return None
    if not text.isdecimal() or int(text) < 1:
        raise InputError(f"--landmarks {text}: give a whole number of at least 1, auto, or none for the exact kernel.")
    return int(text)


def given(**words: Any) -> dict[str, Any]:
    """Constructor words without those that were not given: the estimator knows its own defaults."""
    return {name: value for name, value in words.items() if value is not None}
