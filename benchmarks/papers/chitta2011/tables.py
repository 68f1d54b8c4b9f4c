"""The tables of the page of Chitta et al. 2011: printed, ours, and how far they are apart."""

from __future__ import annotations

import numpy as np

from ..markdown import seconds as in_seconds
from ..markdown import short, signed, spread, table
from ..results import Cells, mean
from . import large, printed, pyramids, runs
from .summary import METHODS, Case, bounds, compared, excesses, mnist, numbers, reductions, small

NOTHING = "*(not measured)*"


def said(values: list[float], digits: int = 2) -> str:
    return spread(values, digits) if values else NOTHING


def seconds(values: list[float]) -> str:
    return in_seconds(float(np.mean(values))) if values else NOTHING


def as_printed(value: printed.Printed | None, digits: int = 2) -> str:
    if value is None:
        return "not printed"
    return short(value[0], digits) + ("" if value[1] is None else f" ± {short(value[1], digits)}")


def printed_seconds(value: printed.Printed | float) -> str:
    return in_seconds(value if isinstance(value, float) else value[0])


def pair(left: str, right: str) -> str:
    """Printed, then ours."""
    return f"{left} / {right}"


# ------------------------------------------------------------------------------------------------------------------- Tables 2 and 3


def agreement(cells: Cells, kernel: str) -> str:
    """ARI against the full kernel's partition."""
    case, rows = compared(cells, kernel), []
    for row in printed.TABLES[kernel]:
        line = [f"{row.m:,}"]
        for method in METHODS:
            ours, theirs = numbers(case, row.m, method, "ari"), getattr(row, f"ari_{method}")
            line += [as_printed(theirs), said(ours), signed(np.mean(ours) - theirs[0], 2) if ours else ""]
        rows.append([*line, str(len(numbers(case, row.m, "approximate", "ari")) or "")])
    head = ["m", "approximate, printed", "ours", "difference", "two-step, printed", "ours", "difference", "runs"]
    return table(head, rows)


def times(cells: Cells, kernel: str) -> str:
    """Seconds, printed / ours, on all rows."""
    case, whole = mnist(cells, kernel, runs.ROWS), printed.FULL[kernel]
    full_kernel, full = numbers(case, None, "full", "kernel_seconds"), numbers(case, None, "full", "seconds")
    sweeps = numbers(case, None, "full", "sweeps")
    both = pair(printed_seconds(whole.clustering), seconds(full))
    rows = [["all", pair(printed_seconds(whole.kernel), seconds(full_kernel)), both, "", said(sweeps, 0), ""]]
    for row in printed.TABLES[kernel]:
        rows.append([f"{row.m:,}", *_times_of(case, row), *(said(numbers(case, row.m, method, "sweeps"), 0) for method in METHODS)])
    return table(["m", "kernel", "approximate (all: full)", "two-step", "sweeps, approximate (all: full)", "sweeps, two-step"], rows)


def _times_of(case: Case, row: printed.Row) -> list[str]:
    kernel = case.cells.get(row.m, {}).get("kernel_seconds", [])
    ours = [numbers(case, row.m, method, "seconds") for method in METHODS]
    theirs = [row.approximate, row.two_step]
    return [
        pair(printed_seconds(row.kernel), seconds(kernel)),
        *(pair(printed_seconds(a), seconds(b)) for a, b in zip(theirs, ours, strict=True)),
    ]


# ------------------------------------------------------------------------------------------------------------------- Figures 3 and 4


def quality(case: Case, sizes: tuple[int, ...]) -> str:
    """Error reduction and NMI of all contestants."""
    rows = []
    for m in sizes:
        line = [f"{m:,}"]
        for method in METHODS:
            line += [said(reductions(case, m, method), 3), said(numbers(case, m, method, "nmi"))]
        rows.append(line)
    if case.name != "large":
        rows.append(["all (full kernel)", said(reductions(case, None), 3), said(numbers(case, None, "full", "nmi")), "", ""])
    return table(["m", "error reduction, approximate", "NMI", "error reduction, two-step", "NMI"], rows)


