"""docs/papers/seqsapcm2014.md from what is stored."""

from __future__ import annotations

from collections import Counter

import numpy as np

from ..markdown import page as joined
from ..markdown import picture, table
from ..results import Cells
from .printed import CLASSES, NAMES, TABLES, Line
from .reading import (
    MISSING,
    agreement,
    cell_of,
    counted,
    difference,
    far_line,
    hits,
    lines,
    mean_line,
    most_found,
    outcome,
    rows_of,
    tally,
)
from .runs import DEFAULTS, POWERS, SEARCHED, SHARES, row_of
from .words import BEGINNING, ENDING, IN_PRACTICE, KMEANS, PCM

HEAD = ["", "lambda", "beta", "m_ini"]


def page(cells: Cells) -> str:
    return joined(
        BEGINNING,
        _table(cells, 2),
        _figure_two(cells),
        _table(cells, 3),
        _misprinted(cells),
        _table(cells, 4),
        _draws(cells),
        "## What differs, and why",
        _differences(cells),
        _bounds(cells),
        _practice(cells),
    )


# ----------------------------------------------------------------------------------------------------------------------- tables


def _table(cells: Cells, number: int) -> str:
    rows = []
    for row in TABLES[number]:
        cell, printed = cell_of(cells, number, row), row.printed
        if printed is None:
            continue
        if cell is None:
            rows.append([row.method, *row.words, str(printed), MISSING, "", "", "", ""])
            continue
        own, *others = lines(cell)
        starts = [f"{hits(printed, others)} of {len(others)}", _often(printed, others)] if others else ["", ""]
        rows.append([row.method, *row.words, str(printed), str(own), difference(printed, own), agreement(printed, own), *starts])
    marks = tally(cells, number)
    text = f"{marks['=']} lines of {sum(marks.values())} come out as printed, {marks['~']} more within a point of SR." if marks else ""
    head = [*HEAD, "printed", "from the far row", "difference", "", "starts", "most frequent"]
    return joined(f"## Table {number}: {NAMES[number]}", table(head, rows), text)


def _often(printed: Line, others: list[Line]) -> str:
    """The most frequent line; without GRM, whose last digit is that of the stopping rule."""
    kinds = Counter(line._replace(general=None) for line in others)
    kind, times = kinds.most_common(1)[0]
    if times == 1 and len(others) > 1:
        return "each its own"
    line = next(line for line in others if line._replace(general=None) == kind)
    return f"as printed ({times})" if agreement(printed, line) == "=" else f"{line.found}, SR {line.success:.2f} ({times})"


def _figure_two(cells: Cells) -> str:
    own = cells.get("own | 2")
    if "figure 2" not in cells:
        return MISSING
    unwanted = "the rows" if own is None else f"the {own['unwanted']:.1f}% of rows"
    caption = f"""The paper's Figure 2 (S2, its 15 true clusters; Fränti, Virmajoki 2006) and, on the right, what SeqSAPCM finds with
lambda = 0.1: centres, circles of radius eta_j, and in grey {unwanted} that no cluster wants.""".replace("\n", " ")
    return picture("seqsapcm2014-figure2", "S2: true labels, and what SeqSAPCM finds", caption)


def _misprinted(cells: Cells) -> str:
    """What two misprinted rows change."""
    rows, count = [], 0
    for row in TABLES[3]:
        found, own = cells.get(f"uci iris | {row}"), far_line(cells, 3, row)
        if found is None or own is None:
            continue
        line, count = Line(*(found[field] for field in Line._fields)), count + 1
        if (line.found, line.success) != (own.found, own.success):
            rows.append([row.method, *row.words, str(own), str(line)])
    if not count:
        return ""
    text = f"With the UCI file, which misprints rows 34 and 37, {len(rows)} of the {count} adaptive lines change in clusters or SR"
    if not rows:
        return text + "."
    more = "Two rows of 150 decide: read these tables as single outcomes, not as what the methods are worth."
    return joined(text + ":", table([*HEAD, "Fisher's", "UCI's"], rows), more)


