"""What figures, page and claims ask of the cells: numbers of a contestant at a sample size, whatever has been measured."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..results import Cell, Cells
from . import bound, large, pyramids, runs
from .problem import KERNELS

METHODS = {"approximate": "approximate", "two_step": "two-step"}


class Case(NamedTuple):
    """A data set with a kernel: where its cells lie."""

    name: str  # as in printed.py
    title: str
    full: Cell
    starts: list[float]
    cells: dict[int, Cell]  # by sample size
    measure: str  # which number is the clustering error


def mnist(cells: Cells, kernel: str, n: int | None = None) -> Case:
    """On all rows, where that was measured, else on as many as there are."""
    n = n or rows_measured(cells, kernel)
    full = cells.get(runs.key_of(n, kernel, "full"), {})
    starts, found = cells.get(runs.key_of(n, kernel, "start"), {}).get("error", []), {}
    for m in runs.SIZES:
        cell = cells.get(runs.key_of(n, kernel, m))
        if cell:
            found[m] = cell
    if n == runs.ROWS and full:
        exact = cells.get(f"exact | {kernel}", {})
        full = exact | _exact_times(cells, kernel, exact) | full
    return Case(kernel, f"MNIST, {kernel} kernel", full, starts, found, "error")


def _exact_times(cells: Cells, kernel: str, exact: Cell) -> Cell:
    """Runs together share every tile; a run by itself takes its sweeps times the seconds of a sweep of one."""
    times = cells.get(f"exact times | {kernel}")
    if times is None:
        return {}
    return {"kernel_seconds": times["kernel_seconds"], "seconds": [count * times["sweep_seconds"] for count in exact.get("sweeps", [])]}


def small(cells: Cells) -> Case:
    full = cells.get(pyramids.key_of("full"), {})
    found = {m: cells[key] for m in pyramids.SIZES if (key := pyramids.key_of(m)) in cells}
    return Case("small", "stand-in for the small ImageNet", full, full.get("start", []), found, "error")


def full_imagenet(cells: Cells, clusters: int = 20) -> Case:
    """One run a size, so lists of one."""
    found = {m: cells[key] for m in large.SIZES if (key := large.key_of(m, clusters)) in cells}
    listed = {m: {name: [value] for name, value in cell.items()} for m, cell in found.items()}
    starts = next((cell["start"] for cell in listed.values()), [])
    return Case("large", "stand-in for the full ImageNet", {}, starts, listed, "objective")


def all_cases(cells: Cells) -> list[Case]:
    return [small(cells), *(mnist(cells, kernel) for kernel in KERNELS), full_imagenet(cells)]


def rows_measured(cells: Cells, kernel: str) -> int:
    """All rows where they were run, else as many as were."""
    for n in (runs.ROWS, runs.FEWER_ROWS, runs.QUICK_ROWS):
        if any(runs.key_of(n, kernel, m) in cells for m in runs.SIZES):
            return n
    return runs.ROWS


def compared(cells: Cells, kernel: str) -> Case:
    """Where the contestants were compared with the full kernel."""
    return mnist(cells, kernel, runs.rows_compared(cells, kernel) or rows_measured(cells, kernel))


def reductions(case: Case, m: int | None, method: str = "full") -> list[float]:
    """(initial error - final error) / initial error, run by run; of the full kernel where m is None."""
    cell, name = (case.full, case.measure) if m is None else (case.cells.get(m, {}), f"{method}_{case.measure}")
    if not case.starts or name not in cell:
        return []
    starts = cell.get("start", case.starts) if case.name == "large" else case.starts
    return [1 - error / start for error, start in zip(cell[name], starts, strict=False)]


def numbers(case: Case, m: int | None, method: str, what: str) -> list[float]:
    """Of each run: nmi, ari, seconds, sweeps, ..."""
    if m is None:
        return _listed(case.full.get(what, []))
    return _listed(case.cells.get(m, {}).get(f"{method}_{what}", []))


def _listed(value: list[float] | float) -> list[float]:
    return [item for item in value if item is not None] if isinstance(value, list) else [value]


def bounds(cells: Cells) -> dict[str, Cell]:
    return {kernel: cell for kernel in KERNELS if (cell := cells.get(bound.key_of(kernel)))}


class Excess(NamedTuple):
    """What a sample costs a fixed partition, over the full kernel's error, at one sample size; `by` is Lemma 2 over the mean."""

    m: int
    draws: list[float]
    lemma: float
    corollary: float
    last: float  # of the corollary's two forms

    @property
    def mean(self) -> float:
        return float(np.mean(self.draws))

    @property
    def is_nothing(self) -> bool:
        """The sample spans all rows, but for rounding."""
        return self.mean < bound.NO_MORE

    @property
    def by(self) -> float:
        return self.lemma / self.mean


def excesses(cell: Cell) -> list[Excess]:
    bounded = zip(cell["sizes"], cell["measured"], cell["lemma"], cell["corollary"], cell["corollary_last"], strict=True)
    whole = cell["full"]
    return [
        Excess(m, [value / whole - 1 for value in draws], lemma / whole - 1, one - 1, last - 1) for m, draws, lemma, one, last in bounded
    ]
