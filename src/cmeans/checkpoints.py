"""How far a fit has come, kept in a file, so that it can go on from there."""

from __future__ import annotations

import os
from dataclasses import dataclass


@dataclass(frozen=True)
class Checkpoint:
    """Where a fit writes how far it has come, how often, and whether it goes on from what is there."""

    path: str | os.PathLike[str]
    sweeps: int | None = None
    minutes: float | None = 5.0
    resume: bool = False
