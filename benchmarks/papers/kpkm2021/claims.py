"""What Liu et al. 2021 claim, and what came of it."""

from __future__ import annotations

from ..markdown import seconds, signed
from ..paper import BETTER, NOT, REPRODUCED, Claim
from ..results import Cells
from . import printed
from .methods import OURS
from .page import digit_leads
from .reading import compared, dense_cells, dense_share, descents, listed, measured_sets, parted, same_end, share, steps_of, wins
from .runs import GAMMAS, kernel_name
from .times_page import all_fewer, percent

UNMEASURED = "not measured"


def verdict(holds: bool) -> str:
    return REPRODUCED if holds else NOT


def claims(cells: Cells) -> list[Claim]:
    return [*_rings(cells), *_sets(cells), *_digits(cells), *_descent(cells), *_speed(cells)]


def _rings(cells: Cells) -> list[Claim]:
    text, where = "RBF parts disc and ring perfectly, the linear kernel does not", "5.1, Figure 3"
    kernels = [kernel_name(gamma) for gamma in GAMMAS if gamma is not None and parted(cells, kernel_name(gamma), "KPKM")]
    linear = parted(cells, "linear", "KPKM", "ten")
    if not kernels or linear is None:
        return [Claim(text, where, UNMEASURED, "")]
    counts = {kernel: parted(cells, kernel, "KPKM", "ten") or (0, 1) for kernel in kernels}
    top = max(counts, key=lambda kernel: counts[kernel][0])
    why = f"draws without error from ten starts: {counts[top][0]} of {counts[top][1]} ({top}), linear {linear[0]} of {linear[1]}"
    return [Claim(text, where, verdict(counts[top][0] == counts[top][1] and linear[0] == 0), why)]


def _sets(cells: Cells) -> list[Claim]:
    made = []
    names = measured_sets(cells)
    most = {}
    for score, counts in printed.BEST.items():
        text, said = f"KPKM is best by {score} on {counts['KPKM']} of {printed.SETS} UCI sets", counts["KPKM"] or 0
        if not names:
            made.append(Claim(text, "5.2, Table 4", UNMEASURED, ""))
            continue
        ours = wins(cells, score)
        most[score] = [method for method, count in ours.items() if count == max(ours.values())]
        why = f"best on {ours['KPKM']} of {len(names)} sets (ties count), with the same scan of widths for each method"
        made.append(Claim(text, "5.2, Table 4", verdict(ours["KPKM"] >= said), why))
    text = "overall KPKM is better than KFCM, KKM, FCM and KM"
    if names:
        why = "most often best: " + ", ".join(f"{listed(first)} by {score}" for score, first in most.items())
        made.append(Claim(text, "5.2, section 6", verdict(all(first == [OURS[0]] for first in most.values())), why))
    else:
        made.append(Claim(text, "5.2, section 6", UNMEASURED, ""))
    return made


def _digits(cells: Cells) -> list[Claim]:
    made = []
    for other in ("KFCM m=1.3", "KKM"):
        text = f"on digits with CW-SSIM KPKM is ahead of {other.replace('=', ' = ')} by NMI, ARI and V-measure"
        leads = digit_leads(cells, "CW-SSIM", other)
        why = "KPKM's lead: " + ", ".join(f"{score} {signed(value)}" for score, value in leads.items()) if leads else ""
        made.append(Claim(text, "5.3, Table 5", verdict(min(leads.values()) > 0) if leads else UNMEASURED, why))
    names = {"KPKM": "KPKM, CW-SSIM", "KKM": "KKM, CW-SSIM", "KFCM m=1.3": "KFCM m = 1.3, CW-SSIM"}
    found = {method: len(cells[key]["images"]) for method, name in names.items() if (key := f"figure 5 | {name}") in cells}
    text = "KPKM and KKM find ten clusters of digits, KFCM (m = 1.3) seven"
    why = "found " + ", ".join(f"{method} {count}" for method, count in found.items()) + " (one run)" if found else ""
    made.append(Claim(text, "5.3, Figure 5", verdict(found == printed.CLUSTERS) if found else UNMEASURED, why))
    return made


