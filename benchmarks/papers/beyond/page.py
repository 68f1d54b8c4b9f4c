"""The text of docs/papers/beyond.md; every number of ours in it comes out of the stored cells."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..markdown import page as joined
from ..markdown import picture, seconds, short, spread, table
from ..paper import measured_on
from ..results import Cells, mean
from ..zhang2013.extras import ORDERED, ORDERS
from . import verdicts
from .gradients import LANDMARKS
from .gradients import SETS as LARGE
from .gradients import WAYS as SEARCHES
from .numbers import NOT_MEASURED, costs, excess, lines, residuals, values
from .problems import MEDIAN, PROBLEMS
from .runs import DRAWS, LOSS_SHARES, LOSS_WAYS, METHODS, PARTS, WAYS, part_size
from .scales import SETS, TRIALS
from .scales import WAYS as LAMBDAS


def page(cells: Cells) -> str:
    parts = [_what(), _settings(cells), _samplings(cells), _ensembles(cells), _losses(cells), _lambda(cells), _gradients(cells)]
    return joined(*parts, _enough(cells), _measured_on(cells))


def _answer(judge: Callable[[Cells], verdicts.Answer], cells: Cells) -> str:
    verdict, why = judge(cells)
    return f"**Answer: {verdict}" + (f":** {why}." if why else ".**")


def _what() -> str:
    return """
# What the papers left open, and what this library answers

Each of the five papers ends with questions. Six of them are put here on the papers' own data. `python -m benchmarks.papers beyond` measures
what this page shows and keeps it in `beyond.json` beside it.

| asked by | question | library |
|---|---|---|
| Havens 2011, VI | other samplings than uniform | `landmarks="rpcholesky"` (the default), `"k-means++"`, `"uniform"` |
| Chitta 2011, 6 | ensembles of draws | none: one larger draw, see below |
| Zhang 2013, VI | passing on what former chunks knew | `StreamingFuzzyCMeans(method="landmarks")` (the default) |
| Xenaki 2014, 5 | lambda chosen automatically | `sparsity="auto"` (the default) |
| Liu 2021, 6 | projected gradients on large data | `ProbabilisticKMeans(solver="batched", n_landmarks=...)` |
| Chitta 2011, 6; Havens 2011, VI | how many samples are enough, and what the error is | `n_landmarks="auto"`, `approximation_` |
"""


def _settings(cells: Cells) -> str:
    rows = []
    for name, problem in PROBLEMS.items():
        polynomial = "(x.y + 1)^5, divided by the root of its diagonal"
        kernel = polynomial if problem.gamma is None else f"exp(-{problem.gamma:.3g} \\|x - y\\|^2)"
        cost, busy = (mean(values(cells, f"exact | {name}", field)) for field in ("cost", "busy"))
        exact = [NOT_MEASURED, ""] if cost is None or busy is None else [f"{cost:.5g}", seconds(busy)]
        rows.append([name, f"{problem.rows:,}", str(problem.clusters), kernel, *exact])
    return f"""
## Four problems on which the truth is known

So few rows that all kernel values are at hand, drawn once; features in [0, 1]. The true cost of a partition is its kernel k-means objective
with all of them. Fits on landmarks start at the partition that kernel k-means with all kernel values ends with: how far they leave it, the
cost "above exact", is the landmarks' doing, where from other starts it would be chance which of many minima is the next. That partition is
itself one of many minima: below it is as far from exact as above. The width on MNIST, {MEDIAN:.3g}, is one over the squared median
distance. Means of {DRAWS} exact partitions and draws of landmarks.

{table(["", "rows", "clusters", "kernel", "cost of exact", "CPU s, without kernel values"], rows)}
"""


def _samplings(cells: Cells) -> str:
    rows = []
    for name, size in lines(cells):
        left, dearer = residuals(cells, name, size), costs(cells, name, size)
        busy = [mean(values(cells, f"sampling | {name} | {size} | {method}", "busy")) or 0.0 for method in METHODS]
        parts = [f"{100 * left[method]:.3g}" for method in METHODS] + [f"{dearer[method]:+.2f}" for method in METHODS]
        rows.append([name, str(size), *parts, *(seconds(value) for value in busy)])
    head = ["", "landmarks", *(f"left out, %: {method}" if method == METHODS[0] else method for method in METHODS)]
    head += [*(f"above exact, %: {method}" if method == METHODS[0] else method for method in METHODS)]
    head += [*(f"CPU s: {method}" if method == METHODS[0] else method for method in METHODS)]
    shown = table(head, rows) if rows else NOT_MEASURED
    caption = "What landmarks leave of the kernel's trace, above, and what the partition found with them costs, below; faint: all draws."
    return f"""
