"""Figures 1 and 2, from what is stored."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from .. import pictures
from ..results import Cell, Cells
from .runs import LETTERS, PANELS

GREY = "#c8c8c8"
COLOURS = ("#1f77b4", "#ff7f0e", "#2ca02c", "#9467bd", "#d62728", "#8c564b", "#e377c2", "#17becf", "#bcbd22", "#1b4f72")
COLOURS += ("#e8a33d", "#7fbf7b", "#b79ad6", "#f29191", "#556b2f")


def draw(cells: Cells, folder: Path) -> None:
    figure_one(cells, folder)
    figure_two(cells, folder)


def figure_one(cells: Cells, folder: Path) -> None:
    """Experiment 1 with eight algorithms: centres, circles of radius eta, dashed the reach of sparse clusters."""
    from matplotlib.patches import Ellipse

    kinds = {title: cells[f"figure 1 | {title}"] for title in PANELS if f"figure 1 | {title}" in cells}
    if not kinds:
        return
    figure, axes = pictures.pyplot().subplots(2, 4, figsize=(11, 6.3), sharex=True, sharey=True)
    for axis, (title, cell) in zip(axes.ravel(), kinds.items(), strict=False):
        _scatter(axis, cell, cell["labels"])
        for centre, radius in zip(cell["centres"], cell.get("radii", []), strict=False):
            axis.add_patch(Ellipse(centre, *(2 * np.array(radius) * np.ones(2)), fill=False, color="black", linewidth=1.4))
        for centre, reach in zip(cell["centres"], cell.get("reach", []), strict=False):
            axis.add_patch(Ellipse(centre, 2 * reach, 2 * reach, fill=False, color="black", linewidth=0.9, linestyle="--"))
        _centres(axis, cell)
        axis.set_title(f"{title}\n{cell['found']} found, SR {cell['success']:.1f}%", fontsize=9.5)
        _bare(axis)
    figure.tight_layout()
    pictures.save(figure, folder, "seqsapcm2014-figure1")


def figure_two(cells: Cells, folder: Path) -> None:
    """S2: its clusters, and what SeqSAPCM finds."""
    cell = cells.get("figure 2")
    if cell is None:
        return
    plt = pictures.pyplot()
    figure, axes = plt.subplots(1, 2, figsize=(9.6, 5.0), sharex=True, sharey=True)
    _scatter(axes[0], cell, cell["classes"])
    axes[0].set_title(f"S2, true labels\n{len(set(cell['classes']))} clusters", fontsize=10)
    _scatter(axes[1], cell, cell["labels"])
    for centre, radius in zip(cell["centres"], cell["radii"], strict=True):
        axes[1].add_patch(plt.Circle(centre, radius, fill=False, color="black", linewidth=1.1))
    _centres(axes[1], cell)
    axes[1].set_title(f"SeqSAPCM, λ = 0.1\n{cell['found']} found, SR {cell['success']:.1f}%", fontsize=10)
    for axis in axes:
        _bare(axis)
    figure.tight_layout()
    pictures.save(figure, folder, "seqsapcm2014-figure2")


def _scatter(axis: Any, cell: Cell, labels: str) -> None:
    own = np.array([LETTERS.find(letter) for letter in labels])
    colours = np.array([*COLOURS, GREY])[np.where(own < 0, len(COLOURS), own % len(COLOURS))]
    axis.scatter(np.array(cell["x"]) / 100, np.array(cell["y"]) / 100, s=4, c=colours, linewidths=0, rasterized=True)


def _centres(axis: Any, cell: Cell) -> None:
    axis.plot(*np.array(cell["centres"]).T, "o", color="black", markersize=5.5, markeredgecolor="white", markeredgewidth=0.9)


def _bare(axis: Any) -> None:
    axis.set(xlim=(-0.6, 10.6), ylim=(-0.6, 10.6), aspect="equal", xticks=(0, 5, 10), yticks=(0, 5, 10))
    axis.tick_params(labelsize=8, length=2)
