"""Figures of the page of Chitta et al. 2011, from the stored results."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ..pictures import HOLLOW, key_to, log_sizes, panels, pyplot, reach
from . import crescents
from .problem import KERNELS
from .reading import AXES, METHODS, TABLES, Reading

COLOURS = {"approximate": "#1f77b4", "two_step": "#d62728", "full": "#555555"}
GROUPS = ("#2ca02c", "#ff7f0e")
BOUNDS = (
    ("lemma", "Lemma 2", "s-", "#2ca02c"),
    ("corollary", "Corollary 1", "^-", "#ff7f0e"),
    ("last", "Corollary 1, last form: C / m over the tail", ":", "#9467bd"),
)
BLUE, FAINT, BAND = "#1f3fd0", "#bbbbbb", "#f0ead8"
CONTESTANTS = [
    {"color": COLOURS[method], "marker": "o", "label": f"{text} kernel k-means"}
    for method, text in METHODS.items()
]
BELOW = {"loc": "outside lower center", "fontsize": 9}

# ----------------------------------------------------------------------------------------- Figure 1


def crescents_figure(read: Reading) -> Any:
    cell = read.cells.get(f"{crescents.KEY} | panels")
    if cell is None:
        return None
    points, sample = np.array(cell["points"]), np.array(cell["sample"])
    figure = pyplot().figure(figsize=(12.4, 4.6))
    grid = figure.add_gridspec(2, 4, hspace=0.42, wspace=0.14)
    first = figure.add_subplot(grid[:, 0])
    first.scatter(*points.T, s=6, color="#e08080", rasterized=True)
    first.scatter(*points[sample].T, s=22, color=BLUE)
    first.set_title(f"(a) {len(points)} points, {len(sample)} sampled", fontsize=9)
    axes, letters = [first], iter("bcdefg")
    for row, method in enumerate(METHODS):
        for column, step in enumerate(cell[method]):
            axis = figure.add_subplot(grid[row, column + 1])
            _panel(
                axis,
                points,
                sample,
                step,
                everything=method == "approximate" or column == len(cell[method]) - 1,
            )
            sweeps = f"{step['sweeps']} sweep" + ("s" if step["sweeps"] > 1 else "")
            axis.set_title(f"({next(letters)}) {METHODS[method]}, {sweeps}", fontsize=9)
            axes.append(axis)
    for axis in axes:
        axis.set(xlim=(-3.2, 7), ylim=(-1.8, 3.8))
        axis.tick_params(labelsize=7)
    return figure


def _panel(axis: Any, points: Any, sample: Any, step: Any, *, everything: bool) -> None:
    labels, which = np.array(step["labels"]), np.arange(len(points)) if everything else sample
    if not everything:
        axis.scatter(*points.T, s=5, color=FAINT, rasterized=True)
    axis.scatter(
        *points[which].T,
        s=6 if everything else 16,
        color=[GROUPS[k] for k in labels[which]],
        rasterized=True,
    )
    if everything:
        axis.scatter(*points[sample].T, s=14, facecolors="none", edgecolors=BLUE, linewidths=0.7)
    axis.scatter(*points[step["nearest"]].T, marker="x", s=70, color="black", linewidths=2)


# ---------------------------------------------------------------------------------- Figures 3 and 4


def curves(what: str, label: str, read: Reading) -> Any:
    """A panel a data set: mean and spread of both contestants against the sample size, the full
    kernel, and the printed axis."""
    cases = read.all_cases()
    if not cases:
        return None
    figure, (axes,) = panels(1, len(cases), (3.1 * len(cases), 3.5), layout="constrained")
    for axis, case in zip(axes, cases, strict=True):
        axis.axhspan(*AXES[what][case.name], color=BAND, zorder=0)
        for method in METHODS:
            _spread(
                axis,
                {m: found for m in case.cells if (found := case.numbers(m, method, what))},
                method,
            )
        whole = case.mean(None, "full", what)
        if whole is not None:
            axis.axhline(whole, color=COLOURS["full"], linewidth=1.4, linestyle="--")
        axis.set_title(case.title, fontsize=9)
        _sizes(axis, list(case.cells))
        axis.tick_params(labelsize=8)
    axes[0].set_ylabel(label)
    from matplotlib.patches import Patch

    full = {"color": COLOURS["full"], "linestyle": "--", "label": "full kernel"}
    key_to(
        figure,
        [*CONTESTANTS, full, Patch(color=BAND, label="what the printed axis spans")],
        4,
        **BELOW,
    )
    return figure


def _spread(axis: Any, found: dict[int, list[float]], method: str) -> None:
    if found:
        middle, off = (
            [float(np.mean(v)) for v in found.values()],
            [float(np.std(v)) for v in found.values()],
        )
        axis.errorbar(
            list(found),
            middle,
            off,
            color=COLOURS[method],
            marker="o",
            markersize=4,
            linewidth=1.6,
            elinewidth=1,
            capsize=2,
        )


def _sizes(axis: Any, sizes: list[int]) -> None:
    log_sizes(
        axis, sizes, [str(m) if m < 1000 else f"{m // 1000}k" for m in sizes], "sample size m"
    )


# ----------------------------------------------------------------------------------- Tables 2 and 3


def agreement(read: Reading) -> Any:
    """ARI against the full kernel's partition, ours and printed."""
    if not read.any_compared():
        return None
    figure, (axes,) = panels(1, 2, (9.4, 3.7), sharey=True, layout="constrained")
    for axis, kernel in zip(axes, KERNELS, strict=True):
        case, rows = read.compared(kernel), TABLES[kernel][::-1]
        for method in METHODS:
            _spread(
                axis,
                {m: found for m in case.cells if (found := case.numbers(m, method, "ari"))},
                method,
            )
            style = {
                "color": COLOURS[method],
                "linestyle": "--",
                "linewidth": 1,
                "markersize": 4,
                **HOLLOW,
            }
            axis.plot(
                [row["m"] for row in rows], [row[f"ari_{method}"][0] for row in rows], **style
            )
        axis.set_title(f"{kernel} kernel", fontsize=10)
        _sizes(axis, [row["m"] for row in TABLES[kernel]])
        axis.set_ylim(0, 1.02)
    axes[0].set_ylabel("ARI against the full kernel's partition")
    key_to(
        figure,
        [*CONTESTANTS, {"color": "black", "linestyle": "--", "label": "as printed", **HOLLOW}],
        3,
        **BELOW,
    )
    return figure


