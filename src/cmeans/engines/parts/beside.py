"""Code that runs where a part of the rows lies: passes over it, and what they write beside it."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

from ..base import BesideKept, Chain, Kept, Pass, added
from ..threads import ThreadEngine

HERE = ThreadEngine(1)  # a part is worked by one thread: there are more parts than threads


def represented(
    x: Any, function: Any, spec: Any, most: int | None, reserve: Any, weight: Any, *columns: Any
) -> Any:
    """Return the rows of a part in their space, with room to keep them there of `most` bytes, as
    far as `reserve` has them."""
    x = x if function is None else function(x)
    keep = spec.bytes_to_keep(x)
    keep = keep if most is None else min(most, keep)
    room = reserve(int(x.nbytes) + keep) - int(x.nbytes)
    return spec.over(spec.blocks.over(x, weight, *columns), max(room, 0))


def folded(rows: Any, over: Pass[Any], kept: Any = None) -> Any:
    """Return the sum of a pass over a part, not yet concluded."""
    with HERE.opened() as engine:
        return added(engine.map(rows, over if kept is None else BesideKept(over, Kept(kept))))


def kept_pass(rows: Any, written: Any, over: Pass[Any]) -> tuple[Any, Any]:
    """Return the sum of a pass over a part, and what it has written beside it."""
    written = over.begin(rows) if written is None else written
    return folded(rows, over, written), written


def kept_steps(rows: Any, written: Any, chain: Chain[Any], state: Any) -> tuple[Any, Any]:
    """Return the state of a chain after a part, and what it has written beside it."""
    kept = None if written is None else Kept(written)
    with HERE.opened() as engine:
        ((state, _),) = deque(engine.follow(rows, chain, state, kept), maxlen=1)
    return state, written


def mapped(rows: Any, over: Pass[Any]) -> list[Any]:
    """Return the results of a part's tasks, in their order."""
    with HERE.opened() as engine:
        return list(engine.map(rows, over))


def some_rows(values: Any, which: Any) -> Any:
    """Return rows of a part, or numbers by row, by numbers or a slice."""
    return values[which]


def float_rows(rows: Any, dtype: Any) -> Any:
    """Return what a part was read as, as rows of a float type."""
    return np.ascontiguousarray(rows, dtype=dtype)
