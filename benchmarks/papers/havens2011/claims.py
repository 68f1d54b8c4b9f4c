"""What the paper says, and what came of it."""

from __future__ import annotations

import numpy as np

from ..markdown import short, signed
from ..paper import BETTER, NOT, REPRODUCED, Claim
from ..results import Cells
from .compare import A3, FCM, MNIST_ALL, PCM, Line, Pairs, all_pairs, largest, line, name_of
from .fits import PRINTED
from .printed import CLUTO, SIZES, TABLE

MISSING = "not measured"
KERNELS = {"polynomial": "polynomial", "RBF": "RBF, sigma 1"}  # as printed: as run


def claims(cells: Cells) -> list[Claim]:
    return [*_speed(cells), *_quality(cells), *_table(cells), *_words(cells)]


def _speed(cells: Cells) -> list[Claim]:
    a3 = [pair for pair in all_pairs(cells, A3, FCM) if pair.rate <= 3]
    name = largest(cells)
    digits = [pair for pair in all_pairs(cells, name, FCM) if pair.rate <= 0.5]
    possibilistic = [(ours, pcm) for ours, pcm in zip(all_pairs(cells, A3, FCM), all_pairs(cells, A3, PCM), strict=False)]
    return [
        _of_speed("akFCM is 10 times as fast on A3 at s <= 250 (3%)", "V.B, figure 2", a3, 10, min),
        _of_speed("akFCM is 10 to 100 times as fast on MNIST at low rates", "V.B, figure 4", digits, 10, min, name_of(cells, name)),
        _of_speed("up to 3 orders of magnitude of speedup", "abstract", all_pairs(cells, name, FCM), 1000, max, name_of(cells, name)),
        _similar(possibilistic),
    ]


def _of_speed(text: str, where: str, found: list[Pairs], wanted: float, of: object, rows: str = "") -> Claim:
    if not found:
        return Claim(text, where, NOT, MISSING)
    whole = of([float(np.mean(pair.speedup)) for pair in found])  # type: ignore[operator]
    kernel_apart = [float(np.mean(pair.sweeps_speedup)) for pair in found if pair.sweeps_speedup]
    apart = of(kernel_apart) if kernel_apart else None  # type: ignore[operator]
    word = "least" if of is min else "largest"
    why = f"{word} mean over these rates {whole:,.0f} with the kernel values" + (f", {apart:,.0f} without" if apart is not None else "")
    reached = max(whole, apart or 0.0) >= wanted
    return Claim(text, where, REPRODUCED if reached else NOT, why + (f"; {rows}" if rows else ""))


def _similar(both: list[tuple[Pairs, Pairs]]) -> Claim:
    text, where = "akPCM speeds up like akFCM", "V.B, figure 3"
    if not both:
        return Claim(text, where, NOT, MISSING)
    ratios = [float(np.mean(pcm.speedup) / np.mean(fcm.speedup)) for fcm, pcm in both]
    return Claim(
        text, where, REPRODUCED if min(ratios) > 0.4 else NOT, f"{min(ratios):.2f} to {max(ratios):.2f} times that of akFCM, on A3"
    )


def _quality(cells: Cells) -> list[Claim]:
    name = largest(cells)
    return [
        _equal("akFCM is as good as FCM on A3 at every rate", "V.B, figure 2", all_pairs(cells, A3, FCM)),
        _gain("akFCM has a purity 2% above FCM's on A3 at s = 1500", "V.B, figure 2", all_pairs(cells, A3, FCM)[-1:]),
        _gain("akPCM is better than PCM on A3", "V.B, figure 3", all_pairs(cells, A3, PCM)),
        _equal("akFCM differs negligibly from FCM on MNIST", "V.B, figure 4", all_pairs(cells, name, FCM), fallen(cells, name, FCM)),
        _loss(cells, name),
    ]


def _equal(text: str, where: str, found: list[Pairs], remark: str = "") -> Claim:
    if not found:
        return Claim(text, where, NOT, MISSING)
    purity, error = min(float(np.mean(pair.purity)) for pair in found), max(float(np.mean(pair.error)) for pair in found)
    why = f"worst rate: relative purity {signed(purity)}, E {error:+.2f}%{remark}"
    return Claim(text, where, REPRODUCED if purity >= -0.02 and error < 5 else NOT, why)