## 1. Other samplings

Havens 2011 and Chitta 2011 draw landmarks uniformly and plan to look at others. "Left out" is the relative residual of the trace,
mean e_i over mean k(x_i, x_i), of the centred kernel where constants do not matter: `approximation_.residual`.

{shown}

{picture("beyond-samplings", "Residual and cost against the number of landmarks", caption)}

{_answer(verdicts.samplings, cells)}
"""


def _ensembles(cells: Cells) -> str:
    rows = []
    for name, problem in PROBLEMS.items():
        found = [excess(cells, f"ensemble | {name} | {way}") for way in WAYS]
        busy = [values(cells, f"ensemble | {name} | {way}", "busy") for way in WAYS]
        if all(len(numbers) for numbers in found):
            cost = [f"{numbers.mean():+.2f} ± {numbers.std():.2f}" for numbers in found]
            rows.append([name, str(part_size(problem)), *cost, *(seconds(float(numbers.mean())) for numbers in busy)])
    head = ["", "s", *(f"above exact, %: {way}" if way == WAYS[0] else way for way in WAYS)]
    head += [*(f"CPU s: {way}" if way == WAYS[0] else way for way in WAYS)]
    shown = table(head, rows) if rows else NOT_MEASURED
    caption = "True cost against processor time; large: means, faint: all draws."
    return f"""
## 2. Ensembles of draws

Chitta 2011 names ensembles as future work; Kumar, Mohri and Talwalkar average several Nystrom approximations. Here {PARTS} uniform draws
of s landmarks: side by side (features of all draws divided by the root of {PARTS}, whose products are the mean of the approximate
kernels), and the one of which `approximation_` says that it leaves out least. Beside them one draw of s, and one of {PARTS} s.

{shown}

{picture("beyond-ensembles", "Cost of ensembles against time", caption)}

{_answer(verdicts.ensembles, cells)} {_of_ensembles(cells)}
"""


def _of_ensembles(cells: Cells) -> str:
    verdict, _ = verdicts.ensembles(cells)
    if verdict == verdicts.NO:
        return "The library has no ensembles: landmarks of several draws are worth more in one basis, which the mean of kernels is not."
    return "" if verdict != verdicts.YES else "That speaks for ensembles, which the library does not have yet."


def _losses(cells: Cells) -> str:
    head = ["", "chunk", *(f"{what}: {way}, {order}" for what in ("loss", "ARI") for way in LOSS_WAYS for order in ORDERS)]
    rows = []
    for name in ORDERED:
        for share in LOSS_SHARES:
            keys = [f"loss | {name} | {order} | {share:g}% | {way}" for way in LOSS_WAYS for order in ORDERS]
            if any(key in cells for key in keys):
                lost = [f"{100 * max(cells[key]['loss']):.3g}%" if key in cells else "" for key in keys]
                rows.append([name, f"{share:g}%", *lost, *(spread(cells[key]["ari"]) if key in cells else "" for key in keys)])
    return f"""
## 3. What goes from chunk to chunk

stKFCM projects centres into the span of the next chunk, and Zhang 2013 asks for something better. The landmark stream keeps one basis for
all chunks, so that their sums simply add. Loss: the largest share of a centre's squared norm that was lost on the way into a chunk (of the
landmark stream: what sums could not know of landmarks that joined later). More is in [zhang2013](zhang2013.md).

{table(head, rows) if rows else NOT_MEASURED}

