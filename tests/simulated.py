"""A cluster in one process and in virtual time, as bad as a seed makes it: workers die and forget,
answers are lost, late, out of order, and come twice, some of them after the next question.

    python -m tests.simulated --schedules 100000 --workers 10000

runs schedules from --seed on, each on rows of its own, and says which ends otherwise than rows in
memory do.
"""

from __future__ import annotations

import argparse
import heapq
import pickle
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from cmeans.data.blocks import Blocks, GivenRows
from cmeans.data.limits import Limits
from cmeans.engines import (
    Answer,
    Chain,
    Holder,
    HoldingEngine,
    PartsOfFiles,
    Pass,
    ThreadEngine,
    Work,
)
from cmeans.engines.parts.orders import Store
from cmeans.engines.parts.rows import HeldRows

STORE = 10**8  # bytes that a simulated worker keeps
MOST_LOSSES = 3  # of one part one after the other: of five a fit ends in a line


@dataclass(frozen=True)
class Weather:
    """How bad it is: probabilities for each message."""

    lost: float = 0.0  # answers that do not come
    twice: float = 0.0  # answers that come twice
    late: float = 0.0  # those of them whose second comes after the next question
    dying: float = 0.0  # workers that die of a question, and forget all that they kept
    wandering: float = 0.0  # parts that another worker takes than the one before


@dataclass
class SimulatedHolder(Holder):
    """Parts of an array, on workers of a virtual cluster."""

    parts: list[Any]
    rng: np.random.Generator
    weather: Weather = Weather()
    n_workers: int = 4
    where: str = "a simulated cluster"
    stores: dict[int, Store] = field(default_factory=dict)
    homes: dict[int, int] = field(default_factory=dict)
    stragglers: list[tuple[int, Answer]] = field(default_factory=list)
    losses: dict[int, int] = field(default_factory=dict)  # of each part, one after the other
    asked: int = 0

    def __post_init__(self) -> None:
        self.n_parts = len(self.parts)

    def ask(self, work: Work, arguments: Mapping[int, Any]) -> Iterator[tuple[int, Answer]]:
        self.asked += 1
        message = pickle.dumps(work)  # as others get it, and once for all
        rng, weather, queue = self.rng, self.weather, list[Any]()
        order = pickle.loads(message)
        came, self.stragglers = self.stragglers, []
        for number, answer in came:
            heapq.heappush(queue, (rng.exponential(), len(queue), number, answer))
        for number, mine in arguments.items():
            chances = rng.random(5)
            if number not in self.homes or chances[0] < weather.wandering:
                self.homes[number] = int(rng.integers(self.n_workers))
            worker = self.homes[number]
            unlucky = self.losses.get(number, 0) < MOST_LOSSES
            self.losses[number] = self.losses.get(number, 0) + 1 if unlucky else 0
            if chances[1] < weather.dying and unlucky:
                self.stores.pop(worker, None)
                del self.homes[number]
                continue
            store = self.stores.setdefault(worker, Store(STORE))
            answer = order(partial(self.parts.__getitem__, number), number, mine, store)
            if chances[2] < weather.lost and unlucky:
                continue
            self.losses[number] = 0
            heapq.heappush(queue, (rng.exponential(), len(queue), number, answer))
            if chances[3] < weather.twice:
                if chances[4] < weather.late:
                    self.stragglers.append((number, answer))
                else:
                    heapq.heappush(queue, (2 * rng.exponential(), len(queue), number, answer))
        while queue:
            _, _, number, answer = heapq.heappop(queue)
            yield number, answer


class SimulatedEngine(HoldingEngine):
    """Arrays in the parts that are given, on a virtual cluster."""

    def __init__(self, sizes: Any, seed: int = 0, weather: Weather = Weather(), n_workers: int = 4):
        self.sizes, self.seed, self.weather, self.n_workers = sizes, seed, weather, n_workers

    def holds(self, x: Any) -> bool:
        return isinstance(x, Simulated)

    def held(self, x: Any, estimator_name: str, *, holes: bool = False) -> HeldRows:
        parts = np.split(x.values, np.cumsum(self.sizes)[:-1])
        rng = np.random.default_rng(self.seed)
        holder = SimulatedHolder(parts, rng, self.weather, self.n_workers)
        columns, dtype = tuple(range(x.values.shape[1])), x.values.dtype
        return HeldRows(holder, columns, dtype, estimator_name, self, holes=holes)

    def holder_of_files(self, files: PartsOfFiles) -> Holder:
        parts = [files.read(number) for number in range(len(files))]
        return SimulatedHolder(
            parts, np.random.default_rng(self.seed), self.weather, self.n_workers
        )


