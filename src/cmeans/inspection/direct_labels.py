"""Labels beside what is drawn, none over another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .figure import plain

SIZE = 7.5  # of the letters, in points
LETTER, LINE = 0.62, 1.3  # width of a letter and height of a line, in sizes
RINGS, WAYS = 8, 16  # places around a point that are tried: distances, and directions
AROUND = [(0.0, 0.0)] + [
    (1.6 * SIZE * ring * np.cos(turn), 1.6 * SIZE * ring * np.sin(turn))
    for ring in range(1, RINGS + 1)
    for turn in 2 * np.pi * np.arange(WAYS) / WAYS
]


def label_apart(
    ax: Any, texts: Sequence[str], positions: Any, away: tuple[float, float] = (0, 0)
) -> None:
    """Write words at positions (k, 2), so many points away, where no others stand; those that would
    cover others stand aside, at the end of a line, and where there is no room they are left out."""
    ax.autoscale_view()  # places depend on the limits
    points = 72 / ax.figure.dpi
    box, taken = ax.get_window_extent(), list[tuple[float, float, float]]()
    low, high = (points * np.array(corner) for corner in (box.p0, box.p1))
    pixels = ax.transData.transform(positions) * points
    for text, place, position in zip(map(plain, texts), pixels, positions, strict=True):
        half = (LETTER * SIZE * len(text) + 3) / 2
        for shift in AROUND:
            room = np.array([half, SIZE])
            x, y = np.clip(place + away + shift, low + room, high - room)
            if all(abs(x - a) > half + b or abs(y - c) > LINE * SIZE for a, c, b in taken):
                taken.append((x, y, half))
                _write(ax, text, position, (x - place[0], y - place[1]), any(shift))
                break


def _write(ax: Any, text: str, position: Any, away: tuple[float, float], is_aside: bool) -> None:
    words = ax.annotate(
        text,
        position,
        away,
        textcoords="offset points",
        fontsize=SIZE,
        color="black",
        ha="center",
        va="center",
        zorder=5,
        bbox={"boxstyle": "round,pad=0.1", "fc": "white", "alpha": 0.75, "lw": 0},
        arrowprops={"arrowstyle": "-", "lw": 0.6, "color": "0.25"} if is_aside else None,
    )
    words.set_in_layout(False)  # what is inside needs no room around
