"""The page, from stored results alone."""

from __future__ import annotations

import re

import numpy as np

from ..markdown import page as joined
from ..markdown import percent, picture, seconds, short, signed, span, table
from ..paper import STAGE, measured_on, minutes
from ..results import Cells
from .claims import claims, fallen
from .compare import A3, MNIST, MNIST_ALL, Pairs, agreement, all_pairs, asked, exact_seconds, name_of
from .figures import FIGURES, drawn
from .fits import ALGORITHMS, AUTO, CORRECTED, FCM, PCM, PRINTED, VARIANTS
from .runs import TIMED, exact_key
from .settings import EPSILON
from .table_page import table_two
from .words import ABSENT, WORDS, head, rest

OF_PCM = "E alone is no measure of PCM: without the penalty, memberships that are smaller everywhere make it smaller."


def page(cells: Cells) -> str:
    parts = [head(), _settings(cells), _asked(cells), _exact(cells)]
    parts += [_figure(cells, number) for number in FIGURES]
    return joined(*parts, table_two(cells), _claims(cells), rest(), _times(cells))


def _settings(cells: Cells) -> str:
    rows = []
    for key, cell in cells.items():
        if key.endswith(" | about"):
            name = re.sub(r" \d+,000$", "", key.removesuffix(" | about").removeprefix("II | ").replace(" | ", ", "))
            facts = [f"{cell['n']:,}", f"{cell['features']}", f"{cell['clusters']}", short(cell["largest"]), f"{cell['m']:.3f}"]
            rows.append([name, *facts])
    data = table(["data", "rows", "features", "c", "largest class", "m of m auto"], rows) if rows else ABSENT
    return f"""
## Data and settings

{data}

A3: every feature to [0, 1], double precision, kernel exp(-|x - y|^2 / .5). MNIST: pixels / 255, kernel (x.y + 1)^5, single precision.
The 20,000 rows of MNIST are drawn once. Covertype: all 54 features to [0, 1]; mammals: the library's own generator of the quadrupeds;
both in single precision. Fuzzifier 2; a run ends when no membership changes by more than {EPSILON:g}.

Both sides of figures 2 to 5 start from the same partition: c rows drawn are the centres, and U follows from the exact distances to them.
The sampled rows are drawn anew for every run. For qualities and for times "without kernel", which is how the paper counts, kernel values
are made first and handed to the fits. Seconds and speedup "with the kernel" are those of one more fit with m = 2 from the same start and
landmarks, as users run it: from the rows, the library making kernel values as it goes. Seconds are wall seconds.
{_timed(cells)}
On MNIST the exact side makes all kernel values once, in tiles below the diagonal, each of which serves all runs; the seconds of one run
are those of the kernel values, and its sweeps times the seconds of a sweep of one run by itself.

Three exponents are run. **m = 2** is fuzzy c-means proper, with memberships that go with 1/(m-1) of squared distances. **As printed** is
2/(m-1). **m auto** is the library's default, a fuzzifier below the one at which all centres fall together; where it comes to 2 it is not
run again. PCM itself has the fuzzifier 2 everywhere.
"""


def _timed(cells: Cells) -> str:
    gap = agreement(cells)
    if gap is None:
        return ""
    same = f"differs by at most {gap:.1e} of itself" if gap else "is the same in all six digits kept"
    done = " and ".join(f"{len(cells[k]['seconds'])} of {who}" for who in TIMED if (k := f"{A3} | full | {who}") in cells)
    return f"""
The exact algorithms on A3 are run on all n^2 kernel values for few of the starts ({done}), for the time that takes;
the times of the others are their sweeps times the seconds a sweep of those. Their partitions come from the library's exact
fit, which notices that a few dozen rows span all others. Where both were run, E {same}.
"""