@dataclass(frozen=True)
class Simulated:
    """Rows that a virtual cluster holds."""

    values: Any

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Spark's data frames offer their rows so, too; they are to stay where they are."""
        raise AssertionError("held rows were asked for here")


def bad_weather(rng: np.random.Generator) -> Weather:
    """Draw how bad it is."""
    return Weather(*(rng.random(5) * rng.choice([0.05, 0.4], 5)))


# ---------------------------------------------------------------------------------------- schedules


@dataclass(frozen=True)
class Digits(Pass[Any]):
    """A float sum that shows every change of its order or of what is added."""

    factor: float

    def begin(self, rows: Any) -> Any:
        return Noted(np.zeros(rows.blocks.n_rows))

    def work(self, rows: Any, task: int, kept: Any) -> Any:
        here = slice(*rows.task_range(task))
        values = np.concatenate([block.x[:, 0] * block.weight for block in rows.task(task)])
        kept.values[here] = kept.values[here] * 0.3 + values * self.factor
        return np.array([kept.values[here].sum(), np.sqrt(np.abs(values)).sum()])


@dataclass(frozen=True)
class Read(Pass[Any]):
    """A float sum of what is kept."""

    factor: float

    def work(self, rows: Any, task: int, kept: Any) -> Any:
        return np.exp2(-np.abs(kept.values[slice(*rows.task_range(task))])).sum() * self.factor


@dataclass
class Noted:
    """Numbers by row that passes change."""

    values: Any


@dataclass(frozen=True)
class Walk(Chain[float]):
    """Changes each number by the state that the rows before have left."""

    def work(self, rows: Any, task: int, kept: Any, state: float, engine: Any) -> float:
        for row in range(*rows.task_range(task)):
            kept.values[row] += 0.1 * state
            state = 0.7 * state + kept.values[row]
        return state


def story(engine: Any, rows: Any, seed: int) -> list[Any]:
    """What a random run of passes, each from what those before have kept, says of some rows."""
    rng, kept, said = np.random.default_rng(seed), None, list[Any]()
    total, kept = engine.keep(rows, Digits(1.0), kept)
    said.append(total)
    for turn in rng.integers(4, size=rng.integers(2, 6)):
        if turn == 0:
            total, kept = engine.keep(rows, Digits(float(rng.random())), kept)
            said.append(total)
        elif turn == 1:
            said.append(engine.fold(rows, Read(float(rng.random())), kept=kept))
        elif turn == 2:
            *_, (state, kept) = engine.follow(rows, Walk(), float(rng.random()), kept)
            said.append(state)
        else:
            said.append(kept.column("values")[rng.integers(rows.blocks.n_rows, size=3)])
    return [*said, kept.column("values")[:]]


def schedule(seed: int, n_workers: int = 5) -> None:
    """Run one story on rows and on a cluster of a seed's own, and compare to the last bit."""
    rng = np.random.default_rng(seed)
    tasks, rows_each = int(rng.integers(1, 9)), int(rng.integers(1, 6))
    n = (tasks - 1) * rows_each + int(rng.integers(1, rows_each + 1))
    x = rng.normal(size=(n, 1)) * 10.0 ** rng.integers(-6, 6, (n, 1))
    limits = Limits(
        block_rows=3,
        narrow_block_rows=3,
        least_task_rows=1,
        task_values=1,
        tasks=-(-n // rows_each),
    )
    here = GivenRows(Blocks(x, rng.random(n), limits=limits), 1)
    sizes = np.diff([here.task_range(task)[0] for task in range(here.n_tasks)] + [n])
    empty = np.sort(rng.integers(len(sizes) + 1, size=2))
    engine = SimulatedEngine(np.insert(sizes, empty, 0), seed, bad_weather(rng), n_workers)
    held = engine.held(Simulated(x), "Owner")
    there = GivenRows(replace(here.blocks, x=held), 1)
    with ThreadEngine(1).opened() as one, engine.opened(held) as other:
        for mine, theirs in zip(story(one, here, seed), story(other, there, seed), strict=True):
            np.testing.assert_array_equal(theirs, mine, err_msg=f"schedule {seed}")


def main() -> int:
    """Run schedules, and say which end otherwise."""
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--schedules", type=int, default=100_000)
    words.add_argument("--seed", type=int, default=0)
    words.add_argument("--workers", type=int, default=10_000)
    given, bad = words.parse_args(), 0
    for seed in range(given.seed, given.seed + given.schedules):
        try:
            schedule(seed, given.workers)
        except Exception as error:
            bad += 1
            sys.stderr.write(f"schedule {seed}: {type(error).__name__}: {error}\n")
    sys.stdout.write(f"{given.schedules} schedules, {bad} of them otherwise than in memory\n")
    return bad


if __name__ == "__main__":
    sys.exit(main() > 0)
