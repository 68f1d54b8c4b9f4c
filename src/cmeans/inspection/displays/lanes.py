"""Curves of many groups, each in a lane of its own."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...data.arrays import Float64
from ..figure import colour, lines_of_text

LANE = 0.8  # of the way to the next lane that curves take at most


def draw_lanes(ax: Any, across: Any, values: Float64, names: Sequence[str]) -> list[Any]:
    """Draw curves (c, k) of more groups than colours tell apart, each in a lane of its own, one
    below the other, and return their lines."""
    most, lines = float(np.abs(values).max()) or 1.0, []
    for j, curve in enumerate(values):
        height = j - LANE * curve / most
        ax.fill_between(across, j, height, color=colour(j), alpha=0.35, lw=0)
        lines.append(ax.plot(across, height, color=colour(j), lw=0.9)[0])
    name_lanes(ax, list(range(len(names))), names)
    ax.set_ylim(len(values) - 0.5, -1)
    return lines


def name_lanes(ax: Any, places: Sequence[float], names: Sequence[str]) -> None:
    """Name groups one below the other, as many evenly spaced ones as can be read."""
    step = math.ceil(len(names) / max(lines_of_text(ax), 1))
    ax.set_yticks(places[::step], names[::step])
