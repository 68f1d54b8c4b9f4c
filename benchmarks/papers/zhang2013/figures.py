"""Figures, from the stored cells."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ..pictures import pyplot, save
from ..results import Cells
from .extras import LOSS_SHARES, ORDERED, ORDERS, WAYS
from .printed import CHUNKS, WHOLE
from .runs import CASES, PRINTED_M, STREAMS, key_of
from .tables import seconds_of, whole_methods

COLOURS = {"KPC": "#2ca02c", "stKFCM": "#1f77b4", "landmarks": "#d62728", "KFCM": "#555555"}
SMALL_PRINT = 8


def draw(cells: Cells, folder: Path) -> None:
    table_figure(cells, folder)
    order_figure(cells, folder)


# -------------------------------------------------------------------------------------------------------------------------- Table II


def table_figure(cells: Cells, folder: Path) -> None:
    """ARI above, seconds below, against the share of the rows in a chunk; printed values dashed and hollow."""
    plt = pyplot()
    figure, axes = plt.subplots(2, len(CHUNKS), figsize=(12.4, 6.0), sharex="col")
    for column, name in enumerate(CHUNKS):
        upper, lower = axes[:, column]
        for method in STREAMS:
            _curve(upper, cells, name, PRINTED_M, method, "ari")
            _curve(lower, cells, name, PRINTED_M, method, "seconds")
            _printed(upper, lower, name, method)
            if name == "MNIST":
                _curve(upper, cells, "MNIST, normalised", "auto", method, "ari", linestyle=":")
        _whole(upper, lower, cells, name)
        upper.set_title(f"{name}, m = {PRINTED_M:g}")
        if name == "MNIST":
            upper.text(0.04, 0.96, "dotted: kernel\nnormalised, m auto", transform=upper.transAxes, va="top", fontsize=SMALL_PRINT)
        lower.set(xscale="log", yscale="log")
        shares = CASES[name].shares[:: 2 if len(CASES[name].shares) > 6 else 1]
        lower.set_xticks(shares, [f"{share:g}%" for share in shares], fontsize=SMALL_PRINT)
        lower.set_xticks([], minor=True)
        lower.set_xlabel("chunk")
        for axis in (upper, lower):
            axis.tick_params(axis="y", labelsize=SMALL_PRINT)
    axes[0, 0].set_ylabel("ARI")
    axes[1, 0].set_ylabel("seconds (ours: CPU)")
    figure.legend(handles=_legend(), loc="lower center", ncols=6, fontsize=9, frameon=False)
    figure.tight_layout(rect=(0, 0.06, 1, 1))
    save(figure, folder, "zhang2013-table")


def _curve(axis: Any, cells: Cells, name: str, m: str | float, method: str, field: str, **style: Any) -> None:
    keys = {share: key_of(name, m, method, share) for share in CASES[name].shares}
    there = {share: key for share, key in keys.items() if key in cells}
    found = {share: seconds_of(cells, key) if field == "seconds" else cells[key][field] for share, key in there.items()}
    if not found:
        return
    middle = [float(np.median(values) if field == "seconds" else np.mean(values)) for values in found.values()]
    wide = {"linewidth": 4, "markersize": 7, "alpha": 0.45} if method == "stKFCM" else {"linewidth": 1.6, "markersize": 4}
    axis.plot(list(found), middle, color=COLOURS[method], marker="o", **wide, **style)  # the landmark stream often lies upon stKFCM


def _printed(upper: Any, lower: Any, name: str, method: str) -> None:
    cells = {share: cell for (who, share), cell in CHUNKS[name].items() if who == method}
    if cells:
        style = {"color": COLOURS[method], "linestyle": "--", "linewidth": 1, "marker": "o", "markersize": 4, "markerfacecolor": "white"}
        upper.plot(list(cells), [cell.ari for cell in cells.values()], **style)
        lower.plot(list(cells), [cell.seconds for cell in cells.values()], **style)


def _whole(upper: Any, lower: Any, cells: Cells, name: str) -> None:
    printed = WHOLE[name]
    upper.axhline(printed.ari, color=COLOURS["KFCM"], linestyle="--", linewidth=1)
    if printed.seconds is not None:
        lower.axhline(printed.seconds, color=COLOURS["KFCM"], linestyle="--", linewidth=1)
    keys = [key_of(name, PRINTED_M, method, None) for method in whole_methods(name)]
    key = next((key for key in keys if key in cells), None)
    if key is not None:
        upper.axhline(float(np.mean(cells[key]["ari"])), color=COLOURS["KFCM"], linewidth=1.6)
        lower.axhline(float(np.median(seconds_of(cells, key))), color=COLOURS["KFCM"], linewidth=1.6)


def _legend() -> list[Any]:
    from matplotlib.lines import Line2D

    names = {"KFCM": "all rows: KFCM (Forest: akFCM)", "KPC": "KPC", "stKFCM": "stKFCM", "landmarks": "landmark stream"}
    lines = [Line2D([], [], color=COLOURS[method], marker="" if method == "KFCM" else "o", label=text) for method, text in names.items()]
    return [*lines, Line2D([], [], color="black", linestyle="--", marker="o", markerfacecolor="white", label="as printed")]


# ------------------------------------------------------------------------------------------------------------------------- order


def order_figure(cells: Cells, folder: Path) -> None:
    """Worst loss against chunk size, and ARI of random and sorted orders."""
    plt = pyplot()
    share = 5
    figure, axes = plt.subplots(1, 1 + len(ORDERED), figsize=(12.4, 3.7), width_ratios=[1.25, 1, 1, 1], layout="constrained")
    first = axes[0]
    for colour, name in zip(("#1f77b4", "#ff7f0e", "#2ca02c"), ORDERED, strict=True):
        for order, line in zip(ORDERS, ("-", "--"), strict=True):
            keys = [f"order | {name} | {order} | {size:g}% | stKFCM, update" for size in LOSS_SHARES]
            if all(key in cells for key in keys):
                losses = [max(*cells[key]["loss"], 1e-12) for key in keys]
                first.plot(LOSS_SHARES, losses, line, color=colour, marker="o", markersize=4, label=_stage(name) if line == "-" else None)
    first.set(xscale="log", yscale="log", xlabel="chunk", ylabel="share of a squared norm lost, worst chunk", title="loss of stKFCM")
    first.set_xticks(LOSS_SHARES, [f"{size:g}%" for size in LOSS_SHARES], fontsize=SMALL_PRINT)
    first.set_xticks([], minor=True)
    first.yaxis.label.set_size(9)
    first.tick_params(axis="y", labelsize=SMALL_PRINT)
    first.set_ylim(1e-12, 1e6)  # room for the legend
    first.set_yticks([10.0**power for power in range(-12, 1, 3)])
    first.set_yticks([], minor=True)
    if first.lines:
        first.legend(fontsize=SMALL_PRINT, frameon=False, loc="upper center", title="dashed: sorted by class", title_fontsize=SMALL_PRINT)
    for axis, name in zip(axes[1:], ORDERED, strict=True):
        for place, way in enumerate(WAYS):
            for order in ORDERS:
                cell = cells.get(f"order | {name} | {order} | {share:g}% | {way}")
                if cell is not None:
                    face = "#d62728" if order == "random" else "white"
                    axis.plot(float(np.mean(cell["ari"])), -place, "o", color="#d62728", markerfacecolor=face, markersize=6)
        axis.set_yticks([-place for place in range(len(WAYS))], list(WAYS) if axis is axes[1] else [], fontsize=SMALL_PRINT)
        axis.set(xlim=(-0.03, 1.0), xlabel="ARI", title=_stage(name))
        axis.title.set_size(10)
        axis.tick_params(axis="x", labelsize=SMALL_PRINT)
        axis.grid(axis="y", linewidth=0.4)
    axes[1].text(0.04, 0.63, "full: random order\nhollow: sorted", transform=axes[1].transAxes, va="center", fontsize=SMALL_PRINT)
    save(figure, folder, "zhang2013-order")


def _stage(name: str) -> str:
    return name.replace("10,000 of MNIST, normalised, m auto", "MNIST, normalised, m auto")
