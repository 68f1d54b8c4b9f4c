"""A fuzzer of nothing, whose cases go wrong in every way: what watches fuzzers must find them
all."""

from __future__ import annotations

import os
import random
import signal
from pathlib import Path

from fuzz.runner import Case

WAYS = ("well", "crash", "error", "memory", "well", "hang", "well")
kept: list[bytes] = []


def prepared(folder: Path) -> Case:
    def case(dice: random.Random) -> str:
        way = WAYS[NUMBERS.index(dice.random())]
        if way == "crash":
            os.kill(os.getpid(), signal.SIGSEGV)
        if way == "error":
            raise KeyError("x")
        if way == "memory":
            kept.append(b"x" * 2**27)
        while way == "hang":
            pass
        return way

    return case


NUMBERS = [random.Random(number).random() for number in range(len(WAYS))]
