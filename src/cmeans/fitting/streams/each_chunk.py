"""A stream as a chain: its state after each chunk of a fit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ...data.blocks import Blocks
from ...engines import Chain, ChunkedRows, Engine
from ..procedure import FitContext


@dataclass(frozen=True)
class EachChunk(Chain[Any]):
    """A stream: its state after each chunk."""

    context: FitContext
    # of the estimator, the fit, the state before, the rows of the chunk, an engine of their place
    step: Callable[[Any, FitContext, Any, Blocks, Engine], Any]
    told: Callable[[Any], Any] | None = None  # of a state that other machines have come to

    def work(self, rows: ChunkedRows, task: int, kept: None, state: Any, engine: Engine) -> Any:
        return self.step(self.context.estimator, self.context, state, rows.chunk(task), engine)

    def sent(self) -> EachChunk:
        return EachChunk(self.context.sent(), self.step)

    def heard(self, state: Any) -> Any:
        return state if self.told is None else self.told(state)
