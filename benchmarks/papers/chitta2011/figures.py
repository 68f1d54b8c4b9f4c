"""Figures of the page of Chitta et al. 2011, from the stored results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from .. import pictures
from ..results import Cells
from . import crescents, printed
from .problem import KERNELS
from .summary import METHODS, Case, all_cases, bounds, compared, excesses, numbers, reductions

COLOURS = {"approximate": "#1f77b4", "two_step": "#d62728", "full": "#555555"}
GROUPS = ("#2ca02c", "#ff7f0e")
BOUNDS = (
    ("lemma", "Lemma 2", "s-", "#2ca02c"),
    ("corollary", "Corollary 1", "^-", "#ff7f0e"),
    ("last", "Corollary 1, last form: C / m over the tail", ":", "#9467bd"),
)
BLUE, FAINT = "#1f3fd0", "#bbbbbb"


def draw(cells: Cells, folder: Path) -> None:
    if f"{crescents.KEY} | panels" in cells:
        _crescents(cells, folder)
    cases = [case for case in all_cases(cells) if case.cells]
    if cases:
        _curves(cases, folder, "reduction", "error reduction", printed.REDUCTION_AXES)
        _curves(cases, folder, "nmi", "NMI against the classes", printed.NMI_AXES)
    if any(numbers(compared(cells, kernel), m, "approximate", "ari") for kernel in KERNELS for m in compared(cells, kernel).cells):
        _agreement(cells, folder)
    if bounds(cells):
        _bounds(cells, folder)


# ------------------------------------------------------------------------------------------------------------------------- Figure 1


def _crescents(cells: Cells, folder: Path) -> None:
    cell = cells[f"{crescents.KEY} | panels"]
    points, sample = np.array(cell["points"]), np.array(cell["sample"])
    figure = pictures.pyplot().figure(figsize=(12.4, 4.6))
    grid = figure.add_gridspec(2, 4, hspace=0.42, wspace=0.14)
    first = figure.add_subplot(grid[:, 0])
    first.scatter(*points.T, s=6, color="#e08080", rasterized=True)
    first.scatter(*points[sample].T, s=22, color=BLUE)
    first.set_title(f"(a) {len(points)} points, {len(sample)} sampled", fontsize=9)
    axes, letters = [first], iter("bcdefg")
    for row, method in enumerate(METHODS):
        for column, step in enumerate(cell[method]):
            axis = figure.add_subplot(grid[row, column + 1])
            _panel(axis, points, sample, step, everything=method == "approximate" or column == len(cell[method]) - 1)
            sweeps = f"{step['sweeps']} sweep" + ("s" if step["sweeps"] > 1 else "")
            axis.set_title(f"({next(letters)}) {METHODS[method]}, {sweeps}", fontsize=9)
            axes.append(axis)
    for axis in axes:
        axis.set(xlim=(-3.2, 7), ylim=(-1.8, 3.8))
        axis.tick_params(labelsize=7)
    pictures.save(figure, folder, "chitta2011-crescents")


def _panel(axis: Any, points: Any, sample: Any, step: Any, *, everything: bool) -> None:
    labels, which = np.array(step["labels"]), np.arange(len(points)) if everything else sample
    if not everything:
        axis.scatter(*points.T, s=5, color=FAINT, rasterized=True)
    axis.scatter(*points[which].T, s=6 if everything else 16, color=[GROUPS[k] for k in labels[which]], rasterized=True)
    if everything:
        axis.scatter(*points[sample].T, s=14, facecolors="none", edgecolors=BLUE, linewidths=0.7)
    axis.scatter(*points[step["nearest"]].T, marker="x", s=70, color="black", linewidths=2)


# ------------------------------------------------------------------------------------------------------------------- Figures 3 and 4


def _curves(cases: list[Case], folder: Path, what: str, label: str, ends: dict[str, tuple[float, float]]) -> None:
    """A panel a data set: mean and spread of both contestants against the sample size, the full kernel, and the printed axis."""

    def values(case: Case, m: int | None, method: str) -> list[float]:
        return reductions(case, m, method) if what == "reduction" else numbers(case, m, method, what)

    figure, axes = pictures.pyplot().subplots(1, len(cases), figsize=(3.1 * len(cases), 3.5), squeeze=False, layout="constrained")
    for axis, case in zip(axes[0], cases, strict=True):
        axis.axhspan(*ends[case.name], color="#f0ead8", zorder=0)
        for method in METHODS:
            _spread(axis, {m: found for m in case.cells if (found := values(case, m, method))}, method)
        whole = values(case, None, "full")
        if whole:
            axis.axhline(float(np.mean(whole)), color=COLOURS["full"], linewidth=1.4, linestyle="--")
        axis.set_title(case.title, fontsize=9)
        _sizes(axis, list(case.cells))
        axis.tick_params(labelsize=8)
    axes[0, 0].set_ylabel(label)
    figure.legend(handles=_legend(), loc="outside lower center", ncols=4, fontsize=9, frameon=False)
    pictures.save(figure, folder, f"chitta2011-{what}")


def _spread(axis: Any, found: dict[int, list[float]], method: str) -> None:
    if found:
        middle, off = [float(np.mean(v)) for v in found.values()], [float(np.std(v)) for v in found.values()]
        axis.errorbar(list(found), middle, off, color=COLOURS[method], marker="o", markersize=4, linewidth=1.6, elinewidth=1, capsize=2)


def _sizes(axis: Any, sizes: list[int]) -> None:
    """A logarithmic axis of sample sizes."""
    axis.set(xscale="log", xlabel="sample size m")
    axis.set_xticks(sizes, [str(m) if m < 1000 else f"{m // 1000}k" for m in sizes])
    axis.set_xticks([], minor=True)


def _legend() -> list[Any]:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    lines = [Line2D([], [], color=COLOURS[method], marker="o", label=f"{text} kernel k-means") for method, text in METHODS.items()]
    lines.append(Line2D([], [], color=COLOURS["full"], linestyle="--", label="full kernel"))
    return [*lines, Patch(color="#f0ead8", label="what the printed axis spans")]


# ------------------------------------------------------------------------------------------------------------------- Tables 2 and 3


def _agreement(cells: Cells, folder: Path) -> None:
    """ARI against the full kernel's partition, ours and printed."""
    figure, axes = pictures.pyplot().subplots(1, 2, figsize=(9.4, 3.7), sharey=True, layout="constrained")
    for axis, kernel in zip(axes, KERNELS, strict=True):
        case = compared(cells, kernel)
        for method in METHODS:
            _spread(axis, {m: found for m in case.cells if (found := numbers(case, m, method, "ari"))}, method)
            rows = {row.m: getattr(row, f"ari_{method}") for row in reversed(printed.TABLES[kernel])}
            style = {"color": COLOURS[method], "linestyle": "--", "linewidth": 1, "marker": "o", "markersize": 4}
            axis.plot(list(rows), [value[0] for value in rows.values()], markerfacecolor="white", **style)
        axis.set_title(f"{kernel} kernel", fontsize=10)
        _sizes(axis, [row.m for row in printed.TABLES[kernel]])
        axis.set_ylim(0, 1.02)
    axes[0].set_ylabel("ARI against the full kernel's partition")
    handles = _legend()[:2]
    from matplotlib.lines import Line2D

    handles.append(Line2D([], [], color="black", linestyle="--", marker="o", markerfacecolor="white", label="as printed"))
    figure.legend(handles=handles, loc="outside lower center", ncols=3, fontsize=9, frameon=False)
    pictures.save(figure, folder, "chitta2011-ari")


