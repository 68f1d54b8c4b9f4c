"""Figures 1 and 2, from what is stored."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..pictures import panels
from ..results import Cell
from .reading import Reading
from .runs import LETTERS, PANELS

GREY = "#c8c8c8"
COLOURS = (
    "#1f77b4",
    "#ff7f0e",
    "#2ca02c",
    "#9467bd",
    "#d62728",
    "#8c564b",
    "#e377c2",
    "#17becf",
    "#bcbd22",
    "#1b4f72",
)
COLOURS += ("#e8a33d", "#7fbf7b", "#b79ad6", "#f29191", "#556b2f")


def figure_one(read: Reading) -> Any:
    """Experiment 1 with eight algorithms: centres, circles of radius eta, dashed the reach of
    sparse clusters."""
    kinds = read.keyed("figure 1", PANELS)
    if not kinds:
        return None
    figure, axes = panels(2, 4, (11, 6.3), sharex=True, sharey=True)
    for axis, (title, cell) in zip(axes.ravel(), kinds.items(), strict=False):
        _scatter(axis, cell, cell["labels"])
        _circles(axis, cell, "radii", linewidth=1.4)
        _circles(axis, cell, "reach", linewidth=0.9, linestyle="--")
        _centres(axis, cell)
        axis.set_title(f"{title}\n{cell['found']} found, SR {cell['success']:.1f}%", fontsize=9.5)
        _bare(axis)
    figure.tight_layout()
    return figure


def figure_two(read: Reading) -> Any:
    """S2: its clusters, and what SeqSAPCM finds."""
    cell = read.cells.get("figure 2")
    if cell is None:
        return None
    figure, ((left, right),) = panels(1, 2, (9.6, 5.0), sharex=True, sharey=True)
    _scatter(left, cell, cell["classes"])
    left.set_title(f"S2, true labels\n{len(set(cell['classes']))} clusters", fontsize=10)
    _scatter(right, cell, cell["labels"])
    _circles(right, cell, "radii", linewidth=1.1)
    _centres(right, cell)
    right.set_title(
        f"SeqSAPCM, λ = 0.1\n{cell['found']} found, SR {cell['success']:.1f}%", fontsize=10
    )
    for axis in (left, right):
        _bare(axis)
    figure.tight_layout()
    return figure


def _scatter(axis: Any, cell: Cell, labels: str) -> None:
    own = np.array([LETTERS.find(letter) for letter in labels])
    colours = np.array([*COLOURS, GREY])[np.where(own < 0, len(COLOURS), own % len(COLOURS))]
    axis.scatter(
        np.array(cell["x"]) / 100,
        np.array(cell["y"]) / 100,
        s=4,
        c=colours,
        linewidths=0,
        rasterized=True,
    )


def _circles(axis: Any, cell: Cell, field: str, **style: Any) -> None:
    """Of a radius, or of one for each axis."""
    from matplotlib.patches import Ellipse

    for centre, radius in zip(cell["centres"], cell.get(field, []), strict=False):
        axis.add_patch(
            Ellipse(
                centre, *(2 * np.array(radius) * np.ones(2)), fill=False, color="black", **style
            )
        )


def _centres(axis: Any, cell: Cell) -> None:
    axis.plot(
        *np.array(cell["centres"]).T,
        "o",
        color="black",
        markersize=5.5,
        markeredgecolor="white",
        markeredgewidth=0.9,
    )


def _bare(axis: Any) -> None:
    axis.set(
        xlim=(-0.6, 10.6), ylim=(-0.6, 10.6), aspect="equal", xticks=(0, 5, 10), yticks=(0, 5, 10)
    )
    axis.tick_params(labelsize=8, length=2)


FIGURES = {"figure1": figure_one, "figure2": figure_two}
