"""The parts of the page that show iterations and times."""

from __future__ import annotations

import numpy as np

from ..markdown import page as joined
from ..markdown import seconds, table
from ..results import Cells
from . import printed
from .reading import MISSING, compared, dense_cells, dense_share, listed, mean, same_end, share, steps_of
from .times import ON_COVERTYPE

CPU = "All seconds are processor seconds of one thread."


def percent(value: float) -> str:
    return f"{value:.0f}%" if value >= 10 else f"{value:.1f}%"


def compared_part(cells: Cells) -> str:
    low, high = printed.SHARE
    head = f"""
## Tables 6 and 7: FAGP against AGP

The paper: FAGP takes {low:.2f} to {high:.2f}% of AGP's time on {printed.COMPARED} sets, less than {printed.SHORT_SHARE:g}% on
{listed([name.capitalize() for name in printed.SHORT])}, and fewer iterations. Its tables are not in the text at hand and AGP's step is not
given, so the step is varied here. {CPU}
"""
    return joined(head, _iterations(cells), _dense(cells), _thousand(cells))


def _iterations(cells: Cells) -> str:
    names, steps = compared(cells), steps_of(cells)
    if not names or not steps:
        return MISSING
    rows = []
    for name in names:
        size = cells[f"times | {name}"]
        vertex = size["rows"] * (size["classes"] - 1)
        row = [name, f"{size['rows']}, {size['classes']}", f"{vertex:,}", f"{mean(cells[f'times | {name} | FAGP']['iterations']):,.0f}"]
        for step in steps:
            cell, part = cells.get(f"times | {name} | AGP {step:g}"), share(cells, name, step)
            row += ["", ""] if cell is None or part is None else [f"{mean(cell['iterations']):,.0f}", percent(part)]
        rows.append(row)
    columns = [text for step in steps for text in (f"AGP, step {step:g}", "time")]
    starts = {step: max(len(cells.get(f"times | {name} | AGP {step:g}", {}).get("seconds", [])) for name in names) for step in steps}
    counted = listed([f"{count} (step {step:g})" for step, count in starts.items()])
    intro = f"""
Iterations in closed form, gamma = 1 / median, means of the starts: {counted}. "Time" is FAGP's as a share of AGP's, the median
of pairs from the same start:
"""
    return joined(intro, table(["", "n, c", "n (c - 1)", "FAGP", *columns], rows), _said_of_iterations(cells, names, steps))


def _said_of_iterations(cells: Cells, names: list[str], steps: list[float]) -> str:
    fewer = all_fewer(cells)
    same, runs = same_end(cells)
    text = "FAGP needs about n (c - 1) steps, one for each constraint; AGP as many more as its steps are small. "
    text += f"FAGP took fewer iterations in {fewer[0]} of {fewer[1]} pairs. {same} of {runs} runs of AGP ended in FAGP's partition."
    for step in steps:
        shares = [value for name in names if (value := share(cells, name, step)) is not None]
        if shares:
            text += f" With step {step:g} FAGP takes {percent(min(shares))} to {percent(max(shares))} of AGP's time."
    return text


def all_fewer(cells: Cells) -> tuple[int, int]:
    """Pairs from the same start in which FAGP takes fewer iterations, and all pairs."""
    pairs = []
    for name in compared(cells):
        for step in steps_of(cells):
            slow = cells.get(f"times | {name} | AGP {step:g}", {}).get("iterations", [])
            pairs += list(zip(cells[f"times | {name} | FAGP"]["iterations"], slow, strict=False))
    return sum(fast < slow for fast, slow in pairs), len(pairs)


