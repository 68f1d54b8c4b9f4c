"""Numbers that page, claims and figures take from the cells: of a contestant at a sample size, as
far as it was measured."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ...markdown import ABSENT, mean, seconds, short, spread
from ...template import toml
from ..paper import PaperReading
from ..results import Cell
from . import bound, crescents, large, pyramids, runs
from .problem import KERNELS

METHODS = {"approximate": "approximate", "two_step": "two-step"}
PRINTED = toml("papers/chitta2011/printed.toml")
TABLES, FULL, AXES = PRINTED["tables"], PRINTED["full"], PRINTED["axes"]
ENOUGH = 500  # landmarks from which the paper finds no difference to the full kernel
EQUAL = 0.05  # error reductions that differ by less than this share are called equal
LEVELS = (runs.ROWS, runs.FEWER_ROWS, runs.QUICK_ROWS)  # of MNIST's rows: those that were run


class Case(NamedTuple):
    """A data set with a kernel: where its cells lie."""

    name: str  # as in printed.toml
    title: str
    full: Cell
    starts: list[float]
    cells: dict[int, Cell]  # by sample size
    measure: str = "error"  # which number is the clustering error

    def reductions(self, m: int | None, method: str = "full") -> list[float]:
        """(initial error - final error) / initial error, run by run; of the full kernel where m is
        None."""
        cell, name = (
            (self.full, self.measure)
            if m is None
            else (self.cells.get(m, {}), f"{method}_{self.measure}")
        )
        if not self.starts or name not in cell:
            return []
        starts = cell.get("start", self.starts) if self.name == "large" else self.starts
        return [1 - error / start for error, start in zip(cell[name], starts, strict=False)]

    def numbers(self, m: int | None, method: str, what: str) -> list[float]:
        """Of each run: nmi, ari, seconds, sweeps, ...; of the full kernel where m is None."""
        if what == "reduction":
            return self.reductions(m, method)
        value = (
            self.full.get(what, [])
            if m is None
            else self.cells.get(m, {}).get(f"{method}_{what}", [])
        )
        return [item for item in value if item is not None] if isinstance(value, list) else [value]

    def mean(self, m: int | None, method: str, what: str) -> float | None:
        found = self.numbers(m, method, what)
        return mean(found) if found else None

    def kernel_seconds(self, m: int) -> list[float]:
        return self.cells.get(m, {}).get("kernel_seconds", [])


class Excess(NamedTuple):
    """The cost of a sample to a fixed partition, over the full kernel's error, at one sample size;
    `by` is Lemma 2 over the mean."""

    m: int
    draws: list[float]
    lemma: float
    corollary: float
    last: float  # of the corollary's two forms

    @property
    def mean(self) -> float:
        return mean(self.draws)

    @property
    def is_nothing(self) -> bool:
        """The sample spans all rows, but for rounding."""
        return self.mean < bound.NO_MORE

    @property
    def by(self) -> float:
        return self.lemma / self.mean


class Reading(PaperReading):
    modules = (bound, crescents, large, pyramids, runs)

    # ---------------------------------------------------------------------------------------- cases

    def mnist(self, kernel: str, n: int | None = None) -> Case:
        """On all rows, where that was measured, else on as many as there are."""
        n = n or self.rows_measured(kernel)
        full = self.cells.get(runs.key_of(n, kernel, "full"), {})
        found = {m: cell for m in runs.SIZES if (cell := self.cells.get(runs.key_of(n, kernel, m)))}
        if n == runs.ROWS and full:
            exact = self.cells.get(f"exact | {kernel}", {})
            full = exact | self._exact_times(kernel, exact) | full
        return Case(
            kernel,
            f"MNIST, {kernel} kernel",
            full,
            self.values(runs.key_of(n, kernel, "start"), "error"),
            found,
        )

    def _exact_times(self, kernel: str, exact: Cell) -> Cell:
        """Runs together share every tile; a run by itself takes its sweeps times the seconds of a
        sweep of one."""
        times = self.cells.get(f"exact times | {kernel}")
        if times is None:
            return {}
        return {
            "kernel_seconds": times["kernel_seconds"],
            "seconds": [count * times["sweep_seconds"] for count in exact.get("sweeps", [])],
        }

    def small(self) -> Case:
        full = self.cells.get(pyramids.key_of("full"), {})
        found = {
            m: self.cells[key] for m in pyramids.SIZES if (key := pyramids.key_of(m)) in self.cells
        }
        return Case("small", "stand-in for the small ImageNet", full, full.get("start", []), found)

    def full_imagenet(self) -> Case:
        """Of 20 clusters; one run a size, so lists of one."""
        found = {
            m: self.cells[key] for m in large.SIZES if (key := large.key_of(m, 20)) in self.cells
        }
        listed = {m: {name: [value] for name, value in cell.items()} for m, cell in found.items()}
        starts = next((cell["start"] for cell in listed.values()), [])
        return Case("large", "stand-in for the full ImageNet", {}, starts, listed, "objective")

    def all_cases(self) -> list[Case]:
        """Those of which there is something."""
        return [
            case
            for case in (self.small(), *map(self.mnist, KERNELS), self.full_imagenet())
            if case.cells
        ]

    def rows_measured(self, kernel: str) -> int:
        """All rows where they were run, else as many as were."""
        there = (
            n for n in LEVELS if any(runs.key_of(n, kernel, m) in self.cells for m in runs.SIZES)
        )
        return next(there, runs.ROWS)

    def rows_compared(self, kernel: str) -> int | None:
        """The number of rows at which the contestants were compared with the full kernel: as many
        as there are."""
        keys = {n: [runs.key_of(n, kernel, m) for m in runs.SIZES] for n in LEVELS}
        return next(
            (
                n
                for n in LEVELS
                if any("approximate_ari" in self.cells.get(key, {}) for key in keys[n])
            ),
            None,
        )

    def compared(self, kernel: str) -> Case:
        """The case in which the contestants were compared with the full kernel."""
        return self.mnist(kernel, self.rows_compared(kernel) or self.rows_measured(kernel))

    def any_compared(self) -> bool:
        return any(
            case.numbers(m, "approximate", "ari")
            for case in map(self.compared, KERNELS)
            for m in case.cells
        )

    def bounds(self) -> dict[str, Cell]:
        return {
            kernel: cell for kernel in KERNELS if (cell := self.cells.get(bound.key_of(kernel)))
        }

    def excesses(self, cell: Cell) -> list[Excess]:
        bounded = zip(
            *(cell[name] for name in ("sizes", "measured", "lemma", "corollary", "corollary_last")),
            strict=True,
        )
        whole = cell["full"]
        return [
            Excess(m, [value / whole - 1 for value in draws], lemma / whole - 1, one - 1, last - 1)
            for m, draws, lemma, one, last in bounded
        ]

    def larger(self, cell: Cell) -> list[Excess]:
        """Those that are more than rounding."""
        return [one for one in self.excesses(cell) if not one.is_nothing]

    def every_excess(self) -> list[tuple[str, Excess]]:
        return [
            (kernel, one) for kernel, cell in self.bounds().items() for one in self.excesses(cell)
        ]

    def never_above(self, found: list[Excess]) -> bool:
        return all(max(one.draws) <= one.lemma for one in found)

    def pyramid_rows(self) -> int:
        return int(self.cells.get(pyramids.key_of("rows"), {}).get("rows", pyramids.ROWS))

    # ----------------------------------------------------------------------------------------- page

    def said(self, values: list[float], digits: int = 2) -> str:
        return spread(values, digits) if values else ABSENT

    def seconds(self, values: list[float]) -> str:
        return seconds(mean(values)) if values else ABSENT

    def printed(self, value: list[float]) -> str:
        """Mean and standard deviation, where there is one."""
        return " ± ".join(short(number, 2) for number in value)

    def counts(self) -> dict[int, int]:
        """Numbers of runs that the means are over, by sample size."""
        case = self.mnist("neural")
        return {m: len(case.numbers(m, "approximate", "seconds")) for m in case.cells}

    def agreed(self, kernel: str) -> dict[str, Any] | None:
        """The largest gap of the ARI to the printed one, and the ARI of the full kernel's
        partitions from different starts."""
        case, found = self.compared(kernel), []
        for row in TABLES[kernel]:
            ours = case.numbers(row["m"], "approximate", "ari")
            if ours and row["m"] >= ENOUGH:
                found.append((mean(ours) - row["ari_approximate"][0], row["m"]))
        if not found:
            return None
        alike = self.values(runs.key_of(runs.ROWS, kernel, "full pairs"), "ari")
        near = mean(case.numbers(1000, "approximate", "ari") or [0.0])
        return {
            "worst": min(found)[0],
            "m": min(found)[1],
            "alike": mean(alike) if alike else None,
            "near": near,
        }

    def inside(self, kernel: str) -> Iterator[dict[str, Any]]:
        """Numbers of our means within the printed axes."""
        case = self.mnist(kernel)
        for name, what in (("error reduction", "reduction"), ("NMI", "nmi")):
            low, high = AXES[what][kernel]
            values = [
                value
                for m in case.cells
                for method in METHODS
                if (value := case.mean(m, method, what)) is not None
            ]
            if values:
                yield {
                    "name": name,
                    "of": len(values),
                    "inside": sum(low <= value <= high for value in values),
                    "ends": (low, high),
                }

    def draws(self) -> dict[str, Any] | None:
        """Of the two groups: ARI of both algorithms, and in how many draws which is ahead."""
        cell = self.cells.get(f"{crescents.KEY} | draws")
        if cell is None or f"{crescents.KEY} | panels" not in self.cells:
            return None
        pairs = list(zip(*(cell[f"{method}_ari"] for method in METHODS), strict=True))
        ahead, behind = sum(a > b for a, b in pairs), sum(a < b for a, b in pairs)
        return {
            "means": np.mean(pairs, axis=0).tolist(),
            "of": len(pairs),
            "ahead": ahead,
            "behind": behind,
        }

    def large_rows(self) -> Iterator[dict[str, Any]]:
        """Table 4: printed of 20 clusters, tried of more too."""
        for row in TABLES["large"]:
            for clusters in (20, large.CLASSES):
                if clusters == 20 or clusters in large.SIZES.get(row["m"], ()):
                    cell = self.cells.get(large.key_of(row["m"], clusters), {})
                    yield {
                        "m": row["m"],
                        "clusters": clusters,
                        "row": row if clusters == 20 else {},
                        "cell": cell,
                    }

    # --------------------------------------------------------------------------------------- claims

    def saved(self) -> dict[str, float]:
        """The share of the kernel's seconds that a sample of 1,000 saves."""
        saved = {}
        for case in (self.small(), *(self.mnist(kernel, runs.ROWS) for kernel in KERNELS)):
            whole, part = case.mean(None, "full", "kernel_seconds"), case.kernel_seconds(1000)
            if whole and part:
                saved[case.title] = 1 - mean(part) / whole
        return saved

    def furthest(self) -> dict[str, Any] | None:
        """Error reduction with enough landmarks over that of the full kernel, less one: the
        least."""
        off = []
        for kernel in KERNELS:
            case = self.compared(kernel)
            whole = case.mean(None, "full", "reduction")
            for m in case.cells:
                ours = case.mean(m, "approximate", "reduction")
                if m >= ENOUGH and whole and ours is not None:
                    off.append((ours / whole - 1, kernel, m))
        return dict(zip(("worst", "kernel", "m"), min(off), strict=True)) if off else None

    def enough(self) -> list[tuple[str, str, dict[str, Any]]]:
        """Rows of Tables 2 and 3 with enough landmarks."""
        tables = {"neural": "Table 2", "polynomial": "Table 3"}
        return [
            (kernel, tables[kernel], row)
            for kernel in KERNELS
            for row in reversed(TABLES[kernel])
            if row["m"] >= ENOUGH
        ]

    def alike(self, kernel: str, row: dict[str, Any]) -> dict[str, Any] | None:
        ours, (theirs, *off) = (
            self.compared(kernel).numbers(row["m"], "approximate", "ari"),
            row["ari_approximate"],
        )
        if not ours:
            return None
        return {
            "value": mean(ours),
            "theirs": theirs,
            "off": sum(off),
            "of": len(ours),
            "n": self.rows_compared(kernel),
        }

    def both(self, cases: Iterable[Case], what: str) -> Iterator[tuple[float, float, str, int]]:
        """Means of approximate and of two-step at each sample size that has both."""
        for case in cases:
            for m in case.cells:
                ours, other = (case.mean(m, method, what) for method in METHODS)
                if ours is not None and other is not None:
                    yield ours, other, case.title, m

    def leads(self, what: str) -> dict[str, Any] | None:
        """Means of approximate less those of two-step."""
        gaps = [
            (a - b, title, m)
            for a, b, title, m in self.both((self.small(), *map(self.compared, KERNELS)), what)
        ]
        return (
            {"least": min(gaps), "of": len(gaps), "ahead": sum(gap > 0 for gap, _, _ in gaps)}
            if gaps
            else None
        )

    def factors(self) -> list[float]:
        """Seconds of approximate over those of two-step."""
        return [
            ours / other
            for ours, other, _, _ in self.both(self.all_cases(), "seconds")
            if ours and other
        ]

    def variation(self) -> dict[str, Any] | None:
        """Deviation of the error reduction over its mean, below the enough landmarks and from
        there."""
        few, many = [], []
        for case in map(self.mnist, KERNELS):
            for m in case.cells:
                values = case.reductions(m, "approximate")
                if len(values) > 2:
                    (few if m < ENOUGH else many).append(float(np.std(values) / np.mean(values)))
        return {"few": 100 * mean(few), "many": 100 * mean(many)} if few and many else None

    def fifty(self) -> dict[str, tuple[float, float]]:
        """Approximate with 50 landmarks, two-step with 1,000."""
        case, found = self.small(), {}
        for name, what in (("ARI", "ari"), ("NMI", "nmi"), ("error reduction", "reduction")):
            values = case.mean(50, "approximate", what), case.mean(1000, "two_step", what)
            if None not in values:
                found[name] = values
        return found

    def ahead(self, pairs: dict[str, tuple[float, float]]) -> bool:
        return all(ours > other for ours, other in pairs.values())

    def held(self) -> dict[str, Any] | None:
        """The most memory, of as many rows as ImageNet has."""
        keys = {m: large.key_of(m, 20) for m in large.SIZES}
        sizes = {
            m: cell for m, key in keys.items() if (cell := self.cells.get(key, {})).get("peak_gb")
        }
        if not sizes or self.cells.get(large.key_of("rows"), {}).get("rows") != large.ROWS:
            return None
        most = sizes[max(sizes)]
        beyond = max(cell["peak_gb"] - cell["columns_gb"] for cell in sizes.values())
        return {
            "m": max(sizes),
            "peak": most["peak_gb"],
            "columns": most["columns_gb"],
            "beyond": beyond,
        }

    def bounded(self) -> dict[str, Any] | None:
        """By kernel: Lemma 2 over what was measured, how it falls with m, and whether it is below
        the corollary's line."""
        found = {kernel: self.larger(cell) for kernel, cell in self.bounds().items()}
        if not found:
            return None
        slopes = {kernel: _slope(some) for kernel, some in found.items()}
        below = all(one.mean <= one.last for some in found.values() for one in some)
        return {
            "by": {kernel: [one.by for one in some] for kernel, some in found.items()},
            "slopes": slopes,
            "below": below,
        }


def _slope(found: list[Excess]) -> float:
    return float(
        np.polyfit(np.log([one.m for one in found]), np.log([one.mean for one in found]), 1)[0]
    )