def _draws(cells: Cells) -> str:
    rows, draws, runs = [], 0, 0
    for row in TABLES[1]:
        cell, printed = cell_of(cells, 1, row), row.printed
        if cell is None:
            rows.append([row.method, *row.words, str(printed or ""), MISSING, "", "", ""])
            continue
        draws, runs = max(draws, len(set(cell["draw"]))), max(runs, len(cell["draw"]))
        number = CLASSES[1] if printed is None else printed.found
        found = lines(cell)
        same = [line for line in found if line.found == number]
        means = mean_line(same) if same else None
        text = "" if means is None else f"{means} ± {np.std([line.success for line in same]):.2f}"
        apart = "" if means is None or printed is None else difference(printed, means)
        most, times = most_found(cell)
        others = [line.success for line in found if line.found == most]
        often = "" if most == number else f"{most} ({times}), SR {np.mean(others):.2f}"
        rows.append([row.method, *row.words, str(printed or ""), f"{len(same)} of {len(found)}", text, apart, often])
    text = f"""
The paper's 1,100 points are a draw that nobody else has, so no row can be exact. {draws} draws (`make_close_gaussians`),
{runs // max(draws, 1)} starts each: how many runs find the printed number of clusters (three, where nothing is printed), the means of those
runs (± is the standard deviation of SR) and their difference from the print.
"""
    head = [*HEAD, "printed", "runs", "their means", "difference", "most runs find"]
    caption = """After the paper's Figure 1, on one draw (of the first six, the one nearest to the print). Dots are centres; circles
have radius eta_j, for PCM sqrt(eta_j), which is an ellipse because the axes are scaled; dashed circles are the reach of a sparse cluster,
and grey rows belong nowhere.""".replace("\n", " ")
    shown = (
        picture("seqsapcm2014-figure1", "Experiment 1 with eight algorithms", caption)
        if "figure 1 | (h) SeqSAPCM, λ = 0.28" in cells
        else ""
    )
    return joined("## Table 1: Experiment 1", text, table(head, rows), _story(cells), shown)


def _story(cells: Cells) -> str:
    """What the runs say of the paper's story: APCM unites two clusters, sparsity parts them, SeqSAPCM needs no number."""
    united = parted = of_united = of_parted = 0
    for row in rows_of(1, "APCM"):
        cell = cell_of(cells, 1, row)
        if cell is not None:
            united, of_united = united + cell["found"].count(2), of_united + len(cell["found"])
    cell = cells.get("table 1 | SAPCM 0.3 0.1 5")
    if cell is not None:
        parted, of_parted = cell["found"].count(3), len(cell["found"])
    found = {row.sparsity: cell for row in rows_of(1, "SeqSAPCM") if (cell := cell_of(cells, 1, row)) is not None}
    if not of_united or not of_parted or not found:
        return ""
    counts = {value: cell["found"].count(3) for value, cell in found.items()}
    top = max(counts, key=counts.__getitem__)
    text = (
        f"APCM unites two clusters in {united} of {of_united} runs, and SAPCM from 5 with beta = 0.1 has three in {parted} of {of_parted}. "
    )
    text += f"SeqSAPCM finds the three in {min(counts.values())} to {counts[top]} of {len(found[top]['found'])} draws, by lambda "
    own = [line.success for line in lines(found[top]) if line.found == 3]
    best = {method: outcome(cells, 1, rows_of(1, method)[0]) for method in ("k-means", "FCM")}
    text += f"(most with {top:g}"
    text += f", SR {np.mean(own):.2f} there)" if own else ")"
    if all(best.values()):
        text += "; given the number 3, " + " and ".join(f"{method} has SR {value[1]:.2f}" for method, value in best.items() if value)
    return text + "."


# ------------------------------------------------------------------------------------------------------------------ differences


def _differences(cells: Cells) -> str:
    return "\n".join(part for part in (_pcm(cells), *_searches(cells), _tolerances(cells), KMEANS, _own(cells)) if part)


def _pcm(cells: Cells) -> str:
    more = every = 0
    for number in NAMES:
        for row in rows_of(number, "PCM"):
            found = outcome(cells, number, row)
            if found is not None and row.printed is not None:
                more, every = more + (found[0] > row.printed.found), every + 1
    return PCM.format(count=f"{more} of the {every} rows measured find more clusters than printed." if every else "")


def _searches(cells: Cells) -> list[str]:
    said = []
    for name in SEARCHED:
        cell, number = cells.get(f"search | {name}"), 3 if name.startswith("APCM") else 4
        row = row_of(number, name)
        whole = cell_of(cells, number, row)
        if cell is None or whole is None or row.printed is None:
            continue
        tried, starts = lines(cell), lines(whole)[1:]
        at = int(np.argmin([abs(line.rand - row.printed.rand) + abs(line.success - row.printed.success) for line in tried]))
        what = "beta" if number == 3 else "lambda"
        values = cell[what]
        words = f"beta {row.beta:g}" if number == 3 else f"lambda {row.sparsity:g}, beta {row.beta:g}"
        said.append(
            f"* **{row.method} on {NAMES[number]}, {words}, from {row.initial}:** printed {row.printed}. {hits(row.printed, starts)} of "
            f"{len(starts)} first rows give it, and {hits(row.printed, tried)} of {len(tried)} runs with {what} from {min(values):g} to "
            f"{max(values):g}. Nearest of those is {tried[at]} ({what} {values[at]:.3g})."
        )
    return said


def _tolerances(cells: Cells) -> str:
    said: dict[str, list[str]] = {}
    for key, cell in cells.items():
        if key.startswith("tolerance | "):
            _, number, name, tol = key.split(" | ")
            printed = row_of(int(number), name).printed
            title = f"{name} on {NAMES[int(number)]} (printed {printed})"
            said.setdefault(title, []).append(f"{Line(*(cell[field] for field in Line._fields))} with tol = {tol}")
    if not said:
        return ""
    return "* **Stopping.** " + "; ".join(f"{title}: " + ", ".join(parts) for title, parts in said.items()) + "."


