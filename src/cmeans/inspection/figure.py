"""Axes and colours of displays. Matplotlib enters the package in this file."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from contextlib import AbstractContextManager
from io import BytesIO
from pathlib import Path
from typing import Any

from ..runtime.numerals import in_digits
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
LEGEND, IN_A_COLUMN = 24, 12  # groups at most that a legend names, and of these in a column
LINE = 0.15  # inches of a line of small text
LETTERS = 12  # of a title in an inch
FAR_APART = 1000  # ends of an axis of logarithms from which on only powers of ten are written
# All displays are drawn within these, which change nothing outside. Colours of text and background
# stay those of the user.
QUIET: dict[Any, Any] = {
    "font.size": 9.0,
    "axes.titlesize": 10.0,
    "axes.titlelocation": "left",
    "axes.labelsize": 9.0,
    "xtick.labelsize": 8.0,
    "ytick.labelsize": 8.0,
    "legend.fontsize": 8.0,
    "legend.title_fontsize": 8.0,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "lines.linewidth": 1.5,
}


def pyplot(caller: str) -> Any:
    """Return matplotlib.pyplot, or say how to get it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            f'{caller} needs matplotlib: python -m pip install "cmeans[plot]".'
        ) from error
    return plt


def quiet(caller: str) -> AbstractContextManager[None]:
    """Return the context of the look that all displays share."""
    pyplot(caller)
    import matplotlib as mpl

    context: AbstractContextManager[None] = mpl.rc_context(QUIET)
    return context


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
    plt = pyplot(caller)
    with quiet(caller):
        figure, grid = plt.subplots(rows, columns, squeeze=False, layout="constrained", **size)
    figure._ipython_display_ = lambda: _shown_once(figure)
    return figure, grid


def _shown_once(figure: Any) -> None:
    """Show a figure in a notebook, and let pyplot go of it. Notebooks ask for a figure that ends a
    cell, and at the end of the cell for all that pyplot holds: whichever comes first shows it."""
    from IPython.display import display

    picture = BytesIO()
    figure.savefig(picture, format="png")
    display({"image/png": picture.getvalue()}, raw=True)
    pyplot("plot").close(figure)


def colour(cluster: int) -> str:
    """Return the colour of a cluster; grey for noise (-1)."""
    return NOISE if cluster < 0 else COLOURS[cluster % len(COLOURS)]


def marker(cluster: int) -> str:
    """Return the matplotlib symbol that a cluster's points are drawn with; a cross for noise."""
    return "x" if cluster < 0 else MARKERS[cluster // len(COLOURS) % len(MARKERS)]


def rgb(cluster: int) -> tuple[float, float, float]:
    """Return the colour of a cluster as three numbers from 0 to 1."""
    code = colour(cluster)
    red, green, blue = (int(code[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return red, green, blue


def name_groups(ax: Any, handles: Sequence[Any], names: Sequence[str], title: str) -> bool:
    """Name groups by a legend, beside the axes where the figure makes room for it; False, and none,
    where they are more than a legend holds: they want labels beside what is drawn of them."""
    if len(names) > LEGEND:
        return False
    beside = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0)}
    legend = ax.legend(
        handles,
        names,
        title=title,
        ncols=math.ceil(len(names) / IN_A_COLUMN),
        handlelength=1.2,
        columnspacing=1.0,
        **(beside if ax.figure.get_layout_engine() is not None else {"loc": "best"}),
    )
    for handle in legend.legend_handles:
        handle.set_alpha(1)
    return True


def label(ax: Any, text: str, position: Any) -> None:
    """Write a few words at a position, to be read on whatever is drawn there."""
    ax.annotate(
        plain(text),
        position,
        fontsize=7,
        color="black",
        ha="center",
        va="center",
        zorder=5,
        bbox={"boxstyle": "round,pad=0.15", "fc": "white", "alpha": 0.75, "lw": 0},
    )


def count_axis(axis: Any) -> None:
    """Write the numbers of an axis as people do, 28,000; of one of logarithms 1, 2, 5, 10."""
    if axis.get_scale() == "log":
        from matplotlib.ticker import LogLocator, NullLocator

        low, high = axis.get_view_interval()
        wide = high >= FAR_APART * low
        axis.set_major_locator(LogLocator(subs=(1.0,) if wide else (1.0, 2.0, 5.0)))
        axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(lambda value, _: in_digits(value))


def every_name(names: Sequence[str], width: float) -> tuple[list[int], list[str]]:
    """Return the places and names of as many groups as can be read side by side in so many
    inches."""
    step = max(1, math.ceil(len(names) * max(map(len, names)) * LINE / (1.5 * width)))
    return list(range(0, len(names), step)), list(names[::step])


def lines_of_text(ax: Any) -> int:
    """Return how many lines of small text stand one above the other in the height of axes."""
    height = ax.get_window_extent().height / ax.figure.dpi
    return int(height / LINE)


def plain(text: Any, most: int = 40) -> str:
    """Return text as it is to be drawn: no mathematics (a dollar sign is one), no line breaks, not
    too long."""
    line = " ".join(str(text).split())
    line = line if len(line) <= most else f"{line[: most - 1]}…"
    return line.replace("$", r"\$")


def wrapped(text: str, ax: Any) -> str:
    """Return a sentence as it is to be drawn, in lines of a title above axes."""
    width = ax.get_window_extent().width / ax.figure.dpi
    return textwrap.fill(plain(text, 300), max(20, int(LETTERS * width)))


def write_figure(figure: Any, place: Path) -> None:
    """Write a figure as PNG, and forget it; WriteError where it cannot be written."""
    with writing_to(place):
        figure.savefig(place, dpi=100, format="png")
    pyplot("write_figure").close(figure)
