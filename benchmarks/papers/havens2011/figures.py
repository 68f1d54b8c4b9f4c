"""Figures 2-5, and the purities of Table II."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from ...markdown import mean
from ..pictures import COLOURS, key_to, log_sizes, panels, reach
from ..results import key
from .fits import ALGORITHMS, AUTO, PRINTED
from .reading import PLOTS, Reading
from .settings import KERNELS, SIZES

OTHERS = {PRINTED: "exponent as printed", AUTO: "m auto"}


def figure(number: int, read: Reading) -> Any:
    """Speedup, relative purity and per cent error against the sample size: means, least and
    largest."""
    name, algorithm = PLOTS[number]
    found = {which: pairs for which in read.drawn(name) if (pairs := read.pairs(which, algorithm))}
    if not found:
        return None
    made, ((speedup, purity, error),) = panels(1, 3, (12.6, 3.7))
    for colour, which in zip(COLOURS, read.drawn(name), strict=False):
        if which not in found:
            continue
        pairs, label = found[which], f"{read.name_of(which)}, m = 2"
        x = [pair.s for pair in pairs]
        _bars(
            speedup,
            x,
            [pair.speedup for pair in pairs],
            colour,
            label=f"{read.name_of(which)}, with the kernel",
        )
        if all(pair.sweeps_speedup for pair in pairs):
            style = {
                "label": "without it, as in the paper",
                "linestyle": "--",
                "markerfacecolor": "white",
            }
            _bars(speedup, x, [pair.sweeps_speedup for pair in pairs], colour, **style)
        _bars(purity, x, [pair.purity for pair in pairs], colour, label=label)
        _bars(error, x, [pair.error for pair in pairs], colour, label=label)
    for colour, (variant, words) in zip(COLOURS[3:], OTHERS.items(), strict=False):
        pairs = read.pairs(name, algorithm, variant)
        style = {"color": colour, "marker": "s", "markersize": 3.5, "linewidth": 1, "label": words}
        if pairs:
            purity.plot([pair.s for pair in pairs], [mean(pair.purity) for pair in pairs], **style)
            error.plot([pair.s for pair in pairs], [mean(pair.error) for pair in pairs], **style)
    speedup.set(yscale="log", ylabel="speedup")
    ticker = import_module("matplotlib.ticker")
    for of in (speedup.yaxis.set_major_formatter, speedup.yaxis.set_minor_formatter):
        of(ticker.LogFormatter(minor_thresholds=(1.5, 0.5)))
    purity.set_ylabel("relative purity")
    error.set_ylabel("per cent error of E")
    ticks = _apart(sorted({pair.s for pairs in found.values() for pair in pairs}))
    for axis, level in ((speedup, 1), (purity, 0), (error, 0)):
        log_sizes(axis, ticks, [f"{tick:,}" for tick in ticks], "sample size s", fontsize=8)
        axis.grid(alpha=0.25)
        axis.axhline(level, color="grey", linewidth=0.8)
    for axis in (speedup, error):
        axis.legend(fontsize=7.5, frameon=False)
    made.suptitle(
        f"ak{algorithm} on {name.split(' ')[0]}: means, with the least and the largest of all runs",
        fontsize=11,
    )
    made.tight_layout()
    return made


def _apart(ticks: list[int]) -> list[int]:
    """Ticks that do not run into one another on a logarithmic axis."""
    kept: list[int] = []
    for tick in ticks:
        if not kept or tick >= 1.45 * kept[-1]:
            kept.append(tick)
    return kept


def _bars(axis: Any, x: list[int], values: list[list[float]], colour: str, **style: Any) -> None:
    axis.errorbar(
        x,
        *reach(values),
        color=colour,
        **{"marker": "o", "markersize": 4, "capsize": 3, "linewidth": 1.4, **style},
    )


def purities(read: Reading) -> Any:
    """Every run of Table II as a dot, the printed mean as a diamond: the exponent as printed."""
    if not read.has_table():
        return None
    made, axes = panels(2, 3, (12.0, 6.0), sharey="row")
    for row, name in zip(axes, SIZES, strict=True):
        for axis, kernel in zip(row, KERNELS, strict=True):
            for colour, shift, algorithm in zip(COLOURS, (-0.13, 0.13), ALGORITHMS, strict=False):
                for place, (s, (_, printed)) in enumerate(
                    zip(SIZES[name], read.printed(name, kernel, algorithm), strict=True)
                ):
                    cell = read.cells.get(key("II", name, kernel, s, algorithm, PRINTED))
                    if cell:
                        jitter = np.linspace(-0.07, 0.07, len(cell["purity"]))
                        axis.scatter(
                            place + shift + jitter,
                            cell["purity"],
                            s=14,
                            color=colour,
                            alpha=0.55,
                            linewidths=0,
                        )
                        level = [mean(cell["purity"])] * 2
                        axis.plot(
                            [place + shift - 0.11, place + shift + 0.11],
                            level,
                            color=colour,
                            linewidth=2,
                        )
                    axis.plot(
                        place + shift,
                        printed,
                        marker="D",
                        markersize=6,
                        color="black",
                        markerfacecolor="none",
                    )
            axis.set_xticks(range(3), [f"s = {s}" for s in SIZES[name]])
            axis.set_title(f"{name}, {kernel}", fontsize=10)
            axis.grid(axis="y", alpha=0.25)
        row[0].set_ylabel("purity")
    runs = zip(COLOURS, ALGORITHMS, strict=False)
    entries = [
        {"color": colour, "marker": "o", "linewidth": 2, "label": f"ak{who}: runs and mean"}
        for colour, who in runs
    ]
    entries.append(
        {
            "color": "black",
            "marker": "D",
            "markerfacecolor": "none",
            "linestyle": "",
            "label": "printed",
        }
    )
    key_to(made, entries, 3, loc="lower center")
    made.tight_layout(rect=(0, 0.05, 1, 1))
    return made


FIGURES = {**{f"figure{number}": partial(figure, number) for number in PLOTS}, "table2": purities}
