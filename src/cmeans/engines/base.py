"""Who runs the two verbs. The mathematics never knows which engine it is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, Generic, Protocol, Self, TypeVar


class Addable(Protocol):
    """What a fold may sum."""

    def __add__(self, other: Self, /) -> Self: ...


class Tasks(Protocol):
    """Rows in groups, whose numbers are tasks."""

    n_tasks: int


Result = TypeVar("Result")
Sum = TypeVar("Sum", bound=Addable)


class Job(ABC, Generic[Result]):
    """What is asked of every task of a table. It holds no table and travels to where one is, so it is small."""

    @abstractmethod
    def over(self, table: Any) -> Callable[[Any, int], Result]:
        """The function of a table and a task, with all that must be chosen or compiled, for this table and those that lie like it."""

    def part(self, start: int, stop: int) -> Job[Result]:
        """The job as it concerns rows start ... stop - 1 alone; the same for all where it holds nothing of single rows."""
        return self


class Engine(ABC):
    """Runs a job, or a function of a task number, over all tasks."""

    n_threads: int  # that run in this process

    @abstractmethod
    def map(self, function: Callable[[int], Result], n_tasks: int) -> Iterator[Result]:
        """The results of function(0), ..., function(n_tasks - 1), in that order, a bounded number of them ahead; in this process."""

    def each(self, table: Tasks, job: Job[Result]) -> Iterator[Result]:
        """What a job has to say of one group of rows after the other, wherever they are."""
        work = job.over(table)
        return self.map(lambda task: work(table, task), table.n_tasks)

    def fold(self, table: Tasks, job: Job[Sum], done: Callable[[int], None] | None = None) -> Sum:
        """The sum, added in the order of the tasks so that it does not depend on who was first.

        `done` hears the numbers of tasks that, with all before them, are added.
        """
        total: Sum | None = None
        for task, result in enumerate(self.each(table, job)):
            total = result if total is None else total + result
            if done is not None:
                done(task)
        assert total is not None, "there is always at least one task"
        return total
