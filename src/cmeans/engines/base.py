"""Passes over rows, and the interface of engines. Results do not depend on the engine."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Protocol, Self, TypeVar

from ..data.blocks import Blocks
from .one_blas_thread import one_blas_thread


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
    """One pass over rows: prepared once, then computed task by task, its results added or yielded
    in the order of the tasks.

    A pass holds no rows and is sent to them, so it is small. One that reads or writes numbers by
    row, kept beside the rows wherever they are (`Engine.keep`), is given them as `prepared`.
    """

    def prepare(self, rows: Any) -> Any:
        """Return the data shared by all tasks, for these rows and others of the same layout:
        functions chosen and compiled."""
        return None

    def begin(self, rows: Any) -> Any:
        """Return room for what the pass keeps of some rows, where nothing is kept yet: an object
        that can be copied and sent."""
        return None

    @abstractmethod
    def work(self, rows: Any, task: int, prepared: Any) -> Result:
        """Return the result of the rows of one task."""

    def conclude(self, total: Result) -> Result:
        """Return the sum over all tasks, checked."""
        return total

    def part(self, start: int, stop: int) -> Pass[Result]:
        """Return the pass for rows start ... stop - 1 alone; the pass itself where it holds no data
        of single rows."""
        return self


@dataclass(frozen=True)
class NumberedPass(Pass[Result]):
    """A pass that needs to know the numbers of its rows among all."""

    first: int = field(default=0, kw_only=True)  # number of the first row

    def part(self, start: int, stop: int) -> Self:
        return replace(self, first=start)


class Chain(ABC, Generic[Result]):
    """A walk over rows in their order: each task goes on from the state that those before it have
    left, and may write to what is kept.

    A chain and its states are sent to the rows, so they are small.
    """

    @abstractmethod
    def work(self, rows: Any, task: int, kept: Any, state: Result, engine: Engine) -> Result:
        """Return the state after the rows of one task; `engine` is one of the place where these
        rows are."""

    def sent(self) -> Chain[Result]:
        """Return what of it can go to other machines."""
        return self

    def heard(self, state: Result) -> Result:
        """Tell those who listen here of a state that other machines have come to; they may change
        it."""
        return state


@dataclass(frozen=True, eq=False)
class ChunkedRows:
    """Rows cut into chunks, each of which is a task of its own."""

    blocks: Blocks
    spans: Sequence[Span]
    numbers: Sequence[int]  # of the chunks, among all that there are

    @property
    def n_tasks(self) -> int:
        return len(self.spans)

    def chunk(self, task: int) -> Blocks:
        """Return the rows of one task."""
        return self.blocks.between(*self.spans[task])


@dataclass(frozen=True)
class Kept:
    """Numbers by row that are kept where the rows are."""

    here: Any  # what `Pass.begin` has returned

    def column(self, name: str) -> Any:
        """Return an attribute of what is kept, numbers by row, of which some may be asked for."""
        return getattr(self.here, name)

    def answer(self, name: str) -> Any:
        """Return the same as a fit returns it: an array, or one of Dask that stays where the rows
        are."""
        return getattr(self.here, name)


@dataclass(frozen=True)
class BesideKept(Pass[Result]):
    """A pass that reads or writes what is kept of the rows."""

    over: Pass[Result]
    kept: Kept

    def prepare(self, rows: Any) -> Any:
        return self.kept.here

    def work(self, rows: Any, task: int, prepared: Any) -> Result:
        return self.over.work(rows, task, prepared)


def added(results: Iterable[Sum], done: Callable[[int], None] | None = None) -> Sum:
    """Return the sum of results, in their order; `done` is called with the number of each."""
    total: Sum | None = None
    for number, result in enumerate(results):
        if total is None:
            total = result
        elif number == 1:
            total = total + result
        else:
            # which is nobody else's, so that large sums need no memory of their own each time
            total += result
        if done is not None:
            done(number)
    assert total is not None, "there is always at least one task"
    return total


def without_checkpoint(engine: Any) -> Any:
    """Return the parameter `engine` of a fit of which nothing is kept; None stays None."""
    if engine is None or engine.checkpoint is None:
        return engine
    return engine.set_params(checkpoint=None)


class Engine(ABC):
    """The runner of passes over rows. A new engine has `map`; all else follows from it, and may
    be made faster.

    Estimators take an engine as their parameter `engine`. Each fit, and each question about rows,
    opens it (`opened`). It must hold nothing that cannot be copied. Results have the same bits
    whatever the engine, as long as `map` yields them in the order of the tasks.
    """

    # bytes that a fit may take in this process; None: read off the machine
    memory_budget: int | float | str | None = None
    checkpoint: Any = None  # where a fit keeps how far it has come: a path or a `cmeans.Checkpoint`

    @property
    def n_threads(self) -> int:
        """Threads of this process that run tasks."""
        return 1

    @contextmanager
    def opened(self, x: Any = None) -> Iterator[Engine]:
        """Provide the engine that runs the passes of one fit over rows `x`; in this process BLAS
        has one thread meanwhile."""
        with one_blas_thread():
            yield self

    def reader_of(self, x: Any, estimator_name: str, partition_rows: int) -> Any:
        """Return stored rows `x` as this engine reads them, `partition_rows` at a time where others
        than this process do; errors name `estimator_name`."""
        return x

    def holds(self, x: Any) -> bool:
        """True where `x` is rows that users hold with others, whose workers this engine asks:
        `held` reads them."""
        return False

    def held(self, x: Any, estimator_name: str, *, holes: bool) -> Any:
        """Return such rows `x` as stored rows; `holes`: values may be missing. Errors name
        `estimator_name`."""
        return x

    @abstractmethod
    def map(self, rows: HasTasks, over: Pass[Result]) -> Iterator[Result]:
        """Yield the results of a pass `over` the rows, one task after the other, wherever these
        are."""

    def fold(
        self,
        rows: HasTasks,
        over: Pass[Sum],
        done: Callable[[int], None] | None = None,
        kept: Any = None,
    ) -> Sum:
        """Return the sum of a pass `over` the rows, added in the order of the tasks, in whatever
        order they finish.

        `done` is called with the number of each task that, with all before it, is added; `kept`: of
        each row, for a pass that reads it.
        """
        results = self.map(rows, over if kept is None else BesideKept(over, kept))
        return over.conclude(added(results, done))

    def keep(self, rows: HasTasks, over: Pass[Sum], kept: Any = None) -> tuple[Sum, Any]:
        """Return the sum of a pass `over` the rows that writes to what is kept of each row, and
        what is kept then; None: nothing yet."""
        kept = Kept(over.begin(rows)) if kept is None else kept
        return self.fold(rows, over, kept=kept), kept

    def follow(
        self, rows: HasTasks, chain: Chain[Result], state: Result, kept: Any = None
    ) -> Iterator[tuple[Result, Any]]:
        """Work through the tasks of rows in order by a `chain`, each from the state that the task
        before has left.

        Yields the state and what is kept of each row, so that a caller can save both: after each
        task here; where other machines hold the rows, after every few tasks and after the last.
        """
        for task in range(rows.n_tasks):
            state = chain.work(rows, task, None if kept is None else kept.here, state, self)
            yield state, kept

    def run(self, function: Callable[[int], Result], n_tasks: int) -> Iterator[Result]:
        """Yield `function(0)`, ..., `function(n_tasks - 1)`, in that order, a bounded number of
        them ahead; in this process."""
        return (function(task) for task in range(n_tasks))

    def is_worth_sharing(self, seconds: float) -> bool:
        """True where other threads should help with work that takes so many `seconds`."""
        return False

    def ask_for_help(self, work: Callable[[], None], most: int) -> list[Future[None]]:
        """Have up to `most` other threads do some `work`, as soon as they are free; nobody waits
        for them."""
        return []