def _asked(cells: Cells) -> str:
    lines = asked(cells)
    if not lines:
        return f"## What was asked of akFCM, and what came out\n\n{ABSENT}"
    rows = [
        [
            line.where,
            f"{signed(line.purity[0])} (least {signed(line.purity[1])})",
            f"{line.error:+.3f}%",
            f"{line.speedup:,.0f}",
            f"{line.share:,.0f}",
            f"{line.wanted:.0f}",
            f"quality {_mark(line.good)}, speed {_mark(line.quick_enough)}",
        ]
        for line in lines
    ]
    head = ["akFCM, m = 2", "relative purity (>= -.020)", "error of E (< 5%)", "speedup, with the kernel", "n / s", "asked", ""]
    missing = (
        "" if all_pairs(cells, MNIST_ALL, FCM) else "\n\nMNIST with all 70,000 rows needs `--exact`; without it the 20,000 rows stand in."
    )
    short_of = [line for line in lines if not line.quick_enough]
    why = (
        "\n\nWhere the speedup falls short: of the exact algorithm's kernel values, and of the numbers that it reads in a sweep, the "
        "sampled side still needs one in n / s, which is about the most that can be gained. Of that the factor of K_ss, whose work "
        "grows with the cube of s, and the certificate take their part."
        if short_of
        else ""
    )
    return "## What was asked of akFCM, and what came out\n\n" + table(head, rows) + missing + why


def _mark(good: bool) -> str:
    return "met" if good else "**not met**"


def _exact(cells: Cells) -> str:
    rows = []
    for name in (A3, MNIST, MNIST_ALL):
        for algorithm in ALGORITHMS:
            for variant in VARIANTS:
                cell = cells.get(exact_key(name, algorithm, variant))
                if not cell:
                    continue
                each = (
                    ""
                    if variant != CORRECTED
                    else seconds(float(np.mean([exact_seconds(cells, name, algorithm, i)[0] for i in _runs(cell)])))
                )
                look = [short(float(np.mean(cell[word]))) if word in cell else "" for word in ("peak", "separation")]
                numbers = [str(len(cell["purity"])), span(cell["purity"]), f"{np.mean(cell['sweeps']):.0f}", each, *look]
                rows.append([name_of(cells, name), algorithm, WORDS[variant], *numbers])
    head = ["data", "", "exponent", "runs", "purity", "sweeps", "seconds a run", "largest membership", "separation"]
    remarks = "\n\n".join(remark for name in (A3, MNIST) if (remark := _collapse(cells, name)))
    explained = (
        "Largest membership: of each row, on average; 1/c says nothing. Separation: how far the centres lie from their mean, squared, over "
        "the mean squared distance of rows to centres; below .01 they are one point. Sweeps count all passes over the rows, the fuzzy run "
        "of PCM too."
    )
    return joined("## What the exact algorithms find", table(head, rows) if rows else ABSENT, explained, remarks)


def _runs(cell: dict[str, list[float]]) -> range:
    return range(len(cell["purity"]))


def _collapse(cells: Cells, name: str) -> str:
    said = []
    for variant in VARIANTS:
        cell = cells.get(exact_key(name, FCM, variant))
        if cell and np.mean(cell["separation"]) < 0.01:
            said.append(f"{WORDS[variant]} (purity {short(float(np.mean(cell['purity'])))})")
    if not said:
        return ""
    return (
        f"**On {name_of(cells, name)} fuzzy c-means finds nothing with {', '.join(said)}**: all centres have fallen to the mean of the "
        "rows and memberships are 1/c. This is the exact algorithm's doing, not the sampling's: the fuzzifier is beyond the one at which "
        "the mean attracts all centres. Relative purity and error compare two such results."
    )


def _figure(cells: Cells, number: int) -> str:
    name, algorithm = FIGURES[number]
    title = f"## Figure {number}: ak{algorithm} on {name.split(' ')[0]}"
    parts = [table_of(cells, which, algorithm) for which in drawn(name)]
    if not any(parts):
        return joined(title, ABSENT)
    caption = f"Figure {number} again: ak{algorithm} against {algorithm} from the same starts."
    image = picture(f"havens2011-figure{number}", f"speedup, relative purity and error of ak{algorithm}", caption)
    return joined(title, image, *parts, _said(cells, number))