def undivided(cells: Cells) -> str:
    rows = []
    for m in runs.UNDIVIDED_SIZES:
        cell, divided = cells.get(runs.key_of(runs.ROWS, "undivided", m), {}), mnist(cells, "polynomial", runs.ROWS)
        line = [f"{m:,}", said(cell.get("nmi", [])), said(cell.get("ari_classes", []))]
        rows.append([*line, *(said(numbers(divided, m, "approximate", what)) for what in ("nmi", "ari_classes"))])
    return table(["m", "as printed: NMI", "ARI against the classes", "divided: NMI", "ARI against the classes"], rows)


# ------------------------------------------------------------------------------------------------------------------- Tables 1 and 4


def small_imagenet(cells: Cells) -> str:
    case, whole = small(cells), printed.TABLE1_FULL
    full_kernel, full = numbers(case, None, "full", "kernel_seconds")[:1], numbers(case, None, "full", "seconds")
    rows = [
        [
            "all",
            pair(printed_seconds(whole.kernel), seconds(full_kernel)),
            pair(printed_seconds(whole.clustering), seconds(full)),
            "",
            "",
            "",
        ]
    ]
    for row in printed.TABLE1:
        line = [f"{row.m:,}", *_times_of(case, row)]
        for method in METHODS:
            theirs = getattr(row, f"ari_{method}")
            line.append(pair(short(theirs[0], 2), said(numbers(case, row.m, method, "ari"))))
        rows.append(line)
    return table(["m", "kernel, s", "approximate (all: full), s", "two-step, s", "ARI, approximate", "ARI, two-step"], rows)


def full_table(cells: Cells) -> str:
    rows = []
    for row in printed.TABLE4:
        for clusters in (20, 164):
            cell = cells.get(large.key_of(row.m, clusters), {})
            if clusters == 164 and clusters not in large.SIZES.get(row.m, ()):
                continue
            theirs = (row.kernel, row.approximate, row.two_step) if clusters == 20 else (None, None, None)
            ours = [cell.get(name) for name in ("kernel_seconds", "approximate_seconds", "two_step_seconds")]
            times = [
                pair("not printed" if a is None else printed_seconds(a), seconds([] if b is None else [b]))
                for a, b in zip(theirs, ours, strict=True)
            ]
            memory = [f"{cell[name]:.1f}" if cell.get(name) is not None else NOTHING for name in ("columns_gb", "peak_gb")]
            rows.append([f"{row.m:,}", str(clusters), *times, *memory])
    return table(["m", "clusters", "kernel, s", "approximate, s", "two-step, s", "K_B, GB", "peak memory, GB"], rows)


# ----------------------------------------------------------------------------------------------------------------------- the bounds


def bound_table(cells: Cells) -> str:
    rows = []
    for kernel, cell in bounds(cells).items():
        for one in excesses(cell):
            measured = f"{short(one.mean, 4)} ({short(min(one.draws), 4)} to {short(max(one.draws), 4)})"
            by = "" if one.is_nothing else short(one.by, 2)
            rows.append(
                [kernel, f"{one.m:,}", str(len(one.draws)), measured, *(short(v, 4) for v in (one.lemma, one.corollary, one.last)), by]
            )
    if not rows:
        return NOTHING
    head = ["kernel", "m", "draws", "measured: mean (least to largest)", "Lemma 2", "Corollary 1", "its last form", "Lemma 2 / measured"]
    return table(head, rows)


def pairs_of_full(cells: Cells, kernel: str) -> float | None:
    """How alike the full kernel's partitions from different starts are."""
    return mean(cells.get(runs.key_of(runs.ROWS, kernel, "full pairs"), {}).get("ari", []))


def runs_said(cells: Cells) -> str:
    """How many runs the means are over."""
    case = mnist(cells, "neural")
    counts = {m: len(numbers(case, m, "approximate", "seconds")) for m in case.cells}
    if not counts:
        return "over no runs yet"
    most = max(counts.values())
    fewer = [f"{count} at m = {m:,}" for m, count in counts.items() if count < most]
    return f"over {most} runs" + (
        f" ({', '.join(fewer)}, where the neural kernel's sample matrix takes minutes to factor)" if fewer else ""
    )


def pyramid_rows(cells: Cells) -> int:
    return int(cells.get(pyramids.key_of("rows"), {}).get("rows", pyramids.ROWS))
