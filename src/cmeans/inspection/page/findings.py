"""Further findings on a fit, which a page shows beside its clusters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Again:
    """Code and commands that do a fit again.

    Attributes
    ----------
    code : in Python.
    command : lines for a terminal, if it came from there.
    """

    code: str
    command: Sequence[str] = ()


@dataclass(frozen=True)
class Findings:
    """Further findings on a fit, for its report.

    Attributes
    ----------
    selection : what `cmeans.select` returned.
    stability : what `cmeans.stability` returned.
    warnings : sentences.
    facts : of the data, name by name: where they came from, how they were scaled.
    again : how to do the fit again; None: by the estimator's parameters.
    names : of the clusters; none: their numbers, and what they are like.
    """

    selection: Any = None
    stability: Any = None
    warnings: Sequence[str] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    again: Again | None = None
    names: Sequence[str] = ()