# ------------------------------------------------------------------------------------------- bounds


def bounds(read: Reading) -> Any:
    """Relative excess of a fixed partition's error: measured, and by the two bounds."""
    found = read.bounds()
    if not found:
        return None
    figure, (axes,) = panels(
        1, len(found), (4.7 * len(found), 3.7), sharey=True, layout="constrained"
    )
    for axis, (kernel, cell) in zip(axes, found.items(), strict=True):
        every, some = read.excesses(cell), read.larger(cell)
        style = {
            "color": COLOURS["approximate"],
            "marker": "o",
            "markersize": 4,
            "capsize": 2,
            "label": "measured",
        }
        axis.errorbar([one.m for one in some], *reach([one.draws for one in some]), **style)
        for name, label, mark, colour in BOUNDS:
            axis.plot(
                cell["sizes"],
                [getattr(one, name) for one in every],
                mark,
                color=colour,
                markersize=4,
                label=label,
            )
        axis.set_yscale("log")
        _sizes(axis, cell["sizes"])
        axis.set_title(f"{kernel} kernel, {cell['rows']:,} rows", fontsize=10)
    axes[0].set_ylabel("E L(U, ξ) / L(U, 1) - 1")
    figure.legend(*axes[0].get_legend_handles_labels(), ncols=4, frameon=False, **BELOW)
    return figure


FIGURES = {
    "crescents": crescents_figure,
    "reduction": partial(curves, "reduction", "error reduction"),
    "nmi": partial(curves, "nmi", "NMI against the classes"),
    "ari": agreement,
    "bound": bounds,
}
