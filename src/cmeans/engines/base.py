"""Who runs the two verbs. The mathematics never knows which engine it is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Protocol, Self, TypeVar


class Addable(Protocol):
    """What a fold may sum."""

    def __add__(self, other: Self, /) -> Self: ...


Result = TypeVar("Result")
Sum = TypeVar("Sum", bound=Addable)


class Engine(ABC):
    """Runs a function of a task number over all tasks."""

    @abstractmethod
    def map(self, function: Callable[[int], Result], n_tasks: int) -> Iterator[Result]:
        """The results of function(0), ..., function(n_tasks - 1), in that order, a bounded number of them ahead."""

    def fold(self, function: Callable[[int], Sum], n_tasks: int, done: Callable[[int], None] | None = None) -> Sum:
        """Their sum, added in the order of the tasks so that it does not depend on who was first.

        `done` hears the number of each task once it is added.
        """
        total: Sum | None = None
        for task, result in enumerate(self.map(function, n_tasks)):
            total = result if total is None else total + result
            if done is not None:
                done(task)
        assert total is not None, "there is always at least one task"
        return total