def _own(cells: Cells) -> str:
    parts = [
        f"SR {cells[key]['success']:.2f} on {NAMES[number]} ({cells[key]['unwanted']:.1f}% of the rows unwanted)"
        for number in NAMES
        if (key := f"own | {number}") in cells
    ]
    head = "* **By the library's own labels,** rows that no cluster wants counted in the nearest one, SeqSAPCM has "
    return head + ", ".join(parts) + ". These are the values to compare with other methods." if parts else ""


# -------------------------------------------------------------------------------------------------------- bound, what to use


def _bounds(cells: Cells) -> str:
    found = {p: cells[f"bound | {p:g}"] for p in POWERS if f"bound | {p:g}" in cells}
    if not found:
        return joined("## The upper bound of lambda (section 2)", MISSING)
    names = {"local": "local: 1 / (e p (1-p))", "global": "global: e^-p / (1-p)"}
    rows = []
    for test, name in names.items():
        rows.append([name, *(f"{cell[test]:.4f}" for cell in found.values())])
        rows.append([f"{test}, by bisection", *(f"{cell[f'{test} found']:.4f}" for cell in found.values())])
    apart = max(abs(cell[f"{test} found"] - cell[test]) for cell in found.values() for test in names)
    level = "agree in all digits shown" if apart < 5e-5 else f"differ by {apart:.1g} at most"
    text = f"The bisection asks the library whether a row at the centre is wanted; the two {level}."
    iris = cells.get("bound iris")
    if iris is not None:
        just = SHARES.index(1 - 1e-6)
        text += (
            f" With several clusters the widest decides. On Iris (five starts, beta 0.2, largest eta {iris['eta']:.3f}) the bounds are "
            f"{iris['local']:.2f} and {iris['global']:.2f}: {iris['local wanted'][just]} and {iris['global wanted'][just]} rows are wanted "
            f"just below them (by 1e-6), {iris['local wanted'][just + 1]} and {iris['global wanted'][just + 1]} just above."
        )
    text += (
        " An error names this bound when a fit runs into it. Useful values of lambda are far below, because scales shrink as they adapt."
    )
    intro = "A cluster of scale eta wants no row at all, not even one at its centre, from this lambda on, as a multiple of eta:"
    return joined("## The upper bound of lambda (section 2)", intro, table(["p", *(f"{p:g}" for p in found)], rows), text)


def _practice(cells: Cells) -> str:
    names = {
        "twice": "`Adaptive...(twice the number)`",
        "twenty": "`Adaptive...()`, 20",
        "alpha": '`Adaptive...(alpha="auto")`, 20',
        "sequential": "`Sequential...()`",
    }
    rows, success = [], {}
    for number in (2, 4, 3, 1):
        best = max(
            (row.printed for row in TABLES[number] if row.printed and row.printed.found == CLASSES[number]), key=lambda line: line.success
        )
        row = [NAMES[number], f"{CLASSES[number]}", f"{best.success:.2f}"]
        for name in names:
            cell = cells.get(f"defaults | {number} | {name}")
            if cell is None:
                row.append("")
                continue
            success[number, name] = float(np.mean(cell["success"])) - best.success
            right = cell["found"].count(CLASSES[number])
            row.append(f"{counted(cell['found'])}: {np.mean(cell['success']):.2f} ({success[number, name]:+.2f})" + ("" if right else " *"))
        rows.append(row)
    sizes = {
        number: max((len(cells.get(f"defaults | {number} | {name}", {}).get("found", [])) for name in DEFAULTS), default=0)
        for number in NAMES
    }
    states = ", ".join(f"{count} on {NAMES[number]}" for number, count in sizes.items() if count)
    lambdas = ", ".join(f"{row.sparsity:g} on {NAMES[n]}" for n in NAMES for row in rows_of(n, "SeqSAPCM") if row.printed)
    head = ["", "clusters", "best printed SR", *names.values()]
    note = "In brackets after SR: less the best printed one. * no run finds the number of classes."
    text = IN_PRACTICE.format(lambdas=lambdas, states=states or "none yet")
    return joined(text, table(head, rows), note, _advice(success))


def _advice(success: dict[tuple[int, str], float]) -> str:
    """Where the defaults are as good as the best printed line, to a point, and where they are not."""
    kinds = {"twice": "from twice the number", "twenty": "from 20", "sequential": "sequentially"}
    parts = []
    for name, words in kinds.items():
        apart = {NAMES[number]: value for (number, which), value in success.items() if which == name}
        if apart:
            good = [title for title, value in apart.items() if value >= -1]
            parts.append(f"{words}, {', '.join(good) or 'none'}")
    text = f"Within a point of the best printed SR, or above it, are: {'; '.join(parts)}." if parts else ""
    return joined(text, ENDING)
