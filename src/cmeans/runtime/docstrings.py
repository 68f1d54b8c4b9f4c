"""Docstrings that describe every parameter: what several classes or methods share is written once,
and copied when they are made."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

C = TypeVar("C", bound=type)
Method = TypeVar("Method", bound=Callable[..., Any])

PARAMETERS = "Parameters\n----------\n"
ENTRY = re.compile(r"(\w+(?:, \w+)*) : .*\n(?:(?:    .*)?\n(?=    )|    .*\n)*")
SECTION = re.compile(r"^\w+\n-+\n", flags=re.M)
NOT_AS_ELSEWHERE = re.compile(r" Not [^.]* as elsewhere[^.]*\.")
DEFAULT = re.compile(r"\Adefault=.*|(?<= )default=.*")

# What methods take, in the order of their sections "Parameters".
SHARED = {
    "model": "a fitted estimator of this library, or a pipeline that ends with one.",
    "X": "(n, d) rows with the columns of those fitted, in any form that `fit` takes; of "
    "precomputed kernels k(row, row fitted).",
    "y": "not used; scikit-learn's pipelines and searches pass it.",
    "sample_weight": "(n,) non-negative numbers, default=None: 1 each. A weight of k counts as k "
    "copies of the row.",
    "diag": "(n,) k(x, x) of each row, default=None. For precomputed kernels whose diagonal is not "
    "constant; others compute it.",
    "names": "c names of the clusters, default=None: their numbers.",
    "feature_names": "d names of the columns, default=None: those that X has, or their numbers.",
    "max_rows": "int, the largest number of rows to draw; of more, as many, evenly spaced.",
    "ax": "Axes of matplotlib, default=None: of a new figure.",
    "figure": "Figure of matplotlib, default=None: a new one.",
}


def shares_parameters(other: type) -> Callable[[C], C]:
    """Return a class decorator: parameters that the docstring leaves out are described as in that
    of `other`."""

    def complete(cls: C) -> C:
        if cls.__doc__ and other.__doc__:  # python -OO leaves none
            cls.__doc__ = completed(
                inspect.cleandoc(cls.__doc__),
                inspect.cleandoc(other.__doc__),
                inspect.signature(cls).parameters,
            )
        return cls

    return complete


def describes_arguments(method: Method) -> Method:
    """Describe arguments that the docstring of a method leaves out as in `SHARED`: a decorator."""
    if method.__doc__:
        taken = inspect.signature(method).parameters
        text = inspect.cleandoc(method.__doc__) + "\n"
        if PARAMETERS not in text:
            place = SECTION.search(text)
            start = place.start() if place else len(text)
            text = f"{text[:start].rstrip()}\n\n{PARAMETERS}\n{text[start:]}"
        theirs = PARAMETERS + "".join(
            f"{name} : {told}\n" for name, told in SHARED.items() if name in taken
        )
        method.__doc__ = completed(text, theirs, taken)
    return method


def completed(text: str, theirs: str, parameters: Mapping[str, inspect.Parameter]) -> str:
    """Put the missing entries behind the last one of the section "Parameters", each with the
    default that it has here."""
    end, own = _entries(text)
    described = {name for names, _ in own for name in names}
    copies = [
        _with_default(entry, parameters[names[0]].default)
        for names, entry in _entries(theirs)[1]
        if not described.intersection(names) and set(names) <= set(parameters)
    ]
    return text[:end] + "".join(copies) + text[end:]


def _entries(text: str) -> tuple[int, list[tuple[list[str], str]]]:
    """Return where the entries of "Parameters" end, and their names and texts."""
    end = text.index(PARAMETERS) + len(PARAMETERS)
    found = list[tuple[list[str], str]]()
    while entry := ENTRY.match(text, end):
        found.append((entry[1].split(", "), entry[0]))
        end = entry.end()
    return end, found


def _with_default(entry: str, default: object) -> str:
    """Return an entry with another default; without the sentence on the default that it has, where
    that differs from others."""
    if not isinstance(default, str | int):  # the others are alike everywhere
        return entry
    head, newline, below = entry.partition("\n")
    written = f'"{default}"' if isinstance(default, str) else str(default)
    own = DEFAULT.sub(lambda _: f"default={written}", head)
    return own + newline + (below if own == head else NOT_AS_ELSEWHERE.sub("", below))
