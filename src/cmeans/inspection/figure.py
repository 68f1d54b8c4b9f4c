"""Axes and colours of displays. Matplotlib enters the package in this file."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

from ..storage.atomic import writing_to

# Told apart by all eyes, also those that see no red or no green: neighbours well, any two a little.
# The first six are Okabe's and Ito's; the others each lie as far as can be from those before.
COLOURS = (
    "#0072B2", "#E69F00", "#009E73", "#56B4E9", "#D55E00", "#CC79A7", "#961E4B", "#8778FF",
    "#78D296", "#C31E96", "#964B00", "#00D2D2", "#FF4B69", "#5A87D2", "#FFA569", "#005A69",
    "#00A5C3", "#3C5AF0", "#A50078", "#96C3FF", "#003CD2", "#7896FF", "#B44B4B", "#8700A5",
)  # fmt: skip
MARKERS = "osD^vP*X"  # after the colours are used up
NOISE = "#ABABAB"
SEQUENTIAL, DIVERGING = "cividis", "RdBu_r"


def pyplot(caller: str) -> Any:
    """Return matplotlib.pyplot, or say how to get it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            f'{caller} needs matplotlib: python -m pip install "cmeans[plot]".'
        ) from error
    return plt


def axes(ax: Any, caller: str, **size: Any) -> Any:
    """Return the axes that were given, or those of a new figure."""
    plt = pyplot(caller)
    if ax is None:
        return plt.subplots(layout="constrained", **size)[1]
    if not hasattr(ax, "add_artist"):
        raise ValueError(
            f"{caller}(ax={ax!r}): give Axes of matplotlib, or None for those of a new figure."
        )
    return ax


def shared_axes(rows: int, columns: int, caller: str, **size: Any) -> tuple[Any, Any]:
    """Return a new figure and its axes (rows, columns)."""
    figure, grid = pyplot(caller).subplots(
        rows, columns, squeeze=False, layout="constrained", **size
    )
    return figure, grid


def colour(cluster: int) -> str:
    """Return the colour of a cluster; grey for noise (-1)."""
    return NOISE if cluster < 0 else COLOURS[cluster % len(COLOURS)]


def marker(cluster: int) -> str:
    """Return the matplotlib symbol that a cluster's points are drawn with; a dot for noise."""
    return "." if cluster < 0 else MARKERS[cluster // len(COLOURS) % len(MARKERS)]


def rgb(cluster: int) -> tuple[float, float, float]:
    """Return the colour of a cluster as three numbers from 0 to 1."""
    code = colour(cluster)
    red, green, blue = (int(code[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return red, green, blue


def plain(text: Any, most: int = 40) -> str:
    """Return text as it is to be drawn: no mathematics (a dollar sign is one), no line breaks, not
    too long."""
    line = " ".join(str(text).split())
    line = line if len(line) <= most else f"{line[: most - 1]}…"
    return line.replace("$", r"\$")


def wrapped(text: str) -> str:
    """Return a sentence as it is to be drawn, in lines of a title."""
    return textwrap.fill(plain(text, 300), 75)


def write_figure(figure: Any, place: Path) -> None:
    """Write a figure as PNG, and forget it; WriteError where it cannot be written."""
    with writing_to(place):
        figure.savefig(place, dpi=100, format="png")
    pyplot("write_figure").close(figure)
