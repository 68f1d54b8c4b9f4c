"""The tables of the page, from the stored cells."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from .. import markdown
from ..markdown import percent, short, signed, table
from ..results import Cells
from .extras import BASELINE_SHARES, BEGINNING_SHARES, BEGINNINGS, GAMMAS, LOSS_SHARES, ORDERED, ORDERS, SMALL, WAYS
from .printed import CHUNKS, WHOLE, Printed
from .runs import ALL_ROWS, CASES, ONLY_EXACT, PRINTED_M, STREAMS, chunk_rows, key_of

NOT_MEASURED = "*(not measured)*"


def mean(cells: Cells, key: str, field: str = "ari") -> float | None:
    return float(np.mean(cells[key][field])) if key in cells else None


def spread(cells: Cells, key: str, field: str = "ari") -> str:
    return markdown.spread(cells[key][field]) if key in cells else ""


def seconds(cells: Cells, key: str) -> str:
    return markdown.seconds(float(np.median(seconds_of(cells, key)))) if key in cells else ""


def seconds_of(cells: Cells, key: str) -> list[float]:
    """Processor seconds, of runs that took turns where there are such: other work on a machine disturbs them least."""
    apart = [f"times | {key}", f"times | {key.replace('| KFCM', f'| {ALL_ROWS}')}"]
    cell = next((cells[name] for name in apart if name in cells), cells[key])
    return cell.get("busy", cell["seconds"])


def whole_methods(name: str) -> list[str]:
    """What saw all rows at once: akFCM where KFCM takes long or too long."""
    return ["KFCM"] if CASES[name].small else ["akFCM"] if CASES[name].file == "covtype" else ["KFCM", "akFCM"]


def trials(cells: Cells, keys: Iterable[str]) -> str:
    counts = sorted({len(cells[key]["ari"]) for key in keys if key in cells})
    return (
        "no trial" if not counts else f"{counts[0]} trial{'s' if counts[0] > 1 else ''}" + (f" to {counts[-1]}" if len(counts) > 1 else "")
    )


def measured(head: list[str], rows: list[list[str]], labels: int) -> str:
    """The same without rows of which nothing has been measured."""
    there = [row for row in rows if any(row[labels:])]
    return table(head, there) if there else NOT_MEASURED


# --------------------------------------------------------------------------------------------------------------------------- tables


def printed_table(cells: Cells, name: str) -> str:
    """Table II of one data set."""
    head = ["chunk", "", "purity: printed", "ours", "ARI: printed", "ours", "difference", "seconds: printed", "ours, CPU"]
    rows = [
        _line(f"all {CASES[name].size[0]:,}", method, WHOLE[name], cells, key_of(name, PRINTED_M, method, None))
        for method in whole_methods(name)
    ]
    for share in CASES[name].shares:
        size = f"{percent(share)}, {chunk_rows(CASES[name], share):,}"
        for method in STREAMS:
            printed = CHUNKS[name].get((method, share))
            rows.append(_line(size if method == STREAMS[0] else "", method, printed, cells, key_of(name, PRINTED_M, method, share)))
    return table(head, rows)


def _line(first: str, method: str, printed: Printed | None, cells: Cells, key: str) -> list[str]:
    found = mean(cells, key)
    difference = "" if printed is None or found is None else signed(found - printed.ari)
    said = ["", "", ""]
    if printed is not None:
        said = [short(printed.purity, 2), short(printed.ari), "" if printed.seconds is None else f"{printed.seconds:g}"]
    ours = [spread(cells, key, "purity"), spread(cells, key), seconds(cells, key)] if key in cells else ["", _why_not(key), ""]
    return [first, method, said[0], ours[0], said[1], ours[1], difference, said[2], ours[2]]


def _why_not(key: str) -> str:
    """Why a row of a printed table has no number."""
    return "*(only with `--exact`)*" if key in ONLY_EXACT else NOT_MEASURED


def ari_table(cells: Cells, name: str, m: str | float, *, published: bool = False) -> str:
    head, rows = ["chunk", *STREAMS], []
    for share in CASES[name].shares:
        keys = [key_of(name, m, method, share, published=published) for method in STREAMS]
        rows.append([percent(share), *(spread(cells, key) for key in keys)])
    for method in whole_methods(name)[::-1]:
        whole = key_of(name, m, method, None, published=published)
        if whole in cells:
            rows.insert(0, [f"all rows, {method}", spread(cells, whole), "", ""])
    return measured(head, rows, 1)


def side_by_side(cells: Cells, names: Iterable[str], m: str | float, *, published: bool = False) -> str:
    """ARI of two data sets with the same chunks."""
    names = list(names)
    head = ["chunk", *(f"{name}: {method}" if i == 0 else method for name in names for i, method in enumerate(STREAMS))]
    rows = [["all rows, KFCM"]]
    for name in names:
        rows[0] += [spread(cells, key_of(name, m, "KFCM", None, published=published)), "", ""]
    for share in CASES[names[0]].shares:
        keys = [key_of(name, m, method, share, published=published) for name in names for method in STREAMS]
        rows.append([percent(share), *(spread(cells, key) for key in keys)])
    return measured(head, rows, 1)


def starts_table(cells: Cells) -> str:
    """What the start is worth."""
    head = ["", "chunk", "", *BEGINNINGS]
    rows = []
    for name in SMALL:
        for share in BEGINNING_SHARES:
            for method in ("stKFCM", "landmarks"):
                start = f"starts | {name} | {share:g}% | {method} | "
                rows.append([name, percent(share), method, *(spread(cells, start + way) for way in BEGINNINGS)])
    return measured(head, rows, 3)


def widths_table(cells: Cells) -> str:
    head = ["kernel", *(f"{name}: {method}" if i == 0 else method for name in SMALL for i, method in enumerate(("stKFCM", "landmarks")))]
    rows = []
    for text, gamma in GAMMAS.items():
        keys = [f"width | {name} | {gamma:g} | {method}" for name in SMALL for method in ("stKFCM", "landmarks")]
        rows.append([f"`{text}`".replace("|", "\\|"), *(spread(cells, key) for key in keys)])
    return measured(head, rows, 1)


def baselines_table(cells: Cells) -> str:
    methods = ("spFCM", "oFCM", "spKFCM", "oKFCM")
    head = ["", "chunk", *methods, *STREAMS]
    rows = []
    for name in SMALL:
        for share in BASELINE_SHARES:
            old = [spread(cells, f"single pass | {name} | {share:g}% | {method}") for method in methods]
            rows.append([name, percent(share), *old, *(spread(cells, key_of(name, PRINTED_M, method, share)) for method in STREAMS)])
    return table(head, rows)


def weights_table(cells: Cells) -> str:
    after = (1, 2, 3, 5, 10, 20, 50)
    head = ["weight of the past", *(f"after {n}" for n in after), "ARI at the end"]
    names = {"|q|": "1-norm of q, as printed", "u^m": "denominator of (9b)", "u": "sum of u"}
    rows = []
    for weight, text in names.items():
        cell = cells.get(f"weights | {weight}")
        if cell is not None:
            rows.append([text, *(_scaled(cell["share"][n - 1]) for n in after), short(cell["ari"][0])])
    return table(head, rows)


def _scaled(value: float) -> str:
    return short(value, 2) if value < 100 else f"{value:.1e}"


def orders_table(cells: Cells) -> str:
    return _by_order(cells, WAYS, _ari)


def losses_table(cells: Cells) -> str:
    return _by_order(cells, ("stKFCM, update", "stKFCM, frozen", "landmarks"), _loss)


def _by_order(cells: Cells, ways: Iterable[str], said: Callable[[Cells, str], str]) -> str:
    """Ways to take a stream, each in random order and sorted."""
    pairs = [(way, order) for way in ways for order in ORDERS]
    head = ["", "chunk", *(f"{way}: {'random' if order == 'random' else 'sorted'}" for way, order in pairs)]
    rows = []
    for name in ORDERED:
        for share in LOSS_SHARES:
            found = [said(cells, f"order | {name} | {order} | {share:g}% | {way}") for way, order in pairs]
            rows.append([name, percent(share), *found])
    return measured(head, rows, 2)


def _ari(cells: Cells, key: str) -> str:
    return short(float(np.mean(cells[key]["ari"]))) if key in cells else ""


def _loss(cells: Cells, key: str) -> str:
    if key not in cells:
        return ""
    worst = max(cells[key]["loss"])
    return short(worst, 2) if worst >= 0.005 else ("0" if worst == 0 else f"{worst:.0e}")


def memory_table(cells: Cells) -> str:
    rows = [["all rows, KFCM", _megabytes(cells, ALL_ROWS, None), ""]]
    for share in CASES["2D15"].shares:
        rows.append([percent(share), *(_megabytes(cells, method, share) for method in ("stKFCM", "landmarks"))])
    return measured(["chunk", "stKFCM", "landmarks"], rows, 1)


def _megabytes(cells: Cells, method: str, share: float | None) -> str:
    key = "memory | " + key_of("2D15", PRINTED_M, method, share)
    return f"{cells[key]['megabytes']:.1f}" if key in cells else ""
