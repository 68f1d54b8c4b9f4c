"""Passes over rows, and the interface of engines. Results do not depend on the engine."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Protocol, Self, TypeVar

from ..data.arrays import Array
from ..data.blocks import Blocks


class Addable(Protocol):
    """Values that a fold may sum."""

    def __add__(self, other: Self, /) -> Self: ...


class HasTasks(Protocol):
    """Rows divided into numbered tasks."""

    @property
    def n_tasks(self) -> int: ...


Result = TypeVar("Result")
Span = tuple[int, int]  # the first of some consecutive rows, and one past the last
Sum = TypeVar("Sum", bound=Addable)


class Pass(ABC, Generic[Result]):
    """One pass over rows: prepared once, then computed task by task, its results added or yielded in the order of the tasks.

    A pass holds no rows and is sent to them, so it is small. One that reads or writes numbers by row, kept beside the rows wherever they
    are (`Engine.keep`), is given them as `prepared`.
    """

    def prepare(self, rows: Any) -> Any:
        """Return the data shared by all tasks, for these rows and others of the same layout: functions chosen and compiled."""
        return None

    def begin(self, rows: Any) -> Any:
        """Return room for what the pass keeps of some rows, where nothing is kept yet: an object that can be copied and sent."""
        return None

    @abstractmethod
    def work(self, rows: Any, task: int, prepared: Any) -> Result:
        """Return the result of the rows of one task."""

    def conclude(self, total: Result) -> Result:
        """Return the sum over all tasks, checked."""
        return total

    def part(self, start: int, stop: int) -> Pass[Result]:
        """Return the pass for rows start ... stop - 1 alone; the pass itself where it holds no data of single rows."""
        return self


@dataclass(frozen=True)
class NumberedPass(Pass[Result]):
    """A pass that needs to know the numbers of its rows among all."""

    first: int = field(default=0, kw_only=True)  # number of the first row

    def part(self, start: int, stop: int) -> Self:
        return replace(self, first=start)


class Chain(ABC, Generic[Result]):
    """A walk over rows in their order: each task goes on from the state that those before it have left, and may write to what is kept."""

    @abstractmethod
    def work(self, rows: Any, task: int, kept: Any, state: Result) -> Result:
        """Return the state after the rows of one task."""


@dataclass(frozen=True)
class Kept:
    """Numbers by row that are kept where the rows are."""

    here: Any  # what `Pass.begin` has returned

    def column(self, name: str) -> Any:
        """Return an attribute of what is kept, numbers by row, of which some may be asked for."""
        return getattr(self.here, name)

    def answer(self, name: str) -> Any:
        """Return the same as a fit returns it: an array, or one of Dask that stays where the rows are."""
        return getattr(self.here, name)


class Engine(ABC):
    """Base class of engines: `fold` and `map` over all tasks of some rows."""

    n_threads: int  # threads of this process

    @abstractmethod
    def run(self, function: Callable[[int], Result], n_tasks: int) -> Iterator[Result]:
        """Yield the results of function(0), ..., function(n_tasks - 1), in that order, a bounded number of them ahead; in this process."""

    def is_worth_sharing(self, seconds: float) -> bool:
        """True where other threads should help with work that takes so long."""
        return False

    def ask_for_help(self, work: Callable[[], None], most: int) -> list[Future[None]]:
        """Have up to `most` other threads do some work, as soon as they are free; nobody waits for them."""
        return []

    def map(self, rows: HasTasks, over: Pass[Result]) -> Iterator[Result]:
        """Yield the results of a pass, one task after the other, wherever the rows are."""
        prepared = over.prepare(rows)
        return self.run(lambda task: over.work(rows, task, prepared), rows.n_tasks)

    def left_there(self, rows: Any, over: Pass[tuple[Any, Any, int]]) -> tuple[Array, Any] | None:
        """Return an array by row that stays where the rows are, and the sum of what a pass returns beside its parts; None where all
        results of a pass come here."""
        return None

    def keep(self, rows: HasTasks, over: Pass[Sum], kept: Any = None) -> tuple[Sum, Any]:
        """Return the sum of a pass that writes to what is kept of each row, from nothing where nothing is, and what is kept then."""
        kept = Kept(over.begin(rows)) if kept is None else kept
        return self.fold(rows, over, kept=kept), kept

    def follow(self, rows: HasTasks, chain: Chain[Result], state: Result, kept: Any) -> tuple[Result, Any]:
        """Return the state at the end of a chain over all rows, and what is kept of each row then."""
        for task in range(rows.n_tasks):
            state = chain.work(rows, task, kept.here, state)
        return state, kept

    def follow_chunks(
        self, blocks: Blocks, spans: Sequence[Span], step: Callable[[Result | None, Blocks, Engine], Result], state: Result | None
    ) -> Iterator[Result]:
        """Yield the state of a stream that goes from chunk to chunk of some rows: after each one here; where the rows are elsewhere, after
        several, and after the last. A step goes to the rows, so it is small, as states are; it is given an engine of its place."""
        for start, stop in spans:
            state = step(state, blocks.between(start, stop), self)
            yield state

    def map_chunks(self, blocks: Blocks, spans: Mapping[int, Span], function: Callable[[Blocks, int], Result]) -> Iterator[Result]:
        """Yield a function of each of some chunks of rows and its number, in their order; they are clustered side by side."""
        numbers = list(spans)
        return self.run(lambda at: function(blocks.between(*spans[numbers[at]]), numbers[at]), len(numbers))

    def fold(self, rows: HasTasks, over: Pass[Sum], done: Callable[[int], None] | None = None, kept: Any = None) -> Sum:
        """Return the sum of a pass, added in the order of the tasks so that it does not depend on the order in which they finish.

        `done` is called with the number of each task that, with all before it, is added; `kept`: of each row, for a pass that reads it.
        """
        total: Sum | None = None
        results = self.map(rows, over) if kept is None else self.run(lambda task: over.work(rows, task, kept.here), rows.n_tasks)
        for task, result in enumerate(results):
            if total is None:
                total = result
            elif task == 1:
                total = total + result
            else:  # which is nobody else's, so that large sums need no memory of their own each time
                total += result
            if done is not None:
                done(task)
        assert total is not None, "there is always at least one task"
        return over.conclude(total)
