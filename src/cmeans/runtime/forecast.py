"""Forecasts of a fit's remaining time, and its progress in words."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field

from .numerals import in_digits
from .progress import TRIAL, Progress

UNLIMITED = 10**6  # a limit of sweeps from which on there is no forecast
_STAGES = {
    "sample": "sample",
    "pilot": "fuzzy pilot",
    "fit": "fit",
    "grow": "cluster trial",
    "assign": "assign",
}


@dataclass
class Forecast:
    """Forecast of a fit's remaining time: sweeps shrink the movement by some factor, and it ends at
    `tol`."""

    tol: float
    movements: deque[float] = field(default_factory=lambda: deque(maxlen=6))
    _sweep_ended: float | None = None
    _seconds: float | None = None  # per sweep, smoothed

    def note(self, progress: Progress, now: float) -> None:
        """Record the end of a sweep."""
        if progress.sweep == 1:
            self.movements.clear()
        if progress.movement is not None:
            self.movements.append(progress.movement)
        if self._sweep_ended is not None:
            last = now - self._sweep_ended
            self._seconds = last if self._seconds is None else 0.7 * self._seconds + 0.3 * last
        self._sweep_ended = now

    def sweeps_left(self, progress: Progress) -> int:
        """Sweeps left in this restart, if the movement shrinks at the same rate; at most those
        allowed."""
        allowed = progress.max_sweeps - progress.sweep
        first, last = (self.movements[0], self.movements[-1]) if self.movements else (0.0, 0.0)
        # infinite where the number of clusters has changed
        if not 0 < last < first < math.inf or self.tol <= 0:
            return allowed
        shrinks = (math.log(last) - math.log(first)) / (len(self.movements) - 1)
        if shrinks:
            return min(allowed, max(0, math.ceil((math.log(self.tol) - math.log(last)) / shrinks)))
        return allowed

    def seconds_left(self, progress: Progress) -> float | None:
        """Seconds left for this restart and later ones, assumed to be as long; None where
        unknown."""
        # their number is unknown
        if (
            self._seconds is None
            or progress.stage in ("assign", "grow")
            or progress.max_sweeps >= UNLIMITED
        ):
            return None
        here = 0 if progress.stage == TRIAL else self.sweeps_left(progress)
        return self._seconds * (
            here + (progress.n_runs - progress.run - 1) * (progress.sweep + here)
        )


def described(progress: Progress) -> str:
    start = f" {progress.run + 1}/{progress.n_runs}" if progress.n_runs > 1 else ""
    if progress.stage == "grow":
        start = f" {progress.run + 1}"
    limit = f"/{progress.max_sweeps}" if progress.max_sweeps < UNLIMITED else ""
    sweep = "" if progress.stage in ("assign", TRIAL) else f", sweep {progress.sweep}{limit}"
    return f"{_STAGES.get(progress.stage, progress.stage)}{start}{sweep}"


def standing(progress: Progress, objective: float | None, seconds_left: float | None) -> str:
    words = list[str]()
    if progress.stage != TRIAL:
        words.append(f"{progress.rows_done:,}/{progress.n_rows:,} rows")
    if objective is not None:
        words.append(f"objective {in_digits(objective, 6)}")
    if seconds_left is not None:
        words.append(f"about {minutes(seconds_left)} left")
    return ", ".join(words)


def minutes(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"