def _gain(text: str, where: str, found: list[Pairs]) -> Claim:
    if not found:
        return Claim(text, where, NOT, MISSING)
    means = [float(np.mean(pair.purity)) for pair in found]
    reached = min(means) > 0.005
    same = max(abs(value) for value in means) <= 0.005
    why = f"relative purity {signed(min(means))} to {signed(max(means))}" if len(means) > 1 else f"relative purity {signed(means[0])}"
    return Claim(text, where, REPRODUCED if reached else NOT, why + ("; the same to half a per cent" if same else ""))


def fallen(cells: Cells, name: str, algorithm: str) -> str:
    """A remark where all centres have fallen together."""
    found = [pair for pair in all_pairs(cells, name, algorithm) if "separation" in pair.cell]
    if not found:
        return ""
    apart = max(float(np.mean(pair.cell["separation"])) for pair in found)
    return "; but all centres have fallen together, so there is nothing to lose" if apart < 0.01 else ""


def _loss(cells: Cells, name: str) -> Claim:
    text, where, found = "akPCM loses about 3% of purity on MNIST", "V.B, figure 5", all_pairs(cells, name, PCM)
    if not found:
        return Claim(text, where, NOT, MISSING)
    worst = min(float(np.mean(pair.purity)) for pair in found)
    why = f"worst rate: relative purity {signed(worst)}{fallen(cells, name, PCM)}"
    return Claim(text, where, BETTER if worst > -0.01 else REPRODUCED if worst > -0.05 else NOT, why)


def _table(cells: Cells) -> list[Claim]:
    made = []
    for (name, kernel, algorithm), printed in TABLE.items():
        text = f"ak{algorithm}, {name}, {kernel}: purity {' '.join(short(purity, 2) for _, purity in printed)}"
        lines = [line(cells, name, KERNELS[kernel], s, algorithm) for s in SIZES[name]]
        made.append(Claim(text, "Table II", *_beside([found for found in lines if found], [purity for _, purity in printed])))
    return made


def _beside(lines: list[Line], printed: list[float]) -> tuple[str, str]:
    if not lines:
        return NOT, MISSING
    gaps = [found.mean - value for found, value in zip(lines, printed, strict=False)]
    why = "mean " + " ".join(short(found.mean, 2) for found in lines) + ", largest " + " ".join(short(found.most, 2) for found in lines)
    within = all(abs(gap) <= 0.03 for gap in gaps)
    return REPRODUCED if within else BETTER if min(gaps) > -0.03 else NOT, why + " (exponent as printed)"


def _words(cells: Cells) -> list[Claim]:
    made = []
    for name, value in CLUTO.items():
        found = [f for kernel in KERNELS.values() for s in SIZES[name] if (f := line(cells, name, kernel, s, FCM))]
        text = f"akFCM is slightly better than CLUTO, which has {short(value, 2)} on {name}"
        if found:
            means = [f.mean for f in found]
            why = f"mean purities {short(min(means), 2)} to {short(max(means), 2)}; CLUTO's is the number printed"
            made.append(Claim(text, "V.C", REPRODUCED if min(means) > value else NOT, why))
        else:
            made.append(Claim(text, "V.C", NOT, MISSING))
    perfect = [f for kernel in KERNELS.values() for s in SIZES["mammals"] if (f := line(cells, "mammals", kernel, s, FCM))]
    runs, hits = sum(f.runs for f in perfect), sum(f.perfect for f in perfect)
    why = f"{hits} of {runs} runs" if perfect else MISSING
    made.append(Claim("many runs of akFCM on the mammals have purity 1", "V.C", REPRODUCED if hits >= max(1, runs / 10) else NOT, why))
    made.append(_error_rate(cells))
    return made


def _error_rate(cells: Cells) -> Claim:
    """The expectation O(1/s): the slope of log error over log s, where the error is measurable."""
    text, where = "the loss of E is expected to fall as 1 / s", "IV"
    rows = [(pair.s, float(np.mean(pair.error))) for pair in all_pairs(cells, largest(cells), FCM)]
    rows = [(s, error) for s, error in rows if error > 1e-3]
    if len(rows) < 3:
        return Claim(text, where, NOT, MISSING if not rows else "too few sizes with an error that can be told from 0")
    s, error = np.log(np.array(rows)).T
    slope = float(np.polyfit(s, error, 1)[0])
    verdict = REPRODUCED if -1.4 <= slope <= -0.6 else BETTER if slope < -1.4 else NOT
    why = f"E's excess falls as s^{slope:.2f} on {name_of(cells, largest(cells))} ({rows[0][1]:.2g}% to {rows[-1][1]:.2g}%)"
    return Claim(text, where, verdict, why)


__all__ = ["MNIST_ALL", "PRINTED", "claims", "fallen"]
