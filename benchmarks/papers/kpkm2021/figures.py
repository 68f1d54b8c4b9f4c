"""Figures 1, 3, 5 and 6, from what is stored."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ..pictures import COLOURS, pyplot, save
from ..results import Cells
from .reading import descents
from .runs import GREYS, PICTURED

SIDE = 28  # of a digit


def draw(cells: Cells, folder: Path) -> None:
    for part in (figure_one, figure_three, figure_five, figure_six):
        part(cells, folder)


def figure_one(cells: Cells, folder: Path) -> None:
    """Objective against iterations, and the lengths of the steps, of FAGP and AGP on Iris."""
    walks = {key.split(" | ")[1]: cell for key, cell in cells.items() if key.startswith("figure 1 | ")}
    if "FAGP" not in walks:
        return
    figure, axes = pyplot().subplots(1, 2, figsize=(9.6, 3.7))
    for colour, name in zip(COLOURS, ["FAGP", *sorted((name for name in walks if name != "FAGP"), reverse=True)], strict=False):
        cell = walks[name]
        words = name if name == "FAGP" else name.replace("AGP ", "AGP, step ")
        axes[0].plot(np.array(cell["at"]) + 1, cell["objective"], color=colour, label=f"{words} ({cell['iterations']:,})", linewidth=1.6)
        if name == "FAGP":
            axes[1].plot(np.arange(1, len(cell["lengths"]) + 1), cell["lengths"], ".", color=colour, markersize=4)
        else:
            axes[1].axhline(float(name.split()[1]), color=colour, linewidth=1, linestyle="--")
    axes[0].set(xscale="log", xlabel="iteration", ylabel="objective", title="Iris: objective")
    axes[0].legend(fontsize=8.5, frameon=False, loc="lower left")
    axes[1].set(yscale="log", xlabel="iteration", ylabel="length", title="Iris: steps of FAGP (dashed: of AGP)")
    figure.tight_layout()
    save(figure, folder, "kpkm2021-steps")


def figure_three(cells: Cells, folder: Path) -> None:
    if "figure 3" not in cells:
        return
    from sklearn.metrics import adjusted_rand_score

    cell = cells["figure 3"]
    x, y = np.array(cell["x"]) / 100, np.array(list(cell["classes"]), int)
    panels = {"classes": y}
    panels |= {name: np.array(list(cell[key]), int) for name, key in ((f"RBF, gamma = {cell['gamma']:g}", "RBF"), ("linear", "linear"))}
    figure, axes = pyplot().subplots(1, 3, figsize=(9.6, 3.5))
    for axis, (title, labels) in zip(axes, panels.items(), strict=True):
        own = labels if (labels == y).mean() >= 0.5 else 1 - labels
        axis.scatter(x, np.array(cell["y"]) / 100, s=9, c=np.array(COLOURS)[own], linewidths=0)
        axis.set(aspect="equal", xticks=(), yticks=(), title=f"{title}\nARI {adjusted_rand_score(y, labels):.2f}")
    figure.tight_layout()
    save(figure, folder, "kpkm2021-ring")


def figure_five(cells: Cells, folder: Path) -> None:
    """The mean image of each cluster of digits, ordered by the digit that leads in it."""
    kinds = {name: cells[f"figure 5 | {name}"] for name in PICTURED if f"figure 5 | {name}" in cells}
    if not kinds:
        return
    figure, axes = pyplot().subplots(len(kinds), 10, figsize=(9.6, 1.07 * len(kinds)), squeeze=False)
    for line, (title, cell) in zip(axes, kinds.items(), strict=True):
        for axis in line:
            axis.axis("off")
        for axis, image, lead, most, rows in zip(line, cell["images"], cell["leads"], cell["most"], cell["rows"], strict=False):
            axis.imshow(_grey(image), cmap="gray_r", vmin=0, vmax=len(GREYS) - 1)
            axis.set_title(f"{lead}: {most} of {rows}", fontsize=7.5, pad=2)
        caption = f"{title}\n{len(cell['images'])} clusters\n{len(set(cell['leads']))} digits\nNMI {cell['nmi']:.2f}"
        line[0].text(-0.15, 0.5, caption, transform=line[0].transAxes, ha="right", va="center", fontsize=8)
    save(figure, folder, "kpkm2021-digits")


def figure_six(cells: Cells, folder: Path) -> None:
    """Descent from one start on the ten sets."""
    kinds = descents(cells)
    if not kinds:
        return
    figure, axes = pyplot().subplots(2, 5, figsize=(10.6, 4.6))
    for axis in axes.ravel():
        axis.axis("off")
    for axis, (name, cell) in zip(axes.ravel(), kinds.items(), strict=False):
        axis.axis("on")
        axis.plot(cell["at"], cell["objective"], color=COLOURS[0], linewidth=1.5)
        axis.set_title(name if cell["solver"] == "fagp" else f"{name} ({cell['solver']})", fontsize=10)
        axis.tick_params(labelsize=7.5)
        axis.locator_params(nbins=4)
    figure.supxlabel("step", fontsize=10)
    figure.supylabel("objective", fontsize=10)
    figure.tight_layout()
    save(figure, folder, "kpkm2021-descent")


def _grey(image: str) -> np.ndarray:
    return np.array([GREYS.index(letter) for letter in image]).reshape(SIDE, SIDE)