def table_of(cells: Cells, name: str, algorithm: str) -> str:
    rows = []
    for variant in VARIANTS:
        for pair in all_pairs(cells, name, algorithm, variant):
            found = [_mean(pair.speedup, ".1f"), _mean(pair.sweeps_speedup, ".1f"), _spanned(pair), span(pair.error, 3)]
            cell = pair.cell
            whole = seconds(float(np.mean(pair.seconds)))
            rows.append(
                [
                    WORDS[variant],
                    percent(pair.rate),
                    f"{pair.s:,}",
                    str(len(pair.purity)),
                    whole,
                    *found,
                    short(float(np.mean(cell["peak"]))),
                ]
            )
    if not rows:
        return ""
    head = [
        "exponent",
        "rate",
        "s",
        "runs",
        "seconds",
        "speedup",
        "without kernel",
        "relative purity",
        "error of E, %",
        "largest membership",
    ]
    return f"{name_of(cells, name)}: means (least to largest).\n\n" + table(head, rows)


def _mean(values: list[float], form: str) -> str:
    return f"{np.mean(values):,{form}} ({min(values):,{form}} to {max(values):,{form}})" if values else ""


def _spanned(pair: Pairs) -> str:
    return f"{signed(float(np.mean(pair.purity)))} ({signed(min(pair.purity))} to {signed(max(pair.purity))})"


SAID = {  # what the text says of the figures; their values are not printed
    2: ("akFCM is 10", "akFCM is as good as FCM on A3", "akFCM has a purity"),
    3: ("akPCM speeds up", "akPCM is better"),
    4: ("akFCM is 10 to 100", "akFCM differs"),
    5: ("akPCM loses",),
}


def _said(cells: Cells, number: int) -> str:
    chosen = [claim for claim in claims(cells) if claim.text.startswith(SAID[number])]
    if number == 2:
        chosen = [claim for claim in chosen if "MNIST" not in claim.text]
    rows = [[claim.text, f"**{claim.verdict}**", claim.why] for claim in chosen]
    name, algorithm = FIGURES[number]
    warning = (
        "E alone is no measure of PCM: without the penalty, memberships that are smaller everywhere make it smaller."
        if algorithm == PCM
        else ""
    )
    return joined(
        "The paper prints no values, but says of this figure:",
        table(["printed", "here", "ours"], rows),
        _differs(cells, name, algorithm),
        warning,
    )


def _differs(cells: Cells, name: str, algorithm: str) -> str:
    found = all_pairs(cells, name, algorithm)
    means = [float(np.mean(pair.purity)) for pair in found]
    if not means:
        return ""
    if fallen(cells, name, algorithm):
        return "With m = 2 both sides have collapsed here, so that quality says nothing." + _others(cells, name, algorithm)
    if max(abs(mean) for mean in means) <= 0.005:
        return "Sampling neither gains nor loses purity here: both sides reach the same fixed points from the same starts."
    return f"Mean relative purity lies between {signed(min(means))} and {signed(max(means))} over the rates."


def _others(cells: Cells, name: str, algorithm: str) -> str:
    """What the other exponents make of it."""
    said = []
    for variant in (PRINTED, AUTO):
        found = all_pairs(cells, name, algorithm, variant)
        if found:
            means = [float(np.mean(pair.purity)) for pair in found]
            apart = np.mean(cells[exact_key(name, algorithm, variant)]["separation"])
            state = "have collapsed too" if apart < 0.01 else f"keep a separation of {short(float(apart))}"
            said.append(f"{WORDS[variant]} the exact centres {state}, relative purity {signed(min(means))} to {signed(max(means))}")
    return f" With {'; '.join(said)}." if said else ""


def _claims(cells: Cells) -> str:
    rows = [[claim.text, claim.where, f"**{claim.verdict}**", claim.why] for claim in claims(cells)]
    return "## What the paper claims\n\n" + table(["claim", "where", "here", "ours"], rows)


def _times(cells: Cells) -> str:
    rows = [
        [key.removeprefix(STAGE), seconds(cell["seconds"])] for key, cell in cells.items() if key.startswith(STAGE) and "seconds" in cell
    ]
    left_out = [
        f"- {key.removeprefix(STAGE)}: {cell['reason']}" for key, cell in cells.items() if key.startswith(STAGE) and "reason" in cell
    ]
    machine = measured_on(cells)
    total = f"{minutes(cells):.1f} minutes, and {minutes(cells, exact=True):.1f} beside the exact runs."
    body = [table(["stage", "seconds"], rows) if rows else ABSENT, total, "\n".join(left_out), f"```\n{machine}\n```" if machine else ""]
    return joined("## How long it takes", *body)


__all__ = ["PCM", "page"]
