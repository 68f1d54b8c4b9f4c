"""Holders of rows in numbered parts: all that an engine for another cluster has to bring."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any

from .orders import Answer, Work


class Holder(ABC):
    """Rows (n, d) in numbered parts, and whoever works beside them.

    A pass over the rows becomes one `ask`: the same work for many parts, each of which answers for
    itself. Answers may come in any order, and twice; one that is lost need not come at all, as its
    part is asked again. A part is any rows that are read together; it may be worked by another
    process each time, which then reads it again. Rows of a part must be the same each time, and in
    the same order: a mark of the first reading is held against all others.
    """

    n_parts: int  # numbered 0 ... n_parts - 1; some may have no rows
    where: str  # the rows, for messages: "a Spark data frame"
    advice: str = (
        "keep them first, so that they are made once"  # where rows change between readings
    )
    # so often may what is kept beside parts have been forgotten before it is sent with each order,
    # and rows are read if need be: few times where rows are at hand
    times_forgotten: float = 2
    at_once: int | None = None  # parts to ask together where answers are large; None: all

    @abstractmethod
    def ask(
        self, work: Work, arguments: Mapping[int, tuple[Any, ...]]
    ) -> Iterator[tuple[int, Answer]]:
        """Call `work(read, number, argument)` for each part `number` of `arguments`, where `read()`
        returns the rows of the part as an array (b, d), and yield the numbers and what it returned.

        Work, arguments and answers are plain objects that any serializer takes, cloudpickle where
        users pass functions. An exception of the work comes in its answer; those of the cluster
        itself may be raised here. Several threads may ask at once.
        """

    def begin(self) -> None:  # noqa: B027
        """Prepare for a fit, until `release`."""

    def release(self) -> None:  # noqa: B027
        """Forget what has been kept beside the parts, as a fit has ended."""
