"""What came of each open question, computed from the stored cells."""

from __future__ import annotations

import numpy as np

from ..paper import Claim
from ..results import Cells, mean
from .gradients import SETS as LARGE
from .gradients import WAYS as SEARCHES
from .numbers import excess, lines, residuals, values
from .problems import PROBLEMS
from .runs import LOSS_SHARES, METHODS, WAYS
from .scales import SETS

Answer = tuple[str, str]  # the verdict, and why
OPEN = ("not measured", "")
YES, NO = "yes", "no"
CLOSE = 0.5  # points of success that count as none
CLEARLY = 0.1  # per cent of a cost
FEASIBLE = 10  # times the seconds of k-means from three starts


def claims(cells: Cells) -> list[Claim]:
    return [
        Claim("other samplings than uniform trade time and error better", "Havens 2011, VI", *samplings(cells)),
        Claim("ensembles of draws help", "Chitta 2011, 6", *ensembles(cells)),
        Claim("how former chunks are better passed on", "Zhang 2013, VI", *losses(cells)),
        Claim("lambda can be chosen automatically", "Xenaki 2014, 5", *scales(cells)),
        Claim("projected gradients pay on large data", "Liu 2021, 6", *gradients(cells)),
        Claim("how many landmarks are enough (sample complexity)", "Chitta 2011, 6", *enough(cells)),
        Claim("the loss imposed on the objective by the approximation is bounded", "Havens 2011, VI", *certified(cells)),
    ]


def samplings(cells: Cells) -> Answer:
    """rpcholesky against uniform."""
    there = lines(cells)
    if not there:
        return OPEN
    left = [residuals(cells, *line)["rpcholesky"] / residuals(cells, *line)["uniform"] for line in there]
    away = {method: np.median([_away(cells, f"sampling | {name} | {size} | {method}") for name, size in there]) for method in METHODS}
    said = f"rpcholesky leaves {np.median(left):.2f} times as much of the trace as uniform (median of {len(left)}, {min(left):.2g} to "
    said += f"{max(left):.2g}); what is found costs {away['rpcholesky']:.2g}% more or less than the exact partition (median), and "
    said += f"{away['uniform']:.2g}% with uniform ones"
    return (YES if np.median(left) < 1 and away["rpcholesky"] <= away["uniform"] else NO), said


def ensembles(cells: Cells) -> Answer:
    """Whether four draws, however put together, come nearer to the exact cost than one draw of as many landmarks."""
    there = [name for name in PROBLEMS if all(len(excess(cells, f"ensemble | {name} | {way}")) for way in WAYS)]
    if not there:
        return OPEN
    away = {name: [_away(cells, f"ensemble | {name} | {way}") for way in WAYS] for name in there}
    helps = [name for name, (_, side, best, one) in away.items() if min(side, best) < one - CLEARLY]
    means = [f"{value:.2g}%" for value in np.mean(list(away.values()), axis=0)]
    said = f"away from the exact cost, mean of {len(there)} problems: one small draw {means[0]}, four side by side {means[1]}, the best "
    said += f"certificate of four {means[2]}, one draw of all their landmarks {means[3]}; an ensemble comes clearly nearer than the large "
    said += f"draw on {', '.join(helps) or 'none'}"
    return (YES if len(helps) > len(there) / 2 else NO), said


def _away(cells: Cells, key: str) -> float:
    """Mean distance from the exact cost, per cent: the exact partition is but one of many minima, so below it is no merit."""
    return float(np.abs(excess(cells, key)).mean())


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
    return (YES if np.mean(gaps) > 0 else NO), said


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
    return (YES if all(right) else NO), f"SeqSAPCM, success rate: {', '.join(parts)}; as good as by hand on {sum(right)} of {len(right)}"


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
    verdict = NO if max(paces) > FEASIBLE else YES
    said = f"objective against the best of three k-means++ starts: {', '.join(parts)}"
    if max(paces) > FEASIBLE:
        said += "; starts of k-means take a fraction of the time"
    return verdict, said + ("" if all(ahead) else " and do as well" if max(paces) > FEASIBLE else "; starts of k-means do as well")


def enough(cells: Cells) -> Answer:
    """What n_landmarks="auto" chose, and whether what it found costs as little as an exact fit."""
    found = {name: cells[key] for name in PROBLEMS if (key := f"auto | {name}") in cells}
    if not found:
        return OPEN
    over = {name: mean(excess(cells, f"auto | {name}")) or 0.0 for name in found}
    said = ", ".join(f"{name} {np.mean(cell['landmarks']):.0f} ({over[name]:+.2f}%)" for name, cell in found.items())
    said = f'n_landmarks="auto" takes, and costs more than exact by: {said}'
    return (YES if max(over.values()) < 2.0 else NO), said


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
    return (YES if inside == of else NO), said + f"{max(widths):.2g}% apart"
