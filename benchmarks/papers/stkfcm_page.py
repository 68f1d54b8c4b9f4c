"""docs/papers/stkfcm.md, written from the stored results; and the acceptance figures."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .stkfcm_extras import BASELINE_SHARES, BEGINNING_SHARES, BEGINNINGS, GAMMAS, LOSS_SHARES, ORDERS, SMALL, STAGES, WAYS
from .stkfcm_printed import CHUNKS, WHOLE, Printed
from .stkfcm_runs import ALL_ROWS, CASES, POINTS, PRINTED_M, STREAMS, Cell, chunk_rows, key_of, rows_of

Cells = dict[str, Cell]

SLACK_OF_KFCM = 0.02  # of ARI, down to 2% chunks
SLACK_OF_LANDMARKS = 0.01
SLACK_OF_OBJECTIVE = 0.005
SEVERAL_TIMES = 3.0  # over the best printed ARI on MNIST
AUTOMATIC = ("2D15", "2D50", "MNIST, normalised", "MNIST", "Forest")  # measured with m = "auto"


class Verdict(NamedTuple):
    claim: str
    found: str
    met: bool


# ------------------------------------------------------------------------------------------------------------------------- numbers


def mean(cells: Cells, key: str, field: str = "ari") -> float | None:
    return float(np.mean(cells[key][field])) if key in cells else None


def short(value: float, digits: int = 3) -> str:
    """.937 for 0.937, as the other pages have it."""
    text = f"{value:.{digits}f}"
    return text.replace("0.", ".", 1) if text.lstrip("-").startswith("0.") else text


def spread(cells: Cells, key: str, field: str = "ari") -> str:
    if key not in cells:
        return ""
    values = cells[key][field]
    return short(float(np.mean(values))) + (f" ± {short(float(np.std(values)))}" if len(values) > 1 else "")


def seconds(cells: Cells, key: str) -> str:
    if key not in cells:
        return ""
    value = float(np.median(seconds_of(cells, key)))
    return f"{value:.2f}" if value < 10 else f"{value:,.0f}"


def seconds_of(cells: Cells, key: str) -> list[float]:
    """Processor seconds, of runs that took turns where there are such: other work on a machine disturbs them least."""
    apart = [f"times | {key}", f"times | {key.replace('| KFCM', f'| {ALL_ROWS}')}"]
    cell = next((cells[name] for name in apart if name in cells), cells[key])
    return cell.get("busy", cell["seconds"])


def percent(share: float) -> str:
    return f"{share:g}%".replace("0.", ".", 1) if share < 1 else f"{share:g}%"


def whole_methods(name: str) -> list[str]:
    """What saw all rows at once: akFCM where KFCM takes long or too long."""
    return ["KFCM"] if CASES[name].small else ["akFCM"] if CASES[name].file == "covtype" else ["KFCM", "akFCM"]


def trials(cells: Cells, keys: Iterable[str]) -> str:
    counts = sorted({len(cells[key]["ari"]) for key in keys if key in cells})
    return (
        "no trial" if not counts else f"{counts[0]} trial{'s' if counts[0] > 1 else ''}" + (f" to {counts[-1]}" if len(counts) > 1 else "")
    )


def table(head: list[str], rows: list[list[str]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def measured(head: list[str], rows: list[list[str]], labels: int) -> str:
    """The same without rows of which nothing has been measured."""
    there = [row for row in rows if any(row[labels:])]
    return table(head, there) if there else "*(not measured yet)*"


# ---------------------------------------------------------------------------------------------------------------------- acceptance


def acceptance(cells: Cells) -> list[Verdict]:
    """What was asked of the streams, and whether it came out."""
    printed = [_landmarks_level(cells, PRINTED_M), _landmarks_mean(cells, PRINTED_M), _landmarks_objective(cells), _landmarks_faster(cells)]
    auto = [_landmarks_level(cells, "auto"), _landmarks_mean(cells, "auto")]
    return [*_near_kfcm(cells), *printed, *auto, *_mnist_auto(cells)]


def _near_kfcm(cells: Cells) -> list[Verdict]:
    verdicts = []
    for name in SMALL:
        whole = mean(cells, key_of(name, PRINTED_M, "KFCM", None))
        found = {share: mean(cells, key_of(name, PRINTED_M, "stKFCM", share)) for share in CASES[name].shares if share >= 2}
        found = {share: value for share, value in found.items() if value is not None}
        if whole is None or not found:
            continue
        worst = min(found, key=lambda share: found[share])
        claim = f"{name}: mean ARI of stKFCM within {short(SLACK_OF_KFCM, 2)} of KFCM's down to 2% chunks"
        text = f"KFCM {short(whole)}, stKFCM at least {short(found[worst])} (at {worst:g}%)"
        verdicts.append(Verdict(claim, text, found[worst] >= whole - SLACK_OF_KFCM))
    return verdicts


def pairs_of(cells: Cells, field: str = "ari", m: float | str = PRINTED_M) -> dict[tuple[str, float], tuple[float, float]]:
    """Landmarks and stKFCM of each row of the table."""
    pairs = {}
    for name in CHUNKS if m == PRINTED_M else AUTOMATIC:
        for share in CASES[name].shares:
            keys = [key_of(name, m, method, share) for method in ("landmarks", "stKFCM")]
            if all(key in cells for key in keys):
                ours, theirs = (np.median(seconds_of(cells, key)) if field == "seconds" else np.mean(cells[key][field]) for key in keys)
                pairs[name, share] = float(ours), float(theirs)
    return pairs


def _listed(pairs: Iterable[tuple[str, float]]) -> str:
    return ", ".join(f"{name} {percent(share)}" for name, share in pairs) or "none"


def _landmarks_level(cells: Cells, m: float | str) -> Verdict:
    pairs = pairs_of(cells, m=m)
    below = [where for where, (ours, theirs) in pairs.items() if ours < theirs - SLACK_OF_LANDMARKS]
    claim = f"m = {m}: the landmark stream not more than {short(SLACK_OF_LANDMARKS, 2)} of ARI below stKFCM in any row"
    return Verdict(claim, f"{len(below)} of {len(pairs)} rows are further below: {_listed(below)}", not below)


def _landmarks_mean(cells: Cells, m: float | str) -> Verdict:
    pairs = list(pairs_of(cells, m=m).values())
    ours, theirs = np.mean(pairs, axis=0) if pairs else (0.0, 0.0)
    return Verdict(f"m = {m}: and better in the mean of all rows", f"{short(ours)} against {short(theirs)}", bool(ours > theirs))


def _landmarks_objective(cells: Cells) -> Verdict:
    """Of all rows at the final centres: what KFCM minimises, and the streams approximate."""
    ratios = {where: ours / theirs for where, (ours, theirs) in pairs_of(cells, "objective").items()}
    above = [where for where, ratio in ratios.items() if ratio > 1 + SLACK_OF_OBJECTIVE]
    worst, best = max(ratios.values(), default=1.0), min(ratios.values(), default=1.0)
    found = f"{best:.3f} to {worst:.3f} times stKFCM's; higher: {_listed(above)}"
    return Verdict("(not asked) and with no higher objective over all rows, to half a per cent", found, not above)


def _landmarks_faster(cells: Cells) -> Verdict:
    pairs = {where: pair for where, pair in pairs_of(cells, "seconds").items() if where[1] > 1}
    slower = [where for where, (ours, theirs) in pairs.items() if ours >= theirs]
    ratios = [theirs / ours for ours, theirs in pairs.values()] or [0.0]
    found = f"{np.median(ratios):.1f} times as fast (median of {len(pairs)} rows, {min(ratios):.1f} to {max(ratios):.1f})"
    found += f"; slower: {_listed(slower)}"
    return Verdict("and faster at every chunk size above 1% (processor seconds)", found, not slower)


def _mnist_auto(cells: Cells) -> list[Verdict]:
    best = max(cell.ari for cell in CHUNKS["MNIST"].values())
    verdicts = []
    for name in ("MNIST", "MNIST, normalised"):
        values = [mean(cells, key_of(name, "auto", method, share)) for share in CASES[name].shares for method in ("stKFCM", "landmarks")]
        values = [value for value in values if value is not None]
        if values:
            kernel = "normalised kernel" if "normalised" in name else "kernel as printed"
            claim = f"MNIST, {kernel}, m = auto: mean ARI of the streams at least {SEVERAL_TIMES:g} times the best printed ({short(best)})"
            found = f"{short(float(np.mean(values)))} ({short(min(values))} to {short(max(values))})"
            verdicts.append(Verdict(claim, found, float(np.mean(values)) >= SEVERAL_TIMES * best))
    return verdicts


def print_check(cells: Cells) -> None:
    for verdict in acceptance(cells):
        print(f"{'met    ' if verdict.met else 'NOT MET'}  {verdict.claim}: {verdict.found}")


# --------------------------------------------------------------------------------------------------------------------------- tables


def printed_table(cells: Cells, name: str) -> str:
    """Table II of one data set."""
    head = ["chunk", "", "purity: printed", "ours", "ARI: printed", "ours", "difference", "seconds: printed", "ours, CPU"]
    rows = [_line("all rows", method, WHOLE[name], cells, key_of(name, PRINTED_M, method, None)) for method in whole_methods(name)]
    for share in CASES[name].shares:
        size = f"{percent(share)}, {chunk_rows(CASES[name], share):,}"
        for method in STREAMS:
            printed = CHUNKS[name].get((method, share))
            rows.append(_line(size if method == STREAMS[0] else "", method, printed, cells, key_of(name, PRINTED_M, method, share)))
    return table(head, rows)


def _line(first: str, method: str, printed: Printed | None, cells: Cells, key: str) -> list[str]:
    found = mean(cells, key)
    difference = "" if printed is None or found is None else f"{found - printed.ari:+.3f}".replace("0.", ".", 1)
    said = ["", "", ""]
    if printed is not None:
        said = [short(printed.purity, 2), short(printed.ari), "" if printed.seconds is None else f"{printed.seconds:g}"]
    return [first, method, said[0], spread(cells, key, "purity"), said[1], spread(cells, key), difference, said[2], seconds(cells, key)]


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
                start = f"starts | {name} | {percent_key(share)} | {method} | "
                rows.append([name, percent(share), method, *(spread(cells, start + way) for way in BEGINNINGS)])
    return measured(head, rows, 3)


def percent_key(share: float) -> str:
    return f"{share:g}%"


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
            old = [spread(cells, f"single pass | {name} | {percent_key(share)} | {method}") for method in methods]
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
    head = ["", "chunk", *(f"{way}: {'random' if order == 'random' else 'sorted'}" for way in WAYS for order in ORDERS)]
    rows = []
    for name in STAGES:
        for share in LOSS_SHARES:
            keys = [f"order | {name} | {order} | {percent_key(share)} | {way}" for way in WAYS for order in ORDERS]
            rows.append([name, percent(share), *(_ari(cells, key) for key in keys)])
    return measured(head, rows, 2)


def losses_table(cells: Cells) -> str:
    ways = ("stKFCM, update", "stKFCM, frozen", "landmarks")
    head = ["", "chunk", *(f"{way}: {'random' if order == 'random' else 'sorted'}" for way in ways for order in ORDERS)]
    rows = []
    for name in STAGES:
        for share in LOSS_SHARES:
            keys = [f"order | {name} | {order} | {percent_key(share)} | {way}" for way in ways for order in ORDERS]
            rows.append([name, percent(share), *(_loss(cells, key) for key in keys)])
    return measured(head, rows, 2)


def _ari(cells: Cells, key: str) -> str:
    return short(float(np.mean(cells[key]["ari"]))) if key in cells else ""


def _loss(cells: Cells, key: str) -> str:
    if key not in cells:
        return ""
    worst = max(cells[key]["loss"])
    return short(worst, 2) if worst >= 0.005 else ("0" if worst == 0 else f"{worst:.0e}")


def verdicts_table(cells: Cells) -> str:
    return table(["asked", "found", ""], [[v.claim, v.found, "met" if v.met else "**not met**"] for v in acceptance(cells)])


# ----------------------------------------------------------------------------------------------------------------------------- page


def write(cells: Cells, folder: Path) -> None:
    """The page and its figures."""
    from .stkfcm_figures import draw
    from .stkfcm_words import page

    path = folder / "stkfcm.md"
    path.write_text(page(cells))
    print(f"{path}: {path.stat().st_size / 1000:.0f} kB")
    draw(cells, folder)


def rows_and_features(name: str) -> tuple[int, int]:
    return rows_of(CASES[name].file)[0].shape


def points() -> int:
    return POINTS


def machines(cells: Cells) -> dict[str, Any]:
    return cells.get("machine", {})
