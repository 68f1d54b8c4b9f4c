"""Docstrings that share text read alike whether Python keeps their indentation (before 3.13) or
strips it."""

from __future__ import annotations

from typing import Any

import pytest

from cmeans.runtime.docstrings import completed, describes_arguments, shares_parameters

WHOLE = """First.

Parameters
----------
own : int, default=2
        Deeper, and longer
        than a line.
n : int, default=3
    Number.

Raises
------
ValueError
"""


def indented(text: str) -> str:
    return text.replace("\n", "\n    ")


@pytest.mark.parametrize("kept", [str, indented])
def test_entries_that_are_missing_are_copied_with_their_own_default(kept: Any) -> None:
    class Other:
        def __init__(self, n: int = 3) -> None: ...

    class Mine:
        def __init__(self, own: int = 1, n: int = 5) -> None: ...

    Other.__doc__ = kept(WHOLE)
    Mine.__doc__ = kept("Mine.\n\nParameters\n----------\nown : bool\n\nExamples\n--------\n")
    text = shares_parameters(Other)(Mine).__doc__
    assert (
        text == "Mine.\n\nParameters\n----------\nown : bool\nn : int, default=5\n    "
        "Number.\n\nExamples\n--------"
    )


@pytest.mark.parametrize("kept", [str, indented])
def test_arguments_of_methods_stand_before_other_sections(kept: Any) -> None:
    def method(self: Any, X: Any, y: Any = None) -> None: ...

    method.__doc__ = kept("First.\n\nMore.\n\nRaises\n------\nValueError\n")
    lines = str(describes_arguments(method).__doc__).splitlines()
    assert lines[:6] == ["First.", "", "More.", "", "Parameters", "----------"]
    assert [line.partition(" : ")[0] for line in lines[6:8]] == ["X", "y"]
    assert lines[8:] == ["", "Raises", "------", "ValueError"]


def test_what_is_described_stays() -> None:
    def method(self: Any, X: Any) -> None: ...

    method.__doc__ = text = "First.\n\nParameters\n----------\nX : mine.\n"
    assert describes_arguments(method).__doc__ == text


def test_nothing_to_copy() -> None:
    assert completed(WHOLE, WHOLE, {}) == WHOLE