# --------------------------------------------------------------------------------------------------------------------------- bounds


def _bounds(cells: Cells, folder: Path) -> None:
    """Relative excess of a fixed partition's error: measured, and by the two bounds."""
    found = bounds(cells)
    figure, axes = pictures.pyplot().subplots(
        1, len(found), figsize=(4.7 * len(found), 3.7), squeeze=False, sharey=True, layout="constrained"
    )
    for axis, (kernel, cell) in zip(axes[0], found.items(), strict=True):
        every = excesses(cell)
        some = [one for one in every if not one.is_nothing]
        off = [[one.mean - min(one.draws) for one in some], [max(one.draws) - one.mean for one in some]]
        style = {"color": COLOURS["approximate"], "marker": "o", "markersize": 4, "capsize": 2, "label": "measured"}
        axis.errorbar([one.m for one in some], [one.mean for one in some], off, **style)
        for name, label, mark, colour in BOUNDS:
            axis.plot(cell["sizes"], [getattr(one, name) for one in every], mark, color=colour, markersize=4, label=label)
        axis.set_yscale("log")
        _sizes(axis, cell["sizes"])
        axis.set_title(f"{kernel} kernel, {cell['rows']:,} rows", fontsize=10)
    axes[0, 0].set_ylabel("E L(U, ξ) / L(U, 1) - 1")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=4, fontsize=9, frameon=False)
    pictures.save(figure, folder, "chitta2011-bound")
