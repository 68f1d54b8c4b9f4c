"""The state of a run between two sweeps, and its end."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from ..sweeps.choice import SweepFunction
from ..sweeps.state import State
from ..sweeps.statistics import Statistics
from .anderson import Mixing
from .steps import Verdict


@dataclass(frozen=True)
class SolverState:
    """The state of a run: all that the next sweeps depend on, and the history of those before."""

    state: State
    at: State  # where the next sweep starts: `state`, or centres mixed from it and those before
    before: State | None = None  # where the last sweep started
    last: tuple[State, Statistics] | None = None  # the same, with the sums it made
    mixing: Mixing | None = None
    history: tuple[float, ...] = ()  # objective at the centres each sweep started from
    movements: tuple[float, ...] = ()
    row_visits: int = 0
    converged: bool = False
    ended: bool = False  # by a callback
    verdict: Verdict = Verdict.GOES_ON
    # the movement below which rounding let no centre come, where that ended the run
    floor: float | None = None

    def is_over(self, max_iter: int) -> bool:
        """True when no further sweep is to be made."""
        return (
            self.converged
            or self.ended
            or self.verdict is not Verdict.GOES_ON
            or len(self.history) >= max_iter
        )

    def packed(self) -> dict[str, Any]:
        """The same in values that a checkpoint can hold."""
        mixing = None if self.mixing is None or self.converged or self.ended else vars(self.mixing)
        return {
            **{field.name: getattr(self, field.name) for field in fields(self)},
            "mixing": mixing,
            "verdict": self.verdict.value,
        }

    @classmethod
    def unpacked(cls, packed: dict[str, Any], like: State) -> SolverState:
        """Rebuild a state from `packed` as it is read again: tuples have become lists.

        ValueError where its centres are not of the space of `like`: compiled code would read beyond
        them.
        """
        states = [
            packed["state"],
            packed["at"],
            packed["before"],
            None if packed["last"] is None else packed["last"][0],
        ]
        if any(
            one is not None
            and one.centres.coordinates.shape[1] != like.centres.coordinates.shape[1]
            for one in states
        ):
            raise ValueError(
                "checkpoint: its centres are not of the space of this fit; it is damaged."
            )
        mixing = packed["mixing"]
        mixing = None if mixing is None else Mixing(**_with_tuples(mixing))
        return cls(
            **{**_with_tuples(packed), "mixing": mixing, "verdict": Verdict(packed["verdict"])}
        )


def _with_tuples(values: dict[str, Any]) -> dict[str, Any]:
    return {
        name: tuple(value) if isinstance(value, list) else value for name, value in values.items()
    }


@dataclass(frozen=True)
class Solution:
    """A fixed point, or as near to one as `max_iter` allowed."""

    state: State
    # objective at the centres each sweep started from, in the user's unit of weight; [0] is the
    # start's
    history: list[float]
    n_iter: int
    row_visits: int
    converged: bool
    ended: bool  # by a callback
    # STUCK: no way led on from the last sweep but one, which this is
    verdict: Verdict = Verdict.GOES_ON
    # the state one sweep ago, and the sums that made this one
    last: tuple[State, Statistics] | None = None
    # the movement below which rounding let no centre come, where that ended the run
    floor: float | None = None
    # what swept, and may remember its last sweep, so that a further one takes less
    sweep: SweepFunction | None = None
