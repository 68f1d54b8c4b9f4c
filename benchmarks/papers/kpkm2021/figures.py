"""Figures 1, 3, 5 and 6, from what is stored."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score

from ..pictures import COLOURS, panels
from .reading import Reading
from .runs import GREYS

SIDE = 28  # of a digit


def figure_one(read: Reading) -> Any:
    """Objective against iterations, and the lengths of the steps, of FAGP and AGP on Iris."""
    walks = read.walks()
    if "FAGP" not in walks:
        return None
    figure, ((left, right),) = panels(1, 2, (9.6, 3.7))
    for colour, (name, cell) in zip(COLOURS, walks.items(), strict=False):
        words = name if name == "FAGP" else name.replace("AGP ", "AGP, step ")
        left.plot(
            np.array(cell["at"]) + 1,
            cell["objective"],
            color=colour,
            label=f"{words} ({cell['iterations']:,})",
            linewidth=1.6,
        )
        if name == "FAGP":
            right.plot(
                np.arange(1, len(cell["lengths"]) + 1),
                cell["lengths"],
                ".",
                color=colour,
                markersize=4,
            )
        else:
            right.axhline(float(name.split()[1]), color=colour, linewidth=1, linestyle="--")
    left.set(xscale="log", xlabel="iteration", ylabel="objective", title="Iris: objective")
    left.legend(fontsize=8.5, frameon=False, loc="lower left")
    right.set(
        yscale="log",
        xlabel="iteration",
        ylabel="length",
        title="Iris: steps of FAGP (dashed: of AGP)",
    )
    figure.tight_layout()
    return figure


def figure_three(read: Reading) -> Any:
    """Disc and ring by two kernels."""
    cell = read.cells.get("figure 3")
    if cell is None:
        return None
    x, y = np.array(cell["x"]) / 100, np.array(list(cell["classes"]), int)
    shown = {"classes": "classes", f"RBF, gamma = {cell['gamma']:g}": "RBF", "linear": "linear"}
    figure, (axes,) = panels(1, 3, (9.6, 3.5))
    for axis, (title, key) in zip(axes, shown.items(), strict=True):
        labels = np.array(list(cell[key]), int)
        own = labels if (labels == y).mean() >= 0.5 else 1 - labels
        axis.scatter(x, np.array(cell["y"]) / 100, s=9, c=np.array(COLOURS)[own], linewidths=0)
        axis.set(
            aspect="equal",
            xticks=(),
            yticks=(),
            title=f"{title}\nARI {adjusted_rand_score(y, labels):.2f}",
        )
    figure.tight_layout()
    return figure


def figure_five(read: Reading) -> Any:
    """The mean image of each cluster of digits, ordered by the digit that leads in it."""
    kinds = read.pictured()
    if not kinds:
        return None
    figure, axes = panels(len(kinds), 10, (9.6, 1.07 * len(kinds)))
    for line, (title, cell) in zip(axes, kinds.items(), strict=True):
        for axis in line:
            axis.axis("off")
        for axis, image, lead, most, rows in zip(
            line, cell["images"], cell["leads"], cell["most"], cell["rows"], strict=False
        ):
            grey = np.array([GREYS.index(letter) for letter in image]).reshape(SIDE, SIDE)
            axis.imshow(grey, cmap="gray_r", vmin=0, vmax=len(GREYS) - 1)
            axis.set_title(f"{lead}: {most} of {rows}", fontsize=7.5, pad=2)
        caption = (
            f"{title}\n{len(cell['images'])} clusters\n{len(set(cell['leads']))} digits\nNMI "
            f"{cell['nmi']:.2f}"
        )
        line[0].text(
            -0.15, 0.5, caption, transform=line[0].transAxes, ha="right", va="center", fontsize=8
        )
    return figure


def figure_six(read: Reading) -> Any:
    """Descent from one start on the ten sets."""
    kinds = read.descents()
    if not kinds:
        return None
    figure, axes = panels(2, 5, (10.6, 4.6))
    for axis in axes.ravel():
        axis.axis("off")
    for axis, (name, cell) in zip(axes.ravel(), kinds.items(), strict=False):
        axis.axis("on")
        axis.plot(cell["at"], cell["objective"], color=COLOURS[0], linewidth=1.5)
        axis.set_title(
            name if cell["solver"] == "fagp" else f"{name} ({cell['solver']})", fontsize=10
        )
        axis.tick_params(labelsize=7.5)
        axis.locator_params(nbins=4)
    figure.supxlabel("step", fontsize=10)
    figure.supylabel("objective", fontsize=10)
    figure.tight_layout()
    return figure


FIGURES = {"steps": figure_one, "ring": figure_three, "digits": figure_five, "descent": figure_six}
