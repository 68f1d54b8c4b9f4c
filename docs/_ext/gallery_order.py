"""The order of the gallery, from what most people need to what few do, and its colours, which are
those of the displays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl

from cmeans.inspection.figure import COLOURS, SEQUENTIAL

FIRST = [
    *(
        "overlapping_wines",
        "customers",
        "choosing_the_number",
        "outliers",
        "moons_and_spirals",
        "connected_pieces",
        "communities",
        "stretched",
        "strokes",
        "photograph",
        "topics",
        "cells",
    ),
    *(
        "partial_labels",
        "sizes",
        "unknown_number",
        "streams",
        "drift",
        "larger_than_memory",
        "landmarks",
        "rings",
        "strings",
    ),
]


class Order:
    def __init__(self, folder: str) -> None: ...

    def __call__(self, filename: str | Path) -> int:
        return FIRST.index(Path(filename).stem)


def colours(configuration: dict[str, Any], example: str) -> None:
    """Set before each example, after Matplotlib has been set to its defaults."""
    mpl.rcParams["axes.prop_cycle"] = mpl.cycler(color=COLOURS)
    mpl.rcParams["image.cmap"] = SEQUENTIAL
