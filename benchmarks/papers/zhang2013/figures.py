"""Figures, from the stored cells."""

from __future__ import annotations

from typing import Any

from ...markdown import mean, median
from ..pictures import HOLLOW, key_to, log_sizes, panels
from .extras import LOSS_SHARES, ORDERED, ORDERS, WAYS
from .reading import CHUNKS, WHOLE, Reading
from .runs import CASES, PRINTED_M, STREAMS, key_of

COLOURS = {"KPC": "#2ca02c", "stKFCM": "#1f77b4", "landmarks": "#d62728", "KFCM": "#555555"}
SMALL_PRINT = 8
DASHED = {"linestyle": "--", "linewidth": 1}

# ----------------------------------------------------------------------------------------- Table II


def table_figure(read: Reading) -> Any:
    """ARI above, seconds below, against the share of the rows in a chunk; printed values dashed and
    hollow."""
    figure, axes = panels(2, len(CHUNKS), (12.4, 6.0), sharex="col")
    for (upper, lower), name in zip(axes.T, CHUNKS, strict=True):
        for method in STREAMS:
            _curve(upper, read, name, PRINTED_M, method, "ari")
            _curve(lower, read, name, PRINTED_M, method, "seconds")
            printed = {share: cell for (who, share), cell in CHUNKS[name].items() if who == method}
            if printed:
                style = {"color": COLOURS[method], "markersize": 4, **DASHED, **HOLLOW}
                upper.plot(list(printed), [cell.ari for cell in printed.values()], **style)
                lower.plot(list(printed), [cell.seconds for cell in printed.values()], **style)
            if name == "MNIST":
                _curve(upper, read, "MNIST, normalised", "auto", method, "ari", linestyle=":")
        _whole(upper, lower, read, name)
        upper.set_title(f"{name}, m = {PRINTED_M:g}")
        if name == "MNIST":
            upper.text(
                0.04,
                0.96,
                "dotted: kernel\nnormalised, m auto",
                transform=upper.transAxes,
                va="top",
                fontsize=SMALL_PRINT,
            )
        lower.set_yscale("log")
        shares = CASES[name].shares[:: 2 if len(CASES[name].shares) > 6 else 1]
        log_sizes(lower, shares, [f"{share:g}%" for share in shares], "chunk", fontsize=SMALL_PRINT)
        for axis in (upper, lower):
            axis.tick_params(axis="y", labelsize=SMALL_PRINT)
    axes[0, 0].set_ylabel("ARI")
    axes[1, 0].set_ylabel("seconds (ours: CPU)")
    names = {
        "KFCM": "all rows: KFCM (Forest: akFCM)",
        "KPC": "KPC",
        "stKFCM": "stKFCM",
        "landmarks": "landmark stream",
    }
    entries = [
        {"color": COLOURS[who], "marker": "" if who == "KFCM" else "o", "label": text}
        for who, text in names.items()
    ]
    entries.append({"color": "black", "linestyle": "--", "label": "as printed", **HOLLOW})
    key_to(figure, entries, 6, loc="lower center", fontsize=9)
    figure.tight_layout(rect=(0, 0.06, 1, 1))
    return figure


def _curve(
    axis: Any, read: Reading, name: str, m: str | float, method: str, field: str, **style: Any
) -> None:
    keys = {share: key_of(name, m, method, share) for share in CASES[name].shares}
    there = {share: key for share, key in keys.items() if key in read.cells}
    if there:
        middle = [
            median(read.seconds_of(key)) if field == "seconds" else mean(read.cells[key][field])
            for key in there.values()
        ]
        wide = (
            {"linewidth": 4, "markersize": 7, "alpha": 0.45}
            if method == "stKFCM"
            else {"linewidth": 1.6, "markersize": 4}
        )
        # the landmark stream often lies upon stKFCM
        axis.plot(list(there), middle, color=COLOURS[method], marker="o", **wide, **style)


def _whole(upper: Any, lower: Any, read: Reading, name: str) -> None:
    printed = WHOLE[name]
    upper.axhline(printed.ari, color=COLOURS["KFCM"], **DASHED)
    if printed.seconds is not None:
        lower.axhline(printed.seconds, color=COLOURS["KFCM"], **DASHED)
    key = next(iter(read.wholes(name).values()), None)
    if key is not None:
        upper.axhline(mean(read.cells[key]["ari"]), color=COLOURS["KFCM"], linewidth=1.6)
        lower.axhline(median(read.seconds_of(key)), color=COLOURS["KFCM"], linewidth=1.6)


# -------------------------------------------------------------------------------------------- order


def order_figure(read: Reading) -> Any:
    """Worst loss against chunk size, and ARI of random and sorted orders."""
    share = 5
    figure, ((first, *others),) = panels(
        1, 1 + len(ORDERED), (12.4, 3.7), width_ratios=[1.25, 1, 1, 1], layout="constrained"
    )
    for colour, name in zip(("#1f77b4", "#ff7f0e", "#2ca02c"), ORDERED, strict=True):
        for order, line in zip(ORDERS, ("-", "--"), strict=True):
            losses = [
                read.values(f"order | {name} | {order} | {size:g}% | stKFCM, update", "loss")
                for size in LOSS_SHARES
            ]
            if all(losses):
                worst, label = (
                    [max(*loss, 1e-12) for loss in losses],
                    _stage(name) if line == "-" else None,
                )
                first.plot(
                    LOSS_SHARES, worst, line, color=colour, marker="o", markersize=4, label=label
                )
    first.set(
        yscale="log", ylabel="share of a squared norm lost, worst chunk", title="loss of stKFCM"
    )
    log_sizes(
        first, LOSS_SHARES, [f"{size:g}%" for size in LOSS_SHARES], "chunk", fontsize=SMALL_PRINT
    )
    first.yaxis.label.set_size(9)
    first.tick_params(axis="y", labelsize=SMALL_PRINT)
    first.set_ylim(1e-12, 1e6)  # room for the legend
    first.set_yticks([10.0**power for power in range(-12, 1, 3)])
    first.set_yticks([], minor=True)
    if first.lines:
        first.legend(
            fontsize=SMALL_PRINT,
            frameon=False,
            loc="upper center",
            title="dashed: sorted by class",
            title_fontsize=SMALL_PRINT,
        )
    for axis, name in zip(others, ORDERED, strict=True):
        for place, way in enumerate(WAYS):
            for order in ORDERS:
                value = read.mean_of(f"order | {name} | {order} | {share:g}% | {way}")
                if value is not None:
                    face = "#d62728" if order == "random" else "white"
                    axis.plot(
                        value, -place, "o", color="#d62728", markerfacecolor=face, markersize=6
                    )
        axis.set_yticks(
            [-place for place in range(len(WAYS))],
            list(WAYS) if axis is others[0] else [],
            fontsize=SMALL_PRINT,
        )
        axis.set(xlim=(-0.03, 1.0), xlabel="ARI", title=_stage(name))
        axis.title.set_size(10)
        axis.tick_params(axis="x", labelsize=SMALL_PRINT)
        axis.grid(axis="y", linewidth=0.4)
    others[0].text(
        0.04,
        0.63,
        "full: random order\nhollow: sorted",
        transform=others[0].transAxes,
        va="center",
        fontsize=SMALL_PRINT,
    )
    return figure


def _stage(name: str) -> str:
    return name.replace("10,000 of MNIST, normalised, m auto", "MNIST, normalised, m auto")


FIGURES = {"table": table_figure, "order": order_figure}
