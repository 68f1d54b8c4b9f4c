"""Figures, from the stored cells."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..pictures import COLOURS, log_sizes, panels
from .problems import PROBLEMS
from .reading import Reading
from .runs import METHODS, WAYS

SMALL_PRINT = 8
MARKERS = ("o", "s", "^", "D")


def samplings(read: Reading) -> Any:
    """The share that landmarks leave out, and the cost of the partition found with them, against
    their number."""
    figure, axes = panels(2, len(PROBLEMS), (12.4, 5.6), layout="constrained")
    for (upper, lower), (name, problem) in zip(axes.T, PROBLEMS.items(), strict=True):
        for method, colour in zip(METHODS, COLOURS, strict=False):
            keys = {size: f"sampling | {name} | {size} | {method}" for size in problem.sizes}
            _line(
                upper,
                {size: 100 * read.array(key, "residual") for size, key in keys.items()},
                colour,
                method,
            )
            _line(lower, {size: read.excess(key) for size, key in keys.items()}, colour, method)
        upper.set_title(name)
        if not any(
            f"sampling | {name} | {size} | {METHODS[0]}" in read.cells for size in problem.sizes
        ):
            _nothing(upper, lower)
            continue
        upper.set_yscale("log")
        low, high = upper.get_ylim()
        if high < 20 * low:  # powers of ten alone would be too few
            for which in (upper.yaxis.set_major_formatter, upper.yaxis.set_minor_formatter):
                which("{x:g}")
        for axis, label in ((upper, ""), (lower, "landmarks")):
            log_sizes(
                axis,
                problem.sizes,
                [str(size) for size in problem.sizes],
                label,
                fontsize=SMALL_PRINT,
            )
            axis.tick_params(axis="y", labelsize=SMALL_PRINT, which="both")
        lower.axhline(0, color="black", linewidth=0.8)
    axes[0, 0].set_ylabel("left out of the trace, %")
    axes[1, 0].set_ylabel("cost above exact, %")
    axes[0, 0].legend(fontsize=SMALL_PRINT, frameon=False)
    return figure


def _line(axis: Any, found: dict[int, np.ndarray], colour: str, label: str) -> None:
    """Means, and all draws faintly."""
    found = {size: numbers for size, numbers in found.items() if len(numbers)}
    for size, numbers in found.items():
        axis.plot(
            np.full(len(numbers), size),
            numbers,
            "o",
            color=colour,
            alpha=0.3,
            markersize=3,
            markeredgewidth=0,
        )
    axis.plot(
        list(found),
        [numbers.mean() for numbers in found.values()],
        color=colour,
        marker="o",
        markersize=4,
        label=label,
    )


def _nothing(*axes: Any) -> None:
    for axis in axes:
        axis.text(
            0.5,
            0.5,
            "not measured",
            ha="center",
            va="center",
            transform=axis.transAxes,
            color="grey",
        )
        axis.set(xticks=[], yticks=[])


def _plain(value: float, _: Any) -> str:
    """Ticks at 1, 2 and 5 of a decade, as plain numbers."""
    return f"{value:g}" if f"{value:.0e}"[0] in "125" else ""


def ensembles(read: Reading) -> Any:
    """Cost against processor time: what four small draws give, and one large one."""
    figure, (axes,) = panels(1, len(PROBLEMS), (12.4, 3.4), layout="constrained")
    for axis, name in zip(axes, PROBLEMS, strict=True):
        axis.set_title(name)
        there = read.keyed(f"ensemble | {name}", WAYS)
        if not there:
            _nothing(axis)
            continue
        for way, colour, marker in zip(WAYS, COLOURS, MARKERS, strict=False):
            key = f"ensemble | {name} | {way}"
            cost, busy = read.excess(key), read.array(key, "busy")
            if len(cost):
                axis.plot(
                    busy, cost, marker, color=colour, alpha=0.3, markersize=4, markeredgewidth=0
                )
                axis.plot(busy.mean(), cost.mean(), marker, color=colour, markersize=8, label=way)
        axis.set(xlabel="processor seconds", xscale="log")
        for which in (axis.xaxis.set_major_formatter, axis.xaxis.set_minor_formatter):
            which(_plain)
        axis.tick_params(labelsize=SMALL_PRINT, which="both")
        axis.axhline(0, color="black", linewidth=0.8)
    axes[0].set_ylabel("cost above exact, %")
    handles, labels = max(
        (axis.get_legend_handles_labels() for axis in axes), key=lambda pair: len(pair[0])
    )
    if handles:
        figure.legend(
            handles, labels, loc="outside lower center", ncols=len(WAYS), fontsize=9, frameon=False
        )
    return figure


FIGURES = {"samplings": samplings, "ensembles": ensembles}