def _descent(cells: Cells) -> list[Claim]:
    found = descents(cells)
    if not found:
        return [
            Claim("FAGP descends in every step, without oscillation", "5.4, Figure 6", UNMEASURED, ""),
            Claim("the final p are 0 or 1", "section 3", UNMEASURED, ""),
        ]
    rises, steps = (sum(cell[name] for cell in found.values()) for name in ("rises", "steps"))
    crisp = sum(cell["crisp"] for cell in found.values())
    return [
        Claim(
            "FAGP descends in every step, without oscillation",
            "5.4, Figure 6",
            verdict(rises == 0),
            f"{rises} of {steps:,} steps on {len(found)} sets went up; concavity allows no other",
        ),
        Claim("the final p are 0 or 1", "section 3", verdict(crisp == len(found)), f"in {crisp} of {len(found)} walks"),
    ]


def _speed(cells: Cells) -> list[Claim]:
    fewer, same = all_fewer(cells), same_end(cells)
    names, steps = compared(cells), steps_of(cells)
    made = []
    text = "FAGP needs fewer iterations than AGP"
    why = f"in {fewer[0]} of {fewer[1]} pairs from the same start, AGP's step {listed([f'{step:g}' for step in steps])}"
    made.append(Claim(text, "5.5, Tables 6 and 7", verdict(fewer[0] == fewer[1]) if fewer[1] else UNMEASURED, why if fewer[1] else ""))
    text = "FAGP solves the same problem: it ends where AGP ends"
    why = f"{same[0]} of {same[1]} runs of AGP end in FAGP's partition"
    made.append(Claim(text, "section 6", verdict(same[0] >= 0.95 * same[1]) if same[1] else UNMEASURED, why if same[1] else ""))
    made.append(_shares(cells))
    text = f"on {listed([name.capitalize() for name in printed.SHORT])} FAGP takes less than {printed.SHORT_SHARE:g}% of AGP's time"
    least = {step: [share(cells, name, step) for name in printed.SHORT] for step in steps if set(printed.SHORT) <= set(names)}
    whole = {step: [value for value in values if value is not None] for step, values in least.items()}
    whole = {step: values for step, values in whole.items() if len(values) == len(printed.SHORT)}
    if whole:
        why = "; ".join(f"step {step:g}: " + ", ".join(percent(value) for value in values) for step, values in whole.items())
        holds = any(max(values) < printed.SHORT_SHARE for values in whole.values())
        made.append(Claim(text, "5.5", verdict(holds), f"closed form, by AGP's step: {why}"))
    else:
        made.append(Claim(text, "5.5", UNMEASURED, ""))
    text = "large sets, for which AGP takes too long, are within FAGP's reach"
    if "times | large" in cells:
        cell = {name: values[0] for name, values in cells["times | large"].items()}
        why = f"{cell['rows']:,} digits in ten clusters in closed form: {cell['iterations']:,} steps, {seconds(cell['seconds'])} s"
        made.append(Claim(text, "5.5", REPRODUCED, why))
    else:
        made.append(Claim(text, "5.5", UNMEASURED, ""))
    return made


def _shares(cells: Cells) -> Claim:
    low, high = printed.SHARE
    text, where = f"FAGP takes {low:.2f} to {high:.2f}% of AGP's time", "5.5, section 6"
    shares = [dense_share(cell) for cell in dense_cells(cells).values()]
    if not shares:
        return Claim(text, where, UNMEASURED, "")
    what = BETTER if max(shares) < low else verdict(max(shares) <= high)
    why = f"with dense projectors {percent(min(shares))} to {percent(max(shares))}, by AGP's step and n; the paper does not give its step"
    return Claim(text, where, what, why)
