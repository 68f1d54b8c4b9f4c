"""Chunks of a stream whose rows Dask holds: tasks where the rows are, between which only its state travels."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np

from ...data.blocks import Blocks, BlocksSpec
from ...runtime.user_warnings import Message, collected, warn
from ..base import Span
from ..threads import ThreadEngine
from .columns import DaskColumn
from .dask_api import this_worker, threads_of
from .rows import DaskRows
from .shards import some_rows, unchanged


@dataclass(frozen=True)
class Answer:
    """The result of a task on a worker, and the warnings on the way."""

    value: Any
    warnings: tuple[Message, ...] = ()

    def told(self) -> Any:
        """Return it in the user's process, and warn there."""
        for message, category in self.warnings:
            warn(message, category)
        return self.value


def in_a_row(number: str, blocks: Blocks, spans: Sequence[Span], step: Callable[..., Any], state: Any) -> tuple[dict[str, Any], list[str]]:
    """Return the tasks of consecutive chunks, and the one that has the state after them."""
    shared = f"cmeans-step-{number}-all"
    tasks: dict[str, Any] = {shared: (unchanged, step)}
    latest: Any = Answer(state)
    for some in _in_the_same_partitions(blocks.x, spans):
        start, stop = some[0][0], some[-1][1]
        cuts, home, pieces = _cut(blocks, start, stop, f"{number}-{start}")
        before, latest = latest, f"cmeans-state-{number}-{start}-{home}"
        tasks |= {**cuts, latest: (_followed, shared, before, np.array(some) - start, *pieces)}
    return tasks, [latest]


def side_by_side(
    number: str, blocks: Blocks, spans: Mapping[int, Span], function: Callable[[Blocks, int], Any]
) -> tuple[dict[str, Any], list[str]]:
    """Return the tasks of chunks that need not wait for each other, and those of them that have the answers."""
    shared = f"cmeans-step-{number}-all"
    tasks: dict[str, Any] = {shared: (unchanged, function)}
    answers: list[str] = []
    for chunk, span in spans.items():
        cuts, home, pieces = _cut(blocks, *span, f"{number}-{chunk}")
        answers.append(f"cmeans-chunk-{number}-{chunk}-{home}")
        tasks |= {**cuts, answers[-1]: (_worked, shared, chunk, *pieces)}
    return tasks, answers


def _in_the_same_partitions(rows: DaskRows, spans: Sequence[Span]) -> list[list[Span]]:
    """Group consecutive chunks: all that lie in one partition; a chunk that lies in several is alone."""
    return [list(some) for _, some in groupby(spans, key=lambda span: [part for part, _ in rows.between(*span)])]


def _cut(blocks: Blocks, start: int, stop: int, name: str) -> tuple[dict[str, Any], int, tuple[Any, ...]]:
    """Return the tasks that cut rows start ... stop - 1 out of partitions, the partition with most of them, and arguments of `_joined`."""
    wanted, tasks = blocks.x.between(start, stop), dict[str, Any]()
    columns = {"rows": blocks.x, "weights": None if blocks.alike else blocks.weight, **blocks.columns}
    pieces: list[Any] = [blocks.spec]
    for what, values in columns.items():
        if isinstance(values, DaskRows | DaskColumn):
            keys = [f"cmeans-{what}-{name}-{part}" for part, _ in wanted]
            tasks |= {key: (some_rows, values.parts[part], which) for key, (part, which) in zip(keys, wanted, strict=True)}
            pieces.append(keys)
        else:
            pieces.append(None if values is None else [values[start:stop]])
    return tasks, max(wanted, key=lambda piece: piece[1].stop - piece[1].start)[0], tuple(pieces)


def _followed(step: Callable[..., Any], before: Answer, spans: Any, *pieces: Any) -> Answer:
    """Return the state after chunks of these rows, each of which goes on from the one before."""
    with ThreadEngine(threads_of(this_worker())) as engine, collected() as messages:
        (state,) = deque(engine.follow_chunks(_joined(*pieces), spans.tolist(), step, before.value), maxlen=1)
    return Answer(state, (*before.warnings, *messages))


def _worked(function: Callable[[Blocks, int], Any], number: int, *pieces: Any) -> Answer:
    """Return a function of a chunk and its number."""
    with collected() as messages:
        value = function(_joined(*pieces), number)
    return Answer(value, tuple(messages))


def _joined(spec: BlocksSpec, rows: Any, weights: Any, *columns: Any) -> Blocks:
    whole = None if weights is None else _whole(weights)
    return spec.over(_whole(rows), whole, *map(_whole, columns))


def _whole(pieces: list[Any]) -> Any:
    return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)
