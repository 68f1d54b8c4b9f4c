"""From stored runs to what the paper plots: each sampled run against the exact one from the same start."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..results import Cell, Cells
from .fits import CORRECTED, FCM, PCM, PRINTED
from .runs import A3, MNIST, MNIST_ALL, TIMED, exact_key, key, table_key, whole_key

NAMES = (A3, MNIST, MNIST_ALL)


class Pairs(NamedTuple):
    """Of the runs that both sides have, in their order."""

    s: int
    rate: float  # per cent
    purity: list[float]  # P_samp - P_full
    error: list[float]  # per cent of E_full
    speedup: list[float]  # kernel values included, of fits from the rows where there are such
    seconds: list[float]  # of those
    sweeps_speedup: list[float]  # without them, as the paper counts
    cell: Cell  # of the sampled runs


def sizes(cells: Cells, name: str) -> list[tuple[int, float]]:
    """Sample sizes and rates of a data set."""
    about = cells.get(f"{name} | about", {})
    return list(zip(about.get("sizes", ()), about.get("rates", ()), strict=True))


def pairs(cells: Cells, name: str, s: int, rate: float, algorithm: str, variant: str = CORRECTED) -> Pairs | None:
    sampled, exact = cells.get(key(name, s, algorithm, variant)), cells.get(exact_key(name, algorithm, variant))
    if not sampled or not exact:
        return None
    n = min(len(sampled["purity"]), len(exact["purity"]))
    runs = range(n)
    full = [exact_seconds(cells, name, algorithm, run) for run in runs] if variant == CORRECTED else []
    ours = list(zip(sampled["seconds"], sampled["kernel_seconds"], strict=True))
    wholes = cells.get(whole_key(name, s, algorithm), {}).get("seconds", []) if variant == CORRECTED else []
    wholes = wholes if len(wholes) >= n else [sum(parts) for parts in ours]
    return Pairs(
        s,
        rate,
        [sampled["purity"][run] - exact["purity"][run] for run in runs],
        [100 * (sampled["objective"][run] - exact["objective"][run]) / exact["objective"][run] for run in runs],
        [whole / wholes[run] for run, (whole, _) in enumerate(full)],
        wholes,
        [sweeps / ours[run][0] for run, (_, sweeps) in enumerate(full)],
        sampled,
    )


def all_pairs(cells: Cells, name: str, algorithm: str, variant: str = CORRECTED) -> list[Pairs]:
    found = (pairs(cells, name, s, rate, algorithm, variant) for s, rate in sizes(cells, name))
    return [pair for pair in found if pair is not None]


def exact_seconds(cells: Cells, name: str, algorithm: str, run: int) -> tuple[float, float]:
    """Of one exact run: all of it, and its fit alone.

    On A3 a few runs are timed on all n^2 kernel values; the others take as long a sweep as those, times their sweeps.
    """
    exact = cells[exact_key(name, algorithm, CORRECTED)]
    full = cells.get(f"{name} | full | {algorithm}") or cells.get(f"{name} | full | {FCM}")
    if full is None:
        fit = exact["seconds"][run]
        return fit + exact["kernel_seconds"][run], fit
    fit = exact["sweeps"][run] * sum(full["seconds"]) / sum(full["sweeps"])
    own = cells.get(f"{name} | full | {algorithm}", {}).get("seconds", ())
    fit = own[run] if run < len(own) else fit
    return fit + full["kernel_seconds"][0], fit


def largest(cells: Cells) -> str:
    """MNIST as far as it goes: all rows where the exact runs are stored."""
    return MNIST_ALL if all_pairs(cells, MNIST_ALL, FCM) else MNIST


def name_of(cells: Cells, name: str) -> str:
    """A data set with the rows that it was run on."""
    n = cells.get(f"{name} | about", {}).get("n")
    return name.split(" ")[0] + (f", {n:,} rows" if n else "")


class Asked(NamedTuple):
    """One line of what was asked of akFCM, and what came out: the worst over the rates asked for."""

    where: str
    purity: tuple[float, float]  # means at the rate where the loss of purity is largest: (mean, least)
    error: float
    speedup: float
    share: float  # n / s
    wanted: float
    good: bool
    quick_enough: bool


def asked(cells: Cells) -> list[Asked]:
    """akFCM on A3 at 3% and on MNIST from .5% on: purity within .02 or above, E within 5%, 10 and 100 times as fast, kernel included."""
    lines = []
    for name, rates, wanted in ((A3, (3.0,), 10.0), (largest(cells), (0.5, 1.0, 2.0, 5.0), 100.0)):
        for pair in all_pairs(cells, name, FCM):
            if pair.rate not in rates:
                continue
            purity, error = float(np.mean(pair.purity)), float(np.mean(pair.error))
            speedup = float(np.mean(pair.speedup))
            where = f"{name_of(cells, name)}, {pair.rate:g}% (s = {pair.s:,})"
            good = purity >= -0.02 and error < 5
            lines.append(Asked(where, (purity, min(pair.purity)), error, speedup, 100 / pair.rate, wanted, good, speedup >= wanted))
    return lines


def agreement(cells: Cells) -> float | None:
    """Largest relative difference of E between exact runs on all n^2 values of A3 and on the rows that span them."""
    gaps = []
    for algorithm in TIMED:
        full, exact = cells.get(f"{A3} | full | {algorithm}"), cells.get(exact_key(A3, algorithm, CORRECTED))
        if full and exact:
            gaps += [abs(a - b) / b for a, b in zip(full["objective"], exact["objective"], strict=False)]
    return max(gaps) if gaps else None


class Line(NamedTuple):
    """Of the runs of one cell of Table II."""

    runs: int
    mean: float
    least: float
    most: float
    best: float  # of the lowest objective
    seconds: float  # median, kernel values included
    without: float  # median, without them
    perfect: int
    peak: float
    separation: float
    cut: int  # runs that max_iter ended


def line(cells: Cells, name: str, kernel: str, s: int, algorithm: str, variant: str = PRINTED) -> Line | None:
    cell = cells.get(table_key(name, kernel, s, algorithm, variant))
    if not cell:
        return None
    purity = cell["purity"]
    both = np.add(cell["seconds"], cell["kernel_seconds"])
    return Line(
        len(purity),
        float(np.mean(purity)),
        min(purity),
        max(purity),
        purity[int(np.argmin(cell["objective"]))],
        float(np.median(both)),
        float(np.median(cell["seconds"])),
        sum(value >= 0.9995 for value in purity),
        float(np.mean(cell["peak"])),
        float(np.mean(cell["separation"])),
        sum(not done for done in cell["converged"]),
    )


__all__ = [
    "A3",
    "FCM",
    "MNIST",
    "MNIST_ALL",
    "NAMES",
    "PCM",
    "agreement",
    "all_pairs",
    "asked",
    "largest",
    "line",
    "name_of",
    "pairs",
    "sizes",
]
