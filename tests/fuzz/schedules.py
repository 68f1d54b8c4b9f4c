"""Rows on a cluster that loses, delays and repeats, beside the same rows in memory: whatever order
answers come in, results are the same to the bit."""

from __future__ import annotations

import random
from pathlib import Path

from fuzz.runner import Case
from simulated import schedule


def prepared(folder: Path) -> Case:
    def case(dice: random.Random) -> str:
        workers = dice.choice((1, 2, 5, 50))
        schedule(dice.getrandbits(32), workers)
        return f"{workers} workers"

    return case
