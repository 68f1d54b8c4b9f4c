"""From stored runs to what the paper plots and prints: each sampled run beside the exact one from
the same start."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ...markdown import mean
from ..paper import PaperReading
from ..results import Cell, key
from . import runs, settings
from .fits import ALGORITHMS, AUTO, CORRECTED, FCM, PCM, PRINTED, VARIANTS
from .runs import A3, MNIST, MNIST_ALL
from .settings import KERNELS, SIZES, TABLE

FALLEN = 0.01  # separation below which centres are one point
WORDS = {CORRECTED: "m = 2", PRINTED: "as printed", AUTO: "m auto"}
PLOTS = {2: (A3, FCM), 3: (A3, PCM), 4: (MNIST, FCM), 5: (MNIST, PCM)}
DATA = (A3, MNIST, MNIST_ALL)
TABLE_KERNELS = ("polynomial", "RBF, sigma 1")


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


class Line(NamedTuple):
    """Of the runs of one cell of Table II."""

    purity: list[float]
    mean: float
    best: float  # of the lowest objective
    seconds: float  # median, kernel values included
    without: float  # median, without them
    perfect: int
    separation: float
    cut: int  # runs that max_iter ended


class Reading(PaperReading):
    modules = (runs, settings)

    # ------------------------------------------------------------------------------- figures 2 to 5

    def drawn(self, name: str) -> tuple[str, ...]:
        return (MNIST, MNIST_ALL) if name == MNIST else (name,)

    def largest(self) -> str:
        """MNIST as far as it goes: all rows where the exact runs are stored."""
        return MNIST_ALL if self.pairs(MNIST_ALL, FCM) else MNIST

    def name_of(self, name: str) -> str:
        """A data set with the rows that it was run on."""
        n = self.cells.get(f"{name} | about", {}).get("n")
        return name.split(" ")[0] + (f", {n:,} rows" if n else "")

    def abouts(self) -> list[Cell]:
        """Facts of each data set."""
        names = {
            name.removesuffix(" | about"): cell
            for name, cell in self.cells.items()
            if name.endswith(" | about")
        }
        return [
            {
                "name": re.sub(r" \d+,000$", "", name.removeprefix("II | ").replace(" | ", ", ")),
                **cell,
            }
            for name, cell in names.items()
        ]

    def exact(self, name: str, algorithm: str, variant: str) -> Cell | None:
        return self.cells.get(key(name, "exact", algorithm, variant))

    def pairs(self, name: str, algorithm: str, variant: str = CORRECTED) -> list[Pairs]:
        """At all rates of which both sides are there."""
        sizes = (self.values(f"{name} | about", field) for field in ("sizes", "rates"))
        exact, made = self.exact(name, algorithm, variant), []
        for s, rate in zip(*sizes, strict=True):
            sampled = self.cells.get(key(name, s, algorithm, variant))
            if not sampled or not exact:
                continue
            n = min(len(sampled["purity"]), len(exact["purity"]))
            full = (
                [self.exact_seconds(name, algorithm, number) for number in range(n)]
                if variant == CORRECTED
                else []
            )
            wholes = (
                self.values(key("whole", name, s, algorithm), "seconds")
                if variant == CORRECTED
                else []
            )
            if len(wholes) < n:
                wholes = [
                    sum(parts)
                    for parts in zip(sampled["seconds"], sampled["kernel_seconds"], strict=True)
                ]
            both = list(zip(sampled["objective"], exact["objective"], strict=False))[:n]
            made.append(
                Pairs(
                    s,
                    rate,
                    [a - b for a, b in zip(sampled["purity"], exact["purity"], strict=False)],
                    [100 * (a - b) / b for a, b in both],
                    [all_ / ours for (all_, _), ours in zip(full, wholes, strict=False)],
                    wholes,
                    [
                        sweeps / ours
                        for (_, sweeps), ours in zip(full, sampled["seconds"], strict=False)
                    ],
                    sampled,
                )
            )
        return made

    def exact_seconds(self, name: str, algorithm: str, run: int) -> tuple[float, float]:
        """Of one exact run: all of it, and its fit alone.

        On A3 a few runs are timed on all n^2 kernel values; the others take as long a sweep as
        those, times their sweeps.
        """
        exact = self.cells[key(name, "exact", algorithm, CORRECTED)]
        full = self.cells.get(f"{name} | full | {algorithm}") or self.cells.get(
            f"{name} | full | {FCM}"
        )
        if full is None:
            fit = exact["seconds"][run]
            return fit + exact["kernel_seconds"][run], fit
        fit = exact["sweeps"][run] * sum(full["seconds"]) / sum(full["sweeps"])
        own = self.values(f"{name} | full | {algorithm}", "seconds")
        fit = own[run] if run < len(own) else fit
        return fit + full["kernel_seconds"][0], fit

    def agreement(self) -> float | None:
        """Largest relative difference of E between exact runs on all n^2 values of A3 and on the
        rows that span them."""
        gaps = []
        for algorithm in ALGORITHMS:
            full, exact = self.timed(algorithm), self.exact(A3, algorithm, CORRECTED)
            if full and exact:
                gaps += [
                    abs(a - b) / b
                    for a, b in zip(full["objective"], exact["objective"], strict=False)
                ]
        return max(gaps) if gaps else None

    def timed(self, algorithm: str) -> Cell | None:
        """Runs on all n^2 values of A3."""
        return self.cells.get(f"{A3} | full | {algorithm}")

    def asked(self) -> Iterator[dict[str, Any]]:
        """akFCM on A3 at 3% and on MNIST from .5% on: purity within .02 or above, E within 5%, 10
        and 100 times as fast."""
        for name, rates, wanted in (
            (A3, (3.0,), 10.0),
            (self.largest(), (0.5, 1.0, 2.0, 5.0), 100.0),
        ):
            for pair in self.pairs(name, FCM):
                if pair.rate in rates:
                    purity, error, speedup = mean(pair.purity), mean(pair.error), mean(pair.speedup)
                    good, quick = purity >= -0.02 and error < 5, speedup >= wanted
                    yield {
                        "name": name,
                        "pair": pair,
                        "wanted": wanted,
                        "speedup": speedup,
                        "good": good,
                        "quick": quick,
                    }

    def exact_lines(self) -> Iterator[dict[str, Any]]:
        """Results of the exact algorithms; seconds a run of the main variant alone."""
        for name in DATA:
            for algorithm in ALGORITHMS:
                for variant in VARIANTS:
                    cell = self.exact(name, algorithm, variant)
                    if cell:
                        timed = range(len(cell["purity"]) if variant == CORRECTED else 0)
                        seconds = [self.exact_seconds(name, algorithm, run)[0] for run in timed]
                        yield {
                            "name": name,
                            "algorithm": algorithm,
                            "variant": variant,
                            "cell": cell,
                            "seconds": seconds,
                        }

    def collapsed(self, name: str) -> list[tuple[str, Cell]]:
        """Variants of FCM all of whose centres have fallen together."""
        found = [(variant, self.exact(name, FCM, variant)) for variant in VARIANTS]
        return [
            (variant, cell)
            for variant, cell in found
            if cell and np.mean(cell["separation"]) < FALLEN
        ]

    def fallen(self, name: str, algorithm: str) -> bool:
        found = [
            mean(pair.cell["separation"])
            for pair in self.pairs(name, algorithm)
            if "separation" in pair.cell
        ]
        return bool(found) and max(found) < FALLEN

    def figure_lines(self, name: str, algorithm: str) -> list[dict[str, Any]]:
        return [
            {"variant": variant, "pair": pair}
            for variant in VARIANTS
            for pair in self.pairs(name, algorithm, variant)
        ]

    def has_figure(self, name: str, algorithm: str) -> bool:
        return any(self.figure_lines(which, algorithm) for which in self.drawn(name))

    def factors(self, values: list[float]) -> str:
        return f"{mean(values):,.1f} ({min(values):,.1f} to {max(values):,.1f})" if values else ""

    def purities(self, name: str, algorithm: str, variant: str = CORRECTED) -> list[float]:
        """Mean relative purities, rate by rate."""
        return [mean(pair.purity) for pair in self.pairs(name, algorithm, variant)]

    # ------------------------------------------------------------------------------------- Table II

    def printed(self, name: str, kernel: str, algorithm: str) -> list[tuple[float, float]]:
        """Seconds and purity at each size; of both widths of the RBF the same."""
        return TABLE[name, kernel.partition(",")[0], algorithm]

    def line(
        self, name: str, kernel: str, s: int, algorithm: str, variant: str = PRINTED
    ) -> Line | None:
        cell = self.cells.get(key("II", name, kernel, s, algorithm, variant))
        if not cell:
            return None
        purity = cell["purity"]
        return Line(
            purity,
            mean(purity),
            purity[int(np.argmin(cell["objective"]))],
            float(np.median(np.add(cell["seconds"], cell["kernel_seconds"]))),
            float(np.median(cell["seconds"])),
            sum(value >= 0.9995 for value in purity),
            mean(cell["separation"]),
            sum(not done for done in cell["converged"]),
        )

    def table_lines(self, name: str, algorithm: str) -> Iterator[dict[str, Any]]:
        for kernel in KERNELS:
            for s, (seconds, purity) in zip(
                SIZES[name], self.printed(name, kernel, algorithm), strict=True
            ):
                for variant in (PRINTED, AUTO):
                    line = self.line(name, kernel, s, algorithm, variant)
                    yield {
                        "kernel": kernel,
                        "s": s,
                        "variant": variant,
                        "line": line,
                        "seconds": seconds,
                        "purity": purity,
                    }

    def has_table(self) -> bool:
        return any(name.startswith("II | ") for name in self.cells)

    def lines(
        self, name: str, algorithm: str, kernels: tuple[str, ...] = tuple(KERNELS)
    ) -> list[tuple[Line, float]]:
        """With the exponent as printed: what there is, beside the printed purity."""
        every = [
            (self.line(name, kernel, s, algorithm), purity)
            for kernel in kernels
            for s, (_, purity) in zip(
                SIZES[name], self.printed(name, kernel, algorithm), strict=True
            )
        ]
        return [(line, purity) for line, purity in every if line]

    def of_table(self, name: str, algorithm: str) -> dict[str, Any]:
        """Numbers in sentences on a part of the table."""
        share = self.share(name)
        lines = [line for line, _ in self.lines(name, algorithm)]
        return {
            "gap": max(
                (line.mean - purity for line, purity in self.lines(name, algorithm, TABLE_KERNELS)),
                key=abs,
                default=None,
            ),
            "lines": len(lines),
            "low": sum(line.mean < share + 0.005 for line in lines),
            "share": share,
            "cut": sum(line.cut for line in lines),
            "runs": sum(len(line.purity) for line in lines),
        }

    # --------------------------------------------------------------------------------------- claims

    def speed(
        self, name: str, most: float | None, *, largest: bool = False
    ) -> dict[str, Any] | None:
        """Mean speedups of akFCM at rates up to `most`, the least of them or the largest, with the
        kernel values and without."""
        found = [pair for pair in self.pairs(name, FCM) if most is None or pair.rate <= most]
        if not found:
            return None
        of = max if largest else min
        apart = [mean(pair.sweeps_speedup) for pair in found if pair.sweeps_speedup]
        return {
            "whole": of(mean(pair.speedup) for pair in found),
            "apart": of(apart) if apart else None,
        }

    def both_speeds(self) -> list[float]:
        """akPCM's speedups on A3 over those of akFCM."""
        pairs = zip(self.pairs(A3, FCM), self.pairs(A3, PCM), strict=False)
        return [mean(pcm.speedup) / mean(fcm.speedup) for fcm, pcm in pairs]

    def quality(self, name: str, algorithm: str, last: int = 0) -> dict[str, Any] | None:
        """Mean relative purities, the worst of E, and whether all centres have fallen together; of
        the `last` rates alone."""
        found = self.pairs(name, algorithm)[-last:]
        if not found:
            return None
        error, fallen = max(mean(pair.error) for pair in found), self.fallen(name, algorithm)
        return {"purity": [mean(pair.purity) for pair in found], "error": error, "fallen": fallen}

    def table_rows(self) -> list[tuple[str, str, str, list[float]]]:
        return [(*row, [purity for _, purity in printed]) for row, printed in TABLE.items()]

    def beside(
        self, name: str, kernel: str, algorithm: str, printed: list[float]
    ) -> dict[str, Any] | None:
        """Our lines of a row of Table II, and how far their means are from the printed ones."""
        found = [
            line
            for line, _ in self.lines(
                name, algorithm, (kernel if kernel in KERNELS else TABLE_KERNELS[1],)
            )
        ]
        if not found:
            return None
        gaps = [line.mean - value for line, value in zip(found, printed, strict=False)]
        within = all(abs(gap) <= 0.03 for gap in gaps)
        return {"lines": found, "least": min(gaps), "within": within, "share": self.share(name)}

    def share(self, name: str) -> float:
        """Rows of the largest class of a set of Table II, of all: the purity of one cluster."""
        return self.cells.get(f"II | {name} | polynomial | about", {}).get("largest", 0.0)

    def fcm(self, name: str) -> dict[str, Any] | None:
        """akFCM with the kernels of the table."""
        found = [line for line, _ in self.lines(name, FCM, TABLE_KERNELS)]
        if not found:
            return None
        counts = {
            "runs": sum(len(line.purity) for line in found),
            "perfect": sum(line.perfect for line in found),
        }
        return {"means": [line.mean for line in found], **counts}

    def error_rate(self) -> dict[str, Any] | None:
        """The expectation O(1/s): the slope of log error over log s, where the error is
        measurable."""
        rows = [(pair.s, mean(pair.error)) for pair in self.pairs(self.largest(), FCM)]
        rows = [(s, error) for s, error in rows if error > 1e-3]
        if not rows:
            return None
        slope = float(np.polyfit(*np.log(np.array(rows)).T, 1)[0]) if len(rows) > 2 else None
        return {"slope": slope, "first": rows[0][1], "last": rows[-1][1]}