{_answer(verdicts.losses, cells)}{_of_sorted(cells)}
"""


def _of_sorted(cells: Cells) -> str:
    drops = {way: [] for way in LOSS_WAYS}  # type: dict[str, list[float]]
    for key, cell in cells.items():
        sorted_key = key.replace("| random |", "| sorted by class |")
        if key.startswith("loss | ") and sorted_key != key and sorted_key in cells:
            drops[key.rsplit(" | ", 1)[1]].append(cell["ari"][0] - cells[sorted_key]["ari"][0])
    if not all(drops.values()):
        return ""
    said = ", ".join(f"of {way} by {np.mean(values):.2f}" for way, values in drops.items())
    return f" Rows sorted by class lower ARI in the mean {said}: either wants rows in random order."


def _lambda(cells: Cells) -> str:
    rows = []
    for name, of in SETS.items():
        for way in LAMBDAS:
            key = f"lambda | {name} | {way}"
            if key not in cells:
                continue
            cell = cells[key]
            printed = of.printed[way.split(",")[0]]
            numbers = sorted(set(cell["clusters"]))
            right = sum(number == of.classes for number in cell["clusters"])
            found = str(numbers[0]) if len(numbers) == 1 else f"{numbers[0]} to {numbers[-1]}"
            by_hand = f"{printed[0]}, {printed[1]:.2f}" if way.endswith("by hand") else ""
            success = spread(cell["success"], 2)
            unwanted = f"{100 * float(np.mean(cell['unwanted'])):.1f}%"
            rows.append([name, way, by_hand, found, f"{right} of {len(cell['clusters'])}", success, unwanted])
    head = ["", "", "printed: clusters, SR", "clusters found", "the true number", "SR, %", "rows that no cluster wants"]
    return f"""
## 4. lambda without a hand

Xenaki 2014 sets lambda by hand for every set and calls its choice a subject of current research. By hand: the paper's lambda, and for SAPCM
its beta and number of clusters to start from, of the best line that it prints. Automatic: `SequentialPossibilisticCMeans()` and
`AdaptivePossibilisticCMeans(k)`, all else by default; k = 20, the default, or twice as many as there are. {TRIALS} random starts of SAPCM;
SeqSAPCM draws nothing. SR is the success rate, rows that no cluster wants counting in the nearest. More is in
[seqsapcm2014](seqsapcm2014.md).

{table(head, rows) if rows else NOT_MEASURED}

{_answer(verdicts.scales, cells)}
"""


def _gradients(cells: Cells) -> str:
    rows = []
    for name, of in LARGE.items():
        for way in SEARCHES:
            key = f"gradients | {name} | {way}"
            if key in cells:
                cell = {field: numbers[0] for field, numbers in cells[key].items()}
                times = [seconds(cell["seconds"]), seconds(cell["busy"])]
                rows.append([name, f"{of.rows:,}", way, f"{cell['objective']:.7g}", *times, f"{cell['visits']:.0f}", short(cell["ari"])])
    head = ["", "rows", "", "objective", "seconds", "CPU s", "visits a row", "ARI"]
    return f"""
## 5. Projected gradients on large data

Liu 2021 (KPKM by FAGP) stops at a few thousand rows. `solver="batched"` fixes many rows a sweep, and works on landmarks. The same
{LANDMARKS} uniform landmarks for all, one run each. Visits count each look at a row, those of samples too.

{table(head, rows) if rows else NOT_MEASURED}

{_answer(verdicts.gradients, cells)}
"""


def _enough(cells: Cells) -> str:
    rows = []
    for name in PROBLEMS:
        key = f"auto | {name}"
        if key not in cells:
            continue
        cell, over, (low, high) = cells[key], excess(cells, key), (values(cells, key, "low"), values(cells, key, "high"))
        chosen = sorted({int(number) for number in cell["landmarks"]})
        bounds = f"{low[0]:.5g} to {high[0]:.5g}" if len(low) else ""
        rows.append(
            [
                name,
                " ".join(map(str, chosen)),
                f"{100 * float(np.mean(cell['residual'])):.3g}",
                f"{100 * float(np.mean(cell['ranking'])):.2g}",
                bounds,
                f"{cell['cost'][0]:.5g}",
                f"{over.mean():+.2f}" if len(over) else NOT_MEASURED,
            ]
        )
    head = ["", "landmarks chosen", "left out, %", "ranking error, %", "certified (first draw)", "true cost", "above exact, %"]
    return f"""
## 6. How many landmarks are enough, and how wrong is the result?

`n_landmarks="auto"` adds landmarks until partitions can be told apart: until the sum of the c largest eigenvalues of what is left falls to
2% of what a partition costs, or 1% of the variance is left. `approximation_` bounds the true cost of the partition that comes back.

{table(head, rows) if rows else NOT_MEASURED}

{_answer(verdicts.enough, cells)} {_answer(verdicts.certified, cells)}
"""


def _measured_on(cells: Cells) -> str:
    machine = measured_on(cells)
    return f"```\n{machine}\n```" if machine else ""