def _dense(cells: Cells) -> str:
    found = dense_cells(cells)
    if not found:
        return ""
    rows = []
    for (n, step), cell in found.items():
        middle = {name: float(np.median(values)) for name, values in cell.items()}
        times = [seconds(middle[name]) for name in ("dense FAGP", "dense AGP")]
        gain = float(np.median(np.array(cell["dense FAGP"]) / np.array(cell["closed FAGP"])))
        row = [str(n), f"{step:g}", str(len(cell["FAGP"])), f"{middle['FAGP']:,.0f}", f"{middle['AGP']:,.0f}", *times]
        rows.append([*row, percent(dense_share(cell)), seconds(middle["closed FAGP"]), f"{gain:.1f}"])
    head = ["n", "AGP's step", "starts", "FAGP", "AGP", "FAGP, dense, s", "AGP, dense, s", "share", "FAGP, closed, s", "dense over closed"]
    same = [value for cell in found.values() for value in cell["same steps"]]
    apart = max(value for cell in found.values() for value in cell["apart"])
    level = f"differ by {apart:.0e} at most" if apart else "are equal to the last digit"
    shares = [dense_share(cell) for cell in found.values()]
    low, high = printed.SHARE
    inside = sum(low <= value <= high for value in shares)
    intro = """
With dense projectors as in the paper, AGP inverting in each iteration (the first n rows of Iris in a random order, c = 3; medians of the
starts):
"""
    text = f"""
Dense and closed form took the same number of steps in {sum(same)} of {len(same)} starts, and their P {level}. The
shares are {percent(min(shares))} to {percent(max(shares))}; {inside} of {len(shares)} lie within the printed {low:.2f} to {high:.2f}%.
The share depends on AGP's step, which the paper does not give: a small step makes it as small as one likes. No larger n was run with dense
matrices.
"""
    return joined(intro, table(head, rows), text)


def _thousand(cells: Cells) -> str:
    if "times | large" not in cells:
        return ""
    cell = {name: float(np.median(values)) for name, values in cells["times | large"].items()}
    steps, whole = cell["iterations"], cell["seconds"]
    updates = [cell[name] * steps / whole for name in ("written", "in place")]
    both = [(cell[name] + cell["direction"]) * steps / whole for name in ("written", "in place")]
    return f"""
{cell["rows"]:,.0f} digits in ten clusters: {steps:,.0f} steps in {seconds(whole)} s, {1e3 * whole / steps:.1f} ms a step. The dense
projector would have {cell["size"]:,.0f} x {cell["size"]:,.0f} entries, {8e-9 * cell["size"] ** 2:.1g} GB. One update of it takes
{seconds(cell["written"])} s as written and {seconds(cell["in place"])} s in place (BLAS), its product with the gradient
{seconds(cell["direction"])} s. At the same number of steps the dense form would take {both[0]:,.0f} times as long as the closed one as
written, {both[1]:,.0f} times with updates in place; the updates alone {updates[0]:,.0f} and {updates[1]:,.0f} times.
"""


def large_part(cells: Cells) -> str:
    size, unit = cells.get("times | covertype"), cells.get("times | covertype | KernelKMeans")
    if size is None or unit is None:
        return joined("## Large data", MISSING)
    rows = []
    for name in ON_COVERTYPE:
        cell = cells.get(f"times | covertype | {name}")
        if cell is not None:
            excess = ", ".join(f"{100 * (value / unit['objective'][0] - 1):+.1f}%" for value in cell["objective"])
            rows.append(
                [f"`{name}`" if "=" in name.split(",")[0] else name, excess, f"{mean(cell['seconds']) / unit['seconds'][0]:.1f} times"]
            )
    intro = f"""
## Large data

The paper says of large sets only that AGP takes too long. Rows of Covertype ({size["rows"]:,}, features to [0, 1], float32; RBF with gamma
= 1 / median, the same {size["landmarks"]} landmarks, c = {size["classes"]}) against the best of five k-means++ starts of
`KernelKMeans` ({seconds(unit["seconds"][0])} processor seconds of one thread):
"""
    batched = [
        value / unit["objective"][0] - 1
        for name in ON_COVERTYPE
        if name.startswith("batched")
        for value in cells.get(f"times | covertype | {name}", {}).get("objective", [])
    ]
    text = ""
    if batched and min(batched) > 0:
        text = "Undecided starts end higher here, whatever the quantile: where clusters are no well parted heaps take k-means++ starts."
    return joined(intro, table(["", "objective", "time"], rows), text)
