"""Parts that figures share: panels, axes, means with their reach, and files: PNG for pages, SVG for
print."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

COLOURS = (
    "#1f77b4",
    "#d62728",
    "#2ca02c",
    "#ff7f0e",
    "#9467bd",
    "#8c564b",
    "#e377c2",
    "#17becf",
    "#7f7f7f",
    "#bcbd22",
)
HOLLOW = {"marker": "o", "markerfacecolor": "white"}


def pyplot() -> Any:
    """matplotlib without a screen; the same input gives the same SVG."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "cmeans"
    import matplotlib.pyplot as plt

    return plt


def panels(
    rows: int, columns: int, size: tuple[float, float], **words: Any
) -> tuple[Any, np.ndarray]:
    """A figure and its axes (rows, columns)."""
    return pyplot().subplots(rows, columns, figsize=size, squeeze=False, **words)


def log_sizes(
    axis: Any, sizes: Sequence[float], texts: Sequence[str], label: str, **words: Any
) -> None:
    """A logarithmic axis with ticks at some sizes alone."""
    axis.set(xscale="log", xlabel=label)
    axis.set_xticks(sizes, texts, **words)
    axis.set_xticks([], minor=True)


def reach(values: Sequence[Sequence[float]]) -> tuple[np.ndarray, np.ndarray]:
    """Means, and how far below and above them the least and the largest lie."""
    middle = np.array([np.mean(of) for of in values])
    return middle, np.abs(
        [middle - [min(of) for of in values], [max(of) for of in values] - middle]
    )


def key_to(figure: Any, entries: Sequence[Any], columns: int, **words: Any) -> None:
    """A legend for all panels: words of lines, or what stands for something else."""
    handles = [
        pyplot().Line2D([], [], **entry) if isinstance(entry, dict) else entry for entry in entries
    ]
    figure.legend(handles=handles, ncols=columns, frameon=False, **words)


def save(figure: Any, folder: Path, name: str, dpi: int = 130) -> None:
    """NAME.png and NAME.svg. Clouds of points are best drawn with rasterized=True, or the SVG is
    large."""
    folder.mkdir(parents=True, exist_ok=True)
    for kind, words in (("png", {}), ("svg", {"metadata": {"Date": None}})):
        path = folder / f"{name}.{kind}"
        figure.savefig(path, dpi=dpi, bbox_inches="tight", **words)
        print(f"      {path}: {path.stat().st_size / 1000:.0f} kB", flush=True)
    pyplot().close(figure)
