"""What came of each open question, computed from the stored cells."""

from __future__ import annotations

import numpy as np

from ..paper import BETTER, NOT, REPRODUCED, Claim
from ..results import Cells
from .gradients import SETS as LARGE
from .gradients import WAYS as SEARCHES
from .numbers import costs, excess, lines, mean, residuals, values
from .problems import PROBLEMS
from .runs import LOSS_SHARES, WAYS
from .scales import SETS

Answer = tuple[str, str]  # the verdict, and why
OPEN = ("not measured", "")
CLOSE = 0.5  # per cent of a cost, and points of ARI or success, that count as none
FEASIBLE = 10  # times the seconds of k-means from three starts


def claims(cells: Cells) -> list[Claim]:
    return [
        Claim("other samplings than uniform trade time and error better", "Havens 2011, VI", *samplings(cells)),
        Claim("ensembles of draws help", "Chitta 2011, 6", *ensembles(cells)),
        Claim("how former chunks are better passed on", "Zhang 2013, VI", *losses(cells)),
        Claim("lambda can be chosen automatically", "Xenaki 2014, 5", *scales(cells)),
        Claim("projected gradients can be fast enough for large data", "Liu 2021, 6", *gradients(cells)),
        Claim("how many landmarks are enough (sample complexity)", "Chitta 2011, 6", *enough(cells)),
        Claim("the loss imposed on the objective by the approximation is bounded", "Havens 2011, VI", *certified(cells)),
    ]


def samplings(cells: Cells) -> Answer:
    """rpcholesky against uniform."""
    there = lines(cells)
    if not there:
        return OPEN
    left = [residuals(cells, *line)["rpcholesky"] / residuals(cells, *line)["uniform"] for line in there]
    dearer = [costs(cells, *line)["rpcholesky"] - costs(cells, *line)["uniform"] for line in there]
    said = f"rpcholesky leaves {np.median(left):.2f} times as much of the trace as uniform (median of {len(left)}, {min(left):.2g} to "
    said += f"{max(left):.2g}); the cost of what is found is {np.median(dearer):+.2f}% (median, {min(dearer):+.1f} to {max(dearer):+.1f})"
    return (BETTER if np.median(left) < 1 and np.median(dearer) < CLOSE else NOT), said


def ensembles(cells: Cells) -> Answer:
    """Whether four draws, however put together, beat one draw of as many landmarks."""
    found = {name: {way: mean(excess(cells, f"ensemble | {name} | {way}")) for way in WAYS} for name in PROBLEMS}
    found = {name: costs for name, costs in found.items() if None not in costs.values()}
    if not found:
        return OPEN
    single, side, best, one = (np.array([costs[way] for costs in found.values()]) for way in WAYS)
    helps = [name for name, costs in found.items() if min(costs[WAYS[1]], costs[WAYS[2]]) < costs[WAYS[3]] - CLOSE]
    said = f"cost above exact, mean of {len(found)} problems: one small draw {single.mean():.2f}%, four side by side {side.mean():.2f}%, "
    said += f"the best certificate of four {best.mean():.2f}%, one draw of all their landmarks {one.mean():.2f}%; "
    said += f"an ensemble is clearly ahead of the one large draw on {', '.join(helps) or 'none'}"
    return (BETTER if len(helps) > len(found) / 2 else NOT), said


def losses(cells: Cells) -> Answer:
    keys = [key for key in cells if key.startswith("loss | ") and " | random | " in key]
    projection = {key: cells[key] for key in keys if key.endswith("stKFCM")}
    pairs = [
        (cell["ari"][0], cells[other]["ari"][0])
        for key, cell in projection.items()
        if (other := key.replace("| stKFCM", "| landmarks")) in cells
    ]
    if not pairs:
        return OPEN
    worst = max(max(cell["loss"]) for cell in projection.values())
    gaps = [ours - theirs for theirs, ours in pairs]
    said = f"rows in random order: projection loses up to {100 * worst:.0f}% of a squared norm in chunks of {min(LOSS_SHARES)} to "
    said += f"{max(LOSS_SHARES)}%; ARI of the landmark stream less that of stKFCM is {min(gaps):+.2f} to {max(gaps):+.2f}, "
    said += f"{np.mean(gaps):+.2f} in the mean"
    return (BETTER if np.mean(gaps) > 0 else NOT), said


def scales(cells: Cells) -> Answer:
    """SeqSAPCM, which asks for nothing but lambda: automatic against by hand."""
    parts, right = [], []
    for name, of in SETS.items():
        keys = [f"lambda | {name} | SeqSAPCM, {how}" for how in ("by hand", "auto")]
        if not all(key in cells for key in keys):
            continue
        (_, hand), (number, auto) = ((cells[key]["clusters"][0], cells[key]["success"][0]) for key in keys)
        parts.append(f"{name} {number} clusters at {auto:.1f} (by hand {hand:.1f})")
        right.append(number == of.classes and auto >= hand - CLOSE)
    if not parts:
        return OPEN
    return (
        REPRODUCED if all(right) else NOT
    ), f"SeqSAPCM, success rate: {', '.join(parts)}; as good as by hand on {sum(right)} of {len(right)}"


def gradients(cells: Cells) -> Answer:
    """Feasible: within a few times of k-means from three starts; better: with a lower objective too."""
    parts, ahead, paces = [], [], []
    for name in LARGE:
        keys = [f"gradients | {name} | {way}" for way in SEARCHES]
        if not all(key in cells for key in keys):
            continue
        starts, plain, polished = (cells[key]["objective"][0] for key in keys)
        pace = cells[keys[1]]["busy"][0] / cells[keys[0]]["busy"][0]
        best = 100 * (min(plain, polished) / starts - 1)
        parts.append(f"{name} {best:+.2f}% at {pace:.1f} times the processor time ({100 * (polished / plain - 1):+.2f}% by the polish)")
        ahead.append(best < 0)
        paces.append(pace)
    if not parts:
        return OPEN
    verdict = NOT if max(paces) > FEASIBLE else BETTER if all(ahead) else REPRODUCED
    said = f"objective against the best of three k-means++ starts: {', '.join(parts)}"
    return verdict, said + ("" if all(ahead) else "; so it is fast enough, but starts of k-means do as well")


def enough(cells: Cells) -> Answer:
    """What n_landmarks="auto" chose, and whether what it found costs as little as an exact fit."""
    found = {name: cells[key] for name in PROBLEMS if (key := f"auto | {name}") in cells}
    if not found:
        return OPEN
    over = {name: mean(excess(cells, f"auto | {name}")) or 0.0 for name in found}
    said = ", ".join(f"{name} {np.mean(cell['landmarks']):.0f} ({over[name]:+.2f}%)" for name, cell in found.items())
    said = f'n_landmarks="auto" takes, and costs more than exact by: {said}'
    return (REPRODUCED if max(over.values()) < 2.0 else NOT), said


def certified(cells: Cells) -> Answer:
    """Whether true costs lie between the certified bounds."""
    inside, of, widths = 0, 0, []
    for name in PROBLEMS:
        low, high, cost = (values(cells, f"auto | {name}", field) for field in ("low", "high", "cost"))
        if len(low):
            inside, of = inside + int(((low <= cost) & (cost <= high)).sum()), of + len(low)
            widths += list(100 * (high - low) / high)
    if not of:
        return OPEN
    said = f"the true cost lay between the bounds of `approximation_` in {inside} of {of} fits; they are {min(widths):.2g} to "
    return (REPRODUCED if inside == of else NOT), said + f"{max(widths):.2g}% apart"
