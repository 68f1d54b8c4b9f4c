"""Followers of a fit from solve to solve: progress messages, callbacks, the checkpoint log, and the
best centres so far."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

from ..rules import Rule
from ..runtime.progress import SILENT, Reporter
from ..sweeps.final_pass import RowTaker
from ..sweeps.state import State
from ..sweeps.statistics import Statistics
from .checkpoints import CheckpointLog, CheckpointSection

# takes the new state and how many sweeps made it; True ends the run
AfterSweep: TypeAlias = Callable[[Rule, State, int], bool]
AsFinal: TypeAlias = Callable[[Rule, State, Statistics | None], "tuple[Rule, State] | None"]


def as_it_is(rule: Rule, state: State, sums: Statistics | None) -> tuple[Rule, State]:
    """A run of the final rule: its centres are those of the model."""
    return rule, state


def nothing_yet(rule: Rule, state: State, sums: Statistics | None) -> None:
    """A run that only prepares another: there are no centres of the final rule yet."""


@dataclass(frozen=True)
class Interim:
    """The result of an interrupted fit."""

    rule: Rule
    state: State
    n_iter: int


@dataclass(frozen=True)
class Progressed:
    """The progress of a solve."""

    rule: Rule
    state: Callable[[], State]
    n_iter: int  # sweeps or steps so far
    objective: float  # where the last of them started; infinite before
    sums: Statistics | None = None  # of the last sweep


def known(state: State) -> Callable[[], State]:
    """A state that need not be computed first."""
    return lambda: state


class FitRecord:
    """The solve that is under way, and the best run of the starts before it."""

    def __init__(self) -> None:
        self._current: tuple[AsFinal, Progressed] | None = None
        self._best: Progressed | None = None
        self.kept = False  # whether the model has become that of the interrupted fit

    def note(self, as_final: AsFinal, progressed: Progressed) -> None:
        """A sweep or step is over."""
        self._current = as_final, progressed

    def solved(self) -> None:
        """No solve is under way."""
        self._current = None

    def best_start(self, best: Progressed | None) -> None:
        """The best end so far of the starts that are being compared; None where none is."""
        self._best = best

    def interim(self) -> Interim | None:
        """Return the best result so far of the solve that is under way; None where there is
        none."""
        if self._current is None:
            return None
        as_final, current = self._current
        if self._best is None or self._best.objective > current.objective:
            best = current
        else:
            best = self._best
        final = as_final(best.rule, best.state(), best.sums)
        return None if final is None else Interim(*final, current.n_iter)


@dataclass(frozen=True)
class Observer:
    """Follows the solves of a fit. Each is known by its stage, round and run, which no other solve
    of the fit shares."""

    reporter: Reporter = SILENT
    after_sweep: AfterSweep | None = None
    log: CheckpointLog | None = None
    record: FitRecord | None = None
    taker: RowTaker | None = None  # of the rows' results in the last pass
    as_final: AsFinal = as_it_is  # what an interrupted solve means to the fit
    scope: str = ""  # the stages that this one is part of, and its round among its like

    def at(self, stage: str, run: int = 0, n_runs: int = 1) -> Observer:
        """For one run of a stage, of which there are as many as are known so far."""
        known_runs = max(n_runs, run + 1)
        return replace(
            self, reporter=replace(self.reporter, stage=stage, run=run, n_runs=known_runs)
        )

    def within(self, scope: str) -> Observer:
        """For the solves that are part of a stage, or of one round of it."""
        return replace(self, scope=f"{self.scope}{scope}/")

    def without_callbacks(self) -> Observer:
        """For solves after whose sweeps no callback is called."""
        return replace(self, after_sweep=None)

    def of_pilot(self, as_final: AsFinal) -> Observer:
        """For a run that prepares another: without callbacks, and converted where it is
        interrupted."""
        return replace(self, after_sweep=None, as_final=as_final)

    @property
    def is_silent(self) -> bool:
        """True where nothing is asked or told between two sweeps."""
        return not self.reporter.listeners and self.after_sweep is None and self.log is None

    def section(self) -> CheckpointSection:
        """The solve's part of the checkpoint."""
        key = f"{self.scope}{self.reporter.stage} {self.reporter.run}"
        return CheckpointSection() if self.log is None else self.log.section(key)

    def note(self, progressed: Progressed) -> None:
        """A sweep or step is over."""
        if self.record is not None:
            self.record.note(self.as_final, progressed)

    def solved(self) -> None:
        """The solve is over."""
        if self.record is not None:
            self.record.solved()

    def best_start(self, best: Progressed | None) -> None:
        """Of several starts, the best so far ends there; None where none is."""
        if self.record is not None:
            self.record.best_start(best)


UNOBSERVED = Observer()
