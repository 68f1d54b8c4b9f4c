"""What the paper claims and what was asked of the streams here; verdicts are computed from the stored cells."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import NamedTuple

import numpy as np

from ..markdown import percent, short, table
from ..paper import BETTER, NOT, REPRODUCED, Claim
from ..results import Cells
from .extras import SMALL
from .printed import CHUNKS, WHOLE
from .runs import ALL_ROWS, AUTOMATIC, CASES, PRINTED_M, key_of
from .tables import mean, seconds_of

SLACK_OF_KFCM = 0.02  # of ARI, down to 2% chunks
SLACK_OF_LANDMARKS = 0.01
SLACK_OF_OBJECTIVE = 0.005
SEVERAL_TIMES = 3.0  # over the best printed ARI on MNIST
MUCH = 2.0  # times as fast, to be much faster
NARROW = "order | 2D15, gamma 50 | random | 1% | stKFCM, update"  # a tenth of the paper's width, in small chunks


class Verdict(NamedTuple):
    claim: str
    found: str
    met: bool


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


def verdicts_table(cells: Cells) -> str:
    return table(["asked", "found", ""], [[v.claim, v.found, "met" if v.met else "**not met**"] for v in acceptance(cells)])


# -------------------------------------------------------------------------------------------------------------------------- claims


Judge = Callable[[Cells], tuple[bool | None, str]]  # whether it came out, and the numbers; None: not measured


def claims(cells: Cells) -> list[Claim]:
    """What the paper says, and what came of it."""
    found = []
    for text, where, judge in CLAIMS:
        true, why = judge(cells)
        verdict = "not measured" if true is None else REPRODUCED if true else NOT
        found.append(Claim(text, where, verdict, why))
    return [*found, _beyond(cells)]


def _level(cells: Cells, name: str, method: str, least: float = 0.0) -> dict[float, float]:
    """Mean ARI by the share of the rows in a chunk."""
    found = {share: mean(cells, key_of(name, PRINTED_M, method, share)) for share in CASES[name].shares if share >= least}
    return {share: value for share, value in found.items() if value is not None}


def _as_good(cells: Cells) -> tuple[bool | None, str]:
    verdicts = _near_kfcm(cells)
    said = "; ".join(f"{name}: {verdict.found}" for name, verdict in zip(SMALL, verdicts, strict=False))
    return (all(verdict.met for verdict in verdicts), f"mean ARI. {said}") if verdicts else (None, "")


def _better_than_patches(cells: Cells) -> tuple[bool | None, str]:
    stream, patch = _level(cells, "2D50", "stKFCM"), _level(cells, "2D50", "KPC")
    if not stream or stream.keys() != patch.keys():
        return None, ""
    ahead = [share for share in stream if stream[share] > patch[share]]
    small = min(stream)
    said = f"2D50: ahead in ARI at {len(ahead)} of {len(stream)} chunk sizes; "
    said += f"at {percent(small)} {short(stream[small])} and {short(patch[small])}"
    return stream[small] > patch[small] and len(ahead) > len(stream) / 2, said


def _pace(cells: Cells, name: str, share: float, slow: str, fast: str) -> float | None:
    keys = [key_of(name, PRINTED_M, slow, None if slow in ("KFCM", ALL_ROWS) else share), key_of(name, PRINTED_M, fast, share)]
    if not all(key in cells for key in keys):
        return None
    slower, faster = (float(np.median(seconds_of(cells, key))) for key in keys)
    return slower / faster


def _faster_than_all_rows(cells: Cells) -> tuple[bool | None, str]:
    ours = {name: _pace(cells, name, 2, "KFCM", "stKFCM") for name in SMALL}
    if None in ours.values():
        return None, ""
    printed = {name: WHOLE[name].seconds / CHUNKS[name]["stKFCM", 2].seconds for name in SMALL}  # type: ignore[operator]
    said = "; ".join(f"{name} at 2%: {ours[name]:.1f} times as fast (printed {printed[name]:.0f})" for name in SMALL)
    why = "; our KFCM finds the numerical rank of the kernel, some hundred, and works there: it is fast itself"
    slower = [name for name in SMALL if ours[name] < printed[name]]  # type: ignore[operator]
    return all(value >= MUCH for value in ours.values() if value), said + (why if slower else "")


def _faster_than_patches(cells: Cells) -> tuple[bool | None, str]:
    ratios = {(name, share): _pace(cells, name, share, "KPC", "stKFCM") for name in SMALL for share in (2, 1)}
    values = {where: value for where, value in ratios.items() if value is not None}
    said = ", ".join(f"{name} {share}%: {value:.1f}" for (name, share), value in values.items())
    return (all(value > 1 for value in values.values()), f"CPU seconds of KPC over those of stKFCM: {said}") if values else (None, "")


def _slower_at_large(cells: Cells) -> tuple[bool | None, str]:
    ratios = {name: _pace(cells, name, 50, "stKFCM", "KPC") for name in SMALL}
    values = {name: value for name, value in ratios.items() if value is not None}
    printed = {name: CHUNKS[name]["stKFCM", 50].seconds / CHUNKS[name]["KPC", 50].seconds for name in values}  # type: ignore[operator]
    said = ", ".join(f"{name}: {value:.1f} (printed {printed[name]:.1f})" for name, value in values.items())
    text = f"seconds of stKFCM over those of KPC in halves: {said}; both factor one matrix a chunk here"
    return (all(value > 1.2 for value in values.values()), text) if values else (None, "")


def _memory(cells: Cells) -> tuple[bool | None, str]:
    keys = ["memory | " + key_of("2D15", PRINTED_M, method, share) for method, share in ((ALL_ROWS, None), ("stKFCM", 50), ("stKFCM", 5))]
    if not all(key in cells for key in keys):
        return None, ""
    whole, half, small = (cells[key]["megabytes"] for key in keys)
    literal = 8e-6 * CASES["2D15"].size[0] ** 2
    said = (
        f"2D15: all kernel values are {literal:.0f} MB; stKFCM takes {half:.0f} MB in halves and {small:.1f} MB in chunks of 5% (and our "
    )
    return 10 * small < min(half, literal), said + f"KFCM, at the numerical rank of the kernel, {whole:.0f} MB)"


def _above_kfcm(method: str, least: float, cells: Cells) -> tuple[bool | None, str]:
    whole = mean(cells, key_of("MNIST", PRINTED_M, "KFCM", None)) or mean(cells, key_of("MNIST", PRINTED_M, "akFCM", None))
    found = _level(cells, "MNIST", method, least)
    if whole is None or not found:
        return None, ""
    above = [share for share in found if found[share] >= whole]
    said = (
        f"ARI {short(min(found.values()))} to {short(max(found.values()))} against {short(whole)}: so at {len(above)} of {len(found)} sizes"
    )
    return len(above) == len(found), said


def _mnist_level(cells: Cells) -> tuple[bool | None, str]:
    whole, found = mean(cells, key_of("MNIST", PRINTED_M, "KFCM", None)), _level(cells, "MNIST", "stKFCM")
    if not found:
        return None, ""
    best = max(cell.ari for (method, _), cell in CHUNKS["MNIST"].items() if method == "stKFCM")
    said = f"KFCM {'*(only with --exact)*' if whole is None else short(whole)} (printed {short(WHOLE['MNIST'].ari)}), "
    said += f"stKFCM at most {short(max(found.values()))} (printed {short(best)}): m = {PRINTED_M:g} makes all centres fall together"
    return (whole is None or abs(whole - WHOLE["MNIST"].ari) < 0.01) and max(found.values()) < 2 * best, said


def _forest(cells: Cells) -> tuple[bool | None, str]:
    found = [value for method in ("KPC", "stKFCM") for value in _level(cells, "Forest", method).values()]
    if not found:
        return None, ""
    return max(found) < 0.1, f"ARI {short(min(found))} to {short(max(found))}: the classes are no clusters for any of these methods"


def _bounded_loss(cells: Cells) -> tuple[bool | None, str]:
    if NARROW not in cells:
        return None, ""
    cell = cells[NARROW]
    said = f"with a tenth of the width, chunks of 1% lose up to {100 * max(cell['loss']):.0f}% of a centre's squared norm"
    return max(
        cell["loss"]
    ) < 0.1, f"{said}, and ARI is {short(float(np.mean(cell['ari'])))}; the paper's width is nearly linear, and loses nothing"


def _beyond(cells: Cells) -> Claim:
    """What the paper leaves to the future."""
    text, where = "how better to pass on what former chunks knew", "VI, future work"
    pairs = pairs_of(cells, "seconds")
    if not pairs:
        return Claim(text, where, "not measured", "")
    ratio = float(np.median([theirs / ours for ours, theirs in pairs.values()]))
    why = "chunks that share landmarks need no projection: "
    why += f"{ratio:.1f} times as fast as stKFCM in the median of {len(pairs)} rows of Table II"
    return Claim(text, where, BETTER if ratio > 1 else NOT, f"{why}; see [beyond](beyond.md)")


CLAIMS: tuple[tuple[str, str, Judge], ...] = (
    ("stKFCM in small chunks is as good as KFCM on all rows", "abstract, Table II", _as_good),
    ("projection is better than the carried rows of KPC", "V, VI", _better_than_patches),
    ("stKFCM is much faster than KFCM", "V, Table II", _faster_than_all_rows),
    ("stKFCM is faster than KPC in small chunks", "V", _faster_than_patches),
    ("KPC is faster in large chunks, for the inverse in stKFCM", "V", _slower_at_large),
    ("memory is that of a chunk squared, not of all rows squared", "abstract, Fig. 1", _memory),
    ("on MNIST KFCM and stKFCM have ARI of .03 to .05 at m = 1.7", "Table II", _mnist_level),
    ("on MNIST stKFCM exceeds KFCM in chunks above .02%", "V", partial(_above_kfcm, "stKFCM", 0.05)),
    ("on MNIST KPC meets KFCM in chunks above .5%", "V", partial(_above_kfcm, "KPC", 1)),
    ("on Forest KPC and stKFCM struggle in ARI", "V", _forest),
    ("what projection loses is bounded", "Remark 2", _bounded_loss),
)
