"""Figures 2-5, and the purities of Table II."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from ..pictures import COLOURS, pyplot, save
from ..results import Cells
from .compare import A3, MNIST, MNIST_ALL, all_pairs, line, name_of
from .fits import ALGORITHMS, AUTO, CORRECTED, FCM, PCM, PRINTED
from .printed import SIZES, TABLE
from .runs import table_key

FIGURES = {2: (A3, FCM), 3: (A3, PCM), 4: (MNIST, FCM), 5: (MNIST, PCM)}
OTHERS = {PRINTED: "exponent as printed", AUTO: "m auto"}


def draw(cells: Cells, folder: Path) -> None:
    for number, (name, algorithm) in FIGURES.items():
        if any(all_pairs(cells, which, algorithm) for which in drawn(name)):
            save(figure(cells, name, algorithm), folder, f"havens2011-figure{number}")
    if any(key.startswith("II |") for key in cells):
        save(purities(cells), folder, "havens2011-table2")


def drawn(name: str) -> tuple[str, ...]:
    return (MNIST, MNIST_ALL) if name == MNIST else (name,)


def figure(cells: Cells, name: str, algorithm: str) -> Any:
    """Speedup, relative purity and per cent error against the sample size: means, least and largest."""
    ticker = import_module("matplotlib.ticker")
    made, (speedup, purity, error) = pyplot().subplots(1, 3, figsize=(12.6, 3.7))
    for colour, which in zip(COLOURS, drawn(name), strict=False):
        found = all_pairs(cells, which, algorithm)
        if not found:
            continue
        label = f"{name_of(cells, which)}, m = 2"
        x = [pair.s for pair in found]
        _bars(speedup, x, [pair.speedup for pair in found], colour, f"{name_of(cells, which)}, with the kernel")
        if all(pair.sweeps_speedup for pair in found):
            _bars(speedup, x, [pair.sweeps_speedup for pair in found], colour, "without it, as in the paper", linestyle="--", hollow=True)
        _bars(purity, x, [pair.purity for pair in found], colour, label)
        _bars(error, x, [pair.error for pair in found], colour, label)
    for colour, (variant, words) in zip(COLOURS[3:], OTHERS.items(), strict=False):
        found = all_pairs(cells, name, algorithm, variant)
        style = {"color": colour, "marker": "s", "markersize": 3.5, "linewidth": 1, "label": words}
        if found:
            purity.plot([pair.s for pair in found], [np.mean(pair.purity) for pair in found], **style)
            error.plot([pair.s for pair in found], [np.mean(pair.error) for pair in found], **style)
    speedup.set(yscale="log", ylabel="speedup")
    for of in (speedup.yaxis.set_major_formatter, speedup.yaxis.set_minor_formatter):
        of(ticker.LogFormatter(minor_thresholds=(1.5, 0.5)))
    purity.set_ylabel("relative purity")
    error.set_ylabel("per cent error of E")
    ticks = sorted({pair.s for which in drawn(name) for pair in all_pairs(cells, which, algorithm)})
    for axis in (speedup, purity, error):
        axis.set(xscale="log", xlabel="sample size s")
        axis.set_xticks(_apart(ticks), [f"{tick:,}" for tick in _apart(ticks)], fontsize=8)
        axis.set_xticks([], minor=True)
        axis.grid(alpha=0.25)
    speedup.axhline(1, color="grey", linewidth=0.8)
    for axis in (purity, error):
        axis.axhline(0, color="grey", linewidth=0.8)
    for axis in (speedup, error):
        axis.legend(fontsize=7.5, frameon=False)
    made.suptitle(f"ak{algorithm} on {name.split(' ')[0]}: means, with the least and the largest of all runs", fontsize=11)
    made.tight_layout()
    return made


def _apart(ticks: list[int]) -> list[int]:
    """Ticks that do not run into one another on a logarithmic axis."""
    kept: list[int] = []
    for tick in ticks:
        if not kept or tick >= 1.45 * kept[-1]:
            kept.append(tick)
    return kept


def _bars(
    axis: Any, x: Sequence[int], values: Sequence[Sequence[float]], colour: str, label: str, *, linestyle: str = "-", hollow: bool = False
) -> None:
    mean = np.array([np.mean(of) for of in values])
    reach = np.abs([mean - [min(of) for of in values], [max(of) for of in values] - mean])
    face = "white" if hollow else colour
    axis.errorbar(
        x,
        mean,
        reach,
        color=colour,
        marker="o",
        markersize=4,
        markerfacecolor=face,
        capsize=3,
        linewidth=1.4,
        linestyle=linestyle,
        label=label,
    )


def purities(cells: Cells) -> Any:
    """Every run of Table II as a dot, the printed mean as a diamond: the exponent as printed."""
    made, axes = pyplot().subplots(2, 3, figsize=(12.0, 6.0), sharey="row")
    for row, name in enumerate(SIZES):
        for axis, kernel in zip(axes[row], ("polynomial", "RBF, sigma 1", "RBF, sigma 2"), strict=True):
            for colour, shift, algorithm in zip(COLOURS, (-0.13, 0.13), ALGORITHMS, strict=False):
                for place, s in enumerate(SIZES[name]):
                    cell = cells.get(table_key(name, kernel, s, algorithm, PRINTED))
                    if cell:
                        jitter = np.linspace(-0.07, 0.07, len(cell["purity"]))
                        axis.scatter(place + shift + jitter, cell["purity"], s=14, color=colour, alpha=0.55, linewidths=0)
                        mean = line(cells, name, kernel, s, algorithm).mean
                        axis.plot([place + shift - 0.11, place + shift + 0.11], [mean, mean], color=colour, linewidth=2)
                    printed = TABLE[name, kernel.partition(",")[0], algorithm][place][1]
                    axis.plot(place + shift, printed, marker="D", markersize=6, color="black", markerfacecolor="none")
            axis.set_xticks(range(3), [f"s = {s}" for s in SIZES[name]])
            axis.set_title(f"{name}, {kernel}", fontsize=10)
            axis.grid(axis="y", alpha=0.25)
        axes[row, 0].set_ylabel("purity")
    lines = pyplot().Line2D
    handles = [
        lines([], [], color=colour, marker="o", linewidth=2, label=f"ak{who}: runs and mean")
        for colour, who in zip(COLOURS, ALGORITHMS, strict=False)
    ]
    handles.append(lines([], [], color="black", marker="D", markerfacecolor="none", linestyle="", label="printed"))
    made.legend(handles=handles, loc="lower center", ncols=3, frameon=False)
    made.tight_layout(rect=(0, 0.05, 1, 1))
    return made


__all__ = ["CORRECTED", "FIGURES", "draw", "drawn"]
